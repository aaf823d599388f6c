//! The command line: arguments, and one file per subcommand.

mod bake;
mod check;
mod completions;
mod convert;
mod devices;
mod init;
mod inspect;
mod leave;
mod load;
mod preview;
mod progress;
mod render;
mod schema;
mod terminal;
mod tet;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::builder::FalseyValueParser;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::bake::{Exit, Failure};

/// Bakes cloth and soft-body animation: scene files and meshes in, vertex caches out.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, after_help = exit_codes(), max_term_width = 120)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene and write its caches
    Bake(bake::BakeArgs),
    /// Say what would fail or look wrong, without simulating
    Check(check::CheckArgs),
    /// Show what is in a mesh, scene, cache or job folder
    Inspect(inspect::InspectArgs),
    /// Make caches from a stored bake, without simulating
    Convert(convert::ConvertArgs),
    /// Look at a bake in the browser
    Preview(preview::PreviewArgs),
    /// Make pictures of a bake, still or moving, without a screen
    Render(Box<render::RenderArgs>),
    /// Fill a mesh with tetrahedra, as a soft body does, and write them
    Tet(tet::TetArgs),
    /// List the graphics cards and what would be used
    Devices(devices::DevicesArgs),
    /// Write a commented scene and a mesh to start from
    Init(init::InitArgs),
    /// Print the JSON schema of scene files
    Schema,
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
}

/// What changes a scene from outside its file.
#[derive(Debug, Args)]
struct SceneArgs {
    /// Change a value of the scene, such as wind.speed=4 or cloth.flag.bend=1e-5; can be repeated (in KILN_SET: one a
    /// line)
    #[arg(long, value_name = "PATH=VALUE", env = "KILN_SET", value_delimiter = '\n')]
    set: Vec<String>,
    /// Frames to write, such as 1001-1100, 1001-1100x2 or 1,5,10-20; all frames of the scene are simulated
    #[arg(long, value_name = "RANGE", env = "KILN_FRAMES", allow_hyphen_values = true)]
    frames: Option<String>,
}

/// A switch in the environment: anything but nothing, `0`, `no`, `off` and `false` turns it on.
fn switch() -> FalseyValueParser {
    FalseyValueParser::new()
}

/// Reads the arguments of the process, runs, and says how it ended.
pub fn run() -> ExitCode {
    let command = match CommandLine::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => return leave::leave(refuse(&error)),
    };
    let run = || match &command {
        Command::Bake(arguments) => bake::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Preview(arguments) => preview::run(arguments),
        Command::Render(arguments) => render::run(arguments),
        Command::Tet(arguments) => tet::run(arguments),
        Command::Devices(arguments) => devices::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::Schema => schema::run(),
        Command::Completions(arguments) => completions::run::<CommandLine>(arguments),
    };
    let exit = match guarded(run) {
        Ok(()) => Exit::Ok,
        Err(failure) => {
            terminal::fail(&failure);
            failure.exit
        }
    };
    leave::leave(exit)
}

/// Runs; a panic becomes a failure. Nothing that it used may be used afterwards, because it may be half-done.
fn guarded<T>(run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        Err(Failure::new(Exit::Unexpected, "Kiln met a fault of its own, see above", "please report it with the scene"))
    })
}

/// Help and version are no failures; anything else is.
fn refuse(error: &clap::Error) -> Exit {
    let _ = error.print(); // nobody is left to tell
    if !error.use_stderr() {
        return Exit::Ok;
    }
    let cause = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "no command was given",
        _ => "the command line is wrong, see above",
    };
    terminal::fail(&Failure::new(Exit::Usage, cause, "`kiln --help` lists the commands"));
    Exit::Usage
}

fn exit_codes() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for exit in Exit::ALL {
        text += &format!("  {:>3}  {:<18} {}\n", exit.number(), exit.name(), exit.meaning());
    }
    text + "\nEvery option can also be given in the environment as KILN_..., such as KILN_THREADS=8. What convert shares \
            with bake has names of its own there: KILN_CONVERT_OUT, KILN_CONVERT_FRAMES."
}

//! `kiln preview`: a bake in the browser.

use std::path::{Path, PathBuf};

use clap::Args;

use super::switch;
use super::terminal::{log, print};
use crate::bake::movie::Movie;
use crate::bake::{Exit, Failure};
use crate::cache::atomic::AtomicFile;
use crate::preview::content::{Bake, tell_apart};
use crate::preview::export::{Exported, Reduction, export};
use crate::preview::server::Server;

#[derive(Debug, Args)]
pub struct PreviewArgs {
    /// A job folder, its bake.kc or an animated .glb or .gltf file
    path: PathBuf,
    /// Another one, to compare
    with: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 0, env = "KILN_PORT")]
    port: u16,
    /// Open the page in the browser
    #[arg(long, env = "KILN_OPEN", value_parser = switch())]
    open: bool,
    /// Write one page with everything in it instead, to send away
    #[arg(long, value_name = "PAGE.html", env = "KILN_EXPORT")]
    export: Option<PathBuf>,
    /// With --export: keep every so many frames one
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "export", env = "KILN_EVERY", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// With --export: how far positions may be off [m]; smaller files for larger numbers
    #[arg(long, value_name = "METRES", default_value_t = 0.0002, requires = "export", env = "KILN_PRECISION", value_parser = precision)]
    precision: f64,
    /// With --export: leave out what colours by contact need
    #[arg(long, requires = "export", env = "KILN_NO_CONTACT", value_parser = switch())]
    no_contact: bool,
}

fn precision(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "this is not a number".to_owned())?;
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err("it must not be negative".to_owned()) }
}

pub fn run(arguments: &PreviewArgs) -> Result<(), Failure> {
    let paths = std::iter::once(&arguments.path).chain(&arguments.with);
    let mut bakes = paths.map(|path| Movie::open(path).map(Bake::new)).collect::<Result<Vec<_>, _>>()?;
    if let Some(bake) = bakes.iter().find(|bake| bake.movie().frames.is_empty() && !bake.is_running()) {
        let cause = format!("{} has no frames", bake.movie().path.display());
        return Err(Failure::new(Exit::InvalidInput, cause, "bake it again with --restart"));
    }
    tell_apart(&mut bakes);
    if let Some(page) = &arguments.export {
        let reduction = Reduction {
            every: arguments.every as usize,
            precision: arguments.precision,
            contact: !arguments.no_contact,
        };
        return write(page, &export(&mut bakes, &reduction)?);
    }
    let server = Server::start(arguments.port)?;
    let address = format!("http://{}/", server.address);
    // Alone on its line, for scripts.
    print(&format!("{address}\n"))?;
    log("press Ctrl-C to end");
    if arguments.open
        && let Err(error) = open::that_detached(&address)
    {
        log(&format!("warning: no browser could be opened ({error}); open {address} yourself"));
    }
    server.run(bakes)
}

fn write(path: &Path, exported: &Exported) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    file.put(exported.html.as_bytes())?;
    let written = file.commit()?;
    let frames: Vec<String> = exported.frames.iter().map(usize::to_string).collect();
    log(&format!(
        "{}: {:.1} MB, {} frames, positions within {:.2} mm",
        path.display(),
        written.bytes as f64 / 1e6,
        frames.join(" and "),
        1e3 * exported.largest_error
    ));
    Ok(())
}

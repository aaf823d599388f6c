//! `kiln completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::terminal::print;
use crate::bake::Failure;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

pub fn run<Program: CommandFactory>(arguments: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "kiln", &mut script);
    print(&String::from_utf8_lossy(&script))
}

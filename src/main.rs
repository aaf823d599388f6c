//! The `kiln` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kiln::cli::run()
}

//! The end of the program.
//!
//! Graphics drivers leave code behind that runs when a process ends, while threads of theirs are still there. Mesa's software driver was
//! seen to crash in such code after everything was done, and with that the exit code was lost. So the process goes at once: its files are closed,
//! its text is written, and the system takes everything else back.

use std::io::Write;
use std::process::ExitCode;

use crate::bake::Exit;

/// The last thing that the program does.
pub fn leave(exit: Exit) -> ExitCode {
    // If that fails nobody is left to tell.
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
    #[cfg(feature = "gpu")]
    signal_hook::low_level::exit(i32::from(exit.number()));
    #[cfg(not(feature = "gpu"))]
    ExitCode::from(exit.number())
}

//! The two outlets: results on standard output, everything else on standard error. Neither panics when nobody reads.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::bake::{Exit, Failure};

/// Farm software fails a task that prints these, so only `fail` does.
fn benign(text: &str) -> String {
    text.replace("Error:", "error:").replace("ERROR", "error")
}

/// A line of the log.
pub fn log(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", benign(text));
}

/// The one line that says why the program fails.
pub fn fail(failure: &Failure) {
    let text = benign(&failure.to_string()).split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr().lock(), "Error: {text}");
}

/// The result of a command.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let cause = format!("cannot write to standard output: {error}");
            Err(Failure::new(Exit::InputOutput, cause, "check where it is redirected to"))
        }
        _ => Ok(()), // a reader that has seen enough is no failure
    }
}

/// A progress line, at once. Baking goes on when nobody listens.
pub fn progress_line(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Whether the log may have colours.
pub fn is_styled() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !no_color
}

/// A size for people.
pub fn show_bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => format!("{b} bytes"),
    }
}

/// One thing, or several.
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

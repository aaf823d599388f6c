//! Scene files: what is accepted, what is refused and with which words.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;

use kiln::scene::problem::{Problem, Severity};
use kiln::scene::{Failure, Resolved, diagnostics, read_text};

mod contacts;
mod errors;
mod good;
mod hostile;
mod names;
mod set;
mod soft_bodies;

/// The shortest scene, to which tests append.
const SHORT: &str = r#"[scene]
name = "flag"
frames = "1001-1010"
[[cloth]]
name = "cloth"
mesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }
"#;

fn read(text: &str) -> Result<Resolved, Failure> {
    read_set(text, &[])
}

fn read_set(text: &str, overrides: &[&str]) -> Result<Resolved, Failure> {
    let overrides: Vec<String> = overrides.iter().map(|argument| (*argument).to_owned()).collect();
    read_text("flag.toml", text, Path::new("."), &overrides, None)
}

fn good(text: &str) -> Resolved {
    read(text).unwrap_or_else(|failure| panic!("{}", plain(&failure)))
}

fn bad(text: &str) -> Failure {
    read(text).expect_err("this scene should be refused")
}

fn plain(failure: &Failure) -> String {
    diagnostics::render(&failure.problems, failure.document.as_ref(), false)
}

/// `line:column message`
fn summary(failure: &Failure, problem: &Problem) -> String {
    let document = failure.document.as_ref().expect("a document");
    let position = document.position(&problem.place).expect("a position");
    let source = if position.source == "flag.toml" { String::new() } else { format!("{} ", position.source) };
    format!("{source}{}:{} {}", position.line, position.column, problem.message)
}

/// Expects exactly these problems, each as `line:column message` and a part of its help.
fn expect(failure: &Failure, expected: &[(&str, &str)]) {
    let found: Vec<String> = failure.problems.iter().map(|problem| summary(failure, problem)).collect();
    let wanted: Vec<&str> = expected.iter().map(|(summary, _)| *summary).collect();
    assert_eq!(found, wanted, "\n{}", plain(failure));
    for (problem, (_, help)) in failure.problems.iter().zip(expected) {
        assert!(problem.help.as_deref().unwrap_or_default().contains(help), "{problem:?} lacks the help {help:?}");
        assert_eq!(problem.severity, Severity::Error);
    }
}

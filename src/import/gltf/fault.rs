//! What is wrong inside a glTF file, and where.

use std::path::Path;

use crate::scene::problem::{Place, Problem};

/// Something that cannot be used.
#[derive(Debug)]
pub struct Fault {
    /// Such as `accessors[12]`; empty where the whole file is meant.
    at: String,
    message: String,
    help: String,
}

/// A fault with the usual remedy: most damaged files are mended by another export.
pub fn fault(at: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault { at: at.into(), message: message.into(), help: "repair the file in its program and export it again".into() }
}

impl Fault {
    /// The same with another remedy.
    pub fn help(self, help: impl Into<String>) -> Fault {
        Fault { help: help.into(), ..self }
    }

    /// As the rest of the program tells problems.
    pub fn problem(self, path: &Path) -> Problem {
        let message = if self.at.is_empty() { self.message } else { format!("{}: {}", self.at, self.message) };
        Problem::error(Place::File(path.to_owned()), message).help(self.help)
    }
}

/// A name of the file as it can be shown and typed; `or` where it has none.
pub fn name(text: Option<&String>, or: impl FnOnce() -> String) -> String {
    let cleaned = |text: &String| text.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    text.filter(|text| !text.is_empty()).map_or_else(or, cleaned)
}

/// An entry of a list of the file that another entry names.
pub fn entry<'a, T>(list: &'a [T], index: usize, what: &str, at: impl FnOnce() -> String) -> Result<&'a T, Fault> {
    list.get(index).ok_or_else(|| fault(at(), format!("names {what}[{index}], and the file has {}", list.len())))
}

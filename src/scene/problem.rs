//! What is wrong with an input, where, and what to do about it.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// One step of a path into the scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key of a table.
    Name(String),
    /// A place in an array.
    Index(usize),
}

/// A path into the scene file, such as `cloth[0].pins[1].group`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(pub Vec<Key>);

impl KeyPath {
    /// The path of a cloth, by its place in the scene.
    pub fn cloth(index: usize) -> KeyPath {
        KeyPath::default().key("cloth").index(index)
    }

    /// The path of a soft body, by its place in the scene.
    pub fn soft_body(index: usize) -> KeyPath {
        KeyPath::default().key("soft_body").index(index)
    }

    /// The path of a collider, by its place in the scene.
    pub fn collider(index: usize) -> KeyPath {
        KeyPath::default().key("collider").index(index)
    }

    /// The path of an entry about a pair of objects, by its place in the scene.
    pub fn contact(index: usize) -> KeyPath {
        KeyPath::default().key("contact").index(index)
    }

    /// Whether `other` is this path or lies below it.
    pub fn holds(&self, other: &KeyPath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// This path, one key further.
    pub fn key(&self, name: &str) -> KeyPath {
        self.then(Key::Name(name.to_owned()))
    }

    /// This path, one array entry further.
    pub fn index(&self, index: usize) -> KeyPath {
        self.then(Key::Index(index))
    }

    fn then(&self, key: Key) -> KeyPath {
        let mut keys = self.0.clone();
        keys.push(key);
        KeyPath(keys)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, key) in self.0.iter().enumerate() {
            match key {
                Key::Name(name) if depth == 0 => f.write_str(name)?,
                Key::Name(name) => write!(f, ".{name}")?,
                Key::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A stretch of text of a scene document: the file, or an argument that changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which text of the document; 0 is the scene file.
    pub source: usize,
    /// Bytes of that text.
    pub range: Range<usize>,
}

/// Where a problem is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The value at a key of the scene file; if there is none, what should have held it.
    Scene(KeyPath),
    /// The key itself, where the value is not to blame.
    Key(KeyPath),
    /// A stretch of text, where there is no key to name.
    Text(Span),
    /// A line (from 1) of another file.
    Line(PathBuf, usize),
    /// A file as a whole.
    File(PathBuf),
}

/// Whether a problem stops the bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Looks wrong; the bake goes on.
    Warning,
    /// The bake cannot start.
    Error,
}

/// One finding about the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether it stops the bake.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem that stops the bake.
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Problem { severity: Severity::Error, place, message: message.into(), help: None }
    }

    /// A problem that does not stop the bake.
    pub fn warning(place: Place, message: impl Into<String>) -> Self {
        Problem { severity: Severity::Warning, place, message: message.into(), help: None }
    }

    /// The same problem with its remedy.
    pub fn help(self, help: impl Into<String>) -> Self {
        Problem { help: Some(help.into()), ..self }
    }
}

//! The texts of a scene: the file and the arguments that change it. Finds the text of any key.

use toml::de::{DeTable, DeValue};

use super::problem::{Key, KeyPath, Place, Problem, Span};
use super::suggest;
use super::tree::{self, Entry, Node, Value};

/// After so many, a file is not TOML at all.
const MAX_SYNTAX_ERRORS: usize = 1000;

/// No key of a scene is deeper.
const MAX_SET_KEYS: usize = 16;

/// A text that a scene is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// A path, or the name of an argument such as `--set`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A scene as text and as a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    sources: Vec<Source>,
    pub(super) root: Node,
}

/// A place for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// A path, or the name of an argument such as `--set`.
    pub source: &'a str,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Document {
    /// Reads TOML; all syntax errors are found at once.
    pub fn parse(name: &str, text: &str) -> (Document, Vec<Problem>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let (root, number_problems) = tree::from_table(table, 0);
        let mut problems: Vec<Problem> = Vec::new();
        let mut last = None;
        for error in errors.into_iter().take(MAX_SYNTAX_ERRORS) {
            let range = error.span().unwrap_or(0..0);
            // One slip of the finger often counts as several errors.
            let same_line = |last| text.get(last..range.start).is_some_and(|between| !between.contains('\n'));
            let open_array = error.message().starts_with("missing comma between array elements");
            let message = format!("this is not TOML: {}", error.message());
            let repeated = open_array && problems.last().is_some_and(|previous| previous.message == message);
            if !repeated && !last.is_some_and(same_line) {
                let problem = Problem::error(Place::Text(Span { source: 0, range: range.clone() }), message);
                let help = "if no comma is missing, the array above lacks its `]`";
                problems.push(if open_array { problem.help(help) } else { problem });
            }
            last = Some(range.start);
        }
        problems.extend(number_problems);
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        (Document { sources: vec![source], root }, problems)
    }

    /// Adds the text of an argument, so that problems can point into it.
    pub fn add_source(&mut self, name: &str, text: &str) -> usize {
        self.sources.push(Source { name: name.to_owned(), text: text.to_owned() });
        self.sources.len() - 1
    }

    /// A text by its number.
    pub fn source(&self, index: usize) -> Option<&Source> {
        self.sources.get(index)
    }

    /// The text that a place means; `None` for places in other files.
    pub fn span(&self, place: &Place) -> Option<Span> {
        match place {
            Place::Scene(path) => Some(self.value_span(path)),
            Place::Key(KeyPath(keys)) => {
                let (last, parent) = keys.split_last()?;
                let parent = parent.iter().try_fold(&self.root, |node, key| node.child(key))?;
                match last {
                    Key::Name(name) => parent.entry(name).map(|entry| entry.key_span.clone()),
                    Key::Index(_) => parent.child(last).map(|node| node.span.clone()),
                }
            }
            Place::Text(span) => Some(span.clone()),
            Place::Line(..) | Place::File(_) => None,
        }
    }

    /// The span of a value, or of the closest thing around it.
    fn value_span(&self, path: &KeyPath) -> Span {
        let mut node = &self.root;
        // The root spans all of the text; its start stands for it.
        let mut span = Span { source: 0, range: 0..0 };
        for key in &path.0 {
            let Some(child) = node.child(key) else {
                break;
            };
            span = child.span.clone();
            node = child;
        }
        span
    }

    /// Line and column of a place.
    pub fn position(&self, place: &Place) -> Option<Position<'_>> {
        let span = self.span(place)?;
        let source = self.source(span.source)?;
        let before = source.text.get(..span.range.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some(Position {
            source: &source.name,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().filter(|c| *c != '\u{feff}').count() + 1,
        })
    }

    /// Applies `PATH=VALUE`, where VALUE is TOML, or else a string.
    pub fn set(&mut self, argument: &str) -> Result<(), Vec<Problem>> {
        let source = self.add_source("--set", argument);
        let place = |start: usize, end: usize| Place::Text(Span { source, range: start..end });
        let form = "write it as PATH=VALUE, such as `wind.speed=4` or `cloth.flag.bend=1e-5`";
        let Some((path, typed)) = argument.split_once('=') else {
            return Err(vec![Problem::error(place(0, argument.len()), "there is no `=` in this").help(form)]);
        };
        let value_start = path.len() + 1 + (typed.len() - typed.trim_start().len());
        let typed = typed.trim();
        let (mut node, mut problems) = match DeValue::parse(typed) {
            Ok(value) => tree::from_value(value, source),
            Err(_) => (Node { value: Value::String(typed.to_owned()), span: here(source, 0..typed.len()) }, vec![]),
        };
        shift(&mut node, value_start);
        for problem in &mut problems {
            if let Place::Text(span) = &mut problem.place {
                span.range = span.range.start + value_start..span.range.end + value_start;
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if path.split('.').count() > MAX_SET_KEYS || path.split('.').any(|key| key.trim().is_empty()) {
            return Err(vec![Problem::error(place(0, path.len()), "this is no key of a scene").help(form)]);
        }
        put(&mut self.root, path, 0, source, node).map_err(|problem| vec![*problem])
    }
}

fn here(source: usize, range: std::ops::Range<usize>) -> Span {
    Span { source, range }
}

/// Moves the spans of a value that was parsed apart from the text before it.
fn shift(node: &mut Node, by: usize) {
    let moved = |span: &mut Span| span.range = span.range.start + by..span.range.end + by;
    moved(&mut node.span);
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Table(entries) => {
            for entry in entries {
                moved(&mut entry.key_span);
                shift(&mut entry.node, by);
            }
        }
        _ => {}
    }
}

/// Puts `value` at what remains of `path` from `start` on.
fn put(node: &mut Node, path: &str, start: usize, source: usize, value: Node) -> Result<(), Box<Problem>> {
    let rest = &path[start..];
    let problem = |length: usize, message: String| {
        Box::new(Problem::error(Place::Text(here(source, start..start + length)), message))
    };
    match &mut node.value {
        Value::Array(items) => {
            let (index, length) = choose(items, rest).ok_or_else(|| {
                let typed = rest.split('.').next().unwrap_or(rest);
                let names: Vec<&str> = items.iter().filter_map(name_of).collect();
                let parent = path[..start].trim_end_matches('.');
                let problem = problem(typed.len(), format!("nothing in `{parent}` is called `{typed}`"));
                if names.is_empty() { problem } else { Box::new(problem.help(suggest::help(typed, &names))) }
            })?;
            if length == rest.len() {
                items[index] = value;
                return Ok(());
            }
            put(&mut items[index], path, start + length + 1, source, value)
        }
        Value::Table(entries) => {
            let length = rest.find('.').unwrap_or(rest.len());
            let key = rest[..length].trim();
            let key_span = here(source, start..start + length);
            let found = entries.iter().position(|entry| entry.key == key);
            if length == rest.len() {
                let entry = Entry { key: key.to_owned(), key_span, node: value };
                match found {
                    Some(found) => entries[found] = entry,
                    None => entries.push(entry),
                }
                return Ok(());
            }
            let index = found.unwrap_or_else(|| {
                let node = Node { value: Value::Table(Vec::new()), span: key_span.clone() };
                entries.push(Entry { key: key.to_owned(), key_span, node });
                entries.len() - 1
            });
            put(&mut entries[index].node, path, start + length + 1, source, value)
        }
        _ => Err(problem(
            rest.len(),
            format!("`{}` is {}, not a table", path[..start].trim_end_matches('.'), node.kind()),
        )),
    }
}

/// The array entry that the start of `path` names, and the length of that name. Names may hold dots, so the longest
/// one that fits wins; a number counts entries from 0.
fn choose(items: &[Node], path: &str) -> Option<(usize, usize)> {
    let fits = |name: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let named = items.iter().enumerate().filter_map(|(index, item)| name_of(item).map(|name| (index, name)));
    let named = named.filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len());
    named.map(|(index, name)| (index, name.len())).or_else(|| {
        let key = path.split('.').next()?;
        let index = key.trim().parse().ok().filter(|index| *index < items.len())?;
        Some((index, key.len()))
    })
}

fn name_of(node: &Node) -> Option<&str> {
    match &node.entry("name")?.node.value {
        Value::String(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}

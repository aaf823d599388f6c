//! The scene file as a tree that remembers where each key and value was written.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Key, Place, Problem, Span};

/// Nothing in a scene nests half as deep; deeper input only aims at the stack.
const MAX_DEPTH: usize = 32;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it is; the header for a table with one.
    pub span: Span,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text in quotes.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or time, which no scene has a use for.
    Datetime,
    /// `[...]`, or all tables of one `[[name]]`.
    Array(Vec<Node>),
    /// Keys with values, in the order of the file.
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key is.
    pub key_span: Span,
    /// What it holds.
    pub node: Node,
}

impl Node {
    /// What kind of value it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::Boolean(_) => "a boolean",
            Value::Datetime => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// The entry of a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// What one step of a path leads to.
    pub fn child(&self, key: &Key) -> Option<&Node> {
        match (key, &self.value) {
            (Key::Name(name), _) => self.entry(name).map(|entry| &entry.node),
            (Key::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        }
    }

    /// Takes out the value at a path, or the closest keyed value around it (array entries keep their places).
    pub fn remove(&mut self, path: &[Key]) {
        let Some(last_name) = path.iter().rposition(|key| matches!(key, Key::Name(_))) else {
            return;
        };
        let mut node = self;
        for key in &path[..last_name] {
            let child = match (key, &mut node.value) {
                (Key::Name(name), Value::Table(entries)) => {
                    entries.iter_mut().find(|entry| entry.key == *name).map(|entry| &mut entry.node)
                }
                (Key::Index(index), Value::Array(items)) => items.get_mut(*index),
                _ => None,
            };
            match child {
                Some(child) => node = child,
                None => return,
            }
        }
        if let (Value::Table(entries), Key::Name(name)) = (&mut node.value, &path[last_name]) {
            entries.retain(|entry| entry.key != *name);
        }
    }
}

/// Turns what the TOML parser gives into a tree. Numbers that no computer can hold are problems.
pub fn from_table(table: Spanned<DeTable<'_>>, source: usize) -> (Node, Vec<Problem>) {
    let span = table.span();
    from_value(Spanned::new(span, DeValue::Table(table.into_inner())), source)
}

/// The same for a single value.
pub fn from_value(value: Spanned<DeValue<'_>>, source: usize) -> (Node, Vec<Problem>) {
    let mut planter = Planter { source, problems: Vec::new() };
    let node = planter.plant(value, 0);
    (node, planter.problems)
}

struct Planter {
    source: usize,
    problems: Vec<Problem>,
}

impl Planter {
    fn plant(&mut self, value: Spanned<DeValue<'_>>, depth: usize) -> Node {
        let span = Span { source: self.source, range: value.span() };
        let value = match value.into_inner() {
            DeValue::String(text) => Value::String(text.into_owned()),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(integer) => Value::Integer(integer),
                Err(_) => self.fault(&span, "this whole number is too large", Value::Integer(0)),
            },
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(float) if float.is_finite() => Value::Float(float),
                _ => self.fault(&span, "numbers must be finite", Value::Float(0.0)),
            },
            DeValue::Boolean(boolean) => Value::Boolean(boolean),
            DeValue::Datetime(_) => Value::Datetime,
            nested if depth == MAX_DEPTH => {
                dismantle(nested);
                self.fault(&span, "this is nested too deeply", Value::Array(Vec::new()))
            }
            DeValue::Array(items) => Value::Array(items.into_iter().map(|item| self.plant(item, depth + 1)).collect()),
            DeValue::Table(table) => {
                let mut entries: Vec<Entry> = table
                    .into_iter()
                    .map(|(key, value)| {
                        let key_span = Span { source: self.source, range: key.span() };
                        Entry { key: key.into_inner().into_owned(), key_span, node: self.plant(value, depth + 1) }
                    })
                    .collect();
                entries.sort_by_key(|entry| entry.key_span.range.start);
                Value::Table(entries)
            }
        };
        Node { value, span }
    }

    fn fault(&mut self, span: &Span, message: &str, stand_in: Value) -> Value {
        self.problems.push(Problem::error(Place::Text(span.clone()), message));
        stand_in
    }
}

/// Drops a value without recursion: dotted keys can nest deeper than a stack holds.
fn dismantle(value: DeValue<'_>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            DeValue::Array(items) => pending.extend(items.into_iter().map(Spanned::into_inner)),
            DeValue::Table(table) => pending.extend(table.into_iter().map(|(_, value)| value.into_inner())),
            _ => {}
        }
    }
}

//! Values in place of required ones that are missing or wrong, so that the rest of a scene can still be checked.

use serde_json::Value as Json;

use super::problem::{Key, KeyPath, Span};
use super::tree::{Entry, Node, Value};
use super::validate::Schema;

/// Adds everything that the schema requires and the tree lacks. Returns where, because what is said about these values
/// is of no interest to anyone.
pub fn fill(root: &mut Node, schema: &Json) -> Vec<KeyPath> {
    let mut filler = Filler { schema: Schema(schema), added: Vec::new() };
    filler.fill(root, schema, &KeyPath::default());
    filler.added
}

struct Filler<'a> {
    schema: Schema<'a>,
    added: Vec<KeyPath>,
}

impl<'a> Filler<'a> {
    fn fill(&mut self, node: &mut Node, schema: &'a Json, path: &KeyPath) {
        let Some(schema) = self.schema.branch_for(schema, node) else {
            return;
        };
        let span = node.span.clone();
        match &mut node.value {
            Value::Table(entries) => {
                let properties = schema.get("properties").and_then(Json::as_object);
                for entry in entries.iter_mut() {
                    if let Some(property) = properties.and_then(|properties| properties.get(&entry.key)) {
                        self.fill(&mut entry.node, property, &path.key(&entry.key));
                    }
                }
                let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
                for name in required.filter_map(Json::as_str) {
                    let property = properties.and_then(|properties| properties.get(name));
                    let Some(property) = property.filter(|_| !entries.iter().any(|entry| entry.key == name)) else {
                        continue;
                    };
                    let path = path.key(name);
                    let value = self.stand_in(property, &path);
                    let mut node = Node { value, span: span.clone() };
                    self.fill(&mut node, property, &path);
                    entries.push(Entry { key: name.to_owned(), key_span: span.clone(), node });
                    self.added.push(path);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(item_schema) = self.schema.item(schema, index) {
                        self.fill(item, item_schema, &path.index(index));
                    }
                }
            }
            _ => {}
        }
    }

    /// The simplest value of the kind that the schema asks for.
    fn stand_in(&self, schema: &'a Json, path: &KeyPath) -> Value {
        if let Some(word) = self.schema.choices(schema).and_then(|words| words.first().copied()) {
            return Value::String(word.to_owned());
        }
        let types = self.schema.types(schema);
        let is = |name: &str| types.contains(&name);
        if is("string") {
            Value::String(format!("stand-in for {path}")) // no two alike, since names must differ
        } else if is("integer") || is("number") {
            Value::Integer(1)
        } else if is("boolean") {
            Value::Boolean(false)
        } else if is("array") {
            let schema = self.schema.follow(schema);
            let count = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0) as usize;
            let items = (0..count).filter_map(|index| self.schema.item(schema, index));
            let span = Span { source: 0, range: 0..0 };
            Value::Array(items.map(|item| Node { value: self.stand_in(item, path), span: span.clone() }).collect())
        } else {
            Value::Table(Vec::new())
        }
    }
}

/// Whether a problem at `path` comes from a value at `taken` that was taken out or stood in for.
pub fn is_about(path: &KeyPath, taken: &KeyPath) -> bool {
    let last_name = taken.0.iter().rposition(|key| matches!(key, Key::Name(_))).map_or(0, |last| last + 1);
    path.holds(taken) || path.0.starts_with(&taken.0[..last_name])
}

//! Checks a tree against the scene's JSON schema and finds everything wrong with it at once. Understands as much of
//! JSON Schema as the schema uses.

use serde_json::Value as Json;

use super::problem::{KeyPath, Place, Problem};
use super::suggest;
use super::tree::{Entry, Node, Value};

/// Numbers beyond this have no meaning in a scene and would overflow once squared a few times.
const MAX_NUMBER: f64 = 1e12;

/// More would only make a hopeless file slow to refuse.
const MAX_PROBLEM_COUNT: usize = 1000;

/// References that lead further are circular.
const MAX_REFERENCES: usize = 16;

/// All the ways in which `root` is not what `schema` describes.
pub fn check(root: &Node, schema: &Json) -> Vec<Problem> {
    let mut checker = Checker { schema: Schema(schema), problems: Vec::new() };
    checker.visit(root, schema, &KeyPath::default(), None);
    checker.problems
}

/// Questions to a schema and its parts.
#[derive(Clone, Copy)]
pub struct Schema<'a>(pub &'a Json);

impl<'a> Schema<'a> {
    /// What a schema's references lead to.
    pub fn follow(&self, schema: &'a Json) -> &'a Json {
        let mut schema = schema;
        for _ in 0..MAX_REFERENCES {
            let target = schema.get("$ref").and_then(Json::as_str).and_then(|name| name.strip_prefix('#'));
            match target.and_then(|pointer| self.0.pointer(pointer)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// The JSON types that a schema allows; none means all.
    pub fn types(&self, schema: &'a Json) -> Vec<&'a str> {
        let schema = self.follow(schema);
        match schema.get("type") {
            Some(Json::String(name)) => vec![name],
            Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
            _ => branches(schema).iter().flat_map(|branch| self.types(branch)).collect(),
        }
    }

    pub fn accepts(&self, schema: &'a Json, node: &Node) -> bool {
        let types = self.types(schema);
        types.is_empty()
            || types.iter().any(|name| match node.value {
                Value::String(_) => *name == "string",
                Value::Integer(_) => *name == "integer" || *name == "number",
                Value::Float(_) => *name == "number",
                Value::Boolean(_) => *name == "boolean",
                Value::Datetime => false,
                Value::Array(_) => *name == "array",
                Value::Table(_) => *name == "object",
            })
    }

    /// The words that a schema allows, if it is a list of words.
    pub fn choices(&self, schema: &'a Json) -> Option<Vec<&'a str>> {
        let schema = self.follow(schema);
        if let Some(word) = schema.get("const") {
            return word.as_str().map(|word| vec![word]);
        }
        if let Some(words) = schema.get("enum").and_then(Json::as_array) {
            return words.iter().map(Json::as_str).collect();
        }
        let branches = branches(schema);
        let lists: Option<Vec<_>> = branches.iter().map(|branch| self.choices(branch)).collect();
        lists.map(|lists| lists.concat()).filter(|words| !words.is_empty())
    }

    /// What describes an entry of an array; `schema` has no references.
    pub fn item(&self, schema: &'a Json, index: usize) -> Option<&'a Json> {
        let leading = schema.get("prefixItems").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        leading.get(index).or_else(|| schema.get("items"))
    }

    /// The part of a schema that describes a value of this kind, without references and branches.
    pub fn branch_for(&self, schema: &'a Json, node: &Node) -> Option<&'a Json> {
        let schema = self.follow(schema);
        let branches = branches(schema);
        if branches.is_empty() {
            return Some(schema).filter(|schema| self.accepts(schema, node));
        }
        branches.iter().find_map(|branch| self.branch_for(branch, node))
    }
}

struct Checker<'a> {
    schema: Schema<'a>,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn error(&mut self, path: &KeyPath, message: String, help: Option<&str>) {
        let problem = Problem::error(Place::Scene(path.clone()), message);
        // Comments are wrapped; messages are not.
        let help = help.map(|help| help.split_whitespace().collect::<Vec<_>>().join(" "));
        self.problems.push(Problem { help, ..problem });
    }

    /// `help` describes what the value is a part of; without it, the schema's own description helps.
    fn visit(&mut self, node: &Node, schema: &'a Json, path: &KeyPath, help: Option<&str>) {
        if self.problems.len() >= MAX_PROBLEM_COUNT {
            return;
        }
        let help = help.or_else(|| description(schema));
        let schema = self.schema.follow(schema);
        let help = help.or_else(|| description(schema));
        if !self.schema.accepts(schema, node) {
            let message = format!("expected {}, found {}", self.expected(schema), node.kind());
            return self.error(path, message, help);
        }
        if let Some(choices) = self.schema.choices(schema) {
            return self.visit_choice(node, &choices, path);
        }
        let branches = branches(schema);
        if !branches.is_empty() {
            return self.visit_branches(node, branches, path, help);
        }
        match &node.value {
            Value::Table(entries) => self.visit_table(entries, schema, path),
            Value::Array(items) => self.visit_array(items, schema, path, help),
            Value::Integer(integer) => self.visit_number(*integer as f64, schema, path, help),
            Value::Float(float) => self.visit_number(*float, schema, path, help),
            _ => {}
        }
    }

    /// What a schema asks for, in words.
    fn expected(&self, schema: &'a Json) -> String {
        let schema = self.schema.follow(schema);
        if let Some(words) = self.schema.choices(schema) {
            return one_of(&words);
        }
        let branches = branches(schema);
        if !branches.is_empty() {
            let mut kinds: Vec<String> = branches.iter().map(|branch| self.expected(branch)).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
        let name = |name: &&str| match *name {
            "number" => "a number".to_owned(),
            "integer" => "a whole number".to_owned(),
            "string" => "a string".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => match exact_count(schema) {
                Some(count) => format!("an array of {count}"),
                None => "an array".to_owned(),
            },
            _ => "a table".to_owned(),
        };
        self.schema.types(schema).iter().map(name).collect::<Vec<_>>().join(" or ")
    }

    fn visit_choice(&mut self, node: &Node, choices: &[&str], path: &KeyPath) {
        let Value::String(word) = &node.value else {
            return;
        };
        if !choices.contains(&word.as_str()) {
            let near = suggest::suggest(word, choices.iter().copied()).filter(|_| choices.len() > 1);
            let help = near.map(|near| format!("did you mean `{near}`?"));
            self.error(path, format!("expected {}, found `{word}`", one_of(choices)), help.as_deref());
        }
    }

    /// Of the branches that fit the value's kind, the one it comes closest to tells what is wrong.
    fn visit_branches(&mut self, node: &Node, branches: &'a [Json], path: &KeyPath, help: Option<&str>) {
        let fitting = branches.iter().filter(|branch| self.schema.accepts(branch, node));
        let closest = fitting
            .map(|branch| {
                let mut checker = Checker { schema: self.schema, problems: Vec::new() };
                checker.visit(node, branch, path, help);
                checker.problems
            })
            .min_by_key(Vec::len);
        self.problems.extend(closest.unwrap_or_default());
    }

    fn visit_table(&mut self, entries: &[Entry], schema: &'a Json, path: &KeyPath) {
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
            // Names are free, but all values are of one kind.
            if let Some(value) = schema.get("additionalProperties").filter(|value| value.is_object()) {
                entries.iter().for_each(|entry| self.visit(&entry.node, value, &path.key(&entry.key), None));
            }
            return;
        };
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut meant = Vec::new();
        for entry in entries {
            let path = path.key(&entry.key);
            if let Some(property) = properties.get(&entry.key) {
                self.visit(&entry.node, property, &path, None);
            } else if schema.get("additionalProperties") == Some(&Json::Bool(false))
                && self.problems.len() < MAX_PROBLEM_COUNT
            {
                meant.extend(suggest::suggest(&entry.key, names.iter().copied()));
                let message = format!("unknown key `{}`", entry.key);
                let problem = Problem::error(Place::Key(path), message);
                self.problems.push(problem.help(suggest::help(&entry.key, &names)));
            }
        }
        let required = schema.get("required").and_then(Json::as_array);
        for name in required.into_iter().flatten().filter_map(Json::as_str) {
            // A misspelt key is not missing as well.
            if !meant.contains(&name) && !entries.iter().any(|entry| entry.key == name) {
                let help = properties.get(name).and_then(description);
                let message = match path.0.as_slice() {
                    [] => format!("the table `[{name}]` is missing"),
                    _ => format!("the key `{name}` is missing"),
                };
                self.error(&path.key(name), message, help);
            }
        }
    }

    fn visit_array(&mut self, items: &[Node], schema: &'a Json, path: &KeyPath, help: Option<&str>) {
        let limit = |name: &str| schema.get(name).and_then(Json::as_u64);
        let count = items.len() as u64;
        if limit("minItems").is_some_and(|least| count < least) || limit("maxItems").is_some_and(|most| count > most) {
            let message = match (exact_count(schema), limit("minItems")) {
                (Some(exact), _) => format!("expected {exact} values, found {count}"),
                (_, Some(least)) if count < least => format!("expected at least {least} values, found {count}"),
                _ => format!("{count} values are too many"),
            };
            return self.error(path, message, help);
        }
        for (index, item) in items.iter().enumerate() {
            if let Some(item_schema) = self.schema.item(schema, index) {
                self.visit(item, item_schema, &path.index(index), help);
            }
        }
    }

    fn visit_number(&mut self, number: f64, schema: &'a Json, path: &KeyPath, help: Option<&str>) {
        let limit = |name: &str| schema.get(name).and_then(Json::as_f64);
        let format = schema.get("format").and_then(Json::as_str);
        let message = if let Some(least) = limit("minimum").filter(|least| number < *least) {
            format!("{number} is too small, the least is {least}")
        } else if let Some(bound) = limit("exclusiveMinimum").filter(|bound| number <= *bound) {
            format!("{number} is too small, it must be more than {bound}")
        } else if let Some(most) = limit("maximum").filter(|most| number > *most) {
            format!("{number} is too large, the most is {most}")
        } else if format == Some("uint32") && number > f64::from(u32::MAX) {
            format!("{number} is too large, the most is {}", u32::MAX)
        } else if format == Some("double") && number.abs() > MAX_NUMBER {
            format!("{number:e} is beyond the {MAX_NUMBER:e} that a scene may hold")
        } else {
            return;
        };
        self.error(path, message, help);
    }
}

fn branches(schema: &Json) -> &[Json] {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    lists.map(Vec::as_slice).next().unwrap_or_default()
}

/// The number of entries that an array must have, if there is only one.
fn exact_count(schema: &Json) -> Option<u64> {
    let [least, most] = ["minItems", "maxItems"].map(|name| schema.get(name).and_then(Json::as_u64));
    least.filter(|_| least == most)
}

/// The comment of a field.
fn description(schema: &Json) -> Option<&str> {
    schema.get("description")?.as_str()
}

fn one_of(words: &[&str]) -> String {
    if words.len() == 1 { suggest::quoted(words) } else { format!("one of {}", suggest::quoted(words)) }
}

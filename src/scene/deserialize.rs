//! Serde over the tree, so that its errors know where they happened.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};

use super::problem::{Place, Problem, Span};
use super::tree::{Node, Value};

/// Reads a value from a tree.
pub fn from_tree<T: DeserializeOwned>(node: &Node) -> Result<T, Problem> {
    T::deserialize(node).map_err(|fault| {
        let span = fault.span.unwrap_or_else(|| node.span.clone());
        Problem::error(Place::Text(span), fault.message)
    })
}

/// What serde objects to.
#[derive(Debug)]
pub struct Fault {
    message: String,
    span: Option<Span>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault { message: message.to_string(), span: None }
    }
}

impl<'de> IntoDeserializer<'de, Fault> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match &self.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(integer) => visitor.visit_i64(*integer),
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            Value::Datetime => Err(Fault::custom("a date has no place in a scene")),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Value::Table(entries) => {
                let entries = entries.iter().map(|entry| (entry.key.as_str(), &entry.node));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        };
        // The innermost value that failed is the one to show.
        result.map_err(|fault| Fault { span: fault.span.or_else(|| Some(self.span.clone())), ..fault })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.value {
            Value::String(text) => StrDeserializer::<Fault>::new(text)
                .deserialize_enum(name, variants, visitor)
                .map_err(|fault| Fault { span: fault.span.or_else(|| Some(self.span.clone())), ..fault }),
            _ => Err(Fault {
                message: format!("expected a string, found {}", self.kind()),
                span: Some(self.span.clone()),
            }),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

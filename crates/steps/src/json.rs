//! JSON as JMeter's extractors see it: read leniently, kept in its order, written as Java writes it.
//!
//! Source: json-smart 2.5.0, observed. Must not know paths. Invariant: numbers keep what distinguishes them in Java:
//! whole ones, fractions, and those that need more digits than a `double` has.

mod read;
mod write;

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Whole(i64),
    /// A whole number that is too large, in digits.
    Large(String),
    Fraction(f64),
    /// A fraction that a `double` does not hold, as it was written.
    Exact(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a key of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(one, _)| one == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The class that Java keeps such a value in.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "java.lang.Boolean",
            Json::Whole(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
            Json::Whole(_) => "java.lang.Long",
            Json::Large(_) => "java.math.BigInteger",
            Json::Fraction(_) => "java.lang.Double",
            Json::Exact(_) => "java.math.BigDecimal",
            Json::Text(_) => "java.lang.String",
            Json::Array(_) => "net.minidev.json.JSONArray",
            Json::Object(_) => "java.util.LinkedHashMap",
        }
    }

    /// The number; `None`: it is none.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "Java converts in the same way")]
            Json::Whole(number) => Some(*number as f64),
            Json::Fraction(number) => Some(*number),
            Json::Large(text) | Json::Exact(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl PartialEq for Json {
    /// As Java compares: the order of members is nothing, `1` is not `1.0`.
    fn eq(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Null, Json::Null) => true,
            (Json::Bool(a), Json::Bool(b)) => a == b,
            (Json::Whole(a), Json::Whole(b)) => a == b,
            (Json::Fraction(a), Json::Fraction(b)) => a == b,
            (Json::Large(a), Json::Large(b))
            | (Json::Exact(a), Json::Exact(b))
            | (Json::Text(a), Json::Text(b)) => a == b,
            (Json::Array(a), Json::Array(b)) => a == b,
            (Json::Object(a), Json::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| other.get(key) == Some(value))
            }
            _ => false,
        }
    }
}

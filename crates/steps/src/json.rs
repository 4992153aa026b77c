//! JSON as in JMeter's extractors: parsed leniently, in document order, formatted as in Java.
//!
//! Source: json-smart 2.5.0, observed. Must not know paths. Invariant: numbers keep their Java type: integers,
//! fractions, and those with more digits than a `double`.

mod read;
mod write;

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Whole(i64),
    /// An integer that is too large, as digits.
    Large(String),
    Fraction(f64),
    /// A fraction that does not fit a `double`, as written.
    Exact(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of an object's key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(one, _)| one == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The Java class of the value.
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

    /// The number; `None`: it is not a number.
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
    /// As in Java: the order of members is irrelevant, `1` differs from `1.0`.
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

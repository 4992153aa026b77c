//! The value of one option: read from JSON and from an environment variable, written as JSON.
//!
//! The messages are those for which k6 users search. Must not know which options exist. Invariant: reading,
//! writing and reading again returns the same value.

use std::collections::BTreeMap;
use std::fmt;

use loadline_go::GoDuration;
use loadline_go::integer::{parse_int, parse_int_literal};
use serde_json::{Map, Value};

use super::super::json::Json;
use crate::dialect::pflag::Parsed;

/// Why an option is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// The value has another type.
    Type {
        /// The actual type, in the words of Go's JSON reader.
        found: String,
        /// The field, such as `Options.vus`.
        field: String,
        /// The expected Go type.
        expected: &'static str,
    },
    /// Anything else, in k6's words.
    Text(String),
}

impl OptionError {
    /// An error in k6's words.
    pub fn text(text: impl Into<String>) -> OptionError {
        OptionError::Text(text.into())
    }

    /// The value has another type.
    pub fn of_type(value: &Value, field: &str, expected: &'static str) -> OptionError {
        OptionError::Type {
            found: kind(value).to_owned(),
            field: field.to_owned(),
            expected,
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Text(text) => f.write_str(text),
            OptionError::Type {
                found,
                field,
                expected,
            } => write!(
                f,
                "json: cannot unmarshal {found} into Go struct field {field} of type {expected}"
            ),
        }
    }
}

impl std::error::Error for OptionError {}

/// The kind of a value, in the words of Go's JSON reader.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Go's type for a value without a declared type.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Number(_) => "float64",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        other => kind(other),
    }
}

fn not_of_type(value: &Value, expected: &str) -> OptionError {
    OptionError::Text(format!(
        "json: cannot unmarshal {} into Go value of type {expected}",
        go_type(value)
    ))
}

/// The value of an option.
pub trait OptionValue: Sized {
    /// The type in k6, for messages about environment variables.
    const GO_TYPE: &'static str;
    /// Whether the key is omitted while the option is not set.
    const LEFT_OUT: bool = false;

    /// Reads a value that is not null; `None` if k6 treats it as not set.
    ///
    /// # Errors
    /// k6's message.
    fn from_json(value: &Value, field: &str) -> Result<Option<Self>, OptionError>;

    /// Reads the value of an environment variable, which may be empty; `None` if k6 treats it as not set.
    ///
    /// # Errors
    /// k6's message without its beginning.
    fn from_env(text: &str) -> Result<Option<Self>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::from_json(&value, "Options").map_err(|error| error.to_string())
    }

    /// Reads a flag; `None`: it was not given.
    ///
    /// # Errors
    /// k6's message.
    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Self>, String> {
        given.text(flag).map_or(Ok(None), Self::from_env)
    }

    /// Writes the value.
    fn to_json(&self) -> Json;

    /// The output while the option is not set.
    fn absent() -> Json {
        Json::Null
    }

    /// This value merged over that of a lower tier.
    fn over(&self, _lower: Option<&Self>) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

impl OptionValue for bool {
    const GO_TYPE: &'static str = "null.Bool";

    fn from_json(value: &Value, _field: &str) -> Result<Option<bool>, OptionError> {
        match value {
            Value::Bool(value) => Ok(Some(*value)),
            other => Err(not_of_type(other, Self::GO_TYPE)),
        }
    }

    fn from_env(text: &str) -> Result<Option<bool>, String> {
        match text {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            "" | "null" => Ok(None),
            other => Err(format!("invalid input:{other}")),
        }
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<bool>, String> {
        Ok(given.switch(flag))
    }

    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }
}

impl OptionValue for i64 {
    const GO_TYPE: &'static str = "null.Int";

    fn from_json(value: &Value, field: &str) -> Result<Option<i64>, OptionError> {
        match value {
            Value::Number(number) => number.as_i64().map(Some).ok_or_else(|| OptionError::Type {
                found: format!("number {number}"),
                field: field.to_owned(),
                expected: "int64",
            }),
            Value::String(text) if text.is_empty() => Ok(None),
            Value::String(text) => parse_int(text).map(Some).map_err(OptionError::Text),
            other => Err(not_of_type(other, Self::GO_TYPE)),
        }
    }

    fn from_env(text: &str) -> Result<Option<i64>, String> {
        match text {
            "" | "null" => Ok(None),
            text => parse_int(text).map(Some),
        }
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<i64>, String> {
        given.text(flag).map(parse_int_literal).transpose()
    }

    fn to_json(&self) -> Json {
        Json::Int(*self)
    }
}

impl OptionValue for String {
    const GO_TYPE: &'static str = "null.String";

    fn from_json(value: &Value, _field: &str) -> Result<Option<String>, OptionError> {
        match value {
            Value::String(text) => Ok(Some(text.clone())),
            other => Err(not_of_type(other, Self::GO_TYPE)),
        }
    }

    fn from_env(text: &str) -> Result<Option<String>, String> {
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<String>, String> {
        Ok(given.text(flag).map(str::to_owned))
    }

    fn to_json(&self) -> Json {
        Json::text(self)
    }
}

impl OptionValue for GoDuration {
    const GO_TYPE: &'static str = "types.NullDuration";

    fn from_json(value: &Value, _field: &str) -> Result<Option<GoDuration>, OptionError> {
        match value {
            Value::String(text) => GoDuration::parse_extended(text)
                .map(Some)
                .map_err(OptionError::Text),
            Value::Number(number) => Ok(number.as_f64().map(GoDuration::from_milliseconds)),
            other => Err(OptionError::Text(format!(
                "'{}' is not a valid duration value",
                Json::from_value(other).compact()
            ))),
        }
    }

    fn from_env(text: &str) -> Result<Option<GoDuration>, String> {
        match text {
            "" => Ok(None),
            text => GoDuration::parse_extended(text).map(Some),
        }
    }

    fn to_json(&self) -> Json {
        Json::text(self.to_string())
    }
}

impl OptionValue for Vec<String> {
    const GO_TYPE: &'static str = "[]string";

    fn from_json(value: &Value, field: &str) -> Result<Option<Vec<String>>, OptionError> {
        let items = list(value, field, Self::GO_TYPE)?.iter();
        let read = |item: &Value| match item {
            Value::String(text) => Ok(text.clone()),
            other => Err(OptionError::of_type(other, field, "string")),
        };
        items.map(read).collect::<Result<_, _>>().map(Some)
    }

    fn from_env(text: &str) -> Result<Option<Vec<String>>, String> {
        Ok(Some(env_items(text).map(str::to_owned).collect()))
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Vec<String>>, String> {
        Ok(given.texts(flag))
    }

    fn to_json(&self) -> Json {
        Json::List(self.iter().map(Json::text).collect())
    }
}

/// Texts by name.
pub type Texts = BTreeMap<String, String>;

impl OptionValue for Texts {
    const GO_TYPE: &'static str = "map[string]string";

    fn from_json(value: &Value, field: &str) -> Result<Option<Texts>, OptionError> {
        let rows = object(value, field, Self::GO_TYPE)?.iter();
        let read = |(name, value): (&String, &Value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Null => Ok((name.clone(), String::new())),
            other => Err(OptionError::of_type(other, field, "string")),
        };
        rows.map(read).collect::<Result<_, _>>().map(Some)
    }

    fn from_env(text: &str) -> Result<Option<Texts>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        env_rows(text)
            .map(|row| row.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Texts>, String> {
        let Some(texts) = given.array(flag) else {
            return Ok(None);
        };
        let read = texts.into_iter().map(|text| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok((name.to_owned(), value.to_owned()))
            }
            split => {
                let has_name = split.map_or(!text.is_empty(), |(name, _)| !name.is_empty());
                let missing = if has_name { "value" } else { "name" };
                Err(format!(
                    "error parsing tag '{text}': invalid tag, empty {missing}"
                ))
            }
        });
        read.collect::<Result<_, _>>().map(Some)
    }

    fn to_json(&self) -> Json {
        let rows = self.iter();
        Json::Object(
            rows.map(|(name, text)| (name.clone(), Json::text(text)))
                .collect(),
        )
    }

    /// An empty set does not override.
    fn over(&self, lower: Option<&Texts>) -> Texts {
        match lower {
            Some(lower) if self.is_empty() => lower.clone(),
            _ => self.clone(),
        }
    }
}

impl OptionValue for Value {
    const GO_TYPE: &'static str = "json.RawMessage";
    const LEFT_OUT: bool = true;

    fn from_json(value: &Value, _field: &str) -> Result<Option<Value>, OptionError> {
        Ok(Some(value.clone()))
    }

    fn to_json(&self) -> Json {
        Json::from_value(self)
    }
}

/// The items of a list in an environment variable: texts separated by commas, none in a blank one.
pub fn env_items(text: &str) -> impl Iterator<Item = &str> {
    let items = (!text.trim().is_empty()).then(|| text.split(','));
    items.into_iter().flatten()
}

/// `name:value` pairs separated by commas.
pub fn env_rows(text: &str) -> impl Iterator<Item = Result<(&str, &str), String>> {
    text.split(',').map(|row| {
        row.split_once(':')
            .filter(|(_, value)| !value.contains(':'))
            .ok_or_else(|| format!("invalid map item: {}", loadline_go::quoted(row)))
    })
}

/// The items of a list.
///
/// # Errors
/// The value has another type.
pub fn list<'a>(
    value: &'a Value,
    field: &str,
    expected: &'static str,
) -> Result<&'a [Value], OptionError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(OptionError::of_type(other, field, expected)),
    }
}

/// The rows of an object.
///
/// # Errors
/// The value has another type.
pub fn object<'a>(
    value: &'a Value,
    field: &str,
    expected: &'static str,
) -> Result<&'a Map<String, Value>, OptionError> {
    match value {
        Value::Object(rows) => Ok(rows),
        other => Err(OptionError::of_type(other, field, expected)),
    }
}

/// An optional value, `None` for null.
///
/// # Errors
/// k6's message.
pub fn nullable<T: OptionValue>(value: &Value, field: &str) -> Result<Option<T>, OptionError> {
    match value {
        Value::Null => Ok(None),
        value => T::from_json(value, field),
    }
}

/// The output of an option that may not be set.
pub fn written<T: OptionValue>(value: Option<&T>) -> Json {
    value.map_or_else(T::absent, OptionValue::to_json)
}

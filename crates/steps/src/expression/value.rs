//! Values of expressions.
//!
//! Must not know operators. Invariant: a text is UTF-8; indexes count UTF-16 units, as in Java.

use loadline_java::numbers::{self, double_to_string};

use super::Dialect;
use super::decimal::Decimal;
use super::objects::Object;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Truth(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Decimal(Decimal),
    Text(String),
    List(Vec<Value>),
    Object(Object),
}

/// A value, or the message of the exception.
pub(super) type Outcome = Result<Value, String>;

/// An exception.
pub(super) fn thrown<T>(text: &str) -> Result<T, String> {
    Err(text.to_owned())
}

impl Value {
    /// An integer, of 32 bits if that suffices.
    pub(super) fn whole(number: i64) -> Value {
        i32::try_from(number).map_or(Value::Long(number), Value::Int)
    }

    pub(super) fn count(number: usize) -> Value {
        Value::whole(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub(super) fn from_option(text: Option<String>) -> Value {
        text.map_or(Value::Null, Value::Text)
    }

    /// A number literal of a script.
    pub(super) fn number(text: &str, dialect: Dialect) -> Outcome {
        let malformed = || format!("not a number: {text}");
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        if let Some(digits) = hexadecimal {
            return i64::from_str_radix(digits, 16)
                .map(Value::whole)
                .map_err(|_| malformed());
        }
        let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
        let suffix = text[digits.len()..].to_ascii_lowercase();
        let whole = !digits.contains(['.', 'e', 'E']);
        match suffix.as_str() {
            "l" => {
                return numbers::parse_long(digits)
                    .map(Value::Long)
                    .ok_or_else(malformed);
            }
            "f" | "d" => {
                return numbers::parse_double(digits)
                    .map(Value::Double)
                    .ok_or_else(malformed);
            }
            _ => {}
        }
        if whole && suffix.is_empty() {
            let octal = digits.len() > 1 && digits.starts_with('0');
            let number = i64::from_str_radix(digits, if octal { 8 } else { 10 });
            if let Ok(number) = number {
                return Ok(Value::whole(number));
            }
        }
        match dialect {
            // JEXL 2 does not support exponents.
            _ if dialect == Dialect::Jexl2 && digits.contains(['e', 'E']) => Err(malformed()),
            _ if !whole && suffix.is_empty() => numbers::parse_double(digits)
                .map(Value::Double)
                .ok_or_else(malformed),
            _ => Decimal::parse(digits)
                .map(Value::Decimal)
                .ok_or_else(malformed),
        }
    }

    /// The result of a script's function with this value: empty for null.
    pub(super) fn printed(&self) -> Result<String, String> {
        match self {
            Value::Null => Ok(String::new()),
            Value::Object(_) => thrown("an object as the result is not supported"),
            _ => Ok(self.text()),
        }
    }

    /// Its string representation.
    pub(super) fn text(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Truth(truth) => truth.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Long(number) => number.to_string(),
            Value::Double(number) => double_to_string(*number),
            Value::Decimal(number) => number.to_string(),
            Value::Text(text) => text.clone(),
            Value::List(list) => {
                let items: Vec<String> = list.iter().map(Value::text).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(_) => String::new(),
        }
    }

    /// Its value as a condition.
    pub(super) fn truth(&self) -> Result<bool, String> {
        Ok(match self {
            Value::Null => return thrown("null as a condition"),
            Value::Truth(truth) => *truth,
            Value::Int(number) => *number != 0,
            Value::Long(number) => *number != 0,
            Value::Double(number) => *number != 0.0 && !number.is_nan(),
            Value::Decimal(number) => !number.is_zero(),
            Value::Text(text) => !text.is_empty() && text != "false",
            Value::List(_) | Value::Object(_) => true,
        })
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Int(_) | Value::Long(_) | Value::Double(_) | Value::Decimal(_)
        )
    }

    /// Whether it is a number, a text or a boolean.
    pub(super) fn is_plain(&self) -> bool {
        self.is_number() || matches!(self, Value::Text(_) | Value::Truth(_))
    }

    /// Whether JEXL treats it as a floating point number.
    pub(super) fn is_fraction(&self) -> bool {
        match self {
            Value::Double(_) | Value::Decimal(_) => true,
            Value::Text(text) => text.contains(['.', 'e', 'E']),
            _ => false,
        }
    }

    /// As a floating point number.
    pub(super) fn double(&self) -> Result<f64, String> {
        match self {
            Value::Int(number) => Ok(f64::from(*number)),
            Value::Long(number) => Ok(*number as f64),
            Value::Double(number) => Ok(*number),
            Value::Decimal(number) => Ok(number.to_double()),
            Value::Truth(truth) => Ok(f64::from(u8::from(*truth))),
            Value::Text(text) if text.is_empty() => Ok(0.0),
            Value::Text(text) => {
                numbers::parse_double(text).ok_or_else(|| numbers::complaint(text))
            }
            _ => thrown("not a number"),
        }
    }

    /// As an integer; an empty text is zero, as in JEXL.
    pub(super) fn long(&self) -> Result<i64, String> {
        match self {
            Value::Truth(truth) => Ok(i64::from(*truth)),
            Value::Text(text) if text.is_empty() => Ok(0),
            Value::Text(text) => numbers::parse_long(text).ok_or_else(|| numbers::complaint(text)),
            _ => self.truncated(),
        }
    }

    /// The part before the decimal point.
    pub(super) fn truncated(&self) -> Result<i64, String> {
        match self {
            Value::Int(number) => Ok(i64::from(*number)),
            Value::Long(number) => Ok(*number),
            // Java saturates to 64 bits, as `as` does.
            Value::Double(number) => Ok(*number as i64),
            Value::Decimal(number) => {
                i64::try_from(number.truncated()).map_err(|fault| fault.to_string())
            }
            _ => thrown("not a number"),
        }
    }
}

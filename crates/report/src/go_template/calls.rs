//! Fields, keys and methods of values.
//!
//! Must not know where a chain is used. Invariant: only the last name of a chain takes arguments.

use std::rc::Rc;

use loadline_go::GoDuration;

use super::show;
use super::value::{Member, Value};

/// Follows a chain of names; the last one may be a method that takes the arguments.
pub(super) fn chain(from: &Value, names: &[Rc<str>], arguments: &[Value]) -> Result<Value, String> {
    let mut value = from.clone();
    for (position, name) in names.iter().enumerate() {
        let last = position + 1 == names.len();
        value = member(&value, name, if last { arguments } else { &[] })?;
    }
    Ok(value)
}

fn member(value: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    let found = match value {
        Value::Object(object) => match object.member(name) {
            Some(Member::Method(method)) => return method(arguments),
            Some(Member::Field(value)) => Some(value.clone()),
            None => None,
        },
        Value::Map(rows) => {
            let row = rows
                .iter()
                .find(|(key, _)| matches!(key, Value::Text(key) if key.as_ref() == name));
            let keyed_by_text = rows
                .first()
                .is_none_or(|(key, _)| matches!(key, Value::Text(_)));
            keyed_by_text.then(|| row.map_or(Value::Missing, |(_, value)| value.clone()))
        }
        Value::Duration(ns) => duration_method(*ns, name),
        Value::Uuid(_) if name == "String" => Some(Value::text(&show::printed(value))),
        Value::Nil | Value::Missing => return Err(format!("nil pointer evaluating .{name}")),
        _ => None,
    };
    match found {
        Some(_) if !arguments.is_empty() => Err(format!(
            "{name} has arguments but cannot be invoked as function"
        )),
        Some(value) => Ok(value),
        None => Err(format!(
            "can't evaluate field {name} in type {}",
            value.type_name()
        )),
    }
}

fn duration_method(ns: i64, name: &str) -> Option<Value> {
    let unit = |per: i64| Value::Float((ns / per) as f64 + (ns % per) as f64 / per as f64);
    Some(match name {
        "Hours" => unit(3_600_000_000_000),
        "Minutes" => unit(60_000_000_000),
        "Seconds" => unit(1_000_000_000),
        "Milliseconds" => Value::Int(ns / 1_000_000),
        "Microseconds" => Value::Int(ns / 1_000),
        "Nanoseconds" => Value::Int(ns),
        "Abs" => Value::Duration(ns.saturating_abs()),
        "String" => Value::text(&GoDuration(ns).to_string()),
        _ => return None,
    })
}

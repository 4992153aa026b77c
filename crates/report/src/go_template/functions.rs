//! The built-in functions.
//!
//! Must not know the tree. Invariant: an argument that does not fit is an error that names it.

use std::cmp::Ordering;
use std::rc::Rc;

use super::node::Function;
use super::value::{List, Value};
use super::{compare, escape, printf, show};

/// Calls a built-in function; `and` and `or` are evaluated by the caller, who stops early.
pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value, String> {
    let text = |text: String| Ok(Value::text(&text));
    match function {
        Function::And | Function::Or => arguments.last().cloned().ok_or_else(missing),
        Function::Not => Ok(Value::Bool(!first(arguments)?.is_true())),
        Function::Html => text(escape::html(&show::sprint(arguments))),
        Function::Js => text(escape::js(&show::sprint(arguments))),
        Function::UrlQuery => text(escape::url_query(&show::sprint(arguments))),
        Function::Print => text(show::sprint(arguments)),
        Function::Println => text(show::sprintln(arguments)),
        Function::Printf => match arguments {
            [Value::Text(format), values @ ..] => text(printf::sprintf(format, values)?),
            [other, ..] => Err(format!(
                "wrong type {} for the format of printf",
                other.type_name()
            )),
            [] => Err(missing()),
        },
        Function::Len => length(first(arguments)?).map(|length| Value::Int(length as i64)),
        Function::Index => index(arguments),
        Function::Slice => slice(arguments),
        Function::Eq => compare::equal(arguments).map(Value::Bool),
        Function::Ne => compare::equal(arguments).map(|equal| Value::Bool(!equal)),
        Function::Lt => ordered(arguments, |order| order == Ordering::Less),
        Function::Le => ordered(arguments, |order| order != Ordering::Greater),
        Function::Gt => ordered(arguments, |order| order == Ordering::Greater),
        Function::Ge => ordered(arguments, |order| order != Ordering::Less),
        Function::Host(name) => Err(format!("function {name:?} not defined")),
    }
}

fn missing() -> String {
    "missing argument".to_owned()
}

fn first(arguments: &[Value]) -> Result<&Value, String> {
    arguments.first().ok_or_else(missing)
}

fn ordered(arguments: &[Value], holds: impl Fn(Ordering) -> bool) -> Result<Value, String> {
    compare::order(arguments).map(|order| Value::Bool(order.is_some_and(holds)))
}

fn length(value: &Value) -> Result<usize, String> {
    match value {
        Value::Text(text) => Ok(text.len()),
        Value::Bytes(bytes) => Ok(bytes.len()),
        Value::List(list) => Ok(list.len()),
        Value::Map(rows) => Ok(rows.len()),
        Value::Uuid(bytes) => Ok(bytes.len()),
        Value::Nil | Value::Missing => Err("len of nil pointer".to_owned()),
        other => Err(format!("len of type {}", other.type_name())),
    }
}

fn index(arguments: &[Value]) -> Result<Value, String> {
    let mut value = first(arguments)?.clone();
    for key in arguments.get(1..).unwrap_or_default() {
        value = index_one(&value, key)?;
    }
    Ok(value)
}

fn index_one(value: &Value, key: &Value) -> Result<Value, String> {
    let byte = |bytes: &[u8]| {
        let at = position(key, bytes.len())?;
        bytes
            .get(at)
            .map(|byte| Value::Uint(u64::from(*byte)))
            .ok_or_else(|| out_of_range(key))
    };
    match value {
        Value::List(list) => list
            .get(position(key, list.len())?)
            .ok_or_else(|| out_of_range(key)),
        Value::Text(text) => byte(text.as_bytes()),
        Value::Bytes(bytes) => byte(bytes),
        Value::Uuid(bytes) => byte(bytes),
        Value::Map(rows) => {
            for (known, found) in rows.iter() {
                if compare::equal(&[known.clone(), key.clone()])? {
                    return Ok(found.clone());
                }
            }
            Ok(rows
                .first()
                .map_or(Value::Missing, |(_, sample)| zero_of(sample)))
        }
        Value::Nil | Value::Missing => Err("index of nil pointer".to_owned()),
        other => Err(format!("can't index item of type {}", other.type_name())),
    }
}

fn out_of_range(key: &Value) -> String {
    format!("index out of range: {}", show::printed(key))
}

fn position(key: &Value, length: usize) -> Result<usize, String> {
    let at = match key {
        Value::Int(_) | Value::Uint(_) | Value::Duration(_) => key.as_int()?,
        Value::Nil | Value::Missing => return Err("cannot index slice/array with nil".to_owned()),
        other => {
            return Err(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            ));
        }
    };
    usize::try_from(at)
        .ok()
        .filter(|at| *at <= length)
        .ok_or_else(|| out_of_range(key))
}

fn zero_of(sample: &Value) -> Value {
    match sample {
        Value::Bool(_) => Value::Bool(false),
        Value::Int(_) => Value::Int(0),
        Value::Uint(_) => Value::Uint(0),
        Value::Float(_) => Value::Float(0.0),
        Value::Text(_) => Value::text(""),
        Value::Duration(_) => Value::Duration(0),
        _ => Value::Missing,
    }
}

fn slice(arguments: &[Value]) -> Result<Value, String> {
    let value = first(arguments)?;
    let bounds = arguments.get(1..).unwrap_or_default();
    if bounds.len() == 3 && matches!(value, Value::Text(_)) {
        return Err("cannot 3-index slice a string".to_owned());
    }
    let length = match value {
        Value::Text(_) | Value::Bytes(_) | Value::List(_) => length(value)?,
        Value::Nil | Value::Missing => return Err("slice of untyped nil".to_owned()),
        other => return Err(format!("can't slice item of type {}", other.type_name())),
    };
    let at = |which: usize, default: usize| match bounds.get(which) {
        Some(bound) => position(bound, length),
        None => Ok(default),
    };
    let (from, to, capacity) = (at(0, 0)?, at(1, length)?, at(2, length)?);
    if from > to || to > capacity {
        return Err(format!("invalid slice index: {from} > {to}"));
    }
    let cut = |bytes: &[u8]| bytes.get(from..to).unwrap_or_default().to_vec();
    Ok(match value {
        Value::Text(text) => Value::text(&String::from_utf8_lossy(&cut(text.as_bytes()))),
        Value::Bytes(bytes) => Value::Bytes(Rc::from(cut(bytes))),
        Value::List(list) => Value::List(Rc::new(
            list.slice(from, to).unwrap_or(List::Values(Vec::new())),
        )),
        _ => Value::Missing,
    })
}

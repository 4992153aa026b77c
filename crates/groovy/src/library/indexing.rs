//! Index access to values, and destructuring.
//!
//! Must not know scripts. Invariant: values without built-in indexing use their methods `getAt` and `putAt`.

use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};
use super::{has_method, invoke, maps, places, set_property, texts};

/// The key for index access to a map: a text with embedded values is converted to plain text.
fn as_name(at: &Value) -> Value {
    match at {
        Value::Composed(_) => Value::text(print::text(at)),
        other => other.clone(),
    }
}

/// `value[at]`.
///
/// # Errors
/// It cannot be read.
pub(crate) fn at(machine: &mut dyn Machine, of: &Value, at: &Value) -> Outcome {
    match of {
        Value::List(_) | Value::Range(_) => places::at(of, at),
        Value::Map(map) => maps::get(machine, map, &as_name(at)),
        Value::Text(_) | Value::Composed(_) => texts::at(&print::text(of), at),
        _ => invoke(machine, of, "getAt", std::slice::from_ref(at)),
    }
}

/// `value[at] = …`.
///
/// # Errors
/// It cannot be set.
pub(crate) fn put_at(
    machine: &mut dyn Machine,
    of: &Value,
    at: &Value,
    value: Value,
) -> Outcome<()> {
    match of {
        Value::List(list) => places::put_at(machine, list, at, value),
        Value::Map(map) => {
            maps::may_change(map)?;
            machine.take(64)?;
            maps::insert(machine, map, &as_name(at), value).map(drop)
        }
        Value::Object(_) if !has_method(of, "putAt") => {
            let name = print::text(at);
            set_property(machine, of, &name, &value)
        }
        _ => invoke(machine, of, "putAt", &[at.clone(), value]).map(drop),
    }
}

/// One part of a destructured value: `def (a, b) = value`.
///
/// # Errors
/// It cannot be destructured.
pub(crate) fn element(machine: &mut dyn Machine, of: &Value, place: usize) -> Outcome {
    match of {
        Value::Null => Err(Thrown::null_call("getAt")),
        Value::List(list) => Ok(list
            .items
            .borrow()
            .get(place)
            .cloned()
            .unwrap_or(Value::Null)),
        _ => at(machine, of, &Value::count(place)),
    }
}

//! What stands in brackets behind a value, and what a value is taken apart into.
//!
//! Must not know scripts. Invariant: what a value does not have in brackets is asked of its methods `getAt` and `putAt`.

use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};
use super::{has_method, invoke, lists, maps, set_property, texts};

/// What stands in the brackets behind a map: a text with values in it names a property, and so is a text there.
fn as_name(at: &Value) -> Value {
    match at {
        Value::Composed(_) => Value::text(print::text(at)),
        other => other.clone(),
    }
}

/// `value[at]`.
///
/// # Errors
/// There is nothing.
pub(crate) fn at(machine: &mut dyn Machine, of: &Value, at: &Value) -> Outcome {
    match of {
        Value::List(_) | Value::Range(_) => lists::at(of, at),
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
        Value::List(list) => lists::put_at(machine, list, at, value),
        Value::Map(map) => {
            maps::may_change(map)?;
            machine.take(64)?;
            map.put(&as_name(at), value);
            Ok(())
        }
        Value::Object(_) if !has_method(of, "putAt") => {
            let name = print::text(at);
            set_property(machine, of, &name, &value)
        }
        _ => invoke(machine, of, "putAt", &[at.clone(), value]).map(drop),
    }
}

/// A part of a value that is taken apart: `def (a, b) = value`.
///
/// # Errors
/// It cannot be taken apart.
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

//! Index access to lists, arrays and ranges.
//!
//! Must not know methods. Invariant: a negative index counts from the end.

use std::rc::Rc;

use super::super::convert;
use super::super::number;
use super::super::thrown::Thrown;
use super::super::value::{List, ListKind, Machine, Outcome, Range, Value};
use super::values;

/// `list[at]`.
pub(super) fn at(of: &Value, at: &Value) -> Outcome {
    let length = match of {
        Value::List(list) => list.items.borrow().len(),
        Value::Range(range) => range.len(),
        _ => 0,
    };
    let item = |place: usize| match of {
        Value::List(list) => list.items.borrow().get(place).cloned(),
        Value::Range(range) => (place < length).then(|| range.at(place)),
        _ => None,
    };
    match at {
        Value::Range(range) => part(of, range.from, range.to, range.is_empty, length, &item),
        Value::List(places) => {
            let mut found = Vec::new();
            for place in places.copied() {
                found.push(self::at(of, &place)?);
            }
            Ok(Value::list(found))
        }
        place => {
            let index = number::long_of(place)
                .ok_or_else(|| super::missing(of, "getAt", std::slice::from_ref(place)))?;
            let counted = if index < 0 {
                index + length as i64
            } else {
                index
            };
            let is_array = matches!(of, Value::List(list) if list.is_array());
            match usize::try_from(counted) {
                Ok(place) if place < length => Ok(item(place).unwrap_or(Value::Null)),
                Ok(_) if is_array => Err(beyond(counted, length)),
                Ok(_) => Ok(Value::Null),
                Err(_) if is_array => Err(Thrown::of(
                    "java.lang.ArrayIndexOutOfBoundsException",
                    format!("Negative array index [{index}] too large for array size {length}"),
                )),
                Err(_) => Err(Thrown::of(
                    "java.lang.ArrayIndexOutOfBoundsException",
                    format!("Negative array index [{index}] too large for array size {length}"),
                )),
            }
        }
    }
}

pub(super) fn beyond(index: i64, length: usize) -> Thrown {
    Thrown::of(
        "java.lang.ArrayIndexOutOfBoundsException",
        format!("Index {index} out of bounds for length {length}"),
    )
}

fn part(
    of: &Value,
    from: i64,
    to: i64,
    is_empty: bool,
    length: usize,
    item: &dyn Fn(usize) -> Option<Value>,
) -> Outcome {
    let counted = |place: i64| {
        if place < 0 {
            place + length as i64
        } else {
            place
        }
    };
    let (from, to) = (counted(from), counted(to));
    if is_empty {
        return Ok(Value::list(Vec::new()));
    }
    let fault = || {
        Thrown::of(
            "java.lang.IndexOutOfBoundsException",
            format!("toIndex = {}", from.max(to) + 1),
        )
    };
    let (low, high) = (from.min(to), from.max(to));
    let (Ok(low), Ok(high)) = (usize::try_from(low), usize::try_from(high)) else {
        return Err(fault());
    };
    if high >= length {
        return Err(fault());
    }
    let mut found: Vec<Value> = (low..=high).filter_map(item).collect();
    if from > to {
        found.reverse();
    }
    Ok(match of {
        Value::List(list) if list.is_array() => Value::List(List::new(list.kind, found)),
        _ => Value::list(found),
    })
}

/// `list[at] = value`.
pub(super) fn put_at(
    machine: &mut dyn Machine,
    list: &Rc<List>,
    at: &Value,
    value: Value,
) -> Outcome<()> {
    if let (Value::Range(range), ListKind::Growing | ListKind::Linked) = (at, list.kind) {
        return put_range(machine, list, range, &value);
    }
    let index = number::long_of(at).ok_or_else(|| convert::cannot_cast(at, "int"))?;
    let length = list.items.borrow().len();
    let counted = if index < 0 {
        index + length as i64
    } else {
        index
    };
    let place = usize::try_from(counted).map_err(|_| beyond(index, length))?;
    let value = match list.kind {
        ListKind::Array(of) => element(machine, of, value)?,
        ListKind::Constant => return Err(Thrown::bare("java.lang.UnsupportedOperationException")),
        _ => value,
    };
    if place >= length {
        if !list.may_grow() {
            return Err(beyond(counted, length));
        }
        machine.take((place - length).saturating_mul(24))?;
        list.items.borrow_mut().resize(place + 1, Value::Null);
    }
    list.items.borrow_mut()[place] = value;
    Ok(())
}

/// `list[1..2] = values`: the values take the place of the range.
fn put_range(
    machine: &mut dyn Machine,
    list: &Rc<List>,
    range: &Range,
    value: &Value,
) -> Outcome<()> {
    let new = match value {
        Value::List(_) | Value::Set(_) | Value::Range(_) => values(machine, value)?,
        one => vec![one.clone()],
    };
    let length = list.items.borrow().len();
    let place = |at: i64| {
        let counted = if at < 0 { at + length as i64 } else { at };
        usize::try_from(counted).map_err(|_| beyond(at, length))
    };
    let (from, to) = (place(range.from)?, place(range.to)?);
    let (from, end) = match range.is_empty {
        true => (from, from),
        false => (from.min(to), from.max(to) + 1),
    };
    if from > length {
        return Err(beyond(range.from, length));
    }
    machine.take(new.len().saturating_mul(24))?;
    let end = end.min(length);
    list.items.borrow_mut().splice(from..end, new);
    Ok(())
}

/// Converts a value to an element of an array.
fn element(machine: &mut dyn Machine, of: super::super::value::Element, value: Value) -> Outcome {
    use super::super::value::Element;
    let name = match of {
        Element::Object => return Ok(value),
        Element::Text => "String",
        Element::Int => "int",
        Element::Long => "long",
        Element::Double => "double",
        Element::Float => "float",
        Element::Byte => "byte",
        Element::Char => "char",
        Element::Truth => "boolean",
    };
    convert::cast(
        machine,
        value,
        &super::super::ast::Type {
            name: name.into(),
            dimensions: 0,
        },
    )
}

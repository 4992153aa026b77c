//! The classes that create streams, and collectors.
//!
//! Must not know what is done with the values. Invariant: a stream is a list of its values, and a collector is
//! represented by its name.

use super::super::map::{Map, MapKind};
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{List, ListKind, Machine, Outcome, Value};
use super::sequences::spread;
use super::{Class, int_of, values};

/// Numbers from one to another, excluding the last one if `beyond` is 0.
fn counted(machine: &mut dyn Machine, given: &[Value], beyond: i64) -> Outcome {
    let (from, to) = (i64::from(int_of(given, 0)?), i64::from(int_of(given, 1)?));
    let count = usize::try_from(to - from + beyond).unwrap_or(0);
    machine.take(count.saturating_mul(16))?;
    let numbers = (from..to + beyond).map(|number| Value::Int(number as i32));
    Ok(numbers_streamed(numbers.collect()))
}

/// A stream of numbers.
pub(super) fn numbers_streamed(numbers: Vec<Value>) -> Value {
    Value::List(List::new(ListKind::NumberStream, numbers))
}

static INT_STREAM: Table = Table::new(&[
    row("range", 2, 2, |machine, _, given| {
        counted(machine, given, 0)
    }),
    row("rangeClosed", 2, 2, |machine, _, given| {
        counted(machine, given, 1)
    }),
    row("of", 1, MANY, |_, _, given| {
        Ok(numbers_streamed(spread(given)))
    }),
]);
static STREAM: Table = Table::new(&[
    row("of", 1, MANY, |_, _, given| {
        Ok(Value::List(List::new(ListKind::Stream, spread(given))))
    }),
    row("empty", 0, 0, |_, _, _| {
        Ok(Value::List(List::new(ListKind::Stream, Vec::new())))
    }),
]);
/// The values of a stream by a collector with closures; `None`: another collector.
pub(super) fn gathered(
    machine: &mut dyn Machine,
    this: &Value,
    parts: &[Value],
) -> Outcome<Option<Value>> {
    let map = Map::new(MapKind::Hash);
    match parts {
        [Value::Text(name), key, value] if **name == *"toMap" => {
            for one in values(machine, this)? {
                let key = machine.call(key, vec![one.clone()])?;
                let value = machine.call(value, vec![one])?;
                if map.put(&key, value).is_some() {
                    let key = print::text(&key);
                    return Err(Thrown::of(
                        "java.lang.IllegalStateException",
                        format!("Duplicate key {key}"),
                    ));
                }
            }
        }
        [Value::Text(name), by] if **name == *"groupingBy" => {
            for one in values(machine, this)? {
                let key = machine.call(by, vec![one.clone()])?;
                match map.get(&key) {
                    Some(Value::List(group)) => group.items.borrow_mut().push(one),
                    _ => drop(map.put(&key, Value::list(vec![one]))),
                }
            }
        }
        [Value::Text(name)] if **name == *"counting" => {
            return Ok(Some(Value::Long(values(machine, this)?.len() as i64)));
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Map(map)))
}

/// A collector that joins texts: what stands between, before and behind them.
fn joining(given: &[Value]) -> Outcome {
    let mut parts = vec![Value::text("join")];
    parts.extend((0..3).map(|place| Value::text(super::text_of(given, place))));
    Ok(Value::list(parts))
}

/// A collector by its name, with its closures.
fn named(name: &str, given: &[Value]) -> Outcome {
    let mut parts = vec![Value::text(name)];
    parts.extend_from_slice(given);
    Ok(Value::list(parts))
}

/// Collectors of streams: represented by their name.
static COLLECTORS: Table = Table::new(&[
    row("toList", 0, 0, |_, _, _| Ok(Value::text("toList"))),
    row("toSet", 0, 0, |_, _, _| Ok(Value::text("toSet"))),
    row("toMap", 2, 2, |_, _, given| named("toMap", given)),
    row("groupingBy", 1, 1, |_, _, given| named("groupingBy", given)),
    row("counting", 0, 0, |_, _, _| named("counting", &[])),
    row("joining", 0, 1, |_, _, given| joining(given)),
    row("joining", 3, 3, |_, _, given| joining(given)),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.stream.IntStream",
        statics: &INT_STREAM,
    },
    Class {
        name: "java.util.stream.Stream",
        statics: &STREAM,
    },
    Class {
        name: "java.util.stream.Collectors",
        statics: &COLLECTORS,
    },
];

//! `java.util.Properties`: maps of texts that can be loaded from files.
//!
//! Must not know disks. Invariant: they have all methods of maps.

use loadline_java::properties;

use super::super::map::{Map, MapKind};
use super::super::order;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};
use super::maps::map_of;
use super::sequences::iterator;
use super::{Class, readers, text_wanted};

/// Parses pairs in Java's format: each byte of a stream is an ISO-8859-1 character.
fn load(machine: &mut dyn Machine, this: &Value, from: &Value) -> Outcome {
    let Some(bytes) = readers::rest_in_latin_1(from) else {
        return Err(Thrown::bare("java.lang.NullPointerException"));
    };
    let pairs =
        properties::read(&bytes).map_err(|_| Thrown::argument("Malformed \\uxxxx encoding."))?;
    machine.take(pairs.len().saturating_mul(64) + bytes.len())?;
    let map = map_of(this)?;
    for (key, value) in pairs {
        map.put(&Value::text(key), Value::text(value));
    }
    Ok(Value::Null)
}

pub(super) static METHODS: Table = Table::new(&[
    row("load", 1, 1, |machine, this, given| {
        load(machine, this, &given[0])
    }),
    row("getProperty", 1, 2, |_, this, given| {
        let found = map_of(this)?.get(&given[0]);
        let text = found.filter(|value| matches!(value, Value::Text(_)));
        Ok(text.unwrap_or_else(|| given.get(1).cloned().unwrap_or(Value::Null)))
    }),
    row("setProperty", 2, 2, |machine, this, given| {
        let (name, value) = (text_wanted(given, 0)?, text_wanted(given, 1)?);
        machine.take(name.len() + value.len())?;
        let before = map_of(this)?.put(&Value::text(name), Value::text(value));
        Ok(before.unwrap_or(Value::Null))
    }),
    row("stringPropertyNames", 0, 0, |_, this, _| {
        let names = Map::new(MapKind::Hash);
        for (name, value) in order::entries(map_of(this)?) {
            if matches!((&name, &value), (Value::Text(_), Value::Text(_))) {
                names.put(&name, Value::Null);
            }
        }
        Ok(Value::Set(names))
    }),
    row("propertyNames", 0, 0, |machine, this, _| {
        let names = Value::list(order::keys(map_of(this)?));
        iterator(machine, &names)
    }),
]);

static STATICS: Table = Table::new(&[row("new", 0, 0, |_, _, _| {
    Ok(Value::Map(Map::new(MapKind::Properties)))
})]);

pub(super) const CLASSES: &[Class] = &[Class {
    name: "java.util.Properties",
    statics: &STATICS,
}];

//! Methods of maps and sets.
//!
//! Must not know lists. Invariant: a closure with two parameters gets key and value, one with one parameter an
//! entry.
// tidy: table

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::map::{Map, MapKind};
use super::super::number::{self, Sum};
use super::super::order;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};
use super::sequences::{entry, iterator};
use super::{End, linked, values};

/// Checks that a map may be changed.
pub(super) fn may_change(map: &Map) -> Outcome<()> {
    match map.kind {
        MapKind::Constant => Err(Thrown::bare("java.lang.UnsupportedOperationException")),
        _ => Ok(()),
    }
}

/// The value of a key; if it is missing and the map has a default, the default's result for the key, which is
/// stored.
///
/// # Errors
/// An exception from the default.
pub(super) fn get(machine: &mut dyn Machine, map: &Map, key: &Value) -> Outcome {
    if let Some(value) = map.get(key) {
        return Ok(value);
    }
    let Some(default) = map.default.get() else {
        return Ok(Value::Null);
    };
    let value = machine.call(default, vec![key.clone()])?;
    machine.take(64)?;
    map.put(key, value.clone());
    Ok(value)
}

/// Sets the value of a key; returns the previous one. A map with a comparator keeps its entries in that order.
///
/// # Errors
/// An exception from the comparator.
pub(super) fn insert(
    machine: &mut dyn Machine,
    map: &Map,
    key: &Value,
    value: Value,
) -> Outcome<Option<Value>> {
    let Some(by) = map.by.get() else {
        return Ok(map.put(key, value));
    };
    let mut place = 0;
    for known in order::keys(map) {
        let said = machine.call(by, vec![key.clone(), known.clone()])?;
        match number::long_of(&said).unwrap_or(0).cmp(&0) {
            Ordering::Less => break,
            Ordering::Equal => return Ok(map.put(&known, value)),
            Ordering::Greater => place += 1,
        }
    }
    let mut entries = map.entries.borrow_mut();
    Ok(entries.shift_insert(place, super::super::map::Key::of(key), value))
}

/// Whether a map has this value for a key.
fn has_entry(map: &Map, key: &Value, value: &Value) -> bool {
    map.get(key)
        .is_some_and(|found| order::equals(&found, value))
}

pub(super) fn map_of(this: &Value) -> Outcome<&Rc<Map>> {
    match this {
        Value::Map(map) | Value::Set(map) => Ok(map),
        other => Err(super::convert::cannot_cast(other, "java.util.Map")),
    }
}

/// Calls a closure with an entry, or with its key and value.
fn call(
    machine: &mut dyn Machine,
    closure: &Value,
    map: &Rc<Map>,
    key: Value,
    value: Value,
) -> Outcome {
    let takes_two = matches!(closure, Value::Closure(code) if code.arity() >= 2);
    match takes_two {
        true => machine.call(closure, vec![key, value]),
        false => machine.call(closure, vec![entry(map, key, value)]),
    }
}

fn holds(
    machine: &mut dyn Machine,
    closure: &Value,
    map: &Rc<Map>,
    key: &Value,
    value: &Value,
) -> Outcome<bool> {
    Ok(order::truth(&call(
        machine,
        closure,
        map,
        key.clone(),
        value.clone(),
    )?))
}

fn put(machine: &mut dyn Machine, this: &Value, key: &Value, value: Value) -> Outcome {
    let map = map_of(this)?;
    may_change(map)?;
    machine.take(64)?;
    Ok(insert(machine, map, key, value)?.unwrap_or(Value::Null))
}

fn filtered(machine: &mut dyn Machine, this: &Value, closure: &Value) -> Outcome {
    let map = map_of(this)?;
    let found = linked();
    for (key, value) in order::entries(map) {
        if holds(machine, closure, map, &key, &value)? {
            found.put(&key, value);
        }
    }
    Ok(Value::Map(found))
}

fn kept(machine: &mut dyn Machine, this: &Value, closure: &Value, keeps: bool) -> Outcome {
    let map = map_of(this)?;
    let before = map.len();
    for (key, value) in order::entries(map) {
        if holds(machine, closure, map, &key, &value)? != keeps {
            map.remove(&key);
        }
    }
    Ok(Value::Truth(map.len() != before))
}

fn sorted(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let map = map_of(this)?;
    let mut all = order::entries(map);
    let mut fault = None;
    match given.first() {
        Some(closure @ Value::Closure(code)) if code.arity() >= 2 => all.sort_by(|one, other| {
            let pair = [one, other].map(|(key, value)| entry(map, key.clone(), value.clone()));
            match machine.call(closure, pair.to_vec()) {
                Ok(said) => number::long_of(&said).unwrap_or(0).cmp(&0),
                Err(thrown) => {
                    fault = Some(thrown);
                    Ordering::Equal
                }
            }
        }),
        Some(closure) => {
            let mut keyed = Vec::new();
            for (key, value) in all {
                let by = call(machine, closure, map, key.clone(), value.clone())?;
                keyed.push((by, (key, value)));
            }
            keyed.sort_by(|(one, _), (other, _)| {
                order::compare(one, other).unwrap_or(Ordering::Equal)
            });
            all = keyed.into_iter().map(|(_, pair)| pair).collect();
        }
        None => all
            .sort_by(|(one, _), (other, _)| order::compare(one, other).unwrap_or(Ordering::Equal)),
    }
    if let Some(thrown) = fault {
        return Err(thrown);
    }
    let found = linked();
    for (key, value) in all {
        found.put(&key, value);
    }
    Ok(Value::Map(found))
}

fn extreme(machine: &mut dyn Machine, this: &Value, closure: &Value, wanted: Ordering) -> Outcome {
    let map = map_of(this)?;
    let mut best: Option<(Value, Value)> = None;
    for (key, value) in order::entries(map) {
        let by = call(machine, closure, map, key.clone(), value.clone())?;
        let is_better = match &best {
            None => true,
            Some((held, _)) => order::compare(&by, held)? == wanted,
        };
        if is_better {
            best = Some((by, entry(map, key, value)));
        }
    }
    Ok(best.map_or(Value::Null, |(_, value)| value))
}

pub(super) static METHODS: Table = Table::new(&[
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(map_of(this)?.len()))
    }),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(map_of(this)?.is_empty()))
    }),
    row("get", 1, 1, |machine, this, given| {
        get(machine, map_of(this)?, &given[0])
    }),
    row("getAt", 1, 1, |machine, this, given| {
        get(machine, map_of(this)?, &given[0])
    }),
    row("withDefault", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let copy = Map::new(map.kind);
        machine.take(map.len().saturating_mul(64))?;
        for (key, value) in order::entries(map) {
            copy.put(&key, value);
        }
        // It cannot have been set before.
        let _ = copy.default.set(given[0].clone());
        Ok(Value::Map(copy))
    }),
    row("getProperty", 1, 2, |_, this, given| {
        let other = given.get(1).cloned().unwrap_or(Value::Null);
        Ok(map_of(this)?.get(&given[0]).unwrap_or(other))
    }),
    row("setProperty", 2, 2, |machine, this, given| {
        put(machine, this, &given[0], given[1].clone())
    }),
    row("get", 2, 2, |machine, this, given| {
        if let Some(found) = map_of(this)?.get(&given[0]) {
            return Ok(found);
        }
        put(machine, this, &given[0], given[1].clone())?;
        Ok(given[1].clone())
    }),
    row("getOrDefault", 2, 2, |_, this, given| {
        Ok(map_of(this)?
            .get(&given[0])
            .unwrap_or_else(|| given[1].clone()))
    }),
    row("put", 2, 2, |machine, this, given| {
        put(machine, this, &given[0], given[1].clone())
    }),
    row("putAt", 2, 2, |machine, this, given| {
        put(machine, this, &given[0], given[1].clone())
    }),
    row("putIfAbsent", 2, 2, |machine, this, given| {
        match map_of(this)?.get(&given[0]) {
            Some(found) => Ok(found),
            None => put(machine, this, &given[0], given[1].clone()),
        }
    }),
    row(
        "computeIfAbsent",
        2,
        2,
        |machine, this, given| match map_of(this)?.get(&given[0]) {
            Some(found) if !found.is_null() => Ok(found),
            _ => {
                let value = machine.call(&given[1], vec![given[0].clone()])?;
                put(machine, this, &given[0], value.clone())?;
                Ok(value)
            }
        },
    ),
    row("merge", 3, 3, |machine, this, given| {
        let value = match map_of(this)?.get(&given[0]) {
            Some(found) if !found.is_null() => {
                machine.call(&given[2], vec![found, given[1].clone()])?
            }
            _ => given[1].clone(),
        };
        put(machine, this, &given[0], value.clone())?;
        Ok(value)
    }),
    row("putAll", 1, 1, |machine, this, given| {
        if let Value::Map(other) = &given[0] {
            for (key, value) in order::entries(other) {
                put(machine, this, &key, value)?;
            }
        }
        Ok(Value::Null)
    }),
    row("leftShift", 1, 1, |machine, this, given| {
        for one in values(machine, &given[0])? {
            let (key, value) = (
                machine.property(&one, "key")?,
                machine.property(&one, "value")?,
            );
            put(machine, this, &key, value)?;
        }
        Ok(this.clone())
    }),
    row("plus", 1, 1, |_, this, given| {
        let sum = linked();
        for map in [this, &given[0]] {
            for (key, value) in order::entries(map_of(map)?) {
                sum.put(&key, value);
            }
        }
        Ok(Value::Map(sum))
    }),
    row("intersect", 1, 1, |_, this, given| {
        let both = linked();
        let other = map_of(&given[0])?;
        for (key, value) in order::entries(map_of(this)?) {
            if has_entry(other, &key, &value) {
                both.put(&key, value);
            }
        }
        Ok(Value::Map(both))
    }),
    row("replaceAll", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        may_change(map)?;
        for (key, value) in order::entries(map) {
            let value = machine.call(&given[0], vec![key.clone(), value])?;
            map.put(&key, value);
        }
        Ok(Value::Null)
    }),
    row("minus", 1, 1, |_, this, given| {
        let rest = linked();
        let other = map_of(&given[0])?;
        for (key, value) in order::entries(map_of(this)?) {
            if !has_entry(other, &key, &value) {
                rest.put(&key, value);
            }
        }
        Ok(Value::Map(rest))
    }),
    row("remove", 1, 1, |_, this, given| {
        let map = map_of(this)?;
        may_change(map)?;
        Ok(map.remove(&given[0]).unwrap_or(Value::Null))
    }),
    row("clear", 0, 0, |_, this, _| {
        map_of(this)?.entries.borrow_mut().clear();
        Ok(Value::Null)
    }),
    row("containsKey", 1, 1, |_, this, given| {
        Ok(Value::Truth(map_of(this)?.has(&given[0])))
    }),
    row("containsValue", 1, 1, |_, this, given| {
        let all = order::entries(map_of(this)?);
        Ok(Value::Truth(
            all.iter().any(|(_, value)| order::equals(value, &given[0])),
        ))
    }),
    row("keySet", 0, 0, |_, this, _| {
        let set = Map::new(MapKind::Linked);
        for key in order::keys(map_of(this)?) {
            set.put(&key, Value::Null);
        }
        Ok(Value::Set(set))
    }),
    row("values", 0, 0, |_, this, _| {
        Ok(Value::list(
            order::entries(map_of(this)?)
                .into_iter()
                .map(|(_, value)| value)
                .collect(),
        ))
    }),
    row("elements", 0, 0, |machine, this, _| {
        let all = Value::list(
            order::entries(map_of(this)?)
                .into_iter()
                .map(|(_, value)| value)
                .collect(),
        );
        iterator(machine, &all)
    }),
    row("keys", 0, 0, |machine, this, _| {
        let all = Value::list(order::keys(map_of(this)?));
        iterator(machine, &all)
    }),
    row("entrySet", 0, 0, |machine, this, _| {
        Ok(Value::list(values(machine, this)?))
    }),
    row("iterator", 0, 0, |machine, this, _| iterator(machine, this)),
    row("each", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        for (key, value) in order::entries(map) {
            call(machine, &given[0], map, key, value)?;
        }
        Ok(this.clone())
    }),
    row("forEach", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        for (key, value) in order::entries(map) {
            call(machine, &given[0], map, key, value)?;
        }
        Ok(Value::Null)
    }),
    row("eachWithIndex", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let takes_three = matches!(&given[0], Value::Closure(code) if code.arity() >= 3);
        for (place, (key, value)) in order::entries(map).into_iter().enumerate() {
            let place = Value::count(place);
            let values = match takes_three {
                true => vec![key, value, place],
                false => vec![entry(map, key, value), place],
            };
            machine.call(&given[0], values)?;
        }
        Ok(this.clone())
    }),
    row("collect", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let mut found = Vec::new();
        for (key, value) in order::entries(map) {
            found.push(call(machine, &given[0], map, key, value)?);
        }
        Ok(Value::list(found))
    }),
    row("collectMany", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let mut found = Vec::new();
        for (key, value) in order::entries(map) {
            let more = call(machine, &given[0], map, key, value)?;
            found.extend(values(machine, &more)?);
        }
        Ok(Value::list(found))
    }),
    row("collectEntries", 1, 1, |machine, this, given| {
        let pairs = machine.invoke(this, "collect", given)?;
        machine.invoke(&pairs, "collectEntries", &[])
    }),
    row("findAll", 1, 1, |machine, this, given| {
        filtered(machine, this, &given[0])
    }),
    row("find", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        for (key, value) in order::entries(map) {
            if holds(machine, &given[0], map, &key, &value)? {
                return Ok(entry(map, key, value));
            }
        }
        Ok(Value::Null)
    }),
    row("findResult", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        for (key, value) in order::entries(map) {
            let said = call(machine, &given[0], map, key, value)?;
            if !said.is_null() {
                return Ok(said);
            }
        }
        Ok(Value::Null)
    }),
    row("any", 1, 1, |machine, this, given| {
        let found = machine.invoke(this, "find", given)?;
        Ok(Value::Truth(!found.is_null()))
    }),
    row("every", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        for (key, value) in order::entries(map) {
            if !holds(machine, &given[0], map, &key, &value)? {
                return Ok(Value::Truth(false));
            }
        }
        Ok(Value::Truth(true))
    }),
    row("count", 1, 1, |machine, this, given| {
        let found = filtered(machine, this, &given[0])?;
        machine.invoke(&found, "size", &[])
    }),
    row("groupBy", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let groups = linked();
        for (key, value) in order::entries(map) {
            let by = call(machine, &given[0], map, key.clone(), value.clone())?;
            match groups.get(&by) {
                Some(Value::Map(group)) => {
                    group.put(&key, value);
                }
                _ => {
                    let group = linked();
                    group.put(&key, value);
                    groups.put(&by, Value::Map(group));
                }
            }
        }
        Ok(Value::Map(groups))
    }),
    row("sort", 0, 1, sorted),
    row("toSorted", 0, 1, sorted),
    row("max", 1, 1, |machine, this, given| {
        extreme(machine, this, &given[0], Ordering::Greater)
    }),
    row("min", 1, 1, |machine, this, given| {
        extreme(machine, this, &given[0], Ordering::Less)
    }),
    row("sum", 1, 1, |machine, this, given| {
        let all = machine.invoke(this, "collect", given)?;
        let mut sum = Value::Null;
        for value in values(machine, &all)? {
            sum = match sum.is_null() {
                true => value,
                false => number::sum(Sum::Plus, &sum, &value)?.unwrap_or(Value::Null),
            };
        }
        Ok(sum)
    }),
    row("inject", 2, 2, |machine, this, given| {
        let takes_three = matches!(&given[1], Value::Closure(code) if code.arity() >= 3);
        let map = map_of(this)?;
        let mut held = given[0].clone();
        for (key, value) in order::entries(map) {
            held = match takes_three {
                true => machine.call(&given[1], vec![held, key, value])?,
                false => machine.call(&given[1], vec![held, entry(map, key, value)])?,
            };
        }
        Ok(held)
    }),
    row("subMap", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let found = linked();
        for key in values(machine, &given[0])? {
            if let Some(value) = map.get(&key) {
                found.put(&key, value);
            }
        }
        Ok(Value::Map(found))
    }),
    row("removeAll", 1, 1, |machine, this, given| {
        kept(machine, this, &given[0], false)
    }),
    row("retainAll", 1, 1, |machine, this, given| {
        kept(machine, this, &given[0], true)
    }),
    row("take", 1, 1, |_, this, given| {
        let count = usize::try_from(super::int_of(given, 0)?).unwrap_or(0);
        let found = linked();
        for (key, value) in order::entries(map_of(this)?).into_iter().take(count) {
            found.put(&key, value);
        }
        Ok(Value::Map(found))
    }),
    row("drop", 1, 1, |_, this, given| {
        let count = usize::try_from(super::int_of(given, 0)?).unwrap_or(0);
        let found = linked();
        for (key, value) in order::entries(map_of(this)?).into_iter().skip(count) {
            found.put(&key, value);
        }
        Ok(Value::Map(found))
    }),
    row("firstEntry", 0, 0, |_, this, _| last_of(this, End::First)),
    row("lastEntry", 0, 0, |_, this, _| last_of(this, End::Last)),
    row("headMap", 1, 1, |machine, this, given| {
        part(machine, this, &given[0], Ordering::is_lt)
    }),
    row("tailMap", 1, 1, |machine, this, given| {
        part(machine, this, &given[0], Ordering::is_ge)
    }),
    row("descendingMap", 0, 0, |_, this, _| {
        let found = linked();
        for (key, value) in order::entries(map_of(this)?).into_iter().rev() {
            found.put(&key, value);
        }
        Ok(Value::Map(found))
    }),
    row("toMapString", 0, 1, |_, this, _| {
        Ok(Value::text(print::text(this)))
    }),
    row("asImmutable", 0, 0, |_, this, _| Ok(this.clone())),
    row("firstKey", 0, 0, |_, this, _| {
        Ok(order::keys(map_of(this)?)
            .into_iter()
            .next()
            .unwrap_or(Value::Null))
    }),
    row("lastKey", 0, 0, |_, this, _| {
        Ok(order::keys(map_of(this)?)
            .into_iter()
            .last()
            .unwrap_or(Value::Null))
    }),
    row("clone", 0, 0, |_, this, _| {
        let map = map_of(this)?;
        let copy = Map::new(map.kind);
        for (key, value) in order::entries(map) {
            copy.put(&key, value);
        }
        Ok(Value::Map(copy))
    }),
]);

/// The first or last entry; null if there is none.
fn last_of(this: &Value, end: End) -> Outcome {
    let map = map_of(this)?;
    let entries = order::entries(map);
    let found = entries.get(end.of(entries.len())).cloned();
    Ok(found.map_or(Value::Null, |(key, value)| entry(map, key, value)))
}

/// The entries of a sorted map whose keys come before or behind another one.
fn part(
    machine: &mut dyn Machine,
    this: &Value,
    end: &Value,
    is_wanted: fn(Ordering) -> bool,
) -> Outcome {
    let map = map_of(this)?;
    let found = linked();
    for (key, value) in order::entries(map) {
        let found_order = match map.by.get() {
            Some(by) => {
                let said = machine.call(by, vec![key.clone(), end.clone()])?;
                number::long_of(&said).unwrap_or(0).cmp(&0)
            }
            None => order::compare(&key, end)?,
        };
        if is_wanted(found_order) {
            found.put(&key, value);
        }
    }
    Ok(match this {
        Value::Set(_) => Value::Set(found),
        _ => Value::Map(found),
    })
}

pub(super) static SET: Table = Table::new(&[
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(map_of(this)?.len()))
    }),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(map_of(this)?.is_empty()))
    }),
    row("add", 1, 1, |machine, this, given| {
        machine.take(64)?;
        let map = map_of(this)?;
        let is_new = !map.has(&given[0]);
        if is_new {
            insert(machine, map, &given[0], Value::Null)?;
        }
        Ok(Value::Truth(is_new))
    }),
    row("leftShift", 1, 1, |machine, this, given| {
        machine.take(64)?;
        insert(machine, map_of(this)?, &given[0], Value::Null)?;
        Ok(this.clone())
    }),
    row("addAll", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let before = map.len();
        for value in values(machine, &given[0])? {
            insert(machine, map, &value, Value::Null)?;
        }
        Ok(Value::Truth(map.len() != before))
    }),
    row("remove", 1, 1, |_, this, given| {
        Ok(Value::Truth(map_of(this)?.remove(&given[0]).is_some()))
    }),
    row("clear", 0, 0, |_, this, _| {
        map_of(this)?.entries.borrow_mut().clear();
        Ok(Value::Null)
    }),
    row("headSet", 1, 1, |machine, this, given| {
        part(machine, this, &given[0], Ordering::is_lt)
    }),
    row("tailSet", 1, 1, |machine, this, given| {
        part(machine, this, &given[0], Ordering::is_ge)
    }),
    row("first", 0, 0, |_, this, _| end(this, End::First)),
    row("last", 0, 0, |_, this, _| end(this, End::Last)),
    row("getAt", 1, 1, |machine, this, given| {
        let all = Value::list(order::keys(map_of(this)?));
        super::at(machine, &all, &given[0])
    }),
    row("removeAll", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let before = map.len();
        for value in values(machine, &given[0])? {
            map.remove(&value);
        }
        Ok(Value::Truth(map.len() != before))
    }),
    row("retainAll", 1, 1, |machine, this, given| {
        let map = map_of(this)?;
        let others = values(machine, &given[0])?;
        let before = map.len();
        for key in order::keys(map) {
            if !others.iter().any(|other| order::equals(other, &key)) {
                map.remove(&key);
            }
        }
        Ok(Value::Truth(map.len() != before))
    }),
]);

fn end(this: &Value, end: End) -> Outcome {
    let keys = order::keys(map_of(this)?);
    keys.get(end.of(keys.len()))
        .cloned()
        .ok_or_else(|| Thrown::bare("java.util.NoSuchElementException"))
}

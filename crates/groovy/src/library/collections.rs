//! Operations on the values of a collection: Groovy's each, collect, find etc., and Java's streams.
//!
//! Must not know indexes. Invariant: a closure is called once per value, in order.
// tidy: table

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::eval::Comparator;
use super::super::map::{Map, MapKind};
use super::super::number::{self, Sum};
use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, List, ListKind, Machine, Outcome, Value};
use super::sequences::iterator;
use super::{int_of, linked, text_of, values};

/// Whether a closure is true for a value; without a closure whether the value is.
fn holds(machine: &mut dyn Machine, given: &[Value], value: &Value) -> Outcome<bool> {
    match given.first() {
        Some(closure @ Value::Closure(_)) => {
            let said = machine.call(closure, vec![value.clone()])?;
            Ok(order::truth(&said))
        }
        Some(case) => super::is_case(machine, case, value),
        None => Ok(order::truth(value)),
    }
}

/// A set or a stream if the original is one, otherwise a list.
fn alike(this: &Value, found: Vec<Value>) -> Value {
    match this {
        Value::List(list) if list.is_stream() => Value::List(List::new(list.kind, found)),
        Value::Set(set) => {
            let copy = Map::new(set.kind);
            for value in found {
                copy.put(&value, Value::Null);
            }
            Value::Set(copy)
        }
        _ => Value::list(found),
    }
}

/// The values for which a condition holds, and the others; each is asked about once.
fn parted(
    machine: &mut dyn Machine,
    this: &Value,
    given: &[Value],
) -> Outcome<(Vec<Value>, Vec<Value>)> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for value in values(machine, this)? {
        match holds(machine, given, &value)? {
            true => found.push(value),
            false => others.push(value),
        }
    }
    Ok((found, others))
}

fn filtered(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let (found, _) = parted(machine, this, given)?;
    Ok(alike(this, found))
}

fn collected(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let mut found = Vec::new();
    for value in values(machine, this)? {
        found.push(match given.last() {
            Some(closure) => machine.call(closure, vec![value])?,
            None => value,
        });
    }
    if let (Value::List(list), [_]) = (this, given)
        && list.is_stream()
    {
        return Ok(alike(this, found));
    }
    if let [Value::List(into), _] = given {
        into.items.borrow_mut().extend(found);
        return Ok(given[0].clone());
    }
    Ok(Value::list(found))
}

fn first_that(
    machine: &mut dyn Machine,
    this: &Value,
    given: &[Value],
) -> Outcome<Option<(usize, Value)>> {
    for (place, value) in values(machine, this)?.into_iter().enumerate() {
        if holds(machine, given, &value)? {
            return Ok(Some((place, value)));
        }
    }
    Ok(None)
}

/// Sorts by the result of a closure, or by the natural order of values.
pub(super) fn sorted(
    machine: &mut dyn Machine,
    mut found: Vec<Value>,
    by: Option<&Value>,
) -> Outcome<Vec<Value>> {
    machine.work(found.len() as u64 * 4)?;
    let mut fault = None;
    match by {
        Some(closure @ Value::Closure(code)) if code.arity() == 1 => {
            let mut keyed = Vec::with_capacity(found.len());
            for value in found {
                let key = machine.call(closure, vec![value.clone()])?;
                keyed.push((key, value));
            }
            keyed.sort_by(|(one, _), (other, _)| compared(one, other, &mut fault));
            found = keyed.into_iter().map(|(_, value)| value).collect();
        }
        Some(closure) => found.sort_by(|one, other| {
            if fault.is_some() {
                return Ordering::Equal;
            }
            let said = machine.call(closure, vec![one.clone(), other.clone()]);
            match said.map(|said| number::long_of(&said).unwrap_or(0).cmp(&0)) {
                Ok(order) => order,
                Err(thrown) => {
                    fault = Some(thrown);
                    Ordering::Equal
                }
            }
        }),
        None => found.sort_by(|one, other| compared(one, other, &mut fault)),
    }
    match fault {
        Some(thrown) => Err(thrown),
        None => Ok(found),
    }
}

fn compared(one: &Value, other: &Value, fault: &mut Option<Thrown>) -> Ordering {
    match order::compare(one, other) {
        Ok(order) => order,
        Err(thrown) => {
            fault.get_or_insert(thrown);
            Ordering::Equal
        }
    }
}

fn sort(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let keeps = matches!(given.first(), Some(Value::Truth(false)));
    let by = given.iter().find(|one| matches!(one, Value::Closure(_)));
    let all = values(machine, this)?;
    let found = sorted(machine, all, by)?;
    // Of the methods with this name, one that gives nothing is for Java's comparators.
    let is_java = matches!(given, [Value::Closure(by)] if by.any().is::<Comparator>());
    match this {
        Value::List(list) if is_java && list.kind != ListKind::Constant => {
            *list.items.borrow_mut() = found;
            Ok(Value::Null)
        }
        Value::List(list) if !keeps && list.kind != ListKind::Constant => {
            *list.items.borrow_mut() = found;
            Ok(this.clone())
        }
        Value::List(list) if list.is_array() => Ok(Value::List(List::new(list.kind, found))),
        _ => Ok(Value::list(found)),
    }
}

fn extreme(machine: &mut dyn Machine, this: &Value, given: &[Value], wanted: Ordering) -> Outcome {
    let mut best: Option<(Value, Value)> = None;
    for value in values(machine, this)? {
        if let Some(closure @ Value::Closure(code)) = given.first()
            && code.arity() > 1
        {
            let is_better = match &best {
                None => true,
                Some((_, held)) => {
                    let said = machine.call(closure, vec![value.clone(), held.clone()])?;
                    number::long_of(&said).unwrap_or(0).cmp(&0) == wanted
                }
            };
            if is_better {
                best = Some((value.clone(), value));
            }
            continue;
        }
        let key = match given.first() {
            Some(closure) => machine.call(closure, vec![value.clone()])?,
            None => value.clone(),
        };
        let is_better = match &best {
            None => true,
            Some((held, _)) => order::compare(&key, held)? == wanted,
        };
        if is_better {
            best = Some((key, value));
        }
    }
    Ok(best.map_or(Value::Null, |(_, value)| value))
}

/// What a stream has of its greatest, least or reduced value.
fn optional(this: &Value, found: Value) -> Value {
    let has_any = matches!(this, Value::List(list) if !list.items.borrow().is_empty());
    let found = has_any.then_some(found);
    match this {
        Value::List(list) if list.kind == ListKind::Stream => super::builders::maybe(found),
        Value::List(list) if list.kind == ListKind::NumberStream => {
            super::builders::maybe_number(found, true)
        }
        _ => found.unwrap_or(Value::Null),
    }
}

fn optional_if_stream(this: &Value, found: Value) -> Value {
    match is_stream(this) {
        true => optional(this, found),
        false => found,
    }
}

fn is_stream(this: &Value) -> bool {
    matches!(this, Value::List(list) if list.is_stream())
}

/// The values of a stream, as one of another kind.
fn streamed(machine: &mut dyn Machine, this: &Value, kind: ListKind) -> Outcome {
    Ok(Value::List(List::new(kind, values(machine, this)?)))
}

/// The results of a closure for the values of a stream, as one of another kind.
fn mapped(machine: &mut dyn Machine, this: &Value, given: &[Value], kind: ListKind) -> Outcome {
    let found = collected(machine, this, given)?;
    streamed(machine, &found, kind)
}

fn summed(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let closure = given
        .iter()
        .find(|one| matches!(one, Value::Closure(_)))
        .cloned();
    if let (Value::List(list), []) = (this, given)
        && let Some(bytes) = list.to_bytes()
    {
        let sum = bytes.into_iter().fold(0, u8::wrapping_add);
        return Ok(Value::Byte(sum.cast_signed()));
    }
    let mut sum = given
        .first()
        .filter(|one| !matches!(one, Value::Closure(_)))
        .cloned();
    for value in values(machine, this)? {
        let value = match &closure {
            Some(closure) => machine.call(closure, vec![value])?,
            None => value,
        };
        sum = Some(match sum {
            None => value,
            Some(sum) => match number::sum(Sum::Plus, &sum, &value)? {
                Some(sum) => sum,
                None => machine.invoke(&sum, "plus", &[value])?,
            },
        });
    }
    Ok(sum.unwrap_or(Value::Null))
}

/// Groups values by the result of a closure.
fn grouped(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let groups = linked();
    for value in values(machine, this)? {
        let key = machine.call(&given[0], vec![value.clone()])?;
        match groups.get(&key) {
            Some(Value::List(list)) => list.items.borrow_mut().push(value),
            _ => {
                groups.put(&key, Value::list(vec![value]));
            }
        }
    }
    Ok(Value::Map(groups))
}

fn counted(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let counts = linked();
    for value in values(machine, this)? {
        let key = machine.call(&given[0], vec![value])?;
        let count = counts
            .get(&key)
            .and_then(|count| number::int_of(&count))
            .unwrap_or(0);
        counts.put(&key, Value::Int(count + 1));
    }
    Ok(Value::Map(counts))
}

fn as_map(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let map = linked();
    for value in values(machine, this)? {
        let pair = match given.first() {
            Some(closure) => machine.call(closure, vec![value])?,
            None => value,
        };
        match &pair {
            Value::Map(more) => {
                for (key, value) in order::entries(more) {
                    map.put(&key, value);
                }
            }
            Value::List(pair) => {
                let items = pair.items.borrow();
                let key = items.first().cloned().unwrap_or(Value::Null);
                map.put(&key, items.get(1).cloned().unwrap_or(Value::Null));
            }
            entry => {
                let key = machine.property(entry, "key")?;
                let value = machine.property(entry, "value")?;
                map.put(&key, value);
            }
        }
    }
    Ok(Value::Map(map))
}

fn injected(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let mut all = values(machine, this)?.into_iter();
    let mut held = match given {
        [start, _] => start.clone(),
        _ => match all.next() {
            Some(first) => first,
            None => {
                return Err(Thrown::of(
                    "java.util.NoSuchElementException",
                    "Cannot call inject() on an empty iterable without passing an initial value.",
                ));
            }
        },
    };
    let closure = given.last().cloned().unwrap_or(Value::Null);
    for value in all {
        held = machine.call(&closure, vec![held, value])?;
    }
    Ok(held)
}

fn flattened(
    machine: &mut dyn Machine,
    of: &[Value],
    into: &mut Vec<Value>,
    depth: usize,
) -> Outcome<()> {
    machine.work(of.len() as u64)?;
    for value in of {
        match value {
            Value::List(_) | Value::Set(_) | Value::Range(_) if depth > 0 => {
                let inner = values(machine, value)?;
                flattened(machine, &inner, into, depth - 1)?;
            }
            other => into.push(other.clone()),
        }
    }
    Ok(())
}

fn uniques(machine: &mut dyn Machine, all: Vec<Value>, by: Option<&Value>) -> Outcome<Vec<Value>> {
    let seen = linked();
    let mut found: Vec<Value> = Vec::new();
    // Numbers are the same in any type.
    let in_one_type = |value: &Value| match number::decimal_of(value) {
        Some(number) if value.is_number() => number::decimal(number.without_zeros()),
        _ => value.clone(),
    };
    for value in all {
        let key = match by {
            Some(closure) => machine.call(closure, vec![value.clone()])?,
            None => value.clone(),
        };
        if seen.put(&in_one_type(&key), Value::Null).is_none() {
            found.push(value);
        }
    }
    Ok(found)
}

fn joined(machine: &mut dyn Machine, this: &Value, between: &str) -> Outcome {
    let mut text = String::new();
    for (place, value) in values(machine, this)?.iter().enumerate() {
        if place > 0 {
            text.push_str(between);
        }
        text.push_str(&print::text(value));
    }
    machine.take(text.len())?;
    Ok(Value::text(text))
}

fn indexed(machine: &mut dyn Machine, this: &Value, from: i32) -> Outcome {
    let pairs = values(machine, this)?
        .into_iter()
        .enumerate()
        .map(|(place, value)| {
            let place = i32::try_from(place).unwrap_or(i32::MAX).wrapping_add(from);
            (Value::Int(place), value)
        });
    let map = linked();
    let mut found = Vec::new();
    for (place, value) in pairs {
        found.push(super::sequences::entry(&map, value, place));
    }
    Ok(Value::list(found))
}

fn pieces(machine: &mut dyn Machine, this: &Value, size: i32, step: i32, keeps: bool) -> Outcome {
    let all = values(machine, this)?;
    let (Ok(size), Ok(step)) = (usize::try_from(size), usize::try_from(step)) else {
        return Err(Thrown::argument("a size below zero"));
    };
    if size == 0 || step == 0 {
        return Ok(Value::list(Vec::new()));
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let end = (at + size).min(all.len());
        if end - at == size || keeps {
            found.push(Value::list(all[at..end].to_vec()));
        }
        at += step;
    }
    Ok(Value::list(found))
}

fn taken(
    machine: &mut dyn Machine,
    this: &Value,
    count: i32,
    how: fn(&[Value], usize) -> &[Value],
) -> Outcome {
    let all = values(machine, this)?;
    let count = usize::try_from(count).unwrap_or(0).min(all.len());
    let found = how(&all, count).to_vec();
    Ok(match this {
        Value::List(list) if list.is_array() => Value::List(List::new(list.kind, found)),
        this => alike(this, found),
    })
}

fn taken_while(machine: &mut dyn Machine, this: &Value, given: &[Value], takes: bool) -> Outcome {
    let all = values(machine, this)?;
    let mut count = 0;
    while count < all.len() && holds(machine, given, &all[count])? {
        count += 1;
    }
    Ok(Value::list(if takes {
        all[..count].to_vec()
    } else {
        all[count..].to_vec()
    }))
}

fn combined(machine: &mut dyn Machine, this: &Value) -> Outcome {
    let mut found: Vec<Vec<Value>> = vec![Vec::new()];
    for choices in values(machine, this)?.iter().rev() {
        let choices = values(machine, choices)?;
        machine.take(found.len().saturating_mul(choices.len()).saturating_mul(64))?;
        let mut next = Vec::new();
        for behind in &found {
            for choice in &choices {
                let mut one = vec![choice.clone()];
                one.extend_from_slice(behind);
                next.push(one);
            }
        }
        found = next;
    }
    Ok(Value::list(found.into_iter().map(Value::list).collect()))
}

fn transposed(machine: &mut dyn Machine, this: &Value) -> Outcome {
    let mut rows = Vec::new();
    for one in values(machine, this)? {
        rows.push(values(machine, &one)?);
    }
    let least = rows.iter().map(Vec::len).min().unwrap_or(0);
    let column = |place: usize| Value::list(rows.iter().map(|row| row[place].clone()).collect());
    Ok(Value::list((0..least).map(column).collect()))
}

fn stream_collected(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    match &given[0] {
        Value::Text(how) if **how == *"toSet" => machine.invoke(this, "toSet", &[]),
        Value::List(parts) if matches!(parts.items.borrow().first(), Some(Value::Text(_))) => {
            let parts = parts.copied();
            if let Some(found) = super::streams::gathered(machine, this, &parts)? {
                return Ok(found);
            }
            let inner = joined(machine, this, &text_of(&parts, 1))?;
            let (before, behind) = (text_of(&parts, 2), text_of(&parts, 3));
            Ok(Value::text(before + &print::text(&inner) + &behind))
        }
        Value::Closure(_) => collected(machine, this, given),
        _ => Ok(Value::list(values(machine, this)?)),
    }
}

pub(super) static METHODS: Table = Table::new(&[
    row("each", 1, 1, |machine, this, given| {
        for value in values(machine, this)? {
            machine.call(&given[0], vec![value])?;
        }
        Ok(this.clone())
    }),
    row("forEach", 1, 1, |machine, this, given| {
        for value in values(machine, this)? {
            machine.call(&given[0], vec![value])?;
        }
        Ok(Value::Null)
    }),
    row("eachWithIndex", 1, 1, |machine, this, given| {
        for (place, value) in values(machine, this)?.into_iter().enumerate() {
            machine.call(&given[0], vec![value, Value::count(place)])?;
        }
        Ok(this.clone())
    }),
    row("reverseEach", 1, 1, |machine, this, given| {
        for value in values(machine, this)?.into_iter().rev() {
            machine.call(&given[0], vec![value])?;
        }
        Ok(this.clone())
    }),
    row("collect", 1, 1, stream_collected),
    row("collect", 0, 2, collected),
    row("map", 1, 1, collected),
    row("flatMap", 1, 1, |machine, this, given| {
        let mut found = Vec::new();
        for value in values(machine, this)? {
            let more = machine.call(&given[0], vec![value])?;
            found.extend(values(machine, &more)?);
        }
        Ok(alike(this, found))
    }),
    row("mapToInt", 1, 1, |machine, this, given| {
        mapped(machine, this, given, ListKind::NumberStream)
    }),
    row("mapToObj", 1, 1, |machine, this, given| {
        mapped(machine, this, given, ListKind::Stream)
    }),
    row("mapToLong", 1, 1, |machine, this, given| {
        mapped(machine, this, given, ListKind::NumberStream)
    }),
    row("mapToDouble", 1, 1, |machine, this, given| {
        let found = collected(machine, this, given)?;
        let doubles = values(machine, &found)?.into_iter();
        let doubles = doubles.map(|one| number::double_of(&one).map_or(one, Value::Double));
        Ok(super::streams::numbers_streamed(doubles.collect()))
    }),
    row("peek", 1, 1, |machine, this, given| {
        for value in values(machine, this)? {
            machine.call(&given[0], vec![value])?;
        }
        Ok(this.clone())
    }),
    row("collectMany", 1, 1, |machine, this, given| {
        let mut found = Vec::new();
        for value in values(machine, this)? {
            let more = machine.call(&given[0], vec![value])?;
            found.extend(values(machine, &more)?);
        }
        Ok(Value::list(found))
    }),
    row("collectNested", 1, 1, collected),
    row("collectEntries", 0, 1, as_map),
    row("findAll", 0, 1, |machine, this, given| {
        filtered(machine, this, given)
    }),
    row("grep", 0, 1, |machine, this, given| {
        filtered(machine, this, given)
    }),
    row("filter", 1, 1, |machine, this, given| {
        filtered(machine, this, given)
    }),
    row("find", 0, 1, |machine, this, given| {
        Ok(first_that(machine, this, given)?.map_or(Value::Null, |(_, value)| value))
    }),
    row("findResult", 1, 1, |machine, this, given| {
        for value in values(machine, this)? {
            let said = machine.call(&given[0], vec![value])?;
            if !said.is_null() {
                return Ok(said);
            }
        }
        Ok(Value::Null)
    }),
    row("findResults", 1, 1, |machine, this, given| {
        let found = collected(machine, this, given)?;
        let found = values(machine, &found)?
            .into_iter()
            .filter(|one| !one.is_null());
        Ok(Value::list(found.collect()))
    }),
    row("findIndexOf", 1, 1, |machine, this, given| {
        Ok(first_that(machine, this, given)?
            .map_or(Value::Int(-1), |(place, _)| Value::count(place)))
    }),
    row("findIndexValues", 1, 1, |machine, this, given| {
        let mut found = Vec::new();
        for (place, value) in values(machine, this)?.into_iter().enumerate() {
            if holds(machine, given, &value)? {
                found.push(Value::Long(place as i64));
            }
        }
        Ok(Value::list(found))
    }),
    row("findLastIndexOf", 1, 1, |machine, this, given| {
        let mut found = Value::Int(-1);
        for (place, value) in values(machine, this)?.into_iter().enumerate() {
            if holds(machine, given, &value)? {
                found = Value::count(place);
            }
        }
        Ok(found)
    }),
    row("indexOf", 1, 1, |machine, this, given| {
        let found = values(machine, this)?
            .iter()
            .position(|one| order::java_equals(one, &given[0]));
        Ok(found.map_or(Value::Int(-1), Value::count))
    }),
    row("any", 0, 1, |machine, this, given| {
        Ok(Value::Truth(first_that(machine, this, given)?.is_some()))
    }),
    row("anyMatch", 1, 1, |machine, this, given| {
        Ok(Value::Truth(first_that(machine, this, given)?.is_some()))
    }),
    row("noneMatch", 1, 1, |machine, this, given| {
        Ok(Value::Truth(first_that(machine, this, given)?.is_none()))
    }),
    row("every", 0, 1, every),
    row("allMatch", 1, 1, every),
    row("contains", 1, 1, |machine, this, given| match this {
        Value::Set(set) => Ok(Value::Truth(set.has(&given[0]))),
        Value::Range(_) => Ok(Value::Truth(super::is_case(machine, this, &given[0])?)),
        _ => Ok(Value::Truth(
            values(machine, this)?
                .iter()
                .any(|one| order::java_equals(one, &given[0])),
        )),
    }),
    row("containsAll", 1, 1, |machine, this, given| {
        let (all, wanted) = (values(machine, this)?, values(machine, &given[0])?);
        Ok(Value::Truth(wanted.iter().all(|one| {
            all.iter().any(|other| order::equals(one, other))
        })))
    }),
    row("disjoint", 1, 1, |machine, this, given| {
        let (all, others) = (values(machine, this)?, values(machine, &given[0])?);
        Ok(Value::Truth(!others.iter().any(|one| {
            all.iter().any(|other| order::equals(one, other))
        })))
    }),
    row("count", 0, 0, |machine, this, _| {
        Ok(Value::Long(values(machine, this)?.len() as i64))
    }),
    row("count", 1, 1, |machine, this, given| {
        let mut count = 0;
        for value in values(machine, this)? {
            let counts = match &given[0] {
                Value::Closure(_) => holds(machine, given, &value)?,
                wanted => order::equals(&value, wanted),
            };
            count += usize::from(counts);
        }
        Ok(Value::count(count))
    }),
    row("join", 0, 1, |machine, this, given| {
        joined(machine, this, &text_of(given, 0))
    }),
    row("sort", 0, 2, sort),
    row("sorted", 0, 1, |machine, this, given| {
        let all = values(machine, this)?;
        let found = sorted(machine, all, given.first())?;
        Ok(alike(this, found))
    }),
    row("toSorted", 0, 1, |machine, this, given| {
        let all = values(machine, this)?;
        Ok(Value::list(sorted(machine, all, given.first())?))
    }),
    row("reverse", 0, 1, |machine, this, given| {
        let mut all = values(machine, this)?;
        all.reverse();
        if let (Some(Value::Truth(true)), Value::List(list)) = (given.first(), this) {
            *list.items.borrow_mut() = all;
            return Ok(this.clone());
        }
        Ok(match this {
            Value::List(list) if list.is_array() => Value::List(List::new(list.kind, all)),
            _ => Value::list(all),
        })
    }),
    row("max", 0, 1, |machine, this, given| {
        let found = extreme(machine, this, given, Ordering::Greater)?;
        Ok(optional_if_stream(this, found))
    }),
    row("min", 0, 1, |machine, this, given| {
        let found = extreme(machine, this, given, Ordering::Less)?;
        Ok(optional_if_stream(this, found))
    }),
    row("sum", 0, 2, |machine, this, given| {
        let sum = summed(machine, this, given)?;
        Ok(match sum {
            Value::Null if is_stream(this) => Value::Int(0),
            sum => sum,
        })
    }),
    row("average", 0, 1, |machine, this, given| {
        let sum = summed(machine, this, given)?;
        if is_stream(this) {
            let count = values(machine, this)?.len();
            let mean = number::double_of(&sum).map(|sum| Value::Double(sum / count as f64));
            return Ok(super::builders::maybe_number(mean, false));
        }
        let count = Value::count(values(machine, this)?.len());
        Ok(number::divide(&sum, &count)?.unwrap_or(Value::Null))
    }),
    row("groupBy", 1, 1, grouped),
    row("countBy", 1, 1, counted),
    row("inject", 1, 2, injected),
    row("reduce", 1, 2, |machine, this, given| {
        if given.len() == 1 && is_stream(this) && values(machine, this)?.is_empty() {
            return Ok(optional(this, Value::Null));
        }
        let found = injected(machine, this, given)?;
        Ok(match given.len() {
            1 => optional_if_stream(this, found),
            _ => found,
        })
    }),
    row("flatten", 0, 0, |machine, this, _| {
        let mut found = Vec::new();
        let all = values(machine, this)?;
        flattened(machine, &all, &mut found, 50)?;
        Ok(alike(this, found))
    }),
    row("unique", 0, 2, |machine, this, given| {
        let keeps = matches!(given.first(), Some(Value::Truth(false)));
        let by = given.iter().find(|one| matches!(one, Value::Closure(_)));
        let all = values(machine, this)?;
        let found = uniques(machine, all, by)?;
        match this {
            Value::List(list) if !keeps && list.may_grow() => {
                *list.items.borrow_mut() = found;
                Ok(this.clone())
            }
            _ => Ok(Value::list(found)),
        }
    }),
    row("toUnique", 0, 1, |machine, this, given| {
        let all = values(machine, this)?;
        Ok(Value::list(uniques(machine, all, given.first())?))
    }),
    row("distinct", 0, 0, |machine, this, _| {
        let all = values(machine, this)?;
        let found = uniques(machine, all, None)?;
        Ok(alike(this, found))
    }),
    row("take", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| &all[..count])
    }),
    row("limit", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| &all[..count])
    }),
    row("drop", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| &all[count..])
    }),
    row("skip", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| &all[count..])
    }),
    row("takeRight", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| {
            &all[all.len() - count..]
        })
    }),
    row("dropRight", 1, 1, |machine, this, given| {
        taken(machine, this, int_of(given, 0)?, |all, count| {
            &all[..all.len() - count]
        })
    }),
    row("takeWhile", 1, 1, |machine, this, given| {
        taken_while(machine, this, given, true)
    }),
    row("dropWhile", 1, 1, |machine, this, given| {
        taken_while(machine, this, given, false)
    }),
    row("tail", 0, 0, |machine, this, _| {
        taken(machine, this, 1, |all, count| &all[count..])
    }),
    row("init", 0, 0, |machine, this, _| {
        taken(machine, this, 1, |all, count| &all[..all.len() - count])
    }),
    row("plus", 1, 1, |machine, this, given| {
        let mut all = values(machine, this)?;
        match &given[0] {
            Value::List(_) | Value::Set(_) | Value::Range(_) => {
                all.extend(values(machine, &given[0])?);
            }
            one => all.push(one.clone()),
        }
        Ok(alike(this, all))
    }),
    row("minus", 1, 1, |machine, this, given| {
        let others = match &given[0] {
            Value::Null => vec![Value::Null],
            others => values(machine, others)?,
        };
        let kept = values(machine, this)?.into_iter();
        Ok(alike(
            this,
            kept.filter(|one| !others.iter().any(|other| order::equals(one, other)))
                .collect(),
        ))
    }),
    row("multiply", 1, 1, |machine, this, given| {
        let all = values(machine, this)?;
        let count = usize::try_from(int_of(given, 0)?).unwrap_or(0);
        machine.take(all.len().saturating_mul(count).saturating_mul(24))?;
        Ok(Value::list(
            all.iter()
                .cycle()
                .take(all.len() * count)
                .cloned()
                .collect(),
        ))
    }),
    row("intersect", 1, 1, |machine, this, given| {
        let (mut kept, mut others) = (values(machine, this)?, values(machine, &given[0])?);
        // Those of the smaller one, in its order, stay.
        if kept.len() >= others.len() {
            std::mem::swap(&mut kept, &mut others);
        }
        let kept = kept.into_iter();
        Ok(alike(
            this,
            kept.filter(|one| others.iter().any(|other| order::equals(one, other)))
                .collect(),
        ))
    }),
    row("collate", 1, 3, |machine, this, given| {
        let size = int_of(given, 0)?;
        let step = if given.len() > 1 && given[1].is_number() {
            int_of(given, 1)?
        } else {
            size
        };
        let keeps = !matches!(given.last(), Some(Value::Truth(false)));
        pieces(machine, this, size, step, keeps)
    }),
    row("split", 1, 1, |machine, this, given| {
        let (found, others) = parted(machine, this, given)?;
        Ok(Value::list(vec![Value::list(found), Value::list(others)]))
    }),
    row("combinations", 0, 0, |machine, this, _| {
        combined(machine, this)
    }),
    row("transpose", 0, 0, |machine, this, _| {
        transposed(machine, this)
    }),
    row("withIndex", 0, 1, |machine, this, given| {
        let from = if given.is_empty() {
            0
        } else {
            int_of(given, 0)?
        };
        let all = values(machine, this)?.into_iter().enumerate();
        let pair = |(place, value): (usize, Value)| {
            let place = i32::try_from(place).unwrap_or(i32::MAX).wrapping_add(from);
            Value::list(vec![value, Value::Int(place)])
        };
        Ok(Value::list(all.map(pair).collect()))
    }),
    row("indexed", 0, 1, |machine, this, given| {
        let from = if given.is_empty() {
            0
        } else {
            int_of(given, 0)?
        };
        if from == 0 {
            let map = linked();
            for (place, value) in values(machine, this)?.into_iter().enumerate() {
                map.put(&Value::count(place), value);
            }
            return Ok(Value::Map(map));
        }
        indexed(machine, this, from)
    }),
    row("getIndices", 0, 0, |machine, this, _| {
        let count = values(machine, this)?.len();
        Ok(Value::list((0..count).map(Value::count).collect()))
    }),
    row("iterator", 0, 0, |machine, this, _| iterator(machine, this)),
    row("listIterator", 0, 0, |machine, this, _| {
        iterator(machine, this)
    }),
    row("stream", 0, 0, |machine, this, _| {
        let kind = match this {
            Value::List(list) => match list.kind {
                ListKind::Array(Element::Int | Element::Long | Element::Double) => {
                    ListKind::NumberStream
                }
                _ => ListKind::Stream,
            },
            _ => ListKind::Stream,
        };
        streamed(machine, this, kind)
    }),
    row("boxed", 0, 0, |machine, this, _| {
        streamed(machine, this, ListKind::Stream)
    }),
    row("asDoubleStream", 0, 0, |_, this, _| Ok(this.clone())),
    row("parallelStream", 0, 0, |machine, this, _| {
        streamed(machine, this, ListKind::Stream)
    }),
    row("findFirst", 0, 0, |machine, this, _| {
        Ok(super::builders::maybe(
            values(machine, this)?.into_iter().next(),
        ))
    }),
    row("findAny", 0, 0, |machine, this, _| {
        Ok(super::builders::maybe(
            values(machine, this)?.into_iter().next(),
        ))
    }),
    row("toList", 0, 0, |machine, this, _| {
        Ok(Value::list(values(machine, this)?))
    }),
    row("asList", 0, 0, |machine, this, _| {
        Ok(Value::list(values(machine, this)?))
    }),
    row("toSet", 0, 0, |machine, this, _| {
        let set = Map::new(MapKind::Hash);
        for value in values(machine, this)? {
            set.put(&value, Value::Null);
        }
        Ok(Value::Set(set))
    }),
    row("toArray", 0, 1, |machine, this, given| {
        let of = match given.first() {
            Some(Value::List(list)) => match list.kind {
                ListKind::Array(of) => of,
                _ => Element::Object,
            },
            _ => Element::Object,
        };
        Ok(Value::List(Rc::new(List {
            kind: ListKind::Array(of),
            items: std::cell::RefCell::new(values(machine, this)?),
        })))
    }),
    row("asImmutable", 0, 0, |machine, this, _| {
        Ok(Value::List(List::new(
            ListKind::Constant,
            values(machine, this)?,
        )))
    }),
    row("asSynchronized", 0, 0, |_, this, _| Ok(this.clone())),
    row("toListString", 0, 1, |_, this, _| {
        Ok(Value::text(print::text(this)))
    }),
    row("addAll", 1, MANY, |machine, this, given| {
        machine.invoke(this, "addAll", &[Value::list(given.to_vec())])
    }),
]);

fn every(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    for value in values(machine, this)? {
        if !holds(machine, given, &value)? {
            return Ok(Value::Truth(false));
        }
    }
    Ok(Value::Truth(true))
}

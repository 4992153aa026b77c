//! Methods of lists, arrays and ranges that use indexes.
//!
//! Must not know closures. Invariant: a negative index counts from the end only in Groovy's brackets.

use std::rc::Rc;

use data_encoding::HEXLOWER;

use super::super::convert;
use super::super::order;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{List, Machine, Outcome, Value};
use super::places::{at, beyond, put_at};
use super::{End, int_of, long_of, values};

/// The list, if it can grow.
fn growing(this: &Value) -> Outcome<&Rc<List>> {
    match this {
        Value::List(list) if list.may_grow() => Ok(list),
        Value::List(_) | Value::Range(_) => {
            Err(Thrown::bare("java.lang.UnsupportedOperationException"))
        }
        other => Err(convert::cannot_cast(other, "java.util.List")),
    }
}

fn size(this: &Value) -> usize {
    match this {
        Value::List(list) => list.items.borrow().len(),
        Value::Range(range) => range.len(),
        _ => 0,
    }
}

fn get(_machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let index = int_of(given, 0)?;
    let length = size(this);
    match usize::try_from(index) {
        Ok(place) if place < length => at(this, &Value::Int(index)),
        _ => Err(Thrown::of(
            "java.lang.IndexOutOfBoundsException",
            format!("Index {index} out of bounds for length {length}"),
        )),
    }
}

fn add(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    machine.take(24)?;
    growing(this)?.items.borrow_mut().push(given[0].clone());
    Ok(Value::Truth(true))
}

fn add_at(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    machine.take(24)?;
    let list = growing(this)?;
    let index = int_of(given, 0)?;
    let mut items = list.items.borrow_mut();
    let length = items.len();
    let place = usize::try_from(index).ok().filter(|place| *place <= length);
    let place = place.ok_or_else(|| {
        Thrown::of(
            "java.lang.IndexOutOfBoundsException",
            format!("Index: {index}, Size: {length}"),
        )
    })?;
    items.insert(place, given[1].clone());
    Ok(Value::Null)
}

fn remove_at(this: &Value, index: i32) -> Outcome {
    let mut items = growing(this)?.items.borrow_mut();
    let length = items.len();
    match usize::try_from(index).ok().filter(|place| *place < length) {
        Some(place) => Ok(items.remove(place)),
        None => Err(Thrown::of(
            "java.lang.IndexOutOfBoundsException",
            format!("Index {index} out of bounds for length {length}"),
        )),
    }
}

fn remove_value(this: &Value, value: &Value) -> Outcome {
    let mut items = growing(this)?.items.borrow_mut();
    let place = items.iter().position(|one| order::java_equals(one, value));
    if let Some(place) = place {
        items.remove(place);
    }
    Ok(Value::Truth(place.is_some()))
}

fn end(this: &Value, end: End, message: &str) -> Outcome {
    let found = match this {
        Value::List(list) => {
            let items = list.items.borrow();
            items.get(end.of(items.len())).cloned()
        }
        Value::Range(range) if !range.is_empty() => Some(range.at(end.of(range.len()))),
        _ => None,
    };
    found.ok_or_else(|| Thrown::of("java.util.NoSuchElementException", message))
}

/// Takes an item off; `None`: the list is empty.
fn taken_off(this: &Value, end: End) -> Outcome<Option<Value>> {
    let mut items = growing(this)?.items.borrow_mut();
    let place = end.of(items.len());
    Ok((!items.is_empty()).then(|| items.remove(place)))
}

fn removed(this: &Value, end: End) -> Outcome {
    let none = || {
        Thrown::of(
            "java.util.NoSuchElementException",
            "Cannot pop() an empty List",
        )
    };
    taken_off(this, end)?.ok_or_else(none)
}

fn polled(this: &Value, end: End) -> Outcome {
    Ok(taken_off(this, end)?.unwrap_or(Value::Null))
}

// tidy: table
pub(super) static METHODS: Table = Table::new(&[
    row("size", 0, 0, |_, this, _| Ok(Value::count(size(this)))),
    row("length", 0, 0, |_, this, _| Ok(Value::count(size(this)))),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(size(this) == 0))
    }),
    row("get", 1, 1, get),
    row("elementAt", 1, 1, get),
    row("getAt", 1, 1, |_machine, this, given| at(this, &given[0])),
    row("putAt", 2, 2, |machine, this, given| match this {
        Value::List(list) => {
            put_at(machine, list, &given[0], given[1].clone()).map(|()| Value::Null)
        }
        _ => Err(Thrown::bare("java.lang.UnsupportedOperationException")),
    }),
    row("set", 2, 2, |machine, this, given| {
        let before = get(machine, this, given)?;
        if let Value::List(list) = this {
            put_at(machine, list, &given[0], given[1].clone())?;
        }
        Ok(before)
    }),
    row("add", 1, 1, add),
    row("add", 2, 2, add_at),
    row("offer", 1, 1, add),
    row("addLast", 1, 1, add),
    row("addElement", 1, 1, add),
    row("addFirst", 1, 1, |machine, this, given| {
        add_at(machine, this, &[Value::Int(0), given[0].clone()])
    }),
    row("push", 1, 1, |machine, this, given| {
        match machine.is_bean_shell() {
            true => add(machine, this, given),
            false => {
                add_at(machine, this, &[Value::Int(0), given[0].clone()])?;
                Ok(Value::Truth(true))
            }
        }
    }),
    row("leftShift", 1, 1, |machine, this, given| {
        add(machine, this, given)?;
        Ok(this.clone())
    }),
    row("addAll", 1, 1, |machine, this, given| {
        let more = values(machine, &given[0])?;
        let has_more = !more.is_empty();
        growing(this)?.items.borrow_mut().extend(more);
        Ok(Value::Truth(has_more))
    }),
    row("addAll", 2, 2, |machine, this, given| {
        let more = values(machine, &given[1])?;
        let list = growing(this)?;
        let place = usize::try_from(int_of(given, 0)?)
            .unwrap_or(0)
            .min(list.items.borrow().len());
        list.items.borrow_mut().splice(place..place, more);
        Ok(Value::Truth(true))
    }),
    row("remove", 0, 0, |_, this, _| removed(this, End::First)),
    row("remove", 1, 1, |_, this, given| match &given[0] {
        Value::Int(index) => remove_at(this, *index),
        value => remove_value(this, value),
    }),
    row("replaceAll", 1, 1, |machine, this, given| {
        for (place, value) in values(machine, this)?.into_iter().enumerate() {
            let value = machine.call(&given[0], vec![value])?;
            if let Value::List(list) = this
                && let Some(item) = list.items.borrow_mut().get_mut(place)
            {
                *item = value;
            }
        }
        Ok(Value::Null)
    }),
    row("removeAt", 1, 1, |_, this, given| {
        remove_at(this, int_of(given, 0)?)
    }),
    row("removeElement", 1, 1, |_, this, given| {
        remove_value(this, &given[0])
    }),
    row("removeFirst", 0, 0, |_, this, _| removed(this, End::First)),
    row("removeLast", 0, 0, |_, this, _| removed(this, End::Last)),
    row("pop", 0, 0, |_, this, _| removed(this, End::First)),
    row("poll", 0, 2, |_, this, _| polled(this, End::First)),
    row("pollFirst", 0, 0, |_, this, _| polled(this, End::First)),
    row("empty", 0, 0, |_, this, _| {
        Ok(Value::Truth(size(this) == 0))
    }),
    row("take", 0, 0, |_, this, _| removed(this, End::First)),
    row("element", 0, 0, |_, this, _| end(this, End::First, "")),
    row("offerFirst", 1, 1, |machine, this, given| {
        add_at(machine, this, &[Value::Int(0), given[0].clone()])?;
        Ok(Value::Truth(true))
    }),
    row("offerLast", 1, 1, add),
    row("peekFirst", 0, 0, |_, this, _| {
        Ok(end(this, End::First, "").unwrap_or(Value::Null))
    }),
    row("peekLast", 0, 0, |_, this, _| {
        Ok(end(this, End::Last, "").unwrap_or(Value::Null))
    }),
    row("descendingIterator", 0, 0, |machine, this, _| {
        let mut all = values(machine, this)?;
        all.reverse();
        super::sequences::iterator(machine, &Value::list(all))
    }),
    row("drainTo", 1, 1, |machine, this, given| {
        let all = std::mem::take(&mut *growing(this)?.items.borrow_mut());
        let count = Value::count(all.len());
        machine.invoke(&given[0], "addAll", &[Value::list(all)])?;
        Ok(count)
    }),
    row("pollLast", 0, 0, |_, this, _| polled(this, End::Last)),
    row("peek", 0, 0, |_, this, _| {
        Ok(end(this, End::First, "").unwrap_or(Value::Null))
    }),
    row("removeAll", 1, 1, |machine, this, given| match &given[0] {
        Value::Closure(_) => filtered(machine, this, &given[0], false),
        others => {
            let others = values(machine, others)?;
            let mut items = growing(this)?.items.borrow_mut();
            let before = items.len();
            items.retain(|one| !others.iter().any(|other| order::equals(one, other)));
            Ok(Value::Truth(items.len() != before))
        }
    }),
    row("removeIf", 1, 1, |machine, this, given| {
        filtered(machine, this, &given[0], false)
    }),
    row("retainAll", 1, 1, |machine, this, given| match &given[0] {
        Value::Closure(_) => filtered(machine, this, &given[0], true),
        others => {
            let others = values(machine, others)?;
            let mut items = growing(this)?.items.borrow_mut();
            let before = items.len();
            items.retain(|one| others.iter().any(|other| order::equals(one, other)));
            Ok(Value::Truth(items.len() != before))
        }
    }),
    row("clear", 0, 0, |_, this, _| {
        growing(this)?.items.borrow_mut().clear();
        Ok(Value::Null)
    }),
    row("first", 0, 0, |_, this, _| {
        end(
            this,
            End::First,
            "Cannot access first() element from an empty List",
        )
    }),
    row("getFirst", 0, 0, |_, this, _| {
        end(
            this,
            End::First,
            "Cannot access first() element from an empty List",
        )
    }),
    row("head", 0, 0, |_, this, _| {
        end(
            this,
            End::First,
            "Cannot access head() element from an empty List",
        )
    }),
    row("last", 0, 0, |_, this, _| {
        end(
            this,
            End::Last,
            "Cannot access last() element from an empty List",
        )
    }),
    row("getLast", 0, 0, |_, this, _| {
        end(
            this,
            End::Last,
            "Cannot access last() element from an empty List",
        )
    }),
    row("subList", 2, 2, |machine, this, given| {
        let (from, to) = (int_of(given, 0)?, int_of(given, 1)?);
        let all = values(machine, this)?;
        let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let found = range.and_then(|(from, to)| all.get(from..to));
        found
            .map(|found| Value::list(found.to_vec()))
            .ok_or_else(|| {
                Thrown::of(
                    "java.lang.IndexOutOfBoundsException",
                    format!("toIndex = {to}"),
                )
            })
    }),
    row("lastIndexOf", 1, 1, |machine, this, given| {
        let found = values(machine, this)?
            .iter()
            .rposition(|one| order::java_equals(one, &given[0]));
        Ok(found.map_or(Value::Int(-1), Value::count))
    }),
    row("swap", 2, 2, |_, this, given| {
        if let Value::List(list) = this {
            let mut items = list.items.borrow_mut();
            let (one, other) = (int_of(given, 0)? as usize, int_of(given, 1)? as usize);
            let length = items.len();
            if one >= length || other >= length {
                return Err(beyond(one.max(other) as i64, length));
            }
            items.swap(one, other);
        }
        Ok(this.clone())
    }),
    row("shuffle", 0, 1, |machine, this, given| {
        shuffle(machine, this, given.first())?;
        Ok(Value::Null)
    }),
    row("shuffled", 0, 1, |machine, this, given| {
        let copy = Value::list(values(machine, this)?);
        shuffle(machine, &copy, given.first())?;
        Ok(copy)
    }),
    row("ensureCapacity", 1, 1, |_, _, _| Ok(Value::Null)),
    row("trimToSize", 0, 0, |_, _, _| Ok(Value::Null)),
    row("clone", 0, 0, |_, this, _| match this {
        Value::List(list) => Ok(Value::List(List::new(list.kind, list.copied()))),
        other => Ok(other.clone()),
    }),
    row("encodeBase64", 0, 0, |_, this, _| match this {
        Value::List(list) => Ok(super::digests::base64(&list.to_bytes().unwrap_or_default())),
        _ => Ok(Value::Null),
    }),
    row("encodeBase64Url", 0, 0, |_, this, _| match this {
        Value::List(list) => Ok(super::digests::base64_of_url(
            &list.to_bytes().unwrap_or_default(),
        )),
        _ => Ok(Value::Null),
    }),
    row("encodeHex", 0, 0, |_, this, _| match this {
        Value::List(list) => Ok(Value::text(
            HEXLOWER.encode(&list.to_bytes().unwrap_or_default()),
        )),
        _ => Ok(Value::Null),
    }),
    row("getFrom", 0, 0, |_, this, _| end(this, End::First, "")),
    row("getTo", 0, 0, |_, this, _| end(this, End::Last, "")),
    row("step", 1, 1, |machine, this, given| {
        Ok(Value::list(stepped(machine, this, int_of(given, 0)?)?))
    }),
    row("step", 2, 2, |machine, this, given| {
        for value in stepped(machine, this, int_of(given, 0)?)? {
            machine.call(&given[1], vec![value])?;
        }
        Ok(Value::Null)
    }),
]);

/// Every so-many-th value of a range; a negative step goes through it backwards.
fn stepped(machine: &mut dyn Machine, this: &Value, step: i32) -> Outcome<Vec<Value>> {
    let mut all = values(machine, this)?;
    if step < 0 {
        all.reverse();
    }
    let step = usize::try_from(step.unsigned_abs()).unwrap_or(1).max(1);
    Ok(all.into_iter().step_by(step).collect())
}

fn filtered(machine: &mut dyn Machine, this: &Value, closure: &Value, keeps: bool) -> Outcome {
    let all = values(machine, this)?;
    let before = all.len();
    let mut kept = Vec::new();
    for value in all {
        let holds = order::truth(&machine.call(closure, vec![value.clone()])?);
        if holds == keeps {
            kept.push(value);
        }
    }
    let has_changed = kept.len() != before;
    *growing(this)?.items.borrow_mut() = kept;
    Ok(Value::Truth(has_changed))
}

/// Shuffles a list, with the given random source, if any.
fn shuffle(machine: &mut dyn Machine, this: &Value, source: Option<&Value>) -> Outcome<()> {
    let Value::List(list) = this else {
        return Ok(());
    };
    let length = list.items.borrow().len();
    for place in (1..length).rev() {
        let count = place as u64 + 1;
        let other = match source {
            Some(source) => {
                let below = [Value::whole(place as i64 + 1)];
                let drawn = machine.invoke(source, "nextInt", &below)?;
                usize::try_from(long_of(&[drawn], 0)?)
            }
            None => {
                let drawn = (u128::from(machine.host().random()) * u128::from(count)) >> 64;
                usize::try_from(drawn)
            }
        };
        let mut items = list.items.borrow_mut();
        if place < items.len() {
            items.swap(place, other.unwrap_or(0).min(place));
        }
    }
    Ok(())
}

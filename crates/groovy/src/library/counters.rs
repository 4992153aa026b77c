//! `AtomicInteger` and `AtomicLong`: counters shared by threads.
//!
//! Must not know threads. Invariant: all copies of a counter share the same number.
// tidy: table

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::super::table::{Table, row};
use super::super::value::{Machine, Object, Outcome, Value};
use super::{Class, long_of};

/// A number shared by all copies.
#[derive(Clone, Debug)]
pub struct Counter {
    number: Arc<AtomicI64>,
    is_long: bool,
}

impl PartialEq for Counter {
    /// Whether it shares the same number.
    fn eq(&self, other: &Counter) -> bool {
        Arc::ptr_eq(&self.number, &other.number)
    }
}

impl Counter {
    fn new(number: i64, is_long: bool) -> Counter {
        Counter {
            number: Arc::new(AtomicI64::new(number)),
            is_long,
        }
    }

    /// A number truncated to this counter's width.
    fn narrowed(&self, number: i64) -> i64 {
        match self.is_long {
            true => number,
            false => i64::from(number as i32),
        }
    }

    fn value(&self, number: i64) -> Value {
        match self.is_long {
            true => Value::Long(number),
            false => Value::Int(number as i32),
        }
    }

    fn now(&self) -> i64 {
        self.number.load(Ordering::SeqCst)
    }

    /// Changes the number; returns the previous one.
    fn change(&self, mut to: impl FnMut(i64) -> i64) -> i64 {
        let change = |number| Some(self.narrowed(to(number)));
        let (Ok(before) | Err(before)) =
            self.number
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
        before
    }
}

/// Which value of a number a change gives.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Old,
    New,
}

/// Adds to the number.
fn counted(this: &Value, by: i64, gives: Gives) -> Outcome {
    let Some(counter) = this.of::<Counter>() else {
        return Ok(Value::Null);
    };
    let before = counter.change(|number| number.wrapping_add(by));
    Ok(counter.value(match gives {
        Gives::Old => before,
        Gives::New => counter.narrowed(before.wrapping_add(by)),
    }))
}

fn now(this: &Value) -> Outcome {
    let counter = this.of::<Counter>();
    Ok(counter.map_or(Value::Null, |counter| counter.value(counter.now())))
}

/// Sets the number to the result of a closure.
fn updated(machine: &mut dyn Machine, this: &Value, by: &Value, gives: Gives) -> Outcome {
    let before = now(this)?;
    let after = machine.call(by, vec![before.clone()])?;
    let number = long_of(std::slice::from_ref(&after), 0)?;
    if let Some(counter) = this.of::<Counter>() {
        counter.change(|_| number);
    }
    match gives {
        Gives::Old => Ok(before),
        Gives::New => now(this),
    }
}

pub(super) static COUNTER: Table = Table::new(&[
    row("get", 0, 0, |_, this, _| now(this)),
    row("intValue", 0, 0, |_, this, _| now(this)),
    row("longValue", 0, 0, |_, this, _| now(this)),
    row("set", 1, 1, |_, this, given| {
        let number = long_of(given, 0)?;
        if let Some(counter) = this.of::<Counter>() {
            counter.change(|_| number);
        }
        Ok(Value::Null)
    }),
    row("getAndSet", 1, 1, |_, this, given| {
        let number = long_of(given, 0)?;
        let counter = this.of::<Counter>();
        Ok(counter.map_or(Value::Null, |one| one.value(one.change(|_| number))))
    }),
    row("compareAndSet", 2, 2, |_, this, given| {
        let (from, to) = (long_of(given, 0)?, long_of(given, 1)?);
        let counter = this.of::<Counter>();
        let before =
            counter.map(|one| one.change(|number| if number == from { to } else { number }));
        Ok(Value::Truth(before == Some(from)))
    }),
    row("incrementAndGet", 0, 0, |_, this, _| {
        counted(this, 1, Gives::New)
    }),
    row("decrementAndGet", 0, 0, |_, this, _| {
        counted(this, -1, Gives::New)
    }),
    row("getAndIncrement", 0, 0, |_, this, _| {
        counted(this, 1, Gives::Old)
    }),
    row("getAndDecrement", 0, 0, |_, this, _| {
        counted(this, -1, Gives::Old)
    }),
    row("addAndGet", 1, 1, |_, this, given| {
        counted(this, long_of(given, 0)?, Gives::New)
    }),
    row("getAndAdd", 1, 1, |_, this, given| {
        counted(this, long_of(given, 0)?, Gives::Old)
    }),
    row("updateAndGet", 1, 1, |machine, this, given| {
        updated(machine, this, &given[0], Gives::New)
    }),
    row("getAndUpdate", 1, 1, |machine, this, given| {
        updated(machine, this, &given[0], Gives::Old)
    }),
]);

impl Object for Counter {
    fn class(&self) -> &'static str {
        match self.is_long {
            true => "java.util.concurrent.atomic.AtomicLong",
            false => "java.util.concurrent.atomic.AtomicInteger",
        }
    }

    fn methods(&self) -> &'static Table {
        &COUNTER
    }

    fn text(&self) -> String {
        self.now().to_string()
    }
}

fn made(given: &[Value], is_long: bool) -> Outcome {
    let number = match given {
        [] => 0,
        _ => long_of(given, 0)?,
    };
    Ok(Value::object(Counter::new(number, is_long)))
}

static INTEGERS: Table = Table::new(&[row("new", 0, 1, |_, _, given| made(given, false))]);
static LONGS: Table = Table::new(&[row("new", 0, 1, |_, _, given| made(given, true))]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.concurrent.atomic.AtomicInteger",
        statics: &INTEGERS,
    },
    Class {
        name: "java.util.concurrent.atomic.AtomicLong",
        statics: &LONGS,
    },
];

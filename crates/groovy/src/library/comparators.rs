//! `Comparator`: the orders of values that Java makes.
//!
//! Must not know how they are called. Invariant: a comparator is a callable value.

use super::super::eval::Comparator;
use super::super::table::{Table, row};
use super::super::value::{Outcome, Value};
use super::Class;

/// The reverse of an order; without one of the natural order.
pub(super) fn reversed(given: &[Value]) -> Outcome {
    Ok(Comparator::by(given.first().cloned(), true))
}

fn by_key(given: &[Value]) -> Outcome {
    Ok(Comparator::by(given.first().cloned(), false))
}

static COMPARATOR: Table = Table::new(&[
    row("naturalOrder", 0, 0, |_, _, _| {
        Ok(Comparator::by(None, false))
    }),
    row("reverseOrder", 0, 0, |_, _, given| reversed(given)),
    row("comparing", 1, 1, |_, _, given| by_key(given)),
    row("comparingInt", 1, 1, |_, _, given| by_key(given)),
    row("comparingLong", 1, 1, |_, _, given| by_key(given)),
    row("comparingDouble", 1, 1, |_, _, given| by_key(given)),
]);

pub(super) const CLASSES: &[Class] = &[Class {
    name: "java.util.Comparator",
    statics: &COMPARATOR,
}];

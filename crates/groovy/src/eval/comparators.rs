//! Comparators: Java's natural order, orders by a key, reversed ones, and one after another.
//!
//! Must not know collections. Invariant: a comparator is called with two values, and returns an `int`.

use std::rc::Rc;

use super::super::number;
use super::super::order;
use super::super::value::{Callable, Outcome, Value};
use super::Interpreter;

/// A comparator.
pub(crate) struct Comparator {
    /// A closure of one value returns the key to compare by, one of two values compares; `None`: natural order.
    by: Option<Value>,
    is_reversed: bool,
    /// The comparator of values that are equal by this one.
    then: Option<Value>,
}

impl Comparator {
    /// A comparator by a closure, or by the natural order.
    pub(crate) fn by(by: Option<Value>, is_reversed: bool) -> Value {
        Value::Closure(Rc::new(Comparator {
            by,
            is_reversed,
            then: None,
        }))
    }

    /// A comparator, followed by another one or by a key.
    fn followed(first: &Value, then: &Value) -> Value {
        Value::Closure(Rc::new(Comparator {
            by: Some(first.clone()),
            is_reversed: false,
            then: Some(then.clone()),
        }))
    }
}

impl Callable for Comparator {
    fn arity(&self) -> usize {
        2
    }
}

impl Interpreter<'_> {
    /// Compares two values.
    pub(super) fn compare_by(&mut self, comparator: &Comparator, given: &[Value]) -> Outcome {
        let [one, other] = given else {
            return Ok(Value::Int(0));
        };
        let mut said = self.compare_once(comparator.by.as_ref(), one, other)?;
        if comparator.is_reversed {
            said = -said.signum();
        }
        if let (0, Some(then)) = (said, &comparator.then) {
            said = self.compare_once(Some(then), one, other)?;
        }
        Ok(Value::Int(said))
    }

    fn compare_once(&mut self, by: Option<&Value>, one: &Value, other: &Value) -> Outcome<i32> {
        match by {
            Some(Value::Closure(code)) if code.arity() < 2 => {
                let key = by.cloned().unwrap_or(Value::Null);
                let one = self.call_value(&key, vec![one.clone()])?;
                let other = self.call_value(&key, vec![other.clone()])?;
                Ok(order::compare(&one, &other)? as i32)
            }
            Some(by) => {
                let said = self.call_value(by, vec![one.clone(), other.clone()])?;
                Ok(number::int_of(&said).unwrap_or(0))
            }
            None => Ok(order::compare(one, other)? as i32),
        }
    }

    /// A method of `java.util.Comparator`; `None`: another one.
    pub(super) fn comparator_method(of: &Value, name: &str, given: &[Value]) -> Option<Value> {
        match (name, given) {
            ("reversed", []) => Some(Comparator::by(Some(of.clone()), true)),
            ("thenComparing" | "thenComparingInt" | "thenComparingLong", [then]) => {
                Some(Comparator::followed(of, then))
            }
            _ => None,
        }
    }
}

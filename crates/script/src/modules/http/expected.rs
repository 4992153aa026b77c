//! The statuses that a script expects: `expectedStatuses` and `setResponseCallback`.
//!
//! Must not know requests. Invariant: by default, 200 to 399 are expected.

use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Class, Ctx, Exception, Result, Value};

use super::error;
use super::vu::client_state;
use crate::modules::held::{Held, Opaque};
use crate::vu::state;

/// Ranges of statuses, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    ranges: Vec<(i64, i64)>,
}

impl Default for Expected {
    fn default() -> Expected {
        Expected {
            ranges: vec![(200, 399)],
        }
    }
}

impl Expected {
    /// Whether a status is expected.
    pub(crate) fn holds(&self, status: u16) -> bool {
        let status = i64::from(status);
        self.ranges
            .iter()
            .any(|(min, max)| (*min..=*max).contains(&status))
    }
}

/// The result of `expectedStatuses`: an object without properties.
pub(super) struct ExpectedStatuses(Rc<Expected>);

impl Opaque for ExpectedStatuses {
    const CLASS: &'static str = "ExpectedStatuses";
}

/// `expectedStatuses(...)`
pub(super) fn expected_statuses<'js>(
    ctx: Ctx<'js>,
    arguments: Rest<Value<'js>>,
) -> Result<Class<'js, Held<ExpectedStatuses>>> {
    if arguments.0.is_empty() {
        return Err(error::throw(&ctx, "no arguments"));
    }
    let mut ranges = Vec::with_capacity(arguments.0.len());
    for (at, argument) in arguments.0.iter().enumerate() {
        ranges.push(range_of(&ctx, at + 1, argument)?);
    }
    Held::make(ctx, ExpectedStatuses(Rc::new(Expected { ranges })))
}

/// The range from an argument; `number` counts from 1.
fn range_of(ctx: &Ctx<'_>, number: usize, argument: &Value<'_>) -> Result<(i64, i64)> {
    if let Some(status) = whole(argument) {
        return Ok((status, status));
    }
    if argument.is_null() || argument.is_undefined() {
        let message = "Cannot convert undefined or null to object";
        return Err(Exception::throw_type(ctx, message));
    }
    let bounds = argument.as_object().filter(|object| {
        ["min", "max"]
            .iter()
            .all(|name| object.contains_key(*name).unwrap_or(false))
    });
    let Some(bounds) = bounds else {
        let message = format!(
            "argument number {number} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}"
        );
        return Err(error::throw(ctx, &message));
    };
    let (min, max): (Value<'_>, Value<'_>) = (bounds.get("min")?, bounds.get("max")?);
    whole(&min).zip(whole(&max)).ok_or_else(|| {
        let message = format!("both min and max need to be integers for argument number {number}");
        error::throw(ctx, &message)
    })
}

fn whole(value: &Value<'_>) -> Option<i64> {
    let number = value.as_number().filter(|number| number.fract() == 0.0)?;
    Some(number as i64)
}

/// The expectation in a value; the outer `None` if the value is invalid.
pub(super) fn expected_of(value: &Value<'_>) -> Option<Option<Rc<Expected>>> {
    if value.is_null() || value.is_undefined() {
        return Some(None);
    }
    let class = Class::<Held<ExpectedStatuses>>::from_object(value.as_object()?)?;
    let expected = Rc::clone(&class.borrow().0.0);
    Some(Some(expected))
}

/// `setResponseCallback(callback)`
pub(super) fn set_response_callback<'js>(ctx: Ctx<'js>, callback: Opt<Value<'js>>) -> Result<()> {
    let expected = match &callback.0 {
        None => Some(None),
        // Unlike the parameter of a request.
        Some(callback) if callback.is_undefined() => None,
        Some(callback) => expected_of(callback),
    };
    let Some(expected) = expected else {
        let message = "unsupported argument, expected http.expectedStatuses";
        return Err(error::throw(&ctx, message));
    };
    *client_state(state(&ctx)).expected.borrow_mut() = expected;
    Ok(())
}

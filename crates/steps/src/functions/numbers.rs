//! Sums. The last argument may name a variable instead of being a number.
//!
//! Must not know decimal fractions. Invariant: integers wrap around, as in Java.

use loadline_java::numbers;

use super::{Call, Outcome, keep};
use crate::scope::Scope;
use crate::thrown::Thrown;

/// `__intSum(a,b,…[,variable])`.
pub(super) fn int_sum(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    sum(
        call,
        scope,
        out,
        numbers::parse_int,
        i32::wrapping_add,
        |sum| sum.to_string(),
    )
}

/// `__longSum(a,b,…[,variable])`.
pub(super) fn long_sum(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    sum(
        call,
        scope,
        out,
        numbers::parse_long,
        i64::wrapping_add,
        |sum| sum.to_string(),
    )
}

/// `__doubleSum(a,b,…[,variable])`.
pub(super) fn double_sum(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    sum(
        call,
        scope,
        out,
        numbers::parse_double,
        |a, b| a + b,
        numbers::double_to_string,
    )
}

fn sum<N: Default>(
    call: &Call,
    scope: &mut Scope<'_>,
    out: &mut String,
    parse: fn(&str) -> Option<N>,
    add: fn(N, N) -> N,
    write: fn(N) -> String,
) -> Outcome {
    let Some((last, others)) = call.arguments.split_last() else {
        return Ok(());
    };
    let mut total = N::default();
    for argument in others {
        let text = argument.evaluate(scope);
        let number = parse(&text).ok_or_else(|| Thrown::no_number(&text))?;
        total = add(total, number);
    }
    match parse(last.evaluate(scope).trim()) {
        Some(number) => out.push_str(&write(add(total, number))),
        None => {
            let start = out.len();
            out.push_str(&write(total));
            keep(last, scope, &out[start..]);
        }
    }
    Ok(())
}

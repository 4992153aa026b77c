//! Errors as thrown by k6's client.
//!
//! Must not know what failed. Invariant: a returned error is pending in the context.

use rquickjs::{Ctx, Error, Result, Value};

use crate::go_error::{self, GoValue};

/// Throws a Go error.
pub(super) fn throw(ctx: &Ctx<'_>, message: &str) -> Error {
    go_error::throw(ctx, &GoValue::read(message))
}

/// The reason for rejecting a promise: there k6 passes the Go error alone.
pub(super) fn reason<'js>(ctx: &Ctx<'js>, message: &str) -> Result<Value<'js>> {
    go_error::value(ctx, &GoValue::read(message))
}

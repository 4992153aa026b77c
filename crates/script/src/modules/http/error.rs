//! Errors as thrown by k6's client: its own have the name `GoError`.
//!
//! Must not know what failed. Invariant: a returned error is pending in the context.

use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Result, Value};

/// Throws an error with the name of k6's own errors.
pub(super) fn throw(ctx: &Ctx<'_>, message: &str) -> Error {
    match make(ctx, message, "GoError") {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}

/// The reason for rejecting a promise: there k6 passes only the text, without a name.
pub(in crate::modules) fn reason<'js>(ctx: &Ctx<'js>, message: &str) -> Result<Value<'js>> {
    make(ctx, message, "")
}

fn make<'js>(ctx: &Ctx<'js>, message: &str, name: &str) -> Result<Value<'js>> {
    let error = Exception::from_message(ctx.clone(), message)?.into_object();
    error.prop("name", Property::from(name).writable().configurable())?;
    Ok(error.into_value())
}

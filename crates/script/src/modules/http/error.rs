//! Errors as k6's client throws them: those of its own have the name `GoError`.
//!
//! Must not know what failed. Invariant: what is given back is pending in the context.

use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Result, Value};

/// Throws an error with the name that k6 gives to its own.
pub(super) fn throw(ctx: &Ctx<'_>, message: &str) -> Error {
    match make(ctx, message, "GoError") {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}

/// An error to reject a promise with: there k6 hands over the text alone, without a name.
pub(in crate::modules) fn reason<'js>(ctx: &Ctx<'js>, message: &str) -> Result<Value<'js>> {
    make(ctx, message, "")
}

fn make<'js>(ctx: &Ctx<'js>, message: &str, name: &str) -> Result<Value<'js>> {
    let error = Exception::from_message(ctx.clone(), message)?.into_object();
    error.prop("name", Property::from(name).writable().configurable())?;
    Ok(error.into_value())
}

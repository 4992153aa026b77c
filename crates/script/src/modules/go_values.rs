//! Values of a script as k6's natives take them, which are functions of Go with typed parameters.
//!
//! Must not know what they are for. Invariant: what Go has no text for is empty text.

use rquickjs::{Coerced, Ctx, FromJs, Object, Result, Value};

/// Text as a parameter takes it: of `null` and `undefined` there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoText(pub(crate) String);

impl<'js> FromJs<'js> for GoText {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<GoText> {
        if value.is_null() || value.is_undefined() {
            return Ok(GoText::default());
        }
        Ok(GoText(value.get::<Coerced<String>>()?.0))
    }
}

/// A value as an object; text becomes one of its characters by index, and what else is none an empty one.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn object_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Object<'js>> {
    if let Some(object) = value.as_object() {
        return Ok(object.clone());
    }
    let object = Object::new(ctx.clone())?;
    if let Some(characters) = value.as_string() {
        for (at, c) in characters.to_string()?.chars().enumerate() {
            object.set(at.to_string(), c.to_string())?;
        }
    }
    Ok(object)
}

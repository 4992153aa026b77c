//! Script values as parameters of k6's natives, which are Go functions with typed parameters.
//!
//! Must not know their purpose. Invariant: a value without text in Go is empty text.

use rquickjs::{Coerced, Ctx, FromJs, Object, Result, Value};

/// A text parameter: empty for `null` and `undefined`.
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

/// A value as an object; text becomes an object of its characters by index, other primitives an empty object.
///
/// # Errors
/// Memory is exhausted.
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

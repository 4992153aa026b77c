//! What kind of object a value is, by the constructor that made it.
//!
//! Must not know what is done about it. Invariant: looking runs nothing of the script but what it
//! put in a constructor's place itself.

use rquickjs::{Ctx, Object, Result, Value};

/// Whether the object's prototype is that of the global constructor of this name.
///
/// # Errors
/// What a getter in the constructor's place throws.
pub(crate) fn is_made_by<'js>(ctx: &Ctx<'js>, object: &Object<'js>, class: &str) -> Result<bool> {
    let Some(own) = object.get_prototype() else {
        return Ok(false);
    };
    let class: Value<'js> = ctx.globals().get(class)?;
    let Some(class) = class.as_object() else {
        return Ok(false);
    };
    Ok(class.get::<_, Value<'js>>("prototype")? == *own.as_value())
}

//! Tags as scripts give them.
//!
//! Must not know where they go. Invariant: a tag's value is text, a number or a truth value;
//! anything else is refused by name.

use loadline_metric::TagSet;
use rquickjs::{Coerced, Ctx, Exception, Object, Result, Value};

/// Adds the tags of a script's object.
///
/// # Errors
/// Throws when a value is none that a tag can have.
pub(crate) fn add(ctx: &Ctx<'_>, own: &Object<'_>, tags: &mut TagSet) -> Result<()> {
    for entry in own.props::<String, Value<'_>>() {
        let (name, value) = entry?;
        let text = text_of(ctx, &name, &value)?;
        tags.set(name, text);
    }
    Ok(())
}

/// A tag's value as text.
///
/// # Errors
/// Throws when it is none that a tag can have.
pub(crate) fn text_of(ctx: &Ctx<'_>, name: &str, value: &Value<'_>) -> Result<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Ok(value.get::<Coerced<String>>()?.0);
    }
    let message = format!(
        "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
    );
    Err(Exception::throw_type(ctx, &message))
}

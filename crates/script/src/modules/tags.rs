//! Tags given by scripts.
//!
//! Must not know where they go. Invariant: a tag's value is text, a number, a boolean or a symbol; anything else
//! is refused with the tag's name.

use loadline_metric::TagSet;
use rquickjs::{Coerced, Ctx, Object, Result, Value};

use crate::go_error::refuse;
use crate::modules::bytes;

/// Adds the tags of a script's object.
///
/// # Errors
/// Throws if a value is not allowed for a tag.
pub(crate) fn add(ctx: &Ctx<'_>, own: &Object<'_>, tags: &mut TagSet) -> Result<()> {
    match add_all(own, tags)? {
        None => Ok(()),
        Some(name) => Err(refuse(ctx, &refusal(&name))),
    }
}

/// Adds the tags of a script's object; returns the name of the first tag with an invalid value.
///
/// # Errors
/// An exception from a getter of the object.
pub(crate) fn add_all(own: &Object<'_>, tags: &mut TagSet) -> Result<Option<String>> {
    for entry in own.props::<String, Value<'_>>() {
        let (name, value) = entry?;
        match plain(&value)? {
            Some(text) => tags.set(name, text),
            None => return Ok(Some(name)),
        }
    }
    Ok(None)
}

/// Text, a number, a boolean or a symbol as text; `None` for anything else.
///
/// # Errors
/// Memory is exhausted.
pub(crate) fn plain(value: &Value<'_>) -> Result<Option<String>> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Ok(Some(value.get::<Coerced<String>>()?.0));
    }
    match value.as_symbol() {
        Some(symbol) => Ok(Some(bytes::text(&symbol.description()?)?)),
        None => Ok(None),
    }
}

/// Why the value of the tag with this name is refused.
pub(crate) fn refusal(name: &str) -> String {
    format!(
        "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
    )
}

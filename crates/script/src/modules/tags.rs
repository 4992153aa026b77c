//! Tags as scripts give them.
//!
//! Must not know where they go. Invariant: a tag's value is text, a number or a truth value;
//! anything else is refused by name.

use loadline_metric::TagSet;
use rquickjs::{Coerced, Ctx, Object, Result, Value};

use crate::natives::refuse;

/// Adds the tags of a script's object.
///
/// # Errors
/// Throws when a value is none that a tag can have.
pub(crate) fn add(ctx: &Ctx<'_>, own: &Object<'_>, tags: &mut TagSet) -> Result<()> {
    match add_all(own, tags)? {
        None => Ok(()),
        Some(name) => Err(refuse(ctx, &refusal(&name))),
    }
}

/// Adds the tags of a script's object; gives the name of the first whose value is none that a tag
/// can have.
///
/// # Errors
/// What a getter of the object throws.
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

/// Text, a number or a truth value as text; `None` for anything else.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn plain(value: &Value<'_>) -> Result<Option<String>> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Ok(Some(value.get::<Coerced<String>>()?.0));
    }
    Ok(None)
}

/// Why the value of the tag of this name is refused.
pub(crate) fn refusal(name: &str) -> String {
    format!(
        "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
    )
}

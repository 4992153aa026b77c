//! Reads fields of an object from the API.
//!
//! Must not know which object. Invariant: a field that is absent, null or of another type is `None`; the caller
//! decides what that means.

use std::collections::BTreeMap;

use serde_json::Value;

/// The text at a JSON pointer (RFC 6901).
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The text at a pointer, owned; empty if there is none.
pub(crate) fn owned(value: &Value, pointer: &str) -> String {
    text(value, pointer).unwrap_or_default().to_owned()
}

/// The text at a pointer, owned, where it is not empty.
pub(crate) fn filled(value: &Value, pointer: &str) -> Option<String> {
    text(value, pointer)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// The whole number at a pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// The number at a pointer as a count; `absent` if there is none.
pub(crate) fn count(value: &Value, pointer: &str, absent: u32) -> u32 {
    let number = number(value, pointer);
    number.map_or(absent, |n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// Whether the field at a pointer is `true`.
pub(crate) fn is_true(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool) == Some(true)
}

/// The items of the list at a pointer.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The map of texts at a pointer.
pub(crate) fn texts(value: &Value, pointer: &str) -> BTreeMap<String, String> {
    let map = value.pointer(pointer).and_then(Value::as_object);
    let pairs = map.into_iter().flatten();
    pairs
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The instant at a pointer, in nanoseconds since 1970.
pub(crate) fn instant(value: &Value, pointer: &str) -> Option<u64> {
    crate::time::parse(text(value, pointer)?)
}

/// A condition of an object's status by its type.
pub(crate) fn condition<'a>(value: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = items(value, "/status/conditions");
    conditions
        .iter()
        .find(|condition| text(condition, "/type") == Some(kind))
}

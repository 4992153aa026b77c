//! Modifiers of JSON paths that the `gjson` crate lacks: `@keys`, `@values`, `@tostr`, `@fromstr`, `@group`.
//!
//! Source: the documentation of Go's package `gjson`. Must not know responses. Invariant: a missing value has
//! an empty text, which each modifier accepts.

use gjson::{Kind, Value as Found};
use serde::de::IgnoredAny;

/// A modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    Keys,
    Values,
    ToText,
    FromText,
    Group,
}

const NAMES: [(&str, Modifier); 5] = [
    ("keys", Modifier::Keys),
    ("values", Modifier::Values),
    ("tostr", Modifier::ToText),
    ("fromstr", Modifier::FromText),
    ("group", Modifier::Group),
];

/// Whether it is the name of one of them.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(known, _)| *known == name)
}

/// A path, split at its first such modifier.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split<'p> {
    /// The path to its input; empty: the whole.
    pub(super) before: &'p str,
    pub(super) modifier: Modifier,
    /// Whether it applies to each element of a list (`#.@keys`).
    pub(super) to_each: bool,
    /// The path within its result; empty: the whole.
    pub(super) after: &'p str,
}

/// Splits at the first modifier outside of brackets; `None` without one.
pub(super) fn split(path: &str) -> Option<Split<'_>> {
    let bytes = path.as_bytes();
    let (mut at, mut depth, mut quoted) = (0, 0_usize, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b'(' | b'[' | b'{' if !quoted => depth += 1,
            b')' | b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            b'@' if !quoted && depth == 0 && (at == 0 || b".|".contains(&bytes[at - 1])) => {
                if let Some(found) = split_at(path, at) {
                    return Some(found);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn split_at(path: &str, at: usize) -> Option<Split<'_>> {
    let rest = &path[at + 1..];
    let end = rest.find(['.', '|', ':']).unwrap_or(rest.len());
    let (_, modifier) = NAMES.iter().find(|(name, _)| *name == &rest[..end])?;
    // These ignore any argument.
    let end = match rest[end..].starts_with(':') {
        true => rest[end..]
            .find(['.', '|'])
            .map_or(rest.len(), |next| end + next),
        false => end,
    };
    let before = &path[..at];
    let to_each = before.ends_with("#.");
    let before = before.strip_suffix(['.', '|']).unwrap_or(before);
    // A single `#` counts elements; after a query it belongs to the query.
    let list = match before {
        "#" => Some(""),
        _ => before
            .strip_suffix(".#")
            .or_else(|| before.strip_suffix("|#")),
    };
    Some(Split {
        before: list.filter(|_| to_each).unwrap_or(before),
        modifier: *modifier,
        to_each,
        after: rest[end..].get(1..).unwrap_or_default(),
    })
}

impl Modifier {
    /// Applies it to JSON; `None` for no result.
    pub(super) fn apply(self, json: &str) -> Option<String> {
        match self {
            Modifier::Keys => Some(keys(json)),
            Modifier::Values => Some(values(json)),
            Modifier::ToText => serde_json::to_string(json).ok(),
            Modifier::FromText => from_text(json),
            Modifier::Group => grouped(json),
        }
    }
}

/// Names of an object; for anything else as many nulls as it has elements.
fn keys(json: &str) -> String {
    listed(json, |name, _| {
        name.map_or("null", |name| name.json()).to_owned()
    })
}

/// Values of an object; a list unchanged, and anything else as a list of one element.
fn values(json: &str) -> String {
    match gjson::parse(json).kind() {
        Kind::Array => json.to_owned(),
        _ => listed(json, |_, value| value.json().to_owned()),
    }
}

/// A list of the results for each element, with its name for an object; other values count as a single element.
fn listed(json: &str, element: impl Fn(Option<&Found>, &Found) -> String) -> String {
    let mut list = Vec::new();
    let found = gjson::parse(json);
    let is_object = found.kind() == Kind::Object;
    match found.kind() {
        Kind::Object | Kind::Array => found.each(|name, value| {
            list.push(element(is_object.then_some(&name), &value));
            true
        }),
        _ if json.is_empty() => {}
        _ => list.push(element(None, &found)),
    }
    format!("[{}]", list.join(","))
}

/// The JSON in a string, or another value unchanged; `None` if it is not valid JSON.
fn from_text(json: &str) -> Option<String> {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let held = match serde_json::from_str::<String>(json) {
        Ok(text) => text,
        Err(_) => json.to_owned(),
    };
    is_json(&held).then_some(held)
}

/// Turns an object of lists into a list of objects: `{"a":[1,2],"b":[3]}` becomes `[{"a":1,"b":3},{"a":2}]`.
fn grouped(json: &str) -> Option<String> {
    let found = gjson::parse(json);
    if found.kind() != Kind::Object {
        return None;
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    found.each(|name, list| {
        if list.kind() == Kind::Array {
            for (at, value) in list.array().iter().enumerate() {
                if rows.len() == at {
                    rows.push(Vec::new());
                }
                rows[at].push(format!("{}:{}", name.json(), value.json()));
            }
        }
        true
    });
    let rows = rows.iter().map(|row| format!("{{{}}}", row.join(",")));
    Some(format!("[{}]", rows.collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_outside_of_brackets_and_quotes() {
        let found = |path| split(path).map(|split| (split.before, split.to_each, split.after));
        assert_eq!(found("a.@keys.0"), Some(("a", false, "0")));
        assert_eq!(found("@keys"), Some(("", false, "")));
        assert_eq!(found("a|@group:x|1"), Some(("a", false, "1")));
        assert_eq!(found("l.#.@values"), Some(("l", true, "")));
        assert_eq!(found("#.@keys|0"), Some(("", true, "0")));
        assert_eq!(found("l.#(a>1)#.@keys"), Some(("l.#(a>1)#", true, "")));
        assert_eq!(found("l.#|@keys"), Some(("l.#", false, "")));
        for path in [
            "a.@reverse",
            "a.keys",
            "{x:a.@keys}",
            "#(a==\".@keys\").b",
            "a@keys",
            "a.@keysx",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn they_take_whatever_there_is() {
        let made = |modifier: Modifier, json| modifier.apply(json).unwrap_or_default();
        assert_eq!(made(Modifier::Keys, r#"{"b":1,"a":{}}"#), r#"["b","a"]"#);
        assert_eq!(made(Modifier::Keys, "[1,2]"), "[null,null]");
        assert_eq!(made(Modifier::Keys, "7"), "[null]");
        assert_eq!(made(Modifier::Keys, ""), "[]");
        assert_eq!(made(Modifier::Values, r#"{"b":1,"a":[2]}"#), "[1,[2]]");
        assert_eq!(made(Modifier::ToText, ""), r#""""#);
        assert_eq!(made(Modifier::FromText, r#""{\"x\":1}""#), r#"{"x":1}"#);
        assert_eq!(made(Modifier::FromText, r#""{x""#), "");
        assert_eq!(
            made(Modifier::Group, r#"{"a":[1,2],"b":[3],"c":4}"#),
            r#"[{"a":1,"b":3},{"a":2}]"#
        );
        assert_eq!(made(Modifier::Group, "[]"), "");
    }
}

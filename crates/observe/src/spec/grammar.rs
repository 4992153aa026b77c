//! The argument of `--observe`: `[NAME=]KIND[:VALUE][;KEY=VALUE]...`.
//!
//! Must not know which settings a kind has. Invariant: `\;` stands for a semicolon and nothing else is escaped, so
//! that patterns and queries are written as they are.

use super::file::{Common, Entry};
use super::kind::ObserverKind;
use super::{ObserverSpec, SpecError};

/// Reads one observer.
pub(super) fn observer(text: &str) -> Result<ObserverSpec, SpecError> {
    let told = |error: String| SpecError::new(format!("observer {text:?}: {error}"));
    let spec = entry(text).map_err(told)?.into_spec(None).map_err(told)?;
    Ok(spec)
}

/// Reads a name, a kind and settings.
pub(super) fn entry(text: &str) -> Result<Entry, String> {
    let mut parts = split(text).into_iter();
    let head = parts.next().unwrap_or_default();
    let (name, kind, main) = head_parts(head.trim());
    let mut common = Common {
        name: name.map(str::to_owned),
        ..Common::default()
    };
    let mut pairs = Vec::new();
    for part in parts.filter(|part| !part.trim().is_empty()) {
        let pair = part.split_once('=');
        let (key, value) = pair.ok_or_else(|| {
            format!("{part:?} is no setting; write KEY=VALUE, and \\; for a semicolon in a value")
        })?;
        let key = key.trim();
        if !common.take(key, value)? {
            pairs.push((key.to_owned(), value.to_owned()));
        }
    }
    let kind = ObserverKind::from_words(kind, main, pairs).ok_or_else(|| unknown_kind(kind))??;
    Ok(Entry { common, kind })
}

/// What is said of a kind that does not exist.
pub(super) fn unknown_kind(kind: &str) -> String {
    format!(
        "there is no kind of observer {kind:?}; the kinds are {}",
        ObserverKind::NAMES.join(", ")
    )
}

/// Splits at semicolons that are not escaped.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find(';') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let part = parts.last_mut().expect("there is always a part");
        match before.strip_suffix('\\') {
            Some(before) => {
                part.push_str(before);
                part.push(';');
            }
            None => {
                part.push_str(before);
                parts.push(String::new());
            }
        }
        rest = after;
    }
    parts
        .last_mut()
        .expect("there is always a part")
        .push_str(rest);
    parts
}

/// `[NAME=]KIND[:VALUE]`; a `=` behind the first `:` belongs to the value.
fn head_parts(head: &str) -> (Option<&str>, &str, Option<&str>) {
    let (name, rest) = match (head.find('='), head.find(':')) {
        (Some(equals), colon) if colon.is_none_or(|colon| equals < colon) => {
            (Some(head[..equals].trim()), &head[equals + 1..])
        }
        _ => (None, head),
    };
    match rest.split_once(':') {
        Some((kind, value)) => (name, kind.trim(), Some(value)),
        None => (name, rest.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_semicolon_does_not_split() {
        assert_eq!(split(r"a;b\;c;d"), ["a", "b;c", "d"]);
        assert_eq!(split(r"x\d;"), [r"x\d", ""]);
    }

    #[test]
    fn a_name_stands_before_the_kind() {
        assert_eq!(head_parts("self"), (None, "self", None));
        assert_eq!(head_parts("p=log:/a=b"), (Some("p"), "log", Some("/a=b")));
        assert_eq!(head_parts("pod:app=api"), (None, "pod", Some("app=api")));
    }
}

//! The argument of `--observe`: `[NAME=]KIND[:VALUE][;KEY=VALUE]...`.
//!
//! Must not know which kinds there are, nor their settings. Invariant: `\;` stands for a semicolon and there
//! are no other escapes, so patterns and queries are written as they are.

/// An observer as written, with its settings in order.
pub(super) struct ObserverWords {
    /// `None`: it is named after its kind.
    pub(super) name: Option<String>,
    pub(super) kind: String,
    /// The text after the colon that follows the kind.
    pub(super) main: Option<String>,
    pub(super) pairs: Vec<(String, String)>,
}

/// Parses a name, a kind and settings.
///
/// # Errors
/// A part is not `KEY=VALUE`.
pub(super) fn parse(text: &str) -> Result<ObserverWords, String> {
    let mut parts = split(text).into_iter();
    let head = parts.next().unwrap_or_default();
    let (name, kind, main) = head_parts(head.trim());
    let parts = parts.filter(|part| !part.trim().is_empty());
    Ok(ObserverWords {
        name: name.map(str::to_owned),
        kind: kind.to_owned(),
        main: main.map(str::to_owned),
        pairs: parts.map(|part| pair(&part)).collect::<Result<_, _>>()?,
    })
}

fn pair(part: &str) -> Result<(String, String), String> {
    let (key, value) = part.split_once('=').ok_or_else(|| {
        format!("{part:?} is not a setting; write KEY=VALUE, and \\; for a semicolon in a value")
    })?;
    Ok((key.trim().to_owned(), value.to_owned()))
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

/// `[NAME=]KIND[:VALUE]`; a `=` after the first `:` belongs to the value.
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

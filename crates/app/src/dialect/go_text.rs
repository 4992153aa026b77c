//! Small pieces of Go's wording: quoted strings, header names, errors of the file system.
//!
//! Must not know which tool speaks. Invariant: the texts are those that people grep for.

use std::io::ErrorKind;

use crate::FileError;

/// A string as Go's `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if !is_printable(c) && u32::from(c) > 0xffff => {
                out.push_str(&format!("\\U{:08x}", u32::from(c)));
            }
            c if !is_printable(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Near enough to Go's `strconv.IsPrint`: no controls, no separators but the space, no marks of
/// direction, nothing private.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && (c == ' ' || !c.is_whitespace())
        && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

/// A header name as Go's `CanonicalMIMEHeaderKey` gives it: a name with a character that no token
/// has stays as it is.
pub(super) fn canonical_header(name: &str) -> String {
    if crate::cli::values::header_name(name).is_err() {
        return name.to_owned();
    }
    let mut upper = true;
    let canonical = name.chars().map(|c| {
        let cased = if upper {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        };
        upper = c == '-';
        cased
    });
    canonical.collect()
}

/// A failure to read a file, as Go tells it.
pub(super) fn file_error(failure: &FileError) -> String {
    let FileError { path, error } = failure;
    match error.kind() {
        ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        ErrorKind::IsADirectory => format!("read {path}: is a directory"),
        _ => format!("read {path}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_quotes() {
        assert_eq!(quoted("a\"b\\\n\u{1}é"), "\"a\\\"b\\\\\\n\\x01é\"");
    }

    #[test]
    fn go_header_names() {
        assert_eq!(canonical_header("x-a_b-cD"), "X-A_b-Cd");
        assert_eq!(canonical_header("a b"), "a b");
    }
}

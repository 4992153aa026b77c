//! `html`, `js` and `urlquery`.
//!
//! Source: Go's `template.HTMLEscapeString`, `template.JSEscapeString`, `url.QueryEscape`. Must not
//! know values. Invariant: the output needs no further escaping in its context.

use std::fmt::Write as _;

use loadline_go::quote::is_printable;

/// Text for HTML.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// Text inside a JavaScript string.
pub(super) fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => push_unicode(&mut out, c),
            c if c < ' ' => push_unicode(&mut out, c),
            c if c.is_ascii() || is_printable(c) => out.push(c),
            c => push_unicode(&mut out, c),
        }
    }
    out
}

fn push_unicode(out: &mut String, c: char) {
    write!(out, "\\u{:04X}", u32::from(c)).expect("writing to a string cannot fail");
}

/// Text inside a query.
pub(super) fn url_query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char);
            }
            other => write!(out, "%{other:02X}").expect("writing to a string cannot fail"),
        }
    }
    out
}

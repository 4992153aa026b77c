//! Selectors as k6 reads them: CSS, and what jQuery adds to it.
//!
//! The additions are put into words of CSS before the parser sees them. Must not know pages.
//! Invariant: a selector that cannot be read matches nothing.

use dom_query::{Matcher, NodeRef};

/// What stands for a name of jQuery's own.
const WORDS: [(&str, &str); 5] = [
    (
        "checked",
        ":is(option[selected],input[type=checkbox][checked],input[type=radio][checked])",
    ),
    ("disabled", ":is([disabled])"),
    (
        "enabled",
        ":is(input,select,textarea,button,option,optgroup,fieldset):not([disabled])",
    ),
    ("input", ":is(input,select,textarea,button)"),
    // The parser's tree takes the document for an element around the first one.
    ("root", ":is(html)"),
];

/// A selector, parsed.
pub(super) struct Selector(Option<Matcher>);

impl Selector {
    /// Reads a selector.
    pub(super) fn parse(written: &str) -> Selector {
        Selector(Matcher::new(&in_css(written)).ok())
    }

    /// Whether it matches an element.
    pub(super) fn matches(&self, node: &NodeRef<'_>) -> bool {
        self.0
            .as_ref()
            .is_some_and(|matcher| matcher.match_element(node))
    }
}

/// A selector in words of CSS alone.
fn in_css(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' | '\'' => quoted(rest, first),
            '[' => bracketed(rest, &mut out),
            ':' => worded(rest, &mut out),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
        match first {
            '[' | ':' => {}
            _ => out.push_str(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    out
}

/// How long the text in quotes is that begins here.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Writes what is in brackets, `[name!=value]` as its denial and bare values in quotes; gives how
/// long it was.
fn bracketed(rest: &str, out: &mut String) -> usize {
    let mut end = 1;
    while end < rest.len() {
        match rest[end..].chars().next() {
            Some(']') => break,
            Some(quote @ ('"' | '\'')) => end += quoted(&rest[end..], quote),
            Some(c) => end += c.len_utf8(),
            None => break,
        }
    }
    let inside = &rest[1..end.min(rest.len())];
    let taken = (end + 1).min(rest.len());
    let Some((name, value)) = inside.split_once('=') else {
        out.push_str(&rest[..taken]);
        return taken;
    };
    let value = value.trim();
    let value = match value.chars().next() {
        Some('"' | '\'') | None => value.to_owned(),
        Some(_) => match value.strip_suffix(" i") {
            Some(bare) => format!("\"{bare}\" i"),
            None => format!("\"{value}\""),
        },
    };
    match name.strip_suffix('!') {
        Some(name) => out.push_str(&format!(":not([{name}={value}])")),
        None => out.push_str(&format!("[{name}={value}]")),
    }
    taken
}

/// Writes a word after a colon, in CSS where it is jQuery's; gives how long it was.
fn worded(rest: &str, out: &mut String) -> usize {
    let name_length = rest[1..]
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(rest.len() - 1);
    let name = &rest[1..=name_length];
    let after = &rest[1 + name_length..];
    let css = WORDS
        .iter()
        .find(|(word, _)| name.eq_ignore_ascii_case(word));
    if let Some((_, css)) = css
        && !after.starts_with('(')
    {
        out.push_str(css);
        return 1 + name_length;
    }
    if name.eq_ignore_ascii_case("haschild") && after.starts_with('(') {
        out.push_str(":has(> ");
        return 2 + name_length;
    }
    if name.eq_ignore_ascii_case("contains")
        && let Some(argument) = after.strip_prefix('(')
        && !argument.trim_start().starts_with(['"', '\''])
        && let Some(end) = argument.find(')')
    {
        let text = argument[..end]
            .trim()
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        out.push_str(&format!(":contains(\"{text}\")"));
        return 1 + name_length + 1 + end + 1;
    }
    out.push_str(&rest[..=name_length]);
    1 + name_length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::in_css;

    #[test]
    fn what_jquery_adds_is_put_into_css() {
        for (written, css) in [
            ("p > a:first-child", "p > a:first-child"),
            ("li[class!=\"one\"]", "li:not([class=\"one\"])"),
            ("a[href=/x?y]", "a[href=\"/x?y\"]"),
            ("a[title=\"a]b\"] b", "a[title=\"a]b\"] b"),
            ("li:contains(a \"b\")", "li:contains(\"a \\\"b\\\"\")"),
            ("li:contains('x')", "li:contains('x')"),
            ("div:haschild(p)", "div:has(> p)"),
            ("input:disabled", "input:is([disabled])"),
            ("a::before", "a::before"),
            ("[x", "[x"),
            ("\\:input", "\\:input"),
        ] {
            assert_eq!(in_css(written), css);
        }
    }

    proptest! {
        #[test]
        fn no_selector_panics(written in "[a-z\\[\\]:('\")\\\\ =!é>]{0,24}") {
            in_css(&written);
            super::Selector::parse(&written);
        }
    }
}

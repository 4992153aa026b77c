//! Selectors as k6 reads them: CSS, and what jQuery adds to it.
//!
//! The additions are put into words of CSS before the parser sees them. Must not know pages.
//! Invariants: a selector that cannot be read matches nothing; the parser and the matcher, which go down
//! into their own stack for each part of a selector, do so on a stack that is large enough for
//! [`PARTS_MAX`].

use dom_query::{Matcher, NodeRef};

use super::parse::Refusal;
use crate::room::with_room;

/// Parts that a selector may have: nobody writes more.
pub(super) const PARTS_MAX: usize = 500;
/// Parentheses that may be open at a time.
pub(super) const LEVELS_MAX: usize = 50;
/// Parts for which the stack of a virtual user does, however deep its script has gone.
const PARTS_IN_PLACE: usize = 3;
/// Bytes of a stack for the others: a part takes up to 14 kB in a build that is not optimised.
const ROOM_BYTES: usize = 16 << 20;

/// What a user fills in.
macro_rules! fields {
    () => {
        ":is(button,input,select,textarea,option)"
    };
}

/// What holds others and can be disabled itself.
macro_rules! holders {
    () => {
        ":is(fieldset,optgroup,menuitem)"
    };
}

/// What a user cannot fill in: by itself, or in a set of fields that is disabled, the first legend of which
/// stays as it is.
macro_rules! off {
    () => {
        concat!(
            fields!(),
            ":is([disabled],fieldset[disabled] > :not(legend),fieldset[disabled] > :not(legend) *,",
            "fieldset[disabled] > legend ~ legend *)"
        )
    };
}

/// What stands for a name of jQuery's own.
const WORDS: [(&str, &str); 5] = [
    (
        "checked",
        ":is(option[selected],input[type=checkbox][checked],input[type=radio][checked])",
    ),
    (
        "disabled",
        concat!(":is(", off!(), ",", holders!(), "[disabled])"),
    ),
    (
        "enabled",
        concat!(
            ":is(",
            fields!(),
            ":not(",
            off!(),
            "),",
            holders!(),
            ":not([disabled]),:is(a,area,link)[href])"
        ),
    ),
    ("input", ":is(input,select,textarea,button)"),
    // The parser's tree takes the document for an element around the first one.
    ("root", ":is(html)"),
];

/// A selector, parsed.
pub(super) struct Selector {
    /// `None`: it cannot be read.
    matcher: Option<Matcher>,
    /// Whether a virtual user's own stack is too small for it.
    is_deep: bool,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// It is too long or too deep, or there is no memory for its depth.
    pub(super) fn parse(written: &str) -> Result<Selector, Refusal> {
        let css = in_css(written);
        let (parts, levels) = extent(&css);
        if parts > PARTS_MAX || levels > LEVELS_MAX {
            return Err(Refusal::TooManyParts);
        }
        let is_deep = parts > PARTS_IN_PLACE;
        let matcher = roomy(is_deep, || Matcher::new(&css).ok())?;
        Ok(Selector { matcher, is_deep })
    }

    /// Those of some elements that it matches. What was counted for one helps with the next.
    ///
    /// # Errors
    /// There is no memory for its depth.
    pub(super) fn matching<'a>(
        &self,
        elements: impl Iterator<Item = (u32, NodeRef<'a>)>,
    ) -> Result<Vec<u32>, Refusal> {
        let Some(matcher) = &self.matcher else {
            return Ok(Vec::new());
        };
        let mut caches = Default::default();
        let matches =
            |(_, node): &(u32, NodeRef<'_>)| matcher.match_element_with_caches(node, &mut caches);
        roomy(self.is_deep, || {
            elements.filter(matches).map(|(at, _)| at).collect()
        })
    }
}

/// Does work in place, or with room for what is deep.
fn roomy<T>(is_deep: bool, work: impl FnOnce() -> T) -> Result<T, Refusal> {
    if is_deep {
        with_room(ROOM_BYTES, work).map_err(|_| Refusal::NoMemory)
    } else {
        Ok(work())
    }
}

/// How many parts the longest of a list of selectors has at most, and how many parentheses are open at a time
/// in it.
fn extent(css: &str) -> (usize, usize) {
    let (mut parts, mut most) = (0, 0);
    let (mut level, mut deepest) = (0_usize, 0);
    let mut rest = css;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' | '\'' => quoted(rest, first),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
        match first {
            '(' => level += 1,
            ')' => level = level.saturating_sub(1),
            ',' if level == 0 => parts = 0,
            _ => {}
        }
        let is_combinator = |c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~');
        let goes_on = rest[taken..].starts_with(is_combinator);
        parts += usize::from(first == '(' || (is_combinator(first) && !goes_on));
        (most, deepest) = (most.max(parts), deepest.max(level));
        rest = &rest[taken..];
    }
    (most, deepest)
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

    use super::{extent, in_css};

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
            ("b:root", "b:is(html)"),
            ("a::before", "a::before"),
            ("[x", "[x"),
            ("\\:input", "\\:input"),
        ] {
            assert_eq!(in_css(written), css);
        }
    }

    #[test]
    fn parts_are_counted_for_each_of_a_list() {
        for (css, expected) in [
            ("", (0, 0)),
            ("p", (0, 0)),
            ("div > p  a", (2, 0)),
            ("a b,c d e", (2, 0)),
            (":not(:is(p, a b))", (4, 2)),
            ("a[b=\"( > (\"]:x", (0, 0)),
            ("a\\(b)", (0, 0)),
        ] {
            assert_eq!(extent(css), expected, "{css}");
        }
    }

    proptest! {
        #[test]
        fn no_selector_panics(written in "[a-z\\[\\]:('\")\\\\ =!é>]{0,24}") {
            in_css(&written);
            let _ = super::Selector::parse(&written);
        }
    }
}

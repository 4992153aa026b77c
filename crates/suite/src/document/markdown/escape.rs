//! Escapes foreign text for Markdown: markup is escaped, everything else stays as it is.
//!
//! The rules are CommonMark's (0.31) with GitHub's tables and strikethrough. Must not know what the text is.
//! Invariant: a reader of the rendered page sees the original characters, and a line stays one line.

use std::borrow::Cow;

/// Where a text is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPlace {
    /// In a cell of a table, where line ends are breaks.
    Cell,
    /// In a line of words: a heading, an entry of a list, the text of a link. Line ends are spaces.
    Line,
}

/// The text as Markdown.
pub(super) fn escaped(text: &str, place: TextPlace) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, place, &mut out);
    out
}

/// Appends the text as Markdown, blanks around it left out.
pub(super) fn escape(text: &str, place: TextPlace, out: &mut String) {
    let text = text.trim();
    if is_plain(text, place) {
        out.push_str(text);
        return;
    }
    let number = opens_list(text).filter(|_| place == TextPlace::Line);
    let mut before = None;
    // The position of the bracket that ends the number of a component.
    let mut index_end = None;
    for (at, sign) in text.char_indices() {
        let rest = &text[at + sign.len_utf8()..];
        match (sign, place) {
            ('\n', TextPlace::Cell) => out.push_str("<br>"),
            ('\r', TextPlace::Cell) => {}
            (sign, _) if sign.is_ascii_control() => out.push(' '),
            ('[', _) if before.is_some_and(char::is_alphanumeric) && index(rest).is_some() => {
                index_end = index(rest).map(|end| at + 1 + end);
                out.push(sign);
            }
            (']', _) if index_end == Some(at) => out.push(sign),
            _ => {
                if is_markup(sign, before, rest)
                    || (place == TextPlace::Line && is_line_markup(sign, at, number, before))
                {
                    out.push('\\');
                }
                out.push(sign);
            }
        }
        before = Some(sign);
    }
}

/// Whether nothing in a text can be markup: most cells are numbers with their units.
fn is_plain(text: &str, place: TextPlace) -> bool {
    let is_word =
        |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b" .,%/()=-+:;'\"?@".contains(&b);
    let is_marked = || text.starts_with(['-', '+']) || opens_list(text).is_some();
    text.bytes().all(is_word) && (place == TextPlace::Cell || !is_marked())
}

/// Whether a character may be markup wherever it is.
fn is_markup(sign: char, before: Option<char>, rest: &str) -> bool {
    let next = rest.chars().next();
    match sign {
        '\\' | '`' | '*' | '[' | ']' | '~' | '|' => true,
        // Within a word it is not markup.
        '_' => {
            !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric))
        }
        '<' => {
            next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
        }
        '&' => is_entity(rest),
        _ => false,
    }
}

/// The position of the bracket that ends a number in brackets, as in `pods[3]`; `None` if it might be a link.
fn index(rest: &str) -> Option<usize> {
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = rest.bytes().skip(end);
    let is_index = end > 0 && behind.next() == Some(b']');
    let is_link = matches!(behind.next(), Some(b'(' | b'[' | b':'));
    (is_index && !is_link).then_some(end)
}

/// Whether what follows `&` makes a character reference of it.
fn is_entity(rest: &str) -> bool {
    let Some((name, _)) = rest.split_once(';') else {
        return false;
    };
    let digits = name.strip_prefix('#').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether a sign makes of its line something else than words; `number` is where a number of a list ends.
fn is_line_markup(sign: char, at: usize, number: Option<usize>, before: Option<char>) -> bool {
    match sign {
        // At the end of a heading, too.
        '#' => before.is_none_or(|before| before.is_whitespace() || before == '#'),
        '>' | '+' | '-' => at == 0,
        '.' | ')' => number == Some(at),
        _ => false,
    }
}

/// The position of the `.` or `)` that turns a line into a list item.
fn opens_list(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = text.bytes().skip(digits);
    let is_end = matches!(rest.next(), Some(b'.' | b')'));
    let is_entry = rest.next().is_none_or(|sign| sign.is_ascii_whitespace());
    (digits > 0 && is_end && is_entry).then_some(digits)
}

/// The text without escapes, for comparing what people typed with what is written here.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match signs.peek() {
            Some(next) if sign == '\\' && next.is_ascii_punctuation() => out.extend(signs.next()),
            _ => out.push(sign),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    /// The words that a reader sees of a document, and the kinds of markup that it holds.
    fn read(document: &str) -> (String, Vec<String>) {
        let mut words = String::new();
        let mut markup = Vec::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for event in Parser::new_ext(document, options) {
            match event {
                Event::Text(text) => words.push_str(&text),
                Event::InlineHtml(html) if &*html == "<br>" => words.push('\n'),
                Event::SoftBreak | Event::HardBreak => words.push('⏎'),
                Event::Start(
                    Tag::Table(_)
                    | Tag::TableHead
                    | Tag::TableRow
                    | Tag::TableCell
                    | Tag::List(None)
                    | Tag::Item,
                )
                | Event::End(
                    TagEnd::Table
                    | TagEnd::TableHead
                    | TagEnd::TableRow
                    | TagEnd::TableCell
                    | TagEnd::List(_)
                    | TagEnd::Item,
                ) => {}
                other => markup.push(format!("{other:?}")),
            }
        }
        (words, markup)
    }

    fn in_cell(text: &str) -> (String, Vec<String>) {
        read(&format!(
            "| |\n| --- |\n| {} |\n",
            escaped(text, TextPlace::Cell)
        ))
    }

    fn in_line(text: &str) -> (String, Vec<String>) {
        read(&format!("- {}\n", escaped(text, TextPlace::Line)))
    }

    const HOSTILE: [&str; 24] = [
        "<b>bold</b>",
        "&amp;",
        "*x*",
        "_x_",
        "`code`",
        "a|b",
        "a\\|b",
        "two\nlines",
        "[text](http://h/)",
        "![i](x.png)",
        "# heading",
        "- entry",
        "1. entry",
        "12) entry",
        "> quote",
        "~~gone~~",
        "<!-- comment -->",
        "<http://h/>",
        "&#35;",
        "a\\",
        "snake_case_name",
        "2 < 3 & 4 > 1",
        "***",
        "`` ` ``",
    ];

    #[test]
    fn markup_from_outside_is_read_as_it_was_written() {
        for text in HOSTILE {
            assert_eq!(
                in_cell(text),
                (text.to_owned(), Vec::new()),
                "{text:?} in a cell"
            );
            let line = text.replace('\n', " ");
            assert_eq!(in_line(text), (line, Vec::new()), "{text:?} in a line");
        }
    }

    #[test]
    fn what_is_no_markup_stays_readable() {
        for text in [
            "K6 = 6.752, httpbin_repl_1 = 2.94",
            "# Samples",
            "13177 rps (12990 rps to 13340 rps)",
            "a < 5 && b > 3",
            "http://h/a?b=1&c=2",
            "remote - windows",
            "pods[1] = 92m, pods[12] = 1m",
            "u:300, d: 60m",
        ] {
            assert_eq!(escaped(text, TextPlace::Cell), text);
        }
        assert_eq!(escaped("a[1](b)", TextPlace::Cell), "a\\[1\\](b)");
        assert_eq!(escaped("a_b*", TextPlace::Cell), "a_b\\*");
        assert_eq!(escaped("C #", TextPlace::Line), "C \\#");
        assert_eq!(escaped("127.0.0.1:80", TextPlace::Line), "127.0.0.1:80");
    }

    #[test]
    fn escapes_are_taken_back() {
        for text in HOSTILE {
            let text = text.replace('\n', " ");
            assert_eq!(unescaped(&escaped(&text, TextPlace::Line)), text);
        }
    }

    proptest! {
        #[test]
        fn text_survives_as_text(text in "[a-z0-9 <>&;#*_`|~!\\[\\]()\\\\\"'=+.:/é\n-]{0,24}") {
            let lines = text.trim();
            let (words, markup) = in_cell(lines);
            prop_assert_eq!(&markup, &Vec::<String>::new(), "{}", escaped(lines, TextPlace::Cell));
            // Blanks around a break are no words.
            let blanks = |text: &str| text.split('\n').map(str::trim).collect::<Vec<_>>().join("\n");
            prop_assert_eq!(blanks(&words), blanks(lines));
            let line = lines.replace('\n', " ");
            let (words, markup) = in_line(lines);
            prop_assert_eq!(&markup, &Vec::<String>::new(), "{}", escaped(lines, TextPlace::Line));
            prop_assert_eq!(words.trim(), line.trim());
            let written = escaped(&line, TextPlace::Line);
            prop_assert_eq!(unescaped(&written), line);
        }
    }
}

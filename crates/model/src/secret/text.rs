//! Removes secrets from texts of any kind: URLs, queries, forms, JSON, header lines.
//!
//! Must not know what a text is for. Invariant: one pass, in time linear in the length of the text.

use std::borrow::Cow;

use super::{HIDDEN, is_secret_name};

/// The value of a header or parameter: hidden if its name is secret, otherwise without the secrets in the text
/// itself.
#[must_use]
pub fn redacted_field<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    match is_secret_name(name) {
        true => Cow::Borrowed(HIDDEN),
        false => redacted_text(value),
    }
}

/// A text without user and password in its URLs, and without the values of `name=value`, `"name": "value"` and
/// `Name: value` at the start of a line if the name is secret.
#[must_use]
pub fn redacted_text(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find([':', '=']) {
        let mark = at + found;
        at = match secret_at(text, mark) {
            Some((start, end)) => {
                spans.push((start, end));
                end.max(mark + 1)
            }
            None => mark + 1,
        };
    }
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut kept = 0;
    for (start, end) in spans {
        redacted.push_str(&text[kept..start]);
        redacted.push_str(HIDDEN);
        kept = end;
    }
    redacted.push_str(&text[kept..]);
    Cow::Owned(redacted)
}

/// The range of the secret that the `:` or `=` at this position introduces.
fn secret_at(text: &str, mark: usize) -> Option<(usize, usize)> {
    let (before, after) = (&text[..mark], &text[mark + 1..]);
    let is_pair = text.as_bytes()[mark] == b'=';
    if !is_pair && after.starts_with("//") {
        return user_of_url(text, mark + 3);
    }
    let (name, is_quoted) = name_before(before);
    if !is_secret_name(name) {
        return None;
    }
    let start = mark + 1 + leading_spaces(after, is_pair);
    let value = &text[start..];
    // A quote inside a quoted text is preceded by a backslash.
    let opening = ["\\\"", "\"", "'"]
        .into_iter()
        .find(|quote| value.starts_with(quote));
    let end = match opening {
        Some(quote) => {
            let start = start + quote.len();
            return some_span(start, start + quoted_length(&text[start..], quote));
        }
        None if is_pair => value.find(ends_value).unwrap_or(value.len()),
        None if is_quoted && value.starts_with('[') => {
            value.find(']').map_or(value.len(), |closing| closing + 1)
        }
        None if is_quoted => value.find([',', '}', ']', '\n']).unwrap_or(value.len()),
        None => match before_line(before, name) {
            Some(quote) => line_length(value, quote),
            None => 0,
        },
    };
    some_span(start, start + end)
}

fn some_span(start: usize, end: usize) -> Option<(usize, usize)> {
    (end > start).then_some((start, end))
}

/// The password of `user:password@` after `scheme://`, hidden as Go does; a user without a password may be a
/// token.
fn user_of_url(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = &text[start..];
    let ends = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\\' | '<' | '>') || c.is_control();
    let host = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let word = host.split(char::is_whitespace).next().unwrap_or_default();
    let has_spaces = || may_go_on(word) || is_in_quotes(&text[..start]);
    let at = word
        .rfind('@')
        .or_else(|| host.rfind('@').filter(|_| has_spaces()))?;
    let password = rest[..at].find(':').map_or(0, |colon| colon + 1);
    some_span(start + password, start + at)
}

/// Whether the text before a space may be a user and the start of a password, rather than a host and its port.
fn may_go_on(word: &str) -> bool {
    let (_, password) = word.split_once(':').unwrap_or_default();
    password.contains(|c: char| !c.is_ascii_digit())
}

/// Whether the scheme at the end of a text is preceded by a quote.
fn is_in_quotes(before: &str) -> bool {
    let scheme = before.trim_end_matches("://");
    scheme
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric())
        .ends_with('"')
}

/// The name that ends here, and whether it is quoted.
fn name_before(before: &str) -> (&str, bool) {
    let unquoted = before
        .strip_suffix("\\\"")
        .or_else(|| before.strip_suffix(['"', '\'']));
    let text = unquoted.unwrap_or(before);
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '%' | '[' | ']');
    let start = text.rfind(|c| !is_part(c)).map_or(0, |last| {
        last + text[last..].chars().next().map_or(1, char::len_utf8)
    });
    // The quote closes a URL, not a name: `Post "http://host/token": connection refused`.
    let is_url = unquoted.is_some() && text[..start].ends_with(['/', '?', '&', '#']);
    let name = if is_url { "" } else { &text[start..] };
    (name, unquoted.is_some())
}

/// After `:`, spaces precede the value; after `=`, they end it.
fn leading_spaces(after: &str, is_pair: bool) -> usize {
    match is_pair {
        true => 0,
        false => after.len() - after.trim_start_matches([' ', '\t']).len(),
    }
}

/// Length of a quoted text: to its closing quote, or to the end.
fn quoted_length(text: &str, quote: &str) -> usize {
    let mut at = 0;
    while let Some(found) = text[at..].find(quote) {
        let end = at + found;
        if quote != "\"" || !text[..end].ends_with('\\') {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

fn ends_value(c: char) -> bool {
    matches!(
        c,
        '&' | ';' | ',' | '"' | '\\' | '\'' | '<' | '>' | ')' | '#'
    ) || c.is_whitespace()
}

/// The quote that opens the line on which a name is the first text, like that of a header; empty without one. `None`:
/// it is not the first.
fn before_line(before: &str, name: &str) -> Option<&'static str> {
    let ahead = &before[..before.len() - name.len()];
    let mut quotes = ["\\\"", "\"", "'"].into_iter();
    let quote = quotes.find(|quote| ahead.ends_with(quote));
    let is_first = || ahead.is_empty() || ahead.ends_with(['\n', '\r']);
    quote.or_else(|| is_first().then_some(""))
}

/// The length of what stands behind a name at the start of a line: up to the line's end, or the closing quote.
fn line_length(value: &str, quote: &str) -> usize {
    let line = value.find(['\r', '\n']).unwrap_or(value.len());
    match quote {
        "" => line,
        quote => quoted_length(&value[..line], quote),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_texts_are_hidden() {
        for (text, redacted) in [
            ("http://u:p@h/", "http://u:***@h/"),
            ("http://u:p w@h/: refused", "http://u:***@h/: refused"),
            ("Get \"http://u w:1@h/\": x", "Get \"http://u w:***@h/\": x"),
            ("http://u@h:1/@", "http://***@h:1/@"),
            (
                "http://h/?a=1&access_token=t&b=2",
                "http://h/?a=1&access_token=***&b=2",
            ),
            ("/p?sig=a%2Fb#f", "/p?sig=***#f"),
            (
                "Get \"http://u:p@h/?api_key=k\": refused",
                "Get \"http://u:***@h/?api_key=***\": refused",
            ),
            (
                "msg=\"Get \\\"http://u:p@h/?api_key=k\\\": x\"",
                "msg=\"Get \\\"http://u:***@h/?api_key=***\\\": x\"",
            ),
            ("password=p&user=u", "password=***&user=u"),
            (
                "{\"password\": \"a\\\"b\", \"n\": 1}",
                "{\"password\": \"***\", \"n\": 1}",
            ),
            ("{\\\"token\\\":\\\"t\\\"}", "{\\\"token\\\":\\\"***\\\"}"),
            ("{\"pwd\":12,\"n\":1}", "{\"pwd\":***,\"n\":1}"),
            ("Authorization: Bearer t", "Authorization: ***"),
            (
                "A: b\r\nX-Api-Key: k\r\nC: d",
                "A: b\r\nX-Api-Key: ***\r\nC: d",
            ),
            (
                "msg=\"Authorization: Basic \\\"t\\\"\" source=cli",
                "msg=\"Authorization: ***\" source=cli",
            ),
            (
                "{\"msg\":\"API_TOKEN: t\",\"n\":1}",
                "{\"msg\":\"API_TOKEN: ***\",\"n\":1}",
            ),
            ("'X-Api-Key: k', 'A: b'", "'X-Api-Key: ***', 'A: b'"),
            ("user[password]=p", "user[password]=***"),
            ("é token=ü x", "é token=*** x"),
            ("token=\"a b\" c", "token=\"***\" c"),
            (
                "{\"X-Api-Key\": [\n \"k\"\n ], \"n\": 1}",
                "{\"X-Api-Key\": ***, \"n\": 1}",
            ),
        ] {
            assert_eq!(redacted_text(text), redacted, "{text}");
            assert_eq!(redacted_text(redacted), redacted, "twice is once: {text}");
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "",
            "http://h:80/p?a=b",
            "a wrong or missing token: open it",
            "invalid character '}' after token: x",
            "mailto:a@b",
            "http://h:80 is down, ask a@b",
            "http://h is down\na@b",
            "==::==",
            "http://",
            "token=",
            "\"token\":",
            "user@host",
            "Post \"http://h/oauth/token\": dial tcp 127.0.0.1:1: connect: connection refused",
            "msg=\"Get \\\"http://h/session\\\": refused\"",
        ] {
            assert_eq!(redacted_text(text), text);
        }
        assert_eq!(redacted_field("Accept", "*/*"), "*/*");
        assert_eq!(redacted_field("X-Api-Key", "k"), HIDDEN);
        assert_eq!(
            redacted_field("Referer", "http://u:p@h/"),
            "http://u:***@h/"
        );
    }
}

//! Invalid HTTP responses, in Go's words.
//!
//! Source: what hey 0.1.5 and bombardier 2.0.2 printed for such responses. Reasons are recognised by loadline's
//! own messages; an unknown one is passed on unchanged. Invariant: the sample of the received data stays,
//! because it shows which protocol the other side speaks.

use std::borrow::Cow;

use loadline_go::malformed::{chunk_size_fault, status_line_fault};
use loadline_go::quote::{end_of_quoted, quoted_bytes, unquote};

/// Words of our messages about the first line of a response.
const FIRST_LINES: &[&str] = &[
    "not HTTP",
    "speaks TLS",
    "speaks HTTP/2",
    "HTTP version",
    "status line",
];
/// Words of our message about a line of the head, and Go's words for it.
const HEADER_LINES: &[(&str, &str)] = &[
    (
        "header line (no colon)",
        "malformed MIME header: missing colon: ",
    ),
    (
        "header line (white space before the first name)",
        "malformed MIME header initial line: ",
    ),
    ("header line", "malformed MIME header line: "),
    (
        "malformed Content-Length: \"\"",
        "invalid empty Content-Length ",
    ),
    ("malformed Content-Length", "bad Content-Length "),
    (
        "unsupported Transfer-Encoding",
        "unsupported transfer encoding: ",
    ),
];

/// What is wrong with the head of a response; the detail itself if its words are unknown.
pub(super) fn head(detail: &str) -> String {
    if let Some((first, second)) = content_lengths(detail) {
        let got = format!("[\"{first}\" \"{second}\"]");
        return format!("http: message cannot contain multiple Content-Length headers; got {got}");
    }
    let Some(sample) = sample(detail) else {
        return match detail {
            "" => "malformed HTTP response".to_owned(),
            detail => detail.to_owned(),
        };
    };
    if FIRST_LINES.iter().any(|words| detail.contains(words)) {
        let line = first_line(&sample);
        return status_line_fault(line)
            .unwrap_or_else(|| format!("malformed HTTP response {}", quoted_bytes(line)));
    }
    match HEADER_LINES
        .iter()
        .find(|(words, _)| detail.contains(words))
    {
        Some((_, go)) => format!("{go}{}", quoted_bytes(first_line(&sample))),
        None => detail.to_owned(),
    }
}

/// The bytes of the sample that a detail shows.
fn sample(detail: &str) -> Option<Vec<u8>> {
    let quoted = &detail[detail.find('"')?..];
    let inner = &quoted[1..end_of_quoted(quoted, '"')?];
    // We escape a character that Go only escapes in single quotes.
    let inner = match inner.contains(r"\'") {
        true => Cow::Owned(inner.replace(r"\'", "'")),
        false => Cow::Borrowed(inner),
    };
    unquote(&inner, '"').ok()
}

/// The first line of a sample: Go reads no further.
fn first_line(sample: &[u8]) -> &[u8] {
    let end = sample.iter().position(|&byte| byte == b'\n');
    let line = &sample[..end.unwrap_or(sample.len())];
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What is wrong with the body; `None` when it is the head that is wrong.
pub(super) fn body(detail: &str) -> Option<&'static str> {
    if detail.contains("after a chunk") {
        return Some("malformed chunked encoding");
    }
    if detail.contains("as long as its content-length") {
        return Some("unexpected EOF");
    }
    detail
        .contains("chunk size")
        .then(|| chunk_size_fault(&sample(detail).unwrap_or_default()))
}

/// The part of a response that is longer than Go reads; `None` if it is the head.
pub(super) fn too_large(detail: &str) -> Option<&'static str> {
    match () {
        () if detail.contains("chunk-size line") => Some("header line too long"),
        () if detail.contains("trailers") => {
            Some("http: suspiciously long trailer after chunked body")
        }
        () => None,
    }
}

fn content_lengths(detail: &str) -> Option<(&str, &str)> {
    detail
        .split_once("two Content-Length values: ")?
        .1
        .split_once(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_read_as_gos() {
        for (detail, go) in [
            (
                "the target sent two Content-Length values: 2 and 3",
                "http: message cannot contain multiple Content-Length headers; got [\"2\" \"3\"]",
            ),
            (
                "the target's response is not HTTP/1.x: \"garbage is here\"",
                "malformed HTTP status code \"is\"",
            ),
            (
                r#"the target's response is not HTTP/1.x: "garbage\r\n\r\n""#,
                "malformed HTTP response \"garbage\"",
            ),
            (
                r#"the target's response is not HTTP/1.x: "http/1.1 200 it\'s\r\n""#,
                "malformed HTTP version \"http/1.1\"",
            ),
            (
                r#"the target sent a malformed status line: "HTTP/1.1 20 OK""#,
                "malformed HTTP status code \"20\"",
            ),
            (
                r#"the target sent a malformed header line (no colon): "xyz\r""#,
                "malformed MIME header: missing colon: \"xyz\"",
            ),
            (
                r#"the target sent a malformed header line (empty name): ": y\r""#,
                "malformed MIME header line: \": y\"",
            ),
            (
                "malformed HTTP status code \"is\"",
                "malformed HTTP status code \"is\"",
            ),
            (
                "the target sent an unsupported Transfer-Encoding: \"gzip, chunked\"",
                "unsupported transfer encoding: \"gzip, chunked\"",
            ),
            (
                "the target sent a malformed Content-Length: \"\"",
                "invalid empty Content-Length \"\"",
            ),
            (
                r#"the target sent a malformed Content-Length: "\xef\xbc\x92""#,
                "bad Content-Length \"\u{ff12}\"",
            ),
            ("", "malformed HTTP response"),
        ] {
            assert_eq!(head(detail), go);
        }
    }

    #[test]
    fn bodies_read_as_gos() {
        for (detail, go) in [
            (
                "the target sent a malformed chunk size: \"zz\"",
                Some("invalid byte in chunk length"),
            ),
            (
                r#"the target sent a malformed chunk size: "2\nok\n0\n\n""#,
                Some("chunked line ends with bare LF"),
            ),
            ("the target's response is not HTTP/1.x: \"x\"", None),
        ] {
            assert_eq!(body(detail), go);
        }
        let long = "the target sent trailers longer than 8192 bytes";
        assert_eq!(
            too_large(long),
            Some("http: suspiciously long trailer after chunked body")
        );
        assert_eq!(too_large("the target's response head is longer"), None);
    }
}

//! Answers that are no valid HTTP, in Go's words.
//!
//! Source: what hey 0.1.5 and bombardier 2.0.2 printed for such answers. The reasons are found by
//! the words of our own messages; one that is not known is passed on as it is. Invariant: the
//! sample of what was received stays, because it shows what the other side speaks.

/// Words of our message, Go's words for it, and whether the sample follows them.
const HEADS: &[(&str, &str, bool)] = &[
    ("not HTTP", "malformed HTTP response ", true),
    ("speaks TLS", "malformed HTTP response ", true),
    ("speaks HTTP/2", "malformed HTTP response ", true),
    ("HTTP version", "malformed HTTP version ", true),
    ("status line", "malformed HTTP response ", true),
    ("header line", "malformed MIME header line: ", true),
    (
        "malformed Content-Length: \"\"",
        "invalid empty Content-Length ",
        true,
    ),
    ("malformed Content-Length", "bad Content-Length ", true),
    (
        "unsupported Transfer-Encoding",
        "unsupported transfer encoding: ",
        true,
    ),
];
/// The same for what comes after the head.
const BODIES: &[(&str, &str)] = &[
    ("chunk size", "invalid byte in chunk length"),
    ("after a chunk", "malformed chunked encoding"),
];

/// What is wrong with the head of an answer; the detail itself when its words are not known.
pub(super) fn head(detail: &str) -> String {
    if let Some((first, second)) = content_lengths(detail) {
        let got = format!("[\"{first}\" \"{second}\"]");
        return format!("http: message cannot contain multiple Content-Length headers; got {got}");
    }
    let known = HEADS.iter().find(|(words, _, _)| detail.contains(words));
    match (known, detail.find('"')) {
        _ if detail.is_empty() => "malformed HTTP response".to_owned(),
        (Some((_, go, true)), Some(sample)) => format!("{go}{}", first_line(&detail[sample..])),
        (Some((_, go, _)), _) => go.trim_end().trim_end_matches(':').to_owned(),
        (None, _) => detail.to_owned(),
    }
}

/// A quoted sample as far as its first line goes: Go reads no further.
fn first_line(sample: &str) -> String {
    match sample.find(r"\r\n") {
        Some(end) => format!("{}\"", &sample[..end]),
        None => sample.to_owned(),
    }
}

/// What is wrong with the body; `None` when it is the head that is wrong.
pub(super) fn body(detail: &str) -> Option<&'static str> {
    BODIES
        .iter()
        .find(|(words, _)| detail.contains(words))
        .map(|(_, go)| *go)
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
                "malformed HTTP response \"garbage is here\"",
            ),
            (
                r#"the target's response is not HTTP/1.x: "garbage\r\n\r\n""#,
                "malformed HTTP response \"garbage\"",
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
            ("", "malformed HTTP response"),
        ] {
            assert_eq!(head(detail), go);
        }
        assert_eq!(
            body("the target sent a malformed chunk size: \"zz\""),
            Some("invalid byte in chunk length")
        );
        assert_eq!(body("the target's response is not HTTP/1.x: \"x\""), None);
    }
}

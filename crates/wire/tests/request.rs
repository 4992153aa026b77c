//! Tests of the request head builder through its public interface.
//!
//! Invariant: for any strings at all, the result has exactly the requested lines.

use loadline_wire::{RequestError, RequestHead, RequestTarget, TargetFault};
use proptest::prelude::*;

fn get() -> RequestHead {
    RequestHead::new("GET", RequestTarget::Origin("/")).host("h")
}

#[test]
fn lines_keep_order_and_case() {
    let head = RequestHead::new("POST", RequestTarget::Origin("/a?b=c"))
        .header("x-FIRST", "1")
        .host("example.org:8080")
        .header("X-Empty", "")
        .header("X-High", [0xe9, b'\t'])
        .content_length(u64::MAX)
        .finish();
    let expected = b"POST /a?b=c HTTP/1.1\r\nx-FIRST: 1\r\nHost: example.org:8080\r\nX-Empty: \r\n\
        X-High: \xe9\t\r\nContent-Length: 18446744073709551615\r\n\r\n";
    assert_eq!(head.as_deref(), Ok(&expected[..]));
}

#[test]
fn every_form_of_target() {
    let cases = [
        (
            "GET",
            RequestTarget::Absolute("http://h/a"),
            "GET http://h/a HTTP/1.1\r\n",
        ),
        (
            "CONNECT",
            RequestTarget::Authority("h:443"),
            "CONNECT h:443 HTTP/1.1\r\n",
        ),
        (
            "CONNECT",
            RequestTarget::Authority("[::1]:443"),
            "CONNECT [::1]:443 HTTP/1.1\r\n",
        ),
        ("OPTIONS", RequestTarget::Asterisk, "OPTIONS * HTTP/1.1\r\n"),
    ];
    for (method, target, line) in cases {
        let head = RequestHead::new(method, target).host("h").finish();
        assert_eq!(head, Ok(format!("{line}Host: h\r\n\r\n").into_bytes()));
    }
}

#[test]
fn the_given_memory_is_used_again() {
    let buffer = Vec::with_capacity(4_096);
    let place = buffer.as_ptr();
    let head = RequestHead::reusing(buffer, "GET", RequestTarget::Origin("/"))
        .host("h")
        .finish();
    let head = head.expect("the head is sound");
    assert_eq!((head.as_ptr(), head.capacity()), (place, 4_096));
    let head = RequestHead::reusing(head, "GET", RequestTarget::Origin("/b"))
        .chunked()
        .host("h");
    let expected = b"GET /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\n\r\n";
    assert_eq!(head.finish().as_deref(), Ok(&expected[..]));
}

#[test]
fn bad_targets_are_refused() {
    let cases = [
        ("GET", RequestTarget::Origin(""), TargetFault::Empty),
        ("GET", RequestTarget::Origin("/a b"), TargetFault::Byte),
        ("GET", RequestTarget::Origin("/\r\nX: y"), TargetFault::Byte),
        ("GET", RequestTarget::Origin("/a#b"), TargetFault::Byte),
        ("GET", RequestTarget::Origin("a"), TargetFault::Form),
        ("GET", RequestTarget::Absolute("/a"), TargetFault::Form),
        ("CONNECT", RequestTarget::Authority("h"), TargetFault::Form),
        (
            "CONNECT",
            RequestTarget::Authority("h:65536"),
            TargetFault::Form,
        ),
        (
            "CONNECT",
            RequestTarget::Authority("::1:443"),
            TargetFault::Form,
        ),
        (
            "CONNECT",
            RequestTarget::Authority("u@h:443"),
            TargetFault::Form,
        ),
        (
            "GET",
            RequestTarget::Authority("h:443"),
            TargetFault::Method,
        ),
        ("CONNECT", RequestTarget::Origin("/"), TargetFault::Method),
        ("GET", RequestTarget::Asterisk, TargetFault::Method),
    ];
    for (method, target, expected) in cases {
        match RequestHead::new(method, target).host("h").finish() {
            Err(RequestError::Target { fault, .. }) => assert_eq!(fault, expected, "{target:?}"),
            other => panic!("{target:?} gave {other:?}"),
        }
    }
}

#[test]
fn errors_name_the_header() {
    let origin = RequestTarget::Origin("/");
    let cases: [(RequestHead, &str); 12] = [
        (
            RequestHead::new("G T", origin),
            r#"method "G T" is not a token"#,
        ),
        (RequestHead::new("", origin), r#"method "" is not a token"#),
        (
            get().header("X Y", "1"),
            r#"header name "X Y" is not a token"#,
        ),
        (get().header("", "1"), r#"header name "" is not a token"#),
        (
            get().header("X-A", "1\r\nX-B: 2"),
            r#"header "X-A": byte "\r" at 1"#,
        ),
        (
            get().header("X-A", "\0"),
            r#"header "X-A": byte "\x00" at 0"#,
        ),
        (
            get().header("X-A", "a\x7f"),
            r#"header "X-A": byte "\x7f" at 1"#,
        ),
        (get().host("h"), "header Host is given more than once"),
        (
            get().header("content-length", "1").content_length(1),
            "Content-Length is given more",
        ),
        (
            get().header("Content-Length", "1 "),
            r#"Content-Length cannot have the value "1 ""#,
        ),
        (
            get().content_length(1).chunked(),
            "Content-Length and Transfer-Encoding",
        ),
        (RequestHead::new("GET", origin), "no Host header"),
    ];
    for (head, part) in cases {
        let error = head.finish().expect_err(part);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn the_first_mistake_is_the_one_told() {
    let error = get()
        .header("X A", "")
        .header("X-B", "\n")
        .finish()
        .expect_err("both are wrong");
    assert!(matches!(error, RequestError::HeaderName { .. }), "{error}");
    let host = RequestHead::new("GET", RequestTarget::Origin("/"))
        .host("a/b")
        .finish();
    assert!(
        matches!(host, Err(RequestError::Unusable { name: "Host", .. })),
        "{host:?}"
    );
}

proptest! {
    #[test]
    fn nothing_put_in_adds_a_line(
        method in "[A-Z]{1,6}|[ -~\r\n\0]{0,6}",
        path in "/[!-~]{0,12}|[ -~\r\n\0]{0,12}",
        headers in prop::collection::vec(
            ("[A-Za-z-]{1,8}|[ -~\r\n\0]{0,8}", "[ -~]{0,12}|[ -~\r\n\0]{0,12}"), 0..5),
    ) {
        let begun = RequestHead::new(&method, RequestTarget::Origin(&path)).host("h");
        let filled = headers.iter().fold(begun, |head, (name, value)| head.header(name, value));
        if let Ok(bytes) = filled.finish() {
            let text = String::from_utf8(bytes).expect("ASCII went in");
            let mut expected = vec![format!("{method} {path} HTTP/1.1"), "Host: h".to_owned()];
            expected.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
            expected.extend([String::new(), String::new()]);
            prop_assert_eq!(text.split("\r\n").collect::<Vec<_>>(), expected);
            prop_assert!(!text.replace("\r\n", "").contains(['\r', '\n', '\0']));
        }
    }
}

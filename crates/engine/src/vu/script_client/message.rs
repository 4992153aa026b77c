//! A hop's request as the bytes of HTTP/1.1, framed as Go's `net/http` frames it.
//!
//! Must not know connections. Invariant: nothing in a request can add a line to its head.

use http::HeaderValue;
use http::header::CONTENT_LENGTH;
use loadline_go::header::is_token;
use loadline_go::quote::quoted_bytes;
use loadline_model::ErrorClass;
use loadline_script::hop::HopRequest;

use crate::client::{Http2Body, Http2Message, http2_head};
use crate::net::Failure;

/// Maximum length of a body that is sent in one write with its head.
pub(super) const JOINED_BODY_MAX: usize = 16 * 1024;

/// What the connection adds to a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Additions<'a> {
    /// Whether the connection ends after this request; sent as a header unless the request does so.
    pub(super) close: bool,
    /// Whether the request goes to a proxy, with the whole URL.
    pub(super) via_proxy: bool,
    /// The credentials for the proxy.
    pub(super) proxy_authorization: Option<&'a str>,
}

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiting {
    /// There is none, and no header mentions it.
    Nothing,
    Length(usize),
    /// An empty body whose length Go does not know: only the last chunk is sent.
    NoChunks,
}

/// How Go delimits a body: one that is present but empty has no known length, and its first byte is only probed
/// for methods that usually have no body.
pub(super) fn delimiting(request: &HopRequest) -> Delimiting {
    let method = &*request.method;
    match &request.body {
        Some(body) if !body.is_empty() => Delimiting::Length(body.len()),
        Some(_) => match method {
            "GET" | "HEAD" | "DELETE" | "OPTIONS" | "PROPFIND" | "SEARCH" => Delimiting::Nothing,
            _ => Delimiting::NoChunks,
        },
        None => match method {
            "POST" | "PUT" | "PATCH" => Delimiting::Length(0),
            _ => Delimiting::Nothing,
        },
    }
}

/// Whether the request asks to close the connection.
pub(super) fn asks_to_close(request: &HopRequest) -> bool {
    request.headers.iter().any(|(name, value)| {
        name.len() == 10
            && name.eq_ignore_ascii_case("connection")
            && value
                .split(',')
                .any(|token| token.trim().eq_ignore_ascii_case("close"))
    })
}

/// Whether a request may be sent again if a kept connection ended without a response: Go's rule.
pub(super) fn is_replayable(request: &HopRequest) -> bool {
    matches!(&*request.method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
        || request.headers.iter().any(|(name, _)| {
            name.eq_ignore_ascii_case("Idempotency-Key")
                || name.eq_ignore_ascii_case("X-Idempotency-Key")
        })
}

/// Writes the head of a request, and its body if it is short, into `buffer`.
///
/// # Errors
/// A method, header or target that must not be sent, in Go's words.
pub(super) fn write(
    buffer: &mut Vec<u8>,
    request: &HopRequest,
    additions: Additions<'_>,
) -> Result<(), Failure> {
    check(request)?;
    buffer.clear();
    buffer.extend_from_slice(request.method.as_bytes());
    buffer.push(b' ');
    if additions.via_proxy {
        buffer.extend_from_slice(request.origin.to_string().as_bytes());
    }
    buffer.extend_from_slice(request.target.as_bytes());
    buffer.extend_from_slice(b" HTTP/1.1\r\n");
    let delimiting = delimiting(request);
    let mut is_delimited = false;
    for (name, value) in &request.headers {
        if !is_delimited && !comes_before_framing(name) {
            write_delimiting(buffer, delimiting);
            is_delimited = true;
        }
        if !is_framing(name) {
            write_field(buffer, name, value.trim_ascii());
        }
    }
    if !is_delimited {
        write_delimiting(buffer, delimiting);
    }
    if let Some(credentials) = additions.proxy_authorization {
        write_field(buffer, "Proxy-Authorization", credentials);
    }
    if additions.close && !asks_to_close(request) {
        write_field(buffer, "Connection", "close");
    }
    buffer.extend_from_slice(b"\r\n");
    match (&request.body, delimiting) {
        (_, Delimiting::NoChunks) => buffer.extend_from_slice(b"0\r\n\r\n"),
        (Some(body), _) if body.len() <= JOINED_BODY_MAX => buffer.extend_from_slice(body),
        _ => {}
    }
    Ok(())
}

/// The same for HTTP/2.
///
/// # Errors
/// A method, header or target that must not be sent, in Go's words.
pub(super) fn for_http2(request: &HopRequest) -> Result<Http2Message, Failure> {
    check(request)?;
    check_for_http2(request)?;
    let mut headers = request.headers.iter();
    let host = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = match host {
        Some((_, host)) => host.clone(),
        None => request.origin.authority(),
    };
    let scheme = request.origin.scheme.name();
    let uri = format!("{scheme}://{authority}{}", request.target);
    let fields = request.headers.iter();
    let fields = fields.filter(|(name, value)| !is_framing(name) && !is_left_out(name, value));
    let fields = fields.map(|(name, value)| (&**name, value.trim_ascii().as_bytes()));
    let mut head = http2_head(&request.method, &uri, fields)
        .map_err(|what| unfit(format!("http2: invalid {what}")))?;
    let delimiting = delimiting(request);
    if let Delimiting::Length(length) = delimiting {
        let length = HeaderValue::from(length);
        head.headers_mut().insert(CONTENT_LENGTH, length);
    }
    let body = match delimiting {
        Delimiting::Nothing | Delimiting::Length(0) => Http2Body::None,
        _ => Http2Body::Bytes(request.body.clone().unwrap_or_default()),
    };
    Ok(Http2Message { head, body })
}

/// Fields that HTTP/2 expresses otherwise, or does not allow.
fn is_left_out(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("host") || (name.eq_ignore_ascii_case("te") && value != "trailers")
}

/// Checks the fields of HTTP/1.1 that mean something else than its own framing, as Go does.
fn check_for_http2(request: &HopRequest) -> Result<(), Failure> {
    const ALLOWED: [(&str, &[&str]); 3] = [
        ("Upgrade", &[]),
        ("Transfer-Encoding", &["chunked"]),
        ("Connection", &["close", "keep-alive"]),
    ];
    for (name, allowed) in ALLOWED {
        let mut given = request.headers.iter();
        let given = given.find(|(given, _)| given.eq_ignore_ascii_case(name));
        if let Some((_, value)) = given
            && !value.is_empty()
            && !allowed.iter().any(|one| value.eq_ignore_ascii_case(one))
        {
            let value = quoted_bytes(value.as_bytes());
            return Err(unfit(format!("invalid {name} request header: [{value}]")));
        }
    }
    Ok(())
}

/// The part of the body that [`write()`] did not include.
pub(super) fn rest_of_body(request: &HopRequest) -> &[u8] {
    match &request.body {
        Some(body) if body.len() > JOINED_BODY_MAX => body,
        _ => &[],
    }
}

/// Checks a request against the rules of HTTP, as Go does before connecting.
pub(super) fn check(request: &HopRequest) -> Result<(), Failure> {
    if !is_token(&request.method) {
        let method = quoted_bytes(request.method.as_bytes());
        return Err(unfit(format!("net/http: invalid method {method}")));
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            let name = quoted_bytes(name.as_bytes());
            let what = format!("net/http: invalid header field name {name}");
            return Err(unfit(what));
        }
        if value.bytes().any(|byte| is_control(byte) && byte != b'\t') {
            let name = quoted_bytes(name.as_bytes());
            let what = format!("net/http: invalid header field value for {name}");
            return Err(unfit(what));
        }
    }
    if request.target.bytes().any(is_control) {
        let what = "net/http: can't write control character in Request.URL";
        return Err(unfit(what));
    }
    Ok(())
}

/// A request that must not be sent: the script's fault.
fn unfit(why: impl Into<String>) -> Failure {
    Failure::new(ErrorClass::Request, why)
}

fn write_delimiting(buffer: &mut Vec<u8>, delimiting: Delimiting) {
    match delimiting {
        Delimiting::Nothing => {}
        Delimiting::Length(length) => {
            write_field(buffer, "Content-Length", Digits::of(length).as_str());
        }
        Delimiting::NoChunks => write_field(buffer, "Transfer-Encoding", "chunked"),
    }
}

fn write_field(buffer: &mut Vec<u8>, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        buffer.extend_from_slice(part.as_bytes());
    }
}

/// Go writes these two first, then the fields that delimit the body.
fn comes_before_framing(name: &str) -> bool {
    match name.len() {
        4 => name.eq_ignore_ascii_case("host"),
        10 => name.eq_ignore_ascii_case("user-agent"),
        _ => false,
    }
}

/// Fields that the client itself controls; Go drops them, too.
pub(super) fn is_framing(name: &str) -> bool {
    match name.len() {
        7 => name.eq_ignore_ascii_case("trailer"),
        14 => name.eq_ignore_ascii_case("content-length"),
        17 => name.eq_ignore_ascii_case("transfer-encoding"),
        _ => false,
    }
}

fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

/// A number in decimal, on the stack.
struct Digits {
    bytes: [u8; 20],
    start: usize,
}

impl Digits {
    fn of(mut number: usize) -> Digits {
        let mut digits = Digits {
            bytes: [b'0'; 20],
            start: 20,
        };
        loop {
            digits.start -= 1;
            digits.bytes[digits.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return digits;
            }
        }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).expect("digits are ASCII")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use loadline_model::Nanos;
    use loadline_model::url::parse;

    use super::*;

    fn request(method: &str, body: Option<&'static str>, headers: &[(&str, &str)]) -> HopRequest {
        let field = |(name, value): &(&str, &str)| (Arc::from(*name), (*value).to_owned());
        HopRequest {
            method: Arc::from(method),
            origin: Arc::new(parse("http://h:81/").expect("a good URL").origin),
            target: "/p?q".to_owned(),
            headers: headers.iter().map(field).collect(),
            body: body.map(|text| Bytes::from_static(text.as_bytes())),
            deadline: Nanos::MAX,
            follows: false,
            keep_body: true,
            leads_on: false,
        }
    }

    fn written(request: &HopRequest, additions: Additions<'_>) -> String {
        let mut buffer = b"left over".to_vec();
        write(&mut buffer, request, additions).expect("may be sent");
        String::from_utf8(buffer).expect("the test's text")
    }

    #[test]
    fn heads_are_laid_out_as_gos() {
        let headers = [
            ("Host", "h:81"),
            ("User-Agent", "u"),
            ("Content-Length", "77"),
            ("X", " a\tb "),
            ("Trailer", "t"),
        ];
        assert_eq!(
            written(
                &request("POST", Some("abc"), &headers),
                Additions::default()
            ),
            "POST /p?q HTTP/1.1\r\nHost: h:81\r\nUser-Agent: u\r\nContent-Length: 3\r\n\
             X: a\tb\r\n\r\nabc"
        );
        let close = Additions {
            close: true,
            via_proxy: true,
            proxy_authorization: Some("Basic x"),
        };
        assert_eq!(
            written(&request("GET", None, &headers[..1]), close),
            "GET http://h:81/p?q HTTP/1.1\r\nHost: h:81\r\nProxy-Authorization: Basic x\r\n\
             Connection: close\r\n\r\n"
        );
        let own = request("GET", None, &[("Host", "h"), ("connection", "x, Close")]);
        assert!(asks_to_close(&own));
        assert_eq!(written(&own, close).matches("lose\r\n").count(), 1);
    }

    #[test]
    fn bodies_are_delimited_as_gos() {
        for (method, body, expected) in [
            ("GET", None, Delimiting::Nothing),
            ("GET", Some(""), Delimiting::Nothing),
            ("GET", Some("x"), Delimiting::Length(1)),
            ("POST", None, Delimiting::Length(0)),
            ("POST", Some(""), Delimiting::NoChunks),
            ("DELETE", None, Delimiting::Nothing),
            ("FOO", Some(""), Delimiting::NoChunks),
        ] {
            let request = request(method, body, &[]);
            assert_eq!(delimiting(&request), expected, "{method} {body:?}");
        }
        let empty = written(
            &request("POST", Some(""), &[("Host", "h")]),
            Additions::default(),
        );
        assert!(
            empty.ends_with("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "{empty}"
        );
        let long: &'static str = "x".repeat(JOINED_BODY_MAX + 1).leak();
        let long = request("POST", Some(long), &[("Host", "h")]);
        assert!(written(&long, Additions::default()).ends_with("\r\n\r\n"));
        assert_eq!(rest_of_body(&long).len(), JOINED_BODY_MAX + 1);
    }

    #[test]
    fn what_may_not_be_sent_is_told_in_gos_words() {
        for (request, what) in [
            (
                request("G ET", None, &[]),
                "net/http: invalid method \"G ET\"",
            ),
            (
                request("GET", None, &[("X Y", "a")]),
                "net/http: invalid header field name \"X Y\"",
            ),
            (
                request("GET", None, &[("X", "a\nb")]),
                "net/http: invalid header field value for \"X\"",
            ),
        ] {
            let trouble = write(&mut Vec::new(), &request, Additions::default());
            assert_eq!(trouble.expect_err("a fault").detail, what);
        }
    }

    /// What Go says of a field in a request over HTTP/2; empty: it is sent, and the field is not.
    #[test]
    fn fields_of_a_connection_are_refused_over_http2_as_by_go() {
        for (name, value, what) in [
            ("Connection", "Close", ""),
            ("connection", "keep-alive", ""),
            ("Connection", "", ""),
            (
                "Connection",
                "x, close",
                r#"invalid Connection request header: ["x, close"]"#,
            ),
            (
                "upgrade",
                "a\"b",
                r#"invalid Upgrade request header: ["a\"b"]"#,
            ),
            ("Upgrade", "", ""),
            (
                "Transfer-Encoding",
                "gzip",
                r#"invalid Transfer-Encoding request header: ["gzip"]"#,
            ),
            ("Transfer-Encoding", "chunked", ""),
            ("TE", "gzip", ""),
        ] {
            let told = match for_http2(&request("GET", None, &[(name, value)])) {
                Ok(message) => {
                    assert!(!message.head.headers().contains_key(name), "{name}");
                    String::new()
                }
                Err(failure) => failure.detail,
            };
            assert_eq!(told, what, "{name}: {value}");
        }
        let sent = for_http2(&request("GET", None, &[("TE", "trailers")]));
        let sent = sent.expect("may be sent").head;
        assert_eq!(sent.headers()["te"], "trailers");
    }

    #[test]
    fn what_is_sent_again_is_gos_choice() {
        assert!(is_replayable(&request("GET", Some("x"), &[])));
        assert!(!is_replayable(&request("POST", None, &[])));
        assert!(is_replayable(&request(
            "POST",
            None,
            &[("idempotency-key", "1")]
        )));
    }
}

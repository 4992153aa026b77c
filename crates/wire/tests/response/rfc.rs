//! One row per rule of RFC 9110 and RFC 9112: a stream, the request it responds to, and the outcome.
// tidy: table

use loadline_wire::{
    Codings, Discard, ErrorClass, Framing, HeaderFault, Limits, RequestKind, ResponseParser, Reuse,
    State, TrailerEnd, ValueBytes, WireError,
};

use crate::events::{Event, HeadEvent, Transcript, transcript};

fn read(stream: &[u8], kind: RequestKind) -> Transcript {
    transcript([stream], kind, Limits::default())
}

fn heads(transcript: &Transcript) -> Vec<&HeadEvent> {
    let heads = transcript.events.iter().filter_map(|event| match event {
        Event::Head(head) => Some(head),
        _ => None,
    });
    heads.collect()
}

/// (rule, request kind, stream, framing, reuse, body)
type Row = (
    &'static str,
    RequestKind,
    &'static [u8],
    Framing,
    Reuse,
    &'static [u8],
);

use Framing::{Chunked, Empty, Length, Tunnel};
use RequestKind::{Connect, Head, Normal};
use Reuse::{Close, KeepAlive};

const COMPLETE: &[Row] = &[
    ("6.2 length", Normal, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("6.2 length zero", Normal, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Length(0), KeepAlive, b""),
    ("6.3 head has no body", Head, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 head, chunked", Head, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 head, no length", Head, b"HTTP/1.1 200 OK\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 204", Normal, b"HTTP/1.1 204 No Content\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 204 with a length", Normal, b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 304 with a length", Normal, b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", Empty, KeepAlive, b""),
    ("6.3 connect 2xx", Connect, b"HTTP/1.1 200 Established\r\nContent-Length: 5\r\n\r\n\x16\x03", Tunnel, Reuse::Tunnel, b""),
    ("6.3 connect 299", Connect, b"HTTP/1.0 299 Fine\r\n\r\n", Tunnel, Reuse::Tunnel, b""),
    ("6.3 connect refused", Connect, b"HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno", Length(2), KeepAlive, b"no"),
    ("9110 15.2.2 switching", Normal, b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\x81\x00", Tunnel, Reuse::Tunnel, b""),
    ("6.3 equal lengths in two lines", Normal, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("7.1 chunked", Normal, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nA\r\n0123456789\r\n0\r\n\r\n", Chunked, KeepAlive, b"ok0123456789"),
    ("7.1 no chunk but the last", Normal, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Chunked, KeepAlive, b""),
    ("7.1.1 extensions", Normal, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n2;a=b;c=\"d\"\r\nok\r\n0;x\r\n\r\n", Chunked, KeepAlive, b"ok"),
    ("7.1 leading zeros, white space", Normal, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n002 \t\r\nok\r\n00\r\n\r\n", Chunked, KeepAlive, b"ok"),
    ("7.1 trailers and their blank line may end with LF", Normal, b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\nA: b\n\n", Chunked, KeepAlive, b"ok"),
    ("6.3 both codings and length", Normal, b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", Chunked, KeepAlive, b"ok"),
    ("6.1 HTTP/1.0 has no codings", Normal, b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("9.3 close", Normal, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", Length(2), Close, b"ok"),
    ("9.3 close in a list", Normal, b"HTTP/1.1 200 OK\r\nConnection: upgrade , CLOSE\r\nContent-Length: 0\r\n\r\n", Length(0), Close, b""),
    ("9.3 close wins", Normal, b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Length(0), Close, b""),
    ("9.3 close-ish is not close", Normal, b"HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 0\r\n\r\n", Length(0), KeepAlive, b""),
    ("9.3 HTTP/1.0 closes", Normal, b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), Close, b"ok"),
    ("9.3 HTTP/1.0 keep-alive", Normal, b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("9.3 HTTP/1.0 keep-alive and close", Normal, b"HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 0\r\n\r\n", Length(0), Close, b""),
    ("2.3 a later minor version", Normal, b"HTTP/1.7 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("2.3 a later major version", Normal, b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("2.3 an earlier major version", Normal, b"HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), Close, b"ok"),
    ("4 any bytes in the reason", Normal, b"HTTP/1.1 200 O\0\rK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("4 spaces before the status", Normal, b"HTTP/1.1   200\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("5.1 a space before the colon makes another name", Normal, b"HTTP/1.1 200 OK\r\nContent-Length : 9\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("5.1 a space in a name", Normal, b"HTTP/1.1 200 OK\r\nTwo Words: x\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("2.2 bare LF", Normal, b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", Length(2), KeepAlive, b"ok"),
    ("2.2 blank lines first", Normal, b"\r\n\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("4 no reason", Normal, b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("4 empty reason", Normal, b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("4 status beyond 599", Normal, b"HTTP/1.1 999 \r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("status below 100, as in Go", Normal, b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("5.2 folded value", Normal, b"HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length:\r\n 2\r\n\r\nok", Length(2), KeepAlive, b"ok"),
    ("5.1 no white space needed", Normal, b"HTTP/1.1 200 OK\r\nContent-Length:2\t \r\n\r\nok", Length(2), KeepAlive, b"ok"),
];

#[test]
fn framing_and_reuse() {
    for &(rule, kind, stream, framing, reuse, body) in COMPLETE {
        let seen = read(stream, kind);
        let head = heads(&seen)[0].framing;
        assert_eq!(head, framing, "{rule}");
        assert!(
            seen.events.contains(&Event::Done(reuse)),
            "{rule}: {seen:?}"
        );
        assert_eq!(seen.body(), body, "{rule}");
        let left_over = if reuse == Reuse::Tunnel {
            b"\x16\x03".len()
        } else {
            0
        };
        assert!(
            stream.len() - seen.consumed <= left_over,
            "{rule}: {seen:?}"
        );
    }
}

/// Streams whose end is the end of the body.
const UNTIL_CLOSE: &[(&str, &[u8], &[u8])] = &[
    ("6.3 no length", b"HTTP/1.1 200 OK\r\n\r\nbody", b"body"),
    ("6.3 nothing at all", b"HTTP/1.1 200 OK\r\n\r\n", b""),
    (
        "6.3 keep-alive cannot be",
        b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nbody",
        b"body",
    ),
];

#[test]
fn bodies_until_the_connection_closes() {
    for &(rule, stream, body) in UNTIL_CLOSE {
        let seen = read(stream, Normal);
        assert_eq!(heads(&seen)[0].framing, Framing::UntilClose, "{rule}");
        assert_eq!(seen.body(), body, "{rule}");
        assert_eq!(seen.error, None, "{rule}");
        assert_eq!(seen.events.last(), Some(&Event::Ended), "{rule}");
    }
}

/// Java's client uses the last coding.
#[test]
fn codings_can_be_read_by_the_last() {
    let limits = Limits {
        codings: Codings::ByTheLast,
        ..Limits::default()
    };
    let chunks = "2\r\nok\r\n0\r\n\r\n";
    for (codings, framing, body) in [
        ("gzip, Chunked", Chunked, "ok"),
        ("chunked\r\nTransfer-Encoding: chunked;q=1", Chunked, "ok"),
        ("identity", Framing::UntilClose, chunks),
        ("identity\r\nContent-Length: 2", Length(2), "2\r"),
        (
            "chunked, x\r\nContent-Length: 1",
            Framing::UntilClose,
            chunks,
        ),
    ] {
        let stream = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {codings}\r\n\r\n{chunks}");
        let seen = transcript([stream.as_bytes()], Normal, limits);
        assert_eq!(heads(&seen)[0].framing, framing, "{codings}");
        assert!(
            seen.body().starts_with(body.as_bytes()),
            "{codings}: {seen:?}"
        );
    }
    for (head, framing) in [
        (
            "1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked",
            Chunked,
        ),
        ("0 200 OK\r\nTransfer-Encoding: chunked", Chunked),
        ("1 200 OK\r\nContent-Length: x", Framing::UntilClose),
        (
            "1 200 OK\r\nContent-Length: 99999999999999999999",
            Framing::UntilClose,
        ),
        (
            "1 200 OK\r\nContent-Length: 1\r\nContent-Length: -2",
            Framing::UntilClose,
        ),
        (
            "1 200 OK\r\nContent-Length: 1\r\nContent-Length: +2\r\nContent-Length: 2x",
            Length(2),
        ),
    ] {
        let stream = format!("HTTP/1.{head}\r\n\r\n{chunks}");
        let seen = transcript([stream.as_bytes()], Normal, limits);
        assert_eq!(heads(&seen)[0].framing, framing, "{head}");
    }
}

/// Streams that violate a rule, and the text that the error must contain.
const BROKEN: &[(&str, &[u8], ErrorClass, &str)] = &[
    (
        "no byte",
        b"",
        ErrorClass::ClosedBeforeResponse,
        "before it sent any",
    ),
    (
        "blank lines alone",
        b"\r\n",
        ErrorClass::ClosedBeforeResponse,
        "before it sent any",
    ),
    (
        "half a prefix",
        b"HTT",
        ErrorClass::Truncated,
        "3 bytes into the response head",
    ),
    (
        "half a head",
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        ErrorClass::Truncated,
        "23 bytes into",
    ),
    (
        "interim alone",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        ErrorClass::Truncated,
        "0 bytes into",
    ),
    (
        "half a body",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        ErrorClass::Truncated,
        "2 of 5 body bytes",
    ),
    (
        "no body",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        ErrorClass::Truncated,
        "0 of 5 body bytes",
    ),
    (
        "half a chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        ErrorClass::Truncated,
        "after 2 body bytes, before the last",
    ),
    (
        "no last chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        ErrorClass::Truncated,
        "after 2 body bytes",
    ),
    (
        "half the trailers",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n",
        ErrorClass::Truncated,
        "after 0 body bytes",
    ),
    (
        "HTTP/0.9",
        b"<html>hello</html>",
        ErrorClass::WrongProtocol,
        "not HTTP/1.x: \"<html>",
    ),
    (
        "lower case",
        b"http/1.1 200 OK\r\n\r\n",
        ErrorClass::WrongProtocol,
        "not HTTP/1.x",
    ),
    (
        "too many blank lines",
        b"\r\n\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ErrorClass::WrongProtocol,
        "not HTTP/1.x",
    ),
    (
        "TLS alert",
        b"\x15\x03\x03\x00\x02\x02\x46",
        ErrorClass::WrongProtocol,
        "speaks TLS",
    ),
    (
        "HTTP/2 SETTINGS",
        b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80",
        ErrorClass::WrongProtocol,
        "speaks HTTP/2",
    ),
    (
        "HTTP/2 GOAWAY",
        b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01",
        ErrorClass::WrongProtocol,
        "speaks HTTP/2",
    ),
    (
        "version 2",
        b"HTTP/2 200 OK\r\n\r\n",
        ErrorClass::WrongProtocol,
        "version other than 1.x: \"HTTP/2 200",
    ),
    (
        "no minor version",
        b"HTTP/1 200 OK\r\n\r\n",
        ErrorClass::Malformed,
        "status line: \"HTTP/1 200",
    ),
    (
        "two-digit status",
        b"HTTP/1.1 20 OK\r\n\r\n",
        ErrorClass::Malformed,
        "status line",
    ),
    (
        "four-digit status",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        ErrorClass::Malformed,
        "status line",
    ),
    (
        "status of zeros",
        b"HTTP/1.1 000 OK\r\n\r\n",
        ErrorClass::Malformed,
        "status line",
    ),
    (
        "NUL in the status",
        b"HTTP/1.1 2\0 OK\r\n\r\n",
        ErrorClass::Malformed,
        "status line: \"HTTP/1.1 2\\x00 OK\"",
    ),
    (
        "no colon",
        b"HTTP/1.1 200 OK\r\nhello\r\n\r\n",
        ErrorClass::Malformed,
        "(no colon): \"hello\\r\"",
    ),
    (
        "empty name",
        b"HTTP/1.1 200 OK\r\n: b\r\n\r\n",
        ErrorClass::Malformed,
        "(empty name)",
    ),
    (
        "tab before the colon",
        b"HTTP/1.1 200 OK\r\nA\t: b\r\n\r\n",
        ErrorClass::Malformed,
        "not stand in a name): \"A\\t: b",
    ),
    (
        "NUL in a value",
        b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
        ErrorClass::Malformed,
        "a control byte",
    ),
    (
        "bare CR in a value",
        b"HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n",
        ErrorClass::Malformed,
        "a control byte",
    ),
    (
        "fold before any header",
        b"HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        ErrorClass::Malformed,
        "white space before the first",
    ),
    (
        "length of letters",
        b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n",
        ErrorClass::Malformed,
        "Content-Length: \"ten\"",
    ),
    (
        "signed length",
        b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        ErrorClass::Malformed,
        "Content-Length: \"+2\"",
    ),
    (
        "empty length",
        b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        ErrorClass::Malformed,
        "Content-Length: \"\"",
    ),
    (
        "length beyond 2^63",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        ErrorClass::Malformed,
        "Content-Length",
    ),
    (
        "length, then letters",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, x\r\n\r\n",
        ErrorClass::Malformed,
        "\"2, x\"",
    ),
    (
        "two lengths",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        ErrorClass::Malformed,
        "two Content-Length values: 2 and 3",
    ),
    (
        "a list of lengths",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
        ErrorClass::Malformed,
        "Content-Length: \"2, 2\"",
    ),
    (
        "chunks and a bad length",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ErrorClass::Malformed,
        "Content-Length: \"x\"",
    ),
    (
        "a bad length without a body",
        b"HTTP/1.1 304 Same\r\nContent-Length: x\r\n\r\n",
        ErrorClass::Malformed,
        "Content-Length: \"x\"",
    ),
    (
        "another transfer coding",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        ErrorClass::Malformed,
        "Transfer-Encoding: \"gzip, chunked\"",
    ),
    (
        "chunked twice",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ErrorClass::Malformed,
        "Transfer-Encoding: \"chunked\"",
    ),
    (
        "LF alone after a chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n",
        ErrorClass::Malformed,
        "chunk size: \"2\\n",
    ),
    (
        "LF alone after a chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\n0\r\n\r\n",
        ErrorClass::Malformed,
        "after a chunk but: \"\\n",
    ),
    (
        "a chunk size of too many zeros",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000002\r\nok\r\n",
        ErrorClass::Malformed,
        "chunk size",
    ),
    (
        "chunk size of letters",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ErrorClass::Malformed,
        "chunk size: \"xyz\\r\\n\"",
    ),
    (
        "no chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nok",
        ErrorClass::Malformed,
        "chunk size",
    ),
    (
        "signed chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        ErrorClass::Malformed,
        "chunk size",
    ),
    (
        "0x chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n",
        ErrorClass::Malformed,
        "chunk size: \"0x2",
    ),
    (
        "chunk size beyond u64",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n",
        ErrorClass::Malformed,
        "chunk size",
    ),
    (
        "bare CR in a chunk line",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;\rx\r\nok",
        ErrorClass::Malformed,
        "chunk size",
    ),
    (
        "chunk too long",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
        ErrorClass::Malformed,
        "after a chunk but: \"ay",
    ),
    (
        "trailer without colon",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nhello\r\n\r\n",
        ErrorClass::Malformed,
        "no colon",
    ),
    (
        "bytes behind a response",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nextra",
        ErrorClass::WrongProtocol,
        "not HTTP/1.x: \"extra\"",
    ),
];

#[test]
fn broken_streams_are_named() {
    for &(what, stream, class, part) in BROKEN {
        let error = read(stream, Normal).error.expect(what);
        assert_eq!(error.class(), class, "{what}: {error}");
        assert!(error.to_string().contains(part), "{what}: {error}");
        let whole = read(stream, Normal).events;
        let pieces = transcript(stream.chunks(1), Normal, Limits::default());
        assert_eq!(whole, pieces.events, "{what}, byte by byte");
    }
}

#[test]
fn lengths_agree_only_byte_by_byte() {
    for (first, second, told) in [
        ("2", "02", "two Content-Length values: 2 and 02"),
        ("02", "2", "two Content-Length values: 02 and 2"),
        ("2", "", "two Content-Length values: 2 and "),
        ("x", "2", "two Content-Length values: x and 2"),
        ("x", "x", "a malformed Content-Length: \"x\""),
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {first}\r\nContent-Length: {second}\r\n\r\nok"
        );
        let error = read(head.as_bytes(), Normal).error.expect(&head);
        assert!(error.to_string().ends_with(told), "{error}");
    }
}

#[test]
fn trailers_can_be_required_to_end_with_two_crlf() {
    let go = Limits {
        trailer_bytes: 20,
        trailer_end: TrailerEnd::TwoCrlf,
        ..Limits::default()
    };
    let closing =
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    for (trailers, is_whole) in [
        (&b"\r\n"[..], true),
        (b"A: b\r\n\r\n", true),
        (b"A: b\nC: d\r\n\r\n", true),
        (b"A: bcdefghijklmn\r\n\r\n", true),
        (b"A: bcdefghijklmno\r\n\r\n", false),
        (b"A: b\n\n", false),
        (b"A: b\r\n\n", false),
        (b"\n", false),
    ] {
        let stream = [&closing[..], trailers].concat();
        for piece in [1, stream.len()] {
            let told = transcript(stream.chunks(piece), Normal, go).error;
            assert_eq!(
                told.is_none(),
                is_whole,
                "{}: {told:?}",
                trailers.escape_ascii()
            );
        }
    }
    // What stands between the blank line and the two line ends is surplus: the connection is not kept.
    let kept = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    let surplus = [&kept[..], b"A: b\n\nC\r\n\r\n"].concat();
    for piece in [1, surplus.len()] {
        let events = transcript(surplus.chunks(piece), Normal, go).events;
        assert!(events.contains(&Event::Done(Close)), "{events:?}");
        assert!(events.contains(&Event::Trailers(vec![(b"A".to_vec(), b"b".to_vec())])));
    }
}

#[test]
fn control_bytes_can_be_forbidden_in_values() {
    let strict = Limits {
        values: ValueBytes::NoControls,
        ..Limits::default()
    };
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (bad, is_bad) in [
        (&b"HTTP/1.1 200 OK\r\nX: a\x1bb\r\n\r\n"[..], true),
        (b"HTTP/1.1 200 OK\r\nX: a\r\n \x07b\r\n\r\n", true),
        (&[&chunked[..], b"0\r\nT: \x7f\r\n\r\n"].concat(), true),
        (b"HTTP/1.1 200 OK\r\nX: a\tb\xff\r\n\r\n", false),
    ] {
        let pieces = || bad.chunks(1);
        let told = transcript(pieces(), Normal, strict).error;
        let told = told.map(|error| error.to_string());
        assert_eq!(
            told.as_ref()
                .is_some_and(|told| told.contains("a control byte")),
            is_bad,
            "{told:?}"
        );
        let lenient = transcript(pieces(), Normal, Limits::default());
        assert!(
            !format!("{:?}", lenient.error).contains("ValueByte"),
            "{:?}",
            lenient.error
        );
    }
}

#[test]
fn interim_responses_come_before_the_final_one() {
    let stream = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let seen = read(stream, Normal);
    let statuses: Vec<u16> = heads(&seen).iter().map(|head| head.status).collect();
    assert_eq!(statuses, [100, 103, 200]);
    assert_eq!(seen.body(), b"ok");
}

#[test]
fn a_head_tells_what_it_holds() {
    let stream = b"HTTP/1.1 200 All  right\r\nServer: x\r\nCONTENT-TYPE: text/plain; a=b \r\n\
        Content-Type: text/html\r\nSet-Cookie: a=b\r\nSet-Cookie:c=d\r\nX-Empty:\r\n\
        X-High: \xe9\x01\r\nContent-Length: 0\r\n\r\n";
    let seen = read(stream, Normal);
    let head = heads(&seen)[0];
    assert_eq!(
        (head.status, head.minor, head.reason.as_slice()),
        (200, 1, &b"All  right"[..])
    );
    assert_eq!(head.content_type.as_deref(), Some(&b"text/plain; a=b"[..]));
    assert_eq!(head.content_length, Some(0));
    assert_eq!(head.wire_len, stream.len());
    let expected: [(&[u8], &[u8]); 8] = [
        (b"Server", b"x"),
        (b"CONTENT-TYPE", b"text/plain; a=b"),
        (b"Content-Type", b"text/html"),
        (b"Set-Cookie", b"a=b"),
        (b"Set-Cookie", b"c=d"),
        (b"X-Empty", b""),
        (b"X-High", b"\xe9\x01"),
        (b"Content-Length", b"0"),
    ];
    let lines: Vec<(&[u8], &[u8])> = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_slice(), value.as_slice()))
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn headers_are_found_whatever_their_case() {
    struct Probe(Option<Vec<u8>>, bool);
    impl loadline_wire::ResponseSink for Probe {
        fn head(&mut self, head: &loadline_wire::Head<'_>) {
            self.0 = head.header("x-request-id").map(<[u8]>::to_vec);
            self.1 = head.header("x-request").is_some();
        }
        fn body(&mut self, _piece: &[u8]) {}
    }
    let mut parser = ResponseParser::new(Limits::default());
    let mut probe = Probe(None, true);
    parser.start(Normal);
    let stream = b"HTTP/1.1 200 OK\r\nX-Request-ID: 7\r\nx-request-id: 8\r\n\r\n";
    parser
        .feed(stream, &mut probe)
        .expect("the response is well-formed");
    assert_eq!(probe.0.as_deref(), Some(&b"7"[..]));
    assert!(!probe.1);
}

/// The name is wrong before its continuation line arrives, and stays wrong afterwards.
#[test]
fn a_bad_name_is_told_before_its_continuation() {
    let stream = b"HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nY\xb1:\r\n 0\r";
    let whole = read(stream, Normal);
    assert_eq!(
        whole.error.map(|error| error.class()),
        Some(ErrorClass::Malformed)
    );
    let pieces = transcript(stream.chunks(1), Normal, Limits::default());
    assert_eq!(whole.events, pieces.events);
}

#[test]
fn trailers_are_told() {
    let stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\
        Digest: abc\r\nX-Long: a\r\n b\r\n\r\n";
    let seen = read(stream, Normal);
    let trailers = Event::Trailers(vec![
        (b"Digest".to_vec(), b"abc".to_vec()),
        (b"X-Long".to_vec(), b"a b".to_vec()),
    ]);
    assert!(seen.events.contains(&trailers), "{seen:?}");
    assert!(seen.events.contains(&Event::Done(KeepAlive)));
    assert_eq!(seen.consumed, stream.len());
}

#[test]
fn bytes_of_the_next_response_stay() {
    let stream = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
    let mut parser = ResponseParser::new(Limits::default());
    let mut sink = Discard::default();
    parser.start(Normal);
    let first = parser
        .feed(stream, &mut sink)
        .expect("the response is well-formed");
    assert_eq!(first.state, State::Done { reuse: KeepAlive });
    assert_eq!(sink.status, Some(200));
    parser.start(Normal);
    let rest = &stream[first.consumed..];
    let second = parser
        .feed(rest, &mut sink)
        .expect("the response is well-formed");
    assert_eq!((second.consumed, sink.status), (rest.len(), Some(404)));
}

#[test]
fn nothing_is_awaited_without_a_request() {
    let mut parser = ResponseParser::new(Limits::default());
    let mut sink = Discard::default();
    assert_eq!(parser.finish(), Ok(()));
    let idle = parser.feed(b"", &mut sink).expect("no byte breaks no rule");
    assert_eq!((idle.consumed, idle.state), (0, State::Idle));
    let error = parser
        .feed(b"HTTP/1.1 408 Late\r\n", &mut sink)
        .expect_err("nothing was asked");
    assert_eq!(error.class(), ErrorClass::Unsolicited);
    assert!(
        error.to_string().ends_with("\"HTTP/1.1 408 Late\\r\\n\""),
        "{error}"
    );
}

#[test]
fn an_error_leaves_the_parser_idle() {
    let mut parser = ResponseParser::new(Limits::default());
    let mut sink = Discard::default();
    parser.start(Normal);
    let error = parser
        .feed(b"HTTP/1.1 200 OK\r\nA\r\n\r\n", &mut sink)
        .expect_err("no colon");
    let WireError::BadHeader { fault, sample } = error else {
        panic!("{error}")
    };
    assert_eq!(
        (fault, sample.as_bytes()),
        (HeaderFault::NoColon, &b"A\r"[..])
    );
    assert!(parser.is_idle());
    assert_eq!(sink, Discard::default());
}

//! Targets that send too much, or the same forever.
//!
//! Invariant: each limit has its own error, is reached exactly, and holds however the bytes arrive.

use loadline_wire::{
    Codings, Discard, ErrorClass, Limits, RequestKind, ResponseParser, State, TrailerEnd,
    ValueBytes, WireError,
};

use crate::events::transcript;

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn error_of(stream: &[u8], limits: Limits) -> Option<WireError> {
    let whole = transcript([stream], RequestKind::Normal, limits);
    let pieces = transcript(stream.chunks(7), RequestKind::Normal, limits);
    assert_eq!(whole.events, pieces.events);
    whole.error
}

fn with_headers(count: usize) -> Vec<u8> {
    format!("HTTP/1.1 204 No\r\n{}\r\n", "a:b\r\n".repeat(count)).into_bytes()
}

#[test]
fn each_limit_is_reached_exactly() {
    let limits = Limits {
        head_bytes: 100,
        header_count: 10,
        chunk_line_bytes: 20,
        trailer_bytes: 30,
        ..Limits::default()
    };
    let head = |length: usize| {
        let filler = "x".repeat(length - "HTTP/1.1 204 No\r\na:\r\n\r\n".len());
        format!("HTTP/1.1 204 No\r\na:{filler}\r\n\r\n").into_bytes()
    };
    let interim = |count: usize| {
        let storm = "HTTP/1.1 100 Continue\r\n\r\n".repeat(count);
        format!("{storm}HTTP/1.1 204 No\r\n\r\n").into_bytes()
    };
    let chunk_line = |length: usize| {
        format!("{CHUNKED}1;{}\r\na\r\n0\r\n\r\n", "x".repeat(length - 2)).into_bytes()
    };
    let trailers =
        |length: usize| format!("{CHUNKED}0\r\na:{}\r\n\r\n", "x".repeat(length - 6)).into_bytes();
    let trailer_lines =
        |count: usize| format!("{CHUNKED}0\r\n{}\r\n", "a:\n".repeat(count)).into_bytes();
    let roomy = Limits {
        trailer_bytes: 1_000,
        ..limits
    };
    let cases: [(Vec<u8>, Vec<u8>, Limits, WireError); 6] = [
        (
            head(100),
            head(101),
            limits,
            WireError::HeadTooLarge { limit: 100 },
        ),
        (
            with_headers(10),
            with_headers(11),
            limits,
            WireError::TooManyHeaders { limit: 10 },
        ),
        (
            interim(4),
            interim(5),
            limits,
            WireError::HeadTooLarge { limit: 100 },
        ),
        (
            chunk_line(20),
            chunk_line(21),
            limits,
            WireError::ChunkLineTooLong { limit: 20 },
        ),
        (
            trailers(30),
            trailers(31),
            limits,
            WireError::TrailersTooLarge { limit: 30 },
        ),
        (
            trailer_lines(10),
            trailer_lines(11),
            roomy,
            WireError::TooManyHeaders { limit: 10 },
        ),
    ];
    for (fits, breaks, limits, expected) in cases {
        let after = error_of(&fits, limits);
        assert_eq!(after, Some(WireError::ClosedBeforeResponse), "{expected}");
        assert_eq!(error_of(&breaks, limits), Some(expected));
        assert_eq!(expected.class(), ErrorClass::TooLarge);
    }
}

/// Limits that are reached quickly.
const LOW: Limits = Limits {
    head_bytes: 65_536,
    header_count: 256,
    chunk_line_bytes: 4_096,
    trailer_bytes: 8_192,
    trailer_end: TrailerEnd::BlankLine,
    blank_bytes: 8,
    codings: Codings::ChunkedAlone,
    values: ValueBytes::Any,
};

/// Feeds `first` and then `again` until the parser refuses; at most `reads_max` times.
fn endless(first: &[u8], again: &[u8], reads_max: usize) -> Option<WireError> {
    let mut parser = ResponseParser::new(LOW);
    let mut sink = Discard::default();
    parser.start(RequestKind::Normal);
    parser
        .feed(first, &mut sink)
        .expect("the beginning is sound");
    (0..reads_max).find_map(|_| parser.feed(again, &mut sink).err())
}

#[test]
fn nothing_goes_on_for_ever() {
    let cases: [(&[u8], &[u8], WireError); 8] = [
        (
            b"HTTP/1.1 200 OK\r\na: ",
            b"x",
            WireError::HeadTooLarge { limit: 65_536 },
        ),
        (
            b"HTTP/1.1 200 ",
            b"\x01",
            WireError::HeadTooLarge { limit: 65_536 },
        ),
        (
            b"HTTP/1.1 200 OK\r\na: b",
            b"\r\n ",
            WireError::TooManyHeaders { limit: 256 },
        ),
        (
            b"HTTP/1.1 200 OK\r\n",
            b"a: b\r\n",
            WireError::TooManyHeaders { limit: 256 },
        ),
        (
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            WireError::HeadTooLarge { limit: 65_536 },
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1",
            b" ",
            WireError::ChunkLineTooLong { limit: 4_096 },
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            b"x",
            WireError::ChunkLineTooLong { limit: 4_096 },
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: ",
            b"x",
            WireError::TrailersTooLarge { limit: 8_192 },
        ),
    ];
    for (first, again, expected) in cases {
        assert_eq!(endless(first, again, 70_000), Some(expected));
    }
}

#[test]
fn a_body_of_any_length_is_handed_on() {
    let mut parser = ResponseParser::new(Limits::default());
    let mut sink = Discard::default();
    parser.start(RequestKind::Normal);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", i64::MAX);
    parser
        .feed(head.as_bytes(), &mut sink)
        .expect("the head is sound");
    let piece = vec![0; 1 << 20];
    for _ in 0..1_000 {
        let progress = parser
            .feed(&piece, &mut sink)
            .expect("a body may hold anything");
        assert_eq!(
            (progress.consumed, progress.state),
            (piece.len(), State::AwaitsBody)
        );
    }
    let expected = Some(i64::MAX as u64);
    let received = 1_000 << 20;
    assert_eq!(sink.body_bytes, received);
    assert_eq!(
        parser.finish(),
        Err(WireError::TruncatedBody { expected, received })
    );
}

/// A head of a megabyte in small reads: the same result, the same errors, and no quadratic work.
#[test]
fn a_long_head_is_read_in_any_pieces() {
    let lines = "X-Filler: 0123456789012345678901234567890123456789\r\n".repeat(20_000);
    for (last, is_sound) in [("A: b", true), ("none", false)] {
        let stream = format!("HTTP/1.1 204 No\r\n{lines}{last}\r\n\r\n").into_bytes();
        for length in [stream.len(), stream.len() - 2] {
            let whole = transcript([&stream[..length]], RequestKind::Normal, Limits::default());
            let pieces = transcript(
                stream[..length].chunks(100),
                RequestKind::Normal,
                Limits::default(),
            );
            assert_eq!(whole.events, pieces.events);
            let error = whole.error.map(|error| error.class());
            let expected = match (is_sound, length == stream.len()) {
                (false, _) => ErrorClass::Malformed,
                (true, true) => ErrorClass::ClosedBeforeResponse,
                (true, false) => ErrorClass::Truncated,
            };
            assert_eq!(error, Some(expected));
        }
    }
}

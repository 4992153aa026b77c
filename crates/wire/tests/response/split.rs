//! How a stream is split into reads must not change the result.
//!
//! Invariant: every property compares a whole stream with the same stream in pieces; invalid streams are as
//! frequent as valid ones.

use loadline_wire::{Codings, Limits, RequestKind, TrailerEnd, ValueBytes};
use proptest::prelude::*;

use crate::events::{Transcript, transcript};

/// Limits low enough for generated streams to reach them.
const TIGHT: Limits = Limits {
    head_bytes: 120,
    header_count: 5,
    chunk_line_bytes: 8,
    trailer_bytes: 30,
    trailer_end: TrailerEnd::BlankLine,
    blank_bytes: 8,
    codings: Codings::ChunkedAlone,
    values: ValueBytes::Any,
};

fn kind() -> impl Strategy<Value = RequestKind> {
    prop_oneof![
        4 => Just(RequestKind::Normal),
        1 => Just(RequestKind::Head),
        1 => Just(RequestKind::Connect),
    ]
}

fn header_line() -> impl Strategy<Value = String> {
    prop_oneof![
        (0u32..40).prop_map(|length| format!("Content-Length: {length}\r\n")),
        Just("Transfer-Encoding: chunked\r\n".to_owned()),
        Just("Connection: close\r\n".to_owned()),
        Just("Connection: keep-alive\r\n".to_owned()),
        Just("Content-Type: text/plain\n".to_owned()),
        Just("X-Folded: a\r\n\tb\n c\r\n".to_owned()),
        "[A-Za-z-]{1,12}:[ \t]{0,2}[ -~]{0,20}\r\n",
        "[ -~\r\n]{0,6}\n",
    ]
}

fn head() -> impl Strategy<Value = String> {
    let status = prop_oneof![
        6 => Just(200u16),
        1 => Just(204),
        1 => Just(304),
        1 => Just(101),
        2 => Just(100),
        1 => 90u16..1000,
    ];
    let lines = prop::collection::vec(header_line(), 0..6);
    (0u8..2, status, "( [ -~]{0,8})?", lines).prop_map(|(minor, status, reason, lines)| {
        format!("HTTP/1.{minor} {status}{reason}\r\n{}\r\n", lines.concat())
    })
}

fn body() -> impl Strategy<Value = String> {
    let chunk = ("[a-z]{1,20}", "(;[a-z=]{0,9})?")
        .prop_map(|(data, extension)| format!("{:x}{extension}\r\n{data}\r\n", data.len()));
    let trailers = prop::collection::vec("[A-Z]:[a-z]{0,12}\r\n", 0..4);
    prop_oneof![
        "[a-z]{0,40}",
        (prop::collection::vec(chunk, 0..4), trailers).prop_map(|(chunks, trailers)| format!(
            "{}0\r\n{}\r\n",
            chunks.concat(),
            trailers.concat()
        )),
    ]
}

/// One or a few responses, some several times, sometimes with bytes overwritten.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let responses = prop::collection::vec((head(), body(), 1usize..4), 1..4);
    let spoilt = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (responses, spoilt).prop_map(|(responses, spoilt)| {
        let text: String = responses
            .into_iter()
            .map(|(head, body, times)| (head + &body).repeat(times))
            .collect();
        let mut bytes = text.into_bytes();
        for (at, byte) in spoilt {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

fn cut<'a>(stream: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = stream;
    let mut lengths = lengths.iter().cycle();
    std::iter::from_fn(move || {
        let length = (*lengths.next()?).min(rest.len());
        let (piece, tail) = rest.split_at(length);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

fn same(whole: &Transcript, pieces: &Transcript) -> Result<(), TestCaseError> {
    prop_assert_eq!(&whole.events, &pieces.events);
    if whole.error.is_none() {
        prop_assert_eq!(whole.consumed, pieces.consumed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_tells_the_same(
        stream in stream(),
        kind in kind(),
        lengths in prop::collection::vec(1usize..50, 1..6),
    ) {
        for limits in [Limits::default(), TIGHT] {
            let whole = transcript([stream.as_slice()], kind, limits);
            same(&whole, &transcript(cut(&stream, &lengths), kind, limits))?;
            same(&whole, &transcript(cut(&stream, &[1]), kind, limits))?;
        }
    }

    #[test]
    fn any_bytes_tell_the_same(
        stream in prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b' '), any::<u8>()], 0..80),
        prefix in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]),
        lengths in prop::collection::vec(1usize..20, 1..4),
    ) {
        let stream = [prefix.as_bytes(), &stream].concat();
        let whole = transcript([stream.as_slice()], RequestKind::Normal, TIGHT);
        same(&whole, &transcript(cut(&stream, &lengths), RequestKind::Normal, TIGHT))?;
        same(&whole, &transcript(cut(&stream, &[1]), RequestKind::Normal, TIGHT))?;
    }
}

#[test]
fn a_nginx_answer_byte_by_byte() {
    let stream: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.26.3\r\n\
        Date: Fri, 20 Nov 2026 07:32:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\
        Connection: keep-alive\r\n\r\nok";
    let limits = Limits::default();
    let whole = transcript([stream], RequestKind::Normal, limits);
    assert_eq!(whole.body(), b"ok");
    assert_eq!(
        whole,
        transcript(stream.chunks(1), RequestKind::Normal, limits)
    );
}

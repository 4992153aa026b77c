//! Any bytes as the answer of a target.
//!
//! Invariant checked: no panic; never more bytes consumed than given; no body longer than its
//! bytes; and the same events however the bytes are cut into reads.
//!
//! The first byte of the input picks the request and the limits, the second the cuts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_wire::{Codings, Limits, RequestKind, TrailerEnd, ValueBytes};

#[path = "../../crates/wire/tests/response/events.rs"]
mod events;

/// Limits that short inputs reach.
const TIGHT: Limits = Limits {
    head_bytes: 64,
    header_count: 3,
    chunk_line_bytes: 8,
    trailer_bytes: 16,
    trailer_end: TrailerEnd::TwoCrlf,
    blank_bytes: 2,
    codings: Codings::ByTheLast,
    values: ValueBytes::NoControls,
};

fuzz_target!(|data: &[u8]| {
    let [choice, cuts, stream @ ..] = data else {
        return;
    };
    let kind = match choice & 3 {
        0 => RequestKind::Head,
        1 => RequestKind::Connect,
        _ => RequestKind::Normal,
    };
    let limits = if choice & 4 == 0 {
        Limits::default()
    } else {
        TIGHT
    };
    let whole = events::transcript([stream], kind, limits);
    assert!(whole.consumed <= stream.len());
    for pieces in [
        events::transcript(stream.chunks(1), kind, limits),
        events::transcript(stream.chunks(usize::from(*cuts).max(2)), kind, limits),
        events::transcript(uneven(stream, *cuts), kind, limits),
    ] {
        assert_eq!(whole.events, pieces.events);
        assert!(whole.error.is_some() || whole.consumed == pieces.consumed);
    }
});

/// Pieces whose lengths follow from `seed`, from 1 to 16 bytes.
fn uneven(stream: &[u8], seed: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = stream;
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(181).wrapping_add(101);
        let length = (usize::from(state >> 4) + 1).min(rest.len());
        let (piece, tail) = rest.split_at(length);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

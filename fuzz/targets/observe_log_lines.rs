//! Any bytes, cut anywhere, as a log.
//!
//! Invariant checked: how the bytes are cut changes no line; no line has an end in it or is longer than the limit.
//!
//! The first two bytes of the input say where it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::parse::lines::{LINE_BYTES_MAX, LineBuffer};

fn lines(pieces: &[&[u8]]) -> Vec<String> {
    let mut buffer = LineBuffer::default();
    let mut all = Vec::new();
    for piece in pieces {
        buffer.feed(piece, |line| all.push(line.to_owned()));
    }
    buffer.finish(|line| all.push(line.to_owned()));
    all
}

fuzz_target!(|data: &[u8]| {
    let Some((cut, bytes)) = data.split_first_chunk::<2>() else {
        return;
    };
    let at = usize::from(u16::from_le_bytes(*cut)).min(bytes.len());
    let (left, right) = bytes.split_at(at);
    let whole = lines(&[bytes]);
    assert_eq!(lines(&[left, right]), whole);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(lines(&single), whole);
    // A byte that is no text becomes a sign of three.
    assert!(
        whole
            .iter()
            .all(|line| !line.contains('\n') && line.len() <= 3 * LINE_BYTES_MAX)
    );
});

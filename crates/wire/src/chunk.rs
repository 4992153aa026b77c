//! The frame around the chunks of a request body (RFC 9112 §7.1).
//!
//! It must not know the body. Invariant: a chunk header never announces length zero, because
//! that would end the body.

use std::num::NonZeroU64;
use std::ops::Deref;

/// Follows the bytes of every chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// Ends a chunked body without trailers.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Sixteen hexadecimal digits hold any `u64`; CR and LF follow.
const CAPACITY: usize = 18;

/// The line before a chunk; dereferences to its bytes.
#[derive(Debug, Clone, Copy)]
pub struct ChunkHeader {
    bytes: [u8; CAPACITY],
    start: usize,
}

impl Deref for ChunkHeader {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// The line that announces a chunk of `len` bytes. Send the bytes and [`CHUNK_END`] after it.
///
/// ```
/// use std::num::NonZeroU64;
/// let len = NonZeroU64::new(255).expect("255 is not zero");
/// assert_eq!(&*loadline_wire::chunk_header(len), b"ff\r\n");
/// ```
#[must_use]
pub fn chunk_header(len: NonZeroU64) -> ChunkHeader {
    let mut bytes = [0; CAPACITY];
    let mut start = CAPACITY - CHUNK_END.len();
    bytes[start..].copy_from_slice(CHUNK_END);
    let mut rest = len.get();
    while rest > 0 {
        start -= 1;
        bytes[start] = b"0123456789abcdef"[(rest & 0xf) as usize];
        rest >>= 4;
    }
    ChunkHeader { bytes, start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_lower_case_hex_and_a_line_end() {
        for len in [1, 9, 10, 15, 16, 4096, u64::from(u32::MAX), u64::MAX] {
            let header = chunk_header(NonZeroU64::new(len).expect("the list has no zero"));
            assert_eq!(&*header, format!("{len:x}\r\n").as_bytes());
        }
    }
}

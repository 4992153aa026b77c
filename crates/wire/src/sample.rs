//! A short copy of the bytes that an error is about, for printing.
//!
//! It must not know why the bytes are wrong. Invariant: never more than [`Sample::CAPACITY`] bytes and no heap
//! memory, so an error costs the same whatever the target sent.

use std::fmt;

/// The first bytes of something wrong, printed escaped and in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    bytes: [u8; Sample::CAPACITY],
    len: u8,
    cut: bool,
}

impl Sample {
    /// Maximum bytes stored: enough to recognise a line, short enough for one terminal row.
    pub const CAPACITY: usize = 60;

    /// Copies the start of `source`.
    #[must_use]
    pub fn of(source: &[u8]) -> Self {
        let kept = source.len().min(Self::CAPACITY);
        let mut bytes = [0; Self::CAPACITY];
        bytes[..kept].copy_from_slice(&source[..kept]);
        let len = u8::try_from(kept).expect("the capacity is below 256");
        Self {
            bytes,
            len,
            cut: kept < source.len(),
        }
    }

    /// The stored bytes, unescaped.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = if self.cut { "…" } else { "" };
        write!(out, "\"{}\"{tail}", self.as_bytes().escape_ascii())
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_cuts() {
        assert_eq!(
            Sample::of(b"a\r\n\0\"\xff").to_string(),
            r#""a\r\n\x00\"\xff""#
        );
        assert_eq!(
            Sample::of(&[b'x'; 60]).to_string(),
            format!("\"{}\"", "x".repeat(60))
        );
        assert_eq!(
            Sample::of(&[b'x'; 61]).to_string(),
            format!("\"{}\"…", "x".repeat(60))
        );
    }
}

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

/// The starts of two values that contradict each other, in the room of one sample.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TwoValues {
    bytes: [[u8; TwoValues::CAPACITY]; 2],
    lens: [u8; 2],
}

impl TwoValues {
    /// Maximum bytes stored of each: more than the digits of any number.
    pub const CAPACITY: usize = Sample::CAPACITY / 2;

    /// Copies the starts of both.
    #[must_use]
    pub fn of(first: &[u8], second: &[u8]) -> Self {
        let mut both = Self {
            bytes: [[0; Self::CAPACITY]; 2],
            lens: [0; 2],
        };
        for (place, value) in [first, second].into_iter().enumerate() {
            let kept = value.len().min(Self::CAPACITY);
            both.bytes[place][..kept].copy_from_slice(&value[..kept]);
            both.lens[place] = u8::try_from(kept).expect("the capacity is below 256");
        }
        both
    }

    /// The stored bytes of both, unescaped.
    #[must_use]
    pub fn as_bytes(&self) -> [&[u8]; 2] {
        [0, 1].map(|place| &self.bytes[place][..usize::from(self.lens[place])])
    }
}

impl fmt::Display for TwoValues {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.as_bytes();
        write!(
            out,
            "{} and {}",
            first.escape_ascii(),
            second.escape_ascii()
        )
    }
}

impl fmt::Debug for TwoValues {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_are_cut_apart() {
        let both = TwoValues::of(b"02", &[b'9'; 31]);
        assert_eq!(both.to_string(), format!("02 and {}", "9".repeat(30)));
        assert_eq!(TwoValues::of(b"", b"\x01").to_string(), r" and \x01");
    }

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

//! Splits the bytes of a log into lines, however the bytes are chunked.
//!
//! Must not know where the bytes come from. Invariant: every chunking of the same bytes gives the same lines; a
//! line longer than the limit is truncated.

/// Maximum bytes of a line that a pattern sees.
pub const LINE_BYTES_MAX: usize = 64 << 10;

/// Assembles lines.
#[derive(Clone, Debug, Default)]
pub struct LineBuffer {
    open: Vec<u8>,
    /// Whether the incomplete line was longer than the limit.
    is_cut: bool,
}

impl LineBuffer {
    /// Adds bytes and passes on each complete line, without its line end.
    pub fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            rest = &rest[end + 1..];
            self.hand_on(&mut line);
        }
        self.keep(rest);
    }

    /// Passes on the incomplete line, if there is one: the log will not be continued.
    pub fn finish(&mut self, mut line: impl FnMut(&str)) {
        if !self.open.is_empty() {
            self.hand_on(&mut line);
        }
    }

    /// Discards the incomplete line.
    pub fn clear(&mut self) {
        self.open.clear();
        self.is_cut = false;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX - self.open.len();
        self.is_cut |= bytes.len() > room;
        self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn hand_on(&mut self, line: &mut impl FnMut(&str)) {
        let bytes = self.open.strip_suffix(b"\r");
        let bytes = bytes.filter(|_| !self.is_cut).unwrap_or(&self.open);
        line(&String::from_utf8_lossy(bytes));
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut buffer = LineBuffer::default();
        let mut all = Vec::new();
        for piece in pieces {
            buffer.feed(piece, |line| all.push(line.to_owned()));
        }
        buffer.finish(|line| all.push(line.to_owned()));
        all
    }

    proptest! {
        #[test]
        fn every_cut_gives_the_same_lines(text in "[a\r\n é]{0,40}", at in 0..80_usize) {
            let bytes = text.as_bytes();
            let (left, right) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(lines(&[left, right]), lines(&[bytes]));
        }
    }

    #[test]
    fn a_line_without_limit_is_cut() {
        let long = vec![b'x'; LINE_BYTES_MAX + 5];
        let all = lines(&[&long, b"yy\nshort\r\n\nend"]);
        assert_eq!(all[0].len(), LINE_BYTES_MAX);
        assert_eq!(all[1..], ["short", "", "end"]);
    }
}

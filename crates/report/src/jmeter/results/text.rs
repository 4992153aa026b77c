//! The text of a results file as UTF-8, whatever encoding its byte order mark or its first letter tells.
//!
//! Must not know rows. Invariant: memory is bounded by one part of the file; invalid text becomes U+FFFD.

use std::io::{self, BufRead, Read};

type Unit = fn([u8; 2]) -> u16;

/// A text that is read as UTF-8.
pub(super) struct Text<R> {
    bytes: R,
    /// How two bytes make a unit of UTF-16; `None`: the bytes are the text.
    unit: Option<Unit>,
    /// What was read and not consumed yet, from `taken` on.
    ready: Vec<u8>,
    taken: usize,
    /// Half a unit, and half a character, which the next part continues.
    half_unit: Option<u8>,
    half_pair: Option<u16>,
}

impl<R: BufRead> Text<R> {
    /// Inspects the byte order mark; without one, the first letter, which is ASCII in all of these files.
    ///
    /// # Errors
    /// The bytes cannot be read.
    pub(super) fn new(mut bytes: R) -> io::Result<Text<R>> {
        let (unit, mark): (Option<Unit>, usize) = match bytes.fill_buf()? {
            [0xff, 0xfe, ..] => (Some(u16::from_le_bytes), 2),
            [0xfe, 0xff, ..] => (Some(u16::from_be_bytes), 2),
            [first, 0, ..] if first.is_ascii_graphic() => (Some(u16::from_le_bytes), 0),
            [0, first, ..] if first.is_ascii_graphic() => (Some(u16::from_be_bytes), 0),
            _ => (None, 0),
        };
        bytes.consume(mark);
        Ok(Text {
            bytes,
            unit,
            ready: Vec::new(),
            taken: 0,
            half_unit: None,
            half_pair: None,
        })
    }

    /// Reads parts until there is a character, or the end.
    fn refill(&mut self, unit: Unit) -> io::Result<()> {
        self.ready.clear();
        self.taken = 0;
        while self.ready.is_empty() {
            let part = self.bytes.fill_buf()?;
            let length = part.len();
            let bytes = self
                .half_unit
                .take()
                .into_iter()
                .chain(part.iter().copied());
            let mut units = self.half_pair.take().into_iter().collect::<Vec<u16>>();
            let mut low = None;
            for byte in bytes {
                match low.take() {
                    None => low = Some(byte),
                    Some(first) => units.push(unit([first, byte])),
                }
            }
            let is_end = length == 0;
            if !is_end {
                self.half_unit = low.take();
                self.half_pair = units.pop_if(|last| (0xd800..0xdc00).contains(last));
            }
            let half = low.map(|_| Err(()));
            let read = char::decode_utf16(units).map(|read| read.map_err(|_| ()));
            for character in read.chain(half) {
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                let mut room = [0; 4];
                let text = character.encode_utf8(&mut room);
                self.ready.extend_from_slice(text.as_bytes());
            }
            self.bytes.consume(length);
            if is_end {
                break;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Text<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Some(unit) = self.unit else {
            return self.bytes.fill_buf();
        };
        if self.taken == self.ready.len() {
            self.refill(unit)?;
        }
        Ok(&self.ready[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        match self.unit {
            None => self.bytes.consume(amount),
            Some(_) => self.taken = (self.taken + amount).min(self.ready.len()),
        }
    }
}

impl<R: BufRead> Read for Text<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let length = ready.len().min(into.len());
        into[..length].copy_from_slice(&ready[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(bytes: &[u8]) -> String {
        // Parts of three bytes cut units and characters in two.
        let parts = BufReader::with_capacity(3, bytes);
        let mut text = String::new();
        let read = Text::new(parts).and_then(|mut of| of.read_to_string(&mut text));
        read.expect("memory can be read");
        text
    }

    fn in_utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(bytes).collect()
    }

    #[test]
    fn text_is_read_in_either_order() {
        let text = "timeStamp,grün,\u{1f600}x\n";
        assert_eq!(read(text.as_bytes()), text);
        assert_eq!(read(&in_utf16(text, u16::to_le_bytes)), text);
        assert_eq!(read(&in_utf16(text, u16::to_be_bytes)), text);
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(read(&in_utf16(text, bytes)[2..]), text, "without a mark");
        }
    }

    #[test]
    fn what_is_cut_off_is_told_as_such() {
        assert_eq!(read(b"\xff\xfea\0b"), "a\u{fffd}");
        assert_eq!(read(b"\xff\xfea\0\x3d\xd8"), "a\u{fffd}");
        assert_eq!(read(b"\xff\xfe\x3d\xd8a\0"), "\u{fffd}a");
        assert_eq!(read(b"\xff\xfe"), "");
    }
}

//! Decoder for the chunked transfer coding, byte by byte (RFC 9112 §7.1).
//!
//! It must not know heads, trailers or sinks. Invariant: its state is a few numbers, so a chunk may be split
//! anywhere and have any length.

use crate::chars::is_blank;
use crate::error::WireError;
use crate::sample::Sample;

/// Maximum digits of a chunk size, including leading zeros: enough for the largest size, and Go's limit.
const SIZE_DIGITS_MAX: u32 = 16;

/// Where in the chunked body the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first digit of a chunk size.
    SizeStart,
    /// After a digit of a chunk size.
    Size,
    /// In white space after the size.
    AfterSize,
    /// In chunk extensions, which are skipped.
    Extension,
    /// After the CR of a chunk-size line.
    SizeLf,
    /// In the bytes of a chunk.
    Data,
    /// After the bytes of a chunk.
    DataEnd,
    /// After the CR that follows the bytes of a chunk.
    DataLf,
}

/// Removes the chunk framing from a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    /// The size being read, or the bytes of the chunk still to come.
    left: u64,
    /// Bytes of the current chunk-size line.
    line: u32,
    place: Place,
}

/// How far the decoder got.
pub(crate) struct Advance {
    pub(crate) consumed: usize,
    /// The last chunk is over; trailers follow.
    pub(crate) ended: bool,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self {
            left: 0,
            line: 0,
            place: Place::SizeStart,
        }
    }

    /// Decodes the part of `input` that belongs to chunks and passes their bytes to `body`.
    ///
    /// # Errors
    /// A malformed or overlong chunk-size line, or a chunk without its line end.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        input: &[u8],
        line_limit: u32,
        mut body: impl FnMut(&[u8]),
    ) -> Result<Advance, WireError> {
        let mut at = 0;
        let mut line_start = 0;
        while let Some(&byte) = input.get(at) {
            if self.place == Place::Data {
                let len = self.left.min((input.len() - at) as u64);
                // `len` is at most the length of a slice, so it fits.
                let end = at + len as usize;
                body(&input[at..end]);
                self.left -= len;
                if self.left == 0 {
                    self.place = Place::DataEnd;
                }
                at = end;
                continue;
            }
            let place = self
                .follow(byte)
                .ok_or_else(|| self.fault(&input[line_start..], &input[at..]))?;
            at += 1;
            match place {
                Place::SizeStart => line_start = at,
                Place::Data if self.left == 0 => {
                    return Ok(Advance {
                        consumed: at,
                        ended: true,
                    });
                }
                Place::Data | Place::SizeLf | Place::DataEnd | Place::DataLf => {}
                Place::Size | Place::AfterSize | Place::Extension => self.count(line_limit)?,
            }
            self.place = place;
        }
        Ok(Advance {
            consumed: at,
            ended: false,
        })
    }

    /// The place after `byte`, which is not part of a chunk's data; `None` if it is not allowed here.
    #[inline]
    fn follow(&mut self, byte: u8) -> Option<Place> {
        match (self.place, byte) {
            (Place::SizeStart | Place::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.push_digit(byte)
            }
            (Place::Size | Place::AfterSize | Place::Extension, b'\r') => Some(Place::SizeLf),
            // A bare LF does not end a line of a chunk: peers that disagree on that can be made to see
            // different messages.
            (Place::SizeLf, b'\n') => {
                self.line = 0;
                Some(Place::Data)
            }
            (Place::Size, b';') => Some(Place::Extension),
            (Place::Size | Place::AfterSize, _) if is_blank(byte) => Some(Place::AfterSize),
            (Place::Extension, 1..=9 | 11..) => Some(Place::Extension),
            (Place::DataEnd, b'\r') => Some(Place::DataLf),
            // The bytes of the chunk are used up, so `left` is zero and ready for the next size.
            (Place::DataLf, b'\n') => Some(Place::SizeStart),
            _ => None,
        }
    }

    #[inline]
    fn push_digit(&mut self, byte: u8) -> Option<Place> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        (self.line < SIZE_DIGITS_MAX).then(|| {
            self.left = self.left << 4 | u64::from(digit);
            Place::Size
        })
    }

    #[inline]
    fn count(&mut self, limit: u32) -> Result<(), WireError> {
        if self.line >= limit {
            return Err(WireError::ChunkLineTooLong { limit });
        }
        self.line += 1;
        Ok(())
    }

    #[cold]
    fn fault(&self, line: &[u8], here: &[u8]) -> WireError {
        match self.place {
            Place::DataEnd | Place::DataLf => WireError::BadChunkEnd {
                sample: Sample::of(here),
            },
            _ => WireError::BadChunkSize {
                sample: Sample::of(line),
            },
        }
    }
}

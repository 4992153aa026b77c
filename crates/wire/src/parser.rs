//! The response parser of one connection: it knows where in a response the next byte belongs.
//!
//! It must not know sockets or time: the caller feeds it what was read, or tells it that the connection ended.
//! Invariant: beside a short copy of the last head it stores bytes only while a head or trailers are incomplete, and
//! then at most one byte more than their limit.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::chunked::Chunked;
use crate::error::WireError;
use crate::foreign;
use crate::framing::{self, Framing, RequestKind, Reuse};
use crate::head::Head;
use crate::limits::{Limits, TrailerEnd};
use crate::repeat::LastHead;
use crate::sample::Sample;
use crate::scan::{self, RawHead, Scan, Trailers};
use crate::sink::ResponseSink;

/// Bytes of a head that are scanned again with each read, so that errors in them are reported at once. Heads
/// are usually shorter.
const SCANNED_AT_EACH_READ: usize = 64 * 1024;

/// What [`ResponseParser::feed`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many bytes of the input belong to this response. Less than all of it only if the response is done.
    pub consumed: usize,
    /// What the parser is waiting for.
    pub state: State,
}

/// What a parser is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No response is expected.
    Idle,
    /// More bytes of a head: the final one has not been passed to the sink.
    AwaitsHead,
    /// More bytes of a body: the final head has been passed to the sink.
    AwaitsBody,
    /// Nothing: the response is complete.
    Done {
        /// What can be done with the connection.
        reuse: Reuse,
    },
}

/// Reads the responses of one connection, one after another.
#[derive(Debug)]
pub struct ResponseParser {
    /// An incomplete head or trailers; unallocated at all other times.
    carry: Vec<u8>,
    last: LastHead,
    place: Place,
    /// Body bytes of the current response.
    received: u64,
    limits: Limits,
    /// Bytes of the interim heads before the current one.
    interim: u32,
    kind: RequestKind,
    /// According to the final head; meaningless before it.
    reuse: Reuse,
}

/// Where in a response the next byte belongs.
#[derive(Debug, Clone, Copy)]
enum Place {
    Idle,
    /// In a head, or in the blank lines before it, whose bytes are counted.
    Head {
        blank_bytes: u8,
    },
    Length {
        left: u64,
    },
    Chunks(Chunked),
    Trailers,
    UntilClose,
}

/// Result of feeding one part of a response.
struct Fed {
    consumed: usize,
    /// Whether the response ended with it.
    done: bool,
}

impl Fed {
    fn part(consumed: usize) -> Self {
        Self {
            consumed,
            done: false,
        }
    }
}

impl ResponseParser {
    /// A parser that expects nothing.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            carry: Vec::new(),
            last: LastHead::default(),
            place: Place::Idle,
            received: 0,
            limits,
            interim: 0,
            kind: RequestKind::Normal,
            reuse: Reuse::Close,
        }
    }

    /// Expects the response to a request of this kind. Discards the rest of an earlier response.
    #[inline]
    pub fn start(&mut self, kind: RequestKind) {
        self.carry = Vec::new();
        self.place = Place::Head { blank_bytes: 0 };
        self.received = 0;
        self.interim = 0;
        self.kind = kind;
    }

    /// Whether no response is expected: before the first [`start`](Self::start), after a response is done, and
    /// after an error.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.place, Place::Idle)
    }

    /// Reads `input`, which continues what was fed before, and passes what it finds to `sink`.
    ///
    /// All of `input` is consumed unless the response ends within it. After 101 and after 2xx to CONNECT the
    /// rest belongs to the other protocol.
    ///
    /// # Errors
    /// Anything that violates the framing or a limit. The parser is idle afterwards; the connection must be
    /// closed.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Progress, WireError> {
        let mut consumed = 0;
        while consumed < input.len() {
            let fed = match self.feed_part(&input[consumed..], sink) {
                Ok(fed) => fed,
                Err(error) => return Err(self.fail(error)),
            };
            consumed += fed.consumed;
            if fed.done {
                self.place = Place::Idle;
                return Ok(Progress {
                    consumed,
                    state: State::Done { reuse: self.reuse },
                });
            }
        }
        Ok(Progress {
            consumed,
            state: self.state(),
        })
    }

    /// Tells the parser that the connection ended.
    ///
    /// `Ok` if that end delimited the body, or if no response was expected. Every connection that ended has to
    /// be closed, so nothing else is returned.
    ///
    /// # Errors
    /// The response is missing or incomplete.
    pub fn finish(&mut self) -> Result<(), WireError> {
        let error = match self.place {
            Place::Idle | Place::UntilClose => {
                self.place = Place::Idle;
                return Ok(());
            }
            Place::Head { .. } if self.carry.is_empty() && self.interim == 0 => {
                WireError::ClosedBeforeResponse
            }
            Place::Head { .. } => truncated_head(&self.carry, &self.limits),
            Place::Length { left } => WireError::TruncatedBody {
                expected: Some(self.received.saturating_add(left)),
                received: self.received,
            },
            Place::Chunks(_) | Place::Trailers => WireError::TruncatedBody {
                expected: None,
                received: self.received,
            },
        };
        Err(self.fail(error))
    }

    fn state(&self) -> State {
        match self.place {
            Place::Idle => State::Idle,
            Place::Head { .. } => State::AwaitsHead,
            Place::Length { .. } | Place::Chunks(_) | Place::Trailers | Place::UntilClose => {
                State::AwaitsBody
            }
        }
    }

    #[cold]
    fn fail(&mut self, error: WireError) -> WireError {
        self.carry = Vec::new();
        self.place = Place::Idle;
        error
    }

    /// Feeds one part at the current place; `input` is not empty.
    #[inline]
    fn feed_part(&mut self, input: &[u8], sink: &mut impl ResponseSink) -> Result<Fed, WireError> {
        match self.place {
            Place::Idle => Err(WireError::Unsolicited {
                sample: Sample::of(input),
            }),
            Place::Head { blank_bytes } => self.feed_head(input, blank_bytes, sink),
            Place::Length { left } => Ok(self.feed_length(input, left, sink)),
            Place::Chunks(chunks) => self.feed_chunks(input, chunks, sink),
            Place::Trailers => self.feed_trailers(input, sink),
            Place::UntilClose => {
                self.received += input.len() as u64;
                sink.body(input);
                Ok(Fed::part(input.len()))
            }
        }
    }

    #[inline]
    fn feed_head(
        &mut self,
        input: &[u8],
        blank_bytes: u8,
        sink: &mut impl ResponseSink,
    ) -> Result<Fed, WireError> {
        if self.carry.is_empty() {
            if matches!(input[0], b'\r' | b'\n') {
                return self.skip_blank(input, blank_bytes);
            }
            let window = &input[..input.len().min(self.limits.head_bytes as usize)];
            if let Some(raw) = self.last.again(window) {
                let consumed = raw.len;
                let done = self.accept_head(raw, sink)?;
                return Ok(Fed { consumed, done });
            }
            if let Scan::Complete(raw) = scan::scan_head(window, &self.limits)? {
                self.last.keep(window, &raw);
                let consumed = raw.len;
                let done = self.accept_head(raw, sink)?;
                return Ok(Fed { consumed, done });
            }
        }
        self.feed_carried_head(input, sink)
    }

    #[cold]
    fn skip_blank(&mut self, input: &[u8], seen: u8) -> Result<Fed, WireError> {
        if seen >= self.limits.blank_bytes {
            return Err(WireError::NotHttp {
                sample: Sample::of(input),
            });
        }
        self.place = Place::Head {
            blank_bytes: seen + 1,
        };
        Ok(Fed::part(1))
    }

    /// The head is spread over several inputs: it is assembled in `carry`.
    #[cold]
    fn feed_carried_head(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Fed, WireError> {
        let before = self.carry.len();
        let limit = self.limits.head_bytes;
        let mut carry = std::mem::take(&mut self.carry);
        let taken = take_into(&mut carry, input, limit);
        // Without a line end there is nothing new to find, except the first bytes and the limit.
        if before >= foreign::LOOK_AHEAD
            && (is_mid_line(&carry, before, limit) || is_mid_head(&carry, before, limit))
        {
            self.carry = carry;
            return Ok(Fed::part(taken));
        }
        loop {
            let window = &carry[..carry.len().min(limit as usize)];
            match scan::scan_head(window, &self.limits)? {
                Scan::Complete(raw) => {
                    let consumed = raw.len - before;
                    let done = self.accept_head(raw, sink)?;
                    return Ok(Fed { consumed, done });
                }
                Scan::Folded => scan::unfold(&mut carry),
                Scan::Incomplete if carry.len() > limit as usize => {
                    return Err(WireError::HeadTooLarge { limit });
                }
                Scan::Incomplete => break,
            }
        }
        self.carry = carry;
        Ok(Fed::part(taken))
    }

    /// Passes a head on and moves past it; true if the response ends with it.
    #[inline]
    fn accept_head(
        &mut self,
        raw: RawHead<'_>,
        sink: &mut impl ResponseSink,
    ) -> Result<bool, WireError> {
        if framing::is_interim(raw.status) {
            return self.accept_interim(raw, sink);
        }
        let (framing, reuse) = framing::decide(&raw, self.kind, self.limits.codings)?;
        self.reuse = reuse;
        sink.head(&Head::new(raw, framing));
        self.place = match framing {
            Framing::Empty | Framing::Tunnel | Framing::Length(0) => return Ok(true),
            Framing::Length(left) => Place::Length { left },
            Framing::Chunked => Place::Chunks(Chunked::new()),
            Framing::UntilClose => Place::UntilClose,
        };
        Ok(false)
    }

    #[cold]
    fn accept_interim(
        &mut self,
        raw: RawHead<'_>,
        sink: &mut impl ResponseSink,
    ) -> Result<bool, WireError> {
        let limit = self.limits.head_bytes;
        // No head is longer than the limit, so its length fits.
        self.interim = self.interim.saturating_add(raw.len as u32);
        if self.interim > limit {
            return Err(WireError::HeadTooLarge { limit });
        }
        self.place = Place::Head { blank_bytes: 0 };
        sink.interim(&Head::new(raw, Framing::Empty));
        Ok(false)
    }

    #[inline]
    fn feed_length(&mut self, input: &[u8], left: u64, sink: &mut impl ResponseSink) -> Fed {
        let len = left.min(input.len() as u64);
        self.received += len;
        // `len` is at most the length of a slice, so it fits.
        let consumed = len as usize;
        sink.body(&input[..consumed]);
        self.place = Place::Length { left: left - len };
        Fed {
            consumed,
            done: left == len,
        }
    }

    fn feed_chunks(
        &mut self,
        input: &[u8],
        mut chunks: Chunked,
        sink: &mut impl ResponseSink,
    ) -> Result<Fed, WireError> {
        let mut received = 0;
        let advance = chunks.advance(input, self.limits.chunk_line_bytes, |piece| {
            received += piece.len() as u64;
            sink.body(piece);
        })?;
        self.received += received;
        self.place = if advance.ended {
            Place::Trailers
        } else {
            Place::Chunks(chunks)
        };
        Ok(Fed::part(advance.consumed))
    }

    fn feed_trailers(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Fed, WireError> {
        // Most responses have no trailers; those need no copy.
        if self.carry.is_empty() && input.starts_with(b"\r\n") {
            return Ok(Fed {
                consumed: 2,
                done: true,
            });
        }
        let before = self.carry.len();
        let limit = self.limits.trailer_bytes;
        let mut carry = std::mem::take(&mut self.carry);
        let taken = take_into(&mut carry, input, limit);
        if is_mid_line(&carry, before, limit) {
            self.carry = carry;
            return Ok(Fed::part(taken));
        }
        loop {
            let window = &carry[..carry.len().min(limit as usize)];
            let earliest = earliest_end(window, self.limits.trailer_end);
            let scan = match earliest {
                Some(_) => scan::scan_trailers(window, &self.limits)?,
                None => Scan::Incomplete,
            };
            match scan {
                Scan::Complete(Trailers { fields, len }) => {
                    if !fields.is_empty() {
                        sink.trailers(fields);
                    }
                    let end = earliest.map_or(len, |earliest| earliest.max(len));
                    if end > len {
                        // What follows the blank line belongs to no response.
                        self.reuse = Reuse::Close;
                    }
                    return Ok(Fed {
                        consumed: end - before,
                        done: true,
                    });
                }
                Scan::Folded => scan::unfold(&mut carry),
                Scan::Incomplete if carry.len() > limit as usize => {
                    return Err(WireError::TrailersTooLarge { limit });
                }
                Scan::Incomplete => break,
            }
        }
        self.carry = carry;
        Ok(Fed::part(taken))
    }
}

/// Where trailers in `window` end at the earliest; `None` if they cannot be whole.
fn earliest_end(window: &[u8], end: TrailerEnd) -> Option<usize> {
    match end {
        TrailerEnd::BlankLine => Some(0),
        // Without trailers, one line end is enough.
        TrailerEnd::TwoCrlf if window.starts_with(b"\r\n") => Some(2),
        TrailerEnd::TwoCrlf => memmem::find(window, b"\r\n\r\n").map(|at| at + 4),
    }
}

/// Appends `input` up to one byte beyond the limit, enough to detect that it is exceeded.
fn take_into(carry: &mut Vec<u8>, input: &[u8], limit: u32) -> usize {
    let room = (limit as usize + 1).saturating_sub(carry.len());
    let taken = room.min(input.len());
    carry.extend_from_slice(&input[..taken]);
    taken
}

/// Whether the bytes after `before` end no line and exceed no limit, so that a scan would find nothing new.
/// Without this, bytes that trickle in would be scanned once per read.
fn is_mid_line(carry: &[u8], before: usize, limit: u32) -> bool {
    carry.len() <= limit as usize && memchr(b'\n', &carry[before..]).is_none()
}

/// Whether a long head continues. Its first part was scanned as it arrived; the rest is scanned at the end of
/// the head or at the limit, so that a head in many reads is not rescanned from its start each time.
fn is_mid_head(carry: &[u8], before: usize, limit: u32) -> bool {
    let fresh = &carry[before.saturating_sub(2)..];
    before >= SCANNED_AT_EACH_READ
        && carry.len() <= limit as usize
        && !memchr_iter(b'\n', fresh)
            .any(|at| fresh[at + 1..].starts_with(b"\n") || fresh[at + 1..].starts_with(b"\r\n"))
}

/// The error for a head that breaks off: the truncation, or an earlier error in it.
#[cold]
fn truncated_head(carry: &[u8], limits: &Limits) -> WireError {
    let received = carry.len();
    let scanned = scan::scan_head(carry, limits);
    let last_end = memrchr(b'\n', carry);
    let line = &carry[last_end.map_or(0, |end| end + 1)..];
    scanned.err().unwrap_or(WireError::TruncatedHead {
        received,
        has_status: last_end.is_some(),
        line: Sample::of(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Discard;

    #[test]
    fn an_idle_parser_is_small_and_holds_no_buffer() {
        assert!(
            size_of::<ResponseParser>() < 128,
            "{}",
            size_of::<ResponseParser>()
        );
        let mut parser = ResponseParser::new(Limits::default());
        let mut sink = Discard::default();
        for piece in [
            &b"HTTP/1.1 200 O"[..],
            b"K\r\nContent-Length: 1\r\n\r",
            b"\nx",
        ] {
            if parser.is_idle() {
                parser.start(RequestKind::Normal);
            }
            parser
                .feed(piece, &mut sink)
                .expect("the response is well-formed");
        }
        assert!(parser.is_idle());
        assert_eq!(parser.carry.capacity(), 0);
    }

    #[test]
    fn a_head_in_one_input_is_not_copied() {
        let mut parser = ResponseParser::new(Limits::default());
        parser.start(RequestKind::Normal);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
        let progress = parser.feed(head, &mut Discard::default());
        let expected = Progress {
            consumed: head.len(),
            state: State::AwaitsBody,
        };
        assert_eq!(progress, Ok(expected));
        assert_eq!(parser.carry.capacity(), 0);
    }
}

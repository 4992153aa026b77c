//! Limits on the parts of a response that have to be stored or counted.
//!
//! It must not know the parser's states. Invariant: bodies have no limit, because they are passed on and never
//! stored.

/// Limits for one response. Exceeding each of them has its own error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from the start of the status line to the end of the blank line that closes the head. Counted for
    /// each final head, and for all interim (1xx) heads before it together: a target that sends those forever
    /// must not hold a request open forever. Default 2 MiB. Go allows 10 MiB and curl 300 KB; an incomplete
    /// head is the one thing that a connection has to store.
    pub head_bytes: u32,
    /// Header lines in one head, including continuation lines; the same limit applies to trailers. Default
    /// 100,000: as many as fit into a head, as in Go.
    pub header_count: u32,
    /// Bytes of a chunk-size line with its extensions, without line end. Default 4,096: a size takes 16 digits,
    /// and extensions are hardly ever used.
    pub chunk_line_bytes: u32,
    /// Bytes of the trailers with the blank line that closes them. Default 8,192: enough for a few checksums
    /// and status lines; they are stored until the blank line arrives.
    pub trailer_bytes: u32,
    /// What ends trailers. Default: a blank line.
    pub trailer_end: TrailerEnd,
    /// Bytes of blank lines allowed before a status line. Default 8: old servers send one blank line too many
    /// after a body; more than a few is not HTTP. Go allows none.
    pub blank_bytes: u8,
    /// Supported transfer codings and lengths. Default: only chunked, and a length that can be read.
    pub codings: Codings,
    /// Bytes that a header's value may contain. Default: all that cannot end it.
    pub values: ValueBytes,
}

/// What ends the trailers of a chunked body, if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailerEnd {
    /// A blank line, with or without CR.
    BlankLine,
    /// CR LF CR LF, as in Go, whose lines may end in LF alone before that. After a blank line that comes earlier, the
    /// rest is surplus and the connection is not kept.
    TwoCrlf,
}

/// Which bytes the value of a header or trailer may contain; NUL and CR never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueBytes {
    /// Also control bytes, which a recipient may keep (RFC 9110 §5.5).
    Any,
    /// No control bytes but tabs, as in Go.
    NoControls,
}

/// Which Transfer-Encoding and Content-Length a response may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codings {
    /// `chunked`, once and alone, and not in HTTP/1.0; a number, and the same in each line, as Go requires. Otherwise the
    /// response is malformed.
    ChunkedAlone,
    /// Any. If the last one is chunked, one layer of chunks is removed; otherwise the body lasts until the
    /// connection closes. A length beside it does not matter; of several lengths the last that is a number holds, and
    /// without one the body lasts until the connection closes. Apache's client for Java does the same.
    ByTheLast,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Limits {
    /// The default limits.
    pub const DEFAULT: Self = Self {
        head_bytes: 2 << 20,
        header_count: 100_000,
        chunk_line_bytes: 4 * 1024,
        trailer_bytes: 8 * 1024,
        trailer_end: TrailerEnd::BlankLine,
        blank_bytes: 8,
        codings: Codings::ChunkedAlone,
        values: ValueBytes::Any,
    };
}

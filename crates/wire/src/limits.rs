//! How much a target may send in the parts of a response that have to be kept or counted.
//!
//! It must not know the parser's states. Invariant: bodies have no limit, because they are
//! handed on and never kept.

/// Bounds of one response. A breach is an error of its own kind for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from the first byte of the status line to the end of the blank line that closes
    /// the head, counted for each final head, and for all interim (1xx) heads before it together: a
    /// target that sends those for ever must not hold a request open for ever. Default 2 MiB: Go takes
    /// 10 MiB and curl 300 KB, and an incomplete head is the one thing a connection has to keep.
    pub head_bytes: u32,
    /// Header lines in one head, continuation lines among them, and as many in the trailers.
    /// Default 100,000: what fits into a head, as in Go.
    pub header_count: u32,
    /// Bytes of a chunk-size line with its extensions, line end not counted. Default 4,096: a
    /// size takes 16 digits, and extensions are all but unused.
    pub chunk_line_bytes: u32,
    /// Bytes of the trailers with the blank line that closes them. Default 8,192: a few
    /// checksums and status lines; they are kept until the blank line has come.
    pub trailer_bytes: u32,
    /// Bytes of blank lines that may stand before a status line. Default 8: old servers send one
    /// blank line too many after a body; anything beyond a few is no HTTP. Go takes none.
    pub blank_bytes: u8,
    /// Which transfer codings are read. Default: chunked alone.
    pub codings: Codings,
}

/// Which Transfer-Encoding a response may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codings {
    /// `chunked`, once and alone, as Go wants it; else the response is malformed.
    ChunkedAlone,
    /// Any: where the last is chunked, one layer of chunks is taken off; where it is another, the body
    /// lasts until the connection closes. So does Java's client.
    ByTheLast,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Limits {
    /// What holds where nothing else is said.
    pub const DEFAULT: Self = Self {
        head_bytes: 2 << 20,
        header_count: 100_000,
        chunk_line_bytes: 4 * 1024,
        trailer_bytes: 8 * 1024,
        blank_bytes: 8,
        codings: Codings::ChunkedAlone,
    };
}

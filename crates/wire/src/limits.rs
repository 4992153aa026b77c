//! How much a target may send in the parts of a response that have to be kept or counted.
//!
//! It must not know the parser's states. Invariant: bodies have no limit, because they are
//! handed on and never kept.

/// Bounds of one response. A breach is an error of its own kind for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes from the first byte of the status line to the end of the blank line that closes
    /// the head, counted for each head. Default 65,536: servers themselves stop at 8 to 32 KiB,
    /// and an incomplete head is the one thing a connection has to keep, so ten thousand hostile
    /// connections stay below 1 GiB.
    pub head_bytes: u32,
    /// Header lines in one head, continuation lines among them, and as many in the trailers.
    /// Default 256: several times what
    /// real services send, and a bound on the work that a head of four-byte lines could cause.
    pub header_count: u32,
    /// Interim (1xx) responses before one final response. Default 64: real servers send one or
    /// two; a target that sends them for ever must not hold a request open for ever.
    pub interim_count: u32,
    /// Bytes of a chunk-size line with its extensions, line end not counted. Default 4,096: a
    /// size takes 16 digits, and extensions are all but unused.
    pub chunk_line_bytes: u32,
    /// Bytes of the trailers with the blank line that closes them. Default 8,192: a few
    /// checksums and status lines; they are kept until the blank line has come.
    pub trailer_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 64 * 1024,
            header_count: 256,
            interim_count: 64,
            chunk_line_bytes: 4 * 1024,
            trailer_bytes: 8 * 1024,
        }
    }
}

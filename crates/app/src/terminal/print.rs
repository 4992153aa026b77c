//! Writing to the two streams.
//!
//! Must not know what is written. Invariant: a closed stream is an error to look at, never a panic.

use std::io::{self, ErrorKind, Write};

/// Writes text to standard output.
///
/// # Errors
/// Those of the stream; one that its reader closed (`| head`) is none: the reader has what it wanted.
pub(crate) fn to_stdout(text: &str) -> io::Result<()> {
    bytes_to_stdout(text.as_bytes())
}

/// Writes bytes to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(crate) fn bytes_to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stream = io::stdout().lock();
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes text to standard error; there is nobody left to tell when that fails.
pub(crate) fn to_stderr(text: &str) {
    let mut stream = io::stderr().lock();
    let _ = stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush());
}

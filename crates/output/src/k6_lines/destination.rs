//! The destination of lines: a stream, or a file that is compressed according to its name.
//!
//! Must not know lines. Invariant: after [`Destination::finish`] without an error the operating system has
//! everything.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::files;

/// Zstandard's fastest normal level: repetitive lines of JSON already shrink to a thirtieth.
const ZSTD_LEVEL: i32 = 1;

/// Where lines go.
pub enum Destination {
    /// Uncompressed.
    Plain(Box<dyn Write + Send>),
    /// Through gzip.
    Gzip(Box<GzEncoder<Box<dyn Write + Send>>>),
    /// Through Zstandard.
    Zstd(Box<zstd::Encoder<'static, Box<dyn Write + Send>>>),
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Destination::Plain(_) => "Plain",
            Destination::Gzip(_) => "Gzip",
            Destination::Zstd(_) => "Zstd",
        })
    }
}

impl Destination {
    /// Creates or truncates a file; a name ending in `.gz` selects gzip, `.zst` Zstandard.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Destination> {
        let file: Box<dyn Write + Send> = Box::new(files::create(path)?);
        Ok(match path.extension() {
            // k6 uses Go's default level, 6; here the speed of level 1 matters more.
            Some(extension) if extension == "gz" => {
                Destination::Gzip(Box::new(GzEncoder::new(file, Compression::fast())))
            }
            Some(extension) if extension == "zst" => {
                Destination::Zstd(Box::new(zstd::Encoder::new(file, ZSTD_LEVEL)?))
            }
            _ => Destination::Plain(file),
        })
    }

    /// A stream such as standard output.
    #[must_use]
    pub fn stream(stream: impl Write + Send + 'static) -> Destination {
        Destination::Plain(Box::new(stream))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Destination::Plain(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
            // Not flushed: that would end a compression block at each write.
            Destination::Gzip(encoder) => encoder.write_all(bytes),
            Destination::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Destination::Plain(mut stream) => stream.flush(),
            Destination::Gzip(encoder) => encoder.finish()?.flush(),
            Destination::Zstd(encoder) => encoder.finish()?.flush(),
        }
    }
}

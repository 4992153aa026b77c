//! Where lines go: a stream, or a file that is compressed when its name says so.
//!
//! Must not know lines. Invariant: after [`Destination::finish`] without an error everything is
//! with the operating system.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::files;

/// Zstandard's fastest usual level: repeated lines of JSON shrink to a thirtieth by it already.
const ZSTD_LEVEL: i32 = 1;

/// Where lines go.
pub enum Destination {
    /// As they are.
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
    /// Makes, or empties, a file; a name that ends in `.gz` asks for gzip, `.zst` for Zstandard.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Destination> {
        let file: Box<dyn Write + Send> = Box::new(files::create(path)?);
        Ok(match path.extension() {
            // k6 takes Go's default level, 6; the speed of 1 matters more to lines made in passing.
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
            // Not flushed: that would end a block of the compression at each write.
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

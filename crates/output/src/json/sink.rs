//! JSON results in files: written completely or not at all, read up to a limit.
//!
//! Must not know the layout. Invariant: at every instant the file's name refers to a complete result or to the
//! previous content.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use loadline_model::RunResult;

use super::encode::{self, Options, ReadError};
use crate::files;

/// Maximum bytes of a file: a hundred times the largest result of a run.
pub const RESULT_BYTES_MAX: u64 = 256 << 20;

/// Writes a result to a synced temporary file next to the target, which is then renamed. Devices and pipes are
/// written directly; a symbolic link stays a link.
///
/// # Errors
/// File system errors; the temporary file is removed.
pub fn save(path: &Path, result: &RunResult, options: Options) -> io::Result<()> {
    files::replace_with(path, |file| {
        let mut writer = BufWriter::new(file);
        encode::write(result, options, &mut writer)?;
        writer.flush()
    })
}

/// Reads a result from a file.
///
/// # Errors
/// Says what the file is instead, and where it is invalid.
pub fn load(path: &Path) -> Result<RunResult, ReadError> {
    load_from(File::open(path).map_err(ReadError::Io)?)
}

/// Reads a result from a stream to its end.
///
/// # Errors
/// As [`load`].
pub fn load_from(stream: impl Read) -> Result<RunResult, ReadError> {
    let mut text = Vec::new();
    stream
        .take(RESULT_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(ReadError::Io)?;
    if text.len() as u64 > RESULT_BYTES_MAX {
        return Err(ReadError::TooLarge {
            limit: RESULT_BYTES_MAX,
        });
    }
    encode::decode(&text)
}

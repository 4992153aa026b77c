//! JSON results in files: written whole or not at all, read up to a limit.
//!
//! Must not know the layout. Invariant: at every instant the file's name leads to a whole result
//! or to what was there before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use loadline_model::RunResult;

use super::encode::{self, Options, ReadError};
use crate::files;

/// Most bytes of a file that are read: a hundred times the largest result of a run.
pub const RESULT_BYTES_MAX: u64 = 256 << 20;

/// Writes a result to a file: to a temporary one beside it, synced, which then takes its name.
/// A device or a pipe is written to directly; a symbolic link stays one.
///
/// # Errors
/// Those of the file system; the temporary file is then removed.
pub fn save(path: &Path, result: &RunResult, options: Options) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        let file = files::create(path)?;
        return encode::write(result, options, BufWriter::new(file));
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let temporary = beside(&path)?;
    let replaced = fill(&temporary, result, options).and_then(|()| fs::rename(&temporary, &path));
    if replaced.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn fill(temporary: &Path, result: &RunResult, options: Options) -> io::Result<()> {
    // In a folder that others write to, a link of theirs may wait under this name.
    let _ = fs::remove_file(temporary);
    let mut writer = BufWriter::new(File::create_new(temporary)?);
    encode::write(result, options, &mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_data()
}

/// A name in the same folder that no other process takes.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names a folder, not a file",
        )
    })?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Reads a result from a file.
///
/// # Errors
/// Says what the file is instead, and where it breaks.
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

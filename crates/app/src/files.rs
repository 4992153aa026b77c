//! Reads the files that a command line names.
//!
//! Must not know their content. Invariant: no file larger than 1 GiB is held in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of a file held in memory, in bytes: a larger body is streamed (`--stream`), and a larger list
/// of lines is a mistake.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// Where named files are read from.
#[derive(Clone, Debug)]
pub enum Files {
    /// The file system; `-` is standard input.
    Disk,
    /// In memory: for tests and fuzzing, which use no disk, and for files that another machine has read.
    Memory(BTreeMap<String, Vec<u8>>),
    /// The file system; read files are kept, so that they can be passed on.
    Recorded(Arc<Mutex<BTreeMap<String, Vec<u8>>>>),
}

/// A file that could not be read.
#[derive(Debug)]
pub struct FileError {
    /// Its name as given.
    pub path: String,
    /// The system's error.
    pub error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { path, error } = self;
        write!(
            f,
            "cannot read {path}: {error}; check its name and permissions"
        )
    }
}

impl std::error::Error for FileError {}

impl Files {
    /// The files read so far, if they are kept.
    #[must_use]
    pub fn recorded(&self) -> BTreeMap<String, Vec<u8>> {
        match self {
            Files::Recorded(read) => read.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            Files::Disk | Files::Memory(_) => BTreeMap::new(),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than 1 GiB.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        self.read_bytes(path).map_err(|error| FileError {
            path: path.to_owned(),
            error,
        })
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`Files::read`], and if the bytes are not UTF-8.
    pub fn read_text(&self, path: &str) -> Result<String, FileError> {
        let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        let text = String::from_utf8(self.read(path)?).map_err(invalid);
        text.map_err(|error| FileError {
            path: path.to_owned(),
            error,
        })
    }

    /// Whether a file can be opened for reading, for files that are read later.
    ///
    /// # Errors
    /// It cannot.
    pub fn check(&self, path: &str) -> Result<(), FileError> {
        let opened = match self {
            Files::Disk | Files::Recorded(_) => File::open(path)
                .and_then(|file| file.metadata())
                .and_then(|known| {
                    let folder = || io::Error::from(io::ErrorKind::IsADirectory);
                    if known.is_dir() {
                        Err(folder())
                    } else {
                        Ok(())
                    }
                }),
            Files::Memory(_) => self.read_bytes(path).map(drop),
        };
        opened.map_err(|error| FileError {
            path: path.to_owned(),
            error,
        })
    }

    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        match self {
            Files::Memory(files) => files
                .get(path)
                .cloned()
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)),
            Files::Recorded(read) => {
                let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(bytes) = read.get(path) {
                    return Ok(bytes.clone());
                }
                let bytes = Files::Disk.read_bytes(path)?;
                read.insert(path.to_owned(), bytes.clone());
                Ok(bytes)
            }
            Files::Disk if path == "-" => read_capped(io::stdin().lock()),
            Files::Disk => read_capped(File::open(path)?),
        }
    }
}

/// Reads everything; an error beyond [`FILE_BYTES_MAX`], as from a device that never ends.
pub(crate) fn read_capped(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {FILE_BYTES_MAX} bytes (stream a body of that size)"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_the_next_step() {
        let error = Files::Disk
            .read("/nonexistent/body")
            .expect_err("there is no such file");
        assert!(error.to_string().contains("/nonexistent/body"), "{error}");
        assert!(error.to_string().contains("check its name"), "{error}");
        assert!(Files::Disk.check("/").is_err(), "a folder is not a file");
    }

    #[test]
    fn text_must_be_text() {
        let files = Files::Memory([("f".to_owned(), vec![0xff])].into());
        assert!(
            files
                .read_text("f")
                .expect_err("not text")
                .to_string()
                .contains("UTF-8")
        );
        assert_eq!(files.read("f").expect("bytes are bytes"), [0xff]);
    }
}

//! The lock that prevents two runners from using one state folder.
//!
//! Must not know its content. Invariant: the lock ends with its holder, however that dies: the system releases
//! it.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The file that is locked.
const LOCK: &str = "lock";

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

/// Why a state folder could not be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another runner has it.
    Held {
        /// The folder.
        folder: PathBuf,
        /// The other's process id, when it could be read.
        holder: Option<u32>,
    },
    /// The lock file cannot be made or locked.
    Io(PathBuf, io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Held { folder, holder } => {
                let who = named(*holder);
                let folder = folder.display();
                write!(
                    f,
                    "{folder} is in use by {who}; wait for it, or choose another directory with --state"
                )
            }
            LockError::Io(path, error) => {
                write!(f, "{}: {error}; check its permissions", path.display())
            }
        }
    }
}

impl std::error::Error for LockError {}

/// Who holds a lock, in words.
fn named(holder: Option<u32>) -> String {
    holder.map_or("another process".to_owned(), |pid| format!("process {pid}"))
}

/// A lock file's data about its holder.
fn read_holder(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

impl StateLock {
    /// The current holder of a state folder's lock, in words; `None`: there is none, as far as is known.
    #[must_use]
    pub fn holder(folder: &Path) -> Option<String> {
        let file = File::open(folder.join(LOCK)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(named(read_holder(&file))),
            _ => None,
        }
    }

    /// Locks a state folder, which is created if missing.
    ///
    /// # Errors
    /// Another runner holds the lock, or a file system error.
    pub fn acquire(folder: &Path) -> Result<StateLock, LockError> {
        let path = folder.join(LOCK);
        let fail = |error| LockError::Io(path.clone(), error);
        fs::create_dir_all(folder).map_err(fail)?;
        let mut options = OpenOptions::new();
        let opened = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = opened.map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    folder: folder.to_owned(),
                    holder: read_holder(&file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        file.set_len(0).map_err(fail)?;
        file.rewind().map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(StateLock { _file: file })
    }
}

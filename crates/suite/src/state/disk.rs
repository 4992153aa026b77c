//! The few file operations for a state, as a trait: the file system, or one that fails on purpose.
//!
//! Must not know the content of files. Invariant: the effect of a successful operation is visible to every
//! later one.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// File operations.
pub trait Disk: Send + Sync {
    /// The bytes of a file.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Writes a file, in place of one that is there.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a file's bytes survive a loss of power.
    ///
    /// # Errors
    /// It is not there, or the disk refuses.
    fn sync_file(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or folder atomically.
    ///
    /// # Errors
    /// It cannot be.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive a loss of power.
    ///
    /// # Errors
    /// It is not there, or the disk refuses.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder and those above it; one that is there stays.
    ///
    /// # Errors
    /// It cannot be made.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// It cannot be.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Names in a folder, in no order.
    ///
    /// # Errors
    /// It cannot be read.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Whether there is a file or folder of this name.
    fn exists(&self, path: &Path) -> bool;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::write(path, bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // A relative folder's parent may be the folder that the process runs in.
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        File::open(path)?.sync_all()
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(path)?;
        let names =
            entries.map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

//! Writes batches to the disk with one synced append each; a failed batch is kept for the next attempt.
//!
//! Must not know threads. Invariant: after every call the disk ends with a complete record, or is truncated to
//! one before the next append; a batch leaves memory only once it is on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::encode::{self, MAGIC};
use super::recover;
use crate::files;

/// Appended bytes after which the journal is rewritten as a single sum. A minute of 20,000 requests per second
/// in an open model takes 0.6 MB, so this happens about once an hour, and the file stays small even in runs of
/// days.
pub(super) const REWRITE_BYTES: u64 = 32 << 20;

/// Destination of records: a file, or in tests a failing disk.
pub(super) trait Disk {
    /// Appends and syncs. After an error, part of the bytes may have been written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Truncates to a length after a failed append.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Rewrites all records as their sum and returns the new length; on error the old file stays.
    fn rewrite(&mut self) -> io::Result<u64>;
}

/// Writes batches, and keeps what could not be written.
pub(super) struct Writer<D> {
    disk: D,
    unsaved: Batch,
    /// Bytes of complete records.
    length: u64,
    /// Length at which the file is rewritten.
    rewrite_at: u64,
    /// Whether there may be bytes after the last complete record.
    dirty: bool,
    pub(super) records: u64,
    pub(super) trouble: Option<io::Error>,
}

impl<D: Disk> Writer<D> {
    /// A writer on a disk that only contains the first line.
    pub(super) fn new(disk: D, rewrite_bytes: u64) -> Self {
        Writer {
            disk,
            unsaved: Batch::default(),
            length: MAGIC.len() as u64,
            rewrite_at: rewrite_bytes,
            dirty: false,
            records: 0,
            trouble: None,
        }
    }

    /// Writes a batch together with everything that failed before.
    pub(super) fn write(&mut self, batch: Batch) {
        self.unsaved.absorb(batch);
        if self.unsaved.is_empty() {
            return;
        }
        match self.append_unsaved() {
            Ok(()) => self.unsaved = Batch::default(),
            Err(error) => {
                self.trouble.get_or_insert(error);
            }
        }
        if self.length >= self.rewrite_at {
            self.rewrite();
        }
    }

    /// Whether everything received is on the disk.
    pub(super) fn is_complete(&self) -> bool {
        self.unsaved.is_empty()
    }

    fn append_unsaved(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut records = 0;
        if let Some(start) = &self.unsaved.start {
            bytes.extend(encode::start_record(start)?);
            records += 1;
        }
        if let Some(part) = self.unsaved.part() {
            bytes.extend(encode::part_record(&part)?);
            records += 1;
        }
        if let Some(end) = &self.unsaved.end {
            bytes.extend(encode::end_record(end)?);
            records += 1;
        }
        if self.dirty {
            self.disk.cut(self.length)?;
        }
        self.dirty = true;
        self.disk.append(&bytes)?;
        self.dirty = false;
        self.length += bytes.len() as u64;
        self.records += records;
        Ok(())
    }

    /// If rewriting fails, the journal stays as it was, only longer.
    fn rewrite(&mut self) {
        if !self.dirty {
            match self.disk.rewrite() {
                Ok(length) => self.length = length,
                Err(error) => {
                    self.trouble.get_or_insert(error);
                }
            }
        }
        // Far enough ahead that a large sum is not rewritten every second.
        self.rewrite_at = self.rewrite_at.max(self.length.saturating_mul(2));
    }
}

/// How a journal's file is opened: readable only by its owner, and not through a link that exists under its
/// name.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
}

/// A journal's file.
#[derive(Debug)]
pub(super) struct FileDisk {
    file: File,
    path: PathBuf,
}

impl FileDisk {
    /// Empties the file and writes the first line.
    pub(super) fn begin(mut file: File, path: &Path) -> io::Result<FileDisk> {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(MAGIC)?;
        file.sync_all()?;
        Ok(FileDisk {
            file,
            path: path.to_path_buf(),
        })
    }
}

impl Disk for FileDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(|_| ())
    }

    fn rewrite(&mut self) -> io::Result<u64> {
        let told = recover::replay(BufReader::new(File::open(&self.path)?))
            .map_err(|error| io::Error::other(error.to_string()))?;
        let (Some(start), None, false) = (&told.start, &told.end, told.torn) else {
            return Err(io::Error::other("the journal was changed by someone else"));
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(encode::start_record(start)?);
        bytes.extend(encode::part_record(&told.sum())?);
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        // In a folder that others can write to, someone may have put a link under this name.
        let _ = fs::remove_file(&name);
        let mut file = private().create_new(true).open(&name)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        // The file has only been used by this process so far, so the lock cannot be taken by another.
        let _ = files::claim(&file);
        fs::rename(&name, &self.path)?;
        self.file = file;
        Ok(bytes.len() as u64)
    }
}

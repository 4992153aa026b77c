//! Putting batches on the disk: one synced append each; what fails is kept for the next try.
//!
//! Must not know threads. Invariant: after every call the disk ends with a whole record, or will
//! be cut to one before the next append; a batch leaves memory only when it is on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::encode::{self, MAGIC};
use super::recover;
use crate::files;

/// Appended bytes after which the journal is written anew as one sum. A minute of 20,000
/// requests a second in an open model took 0.6 MB, so this comes about once an hour, and the file
/// stays small in a run of days.
pub(super) const REWRITE_BYTES: u64 = 32 << 20;

/// Where records go: a file, or in tests a disk that fails.
pub(super) trait Disk {
    /// Appends and syncs. After an error, part of the bytes may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts back to a length after a failed append.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Writes the sum of all records anew and gives the new length; the old file stays on error.
    fn rewrite(&mut self) -> io::Result<u64>;
}

/// Writes batches, and keeps what could not be written.
pub(super) struct Writer<D> {
    disk: D,
    unsaved: Batch,
    /// Bytes of whole records.
    length: u64,
    /// Length at which the file is written anew.
    rewrite_at: u64,
    /// Whether bytes may stand behind the last whole record.
    dirty: bool,
    pub(super) records: u64,
    pub(super) trouble: Option<io::Error>,
}

impl<D: Disk> Writer<D> {
    /// A writer on a disk that holds the first line and nothing else.
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

    /// Writes a batch with all that could not be written before.
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

    /// Whether all that was handed over is on the disk.
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

    /// A failed rewriting leaves the journal as it was, only longer.
    fn rewrite(&mut self) {
        if !self.dirty {
            match self.disk.rewrite() {
                Ok(length) => self.length = length,
                Err(error) => {
                    self.trouble.get_or_insert(error);
                }
            }
        }
        // Far enough ahead that a sum which is large itself is not written anew each second.
        self.rewrite_at = self.rewrite_at.max(self.length.saturating_mul(2));
    }
}

/// How a journal's file is opened: for its owner alone, and through no link that waits under its name.
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
        bytes.extend(encode::part_record(&told.part)?);
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        // In a folder that others write to, a link of theirs may wait under this name.
        let _ = fs::remove_file(&name);
        let mut file = private().create_new(true).open(&name)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        // It has been this process's so far, and nobody else's can it be now.
        let _ = files::claim(&file);
        fs::rename(&name, &self.path)?;
        self.file = file;
        Ok(bytes.len() as u64)
    }
}

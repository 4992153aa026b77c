//! The journal's thread, and the slot through which it receives events.
//!
//! Must not know the engine. Invariant: [`Journal::record`] never waits for the disk: it only takes a lock that
//! the thread holds just for taking the slot's content.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use loadline_model::RunEvent;

use super::batch::Batch;
use super::recover::{self, RecoverError};
use super::writer::{Disk, FileDisk, REWRITE_BYTES, Writer, private};
use crate::files;

/// Why a journal could not be started.
#[derive(Debug)]
pub enum CreateError {
    /// The file cannot be created or written.
    Io(io::Error),
    /// The file is the journal of a run that crashed or is still running.
    Unread,
    /// The file is something else, and is left alone.
    NotAJournal,
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CreateError::Io(error) => write!(f, "cannot be written: {error}"),
            CreateError::Unread => write!(
                f,
                "is the journal of a run that died or still runs: read it with `loadline report`, \
                     then remove it, or name another file"
            ),
            CreateError::NotAJournal => {
                write!(f, "exists and is not a journal: name another file")
            }
        }
    }
}

impl std::error::Error for CreateError {}

/// The outcome of a journal.
#[derive(Debug)]
pub struct JournalReport {
    /// Records written.
    pub records: u64,
    /// The first disk error; `None` if there was none.
    pub trouble: Option<io::Error>,
    /// Whether everything is on the disk in the end, even after errors.
    pub complete: bool,
}

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    slot: Arc<Slot>,
    thread: Option<JoinHandle<JournalReport>>,
    path: PathBuf,
}

/// What the thread takes next.
#[derive(Debug, Default)]
struct Slot {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    batch: Batch,
    closed: bool,
    /// The first disk error, until it has been reported.
    untold: Option<String>,
}

impl Journal {
    /// Starts a journal. An existing file is only replaced if it is empty, or the journal of a run that ended
    /// normally.
    ///
    /// # Errors
    /// The file cannot be written or must not be replaced.
    pub fn create(path: &Path) -> Result<Journal, CreateError> {
        let file = private().create(true).truncate(false).open(path);
        let file = file.map_err(CreateError::Io)?;
        // A file that cannot be read back, such as a pipe or a device, cannot be a journal.
        if !file.metadata().is_ok_and(|known| known.is_file()) {
            return Err(CreateError::NotAJournal);
        }
        files::claim(&file).map_err(|_| CreateError::Unread)?;
        refuse_unless_replaceable(&file)?;
        Journal::begin(file, path)
    }

    /// Starts a journal in a new file; use this for names that others can guess.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create_new(path: &Path) -> Result<Journal, CreateError> {
        let file = private().create_new(true).open(path);
        Journal::begin(file.map_err(CreateError::Io)?, path)
    }

    fn begin(file: File, path: &Path) -> Result<Journal, CreateError> {
        let disk = FileDisk::begin(file, path).map_err(CreateError::Io)?;
        Journal::start(disk, path, REWRITE_BYTES).map_err(CreateError::Io)
    }

    pub(super) fn start(
        disk: impl Disk + Send + 'static,
        path: &Path,
        rewrite_bytes: u64,
    ) -> io::Result<Journal> {
        let slot = Arc::new(Slot::default());
        let shared = Arc::clone(&slot);
        let writer = Writer::new(disk, rewrite_bytes);
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || shared.write_until_closed(writer))?;
        Ok(Journal {
            slot,
            thread: Some(thread),
            path: path.to_path_buf(),
        })
    }

    /// Accepts an event; it is written as soon as the disk allows.
    pub fn record(&self, event: &RunEvent) {
        self.slot.lock().batch.add(event);
        self.slot.changed.notify_one();
    }

    /// The first disk error, returned once; the failed data is kept for the next attempt.
    #[must_use]
    pub fn take_trouble(&self) -> Option<String> {
        self.slot.lock().untold.take()
    }

    /// Where the journal is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the rest and returns the outcome.
    #[must_use]
    pub fn close(mut self) -> JournalReport {
        self.end_thread().unwrap_or_else(|| JournalReport {
            records: 0,
            trouble: Some(io::Error::other(
                "the journal's thread failed; this is a defect of loadline",
            )),
            complete: false,
        })
    }

    fn end_thread(&mut self) -> Option<JournalReport> {
        self.slot.lock().closed = true;
        self.slot.changed.notify_one();
        self.thread.take()?.join().ok()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.end_thread();
    }
}

impl Slot {
    /// A panic elsewhere leaves no inconsistent state here, so a poisoned lock is fine.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_until_closed<D: Disk>(&self, mut writer: Writer<D>) -> JournalReport {
        let mut closed = false;
        while !closed {
            let mut pending = self.lock();
            while pending.batch.is_empty() && !pending.closed {
                pending = self
                    .changed
                    .wait(pending)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let batch = std::mem::take(&mut pending.batch);
            closed = pending.closed;
            drop(pending);
            let was_well = writer.trouble.is_none();
            writer.write(batch);
            if let Some(error) = writer.trouble.as_ref().filter(|_| was_well) {
                self.lock().untold = Some(error.to_string());
            }
        }
        let complete = writer.is_complete();
        JournalReport {
            records: writer.records,
            trouble: writer.trouble,
            complete,
        }
    }
}

fn refuse_unless_replaceable(file: &File) -> Result<(), CreateError> {
    if file.metadata().map_err(CreateError::Io)?.len() == 0 {
        return Ok(());
    }
    match recover::replay(BufReader::new(file)) {
        Ok(told) if told.end.is_some() || told.start.is_none() && !told.torn => Ok(()),
        Ok(_) => Err(CreateError::Unread),
        Err(RecoverError::Io(error)) => Err(CreateError::Io(error)),
        Err(RecoverError::Empty) => Ok(()),
        Err(RecoverError::NotAJournal | RecoverError::OtherVersion { .. }) => {
            Err(CreateError::NotAJournal)
        }
    }
}

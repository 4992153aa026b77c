//! The journal of a run: its location, and its end.
//!
//! Must not know its format. Invariant: a journal that was not requested never stops a run, and is removed
//! after a clean end.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use loadline_model::civil::Civil;
use loadline_model::{ExitCode, RunEvent};
use loadline_output::journal::{CreateError, Journal};

use crate::terminal::print;
use crate::{Ending, Env, state_folder};

/// Prefix of the names of journals that were not requested.
const PREFIX: &str = "loadline-";
/// Their suffix.
const SUFFIX: &str = ".journal";
/// Runs that may start in the same second under the same process number.
const NAMESAKES_MAX: u32 = 64;
/// How long a leftover journal is kept.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where the journal goes.
pub(crate) enum Place {
    /// To a file that the user named.
    File(PathBuf),
    /// To a new file in this folder.
    Folder(PathBuf),
    /// There is none.
    Nowhere,
}

impl Place {
    /// The file or the folder named by the environment, or the user's state folder.
    pub(crate) fn default_in(env: &Env) -> Place {
        if let Some(file) = env.get("LOADLINE_JOURNAL") {
            return Place::File(file.into());
        }
        Place::Folder(state_folder::of(env))
    }
}

/// The journal of one run.
pub(crate) struct RunJournal {
    place: Place,
    journal: Option<Journal>,
}

impl RunJournal {
    /// Starts a journal that the user named; the other kind starts with the run, whose start time is its name.
    ///
    /// # Errors
    /// The named file cannot be written: reported before anything is sent.
    pub(crate) fn begin(place: Place) -> Result<RunJournal, Ending> {
        let journal = match &place {
            Place::File(path) => Some(Journal::create(path).map_err(|error| {
                Ending::usage(&format!("--journal {}: {error}", path.display()))
            })?),
            Place::Folder(_) | Place::Nowhere => None,
        };
        Ok(RunJournal { place, journal })
    }

    /// Writes an event.
    pub(crate) fn record(&mut self, event: &RunEvent) {
        if let (
            Place::Folder(folder),
            RunEvent::Started {
                started_unix_ms, ..
            },
        ) = (&self.place, event)
        {
            self.journal = begin_in(folder, *started_unix_ms);
        }
        let Some(journal) = &self.journal else {
            return;
        };
        journal.record(event);
        if let Some(why) = journal.take_trouble() {
            print::to_stderr(&format!(
                "loadline: the journal {} cannot be written: {why}; until it can, a crash would lose the measurements\n",
                journal.path().display()
            ));
        }
    }

    /// Ends the journal. One that the user named is kept; the other kind is removed after the result was
    /// reported (`clean`).
    ///
    /// # Errors
    /// A named journal that is incomplete.
    pub(crate) fn end(self, clean: bool) -> Result<(), Ending> {
        let Some(journal) = self.journal else {
            return Ok(());
        };
        let path = journal.path().to_path_buf();
        let report = journal.close();
        if let Place::File(_) = self.place {
            let why = report
                .trouble
                .map_or_else(String::new, |error| format!(": {error}"));
            let message = format!("the journal {} is incomplete{why}", path.display());
            return if report.complete {
                Ok(())
            } else {
                Err(Ending::refusal(ExitCode::Other, &message))
            };
        }
        if clean {
            // If it stays, a later run removes it.
            let _ = fs::remove_file(&path);
        } else {
            print::to_stderr(&format!("the journal of the run: {}\n", path.display()));
        }
        Ok(())
    }
}

fn begin_in(folder: &Path, started_unix_ms: u64) -> Option<Journal> {
    clear(folder, started_unix_ms);
    let stem = format!(
        "{PREFIX}{}-{}",
        utc(started_unix_ms / 1000),
        std::process::id()
    );
    let path = folder.join(format!("{stem}{SUFFIX}"));
    // Processes in several containers that share the folder may have the same number.
    let others = (2..=NAMESAKES_MAX).map(|more| folder.join(format!("{stem}-{more}{SUFFIX}")));
    let mut made = Journal::create_new(&path);
    for other in others {
        if !matches!(&made, Err(CreateError::Io(error)) if error.kind() == ErrorKind::AlreadyExists)
        {
            break;
        }
        made = Journal::create_new(&other);
    }
    made.map_err(|error| {
        print::to_stderr(&format!(
            "loadline: cannot write a journal: {} {error}; name another directory with LOADLINE_STATE, or give --no-journal\n",
            path.display()
        ));
    })
    .ok()
}

/// Removes journals older than a month. One in use changes every second.
fn clear(folder: &Path, now_unix_ms: u64) {
    let Some(oldest) = Duration::from_millis(now_unix_ms).checked_sub(KEPT_FOR) else {
        return;
    };
    let is_old = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let changed = entry.metadata().and_then(|known| known.modified());
        name.starts_with(PREFIX)
            && name.ends_with(SUFFIX)
            && changed.is_ok_and(|changed| changed < UNIX_EPOCH + oldest)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for old in entries.filter(is_old) {
        // It belongs to another user, or another run was faster.
        let _ = fs::remove_file(old.path());
    }
}

/// Seconds since 1970 as `20260314T150926Z`.
fn utc(unix_seconds: u64) -> String {
    let at = Civil::of_unix_s(unix_seconds);
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_journals_are_cleared_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["loadline-a.journal", "other.journal", "loadline-demo.json"] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        let names = || {
            let entries = fs::read_dir(folder.path()).expect("it is there");
            entries.count()
        };
        let written = fs::metadata(folder.path().join("loadline-a.journal"));
        let written = written.and_then(|known| known.modified()).expect("known");
        let written = written.duration_since(UNIX_EPOCH).expect("after 1970");
        let after = |time: Duration| u64::try_from((written + time).as_millis()).expect("fits");
        clear(
            folder.path(),
            after(KEPT_FOR.saturating_sub(Duration::from_secs(60))),
        );
        assert_eq!(names(), 3);
        clear(folder.path(), after(KEPT_FOR + Duration::from_secs(60)));
        assert_eq!(names(), 2);
        clear(folder.path(), 0);
    }

    #[test]
    fn runs_of_the_same_name_have_journals_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let begun = || begin_in(folder.path(), 1_773_500_966_000).expect("it is made");
        let (one, other) = (begun(), begun());
        assert_ne!(one.path(), other.path());
        assert!(other.path().to_string_lossy().ends_with("-2.journal"));
        let _ = one.close();
        let _ = other.close();
    }

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_773_500_966, "20260314T150926Z"),
            (4_102_444_799, "20991231T235959Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}

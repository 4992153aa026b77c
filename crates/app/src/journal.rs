//! The journal of a run: where it goes, and what becomes of it.
//!
//! Must not know its format. Invariant: a journal that nobody asked for never stops a run, and is
//! removed after a clean end.

use std::path::{Path, PathBuf};

use loadline_model::civil::Civil;
use loadline_model::{ExitCode, RunEvent};
use loadline_output::journal::Journal;

use crate::terminal::print;
use crate::{Ending, Env};

/// Where the journal goes.
pub(crate) enum Place {
    /// To a file that the user named.
    File(PathBuf),
    /// To a file of its own in this folder.
    Folder(PathBuf),
    /// There is none.
    Nowhere,
}

impl Place {
    /// The file or the folder that the environment names, or the folder for temporary files.
    pub(crate) fn default_in(env: &Env) -> Place {
        if let Some(file) = env.get("LOADLINE_JOURNAL") {
            return Place::File(file.into());
        }
        Place::Folder(
            env.get("LOADLINE_STATE")
                .map_or_else(std::env::temp_dir, PathBuf::from),
        )
    }
}

/// The journal of one run.
pub(crate) struct RunJournal {
    place: Place,
    journal: Option<Journal>,
}

impl RunJournal {
    /// Begins the journal that the user named; the other kind begins with the run, whose start
    /// names it.
    ///
    /// # Errors
    /// The named file cannot be written: told before anything is sent.
    pub(crate) fn begin(place: Place) -> Result<RunJournal, Ending> {
        let journal = match &place {
            Place::File(path) => Some(Journal::create(path).map_err(|error| {
                Ending::usage(&format!("--journal {}: {error}", path.display()))
            })?),
            Place::Folder(_) | Place::Nowhere => None,
        };
        Ok(RunJournal { place, journal })
    }

    /// Takes in an event.
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
        if let Some(journal) = &self.journal {
            journal.record(event);
        }
    }

    /// Ends the journal. One that the user named stays; the other kind goes when the result was told
    /// (`clean`).
    ///
    /// # Errors
    /// A named journal that is not complete.
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
            let message = format!("the journal {} is not complete{why}", path.display());
            return if report.complete {
                Ok(())
            } else {
                Err(Ending::refusal(ExitCode::Other, &message))
            };
        }
        if clean {
            // What is left behind there is cleared by the system.
            let _ = std::fs::remove_file(&path);
        } else {
            print::to_stderr(&format!("the journal of the run: {}\n", path.display()));
        }
        Ok(())
    }
}

fn begin_in(folder: &Path, started_unix_ms: u64) -> Option<Journal> {
    let name = format!(
        "loadline-{}-{}.journal",
        utc(started_unix_ms / 1000),
        std::process::id()
    );
    match Journal::create(&folder.join(&name)) {
        Ok(journal) => Some(journal),
        Err(error) => {
            let path = folder.join(name);
            print::to_stderr(&format!(
                "loadline: no journal is kept: {} {error}; set LOADLINE_STATE, or give --no-journal\n",
                path.display()
            ));
            None
        }
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

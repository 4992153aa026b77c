//! The files that a script's run writes.
//!
//! Must not know their content. Invariant: a file that cannot be written, or that would be written twice or
//! overwrite the script, is refused before anything is sent.

use std::path::Path;

use super::Going;
use crate::outputs::files_of;
use crate::result_files::{ResultFiles, check_apart};

impl Going<'_> {
    /// The files to which the result is written.
    pub(super) fn result_files(&self) -> ResultFiles<'_> {
        let pages = &self.run.pages;
        let by_flag = pages.json.as_deref().map(|path| ("--json", path));
        let by_env = ResultFiles::of_env(self.env).json;
        ResultFiles {
            reports: pages.reports.iter().map(String::as_str).collect(),
            charts: pages.charts.as_deref().map(Path::new),
            json: by_flag.into_iter().chain(by_env).collect(),
            hdr: false,
        }
    }

    /// Checks all files before the run.
    pub(super) fn check_files(&self) -> Result<(), String> {
        let files = self.result_files();
        if self.run.journal.as_deref() == Some("-") {
            return Err(
                "--journal: - is not a file; name one (./- names a file of this name)".to_owned(),
            );
        }
        let reports = files.reports.iter().map(|path| ("--report", *path));
        let journal = self.run.journal.as_deref().map(|path| ("--journal", path));
        let summary = self.run.summary.export.as_deref();
        let console = self.run.console_output.as_deref();
        let texts = [("--summary-export", summary), ("--console-output", console)];
        let texts = texts
            .into_iter()
            .filter_map(|(option, path)| Some((option, path?)));
        let own = [("the script", self.named)].into_iter().chain(reports);
        let own = own.chain(files.json.iter().copied()).chain(journal);
        let own = own.chain(texts);
        let own = own.map(|(option, path)| (option.to_owned(), path));
        check_apart(own.chain(files_of(&self.run.outputs)))?;
        files.check()
    }
}

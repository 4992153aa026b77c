//! Writes the documents of a suite, and traces their cells.
//!
//! Must not know the content of a document. Invariant: a document that would not change is not written.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use loadline_model::{ExitCode, RunResult};
use loadline_output::files;
use loadline_report::html;
use loadline_report::svg::{self, Palette};
use loadline_suite::document::{
    self, DocumentError, DocumentKind, DocumentSpec, History, HistoryColumns, HistoryRow,
    PlainTable, Rendered, SmallRuns,
};
use loadline_suite::expression::figures::RunFigures;
use loadline_suite::file::SuiteFile;
use loadline_suite::outcome::{RowOutcome, RunOutcome, SuiteOutcome};
use loadline_suite::state::StateFolder;

use crate::{Ending, charts};

/// The file in the state folder with the figures of every run.
const HISTORY: &str = "history.columns";

/// The folders of documents.
pub(super) struct Folders<'a> {
    /// The folder of the suite file.
    pub(super) suite: &'a Path,
    /// The folder to which they are written.
    pub(super) documents: &'a Path,
}

impl Folders<'_> {
    /// The current content of a document. A new document starts as the one next to the suite file.
    fn existing(&self, path: &Path, name: &str) -> Result<Option<String>, Ending> {
        for path in [path, &self.suite.join(name)] {
            match fs::read_to_string(path) {
                Ok(text) => return Ok(Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(path, &error)),
            }
        }
        Ok(None)
    }
}

/// Ensures that each existing document has a place for its generated content.
///
/// # Errors
/// A document cannot be read, or has no such place.
pub(super) fn check_places(file: &SuiteFile, folders: &Folders<'_>) -> Result<(), Ending> {
    for spec in &file.documents {
        let path = folders.documents.join(&spec.file.value);
        if let Some(existing) = folders.existing(&path, &spec.file.value)? {
            let checked = document::check_places(spec, &existing);
            checked.map_err(|error| refused(file, &path, &error))?;
        }
    }
    Ok(())
}

/// Writes every document with its charts, and prints their names.
///
/// # Errors
/// A document cannot be rendered, read or written.
pub(super) fn write_all(
    file: &SuiteFile,
    folders: &Folders<'_>,
    state: &StateFolder,
    outcome: &SuiteOutcome,
) -> Result<String, Ending> {
    let mut told = String::new();
    for spec in &file.documents {
        let path = folders.documents.join(&spec.file.value);
        let existing = folders.existing(&path, &spec.file.value)?;
        let rendered = match spec.history {
            true => {
                let columns = HistoryColumns::of(spec);
                let columns = columns.map_err(|error| refused(file, &path, &error))?;
                let history = history_with(state, outcome, &columns)?;
                document::render_history(spec, &outcome.name, &history, existing.as_deref())
            }
            false => document::render(spec, outcome, existing.as_deref(), &small_charts),
        };
        let rendered = rendered.map_err(|error| refused(file, &path, &error))?;
        draw(&rendered, state, outcome)?;
        let rules = document::rules_without_match(spec, outcome);
        for remark in rendered.remarks.iter().chain(&rules) {
            told += &format!("{}: {remark}\n", path.display());
        }
        if existing.as_ref() == Some(&rendered.text) && path.exists() {
            told += &format!("{} is up to date\n", path.display());
            continue;
        }
        replace(&path, rendered.text.as_bytes()).map_err(|error| failed(&path, &error))?;
        told += &format!("{} written\n", path.display());
    }
    Ok(told)
}

/// The tables of the first document for people, for the terminal; a history may have a million rows, and is not
/// shown.
///
/// # Errors
/// The document cannot be rendered.
pub(super) fn tables(
    file: &SuiteFile,
    outcome: &SuiteOutcome,
    has_intervals: bool,
) -> Result<Vec<PlainTable>, Ending> {
    let is_shown =
        |spec: &&DocumentSpec| !spec.history && document::kind_of(spec) != Ok(DocumentKind::Junit);
    let Some(spec) = file.documents.iter().find(is_shown) else {
        return Ok(Vec::new());
    };
    let tables = document::plain_tables(spec, outcome, has_intervals);
    tables.map_err(|error| refused(file, Path::new(&spec.file.value), &error))
}

/// Figures of all runs made in this state folder, including excluded ones: the given `columns`, or all. Runs of
/// the outcome that are missing are added to its file.
fn history_with(
    state: &StateFolder,
    outcome: &SuiteOutcome,
    columns: &HistoryColumns,
) -> Result<History, Ending> {
    let path = state.folder().join(HISTORY);
    let history = read_history(&path, columns)?;
    let runs = outcome.rows.iter();
    let runs = runs.flat_map(|row| row.runs.iter().map(move |run| (row, run)));
    let mut new: Vec<(String, &RowOutcome, &RunOutcome)> = runs
        .map(|(row, run)| {
            let began = run.result.totals.started_unix_ms;
            (format!("{}/{}@{began}", row.id, run.repetition), row, run)
        })
        .collect();
    let wanted: HashSet<&str> = new.iter().map(|(id, ..)| id.as_str()).collect();
    let ids = history.ids().filter(|id| wanted.contains(id));
    let held: HashSet<String> = ids.map(str::to_owned).collect();
    new.retain(|(id, ..)| !held.contains(id));
    if new.is_empty() {
        return Ok(history);
    }
    let mut history = read_history(&path, &HistoryColumns::ALL)?;
    for (id, row, run) in new {
        history.push(&HistoryRow {
            id,
            group: row.group.clone(),
            labels: row.labels.clone(),
            plan: row.plan.clone(),
            figures: RunFigures::of(&run.result),
            doubts: document::doubtful(&run.result.verdict.findings)
                .into_iter()
                .map(|finding| finding.code.clone())
                .collect(),
        });
    }
    replace(&path, &history.to_bytes()).map_err(|error| failed(&path, &error))?;
    Ok(history)
}

fn read_history(path: &Path, columns: &HistoryColumns) -> Result<History, Ending> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(History::default()),
        Err(error) => return Err(failed(path, &error)),
    };
    History::read(&mut file, columns)
        .map_err(|error| Ending::usage(&format!("{}: {error}", path.display())))
}

fn small_charts(runs: &[&RunResult]) -> SmallRuns {
    let drawn = svg::small_charts(runs, &Palette::PAGE);
    SmallRuns {
        scales: drawn.scales,
        charts: drawn.charts,
    }
}

/// Draws the charts and reports that a document shows or links to; existing ones were drawn from the same
/// result.
fn draw(rendered: &Rendered, state: &StateFolder, outcome: &SuiteOutcome) -> Result<(), Ending> {
    let mut drawn: BTreeSet<PathBuf> = BTreeSet::new();
    for chart in &rendered.charts {
        let file = state.folder().join(&chart.file);
        let folder = file.parent().unwrap_or(state.folder()).to_path_buf();
        if file.exists() || !drawn.insert(folder.clone()) {
            continue;
        }
        let runs = outcome.rows.iter().flat_map(|row| &row.runs);
        let run = runs.into_iter().find(|run| run.file == chart.result);
        if let Some(run) = run {
            let saved = charts::prepare(&folder).and_then(|()| charts::save(&folder, &run.result));
            saved.map_err(|why| Ending::refusal(ExitCode::Other, &why))?;
        }
    }
    for report in &rendered.reports {
        let file = state.folder().join(&report.file);
        let runs = outcome.rows.iter().flat_map(|row| &row.runs);
        let run = runs.into_iter().find(|run| run.file == report.result);
        if let Some(run) = run.filter(|_| !file.exists()) {
            let page = html::report(&run.result);
            files::replace(&file, page).map_err(|error| failed(&file, &error))?;
        }
    }
    Ok(())
}

/// Replaces a file atomically, so that a document is never partially written, and creates its folder if
/// necessary.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    files::replace(path, bytes)
}

/// The origin of a cell, in the named document, or in the first that has the cell.
///
/// # Errors
/// No document has the row and the column.
pub(super) fn explain(
    file: &SuiteFile,
    outcome: &SuiteOutcome,
    row: &str,
    column: &str,
    wanted: Option<&str>,
) -> Result<String, Ending> {
    let is_wanted = |spec: &&DocumentSpec| wanted.is_none_or(|wanted| spec.file.value == wanted);
    let mut first_error = None;
    for spec in file.documents.iter().filter(is_wanted) {
        match document::explain(spec, outcome, row, column) {
            Ok(explanation) => return Ok(format!("{}\n{explanation}", spec.file.value)),
            Err(error) => {
                let path = Path::new(&spec.file.value);
                first_error.get_or_insert(refused(file, path, &error));
            }
        }
    }
    Err(first_error.unwrap_or_else(|| {
        let names: Vec<&str> = file
            .documents
            .iter()
            .map(|spec| spec.file.value.as_str())
            .collect();
        Ending::usage(&match names[..] {
            [] => "the suite has no documents; write `documents:` into it".to_owned(),
            _ => format!(
                "there is no such document; the documents are {}",
                names.join(", ")
            ),
        })
    }))
}

fn refused(file: &SuiteFile, path: &Path, error: &DocumentError) -> Ending {
    let of = if error.in_document {
        path.display().to_string()
    } else {
        file.path.clone()
    };
    let place = match error.line {
        0 => of,
        line => format!("{of}:{line}:{}", error.column),
    };
    Ending::usage(&format!("{place}: {}; {}", error.what, error.fix))
}

fn failed(path: &Path, error: &io::Error) -> Ending {
    Ending::refusal(
        ExitCode::Other,
        &format!("{}: {}", path.display(), trouble(error)),
    )
}

/// Why a document cannot be read or written, and the next step.
fn trouble(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidData => "its text is not UTF-8; save it as UTF-8".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("{error}; make room, then render again")
        }
        _ => format!("{error}; check its permissions"),
    }
}

#[cfg(test)]
mod tests {
    use loadline_run::verdict::Code;

    use super::*;

    #[test]
    fn a_document_that_is_no_text_is_no_matter_of_rights() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("R.md");
        fs::write(&file, b"R\xe9sultats").expect("there is room");
        let told = |error: io::Error| trouble(&error);
        let no_text = fs::read_to_string(&file).expect_err("it is Latin-1");
        assert_eq!(told(no_text), "its text is not UTF-8; save it as UTF-8");
        let no_file = fs::read_to_string(folder.path()).expect_err("it is a folder");
        assert!(told(no_file).ends_with("; check its permissions"));
    }

    #[test]
    fn every_finding_that_marks_a_figure_has_a_footnote() {
        // These are notes, whatever was measured.
        let notes = [
            Code::AgentReturned,
            Code::ClosedConnections,
            Code::Redirected,
            Code::Saturated,
            Code::NetworkBound,
            Code::SlowRequest,
            Code::FailingRequest,
            Code::OneRun,
        ];
        for code in Code::ALL.iter().filter(|code| !notes.contains(code)) {
            assert!(document::footnote(code.name()).is_some(), "{}", code.name());
        }
    }
}

//! Files that rows write because of their command lines.
//!
//! Must not know their content, nor folders: paths are compared as written. Invariant: no row overwrites a file
//! that the suite reads or keeps.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::PlannedRow;
use super::settings::Front;
use super::words::{Names, Style, values};
use crate::file::{Problem, SuiteFile};

/// Options whose value is a file or a folder, of `loadline bench`, of scripts and of plans.
const FILES: &[Names] = &[
    &["json"],
    &["report"],
    &["csv"],
    &["charts"],
    &["journal"],
    &["summary-export"],
    &["console-output"],
];
/// The same of plans alone.
const RESULTS_OF_PLANS: Names = &["l"];
/// Where results go, with what they are before `=`.
const OUTPUTS: Names = &["o", "out"];

/// Makes sure that no row overwrites the suite file, a document, or a row's files.
pub(super) fn check(file: &SuiteFile, rows: &[PlannedRow]) -> Result<(), Problem> {
    let kept = kept(file, rows);
    for row in rows {
        let mut written = written(&row.settings.front).into_iter();
        let found = written.find_map(|path| Some((kept.get(&plain(&path))?, path)));
        if let Some((what, path)) = found {
            return Err(Problem::new(
                row.settings.front_at,
                format!("the row {} writes {path}, which is {what}", row.title),
                "name another file",
            ));
        }
    }
    Ok(())
}

/// Files that several runs write, each replacing the previous one; all are doubtful in the same way.
pub(super) fn shared(rows: &[PlannedRow]) -> Vec<(String, Problem)> {
    let mut writers: BTreeMap<PathBuf, Vec<&PlannedRow>> = BTreeMap::new();
    for row in rows {
        for path in written(&row.settings.front) {
            writers.entry(plain(&path)).or_default().push(row);
        }
    }
    let runs = |rows: &[&PlannedRow]| -> u32 { rows.iter().map(|row| row.settings.repeat).sum() };
    let shared = writers.into_iter().filter(|(_, rows)| runs(rows) > 1);
    let told = shared.map(|(path, rows)| {
        let problem = Problem::new(
            rows[0].settings.front_at,
            format!(
                "{} runs write {}, each replacing the previous one",
                runs(&rows),
                path.display()
            ),
            "leave the option out, because the state directory keeps the result of every run; or put an axis into the name, as in \
             ${axis.vus}.json",
        );
        (String::new(), problem)
    });
    told.collect()
}

/// What must not be written over, and what that is.
fn kept(file: &SuiteFile, rows: &[PlannedRow]) -> BTreeMap<PathBuf, &'static str> {
    let mut kept = BTreeMap::new();
    for row in rows {
        match &row.settings.front {
            Front::Script { file, .. } => kept.insert(plain(file), "a script of the suite"),
            Front::Plan { file, .. } => kept.insert(plain(file), "a JMeter plan of the suite"),
            _ => None,
        };
    }
    let documents = file.documents.iter();
    kept.extend(documents.map(|spec| (plain(&spec.file.value), "a document of the suite")));
    // Rows are run in its folder.
    let own = Path::new(&file.path).file_name();
    kept.extend(own.map(|name| (PathBuf::from(name), "the suite file")));
    kept
}

/// The files that a command line writes.
fn written(front: &Front) -> Vec<String> {
    let words = front.arguments();
    let of = |names: &Names| values(words, Style::Gnu, names);
    let mut files: Vec<String> = match front {
        Front::Hey(_) | Front::Bombardier(_) => return Vec::new(),
        Front::Plan { .. } => of(&RESULTS_OF_PLANS),
        Front::Bench(_) | Front::Script { .. } => Vec::new(),
    };
    files.extend(FILES.iter().flat_map(of));
    files.extend(of(&OUTPUTS).into_iter().filter_map(file_of_output));
    files.retain(|file| !file.is_empty() && file != "-" && !file.starts_with("/dev/"));
    files
}

/// The file of an output: of `TYPE=FILE`, or a file that says its type by its name.
fn file_of_output(output: String) -> Option<String> {
    const FILES: [&str; 4] = ["json", "csv", "jtl", "junit"];
    match output.split_once('=') {
        Some((kind, file)) => FILES.contains(&kind).then(|| file.to_owned()),
        None => output.contains('.').then_some(output),
    }
}

/// A path in normal form, as far as its text tells.
fn plain(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

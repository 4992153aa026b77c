//! `loadline compare`: stored results compared with the first of them.
//!
//! Must not know how results are compared. Invariant: every file is read before anything is printed, and
//! crossed conditions are reported in every layout.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use loadline_model::ExitCode;
use loadline_model::result::RunResult;
use loadline_output::files;
use loadline_report::compare::{Comparison, Side, compare};

use super::report;
use crate::cli::CompareArgs;
use crate::terminal::{print, style};
use crate::{Ending, Env};

/// Maximum number of sides: a table has no room for more.
const SIDES_MAX: usize = 12;

/// Runs the command.
///
/// # Errors
/// A file that is not a result, a grouping that leaves nothing to compare, or a condition on something that a
/// result does not have.
pub(super) fn run(args: &CompareArgs, env: &Env) -> Result<ExitCode, Ending> {
    report::spare_the_sources(&args.files, args.html.as_deref())?;
    let results = args.files.iter().map(|file| {
        let result = report::read(file)?;
        Ok((file.clone(), result))
    });
    let results: Vec<(PathBuf, RunResult)> = results.collect::<Result<_, Ending>>()?;
    let sides = match &args.group_by {
        None => single(&results),
        Some(label) => grouped(label, &results)?,
    };
    if sides.len() < 2 || sides.len() > SIDES_MAX {
        return Err(Ending::usage(&match (sides.len(), &args.group_by) {
            (1, Some(label)) => format!(
                "all results have the same label {label}: there is nothing to compare them with; \
                 label runs with --label {label}=VALUE"
            ),
            (1, None) => "a single result cannot be compared; give two or more files".to_owned(),
            (count, _) => {
                format!("{count} columns are too many; give files for {SIDES_MAX} at most")
            }
        }));
    }
    let comparison = compare(&sides);
    let (crossed, unknown) = crossed(args, &comparison);
    if let (true, Some(why)) = (crossed.is_empty(), unknown.first()) {
        return Err(Ending::usage(why));
    }
    if let Some(path) = &args.html {
        let page = comparison.html(&sides);
        files::replace(path, &page).map_err(|error| {
            let path = path.display();
            Ending::refusal(
                ExitCode::Other,
                &format!("--html: cannot write {path}: {error}"),
            )
        })?;
    }
    tell(args, &comparison, env)?;
    for crossing in &crossed {
        print::to_stderr(&format!("crossed: {crossing}\n"));
    }
    for why in &unknown {
        print::to_stderr(&format!("not judged: {why}\n"));
    }
    Ok(match crossed.is_empty() {
        true => ExitCode::Ok,
        false => ExitCode::ThresholdsFailed,
    })
}

/// A side for each file, with the shortest distinguishable names.
fn single(results: &[(PathBuf, RunResult)]) -> Vec<Side<'_>> {
    let paths: Vec<&Path> = results.iter().map(|(path, _)| path.as_path()).collect();
    let sides = names(&paths).into_iter().zip(results);
    sides
        .map(|(name, (_, result))| Side {
            name,
            runs: vec![result],
        })
        .collect()
}

/// The name of each file: that of the file alone, or, among files with the same name, what differs in their paths. The
/// whole path where that leaves two files with one name.
fn names(paths: &[&Path]) -> Vec<String> {
    let short = |path: &&Path| {
        let is_alike = |other: &&&Path| other.file_name() == path.file_name();
        match paths.iter().filter(is_alike).collect::<Vec<_>>() {
            alike if alike.len() > 1 => differing(path, &alike),
            _ => path.file_name().map_or(PathBuf::new(), PathBuf::from),
        }
    };
    let names: BTreeSet<PathBuf> = paths.iter().map(short).collect();
    let are_distinct = names.len() == paths.len() && !names.contains(Path::new(""));
    let name = |path: &&Path| match are_distinct {
        true => short(path).display().to_string(),
        false => path.display().to_string(),
    };
    paths.iter().map(name).collect()
}

/// A path without the folders at its start, and the names at its end, that all of them share.
fn differing(path: &Path, all: &[&&Path]) -> PathBuf {
    let own: Vec<Component<'_>> = path.components().collect();
    let from_start = |other: &&&Path| alike(path.components(), other.components());
    let start = all.iter().map(from_start).min().unwrap_or(0);
    let from_end = |other: &&&Path| alike(path.components().rev(), other.components().rev());
    let end = all.iter().map(from_end).min().unwrap_or(0);
    own.iter()
        .take(own.len().saturating_sub(end))
        .skip(start)
        .collect()
}

/// How many of the first components are the same.
fn alike<'p>(
    one: impl Iterator<Item = Component<'p>>,
    other: impl Iterator<Item = Component<'p>>,
) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// A side for each value of a label, in order of appearance.
fn grouped<'r>(label: &str, results: &'r [(PathBuf, RunResult)]) -> Result<Vec<Side<'r>>, Ending> {
    let mut sides: Vec<Side<'r>> = Vec::new();
    for (path, result) in results {
        let value = result.labels.get(label).ok_or_else(|| {
            Ending::usage(&format!(
                "--group-by {label}: {} has no such label; label runs with --label {label}=VALUE",
                path.display()
            ))
        })?;
        match sides.iter_mut().find(|side| side.name == *value) {
            Some(side) => side.runs.push(result),
            None => sides.push(Side {
                name: value.clone(),
                runs: vec![result],
            }),
        }
    }
    Ok(sides)
}

/// The crossed conditions, and those on something that a result does not have; one sentence each.
fn crossed(args: &CompareArgs, comparison: &Comparison) -> (Vec<String>, Vec<String>) {
    let (mut crossed, mut unknown) = (Vec::new(), Vec::new());
    for condition in &args.fail_if {
        match condition.crossed(comparison) {
            Ok(crossings) => crossed.extend(crossings.into_iter().map(|crossing| crossing.text)),
            Err(why) => unknown.push(format!("--fail-if {why}")),
        }
    }
    (crossed, unknown)
}

fn tell(args: &CompareArgs, comparison: &Comparison, env: &Env) -> Result<(), Ending> {
    let text = if args.json {
        format!("{:#}\n", comparison.json())
    } else if args.markdown {
        comparison.markdown()
    } else {
        comparison.text(&style::of_stdout(args.no_color, env))
    };
    print::to_stdout(&text).map_err(|error| Ending::unwritten("the comparison", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_called_by_what_differs_in_their_paths() {
        let called = |paths: &[&str]| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            names(&paths)
        };
        assert_eq!(
            called(&["out/old.json", "new.json"]),
            ["old.json", "new.json"]
        );
        assert_eq!(
            called(&[
                "../runs/vus-10/1/result.json",
                "../runs/vus-50/1/result.json"
            ]),
            ["vus-10", "vus-50"]
        );
        assert_eq!(
            called(&["a/result.json", "b/result.json", "a/other.json"]),
            ["a", "b", "other.json"]
        );
        // One that is within the other has nothing of its own.
        assert_eq!(
            called(&["a/result.json", "a/b/result.json"]),
            ["a/result.json", "a/b/result.json"]
        );
        assert_eq!(called(&["a.json", "a.json"]), ["a.json", "a.json"]);
    }
}

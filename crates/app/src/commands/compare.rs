//! `loadline compare`: stored results compared with the first of them.
//!
//! Must not know how results are compared. Invariant: every file is read before anything is printed, and
//! crossed conditions are reported in every layout.

use std::path::{Path, PathBuf};

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
    let short = |path: &Path| {
        path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )
    };
    let names: Vec<String> = results.iter().map(|(path, _)| short(path)).collect();
    let sides = results.iter().enumerate().map(|(at, (path, result))| {
        let is_alone = names.iter().filter(|name| **name == names[at]).count() == 1;
        Side {
            name: if is_alone {
                names[at].clone()
            } else {
                path.display().to_string()
            },
            runs: vec![result],
        }
    });
    sides.collect()
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

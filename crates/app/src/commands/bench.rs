//! `loadline bench`.
//!
//! Must not know how a plan is built or a report laid out. Invariant: with `-` for JSON or CSV nothing
//! else goes to standard output.

use std::path::Path;

use loadline_model::ExitCode;
use loadline_model::result::RunResult;
use loadline_output::json;

use super::journal::Place;
use super::running::{self, Run};
use super::{fresh_seed, samples};
use crate::cli::bench::{BenchArgs, ResultArgs};
use crate::terminal::progress::Live;
use crate::terminal::{print, style};
use crate::{Ending, Env, Files, plan, redact};

/// Runs the command.
///
/// # Errors
/// Options, files and plans that cannot be run, and sinks that failed.
pub(super) fn run(
    args: &BenchArgs,
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let plan = plan::bench(args, env, files, fresh_seed()).map_err(|why| Ending::usage(&why))?;
    check_outputs(&args.results)?;
    let mut run = Run::prepare(
        plan,
        journal_place(&args.results, env),
        &redact::command_line(command_line, None),
    )?;
    let csv = match &args.results.csv {
        Some(path) => Some(samples::csv(path, run.samples()).map_err(|error| {
            Ending::usage(&format!(
                "--csv: cannot write {path}: {error}; name another file"
            ))
        })?),
        None => None,
    };
    let shown = style::of_stderr(args.results.no_color, env);
    let mut live = Live::on_stderr(run.plan(), args.results.quiet, shown);
    let ran = run.go(&mut |event| live.show(event));
    drop(live);
    let lost = csv.and_then(samples::finish);
    let (result, journal) = ran?;
    let told = tell(&args.results, &result, env);
    journal.end(told.is_ok())?;
    told?;
    match lost {
        Some(why) => Err(Ending::refusal(ExitCode::Other, &why)),
        None => Ok(running::exit_code(&result)),
    }
}

fn journal_place(args: &ResultArgs, env: &Env) -> Place {
    match (&args.journal, args.no_journal) {
        (Some(path), _) => Place::File(path.into()),
        (None, true) => Place::Nowhere,
        (None, false) => Place::default_in(env),
    }
}

/// Refuses outputs that cannot work, before anything is sent.
fn check_outputs(args: &ResultArgs) -> Result<(), Ending> {
    let stdout = Some("-");
    if args.json.as_deref() == stdout && args.csv.as_deref() == stdout {
        return Err(Ending::usage(
            "--json - and --csv - exclude each other; give one a file",
        ));
    }
    match args.json.as_deref() {
        Some(path) if path != "-" => check_folder(path),
        _ => Ok(()),
    }
}

/// The result is written at the end; that its folder is there is looked at now.
fn check_folder(path: &str) -> Result<(), Ending> {
    let folder = Path::new(path)
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if Path::new(path).is_dir() || !folder.is_dir() {
        return Err(Ending::usage(&format!(
            "--json: {path} cannot be written; name a file in a folder that is there"
        )));
    }
    Ok(())
}

fn tell(args: &ResultArgs, result: &RunResult, env: &Env) -> Result<(), Ending> {
    let failed = |what: &str, error| Ending::refusal(ExitCode::Other, &format!("{what}: {error}"));
    let options = |pretty| json::Options {
        pretty,
        hdr: args.hdr,
    };
    let is_pure = [&args.json, &args.csv]
        .iter()
        .any(|path| path.as_deref() == Some("-"));
    if is_pure {
        let report = loadline_report::text::render(result, &style::of_stderr(args.no_color, env));
        print::to_stderr(&report);
    } else {
        let report = loadline_report::text::render(result, &style::of_stdout(args.no_color, env));
        print::to_stdout(&report).map_err(|error| failed("the report cannot be written", error))?;
    }
    match args.json.as_deref() {
        None => Ok(()),
        Some("-") => to_stdout(result, options(true)).map_err(|error| failed("--json -", error)),
        Some(path) => json::save(Path::new(path), result, options(false))
            .map_err(|error| failed(&format!("--json: cannot write {path}"), error)),
    }
}

/// Writes the JSON result to standard output.
///
/// # Errors
/// Those of the stream; a closed one is none.
pub(super) fn to_stdout(result: &RunResult, options: json::Options) -> std::io::Result<()> {
    let mut text = Vec::new();
    json::write(result, options, &mut text)?;
    text.push(b'\n');
    print::to_stdout(&String::from_utf8_lossy(&text))
}

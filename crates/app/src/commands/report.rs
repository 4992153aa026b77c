//! `loadline report`: a stored result, or the content of a dead run's journal.
//!
//! Must not know either format. Invariant: unless a run finished by itself, the report says how it ended.

use std::path::{Path, PathBuf};

use loadline_model::ExitCode;
use loadline_model::result::RunResult;
use loadline_output::{files, journal, json};
use loadline_run::verdict::{Evidence, judge};

use super::own_run;
use super::stored::{Kind, Stored};
use crate::cli::ReportArgs;
use crate::jmeter::dashboard;
use crate::result_files::check_apart;
use crate::terminal::{print, style};
use crate::{Ending, Env, charts, pages};

/// Runs the command.
///
/// # Errors
/// The file cannot be read, or is neither a result nor a journal.
pub(super) fn run(args: &ReportArgs, env: &Env) -> Result<ExitCode, Ending> {
    spare_the_sources(
        std::slice::from_ref(&args.file),
        args.html.as_deref().map(Path::new),
    )?;
    let stored = Stored::open(&args.file)?;
    if stored.kind() == Kind::OfJmeter {
        return of_jmeter(stored, args);
    }
    let mut result = result_of(stored)?;
    if args.rejudge {
        result.verdict = judge(&Evidence::of(&result));
    }
    if args.html.is_some() || args.charts.is_some() {
        save(args, &result)?;
        return Ok(ExitCode::Ok);
    }
    let told = if args.json {
        own_run::to_stdout(
            &result,
            json::Options {
                pretty: true,
                hdr: args.hdr,
            },
        )
    } else {
        let style = style::of_stdout(args.no_color, env);
        print::to_stdout(&loadline_report::text::render(&result, &style))
    };
    told.map_err(|error| Ending::unwritten("the report", &error))?;
    Ok(ExitCode::Ok)
}

/// Refuses a page in the place of a result that it is made of.
///
/// # Errors
/// It would replace measurements.
pub(super) fn spare_the_sources(sources: &[PathBuf], page: Option<&Path>) -> Result<(), Ending> {
    let Some(page) = page.and_then(Path::to_str) else {
        return Ok(());
    };
    let sources = sources.iter().filter_map(|path| path.to_str());
    sources
        .map(|source| {
            [
                ("the result".to_owned(), source),
                ("--html".to_owned(), page),
            ]
        })
        .try_for_each(check_apart)
        .map_err(|why| Ending::usage(&why))
}

/// The report of a JMeter results file.
fn of_jmeter(stored: Stored, args: &ReportArgs) -> Result<ExitCode, Ending> {
    if args.rejudge {
        return Err(Ending::usage(
            "--rejudge: JMeter's results have no verdict: name a JSON result",
        ));
    }
    if args.charts.is_some() {
        return Err(Ending::usage(
            "--charts: the charts of JMeter results are only on the HTML page: use --html",
        ));
    }
    let name = stored.name().to_owned();
    let dashboard = dashboard::read_from(&name, stored.bytes(), &|_| None);
    // Its other caller says it with JMeter's exit code.
    let dashboard = dashboard.map_err(|ending| Ending {
        code: ExitCode::InvalidConfig,
        ..ending
    })?;
    let told = match (&args.html, args.json) {
        (Some(path), _) => files::replace(Path::new(path), dashboard.page()),
        (None, true) => print::to_stdout(&format!("{}\n", dashboard.statistics())),
        (None, false) => print::to_stdout(&dashboard.text()),
    };
    told.map_err(|error| Ending::unwritten("the report", &error))?;
    Ok(ExitCode::Ok)
}

/// Writes the requested files.
fn save(args: &ReportArgs, result: &RunResult) -> Result<(), Ending> {
    if let Some(path) = &args.html {
        pages::save(path, result)
            .map_err(|why| Ending::refusal(ExitCode::Other, &format!("--html: {why}")))?;
    }
    if let Some(folder) = &args.charts {
        charts::prepare(folder).map_err(|why| Ending::usage(&why))?;
        charts::save(folder, result).map_err(|why| Ending::refusal(ExitCode::Other, &why))?;
    }
    Ok(())
}

/// Reads a JSON result or a journal, from standard input for `-`.
///
/// # Errors
/// The file cannot be read, or is neither; the message names it.
pub(super) fn read(path: &Path) -> Result<RunResult, Ending> {
    result_of(Stored::open(path)?)
}

fn result_of(stored: Stored) -> Result<RunResult, Ending> {
    let name = stored.name().to_owned();
    let unreadable =
        |why: String| Ending::refusal(ExitCode::InvalidConfig, &format!("{name}: {why}"));
    if stored.kind() != Kind::Journal {
        return json::load_from(stored.bytes()).map_err(|error| unreadable(error.to_string()));
    }
    let recovered =
        journal::recover_from(stored.bytes()).map_err(|error| unreadable(error.to_string()))?;
    if let journal::HowEnded::Crashed { last_ns } = recovered.how {
        let seconds = last_ns as f64 / 1e9;
        let why = match recovered.is_damaged {
            true => "this journal is damaged, and cannot be read to its end",
            false => "the run of this journal crashed or is still running",
        };
        print::to_stderr(&format!(
            "{why}; this report covers the run's first {seconds:.1} s\n"
        ));
    }
    if recovered.torn && !recovered.is_damaged {
        print::to_stderr("the last record of the journal is incomplete and was left out\n");
    }
    Ok(recovered.result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_the_place_of_no_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = ["a.json", "b.json"].map(|name| folder.path().join(name));
        for source in &sources {
            std::fs::write(source, "{}").expect("written");
        }
        let told = spare_the_sources(&sources, Some(&sources[1])).expect_err("it is a source");
        assert!(
            told.message().contains("--html name the same file"),
            "{}",
            told.message()
        );
        assert!(spare_the_sources(&sources, Some(&folder.path().join("c.html"))).is_ok());
        assert!(spare_the_sources(&sources, None).is_ok());
    }
}

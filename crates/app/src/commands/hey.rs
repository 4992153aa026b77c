//! `loadline hey`.
//!
//! Must not know hey's flags or layout. Invariant: CSV and template outputs contain nothing else: the verdict
//! then goes to standard error.

use std::io;
use std::thread::JoinHandle;

use loadline_model::result::RunResult;
use loadline_model::secret::redacted_command_line;
use loadline_model::verdict::{Finding, Gravity};
use loadline_model::{ExitCode, FrontEnd};
use loadline_output::samples::SampleSink;
use loadline_report::{hey, verdict};

use super::running::{self, Run};
use super::samples::{self, Kept};
use super::seed::fresh_seed;
use crate::dialect::hey::{self as dialect, Job, Output};
use crate::environment::NO_VERDICT;
use crate::journal::Place;
use crate::observers::WantedObservers;
use crate::terminal::signals::FirstSignal;
use crate::terminal::{print, style};
use crate::{Ending, Env, Files};

/// Runs the command; `arguments` are hey's own.
///
/// # Errors
/// hey's refusals, and outputs that failed.
pub(super) fn run(
    arguments: &[String],
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let Job {
        plan,
        output,
        notes,
        verdict,
        observe,
    } = dialect::parse(arguments, files, fresh_seed())?;
    let mut run = Run::prepare(
        plan,
        Place::default_in(env),
        &WantedObservers::of(&observe, env)?,
        &redacted_command_line(command_line, FrontEnd::Hey),
        FirstSignal::WAITS,
        env,
    )?;
    let cannot_start = |error| refused(&format!("the samples' thread cannot be started: {error}"));
    let sink = Sink::start(&output, &mut run).map_err(cannot_start)?;
    let (mut result, journal) = run.go(&mut |_| {})?.apart()?;
    let notes = notes.into_iter().map(note);
    result.verdict.findings.extend(notes);
    let told = sink.finish().and_then(|kept| tell(&output, &result, &kept));
    if verdict && !env.is_on(NO_VERDICT) {
        // hey's report ends with empty lines.
        tell_verdict(
            matches!(output, Output::Summary).then_some(""),
            &result,
            env,
        );
    }
    journal.end(told.is_ok())?;
    told.map(|()| running::dialect_code(&result, ExitCode::Ok))
}

fn note(text: String) -> Finding {
    Finding {
        code: "remainder-not-sent".to_owned(),
        gravity: Gravity::Note,
        text,
        advice: None,
    }
}

fn refused(message: &str) -> Ending {
    Ending::refusal(ExitCode::NothingSucceeded, message)
}

/// The destination of single responses.
enum Sink {
    Nowhere,
    Csv(SampleSink),
    Memory(JoinHandle<Kept>),
}

impl Sink {
    fn start(output: &Output, run: &mut Run) -> io::Result<Sink> {
        match output {
            Output::Csv => samples::hey_csv(run.samples()).map(Sink::Csv),
            Output::Template(template) if template.needs_samples() => {
                samples::keep(run.samples()).map(Sink::Memory)
            }
            Output::Summary | Output::Template(_) => Ok(Sink::Nowhere),
        }
    }

    fn finish(self) -> Result<Kept, Ending> {
        match self {
            Sink::Nowhere => Ok(Kept::default()),
            Sink::Csv(sink) => {
                samples::finish(sink).map_or(Ok(Kept::default()), |why| Err(refused(&why)))
            }
            Sink::Memory(thread) => thread
                .join()
                .map_err(|_| refused("the samples were lost; this is a defect of loadline")),
        }
    }
}

fn tell(output: &Output, result: &RunResult, kept: &Kept) -> Result<(), Ending> {
    if kept.beyond > 0 {
        print::to_stderr(&format!(
            "loadline: {} more responses are not in the template's lists\n",
            kept.beyond
        ));
    }
    let text = match output {
        Output::Csv => return Ok(()),
        Output::Summary => hey::render(result),
        Output::Template(template) => template
            .render(result, &kept.samples)
            .map_err(|error| refused(&format!("-o: {error}")))?,
    };
    print::to_stdout(&text)
        .map_err(|error| refused(&format!("the report cannot be written: {error}")))
}

/// The verdict after a report in another tool's format: below a text report, after `lead`, otherwise separately
/// on standard error.
pub(super) fn tell_verdict(lead: Option<&str>, result: &RunResult, env: &Env) {
    match lead {
        Some(lead) => {
            let text = verdict::render(result, &style::of_stdout(false, env));
            // The report above was written; if the stream fails now, only this is lost.
            let _ = print::to_stdout(&format!("{lead}{text}"));
        }
        None => print::to_stderr(&verdict::render(result, &style::of_stderr(false, env))),
    }
}

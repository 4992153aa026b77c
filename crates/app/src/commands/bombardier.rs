//! `loadline bombardier`.
//!
//! Must not know bombardier's flags or layout. Invariant: JSON and template outputs contain nothing else:
//! intro, progress and verdict then go to standard error.

use std::io::IsTerminal;
use std::time::Duration;

use loadline_model::result::RunResult;
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd, RunEvent};
use loadline_report::bombardier::{self, DONE, Identity, Progress, Spec};

use super::hey::tell_verdict;
use super::running::{self, Run};
use super::seed::fresh_seed;
use crate::dialect::bombardier::{self as dialect, Format, Job};
use crate::environment::NO_VERDICT;
use crate::journal::Place;
use crate::observers::WantedObservers;
use crate::terminal::signals::FirstSignal;
use crate::terminal::{print, style};
use crate::{Ending, Env, Files};

/// Default width of the bar in columns.
const COLUMNS: usize = 80;

/// Runs the command; `arguments` are bombardier's own.
///
/// # Errors
/// bombardier's refusals, and outputs that failed.
pub(super) fn run(
    arguments: &[String],
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let job = dialect::parse(arguments, files, fresh_seed())?;
    let run = Run::prepare(
        job.plan.clone(),
        Place::default_in(env),
        &WantedObservers::of(&job.observe, env)?,
        &redacted_command_line(command_line, FrontEnd::Bombardier),
        FirstSignal::WAITS,
        env,
    )?;
    let is_text = matches!(job.format, Format::PlainText);
    let say = if is_text { Stream::Out } else { Stream::Err };
    if job.print.intro {
        say.write(&bombardier::intro(&job.spec));
    }
    let mut bar = Bar::new(&job.spec, say, env);
    if job.print.progress {
        bar.begin();
    }
    let finished = run.go(&mut |event| {
        if job.print.progress {
            bar.show(event);
        }
    })?;
    let (result, journal) = finished.apart()?;
    if job.print.progress {
        bar.finish(&result);
    }
    let told = if job.print.result {
        tell(&job, &result)
    } else {
        Ok(())
    };
    let wants_verdict = job.verdict && !env.is_on(NO_VERDICT);
    if wants_verdict && job.print.result {
        tell_verdict(is_text.then_some("\n"), &result, env);
    }
    journal.end(told.is_ok())?;
    told.map(|()| running::dialect_code(&result, ExitCode::Ok))
}

fn tell(job: &Job, result: &RunResult) -> Result<(), Ending> {
    let failed = |why: String| Ending::refusal(ExitCode::NothingSucceeded, &why);
    let text = match &job.format {
        Format::PlainText => bombardier::render_text(result, &job.spec),
        Format::Json => bombardier::render_json(result, &job.spec),
        Format::Template(template) => {
            let rendered =
                template.render(result, &job.spec, &mut identity(result, &mut fresh_seed));
            rendered.map_err(|error| failed(error.to_string()))?
        }
    };
    print::to_stdout(&text)
        .map_err(|error| failed(format!("the report cannot be written: {error}")))
}

/// The base of a template's UUIDs: the start of the run, and random bytes instead of a network address (RFC
/// 4122 section 4.5).
fn identity<'a>(result: &RunResult, random: &'a mut dyn FnMut() -> u64) -> Identity<'a> {
    let [first, rest @ .., _, _] = random().to_be_bytes();
    let [a, b, c, d, e] = rest;
    Identity {
        unix_ns: result.totals.started_unix_ms.saturating_mul(1_000_000),
        node: [first | 1, a, b, c, d, e],
        uid: 0,
        gid: 0,
        random,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

impl Stream {
    fn write(self, text: &str) {
        match self {
            // A failed write of intro or bar is no reason to stop a run.
            Stream::Out => drop(print::to_stdout(text)),
            Stream::Err => print::to_stderr(text),
        }
    }

    fn is_terminal(self) -> bool {
        match self {
            Stream::Out => std::io::stdout().is_terminal(),
            Stream::Err => std::io::stderr().is_terminal(),
        }
    }
}

/// The bar: redrawn in place, each state after a carriage return, even without a terminal.
struct Bar<'a> {
    spec: &'a Spec,
    stream: Stream,
    /// Width in columns; `None`: not a terminal.
    columns: Option<usize>,
    requests: u64,
}

impl<'a> Bar<'a> {
    fn new(spec: &'a Spec, stream: Stream, env: &Env) -> Self {
        let columns = stream
            .is_terminal()
            .then(|| style::columns(env).unwrap_or(COLUMNS));
        Bar {
            spec,
            stream,
            columns,
            requests: 0,
        }
    }

    fn begin(&self) {
        let progress = Progress {
            requests: 0,
            elapsed: Duration::ZERO,
            finished: false,
        };
        self.draw(&progress, "\x1b[K");
    }

    fn show(&mut self, event: &RunEvent) {
        let RunEvent::Second { row, .. } = event else {
            return;
        };
        self.requests += row.completed + row.failed;
        let elapsed = Duration::from_nanos(row.at_ns.saturating_add(row.span_ns));
        let progress = Progress {
            requests: self.requests,
            elapsed,
            finished: false,
        };
        self.draw(&progress, "\x1b[K");
    }

    /// Draws one state, followed on a terminal by `end`.
    fn draw(&self, progress: &Progress, end: &str) {
        let bar = bombardier::progress_bar(self.spec, progress, self.columns.unwrap_or(0));
        let end = self.columns.map_or("", |_| end);
        self.stream.write(&format!("\r{bar}{end}"));
    }

    fn finish(&self, result: &RunResult) {
        let progress = Progress {
            requests: self.requests,
            elapsed: Duration::from_nanos(result.totals.elapsed_ns),
            finished: true,
        };
        self.draw(&progress, "");
        self.stream.write(&format!("\n{DONE}"));
    }
}

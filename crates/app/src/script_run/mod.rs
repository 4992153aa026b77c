//! Executes a script's test: loading it, running it, reporting the outcome.
//!
//! Must not know flags. Invariant: whatever happens after the first request, a summary is printed and every
//! output is closed.

mod agents;
mod conduct;
mod files;
mod load;
mod logger;
mod put;
mod scaled;
mod setup;
mod show;
mod summary;
mod trace;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use loadline_metric::SeriesPlan;
use loadline_model::event::{
    AGENT_LOST_MARK, AGENT_NOT_REPLACED_MARK, AGENT_REPLACED_MARK, AGENT_RETURNED_MARK,
    COORDINATOR_REPLACED_MARK, DROPPED_MARK, MANY_SERIES_MARK, Mark, THRESHOLD_MARK, WARNING_MARK,
};
use loadline_model::result::{RunResult, StopReason};
use loadline_model::{ExitCode, RunCommand, TestPlan};
use loadline_output::OnTrouble;
use loadline_run::{
    ObserverFeed, Ran, RunScript, RunSetup, RunWatch, ScriptMetrics, ScriptSetup, Trouble,
};

use crate::agents::StartedAgents;
use crate::environment::NO_VERDICT;
use crate::k6::{Identity, K6Error, Level, Notice, ScriptRun, SummaryMode};
use crate::outputs::{self, Outputs, Wanted};
use crate::rest::{Api, Rest};
use crate::terminal::signals::{FirstSignal, SecondSignal};
use crate::terminal::tui::{Tui, TuiSetup};
use crate::terminal::{print, signals, style};
use crate::web::{Web, WebSetup};
use crate::{Env, last_word};

pub(crate) use agents::AgentsRecipe;
use conduct::Places;
pub(crate) use load::{Loaded, Loading, Place, dependencies, entry, load};
pub(crate) use logger::Logger;
pub(crate) use setup::setup_of;
use show::Show;
use summary::Telling;
pub(crate) use trace::TraceLook;

/// k6's hint if no iteration completed.
const NOTHING_FINISHED: &str =
    "No script iterations fully finished, consider making the test duration longer";
/// What is said when a test is over that `--linger` keeps open.
const LINGERS: &str = "The test is over; --linger keeps it open until Ctrl+C.\n";

/// A run that is about to start.
pub(crate) struct Going<'a> {
    /// The script.
    pub(crate) loaded: &'a Loaded,
    /// The plan and settings of the run.
    pub(crate) run: &'a ScriptRun,
    /// The name under which it runs.
    pub(crate) identity: Identity,
    /// The script as the user named it.
    pub(crate) named: &'a str,
    /// The command line, with secrets removed.
    pub(crate) command_line: Vec<String>,
    pub(crate) env: &'a Env,
    pub(crate) logger: Arc<Logger>,
    /// From which agents rebuild the test; `None`: this process makes the load.
    pub(crate) recipe: Option<AgentsRecipe>,
}

impl Going<'_> {
    /// Runs the script to its end; returns the exit code.
    ///
    /// # Errors
    /// The run could not start.
    pub(crate) fn go(self) -> Result<ExitCode, K6Error> {
        loadline_run::prepare_process();
        self.check().map_err(K6Error::config)?;
        let plan = Arc::new(self.run.plan.clone());
        let registry = Arc::clone(&self.loaded.metrics.registry);
        let (mut outputs, values) = outputs::start(&Wanted {
            specs: &self.run.outputs,
            name: self.named,
            plan: &plan,
            registry: &registry,
            env: self.env,
            on_trouble: self.on_trouble(),
            on_note: self.on_note(),
            audits: self.run.audits,
        })?;
        let metrics = ScriptMetrics {
            registry,
            series: Arc::new(self.series(&plan)),
            values,
        };
        let log = Arc::clone(&self.logger) as _;
        let script = setup_of(self.loaded, &plan, metrics, log)
            .ok_or_else(|| K6Error::other("the plan has no script"))?;
        let agents = self.start_agents(&plan, &script)?;
        let (agents, load) = agents.map(StartedAgents::apart).unzip();
        let (commands, orders) = signals::orders(FirstSignal::interrupts(""), SecondSignal::Ends)
            .map_err(|ending| K6Error::other(ending.to_string()))?;
        let seen = self.listen(&plan, &script, &commands)?;
        let mut show = Show::new(self.run, self.env)?;
        show.head(self.run, self.named, self.identity, outputs.names());
        if let Some(tui) = self.take_screen(&plan, &seen, &commands) {
            show.hand_to(tui);
        }
        let setup = RunSetup {
            load,
            script: Some(RunScript {
                setup: script.clone(),
                functions: self.loaded.exports.functions.clone(),
            }),
            is_paused: self.run.paused,
            watch: seen.watch.clone(),
            observers: self.observers()?,
            ..RunSetup::new(orders, self.command_line.clone())
        };
        let mut places = Places {
            show: &mut show,
            outputs: &mut outputs,
            web: seen.web.as_ref(),
        };
        let (ran, kept) = self.conduct(&plan, setup, &mut places, &commands)?;
        if !self.run.linger {
            signals::note_end_of_load();
        }
        if let Some(agents) = &agents {
            agents.begin_to_tell();
        }
        let told = self.tell(&plan, script, &ran, &mut show);
        if let Err(ending) = &kept {
            self.log(Level::Error, ending.message());
        }
        let totals = &ran.result.totals.seen;
        let held_up_ns = totals.back_pressure_ns.saturating_sub(totals.log_wait_ns);
        let is_whole = self.close(outputs, held_up_ns);
        let code = self.exit_code(&ran, told && is_whole && kept.is_ok());
        self.leave_last_word(&ran, code);
        if let Some(agents) = agents {
            agents.conclude(code);
        }
        self.linger();
        drop(seen);
        Ok(code)
    }

    /// Refuses what cannot be run as asked.
    fn check(&self) -> Result<(), String> {
        check_size(self.run)?;
        self.check_files()?;
        outputs::check_audit(&self.run.outputs, self.run.audits, self.env)?;
        self.check_pause()
    }

    /// Refuses to wait for an order that nobody can give; k6 waits.
    fn check_pause(&self) -> Result<(), String> {
        let pages = &self.run.pages;
        let can_resume = self.run.rest.is_some() || pages.web.is_some() || pages.tui;
        match self.run.paused && !can_resume && self.identity == Identity::Loadline {
            true => Err("--paused waits for an order, and there is no way to give one: add --address HOST:PORT, --web or --tui".to_owned()),
            false => Ok(()),
        }
    }

    /// Keeps the test open where that is wanted.
    fn linger(&self) {
        if !self.run.linger {
            return;
        }
        if !self.run.quiet {
            // Nobody may read it; the wait is the same.
            let _ = print::to_stdout(LINGERS);
        }
        signals::wait();
    }

    fn leave_last_word(&self, ran: &Ran, code: ExitCode) {
        let error = self.logger.last_error().filter(|_| code != ExitCode::Ok);
        last_word::leave(self.env, &ran.result, ran.interrupted, error);
    }

    /// Starts to serve the REST API and the live page if they are requested; returns their view of the run.
    ///
    /// # Errors
    /// The requested address cannot be listened on.
    fn listen(
        &self,
        plan: &Arc<TestPlan>,
        script: &ScriptSetup,
        commands: &Sender<RunCommand>,
    ) -> Result<Seen, K6Error> {
        let pages = &self.run.pages;
        if self.run.rest.is_none() && pages.web.is_none() && !pages.tui {
            return Ok(Seen::default());
        }
        let functions = &self.loaded.exports.functions;
        let watch = RunWatch::of_script(plan, script, functions, self.run.paused);
        let watch = Arc::new(watch.map_err(K6Error::config)?);
        Ok(Seen {
            _rest: self.serve_rest(&watch, commands)?,
            web: self.serve_web(plan, &watch, commands)?,
            watch: Some(watch),
        })
    }

    /// Takes over the whole screen if it is requested and there is one.
    fn take_screen(
        &self,
        plan: &Arc<TestPlan>,
        seen: &Seen,
        commands: &Sender<RunCommand>,
    ) -> Option<Tui> {
        let setup = || TuiSetup {
            plan: Arc::clone(plan),
            commands: commands.clone(),
            watch: seen.watch.clone(),
            is_paused: self.run.paused,
            color: style::of_stdout(self.run.no_color, self.env).color,
        };
        self.run.pages.tui.then(|| Tui::start(setup())).flatten()
    }

    fn serve_rest(
        &self,
        watch: &Arc<RunWatch>,
        commands: &Sender<RunCommand>,
    ) -> Result<Option<Rest>, K6Error> {
        let Some(settings) = &self.run.rest else {
            return Ok(None);
        };
        let api = Api {
            watch: Arc::clone(watch),
            commands: commands.clone(),
            logger: Arc::clone(&self.logger),
        };
        match Rest::start(&settings.address, &self.run.access, api) {
            Ok(rest) => Ok(Some(rest)),
            Err(why) => {
                let error = K6Error::new(ExitCode::CannotListen, "Error from API server");
                Err(K6Error {
                    notice: error.notice.with("error", why),
                    ..error
                })
            }
        }
    }

    fn serve_web(
        &self,
        plan: &TestPlan,
        watch: &Arc<RunWatch>,
        commands: &Sender<RunCommand>,
    ) -> Result<Option<Web>, K6Error> {
        let Some(address) = &self.run.pages.web else {
            return Ok(None);
        };
        let web = Web::start(WebSetup {
            address,
            access: &self.run.access,
            plan,
            commands: commands.clone(),
            watch: Some(Arc::clone(watch)),
            is_paused: self.run.paused,
        });
        let web = web.map_err(|why| {
            let message =
                "the live page cannot be served; name another address with --web=HOST:PORT";
            let error = K6Error::new(ExitCode::CannotListen, message);
            K6Error {
                notice: error.notice.with("error", why),
                ..error
            }
        })?;
        print::to_stderr(&format!("live page: {}\n", web.url()));
        Ok(Some(web))
    }

    /// Prints the summary, the verdict, and errors; returns whether all of it could be written.
    fn tell(
        &self,
        plan: &Arc<TestPlan>,
        mut script: ScriptSetup,
        ran: &Ran,
        show: &mut Show,
    ) -> bool {
        // The measurements of the summary's own virtual user are dropped.
        script.metrics.values = None;
        if ran.complete == 0 && ended_by_itself(ran) {
            self.log(Level::Warning, NOTHING_FINISHED);
        }
        show.leave();
        let source = self.source();
        Telling {
            run: self.run,
            plan,
            script: &script,
            is_handled: self.exports("handleSummary"),
            source,
            logger: &self.logger,
            env: self.env,
        }
        .tell(&ran.result);
        show.end((ran.complete, ran.interrupted), ran.result.totals.stop);
        self.tell_verdict(&ran.result);
        self.tell_troubles(ran);
        self.write_reports(&ran.result)
    }

    /// The requested series.
    fn series(&self, plan: &TestPlan) -> SeriesPlan {
        let outputs = &self.run.outputs;
        SeriesPlan {
            by_all_tags: outputs.iter().any(|output| output.kind.wants_series()),
            counts_series: self.run.counts_series,
            ..plan.series()
        }
    }

    /// Writes the requested HTML reports, charts and JSON results; returns whether that succeeded.
    fn write_reports(&self, result: &RunResult) -> bool {
        let failures = self.result_files().write(result);
        for why in &failures {
            self.log(Level::Error, why);
        }
        failures.is_empty()
    }

    /// Starts the observers of the run.
    fn observers(&self) -> Result<Option<ObserverFeed>, K6Error> {
        let started = self.run.observe.start(self.env);
        started.map_err(|refusal| K6Error::new(refusal.code, refusal.message))
    }

    fn exports(&self, function: &str) -> bool {
        let functions = &self.loaded.exports.functions;
        functions.iter().any(|name| name == function)
    }

    fn source(&self) -> String {
        let recorded = self.loaded.sources.recorded();
        let entry = recorded
            .files
            .iter()
            .find(|(url, _)| url.as_str() == self.loaded.url());
        entry.map_or_else(String::new, |(_, text)| {
            String::from_utf8_lossy(text).into_owned()
        })
    }

    /// Prints the engine's own verdict on the run; not under k6's name, where readers do not expect it.
    fn tell_verdict(&self, result: &RunResult) {
        let script = self.run.plan.script.as_deref();
        let is_wanted = self.identity == Identity::Loadline
            && !self.run.quiet
            // A single iteration of each scenario was shown; there is no load to judge.
            && !script.is_some_and(|script| script.trace_requests)
            && self.run.summary.mode != SummaryMode::Disabled
            && !self.env.is_on(NO_VERDICT);
        if is_wanted {
            let style = style::of_stderr(self.run.no_color, self.env);
            let verdict = loadline_report::verdict::render(result, &style);
            print::to_stderr(&format!("\n{verdict}"));
            for mark in result
                .events
                .iter()
                .filter(|mark| mark.kind == DROPPED_MARK)
            {
                print::to_stderr(&format!("{}\n", mark.text));
            }
        }
    }

    fn tell_troubles(&self, ran: &Ran) {
        // As in k6, the first error is reported; its consequences are not.
        let first = ran
            .troubles
            .iter()
            .find(|trouble| trouble.code != ExitCode::MarkedFailed);
        if let Some(trouble) = first {
            self.logger.tell(&notice_of(trouble));
            return;
        }
        match ran.result.totals.stop {
            StopReason::Interrupted | StopReason::Aborted => self.log(
                Level::Error,
                &format!(
                    "test run was aborted because {} received a '{}' signal",
                    self.identity.program(),
                    signals::name()
                ),
            ),
            StopReason::Remote => {
                self.log(
                    Level::Error,
                    match self.run.rest {
                        Some(_) => "test run stopped from REST API",
                        None => "test run stopped from the live page",
                    },
                );
            }
            _ => match mark_of_failure(ran) {
                Some(mark) => self.logger.tell(&notice_of(mark)),
                None => self.tell_thresholds(&ran.result),
            },
        }
    }

    fn tell_thresholds(&self, result: &RunResult) {
        let mut marks = result.events.iter();
        if result.totals.stop == StopReason::ThresholdCrossed
            && let Some(mark) = marks.find(|mark| mark.kind == THRESHOLD_MARK)
        {
            // Those that were crossed then, not those that are crossed at the end.
            self.log(Level::Error, &mark.text);
            return;
        }
        let crossed = crossed(result);
        if !crossed.is_empty() {
            let names = crossed.join(", ");
            self.log(
                Level::Error,
                &format!("thresholds on metrics '{names}' have been crossed"),
            );
        }
    }

    fn log(&self, level: Level, message: &str) {
        self.logger.tell(&Notice::new(level, message));
    }

    /// The report when an output starts to fail.
    fn on_trouble(&self) -> OnTrouble {
        let logger = Arc::clone(&self.logger);
        Arc::new(move |why| logger.tell(&Notice::new(Level::Error, why)))
    }

    fn on_note(&self) -> OnTrouble {
        let logger = Arc::clone(&self.logger);
        Arc::new(move |text| logger.tell(&Notice::new(Level::Info, text)))
    }

    /// Closes the outputs; returns whether the exit code can ignore them.
    fn close(&self, outputs: Outputs, held_up_ns: u64) -> bool {
        let closed = outputs.finish(held_up_ns);
        if let Some(held_up) = &closed.held_up {
            self.log(Level::Warning, held_up);
        }
        for message in &closed.lost {
            self.log(Level::Error, message);
        }
        // As in k6, a full disk or a lost server does not fail a test unless the user requires it.
        closed.lost.is_empty() || !self.run.strict_outputs
    }

    fn exit_code(&self, ran: &Ran, all_told: bool) -> ExitCode {
        let is_first = |trouble: &&Trouble| trouble.code != ExitCode::MarkedFailed;
        if let Some(trouble) = ran.troubles.iter().find(is_first) {
            return trouble.code;
        }
        if let Some(code) = ran.result.totals.stop.exit_code() {
            return code;
        }
        if let Some(mark) = mark_of_failure(ran) {
            return mark.code;
        }
        // A threshold that ended the test may hold again at its end.
        let was_ended = ran.result.totals.stop == StopReason::ThresholdCrossed;
        if was_ended || ran.result.thresholds.iter().any(|outcome| !outcome.passed) {
            return ExitCode::ThresholdsFailed;
        }
        if ran.result.has_lost_agents() {
            return ExitCode::AgentLost;
        }
        match signals::impatience().load(Ordering::Relaxed) {
            true => ExitCode::ExternalAbort,
            false if all_told => ExitCode::Ok,
            false => ExitCode::Other,
        }
    }
}

/// More virtual users than any machine can hold: each takes at least tens of kilobytes.
const VUS_MAX: u64 = 10_000_000;

/// Refuses a test that would only exhaust the memory.
fn check_size(run: &ScriptRun) -> Result<(), String> {
    let vus = run.max_vus;
    match vus > VUS_MAX {
        true => Err(format!(
            "{vus} virtual users are more than one test can have, which is {VUS_MAX}; give fewer with --vus or maxVUs"
        )),
        false => Ok(()),
    }
}

/// How a run is watched and controlled from outside.
#[derive(Default)]
struct Seen {
    watch: Option<Arc<RunWatch>>,
    _rest: Option<Rest>,
    web: Option<Web>,
}

/// Whether the run was not aborted.
fn ended_by_itself(ran: &Ran) -> bool {
    let is_untroubled = ran
        .troubles
        .iter()
        .all(|trouble| trouble.code == ExitCode::MarkedFailed);
    is_untroubled && ran.result.totals.stop == StopReason::Finished
}

/// The script's mark that the test has failed. As in k6, thresholds only take precedence if one ended the test.
fn mark_of_failure(ran: &Ran) -> Option<&Trouble> {
    let mut troubles = ran.troubles.iter();
    let mark = troubles.find(|trouble| trouble.code == ExitCode::MarkedFailed);
    mark.filter(|_| ran.result.totals.stop != StopReason::ThresholdCrossed)
}

/// The metrics whose thresholds failed, by name.
fn crossed(result: &RunResult) -> Vec<String> {
    let Some(summary) = &result.summary else {
        return Vec::new();
    };
    let mut names: Vec<String> = summary
        .root
        .metrics
        .iter()
        .filter(|metric| metric.thresholds.iter().any(|threshold| !threshold.passed))
        .map(loadline_model::test_summary::MetricSummary::key)
        .collect();
    names.sort();
    names
}

fn notice_of(trouble: &Trouble) -> Notice {
    let mut notice = Notice::new(Level::Error, trouble.message.as_str());
    if let Some(hint) = &trouble.hint {
        notice = notice.with("hint", hint.as_ref());
    }
    if trouble.is_thrown {
        notice = notice.with("source", "stacktrace");
    }
    notice
}

/// The log line for a warning mark.
fn warning_of(mark: &Mark) -> Option<Notice> {
    let warning = Notice::warning(mark.text.as_str());
    match mark.kind.as_str() {
        WARNING_MARK
        | AGENT_LOST_MARK
        | AGENT_REPLACED_MARK
        | AGENT_NOT_REPLACED_MARK
        | AGENT_RETURNED_MARK
        | COORDINATOR_REPLACED_MARK => Some(warning),
        MANY_SERIES_MARK => Some(warning.with("component", "metrics-engine-ingester")),
        _ => None,
    }
}

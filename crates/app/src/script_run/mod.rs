//! Carrying out a script's test: loading it, running it, telling what came of it.
//!
//! Must not know flags. Invariant: whatever happens after the first request, a summary is told and
//! every output is closed.

mod load;
mod logger;
mod outputs;
mod scaled;
mod show;
mod summary;
mod trace;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use loadline_metric::SeriesPlan;
use loadline_model::event::{DROPPED_MARK, RunEvent};
use loadline_model::result::{RunResult, StopReason};
use loadline_model::script_settings::{Feature, HttpDebug as Debug, ScriptSettings};
use loadline_model::{ExitCode, RunCommand, TestPlan};
use loadline_run::{Ran, RunScript, RunSetup, RunWatch, ScriptMetrics, ScriptSetup, Trouble};
use loadline_script::ProgramSettings;
use loadline_script::program::{HttpDebug, HttpDefaults};

use crate::Env;
use crate::k6::{Identity, K6Error, Level, Notice, ScriptRun, SummaryMode};
use crate::rest::{Api, Rest};
use crate::terminal::{print, signals, style};

pub(crate) use load::{Loaded, Place, entry, load};
pub(crate) use logger::Logger;
use outputs::Outputs;
use show::Show;
use summary::Telling;
pub(crate) use trace::TraceLook;

/// Switches the verdict off for every run of an environment.
const NO_VERDICT: &str = "LOADLINE_NO_VERDICT";

/// k6's hint where no iteration was run to its end.
const NOTHING_FINISHED: &str =
    "No script iterations fully finished, consider making the test duration longer";

/// A run about to take place.
pub(crate) struct Going<'a> {
    /// The script.
    pub(crate) loaded: &'a Loaded,
    /// What to do.
    pub(crate) run: &'a ScriptRun,
    /// Under which name.
    pub(crate) identity: Identity,
    /// The script as the user named it.
    pub(crate) named: &'a str,
    /// The command line, secrets removed.
    pub(crate) command_line: Vec<String>,
    pub(crate) env: &'a Env,
    pub(crate) logger: Arc<Logger>,
}

impl Going<'_> {
    /// Runs the script to its end; gives the exit code.
    ///
    /// # Errors
    /// The run could not start.
    pub(crate) fn go(self) -> Result<ExitCode, K6Error> {
        loadline_run::prepare_process();
        let plan = Arc::new(self.run.plan.clone());
        let settings = plan.script.clone();
        let settings = settings.ok_or_else(|| K6Error::other("the plan has no script"))?;
        let registry = Arc::clone(&self.loaded.metrics.registry);
        let (outputs, values) = outputs::start(&self.run.outputs, &plan, &registry, self.env)?;
        let script = ScriptSetup {
            program: Arc::new(
                self.loaded
                    .program
                    .with_settings(self.program_settings(&settings)),
            ),
            metrics: ScriptMetrics {
                registry,
                series: Arc::new(series(&plan)),
                values,
            },
            log: Arc::clone(&self.logger) as _,
            data: Arc::default(),
        };
        let orders = signals::orders("").map_err(|ending| K6Error::other(ending.to_string()))?;
        let (watch, rest) = self.listen(&plan, &script, &orders.0)?;
        let mut show = Show::new(self.run, self.env)?;
        show.head(self.run, self.named, self.identity);
        let setup = RunSetup {
            commands: orders.1,
            samples: None,
            script: Some(RunScript {
                setup: script.clone(),
                functions: self.loaded.exports.functions.clone(),
            }),
            is_paused: self.run.paused,
            watch,
            command_line: self.command_line.clone(),
        };
        let ran = self.conduct(&plan, setup, &mut show)?;
        let told = self.tell(&plan, script, &ran, &mut show);
        let lost = self.close(outputs);
        if self.run.linger {
            signals::wait();
        }
        drop(rest);
        Ok(self.exit_code(&ran, told && !lost))
    }

    /// Begins to serve the REST API where it is wanted, and what the run is seen through by it.
    ///
    /// # Errors
    /// Nothing can listen where the user wants it.
    fn listen(
        &self,
        plan: &Arc<TestPlan>,
        script: &ScriptSetup,
        commands: &Sender<RunCommand>,
    ) -> Result<(Option<Arc<RunWatch>>, Option<Rest>), K6Error> {
        let Some(settings) = &self.run.rest else {
            return Ok((None, None));
        };
        let functions = &self.loaded.exports.functions;
        let watch = RunWatch::new(plan, script, functions, self.run.paused);
        let watch = Arc::new(watch.map_err(K6Error::config)?);
        let api = Api {
            watch: Arc::clone(&watch),
            commands: commands.clone(),
            logger: Arc::clone(&self.logger),
        };
        let message = "Error from API server";
        match Rest::start(&settings.address, api) {
            Ok(rest) => Ok((Some(watch), Some(rest))),
            Err(why) if settings.asked => {
                let error = K6Error::new(ExitCode::CannotListen, message);
                Err(K6Error {
                    notice: error.notice.with("error", why),
                    ..error
                })
            }
            Err(why) => {
                self.logger
                    .tell(&Notice::warning(message).with("error", why));
                Ok((None, None))
            }
        }
    }

    fn program_settings(&self, settings: &ScriptSettings) -> ProgramSettings {
        let env = self.loaded.program.settings().env.clone();
        ProgramSettings {
            env,
            memory_limit: settings
                .vu_memory_max
                .and_then(|most| usize::try_from(most.0).ok()),
            options: serde_json::from_str(&settings.options_json).unwrap_or_default(),
            system_tags: settings.series.system_tags,
            run_tags: settings.series.tags.clone(),
            http: HttpDefaults {
                user_agent: settings.http.user_agent.clone(),
                max_redirects: settings.http.redirects_max,
                batch: settings.http.batch as usize,
                batch_per_host: settings.http.batch_per_host as usize,
                discard_response_bodies: settings.http.discards_bodies,
                debug: match settings.http.debug {
                    None => HttpDebug::Off,
                    Some(Debug::Headers) => HttpDebug::Headers,
                    Some(Debug::Full) => HttpDebug::Full,
                },
            },
            freeze_env: settings.has(Feature::FreezeEnv),
            throw: settings.http.throws,
            keep_cookies: settings.http.keeps_cookies,
            traces: settings.trace_requests,
        }
    }

    fn conduct(
        &self,
        plan: &Arc<TestPlan>,
        setup: RunSetup,
        show: &mut Show,
    ) -> Result<Ran, K6Error> {
        let mut on_event = |event: RunEvent| {
            if let RunEvent::Mark(mark) = &event
                && mark.kind == loadline_model::event::WARNING_MARK
            {
                self.logger.tell(&Notice::warning(mark.text.as_str()));
            }
            show.event(&event);
        };
        loadline_run::run(Arc::clone(plan), setup, &mut on_event)
            .map_err(|error| K6Error::new(error.exit_code(), error.to_string()))
    }

    /// Tells the summary, the verdict, and what went wrong; whether all of it could be written.
    fn tell(
        &self,
        plan: &Arc<TestPlan>,
        mut script: ScriptSetup,
        ran: &Ran,
        show: &mut Show,
    ) -> bool {
        // What the summary's own virtual user measures goes nowhere.
        script.metrics.values = None;
        if ran
            .troubles
            .iter()
            .any(|trouble| trouble.code == ExitCode::MarkedFailed)
        {
            self.log(Level::Error, "test run was marked as failed");
        }
        if ran.complete == 0 && ended_by_itself(ran) {
            self.log(Level::Warning, NOTHING_FINISHED);
        }
        show.leave();
        let source = self.source();
        let all_told = Telling {
            run: self.run,
            plan,
            script: &script,
            is_handled: self.exports("handleSummary"),
            source,
            logger: &self.logger,
            env: self.env,
        }
        .tell(&ran.result);
        show.end(ran.interrupted, ran.result.totals.stop);
        self.tell_verdict(&ran.result);
        self.tell_troubles(ran);
        all_told
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

    /// The engine's own word on the run. Nothing under k6's name, whose readers do not expect it.
    fn tell_verdict(&self, result: &RunResult) {
        let script = self.run.plan.script.as_deref();
        let is_wanted = self.identity == Identity::Loadline
            && !self.run.quiet
            // One iteration of each scenario has been shown, and is no load to judge.
            && !script.is_some_and(|script| script.trace_requests)
            && self.run.summary.mode != SummaryMode::Disabled
            && self.env.get(NO_VERDICT).is_none();
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
        // As in k6, what came first is told; what followed from it is not.
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
                self.log(Level::Error, "test run stopped from REST API");
            }
            _ => self.tell_thresholds(&ran.result),
        }
    }

    fn tell_thresholds(&self, result: &RunResult) {
        let crossed = crossed(result);
        if !crossed.is_empty() {
            let names = crossed.join(", ");
            let end = match result.totals.stop {
                StopReason::ThresholdCrossed => {
                    "were crossed; at least one has abortOnFail enabled, stopping test prematurely"
                }
                _ => "have been crossed",
            };
            self.log(
                Level::Error,
                &format!("thresholds on metrics '{names}' {end}"),
            );
        }
    }

    fn log(&self, level: Level, message: &str) {
        self.logger.tell(&Notice::new(level, message));
    }

    /// Closes the outputs; whether anything was lost.
    fn close(&self, outputs: Outputs) -> bool {
        let lost = outputs.finish();
        for message in &lost {
            self.log(Level::Error, message);
        }
        !lost.is_empty()
    }

    fn exit_code(&self, ran: &Ran, all_told: bool) -> ExitCode {
        let is_first = |trouble: &&Trouble| trouble.code != ExitCode::MarkedFailed;
        if let Some(trouble) = ran.troubles.iter().find(is_first) {
            return trouble.code;
        }
        match ran.result.totals.stop {
            StopReason::Interrupted | StopReason::Aborted => return ExitCode::ExternalAbort,
            StopReason::Remote => return ExitCode::RestAbort,
            _ => {}
        }
        if !crossed(&ran.result).is_empty() || ran.result.thresholds.iter().any(|t| !t.passed) {
            return ExitCode::ThresholdsFailed;
        }
        match ran.troubles.first() {
            Some(trouble) => trouble.code,
            None if all_told => ExitCode::Ok,
            None => ExitCode::Other,
        }
    }
}

/// Whether nothing and nobody broke the run off.
fn ended_by_itself(ran: &Ran) -> bool {
    let is_untroubled = ran
        .troubles
        .iter()
        .all(|trouble| trouble.code == ExitCode::MarkedFailed);
    is_untroubled && ran.result.totals.stop == StopReason::Finished
}

/// The series that somebody asked for.
fn series(plan: &TestPlan) -> SeriesPlan {
    plan.series()
}

/// The metrics whose thresholds did not hold, by name.
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
    if let Some(hint) = trouble.hint {
        notice = notice.with("hint", hint);
    }
    if trouble.is_thrown {
        notice = notice.with("source", "stacktrace");
    }
    notice
}

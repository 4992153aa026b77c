//! One attempt of a run: its hooks, its phases, its judgement.
//!
//! Must not know other runs. Invariant: its status is recorded from start to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_model::duration;
use loadline_model::result::StopReason;
use loadline_model::{ExitCode, RunResult};

use super::figures::{
    first_and_last_hour, leak_note, leak_slopes, time_to_first_success, time_to_plateau,
};
use super::redact::redact_folder;
use super::run::Runner;
use super::{Beat, RunFiles, RunOrder, SuiteEvent};
use crate::document::{components, no_match, without_match};
use crate::gates::{Evidence, failed_samples, judge};
use crate::hooks::fill;
use crate::plan::{Front, Mode, PhaseKind, PlannedPhase, PlannedRow, PlannedRun};
use crate::state::{AUDITS, RESULT, RunState, RunStatus, StateError};

/// Time between two signs of life of an endurance row.
const HEARTBEAT: Duration = Duration::from_secs(60);
/// Bytes of a log that are looked at from its end.
const LOG_END: usize = 64 << 10;

/// Which try of which run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunWay {
    pub(super) run: PlannedRun,
    pub(super) attempt: u32,
    /// Whether another run was made before.
    pub(super) between: bool,
}

/// How a try ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) state: RunState,
    pub(super) reasons: Vec<String>,
    pub(super) headline: String,
}

pub(super) struct Attempt<'r, 'a> {
    runner: &'r mut Runner<'a>,
    way: RunWay,
    row: &'a PlannedRow,
    folder: PathBuf,
    status: RunStatus,
    headline: String,
}

/// Why a try is not whole.
enum Stop {
    /// It cannot be made.
    Broken(String),
    /// The user asked.
    Asked,
    /// The state cannot be kept.
    State(StateError),
}

impl From<StateError> for Stop {
    fn from(error: StateError) -> Stop {
        Stop::State(error)
    }
}

impl<'r, 'a> Attempt<'r, 'a> {
    pub(super) fn new(runner: &'r mut Runner<'a>, way: RunWay) -> Attempt<'r, 'a> {
        let row = &runner.plan.rows[way.run.row];
        let status = RunStatus {
            row: row.id.clone(),
            repetition: way.run.repetition,
            hash: row.hash.clone(),
            state: RunState::Running,
            attempt: way.attempt,
            started_unix_ms: (runner.settings.unix_ms)(),
            ended_unix_ms: None,
            reasons: Vec::new(),
            notes: Vec::new(),
            gates: row.settings.gates.clone(),
            judged: Vec::new(),
            figures: BTreeMap::new(),
        };
        Attempt {
            runner,
            way,
            row,
            folder: PathBuf::new(),
            status,
            headline: String::new(),
        }
    }

    /// Makes it.
    pub(super) fn make(mut self) -> Result<Ended, StateError> {
        self.folder = self
            .runner
            .state
            .run_folder(&self.row.id, self.way.run.repetition);
        if self.runner.state.disk().exists(&self.folder) {
            // A runner that was killed had no time for it.
            self.hide_secrets()?;
            self.status.notes.clear();
        }
        self.folder = self.runner.state.begin(&self.status)?;
        let went = self.hooks_and_phases();
        self.runner.clean_up("cleanup", &self.row.hooks.cleanup);
        self.status.state = match went {
            Ok(()) => RunState::Done,
            Err(Stop::Asked) => RunState::Interrupted,
            Err(Stop::Broken(_)) if self.runner.stopped() => RunState::Interrupted,
            Err(Stop::Broken(why)) => {
                let why = self.runner.secrets.hide(&why).into_owned();
                self.status.reasons.push(why);
                RunState::Broken
            }
            Err(Stop::State(error)) => return Err(error),
        };
        self.hide_secrets()?;
        self.hide_secrets_in_words();
        self.status.ended_unix_ms = Some((self.runner.settings.unix_ms)());
        self.runner.state.keep_status(&self.status)?;
        for note in std::mem::take(&mut self.status.notes) {
            self.runner.tell(SuiteEvent::Note(note));
        }
        Ok(Ended {
            state: self.status.state,
            reasons: self.status.reasons,
            headline: self.headline,
        })
    }

    fn hide_secrets(&mut self) -> Result<(), StateError> {
        let (disk, secrets) = (self.runner.state.disk(), &self.runner.secrets);
        let removed = redact_folder(disk, &self.folder, secrets);
        let removed = removed.map_err(|error| StateError {
            path: self.folder.clone(),
            why: format!("secrets could not be removed: {error}"),
        })?;
        let notes = removed.into_iter();
        let notes = notes.map(|name| format!("{name} was removed: it held a secret"));
        self.status.notes.extend(notes);
        Ok(())
    }

    /// Words may quote what the target or the command line said.
    fn hide_secrets_in_words(&mut self) {
        let status = &mut self.status;
        let texts = status.reasons.iter_mut().chain(&mut status.notes);
        let judged = status.judged.iter_mut().map(|outcome| &mut outcome.text);
        for text in texts.chain(judged).chain([&mut self.headline]) {
            *text = self.runner.secrets.hide(text).into_owned();
        }
    }

    fn hooks_and_phases(&mut self) -> Result<(), Stop> {
        let row = self.row;
        if self.way.between {
            self.perform("between", &row.hooks.between)?;
        }
        self.perform("prepare", &row.hooks.prepare)?;
        let mut is_fresh = false;
        for phase in &row.phases {
            if phase.kind != PhaseKind::Smoke && !is_fresh {
                self.perform("before", &row.hooks.before)?;
                is_fresh = true;
            }
            self.phase(phase)?;
        }
        Ok(())
    }

    fn perform(
        &mut self,
        when: &'static str,
        hooks: &[crate::hooks::HookSpec],
    ) -> Result<(), Stop> {
        self.go_on()?;
        self.runner.perform(when, hooks).map_err(Stop::Broken)?;
        self.go_on()
    }

    fn go_on(&self) -> Result<(), Stop> {
        if self.runner.stopped() {
            return Err(Stop::Asked);
        }
        Ok(())
    }

    fn phase(&mut self, phase: &PlannedPhase) -> Result<(), Stop> {
        self.go_on()?;
        let order = self.order(phase)?;
        let command = self.runner.plan.with_target(&phase.command);
        let shown = self.row.settings.front.shown(&command);
        self.runner.tell(SuiteEvent::Phase {
            phase: phase.kind,
            command: shown,
            length: phase.length,
        });
        // What went wrong while hooks changed the cluster is not of this load.
        drop(self.runner.world.target_troubles());
        let files = self.execute(&order, phase);
        self.note_target_troubles();
        // Also after a load that failed: they take back what `before` did.
        if phase.kind == PhaseKind::Load {
            self.runner.clean_up("after", &self.row.hooks.after);
        }
        let files = files?;
        self.go_on()?;
        let result = self.result_of(&order, files)?;
        if matches!(
            result.totals.stop,
            StopReason::Interrupted | StopReason::Aborted | StopReason::Remote
        ) {
            let what = phase.kind.name();
            return Err(Stop::Broken(format!("{what}: it was stopped from outside")));
        }
        match phase.kind {
            PhaseKind::Smoke => self.judge_smoke(&result, files),
            PhaseKind::WarmUp if self.is_unanswered(&result) => {
                Err(Stop::Broken("warm-up: no request was answered".to_owned()))
            }
            PhaseKind::WarmUp => Ok(()),
            PhaseKind::Load => self.judge_load(&order, &result, files),
        }
    }

    /// An attempt whose network path failed says nothing about the target.
    fn note_target_troubles(&mut self) {
        let troubles = self.runner.world.target_troubles().into_iter();
        let told = troubles
            .map(|why| format!("the network path to the target failed, not the target: {why}"));
        self.status.reasons.extend(told);
    }

    fn order(&self, phase: &PlannedPhase) -> Result<RunOrder, Stop> {
        let meanings = &self.runner.meanings;
        let name = match phase.kind {
            PhaseKind::Load => "result",
            kind => kind.name(),
        };
        let file = |ending: &str| self.folder.join(format!("{name}.{ending}"));
        let observe = match (&self.row.settings.observe, phase.kind) {
            (Some((_, observers)), PhaseKind::Load) => {
                Some(self.write_observers(&observers.to_string())?)
            }
            _ => None,
        };
        let env = phase.env.iter();
        Ok(RunOrder {
            row: self.row.id.clone(),
            repetition: self.way.run.repetition,
            phase: phase.kind,
            command: phase
                .command
                .iter()
                .map(|word| fill(word, meanings))
                .collect(),
            env: env
                .map(|(name, value)| (name.clone(), fill(value, meanings)))
                .collect(),
            folder: self.folder.clone(),
            result: file("json"),
            audits: match phase.kind {
                PhaseKind::Load => self.folder.join(AUDITS),
                _ => file("audits.json"),
            },
            journal: file("journal"),
            log: match phase.kind {
                PhaseKind::Load => self.folder.join("log.txt"),
                _ => file("log.txt"),
            },
            observe,
            tail: self.row.settings.phases.tail,
            time_limit: phase.time_limit,
        })
    }

    /// JSON is YAML; secrets are taken out of it again at the end.
    fn write_observers(&self, text: &str) -> Result<PathBuf, StateError> {
        let path = self.folder.join("observe.yaml");
        let filled = fill(text, &self.runner.meanings);
        let written = self.runner.state.disk().write(&path, filled.as_bytes());
        written.map_err(|error| StateError {
            path: path.clone(),
            why: error.to_string(),
        })?;
        Ok(path)
    }

    fn execute(&mut self, order: &RunOrder, phase: &PlannedPhase) -> Result<RunFiles, Stop> {
        let beats = self.row.settings.mode == Mode::Endurance && phase.kind == PhaseKind::Load;
        let mut next = HEARTBEAT;
        let (title, length) = (&self.row.title, phase.length);
        let Runner {
            executor,
            tell,
            secrets,
            ..
        } = &mut *self.runner;
        let mut beat = |beat: Beat| {
            if beats && beat.elapsed >= next {
                next = beat.elapsed + HEARTBEAT;
                tell(SuiteEvent::Heartbeat {
                    title: title.clone(),
                    elapsed: beat.elapsed,
                    length,
                    line: beat.line.map(|line| secrets.hide(&line).into_owned()),
                });
            }
        };
        let ran = executor.run(order, &mut beat);
        let ran = ran.map_err(|error| {
            Stop::Broken(format!("{} could not be run: {error}", phase.kind.name()))
        })?;
        if ran.timed_out {
            let limit = order.time_limit.unwrap_or_default();
            let limit = duration::text(limit);
            let what = phase.kind.name();
            return Err(Stop::Broken(format!(
                "{what}: it was stopped at its time limit of {limit}"
            )));
        }
        Ok(ran)
    }

    fn result_of(
        &self,
        order: &RunOrder,
        files: RunFiles,
    ) -> Result<std::sync::Arc<RunResult>, Stop> {
        let read = self.runner.state.result_at(&order.result);
        read.map_err(|error| {
            let how = match files.exit_code {
                Some(code) => format!("exit code {code}"),
                None => "a signal".to_owned(),
            };
            let last = last_lines(&self.log(&order.log), 3);
            let last = if last.is_empty() { error.why } else { last };
            let what = order.phase.name();
            Stop::Broken(format!(
                "{what}: it ended with {how} and left no result: {last}"
            ))
        })
    }

    fn log(&self, path: &Path) -> String {
        let bytes = self.runner.state.disk().read(path).unwrap_or_default();
        let end = &bytes[bytes.len().saturating_sub(LOG_END)..];
        String::from_utf8_lossy(end).into_owned()
    }

    /// Whether no request got a response, though one was to be sent: a script or a plan may do without.
    fn is_unanswered(&self, result: &RunResult) -> bool {
        let counts = &result.totals.seen.counts;
        let is_script = self.row.settings.front.file().is_some();
        counts.completed == 0 && (counts.started > 0 || !is_script)
    }

    /// One iteration that must pass.
    fn judge_smoke(&self, result: &RunResult, files: RunFiles) -> Result<(), Stop> {
        let counts = &result.totals.seen.counts;
        let is_script = self.row.settings.front.file().is_some();
        let is_plan = matches!(self.row.settings.front, Front::Plan { .. });
        let checks = self
            .row
            .settings
            .phases
            .smoke
            .is_none_or(|smoke| smoke.checks);
        let (failed, made) = (counts.failed_total(), result.checks_passed());
        // Without a failed check it is the status that is bad.
        let is_unchecked = !is_script && result.totals.seen.failed_checks.is_empty();
        let why = match made {
            _ if files.exit_code.is_some_and(|_| !is_judged(files)) => Some(ended_badly(files)),
            _ if checks && is_plan && failed_samples(result) > 0 => {
                Some(format!("{} samples failed", failed_samples(result)))
            }
            _ if failed > 0 => {
                let first = result.totals.seen.errors.rows().next();
                let first = first.map_or(String::new(), |(error, _)| format!(": {}", error.detail));
                Some(format!(
                    "{failed} of {} requests failed{first}",
                    counts.started
                ))
            }
            Some((held, all)) if checks && held < all && !is_unchecked => {
                Some(format!("{held} of {all} checks passed"))
            }
            Some(_) if is_script => None,
            _ if counts.good < counts.completed => {
                let statuses = result.totals.seen.statuses.rows();
                let statuses: Vec<String> =
                    statuses.map(|(status, _)| status.to_string()).collect();
                Some(format!(
                    "the response was bad: status {}",
                    statuses.join(", ")
                ))
            }
            _ if self.is_unanswered(result) => Some("no response".to_owned()),
            _ => None,
        };
        match why {
            Some(why) => Err(Stop::Broken(format!("smoke: {why}"))),
            None => Ok(()),
        }
    }

    fn judge_load(
        &mut self,
        order: &RunOrder,
        result: &RunResult,
        files: RunFiles,
    ) -> Result<(), Stop> {
        debug_assert!(
            order.result.ends_with(RESULT),
            "the load leaves the run's result"
        );
        self.headline = result.verdict.headline.clone();
        if !is_judged(files) {
            self.status.reasons.push(ended_badly(files));
        }
        let audits = self.runner.state.audits_at(&order.audits)?;
        let others = self
            .runner
            .earlier(self.way.run.row, self.way.run.repetition);
        let evidence = Evidence {
            result,
            others: &others,
            repeat: self.row.settings.repeat,
            audits: &audits,
        };
        self.status.judged = judge(&self.row.settings.gates, evidence);
        let failed = self.status.judged.iter().filter(|outcome| outcome.fails());
        self.status.reasons.extend(failed.map(ToString::to_string));
        self.mode_figures(result);
        self.note_components(result);
        self.note_blind_observers(result);
        Ok(())
    }

    /// Notes observers that saw nothing: cells that name them stay empty.
    fn note_blind_observers(&mut self, result: &RunResult) {
        let observers = self.row.settings.observe.as_ref();
        let Some(observers) = observers.and_then(|(_, observers)| observers.as_object()) else {
            return;
        };
        let seen = &result.observations;
        let is_blind = |name: &&String| seen.series.iter().all(|series| series.observer != **name);
        for name in observers.keys().filter(is_blind) {
            let mut notes = seen.notes.iter().rev();
            let why = notes
                .find(|note| note.observer == *name)
                .map_or("its log says why", |note| &note.text);
            let note = format!("the observer {name} saw nothing: {why}");
            self.status.notes.push(note);
        }
    }

    /// Notes rules of documents that nothing fits which was observed, each at the first run with observers.
    fn note_components(&mut self, result: &RunResult) {
        let names = components(result);
        if names.is_empty() {
            return;
        }
        let patterns = std::mem::take(&mut self.runner.patterns_left);
        let left = without_match(patterns.into_iter(), &names);
        self.status
            .notes
            .extend(left.map(|pattern| no_match(pattern, &names)));
    }

    fn mode_figures(&mut self, result: &RunResult) {
        let (figures, notes) = match self.row.settings.mode {
            Mode::Sustained => sustained(result),
            Mode::Cold => cold(result),
            Mode::Endurance => endurance(result),
        };
        self.status.figures = figures;
        self.status.notes.extend(notes);
    }
}

/// Whether a run's result and the gates say all that its exit code says.
fn is_judged(files: RunFiles) -> bool {
    match files.exit_code.and_then(ExitCode::of) {
        Some(
            ExitCode::Ok
            | ExitCode::NothingSucceeded
            | ExitCode::ThresholdsFailed
            | ExitCode::RestAbort
            | ExitCode::ExternalAbort,
        ) => true,
        Some(
            ExitCode::DialectUsage
            | ExitCode::CloudFailed
            | ExitCode::CloudProgress
            | ExitCode::SetupTimeout
            | ExitCode::TeardownTimeout
            | ExitCode::Timeout
            | ExitCode::InvalidConfig
            | ExitCode::CannotListen
            | ExitCode::ScriptException
            | ExitCode::ScriptAbort
            | ExitCode::Internal
            | ExitCode::MarkedFailed
            | ExitCode::ObserverLost
            | ExitCode::AgentLost
            | ExitCode::HungUp
            | ExitCode::Interrupted
            | ExitCode::Terminated
            | ExitCode::Other,
        )
        | None => false,
    }
}

fn ended_badly(files: RunFiles) -> String {
    let meaning = files
        .exit_code
        .and_then(ExitCode::of)
        .map(ExitCode::meaning);
    match (files.exit_code, meaning) {
        (Some(code), Some(meaning)) => {
            format!("the run ended with exit code {code} ({meaning}); its log says why")
        }
        (Some(code), None) => format!("the run ended with exit code {code}; its log says why"),
        (None, _) => "the run was ended by a signal; its log may say why".to_owned(),
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(count)..];
    last.join(" / ")
}

type Figures = (BTreeMap<String, f64>, Vec<String>);

fn sustained(result: &RunResult) -> Figures {
    match time_to_plateau(result) {
        Some((seconds, level)) => (
            BTreeMap::from([
                ("plateau_after_seconds".to_owned(), seconds),
                ("plateau_per_second".to_owned(), level),
            ]),
            vec![format!(
                "throughput settled at {level:.0}/s after {seconds:.0} s"
            )],
        ),
        None => (BTreeMap::new(), Vec::new()),
    }
}

fn cold(result: &RunResult) -> Figures {
    match time_to_first_success(result) {
        Some(seconds) => (
            BTreeMap::from([("first_success_seconds".to_owned(), seconds)]),
            vec![format!("the first good response came after {seconds:.3} s")],
        ),
        None => (
            BTreeMap::new(),
            vec!["there was no good response".to_owned()],
        ),
    }
}

fn endurance(result: &RunResult) -> Figures {
    let mut figures = BTreeMap::new();
    let mut notes = Vec::new();
    if let Some((first, last)) = first_and_last_hour(result) {
        for (name, window) in [("first_hour", first), ("last_hour", last)] {
            figures.insert(format!("{name}_throughput_per_second"), window.throughput);
            let failed = window.outcomes.failed_share().unwrap_or_default();
            figures.insert(format!("{name}_failed_share"), failed);
            let p99 = window.p99_ms.map(|p99| (format!("{name}_p99_ms"), p99));
            figures.extend(p99);
        }
        notes.push(format!(
            "throughput in the first hour {:.1}/s, in the last hour {:.1}/s",
            first.throughput, last.throughput
        ));
    }
    for (series, slope) in leak_slopes(result) {
        notes.push(leak_note(&series, slope));
        figures.insert(format!("{series}_per_hour"), slope);
    }
    (figures, notes)
}

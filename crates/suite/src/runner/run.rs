//! The suite from its first hook to its last.
//!
//! Must not know how one run is executed. Invariant: preparations are cleaned up in reverse order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::RunResult;
use loadline_model::secret::{SECRET_MIN, SecretValues};

use super::attempt::{Attempt, RunWay};
use super::{Executor, RunEnd, SuiteEnd, SuiteEvent};
use crate::file::{Policy, Target};
use crate::gates::{Evidence, judge};
use crate::hooks::{ExecCall, HookSpec, Performer, Undo, World, fill, restore};
use crate::outcome::RowStatus;
use crate::plan::{Plan, PlannedRun};
use crate::state::{RunState, RunStatus, StateError, StateFolder, SuiteRecord, WholeRun};

/// Time that the command that prints the target's URL may take.
const TARGET_TIMEOUT: Duration = Duration::from_secs(60);

/// Whole runs by row and repetition, and whether they passed.
type WholeRuns = BTreeMap<(usize, u32), bool>;

/// Settings of a runner.
pub struct RunSettings<'a> {
    /// Rows to run, as indices; `None`: all.
    pub only: Option<Vec<usize>>,
    /// Whether runs that failed are made again.
    pub failed_again: bool,
    /// Values of secrets by name.
    pub secrets: BTreeMap<String, String>,
    /// Facts for documents, besides the plan's.
    pub facts: BTreeMap<String, String>,
    /// What the rules of documents (`components:`) match: a rule that fits nothing in a run is noted there, once.
    pub component_patterns: Vec<String>,
    /// Milliseconds since 1970.
    pub unix_ms: &'a dyn Fn() -> u64,
}

/// Everything that a runner works with.
pub(super) struct Runner<'a> {
    pub(super) plan: &'a Plan,
    pub(super) state: &'a StateFolder,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) world: &'a mut dyn World,
    pub(super) settings: &'a RunSettings<'a>,
    pub(super) record: SuiteRecord,
    /// What is filled in: `target.url`, `secret.NAME`.
    pub(super) meanings: BTreeMap<String, String>,
    /// What hooks changed so far.
    pub(super) changes: Vec<Undo>,
    pub(super) secrets: SecretValues,
    /// Patterns of components that nothing fitted yet.
    pub(super) patterns_left: Vec<&'a str>,
    pub(super) tell: &'a mut dyn FnMut(SuiteEvent),
    problems: Vec<String>,
}

/// Runs everything unfinished in a plan, and returns the state of the suite.
///
/// # Errors
/// The state cannot be read or written. Preparations are cleaned up anyway.
pub fn run(
    plan: &Plan,
    state: &StateFolder,
    executor: &mut dyn Executor,
    world: &mut dyn World,
    settings: &RunSettings,
    tell: &mut dyn FnMut(SuiteEvent),
) -> Result<SuiteEnd, StateError> {
    let mut runner = Runner {
        record: SuiteRecord::of(plan, settings.facts.clone()),
        meanings: BTreeMap::new(),
        changes: Vec::new(),
        secrets: SecretValues::new(settings.secrets.values().cloned()),
        patterns_left: settings
            .component_patterns
            .iter()
            .map(String::as_str)
            .collect(),
        problems: Vec::new(),
        plan,
        state,
        executor,
        world,
        settings,
        tell,
    };
    runner.run()
}

impl Runner<'_> {
    fn run(&mut self) -> Result<SuiteEnd, StateError> {
        self.changes = self.state.changes()?;
        self.take_back()?;
        self.state.keep_suite(&self.record)?;
        let whole = self.judge_anew()?;
        let runs = self.to_do(&whole);
        self.tell(SuiteEvent::Planned {
            runs: self.plan.runs.len(),
            done: whole.len(),
        });
        if runs.is_empty() {
            return self.end();
        }
        for (name, value) in &self.settings.secrets {
            self.meanings
                .insert(format!("secret.{name}"), value.clone());
        }
        if let Some(why) = self.missing_secret() {
            self.problem(&why);
            return self.end();
        }
        let made = self.make_all(&runs);
        let plan = self.plan;
        self.clean_up("suite cleanup", &plan.hooks.cleanup);
        let taken_back = self.take_back();
        made?;
        taken_back?;
        self.end()
    }

    fn missing_secret(&self) -> Option<String> {
        let missing = |name: &&String| !self.settings.secrets.contains_key(*name);
        if let Some(name) = self.plan.secrets.iter().find(missing) {
            return Some(format!(
                "the secret {name} is missing; set the variable {name}"
            ));
        }
        let mut secrets = self.settings.secrets.iter();
        let (name, _) = secrets.find(|(_, value)| value.len() < SECRET_MIN)?;
        Some(format!(
            "the secret {name} is shorter than {SECRET_MIN} bytes and could not be distinguished from other text; use a longer one"
        ))
    }

    /// The runs to make, in the plan's order.
    fn to_do(&self, whole: &WholeRuns) -> Vec<PlannedRun> {
        let chosen = |run: &&PlannedRun| {
            let only = self.settings.only.as_ref();
            only.is_none_or(|rows| rows.contains(&run.row))
        };
        let is_to_do = |run: &&PlannedRun| match whole.get(&(run.row, run.repetition)) {
            Some(has_passed) => self.settings.failed_again && !has_passed,
            None => true,
        };
        let runs = self.plan.runs.iter().filter(chosen);
        runs.filter(is_to_do).copied().collect()
    }

    /// Judges whole runs again whose row has other gates by now; returns the whole runs, with whether they passed.
    fn judge_anew(&mut self) -> Result<WholeRuns, StateError> {
        let mut all = WholeRuns::new();
        for PlannedRun { row, repetition } in self.plan.runs.iter().copied() {
            let whole = self.state.whole(&self.record.rows[row], repetition);
            if let Some(WholeRun { mut status, result }) = whole {
                if status.gates != self.plan.rows[row].settings.gates {
                    self.judge_run_anew(row, &mut status, &result)?;
                }
                all.insert((row, repetition), status.passed());
            }
        }
        Ok(all)
    }

    fn judge_run_anew(
        &self,
        row: usize,
        status: &mut RunStatus,
        result: &RunResult,
    ) -> Result<(), StateError> {
        let gates = &self.plan.rows[row].settings.gates;
        let repetition = status.repetition;
        let others = self.earlier(row, repetition);
        let audits = self.state.audits(&status.row, repetition)?;
        let before: Vec<String> = status.judged.iter().map(ToString::to_string).collect();
        status.judged = judge(
            gates,
            Evidence {
                result,
                others: &others,
                repeat: self.plan.rows[row].settings.repeat,
                audits: &audits,
            },
        );
        status.gates = gates.clone();
        status.reasons.retain(|reason| !before.contains(reason));
        let failed = status.judged.iter().filter(|outcome| outcome.fails());
        status.reasons.extend(failed.map(ToString::to_string));
        self.state.keep_status(status)
    }

    /// Results of a row's earlier repetitions that are whole.
    pub(super) fn earlier(&self, row: usize, repetition: u32) -> Vec<Arc<RunResult>> {
        let record = &self.record.rows[row];
        let whole = (1..repetition).filter_map(|other| self.state.whole(record, other));
        whole.map(|whole| whole.result).collect()
    }

    /// Everything between the suite's first hook and its cleanup.
    fn make_all(&mut self, runs: &[PlannedRun]) -> Result<(), StateError> {
        let plan = self.plan;
        if let Err(why) = self.perform("suite prepare", &plan.hooks.prepare) {
            self.problem(&why);
            return Ok(());
        }
        if let Err(why) = self.find_target() {
            self.problem(&why);
            return Ok(());
        }
        let mut from = 0;
        while from < runs.len() && !self.stopped() {
            let group = plan.rows[runs[from].row].group;
            let same = |run: &&PlannedRun| plan.rows[run.row].group == group;
            let length = runs[from..].iter().take_while(same).count();
            let went_on = self.make_group(group, runs, from, from + length);
            self.clean_up("group cleanup", &plan.groups[group].hooks.cleanup);
            if !went_on? {
                break;
            }
            from += length;
        }
        Ok(())
    }

    /// The runs `from..to`, which belong to one group; `false`: stop running.
    fn make_group(
        &mut self,
        group: usize,
        runs: &[PlannedRun],
        from: usize,
        to: usize,
    ) -> Result<bool, StateError> {
        let plan = self.plan;
        if let Err(why) = self.perform("group prepare", &plan.groups[group].hooks.prepare) {
            self.problem(&why);
            return Ok(plan.policy != Policy::Stop);
        }
        for number in from..to {
            if self.stopped() {
                return Ok(false);
            }
            if !self.make_run(runs, number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One run with its retries; `false`: stop running.
    fn make_run(&mut self, runs: &[PlannedRun], number: usize) -> Result<bool, StateError> {
        let run = runs[number];
        let plan = self.plan;
        let row = &plan.rows[run.row];
        let tries = match plan.policy {
            Policy::Retry(times) => times + 1,
            Policy::Stop | Policy::Continue => 1,
        };
        for attempt in 1..=tries {
            self.tell(SuiteEvent::Started {
                number: number + 1,
                of: runs.len(),
                title: row.title.clone(),
                repetition: run.repetition,
                repeat: row.settings.repeat,
                attempt,
            });
            let way = RunWay {
                run,
                attempt,
                between: number > 0 || attempt > 1,
            };
            let ended = Attempt::new(self, way).make()?;
            let again = attempt < tries && !self.stopped();
            let how = match ended.state {
                RunState::Interrupted | RunState::Running => RunEnd::Interrupted,
                _ if ended.reasons.is_empty() => RunEnd::Passed {
                    headline: ended.headline,
                },
                _ => RunEnd::Failed {
                    reasons: ended.reasons,
                    again,
                },
            };
            let failed = matches!(how, RunEnd::Failed { .. });
            self.tell(SuiteEvent::Ended {
                title: row.title.clone(),
                repetition: run.repetition,
                how,
                left: self.left(&runs[number + 1..]),
            });
            if !failed {
                break;
            }
            if !again && plan.policy == Policy::Stop {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The lengths of what is left, as far as they are known.
    fn left(&self, runs: &[PlannedRun]) -> Option<Duration> {
        let phases = runs.iter().flat_map(|run| &self.plan.rows[run.row].phases);
        let left: Duration = phases.filter_map(|phase| phase.length).sum();
        (!left.is_zero()).then_some(left)
    }

    /// Finds out where the target is, once it is prepared.
    fn find_target(&mut self) -> Result<(), String> {
        let url = match &self.plan.target {
            None => return Ok(()),
            Some(Target::Url(url)) => fill(url, &self.meanings),
            Some(Target::Command(words)) => {
                let call = ExecCall {
                    words: words
                        .iter()
                        .map(|word| fill(word, &self.meanings))
                        .collect(),
                    ..ExecCall::default()
                };
                let printed = self.world.exec(&call, TARGET_TIMEOUT);
                let printed = printed.map_err(|why| format!("the target's command: {why}"))?;
                let line = printed.lines().map(str::trim).find(|line| !line.is_empty());
                line.ok_or("the target's command printed nothing; let it print the URL")?
                    .to_owned()
            }
            Some(Target::Kubernetes(target)) => {
                let found = self.world.find_target(target);
                found.map_err(|why| format!("the target: {why}"))?
            }
        };
        self.meanings.insert("target.url".to_owned(), url);
        Ok(())
    }

    /// Does hooks; a wish to stop ends their waits.
    pub(super) fn perform(&mut self, when: &'static str, hooks: &[HookSpec]) -> Result<(), String> {
        if hooks.is_empty() {
            return Ok(());
        }
        self.tell_hooks(when, hooks);
        let (state, changes) = (self.state, &mut self.changes);
        let mut record = |undo: Undo| record_change(state, changes, undo);
        let performed = Performer {
            world: self.world,
            meanings: &self.meanings,
            record: &mut record,
            heeds_stop: true,
        }
        .perform(hooks);
        performed.map_err(|error| self.secrets.hide(&error.to_string()).into_owned())
    }

    /// Does every hook, whether it was asked to stop or not; what fails is a problem, and the next one is done.
    pub(super) fn clean_up(&mut self, when: &'static str, hooks: &[HookSpec]) {
        if hooks.is_empty() {
            return;
        }
        self.tell_hooks(when, hooks);
        let (state, changes) = (self.state, &mut self.changes);
        let mut record = |undo: Undo| record_change(state, changes, undo);
        let failed = Performer {
            world: self.world,
            meanings: &self.meanings,
            record: &mut record,
            heeds_stop: false,
        }
        .perform_all(hooks);
        for error in failed {
            self.problem(&error.to_string());
        }
    }

    fn tell_hooks(&mut self, when: &'static str, hooks: &[HookSpec]) {
        let names = hooks
            .iter()
            .map(|hook| self.secrets.hide(&hook.name).into_owned());
        let names = names.collect();
        self.tell(SuiteEvent::Hooks { when, names });
    }

    /// Takes back what hooks changed, this runner's or those of one that died.
    fn take_back(&mut self) -> Result<(), StateError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        self.tell(SuiteEvent::Restoring {
            changes: self.changes.len(),
        });
        let left = restore(self.world, &self.changes);
        let kept: Vec<Undo> = left.iter().map(|(undo, _)| undo.clone()).collect();
        self.state.keep_changes(&kept)?;
        self.changes = kept;
        for (undo, why) in left {
            self.problem(&format!(
                "{} could not be undone: {why}; the next start tries again",
                undo.what()
            ));
        }
        Ok(())
    }

    pub(super) fn stopped(&self) -> bool {
        self.executor.should_stop()
    }

    pub(super) fn tell(&mut self, event: SuiteEvent) {
        (self.tell)(event);
    }

    pub(super) fn problem(&mut self, why: &str) {
        let why = self.secrets.hide(why).into_owned();
        self.tell(SuiteEvent::Problem(why.clone()));
        self.problems.push(why);
    }

    fn end(&mut self) -> Result<SuiteEnd, StateError> {
        let outcome = self.state.outcome(&self.record)?;
        let count = |status: RowStatus| {
            let rows = outcome.rows.iter();
            rows.filter(|row| row.status == status).count()
        };
        Ok(SuiteEnd {
            passed: count(RowStatus::Passed),
            failed: count(RowStatus::Failed),
            pending: count(RowStatus::Pending),
            interrupted: self.stopped(),
            problems: std::mem::take(&mut self.problems),
        })
    }
}

/// Records a change before it is made; of two changes of one thing the first has the original state.
fn record_change(state: &StateFolder, changes: &mut Vec<Undo>, undo: Undo) -> Result<(), String> {
    let what = undo.what();
    if changes.iter().any(|known| known.what() == what) {
        return Ok(());
    }
    changes.push(undo);
    let kept = state.keep_changes(changes);
    if kept.is_err() {
        changes.pop();
    }
    kept.map_err(|error| error.to_string())
}

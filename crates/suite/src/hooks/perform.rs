//! Executes hooks: attempts, retries, waits; and undoes their changes.
//!
//! Must not know when. Invariant: an error names the hook, what was attempted how often, and why it failed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::spec::{Action, Condition, ExecCall, HookSpec, HttpCall};
use super::wait::{Baseline, await_condition};
use super::world::{Record, Undo, World};
use crate::file::At;

/// Why a hook was ended or not started.
pub(super) const ASKED_TO_STOP: &str = "asked to stop";
/// Wait between two tries; it doubles up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_millis(500);
/// Longest wait between two tries.
const RETRY_MAX: Duration = Duration::from_secs(10);

/// Why a hook failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookError {
    /// The position of the hook in the file.
    pub at: At,
    /// What it is called.
    pub hook: String,
    /// Why.
    pub why: String,
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HookError { at, hook, why } = self;
        write!(f, "hook {hook:?} (line {}): {why}", at.line)
    }
}

impl std::error::Error for HookError {}

/// Executes hooks in a world; substitutes secrets and the target's URL at the last moment.
pub struct Performer<'a> {
    /// What things are done with.
    pub world: &'a mut dyn World,
    /// What is filled in: `target.url`, `secret.NAME`.
    pub meanings: &'a BTreeMap<String, String>,
    /// Records changes.
    pub record: Record<'a>,
    /// Whether a request to stop ends waits; cleanup continues.
    pub heeds_stop: bool,
}

impl Performer<'_> {
    /// Executes hooks in order, up to the first failure or a request to stop.
    ///
    /// # Errors
    /// Which hook failed or was not started, and why.
    pub fn perform(&mut self, hooks: &[HookSpec]) -> Result<(), HookError> {
        hooks.iter().try_for_each(|hook| {
            if self.heeds_stop && self.world.should_stop() {
                return Err(HookError {
                    at: hook.at,
                    hook: hook.name.clone(),
                    why: ASKED_TO_STOP.to_owned(),
                });
            }
            self.perform_one(hook)
        })
    }

    /// Executes all hooks, whatever happens, and returns the failures.
    pub fn perform_all(&mut self, hooks: &[HookSpec]) -> Vec<HookError> {
        let failed = hooks.iter().filter_map(|hook| self.perform_one(hook).err());
        failed.collect()
    }

    /// Executes one hook and waits for its conditions.
    ///
    /// # Errors
    /// Why it failed.
    pub fn perform_one(&mut self, hook: &HookSpec) -> Result<(), HookError> {
        let fail = |why: String| HookError {
            at: hook.at,
            hook: hook.name.clone(),
            why,
        };
        let conditions: Vec<(Condition, Duration)> = hook
            .wait
            .iter()
            .map(|wait| (self.filled_condition(&wait.condition), wait.timeout))
            .collect();
        let mut baselines = Vec::new();
        for (condition, _) in &conditions {
            baselines.push(Baseline::of(condition, self.world));
        }
        self.try_action(hook).map_err(fail)?;
        for ((condition, timeout), baseline) in conditions.iter().zip(baselines) {
            await_condition(condition, baseline, *timeout, self.world, self.heeds_stop)
                .map_err(fail)?;
        }
        Ok(())
    }

    fn try_action(&mut self, hook: &HookSpec) -> Result<(), String> {
        let Some(action) = &hook.action else {
            return Ok(());
        };
        let mut wait = RETRY;
        let mut tries = 0;
        loop {
            tries += 1;
            let why = match self.act(action, hook.timeout) {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            let stops = self.heeds_stop && self.world.should_stop();
            if tries > hook.retries || stops {
                return Err(if tries == 1 {
                    why
                } else {
                    format!("{why} (after {tries} tries)")
                });
            }
            self.world.pause(wait);
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    fn act(&mut self, action: &Action, timeout: Duration) -> Result<(), String> {
        match action {
            Action::Exec(call) => {
                let call = self.filled_exec(call);
                self.world.exec(&call, timeout).map(drop)
            }
            Action::Http(call) => {
                let call = self.filled_http(call);
                let answer = self.world.http(&call, timeout)?;
                if call.accepts(answer.status) {
                    return Ok(());
                }
                let wanted = call
                    .expect
                    .map_or("200 to 299".to_owned(), |s| s.to_string());
                Err(format!(
                    "answered with {} instead of {wanted}",
                    answer.status
                ))
            }
            Action::Kubernetes(cluster, order) => {
                self.world.change_cluster(cluster, order, self.record)
            }
            Action::Testbed(testbed) => {
                let mut testbed = testbed.clone();
                testbed.control = fill(&testbed.control, self.meanings);
                self.world.change_testbed(&testbed, self.record)
            }
            Action::Sleep(span) => {
                self.world.pause(*span);
                Ok(())
            }
        }
    }

    fn filled_exec(&self, call: &ExecCall) -> ExecCall {
        let fill = |text: &String| fill(text, self.meanings);
        ExecCall {
            words: call.words.iter().map(fill).collect(),
            env: call
                .env
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect(),
            cwd: call.cwd.as_ref().map(fill),
        }
    }

    fn filled_http(&self, call: &HttpCall) -> HttpCall {
        let fill = |text: &String| fill(text, self.meanings);
        HttpCall {
            url: fill(&call.url),
            headers: call
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect(),
            body: fill(&call.body),
            ..call.clone()
        }
    }

    fn filled_condition(&self, condition: &Condition) -> Condition {
        let mut condition = condition.clone();
        match &mut condition {
            Condition::Http(call) => *call = self.filled_http(call),
            Condition::Port(text)
            | Condition::Log { file: text, .. }
            | Condition::Prometheus { url: text, .. } => *text = fill(text, self.meanings),
            Condition::Rollout(..) | Condition::Replicas(..) | Condition::CpuIdle { .. } => {}
        }
        condition
    }
}

/// Substitutes `${NAME}`; unknown names stay, and `$${` becomes `${`.
#[must_use]
pub fn fill(text: &str, meanings: &BTreeMap<String, String>) -> String {
    use crate::file::{Meaning, substitute_text};
    let meaning = |name: &str| {
        meanings
            .get(name)
            .cloned()
            .map_or(Meaning::Later, Meaning::Text)
    };
    let filled = substitute_text(text, At::default(), &meaning);
    // What was planned has its braces closed.
    let filled = filled.unwrap_or_else(|_| text.to_owned());
    filled.replace("$${", "${")
}

/// Undoes changes, last first; returns those that failed, with the reason.
pub fn restore(world: &mut dyn World, undos: &[Undo]) -> Vec<(Undo, String)> {
    let mut left = Vec::new();
    for undo in undos.iter().rev() {
        if let Err(why) = world.undo(undo) {
            left.push((undo.clone(), why));
        }
    }
    left.reverse();
    left
}

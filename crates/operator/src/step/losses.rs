//! Lost pods and their replacements.
//!
//! Must not know how the test ends. Invariants: each loss is reported once, and so is its replacement; what was
//! reported about a pod stays when the pod is gone.

use std::time::Duration;

use super::verdict::{self, Fate};
use super::{Act, At, Note, Step, elapsed};
use crate::names::Names;
use crate::seen::{Role, SeenPod};
use crate::status::{Lost, Stage};

/// A Job older than this is recreated when its agent is lost. A younger one retries by itself, with growing
/// delays, so that a pod that cannot run at all is not created over and over.
const HELD_FOR: Duration = Duration::from_secs(30);

impl At<'_> {
    /// Reports that the coordinator's pod is lost and another one created, and then that the new one continues;
    /// `None`: nothing is new.
    pub(super) fn coordinator_change(&self) -> Option<Step> {
        if self.run.work.is_alone() {
            return None;
        }
        let current = self.seen.pod(Role::Coordinator)?;
        let of_coordinator = |pod: &&SeenPod| pod.role == Role::Coordinator;
        let all = self.seen.pods.iter().filter(of_coordinator).count();
        let (is, reason, message) = if verdict::is_replaced(
            current,
            self.seen.job(Role::Coordinator),
        ) {
            let cause = verdict::cause(current);
            let message = format!(
                "the coordinator's pod {} is lost: {cause}; its Job creates another, and the load continues",
                current.name
            );
            ("Unknown", "CoordinatorLost", message)
        } else if all > 1 && current.is_running && !current.is_over() {
            let message = format!("pod {} continues the test", current.name);
            ("True", "CoordinatorReplaced", message)
        } else {
            return None;
        };
        let condition = self.status.coordinator_replaced();
        let told = self.status.condition(condition);
        if told.is_some_and(|told| told.message == message) {
            return None;
        }
        let mut next = self.status.clone();
        next.say("Unknown", reason, &message, self.now);
        next.set(condition, is, reason, &message, self.now);
        let note = Note {
            is_warning: is != "True",
            reason: reason.to_owned(),
            message,
        };
        Some(Step::to(next, note))
    }

    /// Reports agents that were lost while the others continue, and their replacements.
    pub(super) fn losses(&self) -> Step {
        let (fresh, again) = self.lost(None);
        let mut next = self.status.clone();
        next.lost.extend(fresh.iter().cloned());
        let mut step = Step {
            again,
            ..Step::default()
        };
        if !fresh.is_empty() {
            let message = told(&fresh);
            next.say("Unknown", "AgentLost", &message, self.now);
            step.notes.push(Note {
                is_warning: true,
                reason: "AgentLost".to_owned(),
                message,
            });
        }
        for lost in &mut next.lost {
            let Some(pod) = self.in_place_of(lost) else {
                continue;
            };
            lost.replaced_by = Some(pod.name.clone());
            let message = format!("pod {} replaces {}", pod.name, lost.agent);
            step.notes.push(Note {
                is_warning: false,
                reason: "AgentReplaced".to_owned(),
                message,
            });
        }
        step.status = (!step.notes.is_empty()).then_some(next);
        self.remake(&mut step);
        step
    }

    /// Recreates the Jobs of lost agents, which would wait for minutes after a few losses.
    fn remake(&self, step: &mut Step) {
        // The Job of all agents also has those that are not lost.
        if self.run.kind.is_indexed() {
            return;
        }
        for number in 1..=self.run.agents() {
            let Some(age) = self.waits_for_a_pod(number) else {
                continue;
            };
            match HELD_FOR.checked_sub(age).filter(|left| !left.is_zero()) {
                None => step.acts.push(Act::RemakeAgent(number)),
                Some(left) => {
                    step.again = Some(step.again.map_or(left, |sooner| sooner.min(left)));
                }
            }
        }
    }

    /// The age of the Job of a lost agent without a replacement, if the loss is in the status; `None`: no
    /// replacement is needed.
    fn waits_for_a_pod(&self, number: u32) -> Option<Duration> {
        let role = Role::Agent(number);
        let job = self.seen.job(role)?;
        let agent = Names::of(self.run).agent(number);
        let is_told = |pod: &str| {
            let mut lost = self.status.lost.iter();
            lost.any(|lost| lost.agent == agent && (pod.is_empty() || lost.pod == pod))
        };
        let mut pods = self.seen.pods.iter().filter(|pod| pod.role == role);
        let is_due = job.is_between_pods && !job.is_going && !job.has_failed;
        (is_due && is_told("") && pods.all(|pod| pod.is_over() && is_told(&pod.name)))
            .then(|| job.made.map_or(HELD_FOR, |made| elapsed(made, self.now)))
    }

    /// The replacement pod of a lost agent that had none yet.
    fn in_place_of(&self, lost: &Lost) -> Option<&SeenPod> {
        let pods = self.seen.pods.iter();
        let mut running = pods.filter(|pod| pod.is_running && !pod.is_over());
        let names = Names::of(self.run);
        let is_free = lost.replaced_by.is_none();
        running.find(|pod| {
            is_free
                && pod.name != lost.pod
                && pod
                    .role
                    .agent()
                    .is_some_and(|n| names.agent(n) == lost.agent)
        })
    }

    /// Agents whose unexpected end was not reported yet, and when to check those that may have ended; `code`:
    /// how the test ended.
    pub(super) fn lost(&self, code: Option<i32>) -> (Vec<Lost>, Option<Duration>) {
        let mut lost = Vec::new();
        let mut again: Option<Duration> = None;
        if self.status.stage < Stage::Created {
            return (lost, again);
        }
        for number in 1..=self.run.agents() {
            for (pod, fate) in self.fates(number, code) {
                match fate {
                    Fate::Fine => {}
                    Fate::Doubtful(after) => {
                        again = Some(again.map_or(after, |sooner| sooner.min(after)));
                    }
                    Fate::Lost(cause) => lost.push(Lost {
                        agent: Names::of(self.run).agent(number),
                        pod: pod.map(|pod| pod.name.clone()).unwrap_or_default(),
                        node: pod.and_then(|pod| pod.node.clone()),
                        cause,
                        replaced_by: None,
                    }),
                }
            }
        }
        (lost, again)
    }

    /// The outcomes of an agent's pods, without those already reported.
    fn fates(&self, number: u32, code: Option<i32>) -> Vec<(Option<&SeenPod>, Fate)> {
        let agent = Names::of(self.run).agent(number);
        let told = self.status.lost.iter().filter(|lost| lost.agent == agent);
        let told: Vec<&str> = told.map(|lost| lost.pod.as_str()).collect();
        let of_agent = |pod: &&SeenPod| pod.role == Role::Agent(number);
        let mut pods: Vec<Option<&SeenPod>> =
            self.seen.pods.iter().filter(of_agent).map(Some).collect();
        if pods.is_empty() && told.is_empty() {
            pods.push(None);
        }
        pods.retain(|pod| pod.is_none_or(|pod| !told.contains(&pod.name.as_str())));
        let job = self.seen.job(Role::Agent(number));
        let fate = |pod| (pod, verdict::fate(pod, job, code, self.now));
        pods.into_iter().map(fate).collect()
    }
}

/// Losses in one line.
pub(super) fn told(lost: &[Lost]) -> String {
    let of_one = |one: &Lost| {
        let pod = match (one.pod.as_str(), &one.node) {
            ("", _) => String::new(),
            (pod, None) => format!(" (pod {pod})"),
            (pod, Some(node)) => format!(" (pod {pod} on node {node})"),
        };
        let next = one.replaced_by.as_ref();
        let next = next.map_or(String::new(), |pod| format!(", and replaced by pod {pod}"));
        format!("agent {}{pod} was lost: {}{next}", one.agent, one.cause)
    };
    let all: Vec<String> = lost.iter().take(10).map(of_one).collect();
    let more = lost.len().saturating_sub(10);
    match more {
        0 => all.join("; "),
        more => format!("{}; and {more} more", all.join("; ")),
    }
}

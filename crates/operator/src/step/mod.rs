//! The next step of a test, given its observed state.
//!
//! A pure function of the test, its status, its objects and an instant; the same input gives the same step.
//! Must not know the API. Invariants: the coordinator is only created at the first stage and agents at the
//! second, so that no test runs twice; every reason why a test does not continue is reported.

mod alone;
mod hindrance;
mod losses;
mod verdict;

use std::cmp::Reverse;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use crate::results::Kept;
use crate::seen::{HandOn, Heard, Role, SeenJob, SeenPod};
use crate::status::{Known, Lost, Outcome, Stage, Status};
use crate::test::{Cleanup, Refusal, Test, Work};
use loadline_model::test_kind::TestKind;

use hindrance::{Look, look};
use losses::told;
use verdict::{CoordinatorEnd, Verdict};

/// How long agents, and the container that passes the result on, may take to end after the coordinator.
const FAREWELL: Duration = Duration::from_secs(10);
/// Time after which to check again whether a log is complete.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The existing objects of a test.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its Jobs.
    pub jobs: Vec<SeenJob>,
    /// Their pods.
    pub pods: Vec<SeenPod>,
    /// The facts from the coordinator's log.
    pub heard: Heard,
    /// The last lines of the log of a coordinator that has ended.
    pub tail: String,
    /// Where the whole result was stored; `None`: nowhere yet.
    pub kept: Option<Kept>,
}

impl Seen {
    /// The Job of a role's pods.
    fn job(&self, role: Role) -> Option<&SeenJob> {
        let is_of_all = |job: &&SeenJob| job.role == Role::Agents && role.agent().is_some();
        let mut jobs = self.jobs.iter();
        jobs.find(|job| job.role == role || is_of_all(job))
    }

    /// The pod of a role; of several, the one that has not ended, otherwise the last.
    #[must_use]
    pub fn pod(&self, role: Role) -> Option<&SeenPod> {
        let mut pods: Vec<&SeenPod> = self.pods.iter().filter(|pod| pod.role == role).collect();
        pods.sort_by_key(|pod| (pod.is_over(), Reverse(pod.made), pod.name.clone()));
        pods.first().copied()
    }
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Create missing objects of the coordinator: Service, identities, policy, Job.
    MakeCoordinator,
    /// Create missing Jobs of agents.
    MakeAgents,
    /// Recreate the Job of this agent, whose pod is lost: a new Job creates its pod immediately.
    RemakeAgent(u32),
    /// Delete the agents' Jobs.
    DropAgents,
    /// Delete the coordinator's Job.
    DropCoordinator,
    /// Delete the resource that requested the test.
    Delete,
    /// Follow this pod's log for news about agents.
    Listen(String),
}

/// An Event to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether it needs attention.
    pub is_warning: bool,
    /// One word.
    pub reason: String,
    /// A message for people.
    pub message: String,
}

/// The next step: first the actions, then the status, then the notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The actions.
    pub acts: Vec<Act>,
    /// The status to write; `None`: unchanged.
    pub status: Option<Status>,
    /// Events to record.
    pub notes: Vec<Note>,
    /// When to look again, though nothing changed.
    pub again: Option<Duration>,
}

impl Step {
    fn to(status: Status, note: Note) -> Step {
        Step {
            status: Some(status),
            notes: vec![note],
            ..Step::default()
        }
    }

    fn and(mut self, act: Act) -> Step {
        self.acts.push(act);
        self
    }
}

/// The next step for a test.
#[must_use]
pub fn step(run: &Test, known: &Known, seen: &Seen, now: Timestamp) -> Step {
    let status = match known {
        Known::Foreign => return Step::default(),
        Known::New => return begin(run, now),
        Known::Ours(status) => status,
    };
    let of = At {
        run,
        status,
        seen,
        now,
    };
    let step = match status.stage {
        Stage::Initialization => of.initialization(),
        Stage::Initialized => of.initialized(),
        Stage::Created => of.created(),
        Stage::Started => of.started(),
        Stage::Stopped => of.stopped(),
        Stage::Finished | Stage::Error => return of.over(),
    };
    of.with_edit(step)
}

/// The pod whose result is to be stored in the requested place; `None`: there is none, or not yet.
#[must_use]
pub fn hands_on<'a>(known: &Known, seen: &'a Seen) -> Option<&'a SeenPod> {
    let Known::Ours(status) = known else {
        return None;
    };
    let is_due = status.stage == Stage::Stopped && status.results.is_none();
    let pod = seen.pod(Role::Coordinator).filter(|_| is_due)?;
    matches!(pod.hand_on, Some(HandOn::Ended(_))).then_some(pod)
}

/// Ends a test that cannot be run.
#[must_use]
pub fn refuse(kind: TestKind, known: &Known, refusal: &Refusal, now: Timestamp) -> Step {
    let status = match known {
        Known::Foreign => return Step::default(),
        Known::New => Status::begun(kind, 0, now),
        Known::Ours(status) if status.stage.is_last() => return Step::default(),
        Known::Ours(status) => (**status).clone(),
    };
    error(&status, refusal.reason, &refusal.message, now)
        .and(Act::DropAgents)
        .and(Act::DropCoordinator)
}

fn begin(run: &Test, now: Timestamp) -> Step {
    let mut status = Status::begun(run.kind, run.parallelism, now);
    status.observed_generation = run.generation;
    let message = match run.work.is_alone() {
        true => "pod created",
        false => "coordinator created; it is reading the script",
    };
    let message = message.to_owned();
    let mut step = Step::to(status, note(Stage::Initialization, message));
    if !run.ignored.is_empty() {
        step.notes.push(Note {
            is_warning: false,
            reason: "Ignored".to_owned(),
            message: format!("without effect: {}", run.ignored.join("; ")),
        });
    }
    step.and(Act::MakeCoordinator)
}

fn note(stage: Stage, message: String) -> Note {
    let text = stage.text();
    Note {
        is_warning: false,
        reason: text[..1].to_uppercase() + &text[1..],
        message,
    }
}

fn error(status: &Status, reason: &str, message: &str, now: Timestamp) -> Step {
    let mut next = status.at(Stage::Error, now);
    next.result = Some(Outcome::Error);
    next.say("False", reason, message, now);
    let note = Note {
        is_warning: true,
        reason: reason.to_owned(),
        message: message.to_owned(),
    };
    Step::to(next, note)
}

/// A test at a stage.
struct At<'a> {
    run: &'a Test,
    status: &'a Status,
    seen: &'a Seen,
    now: Timestamp,
}

impl At<'_> {
    fn initialization(&self) -> Step {
        if self.run.work.is_alone() {
            return self.alone();
        }
        if let Some(end) = self.coordinator_end() {
            return self.failed_before_start(&end);
        }
        if self.seen.heard.is_listening {
            let message = "the script is valid".to_owned();
            let next = self.status.at(Stage::Initialized, self.now);
            return Step::to(next, note(Stage::Initialized, message));
        }
        if self.seen.job(Role::Coordinator).is_none() {
            return Step::default().and(Act::MakeCoordinator);
        }
        self.wait()
    }

    fn initialized(&self) -> Step {
        if let Some(end) = self.coordinator_end() {
            // The operator may have ended between creating the agents and reporting it.
            return match end.has_run() {
                true => self.start(),
                false => self.failed_before_start(&end),
            };
        }
        let message = match self.run.parallelism {
            1 => "1 agent created".to_owned(),
            agents => format!("{agents} agents created"),
        };
        let next = self.status.at(Stage::Created, self.now);
        Step::to(next, note(Stage::Created, message)).and(Act::MakeAgents)
    }

    fn created(&self) -> Step {
        let joined = self.seen.heard.joined;
        if let Some(end) = self.coordinator_end() {
            // The operator may have been away while the test ran.
            return match end.has_run() || joined >= self.run.parallelism {
                true => self.start(),
                false => self.failed_before_start(&end),
            };
        }
        if joined >= self.run.parallelism {
            return self.start();
        }
        let (lost, doubt) = self.lost(None);
        if let Some(first) = lost.first() {
            let message = format!("before the start: {}", told(&lost));
            let reason = match first.cause.contains("OOMKilled") {
                true => "OOMKilled",
                false => "AgentLost",
            };
            let mut step = error(self.status, reason, &message, self.now)
                .and(Act::DropAgents)
                .and(Act::DropCoordinator);
            if let Some(status) = &mut step.status {
                status.lost = lost;
            }
            return step;
        }
        let mut step = self.wait();
        step.again = [step.again, doubt].into_iter().flatten().min();
        if step.status.is_none() && self.status.agents_ready != joined {
            let mut next = self.status.clone();
            next.agents_ready = joined;
            step.status = Some(next);
        }
        step
    }

    fn start(&self) -> Step {
        let mut next = self.status.at(Stage::Started, self.now);
        next.agents_ready = self.run.parallelism;
        let message = match self.run.agents() {
            0 => "the pod is ready".to_owned(),
            1 => "the agent has joined".to_owned(),
            agents => format!("all {agents} agents have joined"),
        };
        Step::to(next, note(Stage::Started, message))
    }

    fn started(&self) -> Step {
        match self.coordinator_end() {
            Some(end @ (CoordinatorEnd::Ended(_) | CoordinatorEnd::Removed(_))) => {
                let mut next = self.status.at(Stage::Stopped, self.now);
                next.exit_code = end.code();
                next.end_time = Some(Time(end.at().unwrap_or(self.now)));
                let message = "the coordinator has ended".to_owned();
                Step::to(next, note(Stage::Stopped, message))
            }
            Some(CoordinatorEnd::Gone) => error(
                self.status,
                "CoordinatorLost",
                "the coordinator's pod is gone, and with it the result",
                self.now,
            )
            .and(Act::DropAgents),
            None if matches!(self.run.work, Work::Suite { .. }) => self.progress(),
            None => self.coordinator_change().unwrap_or_else(|| self.losses()),
        }
    }

    fn stopped(&self) -> Step {
        let Some(end) = self.coordinator_end() else {
            return Step::default();
        };
        let agents = 1..=self.run.agents();
        let is_over = |number| {
            self.seen
                .pod(Role::Agent(number))
                .is_none_or(SeenPod::is_over)
        };
        let since = self
            .status
            .end_time
            .as_ref()
            .map_or(self.now, |time| time.0);
        let waited = elapsed(since, self.now);
        let results = self.status.results.clone().or(self.seen.kept.clone());
        let hand_on = self.hand_on().filter(|_| results.is_none());
        if (hand_on.is_some() || !agents.into_iter().all(is_over)) && waited < FAREWELL {
            let mut next = self.status.clone();
            next.results = results;
            let again = match hand_on {
                Some(HandOn::Ended(_)) => LOOK_AGAIN,
                Some(HandOn::Awaited) | None => FAREWELL,
            };
            return Step {
                // So that it is stored once.
                status: (next.results != self.status.results).then_some(next),
                again: Some(again.min(FAREWELL - waited)),
                ..Step::default()
            };
        }
        let (fresh, _) = self.lost(end.code());
        let mut lost = self.status.lost.clone();
        lost.extend(fresh);
        let verdict = self.verdict(&end, &lost);
        let mut next = self.status.at(Stage::Finished, self.now);
        next.runs = self.seen.heard.runs.or(next.runs);
        next.exit_code = end.code();
        next.result = Some(verdict.outcome);
        next.figures = end.figures();
        next.results = results.or_else(|| self.late_results());
        next.lost = lost;
        let passed = match verdict.outcome {
            Outcome::Passed => "True",
            Outcome::Failed | Outcome::Error => "False",
        };
        next.say(passed, &verdict.reason, &verdict.message, self.now);
        let finished = note(Stage::Finished, "all pods have ended".to_owned());
        let mut step = Step::to(next, finished);
        step.notes.push(Note {
            is_warning: verdict.outcome != Outcome::Passed,
            reason: verdict.reason,
            message: verdict.message,
        });
        step
    }

    /// The coordinator's progress in passing its result on.
    fn hand_on(&self) -> Option<HandOn> {
        self.seen.pod(Role::Coordinator)?.hand_on
    }

    /// Where to find a result that did not arrive in time.
    fn late_results(&self) -> Option<Kept> {
        let pod = self
            .seen
            .pod(Role::Coordinator)
            .filter(|pod| pod.hand_on.is_some())?;
        Some(Kept::in_log(&pod.name, "it did not arrive in time"))
    }

    /// The coordinator ended before there was load.
    fn failed_before_start(&self, end: &CoordinatorEnd) -> Step {
        let (lost, _) = self.lost(end.code());
        let verdict = self.verdict(end, &lost);
        let mut step = error(self.status, &verdict.reason, &verdict.message, self.now);
        if let Some(status) = &mut step.status {
            status.exit_code = end.code();
            status.figures = end.figures();
            status.lost = lost;
        }
        step.and(Act::DropAgents)
    }

    fn verdict(&self, end: &CoordinatorEnd, lost: &[Lost]) -> Verdict {
        let verdict = Verdict::of(end, lost, &self.seen.tail);
        match self.run.work {
            Work::Suite { .. } => verdict.of_suite(),
            Work::Script(_) | Work::Bench | Work::Plan(_) => verdict,
        }
    }

    /// The same step, plus one note that an edit of the test has no effect.
    fn with_edit(&self, mut step: Step) -> Step {
        let seen = self.status.observed_generation;
        if seen.is_none() || self.run.generation <= seen {
            return step;
        }
        let next = step.status.get_or_insert_with(|| self.status.clone());
        next.observed_generation = self.run.generation;
        step.notes.push(Note {
            is_warning: true,
            reason: "EditIgnored".to_owned(),
            message: "the edit is ignored, and the test continues as it started; to apply it, delete the test and apply it again"
                .to_owned(),
        });
        step
    }

    /// Waits for pods, and reports what blocks them.
    fn wait(&self) -> Step {
        let listen = self.seen.pod(Role::Coordinator);
        let listen = listen.filter(|pod| pod.is_running);
        let acts = listen.map(|pod| Act::Listen(pod.name.clone()));
        let mut step = match look(self.seen, self.now) {
            Look::Fine => Step::default(),
            Look::Again(after) => Step {
                again: Some(after),
                ..Step::default()
            },
            Look::Kept(why, after) => Step {
                again: Some(after),
                ..self.kept(&why.reason, &why.message)
            },
            Look::Hopeless(why) => error(self.status, &why.reason, &why.message, self.now)
                .and(Act::DropAgents)
                .and(Act::DropCoordinator),
        };
        step.acts.extend(acts);
        step
    }

    /// Reports once that something blocks the test.
    fn kept(&self, reason: &str, message: &str) -> Step {
        if self.status.reason.as_deref() == Some(reason) {
            return Step::default();
        }
        let mut next = self.status.clone();
        next.say("Unknown", reason, message, self.now);
        let note = Note {
            is_warning: true,
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        Step::to(next, note)
    }

    fn over(&self) -> Step {
        let is_passed = self.status.result == Some(Outcome::Passed)
            || self
                .status
                .passed()
                .is_some_and(|told| told.status == "True");
        match self.run.cleanup {
            Cleanup::Always => return Step::default().and(Act::Delete),
            Cleanup::OnSuccess if is_passed => return Step::default().and(Act::Delete),
            Cleanup::OnSuccess | Cleanup::Never => {}
        }
        let Some(ttl) = self.run.ttl else {
            return Step::default();
        };
        let running = self.status.running();
        let ended = running.map_or(self.now, |told| told.last_transition_time.0);
        let waited = elapsed(ended, self.now);
        match waited >= ttl {
            true => Step::default().and(Act::Delete),
            false => Step {
                again: Some(ttl - waited),
                ..Step::default()
            },
        }
    }

    fn coordinator_end(&self) -> Option<CoordinatorEnd> {
        let pod = self.seen.pod(Role::Coordinator);
        let job = self.seen.job(Role::Coordinator);
        verdict::end_of(pod, job, self.status.stage)
    }
}

/// Time between two instants; zero if the clock went back.
pub(crate) fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests;

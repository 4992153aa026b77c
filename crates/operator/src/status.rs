//! The status of a test: its stage, conditions and result.
//!
//! All decisions use only the stage and the conditions, since another definition of the resource may drop the
//! rest. Must not know why a stage follows another. Invariant: a status of another operator is never mistaken
//! for our own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use loadline_model::Figures;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::results::Kept;

use loadline_model::test_kind::TestKind;

/// The names of conditions and their reasons.
struct Words {
    /// The condition for the result; its presence shows that the operator handles this test.
    passed: &'static str,
    /// The condition for running load, with its reasons.
    running: &'static str,
    is_prepared: &'static str,
    is_running: &'static str,
    is_over: &'static str,
    /// The condition that another pod took over the coordinator's work; present once the first one was lost.
    coordinator_replaced: &'static str,
}

/// Those of k6-operator, and the result.
const K6: Words = Words {
    passed: "TestRunPassed",
    running: "TestRunRunning",
    is_prepared: "TestRunPreparation",
    is_running: "TestRunRunningTrue",
    is_over: "TestRunRunningFalse",
    coordinator_replaced: "TestRunCoordinatorReplaced",
};
/// Those of our own kinds.
const OWN: Words = Words {
    passed: "Passed",
    running: "Running",
    is_prepared: "Preparation",
    is_running: "Load",
    is_over: "Over",
    coordinator_replaced: "CoordinatorReplaced",
};

/// Conditions of k6-operator that are the same in all tests, except the first.
const OF_K6: &[(&str, &str, &str)] = &[
    ("CloudTestRun", "Unknown", "TestRunTypeUnknown"),
    ("TeardownExecuted", "False", "TeardownExecutedFalse"),
    ("CloudTestRunAborted", "False", "CloudTestRunAbortedFalse"),
    ("CloudPLZTestRun", "False", "CloudPLZTestRunFalse"),
];

/// The stage of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The coordinator reads the script.
    Initialization,
    /// The script is valid.
    Initialized,
    /// The agents were created.
    Created,
    /// All agents have joined.
    Started,
    /// The coordinator has ended.
    Stopped,
    /// The test has ended with a result.
    Finished,
    /// It cannot be run, or was aborted.
    Error,
}

impl Stage {
    /// The stage as text.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Stage::Initialization => "initialization",
            Stage::Initialized => "initialized",
            Stage::Created => "created",
            Stage::Started => "started",
            Stage::Stopped => "stopped",
            Stage::Finished => "finished",
            Stage::Error => "error",
        }
    }

    /// Whether it is a final stage.
    #[must_use]
    pub fn is_last(self) -> bool {
        matches!(self, Stage::Finished | Stage::Error)
    }
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The test passed.
    Passed,
    /// A threshold was crossed, or the script marked the test as failed.
    Failed,
    /// There is no verdict, or no valid one.
    Error,
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lost {
    /// The agent's name.
    pub agent: String,
    /// Its pod; empty: it was deleted before it was seen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pod: String,
    /// The pod's node; `None`: none, or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Why, in the cluster's words.
    pub cause: String,
    /// The pod that continues its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

/// The progress of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// Runs that have ended.
    pub done: u32,
    /// Runs of all rows.
    pub total: u32,
}

/// The status of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The test's stage.
    pub stage: Stage,
    /// Conditions by type.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// The result; `None`: it has not ended.
    #[serde(default)]
    pub result: Option<Outcome>,
    /// The test's exit code; `None`: there is none (yet).
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The reason in one word; `None`: no problem.
    #[serde(default)]
    pub reason: Option<String>,
    /// The same for people.
    #[serde(default)]
    pub message: Option<String>,
    /// The last processed generation of its fields; `None`: generations are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The planned number of agents.
    #[serde(default)]
    pub agents: u32,
    /// How many have joined.
    #[serde(default)]
    pub agents_ready: u32,
    /// Agents that were lost.
    #[serde(default)]
    pub lost: Vec<Lost>,
    /// The progress of a suite; `None`: it is not a suite, or the log has not said yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// When all agents had joined.
    #[serde(default)]
    pub start_time: Option<Time>,
    /// When the coordinator ended.
    #[serde(default)]
    pub end_time: Option<Time>,
    /// The test in numbers; `None`: it has not ended, or its coordinator left none.
    #[serde(default)]
    pub figures: Option<Box<Figures>>,
    /// Where its whole result is; `None`: it has not ended, or there is none.
    #[serde(default)]
    pub results: Option<Kept>,
}

/// How the operator interprets a `TestRun`'s status.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// There is none: the test is new.
    New,
    /// It is the operator's.
    Ours(Box<Status>),
    /// Another operator's, which is left alone.
    Foreign,
}

impl Known {
    /// Reads the status of an object.
    #[must_use]
    pub fn read(object: &Value) -> Known {
        let status = &object["status"];
        if matches!(&status["stage"], Value::Null) || status["stage"] == "" {
            return Known::New;
        }
        let ours = Status::deserialize(status).ok();
        let ours = ours.filter(|status| status.passed().is_some());
        ours.map_or(Known::Foreign, |status| Known::Ours(Box::new(status)))
    }
}

impl Status {
    /// The status of a test that starts.
    #[must_use]
    pub fn begun(kind: TestKind, agents: u32, now: Timestamp) -> Status {
        let mut status = Status {
            stage: Stage::Initialization,
            conditions: Vec::new(),
            result: None,
            exit_code: None,
            reason: None,
            message: None,
            agents,
            observed_generation: None,
            agents_ready: 0,
            lost: Vec::new(),
            runs: None,
            start_time: None,
            end_time: None,
            figures: None,
            results: None,
        };
        let (words, of_k6): (_, &[_]) = match kind {
            TestKind::TestRun | TestKind::K6 => (&K6, OF_K6),
            TestKind::LoadTest | TestKind::LoadSuite => (&OWN, &[]),
        };
        status.set(words.running, "Unknown", words.is_prepared, "", now);
        for (kind, is, reason) in of_k6 {
            status.set(kind, is, reason, "", now);
        }
        status.set(words.passed, "Unknown", "NotOver", "", now);
        status
    }

    /// The message it was started with.
    fn words(&self) -> &'static Words {
        match self.condition(OWN.passed) {
            Some(_) => &OWN,
            None => &K6,
        }
    }

    /// The condition for the result.
    #[must_use]
    pub fn passed(&self) -> Option<&Condition> {
        self.condition(self.words().passed)
    }

    /// The condition for running load.
    #[must_use]
    pub fn running(&self) -> Option<&Condition> {
        self.condition(self.words().running)
    }

    /// The type of the condition that another pod took over the coordinator's work.
    #[must_use]
    pub fn coordinator_replaced(&self) -> &'static str {
        self.words().coordinator_replaced
    }

    /// As JSON, including fields for kubectl's columns, which cannot count.
    #[must_use]
    pub fn written(&self) -> Value {
        let mut written = json!(self);
        written["agentsLost"] = json!(self.lost.len());
        written
    }

    /// A condition by its type.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|there| there.type_ == kind)
    }

    /// Sets a condition; its transition time only changes if its status does.
    pub fn set(&mut self, kind: &str, is: &str, reason: &str, message: &str, now: Timestamp) {
        let there = self.condition(kind).filter(|there| there.status == is);
        let since = there.map_or(Time(now), |there| there.last_transition_time.clone());
        let condition = Condition {
            type_: kind.to_owned(),
            status: is.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: since,
            observed_generation: None,
        };
        match self.conditions.iter_mut().find(|c| c.type_ == kind) {
            Some(there) => *there = condition,
            None => self.conditions.push(condition),
        }
    }

    /// The same test at another stage, without a message yet.
    #[must_use]
    pub fn at(&self, stage: Stage, now: Timestamp) -> Status {
        let mut next = self.clone();
        next.stage = stage;
        next.reason = None;
        next.message = None;
        let words = self.words();
        match stage {
            Stage::Initialized if self.condition("CloudTestRun").is_some() => {
                next.set("CloudTestRun", "False", "CloudTestRunFalse", "", now);
            }
            Stage::Started => {
                next.set(words.running, "True", words.is_running, "", now);
                next.start_time = Some(Time(now));
            }
            Stage::Stopped | Stage::Finished | Stage::Error => {
                next.set(words.running, "False", words.is_over, "", now);
                next.end_time.get_or_insert(Time(now));
            }
            Stage::Initialization | Stage::Initialized | Stage::Created => {}
        }
        next
    }

    /// Sets the reason, in the status and in the condition for the result.
    pub fn say(&mut self, is: &str, reason: &str, message: &str, now: Timestamp) {
        self.reason = Some(reason.to_owned());
        self.message = Some(message.to_owned()).filter(|message| !message.is_empty());
        self.set(self.words().passed, is, reason, message, now);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let mut status = Status::begun(TestKind::TestRun, 4, Timestamp::UNIX_EPOCH);
        status.figures = Some(Box::new(Figures {
            vus_max: Some(7),
            ..Figures::default()
        }));
        let object = json!({"status": status.written()});
        assert_eq!(object["status"]["agentsLost"], 0);
        assert_eq!(Known::read(&object), Known::Ours(Box::new(status)));
    }

    #[test]
    fn what_another_wrote_is_left_alone() {
        for status in [
            json!({"stage": "started"}),
            json!({"stage": "started", "conditions": []}),
            json!({"stage": "sleeping"}),
            json!({"stage": 1}),
        ] {
            assert_eq!(Known::read(&json!({"status": status})), Known::Foreign);
        }
        for status in [json!(null), json!({}), json!({"stage": ""})] {
            assert_eq!(Known::read(&json!({"status": status})), Known::New);
        }
    }

    #[test]
    fn stages_and_conditions_are_enough() {
        let begun = Status::begun(TestKind::TestRun, 4, Timestamp::UNIX_EPOCH);
        let pruned = json!({"status": {"stage": begun.stage, "conditions": begun.conditions}});
        assert!(matches!(Known::read(&pruned), Known::Ours(_)));
    }

    #[test]
    fn a_condition_keeps_the_time_of_its_change() {
        let (first, later) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let mut status = Status::begun(TestKind::TestRun, 1, first);
        status.say("Unknown", "Unschedulable", "no room", later);
        let told = status.passed().expect("it is there");
        assert_eq!(told.last_transition_time, Time(first));
        status.say("False", "ThresholdsFailed", "", later);
        let told = status.passed().expect("it is there");
        assert_eq!(told.last_transition_time, Time(later));
    }
}

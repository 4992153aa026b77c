//! The status of a test as the REST API shows it, and its possible changes.
//!
//! Source of formats and texts: k6 v2.2.0, and its version 1 for externally controlled scenarios. Must not know
//! HTTP. Invariant: a change is applied completely or refused.

use loadline_go::integer::parse_int;
use loadline_model::{Executor, RunCommand};
use loadline_run::{RunPhase, RunWatch, Steering};
use loadline_script::json_fault;
use serde_json::{Map, Value};

use crate::k6::json::Json;
use crate::k6::options::value::kind;

/// Why the number of virtual users cannot be changed.
const NO_STEERING: &str = "live VU configuration updates are not supported";

/// The document.
pub(super) fn document(watch: &RunWatch) -> String {
    let phase = watch.phase();
    let live = watch.live();
    let summary = watch.summary();
    let is_tainted = summary
        .root
        .metrics
        .iter()
        .any(|metric| metric.thresholds.iter().any(|held| !held.passed));
    let is_held = matches!(
        phase,
        RunPhase::Running | RunPhase::Teardown | RunPhase::Ended
    );
    let rows = [
        ("status", Json::Int(number(phase))),
        ("paused", Json::Bool(watch.is_paused())),
        ("vus", count(live.vus_active)),
        ("vus-max", count(vus_max(watch, live.vus_made))),
        ("stopped", Json::Bool(watch.is_stopped())),
        ("running", Json::Bool(is_running(phase))),
        (
            "tainted",
            Json::Bool(is_held && is_tainted && summary.duration_ns > 0),
        ),
    ];
    resource(rows.to_vec())
}

/// The document of something that can only be stopped.
pub(super) fn of_ending(is_stopped: bool) -> String {
    resource(vec![
        ("stopped", Json::Bool(is_stopped)),
        ("running", Json::Bool(true)),
    ])
}

fn resource(attributes: Vec<(&str, Json)>) -> String {
    let rows = attributes.into_iter();
    let rows = rows.map(|(name, value)| (name.to_owned(), value));
    let resource = [
        ("type", Json::text("status")),
        ("id", Json::text("default")),
        ("attributes", Json::Object(rows.collect())),
    ];
    let resource = resource.map(|(name, value)| (name.to_owned(), value));
    Json::Object(vec![("data".to_owned(), Json::Object(resource.to_vec()))]).compact()
}

fn count(value: u64) -> Json {
    Json::Int(i64::try_from(value).unwrap_or(i64::MAX))
}

/// k6's number for a phase.
fn number(phase: RunPhase) -> i64 {
    match phase {
        RunPhase::Created => 0,
        RunPhase::InitVus => 1,
        RunPhase::Ready => 3,
        RunPhase::Paused => 4,
        RunPhase::Started => 5,
        RunPhase::Setup => 6,
        RunPhase::Running => 7,
        RunPhase::Teardown => 8,
        RunPhase::Ended => 9,
        RunPhase::Interrupted => 10,
    }
}

fn is_running(phase: RunPhase) -> bool {
    matches!(
        phase,
        RunPhase::Started | RunPhase::Setup | RunPhase::Running | RunPhase::Teardown
    )
}

fn has_begun(phase: RunPhase) -> bool {
    is_running(phase) || matches!(phase, RunPhase::Ended | RunPhase::Interrupted)
}

/// Maximum number of virtual users: as many as were created, minus those that were taken back.
fn vus_max(watch: &RunWatch, made: u64) -> u64 {
    let others: u32 = watch
        .plan()
        .scenarios
        .iter()
        .filter(|scenario| !is_controlled(&scenario.executor))
        .map(|scenario| scenario.executor.max_vus())
        .sum();
    match watch.steering() {
        Some(steering) if made > 0 => u64::from(others) + u64::from(steering.max_vus),
        _ => made,
    }
}

fn is_controlled(executor: &Executor) -> bool {
    matches!(executor, Executor::ExternallyControlled { .. })
}

/// The requested changes; `None`: unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    is_stopped: bool,
    is_paused: Option<bool>,
    vus: Option<i64>,
    max_vus: Option<i64>,
}

/// The title of an error, and its text.
type Refusal = (&'static str, String);

impl Change {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// What is wrong with it, in Go's words.
    pub(super) fn read(body: &[u8]) -> Result<Change, String> {
        let text = String::from_utf8_lossy(body);
        let document: Value = serde_json::from_str(&text).map_err(|_| json_fault::fault(&text))?;
        let into = "Go value of type v1.StatusJSONAPI";
        let Some(document) = object(&document, into)? else {
            return Ok(Change::default());
        };
        let into = "Go struct field StatusJSONAPI.data of type v1.statusData";
        let Some(data) = object(member(document, "data"), into)? else {
            return Ok(Change::default());
        };
        let into = "Go struct field statusData.data.attributes of type v1.Status";
        let Some(attributes) = object(member(data, "attributes"), into)? else {
            return Ok(Change::default());
        };
        let into = "Go struct field Status.data.attributes.stopped of type bool";
        Ok(Change {
            is_stopped: truth(member(attributes, "stopped"), into)?.unwrap_or(false),
            is_paused: truth(member(attributes, "paused"), "Go value of type null.Bool")?,
            vus: whole(member(attributes, "vus"))?,
            max_vus: whole(member(attributes, "vus-max"))?,
        })
    }

    /// Whether the stop of something is requested that cannot be changed otherwise; as in k6, a stop overrides
    /// everything else.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub(super) fn is_stop_alone(self) -> Result<bool, Refusal> {
        if self.is_stopped {
            return Ok(true);
        }
        if self.is_paused.is_some() {
            let why = "pause and resume are not supported here; stopped ends it";
            return Err(("Pause error", why.to_owned()));
        }
        if self.vus.is_some() || self.max_vus.is_some() {
            return Err(("Execution config error", NO_STEERING.to_owned()));
        }
        Ok(false)
    }

    /// Records the changes, and returns the orders that apply them. As in k6, a test that is being stopped is
    /// not changed otherwise.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub(super) fn carry_out(self, watch: &RunWatch) -> Result<Vec<RunCommand>, Refusal> {
        let mut orders = Vec::new();
        if self.is_stopped {
            watch.set_stopped();
            return Ok(vec![RunCommand::StopRemotely]);
        }
        if let Some(is_paused) = self.is_paused {
            orders.push(pausing(watch, is_paused).map_err(|why| ("Pause error", why))?);
        }
        if self.vus.is_some() || self.max_vus.is_some() {
            let steering = self.steering(watch);
            let steering = steering.map_err(|why| ("Execution config error", why))?;
            watch.set_steering(steering);
            orders.push(RunCommand::Scale {
                vus: steering.vus,
                max_vus: steering.max_vus,
            });
        }
        if let Some(is_paused) = self.is_paused {
            watch.set_paused(is_paused);
        }
        Ok(orders)
    }

    fn steering(self, watch: &RunWatch) -> Result<Steering, String> {
        let Some(now) = watch.steering() else {
            return Err(NO_STEERING.to_owned());
        };
        let vus = self.vus.unwrap_or(now.vus.into());
        let most = self.max_vus.unwrap_or(now.max_vus.into());
        if vus < 0 {
            return Err("the number of VUs can't be negative".to_owned());
        }
        if most < vus {
            return Err(format!(
                "the number of maxVUs ({most}) can't be less than the number of VUs ({vus})"
            ));
        }
        let possible = |count| {
            u32::try_from(count).map_err(|_| format!("{count} is not a valid number of VUs"))
        };
        Ok(Steering {
            vus: possible(vus)?,
            max_vus: possible(most)?,
        })
    }
}

/// The order that pauses or resumes a test.
fn pausing(watch: &RunWatch, is_paused: bool) -> Result<RunCommand, String> {
    if watch.is_paused() && !has_begun(watch.phase()) {
        return match is_paused {
            true => Err("execution is already paused".to_owned()),
            false => Ok(RunCommand::Resume),
        };
    }
    let mut scenarios = watch.plan().scenarios.iter();
    if let Some(other) = scenarios.find(|scenario| !is_controlled(&scenario.executor)) {
        return Err(format!(
            "{} executor '{}' doesn't support pause and resume operations after its start",
            other.executor.name(),
            other.name
        ));
    }
    Ok(match is_paused {
        true => RunCommand::Pause,
        false => RunCommand::Resume,
    })
}

/// A member by name, ignoring case as in Go; null if there is none.
fn member<'a>(object: &'a Map<String, Value>, name: &str) -> &'a Value {
    let found = object
        .iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name));
    found.map_or(&Value::Null, |(_, value)| value)
}

fn object<'a>(value: &'a Value, into: &str) -> Result<Option<&'a Map<String, Value>>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        other => Err(cannot(other, into)),
    }
}

fn truth(value: &Value, into: &str) -> Result<Option<bool>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(*truth)),
        other => Err(cannot(other, into)),
    }
}

fn whole(value: &Value) -> Result<Option<i64>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => number.as_i64().map(Some).ok_or_else(|| {
            format!("json: cannot unmarshal number {number} into Go value of type int64")
        }),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => parse_int(text).map(Some),
        other => Err(cannot(other, "Go value of type null.Int")),
    }
}

fn cannot(value: &Value, into: &str) -> String {
    format!("json: cannot unmarshal {} into {into}", kind(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read() {
        let body = br#"{"data":{"attributes":{"paused":false,"vus-max":5},"type":"status"}}"#;
        let change = Change {
            is_paused: Some(false),
            max_vus: Some(5),
            ..Change::default()
        };
        assert_eq!(Change::read(body), Ok(change));
        for nothing in ["{}", "null", r#"{"attributes":{"paused":true}}"#] {
            assert_eq!(Change::read(nothing.as_bytes()), Ok(Change::default()));
        }
    }

    /// Recorded from k6 v2.2.0.
    #[test]
    fn what_cannot_be_read_is_told_as_k6_tells_it() {
        for (attributes, told) in [
            (
                "[]",
                "array into Go struct field statusData.data.attributes of type v1.Status",
            ),
            (
                r#"{"stopped":"x"}"#,
                "string into Go struct field Status.data.attributes.stopped of type bool",
            ),
            (
                r#"{"paused":"x"}"#,
                "string into Go value of type null.Bool",
            ),
        ] {
            let body = format!("{{\"data\":{{\"attributes\":{attributes}}}}}");
            let expected = format!("json: cannot unmarshal {told}");
            assert_eq!(Change::read(body.as_bytes()), Err(expected));
        }
        let told = |body: &str| Change::read(body.as_bytes()).expect_err("it is wrong");
        let vus = r#"{"data":{"attributes":{"vus":"x"}}}"#;
        assert_eq!(told(vus), "strconv.ParseInt: parsing \"x\": invalid syntax");
        assert_eq!(told(""), "unexpected end of JSON input");
        assert_eq!(
            told("garbage"),
            "invalid character 'g' looking for beginning of value"
        );
    }
}

//! A scenario in options: the executor's own keys, parsed strictly, and its problems.
//!
//! Source of keys, limits and messages: k6's reference and its output. Must not know plans. Invariant: a
//! scenario without [`ScenarioOptions::errors`] can be planned.

use std::collections::BTreeMap;

use loadline_go::GoDuration;
use serde_json::{Map, Value};

use super::super::json::Json;
use super::parts::{StageOption, Stages};
use super::value::{OptionError, OptionValue, Texts, list, nullable, object, written};

/// `scenarios`: by name.
pub type Scenarios = BTreeMap<String, ScenarioOptions>;

/// The executors that options can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorKind {
    /// `shared-iterations`
    SharedIterations,
    /// `per-vu-iterations`
    PerVuIterations,
    /// `constant-vus`
    ConstantVus,
    /// `ramping-vus`
    RampingVus,
    /// `constant-arrival-rate`
    ConstantArrivalRate,
    /// `ramping-arrival-rate`
    RampingArrivalRate,
    /// `externally-controlled`, of k6 before version 2
    ExternallyControlled,
}

impl ExecutorKind {
    /// All of them.
    pub const ALL: [ExecutorKind; 7] = [
        ExecutorKind::SharedIterations,
        ExecutorKind::PerVuIterations,
        ExecutorKind::ConstantVus,
        ExecutorKind::RampingVus,
        ExecutorKind::ConstantArrivalRate,
        ExecutorKind::RampingArrivalRate,
        ExecutorKind::ExternallyControlled,
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ExecutorKind::SharedIterations => "shared-iterations",
            ExecutorKind::PerVuIterations => "per-vu-iterations",
            ExecutorKind::ConstantVus => "constant-vus",
            ExecutorKind::RampingVus => "ramping-vus",
            ExecutorKind::ConstantArrivalRate => "constant-arrival-rate",
            ExecutorKind::RampingArrivalRate => "ramping-arrival-rate",
            ExecutorKind::ExternallyControlled => "externally-controlled",
        }
    }

    /// Its own keys, in output order.
    fn keys(self) -> &'static [&'static str] {
        match self {
            ExecutorKind::SharedIterations | ExecutorKind::PerVuIterations => {
                &["vus", "iterations", "maxDuration"]
            }
            ExecutorKind::ConstantVus => &["vus", "duration"],
            ExecutorKind::ExternallyControlled => &["vus", "maxVUs", "duration"],
            ExecutorKind::RampingVus => &["startVUs", "stages", "gracefulRampDown"],
            ExecutorKind::ConstantArrivalRate => {
                &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]
            }
            ExecutorKind::RampingArrivalRate => &[
                "startRate",
                "timeUnit",
                "stages",
                "preAllocatedVUs",
                "maxVUs",
            ],
        }
    }

    fn of(name: &str) -> Result<ExecutorKind, OptionError> {
        let found = ExecutorKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name);
        found.ok_or_else(|| OptionError::Text(format!("unknown executor type '{name}'")))
    }
}

macro_rules! scenario_keys {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $key:literal;)+) => {
        /// A scenario; `None` means that the key is not set.
        #[derive(Clone, Debug, PartialEq)]
        pub struct ScenarioOptions {
            /// The executor.
            pub executor: ExecutorKind,
            $($(#[doc = $doc])+ pub $field: Option<$type>,)+
        }

        impl ScenarioOptions {
            /// A scenario with only an executor.
            #[must_use]
            pub fn new(executor: ExecutorKind) -> ScenarioOptions {
                ScenarioOptions { executor, $($field: None,)+ }
            }

            /// Reads one of the executor's keys, ignoring case.
            fn read_key(&mut self, key: &str, value: &Value, field: &str) -> Result<(), OptionError> {
                $(if key.eq_ignore_ascii_case($key) {
                    let field = match BASE.contains(&$key) {
                        true => format!("{field}.BaseConfig.{}", $key),
                        false => format!("{field}.{}", $key),
                    };
                    self.$field = nullable(value, &field)?;
                })+
                Ok(())
            }

            fn json_of(&self, key: &str) -> Json {
                $(if key == $key {
                    return written(self.$field.as_ref());
                })+
                Json::text(self.executor.name())
            }
        }
    };
}

/// The keys of every executor, in output order.
const BASE: [&str; 7] = [
    "executor",
    "startTime",
    "gracefulStop",
    "env",
    "exec",
    "tags",
    "options",
];

scenario_keys! {
    /// When it starts.
    start_time: GoDuration = "startTime";
    /// How long running iterations may take to end.
    graceful_stop: GoDuration = "gracefulStop";
    /// Its own variables.
    env: Texts = "env";
    /// Name of the exported function.
    exec: String = "exec";
    /// Its own tags.
    tags: Texts = "tags";
    /// Settings of modules; only passed on.
    options: Value = "options";
    /// Virtual users.
    vus: i64 = "vus";
    /// Iterations, shared or per virtual user.
    iterations: i64 = "iterations";
    /// Time after which no iteration starts.
    max_duration: GoDuration = "maxDuration";
    /// Its duration.
    duration: GoDuration = "duration";
    /// Virtual users at the start.
    start_vus: i64 = "startVUs";
    /// Legs of the ramp.
    stages: Stages = "stages";
    /// How long a removed virtual user may take to end its iteration.
    graceful_ramp_down: GoDuration = "gracefulRampDown";
    /// Starts per unit of time.
    rate: i64 = "rate";
    /// The unit of time.
    time_unit: GoDuration = "timeUnit";
    /// Starts per unit of time at the start.
    start_rate: i64 = "startRate";
    /// Virtual users created before the start.
    pre_allocated_vus: i64 = "preAllocatedVUs";
    /// Maximum number of virtual users.
    max_vus: i64 = "maxVUs";
}

impl OptionValue for Scenarios {
    const GO_TYPE: &'static str = "map[string]lib.protoExecutorConfig";

    fn from_json(value: &Value, field: &str) -> Result<Option<Scenarios>, OptionError> {
        let rows = object(value, field, Self::GO_TYPE)?.iter();
        rows.map(|(name, value)| Ok((name.clone(), scenario_of(name, value, field)?)))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn to_json(&self) -> Json {
        let rows = self.iter();
        Json::Object(
            rows.map(|(name, scenario)| (name.clone(), scenario.to_json()))
                .collect(),
        )
    }
}

fn scenario_of(name: &str, value: &Value, field: &str) -> Result<ScenarioOptions, OptionError> {
    const PROTOTYPE: &str = "struct { ExecutorType string \"json:\\\"executor\\\"\" }";
    let none = Map::new();
    let rows = match value {
        Value::Null => &none,
        value => object(value, field, PROTOTYPE)?,
    };
    let mut executor = None;
    for (key, value) in rows {
        if key.eq_ignore_ascii_case("executor") {
            executor = match value {
                Value::Null => None,
                Value::String(text) if text.is_empty() => None,
                Value::String(text) => Some(ExecutorKind::of(text)?),
                other => {
                    let field = format!("{field}.executor");
                    return Err(OptionError::of_type(other, &field, "string"));
                }
            };
        }
    }
    let executor = executor.ok_or_else(|| {
        OptionError::Text(format!(
            "scenario '{name}' doesn't have a specified executor type"
        ))
    })?;
    let mut scenario = ScenarioOptions::new(executor);
    for (key, value) in rows {
        let known = |name: &&'static str| key.eq_ignore_ascii_case(name);
        if !BASE.iter().chain(executor.keys()).any(known) {
            return Err(unknown(key));
        }
        if key.eq_ignore_ascii_case("stages") {
            check_stages(value, field)?;
        }
        scenario.read_key(key, value, field)?;
    }
    Ok(scenario)
}

fn unknown(key: &str) -> OptionError {
    OptionError::Text(format!("json: unknown field {key:?}"))
}

/// As in k6, the stages of a scenario have no other keys; those of the test may.
fn check_stages(value: &Value, field: &str) -> Result<(), OptionError> {
    if value.is_null() {
        return Ok(());
    }
    let field = format!("{field}.stages");
    for stage in list(value, &field, "[]executor.Stage")? {
        if stage.is_null() {
            continue;
        }
        for key in object(stage, &field, "executor.Stage")?.keys() {
            let is_it = |known: &&str| key.eq_ignore_ascii_case(known);
            if !["duration", "target"].iter().any(is_it) {
                return Err(unknown(key));
            }
        }
    }
    Ok(())
}

impl ScenarioOptions {
    /// In k6's output format.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let shown = |key: &&&str| **key != "options" || self.options.is_some();
        let keys = BASE.iter().filter(shown).chain(self.executor.keys());
        Json::Object(
            keys.map(|key| ((*key).to_owned(), self.json_of(key)))
                .collect(),
        )
    }

    /// Sets one key from the command line (`--scenario name.key=value`): the value is parsed as JSON if
    /// possible, otherwise it is text. Keys of other executors are dropped when the executor changes.
    ///
    /// # Errors
    /// Names the key, and what is wrong with it or its value.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), OptionError> {
        if key.eq_ignore_ascii_case("executor") {
            self.executor = ExecutorKind::of(text)?;
            return Ok(());
        }
        let mut names = BASE.iter().chain(self.executor.keys());
        if !names.any(|name| key.eq_ignore_ascii_case(name)) {
            return Err(OptionError::Text(format!(
                "the executor {} has no option {key}",
                self.executor.name()
            )));
        }
        let value = match stages_of(key, text) {
            Some(stages) => stages,
            None => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        };
        self.read_key(key, &value, "Options.scenarios")
    }

    /// Everything that prevents the scenario from running, in k6's words and order.
    #[must_use]
    pub fn errors(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut demand = |holds: bool, text: &str| {
            if !holds {
                found.push(text.to_owned());
            }
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        demand(!name.is_empty(), "scenario name can't be empty");
        demand(
            !name.is_empty() && name.chars().all(plain),
            "the scenario name should contain only numbers, latin letters, underscores, and dashes",
        );
        demand(
            self.exec.as_deref() != Some(""),
            "exec value cannot be empty",
        );
        let negative = |span: Option<GoDuration>| span.is_some_and(|span| span.0 < 0);
        demand(
            !negative(self.start_time),
            "the startTime can't be negative",
        );
        demand(
            !negative(self.graceful_stop),
            "the gracefulStop timeout can't be negative",
        );
        found.extend(match self.executor {
            ExecutorKind::SharedIterations | ExecutorKind::PerVuIterations => {
                self.iteration_errors()
            }
            ExecutorKind::ConstantVus => {
                let mut found = positive_vus(self.vus);
                found.extend(self.duration_error());
                found
            }
            ExecutorKind::RampingVus => self.ramp_errors(),
            ExecutorKind::ExternallyControlled => self.control_errors(),
            ExecutorKind::ConstantArrivalRate | ExecutorKind::RampingArrivalRate => {
                self.arrival_errors()
            }
        });
        found
    }

    fn iteration_errors(&self) -> Vec<String> {
        let mut found = positive_vus(self.vus);
        let (vus, iterations) = (self.vus.unwrap_or(1), self.iterations.unwrap_or(1));
        match self.executor {
            ExecutorKind::SharedIterations if iterations < vus => found.push(format!(
                "the number of iterations ({iterations}) can't be less than the number of VUs ({vus})"
            )),
            ExecutorKind::PerVuIterations if iterations <= 0 => {
                found.push("the number of iterations must be more than 0".to_owned());
            }
            _ => {}
        }
        found.extend(
            self.max_duration
                .and_then(|span| too_short("maxDuration", span)),
        );
        found
    }

    fn duration_error(&self) -> Option<String> {
        match self.duration {
            None => Some("the duration is unspecified".to_owned()),
            Some(duration) => too_short("duration", duration),
        }
    }

    fn control_errors(&self) -> Vec<String> {
        let mut found = Vec::new();
        let vus = self.vus.unwrap_or(1);
        let most = self.max_vus.unwrap_or(vus);
        if vus < 0 {
            found.push("the number of VUs can't be negative".to_owned());
        }
        if most < vus {
            found.push(format!(
                "the number of maxVUs ({most}) can't be less than the number of VUs ({vus})"
            ));
        } else if most == 0 {
            found.push("the number of maxVUs must be more than 0".to_owned());
        }
        match self.duration {
            None => found
                .push("the duration should be specified, for infinite duration use 0".to_owned()),
            Some(duration) if duration.0 < 0 => {
                found
                    .push("the duration can't be negative, for infinite duration use 0".to_owned());
            }
            Some(_) => {}
        }
        if self.graceful_stop.is_some() {
            found.push(
                "gracefulStop is not supported by the externally controlled executor".to_owned(),
            );
        }
        found
    }

    fn ramp_errors(&self) -> Vec<String> {
        let mut found = Vec::new();
        let start = self.start_vus.unwrap_or(1);
        if start < 0 {
            found.push("the number of start VUs can't be negative".to_owned());
        }
        let stages = self.stages.as_deref().unwrap_or_default();
        let ever = stages.iter().any(|stage| stage.target > Some(0));
        if start <= 0 && !ever {
            found.push(
                "either startVUs or one of the stages' target values must be greater than 0"
                    .to_owned(),
            );
        }
        found.extend(stage_errors(stages));
        if self.graceful_ramp_down.is_some_and(|span| span.0 < 0) {
            found.push("the gracefulRampDown can't be negative".to_owned());
        }
        found
    }

    fn arrival_errors(&self) -> Vec<String> {
        let mut found = Vec::new();
        let constant = self.executor == ExecutorKind::ConstantArrivalRate;
        if constant {
            match self.rate {
                None => found.push("the iteration rate isn't specified".to_owned()),
                Some(rate) if rate <= 0 => {
                    found.push("the iteration rate must be more than 0".to_owned());
                }
                Some(_) => {}
            }
        } else if self.start_rate.is_some_and(|rate| rate < 0) {
            found.push("the startRate value can't be negative".to_owned());
        }
        if self.time_unit.is_some_and(|unit| unit.0 <= 0) {
            found.push("the timeUnit must be more than 0".to_owned());
        }
        if constant {
            found.extend(self.duration_error());
        } else {
            found.extend(stage_errors(self.stages.as_deref().unwrap_or_default()));
        }
        match (self.pre_allocated_vus, self.max_vus) {
            (None, _) => found.push("the number of preAllocatedVUs isn't specified".to_owned()),
            (Some(before), _) if before < 0 => {
                found.push("the number of preAllocatedVUs can't be negative".to_owned());
            }
            (Some(before), Some(most)) if most < before => {
                found.push("maxVUs can't be less than preAllocatedVUs".to_owned());
            }
            _ => {}
        }
        found
    }
}

/// `--scenario name.stages=10s:5,1m:20`.
fn stages_of(key: &str, text: &str) -> Option<Value> {
    if !key.eq_ignore_ascii_case("stages") || text.starts_with('[') {
        return None;
    }
    let stages = Stages::from_env(text).ok()??;
    serde_json::from_str(&stages.to_json().compact()).ok()
}

fn positive_vus(vus: Option<i64>) -> Vec<String> {
    match vus {
        Some(vus) if vus <= 0 => vec!["the number of VUs must be more than 0".to_owned()],
        _ => Vec::new(),
    }
}

fn too_short(name: &str, span: GoDuration) -> Option<String> {
    (span < GoDuration::seconds(1))
        .then(|| format!("the {name} must be at least 1s, but is {span}"))
}

/// Maximum number of virtual users, or starts per unit of time, as the target of a stage.
const TARGET_MAX: i64 = 100_000_000;

fn stage_errors(stages: &[StageOption]) -> Vec<String> {
    if stages.is_empty() {
        return vec!["at least one stage has to be specified".to_owned()];
    }
    let mut found = Vec::new();
    for (number, stage) in stages.iter().enumerate().map(|(at, stage)| (at + 1, stage)) {
        match stage.duration {
            None => found.push(format!("stage {number} doesn't have a duration")),
            Some(duration) if duration.0 < 0 => {
                found.push(format!("the duration for stage {number} can't be negative"));
            }
            Some(_) => {}
        }
        match stage.target {
            None => found.push(format!("stage {number} doesn't have a target")),
            Some(target) if target < 0 => {
                found.push(format!("the target for stage {number} can't be negative"));
            }
            Some(target) if target > TARGET_MAX => found.push(format!(
                "target for stage {number} exceeds max limit of {TARGET_MAX}"
            )),
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_controlled_from_outside_needs_a_duration_and_room() {
        let errors = |json: &str| {
            let value = serde_json::from_str(json).expect("JSON");
            let scenario = scenario_of("s", &value, "scenarios").expect("its keys are known");
            scenario.errors("s")
        };
        let fine = r#"{"executor":"externally-controlled","vus":2,"maxVUs":4,"duration":"0"}"#;
        assert_eq!(errors(fine), [""; 0]);
        let cramped = r#"{"executor":"externally-controlled","vus":5,"maxVUs":4,"duration":"1s"}"#;
        assert_eq!(
            errors(cramped),
            ["the number of maxVUs (4) can't be less than the number of VUs (5)"]
        );
        let open = r#"{"executor":"externally-controlled","gracefulStop":"1s"}"#;
        assert_eq!(
            errors(open),
            [
                "the duration should be specified, for infinite duration use 0",
                "gracefulStop is not supported by the externally controlled executor",
            ]
        );
    }
}

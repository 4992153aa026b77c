//! The settings of a pipeline: a counter at its entry, and one for each place that work passes.
//!
//! Must not know how a counter is read. Invariant: each stage is of a kind that can count.

use std::time::Duration;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::ObserverEntry;
use super::kind::ObserverKind;
use super::settings::Settings;
use super::values::{one_or_many, span_setting};

/// How long a pipeline is watched after the load by default.
const LIMIT_DEFAULT: Duration = Duration::from_secs(300);
/// Maximum stages of a pipeline: each is one read per interval, one after the other.
const STAGES_MAX: usize = 16;

/// A counter of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name, the component of its series.
    pub name: Option<String>,
    /// The counter: `scrape`, `log`, `prometheus`, `http` or `command`.
    pub counter: Box<ObserverKind>,
}

impl Serialize for Stage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = &self.name {
            map.serialize_entry("name", name)?;
        }
        self.counter.serialize_entry(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Stage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stage, D::Error> {
        let ObserverEntry { common, kind } = ObserverEntry::deserialize(deserializer)?;
        if common.interval.is_some() || common.timeout.is_some() || common.required.is_some() {
            return Err(D::Error::custom(
                "a stage cannot have interval, timeout or required; set them on the pipeline",
            ));
        }
        Ok(Stage {
            name: common.name,
            counter: Box::new(kind),
        })
    }
}

/// Settings of `pipeline`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineSettings {
    /// The entry.
    pub ingest: Stage,
    /// The exits, in the order in which work passes them; at least one.
    #[serde(rename = "sink", alias = "sinks", deserialize_with = "one_or_many")]
    pub sinks: Vec<Stage>,
    /// How long to watch after the load before giving up; default five minutes.
    #[serde(default = "limit_default", with = "span_setting")]
    pub limit: Duration,
}

fn limit_default() -> Duration {
    LIMIT_DEFAULT
}

impl PipelineSettings {
    /// The stages with their names, the ingest first.
    pub(crate) fn stages(&self) -> Vec<(String, &ObserverKind)> {
        let ingest = self.ingest.name.clone().unwrap_or("ingest".to_owned());
        let mut stages = vec![(ingest, &*self.ingest.counter)];
        for (index, sink) in self.sinks.iter().enumerate() {
            let usual = match self.sinks.len() {
                1 => "sink".to_owned(),
                _ => format!("sink{}", index + 1),
            };
            stages.push((sink.name.clone().unwrap_or(usual), &*sink.counter));
        }
        stages
    }
}

impl Settings for PipelineSettings {
    const MAIN_FORM: &'static str =
        "pipeline;ingest=KIND:VALUE;sink=KIND:VALUE (write \\; inside a stage)";

    fn main_value(_: &str) -> Option<Vec<(&'static str, String)>> {
        None
    }

    fn check(&self) -> Result<(), String> {
        let stages = self.stages();
        if self.sinks.is_empty() || stages.len() > STAGES_MAX {
            return Err(format!("a pipeline has one to {} sinks", STAGES_MAX - 1));
        }
        for (index, (name, kind)) in stages.iter().enumerate() {
            if stages[..index].iter().any(|(other, _)| other == name) {
                return Err(format!(
                    "two stages have the name {name}; rename one: NAME=KIND:VALUE"
                ));
            }
            kind.check()?;
            check_counts(name, kind)?;
        }
        Ok(())
    }
}

fn check_counts(name: &str, kind: &ObserverKind) -> Result<(), String> {
    let counts = match kind {
        ObserverKind::Scrape(_) | ObserverKind::Http(_) | ObserverKind::Command(_) => true,
        ObserverKind::Log(log) => log.path.as_deref() != Some("-"),
        ObserverKind::Prometheus(prometheus) => !prometheus.query.contains("{{"),
        _ => false,
    };
    match counts {
        true => Ok(()),
        false => Err(format!(
            "stage {name} cannot count: use scrape, log of a file or pods, prometheus without placeholders, http or command"
        )),
    }
}

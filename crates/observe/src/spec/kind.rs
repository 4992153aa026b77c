//! The kinds of observers: one row each, with name and settings.
//!
//! Must not know how a kind reads. Invariant: a kind has the same name here, on the command line, in files and
//! in results.

use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::pipeline::PipelineSettings;
use super::settings::{
    CgroupSettings, CommandSettings, HostSettings, LogSettings, NodeSettings, PodSettings,
    ProcessSettings, ReplicasSettings, SelfSettings, Settings,
};
use super::web_settings::{HttpSettings, PrometheusSettings, ScrapeSettings};
use super::words;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident($settings:ty) = $name:literal,)*) => {
        /// What an observer reads, with its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ObserverKind {
            $($(#[$doc])* $variant($settings),)*
        }

        impl ObserverKind {
            /// The names of all kinds.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(ObserverKind::$variant(_) => $name,)*
                }
            }

            pub(super) fn check(&self) -> Result<(), String> {
                match self {
                    $(ObserverKind::$variant(settings) => Settings::check(settings),)*
                }
            }

            /// Parses the settings of a kind from words; `None`: there is no such kind.
            pub(super) fn from_words(
                name: &str,
                main: Option<&str>,
                pairs: Vec<(String, String)>,
            ) -> Option<Result<ObserverKind, String>> {
                match name {
                    $($name => Some(with_main::<$settings>(name, main, pairs).map(ObserverKind::$variant)),)*
                    _ => None,
                }
            }

            /// Parses the settings of a kind from the value of a mapping; `None`: there is no such kind.
            pub(super) fn from_map<'de, M: MapAccess<'de>>(
                name: &str,
                map: &mut M,
            ) -> Result<Option<ObserverKind>, M::Error> {
                match name {
                    $($name => from_map::<M, $settings>(name, map).map(|s| Some(ObserverKind::$variant(s))),)*
                    _ => Ok(None),
                }
            }

            /// Writes the kind as an entry of a mapping.
            pub(super) fn serialize_entry<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $(ObserverKind::$variant(settings) => map.serialize_entry($name, settings),)*
                }
            }
        }
    };
}

kinds! {
    /// This process.
    SelfProcess(SelfSettings) = "self",
    /// Processes by id, name or listening port.
    Process(ProcessSettings) = "process",
    /// A control group.
    Cgroup(CgroupSettings) = "cgroup",
    /// The machine that loadline runs on.
    Host(HostSettings) = "host",
    /// Pods by selector.
    Pod(PodSettings) = "pod",
    /// Nodes by selector.
    Node(NodeSettings) = "node",
    /// How many replicas a workload has.
    Replicas(ReplicasSettings) = "replicas",
    /// A query to a Prometheus server.
    Prometheus(PrometheusSettings) = "prometheus",
    /// A page of metrics in the text format of Prometheus.
    Scrape(ScrapeSettings) = "scrape",
    /// Lines of a log.
    Log(LogSettings) = "log",
    /// A number in a JSON response.
    Http(HttpSettings) = "http",
    /// A number that a program prints.
    Command(CommandSettings) = "command",
    /// Compares what goes in with what comes out.
    Pipeline(PipelineSettings) = "pipeline",
}

impl Serialize for ObserverKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        self.serialize_entry(&mut map)?;
        map.end()
    }
}

fn with_main<T: Settings>(
    kind: &str,
    main: Option<&str>,
    pairs: Vec<(String, String)>,
) -> Result<T, String> {
    let mut all = Vec::new();
    if let Some(text) = main.filter(|text| !text.is_empty()) {
        let keys = T::main_value(text);
        let keys =
            keys.ok_or_else(|| format!("{kind}:{text} is not of the form {}", T::MAIN_FORM))?;
        all.extend(keys.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    all.extend(pairs);
    words::settings(all).map_err(|error| format!("{kind}: {error}; the form is {}", T::MAIN_FORM))
}

fn from_map<'de, M: MapAccess<'de>, T: Settings>(kind: &str, map: &mut M) -> Result<T, M::Error> {
    match map.next_value::<Option<T>>()? {
        Some(settings) => Ok(settings),
        None => words::no_settings().map_err(|error| M::Error::custom(format!("{kind}: {error}"))),
    }
}

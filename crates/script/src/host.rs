//! The interface between a script and its environment: everything that a script needs and does not hold.
//!
//! The engine implements it with sockets and clocks, tests with a simulated world. Must not know QuickJS.
//! Invariant: nothing here blocks; a script that has to wait suspends itself with an [`Ask`](crate::vu::Ask).

use std::fmt;
use std::sync::Arc;

use loadline_metric::{Contains, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;

use crate::samples::{CheckSample, HttpSample};
use crate::trace::HopTrace;

/// The services that a script needs from its environment.
pub trait Host {
    /// Time since the start of the run.
    fn now(&self) -> Nanos;
    /// Nanoseconds since 1970.
    fn unix_ns(&self) -> u64;
    /// A hop starts; its sample will have this timestamp.
    fn hop_begins(&self, _at: Nanos) {}
    /// Random bits; deterministic if a seed was given.
    fn random(&self) -> u64;
    /// Writes a line to the log.
    fn log(&self, entry: LogEntry<'_>);

    /// Finds or creates a custom metric of the script.
    ///
    /// # Errors
    /// The message for the script: an invalid name, or a name used by a metric of another kind.
    fn declare_metric(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, String>;
    /// Records a value, in the metric's unit (times in milliseconds).
    fn value(&self, metric: MetricId, value: f64, tags: &dyn Tagged);
    /// Sets the metadata of all following samples; `None`: none.
    fn metadata(&self, metadata: Option<&Arc<TagSet>>);
    /// Whether the body of the next recorded response is needed.
    fn wants_body(&self) -> bool {
        false
    }
    /// Records one hop of an HTTP request.
    fn http(&self, sample: &HttpSample<'_>);
    /// The response to a request that started at an instant came from another place than the one asked for
    /// ([`loadline_model::other_place`]).
    fn came_from(&self, _place: String, _started: Nanos) {}
    /// Reports one hop of an HTTP request; only called if the program's settings request it.
    fn traced(&self, _hop: &HopTrace<'_>) {}
    /// Records the result of a check.
    fn check(&self, check: &CheckSample<'_>);
    /// Records that a group ended, with its duration in nanoseconds; `tags` contains its path as `group`.
    fn group(&self, path: &str, duration_ns: u64, tags: &dyn Tagged);

    /// The figures of this instance, for `k6/execution`.
    fn instance(&self) -> InstanceFacts;
    /// The scenario of the current iteration; `None` outside of scenarios.
    fn scenario(&self) -> Option<ScenarioFacts>;
    /// The current iteration marked the test as failed without ending it (`exec.test.fail`).
    fn mark_failed(&self, message: &str);
    /// Aborts the whole test (`exec.test.abort`); the message says so, and where. Not called for module code,
    /// which reports the abort by its failure.
    fn abort_test(&self, message: &str);
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Hidden unless requested.
    Debug,
    /// Informational.
    Info,
    /// A possible problem.
    Warning,
    /// A failure.
    Error,
}

impl LogLevel {
    /// The name in log lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One line of the log.
#[derive(Clone, Debug)]
pub struct LogEntry<'a> {
    /// Severity.
    pub level: LogLevel,
    /// The message; may contain line ends.
    pub message: &'a str,
    /// Fields after it, in order (`source=console`).
    pub fields: &'a [(&'a str, &'a str)],
    /// Whether it was logged in the init context.
    pub in_init: bool,
}

/// The figures of this instance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InstanceFacts {
    /// Time since the start of the test, in milliseconds.
    pub test_run_duration_ms: f64,
    /// Complete iterations.
    pub iterations_completed: u64,
    /// Interrupted iterations.
    pub iterations_interrupted: u64,
    /// Active virtual users.
    pub vus_active: u64,
    /// Initialized virtual users.
    pub vus_initialized: u64,
}

/// The scenario of the current iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFacts {
    /// Name.
    pub name: Arc<str>,
    /// The executor's name, as options spell it.
    pub executor: &'static str,
    /// When it started, in milliseconds since 1970.
    pub start_unix_ms: f64,
    /// Its progress, from 0 to 1.
    pub progress: f64,
    /// Number of the iteration in this instance, from zero.
    pub iteration_in_instance: u64,
    /// Number of the iteration in the test, from zero.
    pub iteration_in_test: u64,
    /// Iterations that this virtual user has already run in this scenario.
    pub iteration_in_scenario: u64,
}

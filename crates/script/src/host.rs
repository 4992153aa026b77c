//! The seam between a script and what runs it: everything that a script needs and does not hold.
//!
//! The engine implements it over sockets and clocks, tests over a simulated world. Must not know
//! QuickJS. Invariant: nothing here waits; a script that has to wait suspends itself with an
//! [`Ask`](crate::vu::Ask).

use std::fmt;
use std::sync::Arc;

use loadline_metric::{Contains, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;

use crate::samples::{CheckSample, HttpSample};
use crate::trace::HopTrace;

/// What a script asks of whoever runs it.
pub trait Host {
    /// Time since the start of the run.
    fn now(&self) -> Nanos;
    /// Nanoseconds since 1970.
    fn unix_ns(&self) -> u64;
    /// A hop begins; its sample will bear this instant.
    fn hop_begins(&self, _at: Nanos) {}
    /// Random bits; where a seed was given they follow from it.
    fn random(&self) -> u64;
    /// Writes a line to the log.
    fn log(&self, entry: LogEntry<'_>);

    /// Finds or makes a metric of the script.
    ///
    /// # Errors
    /// The message for the script: a bad name, or one that is taken by a metric of another kind.
    fn declare_metric(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, String>;
    /// Records a value, in the metric's unit (times in milliseconds).
    fn value(&self, metric: MetricId, value: f64, tags: &dyn Tagged);
    /// The metadata of all samples from here on; `None`: none.
    fn metadata(&self, metadata: Option<&Arc<TagSet>>);
    /// Whether the body of the answer that is recorded next is looked at.
    fn wants_body(&self) -> bool {
        false
    }
    /// Records one hop of an HTTP request.
    fn http(&self, sample: &HttpSample<'_>);
    /// Shows one hop of an HTTP request; only called where the program's settings ask for it.
    fn traced(&self, _hop: &HopTrace<'_>) {}
    /// Records how a check came out.
    fn check(&self, check: &CheckSample<'_>);
    /// Records that a group was left after so many nanoseconds; `tags` has its path as `group`.
    fn group(&self, path: &str, duration_ns: u64, tags: &dyn Tagged);

    /// The instance's own figures, for `k6/execution`.
    fn instance(&self) -> InstanceFacts;
    /// The scenario that the iteration under way belongs to; `None` outside of scenarios.
    fn scenario(&self) -> Option<ScenarioFacts>;
    /// The iteration under way failed the test without ending it (`exec.test.fail`).
    fn mark_failed(&self, message: &str);
    /// The whole test is to end now (`exec.test.abort`); the message says so, and where. Module code that wants it
    /// says so by its failure.
    fn abort_test(&self, message: &str);
}

/// How loud a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Hidden unless asked for.
    Debug,
    /// Said in passing.
    Info,
    /// Something to look at.
    Warning,
    /// Something went wrong.
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
    /// How loud.
    pub level: LogLevel,
    /// What is said; may hold line ends.
    pub message: &'a str,
    /// Fields after it, in order (`source=console`).
    pub fields: &'a [(&'a str, &'a str)],
    /// Whether it is said in the init context.
    pub in_init: bool,
}

/// The instance's own figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InstanceFacts {
    /// Since the test began, in milliseconds.
    pub test_run_duration_ms: f64,
    /// Iterations run to their end.
    pub iterations_completed: u64,
    /// Iterations cut short.
    pub iterations_interrupted: u64,
    /// Virtual users at work.
    pub vus_active: u64,
    /// Virtual users initialized.
    pub vus_initialized: u64,
}

/// The scenario of the iteration under way.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFacts {
    /// Name.
    pub name: Arc<str>,
    /// The executor's name, as options spell it.
    pub executor: &'static str,
    /// When it started, in milliseconds since 1970.
    pub start_unix_ms: f64,
    /// How much of it is done, from 0 to 1.
    pub progress: f64,
    /// Number of the iteration in this instance, from zero.
    pub iteration_in_instance: u64,
    /// Number of the iteration in the test, from zero.
    pub iteration_in_test: u64,
    /// Iterations that this virtual user has run in this scenario before.
    pub iteration_in_scenario: u64,
}

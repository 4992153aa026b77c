//! What a run found: the JSON result, from which every report is made.
//!
//! Versioned by [`SCHEMA`]; the JSON Schema is in `docs/`. Must not know how it is shown. Invariant: every
//! statement of a report can be derived from here.

use std::collections::BTreeMap;

use loadline_metric::{TimeTrend, ValueTrend};
use serde::{Deserialize, Serialize};

use crate::agent::AgentShare;
use crate::error_class::ErrorClass;
use crate::event::{AGENT_LOST_MARK, AGENT_REPLACED_MARK, Mark};
use crate::exit_code::ExitCode;
use crate::heat::Heat;
use crate::observation::Observations;
use crate::plan::{Scenario, TestPlan};
use crate::snapshot::{Outcomes, Snapshot};
use crate::test_summary::TestSummary;
use crate::verdict::Verdict;

/// The version of the result's layout.
pub const SCHEMA: &str = "loadline/result/v1";

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// As planned.
    #[default]
    Finished,
    /// Stopped by a signal: running requests could finish, iterations of a script were interrupted.
    Interrupted,
    /// Stopped at once by a second signal.
    Aborted,
    /// A threshold that ends the run was crossed.
    ThresholdCrossed,
    /// The script stopped it (`exec.test.abort`), or threw an exception where the run cannot continue.
    Script,
    /// Stopped from outside, through the REST API or the live page.
    Remote,
    /// A required observer was lost.
    ObserverLost,
    /// A part of loadline crashed: a defect.
    Defect,
    /// The process died; the result is rebuilt from its journal.
    Crashed,
}

impl StopReason {
    /// The exit code of a run that ended for this reason, whatever it measured; `None`: what it measured decides.
    #[must_use]
    pub fn exit_code(self) -> Option<ExitCode> {
        match self {
            StopReason::Interrupted | StopReason::Aborted => Some(ExitCode::ExternalAbort),
            StopReason::Remote => Some(ExitCode::RestAbort),
            StopReason::Defect => Some(ExitCode::Internal),
            StopReason::ObserverLost => Some(ExitCode::ObserverLost),
            StopReason::Finished
            | StopReason::ThresholdCrossed
            | StopReason::Script
            | StopReason::Crashed => None,
        }
    }
}

/// Where the run took place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of loadline.
    pub loadline: String,
    /// Operating system and kernel release.
    pub system: String,
    /// Host name.
    pub host: String,
    /// Cores that this process may use; a fraction under a quota.
    pub cores: f64,
    /// Processor model; empty when unknown.
    pub processor: String,
    /// Memory of the machine in bytes; `None` when unknown.
    pub memory_bytes: Option<u64>,
    /// Memory limit of the control group in bytes; `None` without one.
    pub memory_limit_bytes: Option<u64>,
    /// Limit on open files.
    pub open_files_max: Option<u64>,
    /// Local ports for outgoing connections.
    pub ephemeral_ports: Option<u64>,
    /// Worker threads.
    pub workers: u32,
    /// The command line.
    pub command: Vec<String>,
}

/// One second of the run. If there are too many rows, pairs are merged, and each row covers two seconds, then
/// four, and so on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Start of the row, in nanoseconds from the start of the run.
    pub at_ns: u64,
    /// Length of the row in nanoseconds.
    pub span_ns: u64,
    /// Iterations planned to start in the row; `None` in a closed model.
    pub offered: Option<u64>,
    /// Requests started.
    pub started: u64,
    /// Answered completely.
    pub completed: u64,
    /// Answered completely and correctly.
    pub good: u64,
    /// Failed.
    pub failed: u64,
    /// The failed ones by class, without empty classes; empty in results of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<ErrorClass, u64>,
    /// Not started because no virtual user was free.
    pub dropped: u64,
    /// Arrivals that were due and queued at the end of the row.
    pub waiting: u64,
    /// Active virtual users at the end of the row: with a request in flight, or running an iteration of a
    /// script.
    pub active_vus: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Service time percentiles of the row in nanoseconds; `None` without a request.
    pub service_time_ns: Option<Percentiles>,
    /// Response time percentiles of the row in nanoseconds; `None` in a closed model.
    pub response_time_ns: Option<Percentiles>,
    /// 99th percentile of the schedule lag in nanoseconds; `None` in a closed model.
    pub lag_p99_ns: Option<u64>,
    /// Requests by service time, in coarse bands; empty in results of older versions.
    #[serde(default, skip_serializing_if = "Heat::is_empty")]
    pub heat: Heat,
    /// The generator's own resource use.
    pub generator: GeneratorUse,
    /// Whether the row belongs to the warm-up.
    pub warm_up: bool,
}

impl Row {
    /// The ends of the row's requests that were not cut short.
    #[must_use]
    pub fn outcomes(&self) -> Outcomes {
        Outcomes {
            completed: self.completed,
            good: self.good,
            failed: self.failed,
        }
    }

    /// Converts a count of the row to a rate per second; `None` for a row of zero length.
    #[must_use]
    pub fn per_second(&self, number: u64) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of a row are below 2^53")]
        let of = |span_ns: u64| number as f64 * 1e9 / span_ns as f64;
        (self.span_ns > 0).then(|| of(self.span_ns))
    }
}

/// Percentiles of a row, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile; `None` in results of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: u64,
}

impl Percentiles {
    /// Percentiles of a distribution; `None` without values.
    #[must_use]
    pub fn of(trend: &TimeTrend) -> Option<Percentiles> {
        let at = |q: f64| trend.quantile(q).map(|value| value.round() as u64);
        Some(Percentiles {
            p50: at(0.5)?,
            p90: at(0.9)?,
            p95: at(0.95),
            p99: at(0.99)?,
        })
    }
}

/// Resource use of the generator itself in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorUse {
    /// CPU use of the whole process, in cores.
    pub cpu_cores: f64,
    /// CPU use of the busiest worker, as a share of its core.
    pub busiest_worker: f64,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// Time during which the control group was throttled, in nanoseconds; `None` without a quota.
    pub throttled_ns: Option<u64>,
    /// Time during which worker threads were ready to run but waited for a CPU, in nanoseconds.
    pub run_queue_ns: u64,
    /// The longest time that the process was due but did not run, for example because it was stopped, in
    /// nanoseconds; a few milliseconds are normal.
    #[serde(default)]
    pub stalled_ns: u64,
    /// All times of 10 ms or more that the process was due but did not run, without those in which it waited for a CPU,
    /// in nanoseconds.
    #[serde(default)]
    pub stalls_ns: u64,
}

/// Rates of completed and of good requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Good requests per second over the whole run, including ramps.
    pub goodput: f64,
    /// Completed requests per second over the whole run, including ramps.
    pub average: f64,
    /// Completed requests per second in the steady state; `None` if there was none.
    pub steady: Option<f64>,
    /// Completed requests in the best second; `None` for runs shorter than one second.
    pub max_1s: Option<f64>,
    /// Completed requests per second in the best five consecutive seconds.
    pub max_5s: Option<f64>,
    /// Planned iterations per second while they were due, warm-up excluded; `None` in a closed model.
    pub offered: Option<f64>,
    /// Started requests per second, warm-up excluded: while they were due in an open model, otherwise over all of it.
    pub started: f64,
}

/// The totals of a run; by default of one that finished before anything happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Milliseconds since 1970 at the start of the run.
    pub started_unix_ms: u64,
    /// From the start of the run to its last response, in nanoseconds.
    pub elapsed_ns: u64,
    /// The measured part of it (warm-up excluded), in nanoseconds.
    pub measured_ns: u64,
    /// Why it ended.
    pub stop: StopReason,
    /// Iterations that the plan asked for until the end; `None` in a closed model without a count.
    pub asked: Option<u64>,
    /// Arrivals that were due but never started because the run ended; in a closed model, iterations that were left.
    pub never_started: u64,
    /// Arrivals that were due while the agent that should have started them was lost; `None`: no agent was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_while_away: Option<u64>,
    /// Everything that was counted.
    pub seen: Snapshot,
    /// Rates.
    pub rates: Rates,
    /// Maximum of active virtual users.
    pub active_vus_max: u64,
    /// CPU time of the whole process, in nanoseconds.
    pub cpu_ns: u64,
    /// Peak resident memory in bytes.
    pub rss_max_bytes: u64,
    /// Time during which the control group was throttled, in nanoseconds; `None` without a quota.
    pub throttled_ns: Option<u64>,
    /// Rates of completed requests in short windows; empty unless requested.
    pub window_rates: ValueTrend,
}

impl Totals {
    /// How many of the planned iterations started, in the warm-up or after it; `None` if their number is not planned.
    #[must_use]
    pub fn begun(&self) -> Option<u64> {
        let dropped = self.seen.whole().dropped;
        Some(self.asked?.saturating_sub(self.never_started + dropped))
    }

    /// The mean processor use of the whole process over the whole run, in cores; `None` for a run without length.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for showing")]
    pub fn cpu_cores(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.cpu_ns as f64 / self.elapsed_ns as f64)
    }

    /// Processor time per request started, in nanoseconds: both of the whole run, for the time cannot be told apart.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for showing")]
    pub fn cpu_per_request_ns(&self) -> Option<f64> {
        let started = self.seen.whole().started;
        (started > 0).then(|| self.cpu_ns as f64 / started as f64)
    }

    /// Requests per connection: both of the whole run, for what was opened in the warm-up serves what comes after it.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for showing")]
    pub fn requests_per_connection(&self) -> Option<f64> {
        let (started, opened) = (self.seen.whole().started, self.seen.connections.opened);
        (opened > 0).then(|| started as f64 / opened as f64)
    }
}

/// A time metric with its percentiles written out; integer nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeMetric {
    /// Number of values.
    pub count: u64,
    /// Smallest; `None` without a value.
    pub min: Option<u64>,
    /// Largest; `None` without a value.
    pub max: Option<u64>,
    /// Mean; `None` without a value.
    pub mean: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// The distribution, in the encoding that `docs/histogram-encoding.md` describes.
    pub histogram: TimeTrend,
    /// The distribution as compressed HdrHistogram V2 in base64; only if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdr: Option<String>,
}

impl TimeMetric {
    /// Computes the percentiles of a distribution.
    #[must_use]
    pub fn of(histogram: TimeTrend) -> TimeMetric {
        let at = |q: f64| histogram.quantile(q).map(|value| value.round() as u64);
        TimeMetric {
            count: histogram.count(),
            min: histogram.min(),
            max: histogram.max(),
            mean: histogram.mean().map(|value| value.round() as u64),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p99_9: at(0.999),
            histogram,
            hdr: None,
        }
    }
}

/// The distributions of a run by name: what [`RunResult::metrics`] holds.
#[must_use]
pub fn metrics_of(plan: &TestPlan, seen: &Snapshot) -> BTreeMap<String, TimeMetric> {
    let mut metrics = BTreeMap::new();
    let mut add = |name: &str, trend: TimeTrend| {
        metrics.insert(name.to_owned(), TimeMetric::of(trend));
    };
    add("service_time_ns", seen.service_time());
    if plan.is_open() {
        add("response_time_ns", seen.response_time.clone());
        add("schedule_lag_ns", seen.schedule_lag.clone());
    }
    metrics
}

/// The result of a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdOutcome {
    /// The threshold as written.
    pub threshold: String,
    /// The observed value; `None` if there was none.
    pub value: Option<f64>,
    /// Whether it passed.
    pub passed: bool,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// The plan.
    pub plan: TestPlan,
    /// The environment.
    pub environment: Environment,
    /// The user's labels.
    pub labels: BTreeMap<String, String>,
    /// Totals.
    pub totals: Totals,
    /// Distributions by name: `service_time_ns`, in an open model `response_time_ns` and
    /// `schedule_lag_ns`.
    pub metrics: BTreeMap<String, TimeMetric>,
    /// The run, second by second.
    pub series: Vec<Row>,
    /// Marks on the time axis.
    pub events: Vec<Mark>,
    /// What observers saw of the system under test.
    pub observations: Observations,
    /// What each agent did, by name; empty for a test of one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentShare>,
    /// Results of thresholds.
    pub thresholds: Vec<ThresholdOutcome>,
    /// Metrics, checks and groups of a script run; `None` for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<TestSummary>,
    /// Whether the load was delivered, and what limited it.
    pub verdict: Verdict,
}

impl RunResult {
    /// A result that only has its sums, and is not judged.
    #[must_use]
    pub fn bare(plan: TestPlan, environment: Environment, totals: Totals) -> RunResult {
        RunResult {
            schema: SCHEMA.to_owned(),
            labels: plan.labels.clone(),
            metrics: metrics_of(&plan, &totals.seen),
            plan,
            environment,
            totals,
            series: Vec::new(),
            events: Vec::new(),
            observations: Observations::default(),
            agents: Vec::new(),
            thresholds: Vec::new(),
            summary: None,
            verdict: Verdict::unfinished(String::new()),
        }
    }

    /// Whether an agent was lost and its part of the load was not taken over.
    #[must_use]
    pub fn has_lost_agents(&self) -> bool {
        let marks = |kind| self.events.iter().filter(move |mark| mark.kind == kind);
        marks(AGENT_LOST_MARK).count() > marks(AGENT_REPLACED_MARK).count()
    }

    /// A distribution of times by its name in [`RunResult::metrics`]. `None` if nothing was answered: the times of failures
    /// alone only show how a client gives up.
    #[must_use]
    pub fn times(&self, name: &str) -> Option<&TimeMetric> {
        let times = self.metrics.get(name);
        times.filter(|_| self.totals.seen.counts.completed > 0)
    }

    /// How often checks passed, and how often any was made; `None` without one. Those of a script or a plan of steps
    /// are counted one by one. Otherwise a response is checked as a whole, its status included: it passes if it is good.
    #[must_use]
    pub fn checks_passed(&self) -> Option<(u64, u64)> {
        let counts = &self.totals.seen.counts;
        let expects = |scenario: &Scenario| !scenario.checks.is_empty();
        let (passed, made) = match &self.summary {
            Some(summary) => summary.root.checks_passed(),
            None if self.plan.scenarios.iter().any(expects) => (counts.good, counts.completed),
            None => (0, 0),
        };
        (made > 0).then_some((passed, made))
    }

    /// The share of the planned iterations that were started; `None` in a closed model, and before the end of a
    /// run whose iterations are not single requests. Requests only measure iterations if each iteration sends
    /// one and all are planned: not for scripts, not for plans of steps, and not next to a closed model.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for showing")]
    pub fn delivered_share(&self) -> Option<f64> {
        let totals = &self.totals;
        let offered = totals.rates.offered.filter(|offered| *offered > 0.0)?;
        let all_open = self.plan.scenarios.iter().all(|s| s.executor.is_open());
        if all_open && !self.plan.sends_several() {
            return Some(totals.rates.started / offered);
        }
        let asked = totals.asked.filter(|asked| *asked > 0)?;
        let begun = totals.begun()?;
        Some(begun as f64 / asked as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_whole_run_used_is_held_against_the_whole_run() {
        let mut totals = Totals {
            elapsed_ns: 10,
            measured_ns: 5,
            cpu_ns: 40,
            ..Totals::default()
        };
        assert_eq!(totals.cpu_per_request_ns(), None);
        assert_eq!(totals.requests_per_connection(), None);
        (totals.seen.counts.started, totals.seen.warm_up.started) = (6, 2);
        totals.seen.connections.opened = 4;
        assert_eq!(totals.cpu_cores(), Some(4.0));
        assert_eq!(totals.cpu_per_request_ns(), Some(5.0));
        assert_eq!(totals.requests_per_connection(), Some(2.0));
    }

    #[test]
    fn a_row_without_length_has_no_rate() {
        let row = |span_ns| Row {
            span_ns,
            ..Row::default()
        };
        assert_eq!(row(2_000_000_000).per_second(5), Some(2.5));
        assert_eq!(row(1).per_second(0), Some(0.0));
        assert_eq!(row(0).per_second(5), None);
    }
}

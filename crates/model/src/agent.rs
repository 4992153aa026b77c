//! What each agent of a test did, next to what all of them did together.
//!
//! Must not know how agents are reached. Invariant: the counts of all agents sum to those of the test.
//! Percentiles do not, so they are kept per agent.

use loadline_metric::TimeTrend;
use serde::{Deserialize, Serialize};

use crate::result::Percentiles;
use crate::snapshot::{Counts, Snapshot};

/// One agent's share of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentShare {
    /// The agent's name.
    pub name: String,
    /// How many agents had this share before and were lost; each has its own row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replaced: u32,
    /// The lost agent whose share this row covers, in addition to the agent's own; `None`: the share is its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in_for: Option<String>,
    /// Its worker threads.
    pub workers: u32,
    /// Cores that the process may use. Cores, CPU time and memory describe the whole process; they are in its
    /// first row and zero in its other rows.
    pub cores: f64,
    /// The outcomes of its requests, warm-up excluded.
    pub counts: Counts,
    /// Service time in nanoseconds; `None` without requests.
    pub service_time_ns: Option<Percentiles>,
    /// Response time in nanoseconds; `None` in a closed model.
    pub response_time_ns: Option<Percentiles>,
    /// 99th percentile of its schedule lag in nanoseconds; `None` in a closed model.
    pub lag_p99_ns: Option<u64>,
    /// CPU time of its process, in nanoseconds.
    pub cpu_ns: u64,
    /// Its peak resident memory in bytes.
    pub rss_max_bytes: u64,
    /// Maximum error of its clock offset at the start, in nanoseconds.
    pub clock_error_ns: u64,
    /// How far its clock drifted ahead of the coordinator's between the first and the last comparison, in
    /// nanoseconds; `None` for runs shorter than ten seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ns: Option<i64>,
    /// Maximum error of the drift, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_error_ns: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The sums of one agent's reports. Its distributions are dropped once it reports no more: a long test may lose
/// hundreds of agents.
#[derive(Clone, Debug, Default)]
pub struct AgentSums {
    counts: Counts,
    times: Times,
}

/// The times of an agent's requests.
#[derive(Clone, Debug)]
enum Times {
    /// The agent may still report.
    Growing(Box<Distributions>),
    /// It reports no more.
    Closed(Summary),
}

impl Default for Times {
    fn default() -> Self {
        Times::Growing(Box::default())
    }
}

#[derive(Clone, Debug, Default)]
struct Distributions {
    service_time: TimeTrend,
    response_time: TimeTrend,
    schedule_lag: TimeTrend,
}

/// What a row of the result says about times.
#[derive(Clone, Copy, Debug)]
struct Summary {
    service_time: Option<Percentiles>,
    response_time: Option<Percentiles>,
    lag_p99: Option<u64>,
}

impl Distributions {
    fn add(&mut self, seen: &Snapshot) {
        self.service_time.merge(&seen.answered_time);
        self.service_time.merge(&seen.failed_time);
        self.response_time.merge(&seen.response_time);
        self.schedule_lag.merge(&seen.schedule_lag);
    }

    fn summary(&self) -> Summary {
        Summary {
            service_time: Percentiles::of(&self.service_time),
            response_time: Percentiles::of(&self.response_time),
            lag_p99: Percentiles::of(&self.schedule_lag).map(|lag| lag.p99),
        }
    }
}

impl Times {
    fn summary(&self) -> Summary {
        match self {
            Times::Growing(times) => times.summary(),
            Times::Closed(summary) => *summary,
        }
    }
}

impl AgentSums {
    /// Adds a snapshot of one of the agent's workers. After [`close`](AgentSums::close) only its counts are added.
    pub fn add(&mut self, seen: &Snapshot) {
        self.counts.merge(&seen.counts);
        if let Times::Growing(times) = &mut self.times {
            times.add(seen);
        }
    }

    /// Counts requests that a lost agent had started and whose outcome will never be reported.
    pub fn lose(&mut self, begun: u64, unended: u64) {
        self.counts.started = self.counts.started.saturating_add(begun);
        self.counts.lost = self.counts.lost.saturating_add(unended);
    }

    /// The agent reports no more: keeps its percentiles and drops its distributions.
    pub fn close(&mut self) {
        self.times = Times::Closed(self.times.summary());
    }

    /// Whether the agent reports no more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.times, Times::Closed(_))
    }

    /// The agent's share with these sums; the caller fills in the remaining fields.
    #[must_use]
    pub fn share(&self, name: &str) -> AgentShare {
        let times = self.times.summary();
        AgentShare {
            name: name.to_owned(),
            counts: self.counts.clone(),
            service_time_ns: times.service_time,
            response_time_ns: times.response_time,
            lag_p99_ns: times.lag_p99,
            ..AgentShare::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_sums_what_its_workers_saw_and_what_was_lost() {
        let mut seen = Snapshot::default();
        seen.counts.started = 3;
        seen.counts.completed = 2;
        seen.counts.interrupted = 1;
        for ns in [1_000, 3_000] {
            seen.answered_time.record(ns);
        }
        let mut sums = AgentSums::default();
        sums.add(&seen);
        sums.add(&seen);
        sums.lose(4, 4);
        let before = sums.share("vienna");
        sums.close();
        let share = sums.share("vienna");
        assert_eq!(share, before, "closing changes nothing that is shown");
        assert_eq!((share.counts.started, share.counts.lost), (10, 4));
        assert!(share.counts.is_conserved());
        let times = share.service_time_ns.expect("there were requests");
        assert_eq!((times.p50, times.p99), (2_000, 3_000));
        assert_eq!((share.response_time_ns, share.lag_p99_ns), (None, None));
    }
}

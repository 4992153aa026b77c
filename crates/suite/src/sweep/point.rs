//! The measurement at one load.
//!
//! Must not know the other loads. Invariant: a missing figure is `None`.

use loadline_model::RunResult;
use loadline_model::verdict::Limit;
use serde::{Deserialize, Serialize};

/// One point of a load curve, without its warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// The load: arrivals per second, or virtual users.
    pub load: f64,
    /// Starts planned per second; `None` in a closed model.
    pub offered: Option<f64>,
    /// Responses per second.
    pub throughput: f64,
    /// Good responses per second.
    pub goodput: f64,
    /// Mean time in nanoseconds, of responses in an open model, else of service; `None` without a response.
    pub avg_ns: Option<u64>,
    /// Median of the same.
    pub p50_ns: Option<u64>,
    /// 95th percentile of the same.
    pub p95_ns: Option<u64>,
    /// 99th percentile of the same.
    pub p99_ns: Option<u64>,
    /// Share of requests that failed or got a wrong response, 0 to 1; `None` if no request ended.
    pub errors: Option<f64>,
    /// Processor use of the generator, in cores.
    pub generator_cores: f64,
    /// Who was in the way.
    pub limit: Limit,
    /// The verdict in one sentence.
    pub headline: String,
}

impl LoadPoint {
    /// The point of a run under a load.
    #[must_use]
    pub fn of(load: f64, result: &RunResult) -> LoadPoint {
        let totals = &result.totals;
        let counts = &totals.seen.counts;
        let seconds = totals.measured_ns as f64 / 1e9;
        let per_second = |count: u64| {
            if seconds > 0.0 {
                count as f64 / seconds
            } else {
                0.0
            }
        };
        let time = result
            .times("response_time_ns")
            .or_else(|| result.times("service_time_ns"));
        let throughput = totals.rates.steady.unwrap_or(per_second(counts.completed));
        let good = counts.good as f64 / counts.completed.max(1) as f64;
        LoadPoint {
            load,
            offered: totals.rates.offered,
            throughput,
            goodput: throughput * good,
            avg_ns: time.and_then(|time| time.mean),
            p50_ns: time.and_then(|time| time.p50),
            p95_ns: time.and_then(|time| time.p95),
            p99_ns: time.and_then(|time| time.p99),
            errors: counts.outcomes().error_share(),
            generator_cores: totals.cpu_cores().unwrap_or(0.0),
            limit: result.verdict.limit,
            headline: result.verdict.headline.clone(),
        }
    }

    /// Whether requests ended, but none with a response.
    #[must_use]
    pub fn is_without_answer(&self) -> bool {
        self.throughput <= 0.0 && self.errors.is_some()
    }

    /// Whether it describes the target: the generator was not the limit.
    #[must_use]
    pub fn is_of_the_target(&self) -> bool {
        self.limit != Limit::Generator
    }
}

//! Hand-made outcomes for tests.
//!
//! Must not know documents. Invariant: every figure is given, none is measured.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_metric::TimeTrend;
use loadline_model::client::ClientPlan;
use loadline_model::observation::{ObservedSeries, Phases, Point, Span};
use loadline_model::result::{Environment, Rates, Row, RunResult, TimeMetric, Totals, metrics_of};
use loadline_model::verdict::{Delivery, Limit};
use loadline_model::{Snapshot, TestPlan, Verdict};

use super::{Draw, SmallRuns};
use crate::outcome::{RowOutcome, RowStatus, RunOutcome, SuiteOutcome};

pub(super) const GIB: f64 = 1_073_741_824.0;
pub(super) const MIB: f64 = 1_048_576.0;
const SECOND: i64 = 1_000_000_000;
/// Draws nothing.
pub(super) const NO_CHARTS: Draw<'static> = &|_| SmallRuns {
    scales: String::new(),
    charts: Vec::new(),
};

/// A run of a minute at a rate per second, nothing failed.
pub(crate) fn run(rate: f64) -> RunResult {
    let mut seen = Snapshot::default();
    seen.counts.started = (rate * 60.0) as u64;
    seen.counts.completed = seen.counts.started;
    seen.counts.good = seen.counts.started;
    seen.counts.bytes_sent = 6_800_000_000;
    seen.counts.bytes_received = 10_000_000_000;
    seen.counts.body_bytes = seen.counts.completed * 350;
    let plan = TestPlan::without_load(ClientPlan::default());
    let mut metrics = metrics_of(&plan, &seen);
    let time = TimeMetric {
        count: seen.counts.completed,
        min: Some(300_000),
        max: Some(80_000_000),
        mean: Some(4_500_000),
        p50: Some(4_000_000),
        p90: Some(9_000_000),
        p95: Some(11_300_000),
        p99: Some(21_200_000),
        p99_9: Some(60_000_000),
        histogram: TimeTrend::new(),
        hdr: None,
    };
    metrics.insert("service_time_ns".to_owned(), time);
    let environment = Environment {
        loadline: "0.1.0".to_owned(),
        system: "Linux 6.1".to_owned(),
        host: "bench".to_owned(),
        cores: 2.0,
        open_files_max: Some(1024),
        command: vec![
            "loadline".to_owned(),
            "bench".to_owned(),
            "http://127.0.0.1:8080/".to_owned(),
        ],
        ..Environment::default()
    };
    let headline = "The target was the limit";
    RunResult {
        metrics,
        series: (0..60).map(|second| second_of(rate, second)).collect(),
        verdict: Verdict::new(Delivery::AsFastAsPossible, Limit::Target, headline),
        ..RunResult::bare(plan, environment, totals(rate, seen))
    }
}

fn totals(rate: f64, seen: Snapshot) -> Totals {
    let measured = Duration::from_secs(60).as_nanos() as u64;
    Totals {
        started_unix_ms: 1_700_000_000_000,
        elapsed_ns: measured,
        measured_ns: measured,
        seen,
        rates: Rates {
            goodput: rate,
            average: rate,
            steady: Some(rate),
            max_1s: Some(rate * 1.1),
            max_5s: Some(rate * 1.05),
            offered: None,
            started: rate,
        },
        active_vus_max: 20,
        cpu_ns: 30_000_000_000,
        rss_max_bytes: 64 << 20,
        ..Totals::default()
    }
}

/// The rate rises for ten seconds.
fn second_of(rate: f64, second: u64) -> Row {
    let completed = (rate * (second as f64 / 10.0).min(1.0)) as u64;
    Row {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        completed,
        good: completed,
        ..Row::default()
    }
}

/// Lets an observer see three values, one second apart, in the load.
pub(super) fn observe(
    run: &mut RunResult,
    observer: &str,
    component: &str,
    metric: &str,
    values: [f64; 3],
) {
    let points = values
        .iter()
        .zip([1, 2, 3])
        .map(|(value, at)| Point(at * SECOND, *value));
    run.observations.series.push(ObservedSeries {
        observer: observer.to_owned(),
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: points.collect(),
        per_point: 1,
        peak: None,
    });
    let load = Span {
        from_ns: 0,
        to_ns: 60 * SECOND,
    };
    let none = Span {
        from_ns: 0,
        to_ns: 0,
    };
    run.observations.phases = Some(Phases {
        baseline: none,
        warm_up: none,
        load,
        steady: load,
        tail: none,
    });
}

/// A passed row with its runs; without any it is pending.
pub(super) fn row(id: &str, labels: &[(&str, &str)], runs: Vec<RunResult>) -> RowOutcome {
    let owned = |facts: &[(&str, &str)]| {
        let facts = facts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        facts.collect::<BTreeMap<_, _>>()
    };
    RowOutcome {
        id: id.to_owned(),
        group: None,
        labels: owned(labels),
        plan: owned(&[("short", "u:300, d: 60m")]),
        env: BTreeMap::new(),
        status: if runs.is_empty() {
            RowStatus::Pending
        } else {
            RowStatus::Passed
        },
        reasons: Vec::new(),
        runs: runs
            .into_iter()
            .zip(1..)
            .map(|(result, repetition)| RunOutcome {
                repetition,
                file: format!("runs/{id}/{repetition}.json"),
                result: Arc::new(result),
            })
            .collect(),
    }
}

pub(super) fn outcome(rows: Vec<RowOutcome>) -> SuiteOutcome {
    SuiteOutcome {
        name: "Load testing results".to_owned(),
        rows,
        facts: [
            ("file".to_owned(), "suite.yaml".to_owned()),
            ("state".to_owned(), "state".to_owned()),
        ]
        .into(),
    }
}

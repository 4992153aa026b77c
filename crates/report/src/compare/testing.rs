//! Hand-made results for tests of comparisons and charts.
//!
//! Invariant: every result is consistent, like that of a real run: its rows add up to its totals.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_metric::TimeTrend;
use loadline_model::request::{BodySource, RequestMix, RequestOrder, RequestTemplate};
use loadline_model::result::{
    Environment, GeneratorUse, Percentiles, Rates, Row as Second, RunResult, TimeMetric, Totals,
};
use loadline_model::template::Template;
use loadline_model::verdict::{Delivery, Limit};
use loadline_model::{
    Behaviour, ClientPlan, Executor, OnExhausted, Scenario, Snapshot, TestPlan, Verdict,
};

pub(crate) fn plan(vus: u32, seconds: u64) -> TestPlan {
    let url = loadline_model::url::parse("http://shop.test/cart").expect("a good URL");
    let request = RequestTemplate {
        method: "GET".to_owned(),
        origin: url.origin,
        target: Template::literal(&url.target),
        headers: Vec::new(),
        body: BodySource::None,
    };
    let scenario = Scenario {
        name: "bench".to_owned(),
        start_time: Duration::ZERO,
        executor: Executor::ConstantVus {
            vus,
            duration: Some(Duration::from_secs(seconds)),
        },
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: Duration::from_secs(5),
        queue_grace: Duration::from_secs(5),
        behaviour: Behaviour::Requests(RequestMix {
            requests: vec![request],
            order: RequestOrder::RoundRobin,
            redirects_max: 0,
            redirect_rules: loadline_model::request::RedirectRules::default(),
            cookies: false,
        }),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    };
    TestPlan {
        scenarios: vec![scenario],
        ..TestPlan::without_load(ClientPlan::default())
    }
}

/// A run of `seconds` with about `rate` responses each, which take `p50` nanoseconds; `noise` makes it differ from
/// another such run.
pub(crate) fn run(seconds: u64, rate: u64, p50: u64, noise: u64) -> RunResult {
    let wobble = |second: u64| (second * 7_919 + noise * 104_729) % 41;
    let row = |second: u64| Second {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        started: rate + wobble(second),
        completed: rate + wobble(second),
        good: rate + wobble(second),
        service_time_ns: Some(Percentiles {
            p50: p50 + wobble(second) * 10,
            p90: p50 * 2,
            p95: Some(p50 * 5 / 2 + wobble(second + 3) * 50),
            p99: p50 * 3 + wobble(second + 1) * 100,
        }),
        generator: GeneratorUse {
            cpu_cores: 0.4 + wobble(second + 2) as f64 / 1e4,
            rss_bytes: 12 << 20,
            ..GeneratorUse::default()
        },
        ..Second::default()
    };
    let series: Vec<Second> = (0..seconds).map(row).collect();
    let answers: u64 = series.iter().map(|row| row.completed).sum();
    let mut seen = Snapshot::default();
    (seen.counts.started, seen.counts.completed, seen.counts.good) = (answers, answers, answers);
    let mut times = TimeTrend::new();
    times.record_n(p50, answers);
    seen.answered_time = times.clone();
    let metrics = BTreeMap::from([("service_time_ns".to_owned(), TimeMetric::of(times))]);
    let measured = seconds * 1_000_000_000;
    let totals = Totals {
        elapsed_ns: measured,
        measured_ns: measured,
        rates: Rates {
            goodput: answers as f64 / seconds as f64,
            average: answers as f64 / seconds as f64,
            ..Rates::default()
        },
        seen,
        active_vus_max: 8,
        cpu_ns: measured * 4 / 10,
        rss_max_bytes: 12 << 20,
        ..Totals::default()
    };
    RunResult {
        metrics,
        series,
        verdict: Verdict::new(Delivery::AsFastAsPossible, Limit::Target, "as it is"),
        ..RunResult::bare(plan(8, seconds), Environment::default(), totals)
    }
}

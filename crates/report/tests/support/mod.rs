//! Hand-made results for tests of reports; must not depend on a run.
//!
//! Invariant: every result satisfies the law of conservation.

#![allow(dead_code, reason = "each test file uses its own part of it")]

pub(crate) mod pages;

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_metric::TimeTrend;
use loadline_model::request::{BodySource, RequestMix, RequestOrder, RequestTemplate};
use loadline_model::result::{Environment, GeneratorUse, Percentiles, Row, TimeMetric, Totals};
use loadline_model::snapshot::{ErrorKey, Shape};
use loadline_model::template::Template;
use loadline_model::url::parse;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit};
use loadline_model::{
    ArrivalRate, Behaviour, ClientPlan, ErrorClass, Executor, OnExhausted, RunResult, Scenario,
    TestPlan, Verdict,
};

pub(crate) fn plan(url: &str, executor: Executor) -> TestPlan {
    let url = parse(url).expect("a good URL");
    let request = RequestTemplate {
        method: "GET".to_owned(),
        origin: url.origin,
        target: Template::literal(&url.target),
        headers: Vec::new(),
        body: BodySource::None,
    };
    let mix = RequestMix {
        requests: vec![request],
        order: RequestOrder::RoundRobin,
        redirects_max: 0,
        redirect_rules: loadline_model::request::RedirectRules::default(),
        cookies: false,
    };
    TestPlan {
        scenarios: vec![Scenario {
            name: "bench".to_owned(),
            start_time: Duration::ZERO,
            executor,
            on_exhausted: OnExhausted::Queue,
            pacing: None,
            graceful_stop: Duration::from_secs(5),
            queue_grace: Duration::from_secs(5),
            behaviour: Behaviour::Requests(mix),
            checks: Vec::new(),
            tags: BTreeMap::new(),
        }],
        start_window: Duration::from_micros(100),
        seed: 1,
        ..TestPlan::without_load(ClientPlan::default())
    }
}

/// A result with nothing in it.
pub(crate) fn empty(plan: TestPlan) -> RunResult {
    let totals = Totals {
        started_unix_ms: 1_800_000_000_000,
        ..Totals::default()
    };
    RunResult {
        metrics: BTreeMap::new(),
        verdict: Verdict::unfinished("nothing was measured"),
        ..RunResult::bare(plan, Environment::default(), totals)
    }
}

/// Counts failures under a key, keeping the law of conservation.
pub(crate) fn fail(result: &mut RunResult, key: &ErrorKey, times: u64) {
    let seen = &mut result.totals.seen;
    seen.counts.started += times;
    seen.counts.failed[key.class.index()] += times;
    *seen.errors.row(key.clone()) += times;
}

pub(crate) fn key(class: ErrorClass, request: &str, address: &str, detail: &str) -> ErrorKey {
    ErrorKey {
        class,
        request: request.to_owned(),
        address: Some(address.to_owned()),
        detail: detail.to_owned(),
    }
}

/// Service times that look like a fast server's: a body round the median and a tail.
pub(crate) fn times(count: u64, median_ns: u64) -> TimeTrend {
    let mut trend = TimeTrend::new();
    for i in 0..count {
        let spread = (i * 7_919) % 1_000;
        let tail = if i % 500 == 499 { 40 } else { 1 };
        trend.record((median_ns / 2 + median_ns * spread / 1_000) * tail);
    }
    trend
}

fn answer(result: &mut RunResult, status: u16, times: u64, body: &str, good: bool) {
    let seen = &mut result.totals.seen;
    seen.counts.started += times;
    seen.counts.completed += times;
    seen.counts.good += if good { times } else { 0 };
    seen.counts.body_bytes += times * body.len() as u64;
    *seen.statuses.row(status) += times;
    let shape = Shape {
        status,
        size_class: Shape::size_class_of(body.len() as u64),
        content_type: "application/json".to_owned(),
    };
    let tally = seen.shapes.row(shape);
    tally.count += times;
    tally.good += if good { times } else { 0 };
    tally.body_size.record(body.len() as u64);
    (0..20).for_each(|_| tally.sample(body.as_bytes()));
}

fn rows(seconds: u64, offered: Option<u64>, completed: u64) -> Vec<Row> {
    let row = |second: u64| Row {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        offered,
        started: completed,
        completed: completed + second % 3 * completed / 50,
        good: completed + second % 3 * completed / 50,
        active_vus: 50,
        service_time_ns: Some(Percentiles {
            p50: 210_000,
            p90: 300_000,
            p95: Some(900_000),
            p99: 3_600_000,
        }),
        response_time_ns: offered.map(|_| Percentiles {
            p50: 220_000,
            p90: 310_000,
            p95: Some(910_000),
            p99: 3_900_000,
        }),
        generator: GeneratorUse {
            cpu_cores: 0.4,
            busiest_worker: 0.41,
            rss_bytes: 12 << 20,
            ..GeneratorUse::default()
        },
        ..Row::default()
    };
    (0..seconds).map(row).collect()
}

fn finish(result: &mut RunResult, seconds: u64) {
    let totals = &mut result.totals;
    totals.elapsed_ns = seconds * 1_000_000_000;
    totals.measured_ns = totals.elapsed_ns;
    let counts = &mut totals.seen.counts;
    counts.bytes_received = counts.body_bytes + counts.completed * 120;
    counts.bytes_sent = counts.started * 80;
    let per_second = |n: u64| n as f64 / seconds as f64;
    totals.rates.goodput = per_second(counts.good);
    totals.rates.average = per_second(counts.completed);
    totals.rates.started = per_second(counts.started);
    totals.cpu_ns = totals.elapsed_ns * 4 / 10;
    totals.rss_max_bytes = 12 << 20;
    result.environment.cores = 2.0;
    let service = totals.seen.service_time();
    result
        .metrics
        .insert("service_time_ns".to_owned(), TimeMetric::of(service));
}

fn phases(result: &mut RunResult, answers: u64) {
    let seen = &mut result.totals.seen;
    for i in 0..answers {
        seen.phases.blocked.record(if i < 50 { 90_000 } else { 0 });
        seen.phases.sending.record(3_000 + i % 100);
        seen.phases.waiting.record(190_000 + i * 13 % 90_000);
        seen.phases.receiving.record(2_000 + i % 40);
    }
    for i in 0..50 {
        seen.connections.opened += 1;
        seen.connections.connect.record(60_000 + i * 1_000);
        seen.connections.min_rtt.record(21_000 + i);
    }
}

/// A short clean run of a closed model.
pub(crate) fn clean_closed() -> RunResult {
    let executor = Executor::ConstantVus {
        vus: 50,
        duration: Some(Duration::from_secs(10)),
    };
    let mut result = empty(plan("http://127.0.0.1:8080/get", executor));
    answer(&mut result, 200, 391_840, "{\"ok\":true}", true);
    result.totals.seen.answered_time = times(391_840, 212_000);
    phases(&mut result, 391_840);
    result.series = rows(10, None, 39_184);
    finish(&mut result, 10);
    let rates = &mut result.totals.rates;
    (rates.max_1s, rates.max_5s, rates.steady) = (Some(40_920.0), Some(39_600.0), Some(39_400.0));
    result.verdict = Verdict {
        delivery: Delivery::AsFastAsPossible,
        limit: Limit::Target,
        headline: "The target answered 39.2K/s, all of it correct; it was the limit.".to_owned(),
        findings: Vec::new(),
        saturation: None,
        rate_error: Some(0.008),
    };
    result
}

/// An open model with everything that can go wrong.
pub(crate) fn troubled_open() -> RunResult {
    let executor = Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(1_000),
        duration: Some(Duration::from_secs(30)),
        spacing: loadline_model::executor::Spacing::Even,
        iterations: None,
        pre_allocated_vus: 50,
        max_vus: 500,
    };
    let mut result = empty(plan("http://shop.example:8080/predict", executor));
    result.plan.warm_up = Duration::from_secs(5);
    result.plan.aggregation.by_header = Some("X-Pod".to_owned());
    troubled_answers(&mut result);
    troubled_sources(&mut result);
    phases(&mut result, 29_400);
    result.series = rows(30, Some(1_000), 960);
    result
        .series
        .iter_mut()
        .skip(12)
        .take(3)
        .for_each(|row| row.failed = 200);
    finish(&mut result, 30);
    let totals = &mut result.totals;
    (totals.asked, totals.never_started) = (Some(35_020), 8);
    (totals.rates.offered, totals.rates.max_1s) = (Some(1_000.0), Some(998.0));
    totals.throttled_ns = Some(120_000_000);
    result.thresholds = vec![
        threshold("p(99)<50ms", 903_700_000.0, false),
        threshold("error_rate<5%", 0.0197, true),
        threshold("goodput:rate>100", 900.0, true),
    ];
    result.verdict = troubled_verdict();
    result
}

fn troubled_answers(result: &mut RunResult) {
    const REQUEST: &str = "GET http://shop.example:8080/predict";
    let nulls = "{\"products\":null,\"scores\":null,\"total\":null}";
    let product = "{\"products\":[{\"id\":4711,\"name\":\"cordless drill\"}],\"total\":1}";
    answer(result, 200, 27_000, nulls, true);
    answer(result, 200, 1_000, product, false);
    answer(result, 503, 1_400, "busy", false);
    let reset = "connection reset by peer";
    for (class, address, detail, times) in [
        (
            ErrorClass::Timeout,
            "10.0.0.1:8080",
            "no response within 2s",
            500,
        ),
        (ErrorClass::ResetReading, "10.0.0.2:8080", reset, 80),
        (ErrorClass::ResetReading, "10.0.0.1:8080", reset, 20),
    ] {
        fail(result, &key(class, REQUEST, address, detail), times);
    }
    let seen = &mut result.totals.seen;
    seen.answered_time = times(29_400, 4_000_000);
    (0..600).for_each(|i| seen.failed_time.record(1_998_000_000 + i * 5_000));
    seen.response_time = times(30_000, 6_000_000);
    seen.schedule_lag = times(30_000, 60_000);
    seen.counts.started += 12;
    seen.counts.interrupted = 12;
    seen.warm_up.started = 5_000;
    seen.warm_up.completed = 5_000;
    *seen.failed_checks.row("json:$.products".to_owned()) += 1_000;
}

fn troubled_sources(result: &mut RunResult) {
    let seen = &mut result.totals.seen;
    for (address, answered) in [
        ("10.0.0.1:8080", 19_000),
        ("10.0.0.2:8080", 10_380),
        ("10.0.0.3:8080", 20),
    ] {
        let tally = seen.peers.row(address.to_owned());
        (tally.answered, tally.failed) = (answered, answered / 300);
        tally.time.record(4_000_000);
        tally.time.record(90_000_000);
        *seen.by_header.row(format!("pod-{address}")) = tally.clone();
    }
}

fn troubled_verdict() -> Verdict {
    Verdict {
        delivery: Delivery::FellShort,
        limit: Limit::Target,
        headline:
            "The offered load was not delivered whole: 1,000/s were planned, 980/s answered; \
                   the target was in the way."
                .to_owned(),
        findings: vec![
            finding(
                "empty-answers",
                Gravity::Alarm,
                "27,000 of 29,400 answers were the same 44 bytes: {\"products\":null,…}. A status of \
                 200 says nothing about their content.",
                Some("check a field of the response with --expect json:$.products"),
            ),
            finding(
                "idle-peer",
                Gravity::Caution,
                "10.0.0.3:8080 answered 20 of 29,400 requests.",
                Some(
                    "look at the balancer, or use --max-requests-per-connection so that it can move \
                     connections",
                ),
            ),
            finding(
                "one-run",
                Gravity::Note,
                "One run says nothing about how much results vary between runs.",
                None,
            ),
        ],
        saturation: Some(loadline_model::verdict::Saturation {
            offered: 950.0,
            throughput: 931.0,
            p99_before_ns: Some(48_000_000),
        }),
        rate_error: Some(0.021),
    }
}

fn threshold(text: &str, value: f64, passed: bool) -> loadline_model::result::ThresholdOutcome {
    loadline_model::result::ThresholdOutcome {
        threshold: text.to_owned(),
        value: Some(value),
        passed,
    }
}

fn finding(code: &str, gravity: Gravity, text: &str, advice: Option<&str>) -> Finding {
    Finding {
        code: code.to_owned(),
        gravity,
        text: text.to_owned(),
        advice: advice.map(str::to_owned),
    }
}

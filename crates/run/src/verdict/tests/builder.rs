//! Runs built from a few numbers.
//!
//! Must not know what the verdict makes of them. Invariant: a run built here is clean: all was delivered,
//! nothing stands out.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_metric::TimeTrend;
use loadline_model::client::ClientPlan;
use loadline_model::error_class::ErrorClass;
use loadline_model::event::Mark;
use loadline_model::executor::{Executor, RateStage, Spacing, VuStage};
use loadline_model::observation::Observations;
use loadline_model::plan::{Behaviour, OnExhausted, Scenario, TestPlan};
use loadline_model::request::{BodySource, RequestMix, RequestOrder, RequestTemplate};
use loadline_model::result::{Environment, GeneratorUse, Percentiles, Row, TimeMetric, Totals};
use loadline_model::snapshot::Shape;
use loadline_model::template::Template;
use loadline_model::test_summary::TestSummary;
use loadline_model::units::{ArrivalRate, Nanos};
use loadline_model::url::{Origin, Scheme};
use loadline_model::verdict::{Finding, Verdict};

use crate::verdict::{Code, Evidence, judge};

pub(crate) const MS: u64 = 1_000_000;

/// A run to be judged.
pub(crate) struct Run {
    pub(crate) plan: TestPlan,
    pub(super) environment: Environment,
    pub(super) totals: Totals,
    pub(super) metrics: BTreeMap<String, TimeMetric>,
    pub(super) series: Vec<Row>,
    pub(super) events: Vec<Mark>,
    pub(super) observations: Observations,
    pub(super) summary: Option<TestSummary>,
}

/// An open model at a constant rate.
pub(crate) fn arrivals(per_second: u64, seconds: u64, max_vus: u32) -> Executor {
    Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(per_second),
        duration: Some(Duration::from_secs(seconds)),
        spacing: Spacing::Even,
        iterations: None,
        pre_allocated_vus: max_vus,
        max_vus,
    }
}

/// An open model whose rate rises from zero.
pub(super) fn rate_ramp(to: u64, seconds: u64, max_vus: u32) -> Executor {
    Executor::RampingArrivalRate {
        start_rate: ArrivalRate::per_second(0),
        stages: vec![RateStage {
            duration: Duration::from_secs(seconds),
            target: ArrivalRate::per_second(to),
        }],
        spacing: Spacing::Even,
        iterations: None,
        pre_allocated_vus: max_vus,
        max_vus,
    }
}

/// A closed model whose virtual users rise from one.
pub(super) fn vu_ramp(to: u32, seconds: u64) -> Executor {
    Executor::RampingVus {
        start_vus: 1,
        stages: vec![VuStage {
            duration: Duration::from_secs(seconds),
            target: to,
        }],
        graceful_ramp_down: Duration::ZERO,
    }
}

/// A closed model for a duration.
pub(super) fn constant_vus(vus: u32, seconds: u64) -> Executor {
    Executor::ConstantVus {
        vus,
        duration: Some(Duration::from_secs(seconds)),
    }
}

/// A closed model for a number of iterations.
pub(super) fn shared(vus: u32, iterations: u64) -> Executor {
    Executor::SharedIterations {
        vus,
        iterations,
        max_duration: None,
    }
}

pub(super) fn percentiles(p50_ms: f64, p99_ms: f64) -> Option<Percentiles> {
    let ns = |ms: f64| (ms * 1e6) as u64;
    Some(Percentiles {
        p50: ns(p50_ms),
        p90: ns((p50_ms + p99_ms) / 2.0),
        p95: None,
        p99: ns(p99_ms),
    })
}

impl Run {
    /// A clean run: `asked` requests, all completed, each in about `service_ms`.
    pub(crate) fn new(executor: Executor, seconds: f64, answered: u64, service_ms: f64) -> Run {
        let open = executor.is_open();
        let vus = executor.max_vus();
        let asked = if open {
            Some(answered)
        } else {
            executor.planned_iterations()
        };
        let mut run = Run {
            plan: plan(executor),
            environment: Environment {
                cores: 2.0,
                workers: 1,
                ..Environment::default()
            },
            totals: totals(seconds, asked, u64::from(vus)),
            metrics: BTreeMap::new(),
            series: Vec::new(),
            events: Vec::new(),
            observations: Observations::default(),
            summary: None,
        };
        // In an open model a virtual user is free from time to time.
        run.totals.active_vus_max -= u64::from(open && vus > 1);
        let center = (service_ms * MS as f64) as u64;
        run.answer(
            answered,
            &[
                (0.1, center - center / 10),
                (0.8, center),
                (0.1, center + center / 10),
            ],
        );
        run.seconds(seconds as u64, |_, row| {
            let each = answered / (seconds as u64).max(1);
            row.offered = open.then_some(each);
            (row.started, row.completed, row.good) = (each, each, each);
            row.active_vus = u64::from(vus / 2);
            row.service_time_ns = percentiles(service_ms, service_ms * 1.1);
            row.response_time_ns = if open { row.service_time_ns } else { None };
            row.generator = GeneratorUse {
                cpu_cores: 0.3,
                busiest_worker: 0.3,
                ..GeneratorUse::default()
            };
        });
        run
    }

    /// Replaces the responses: shares of them with their service times in nanoseconds.
    pub(super) fn answer(&mut self, answered: u64, times: &[(f64, u64)]) {
        let mut trend = TimeTrend::default();
        for (share, ns) in times {
            trend.record_n(*ns, (share * answered as f64).round() as u64);
        }
        let seen = &mut self.totals.seen;
        seen.counts.started = answered;
        seen.counts.completed = answered;
        seen.counts.good = answered;
        seen.answered_time = trend;
        seen.statuses = loadline_model::bounded::Bounded::new(64);
        *seen.statuses.row(200) += answered;
    }

    /// Adds failures that took `ns` each.
    pub(super) fn fail(&mut self, class: ErrorClass, failed: u64, ns: u64) {
        let seen = &mut self.totals.seen;
        seen.counts.started += failed;
        seen.counts.failed[class.index()] += failed;
        seen.failed_time.record_n(ns, failed);
    }

    /// Sets the method of the requests.
    pub(super) fn method(&mut self, method: &str) {
        for scenario in &mut self.plan.scenarios {
            if let Behaviour::Requests(mix) = &mut scenario.behaviour {
                method.clone_into(&mut mix.requests[0].method);
            }
        }
    }

    /// Gives the plan so many requests.
    pub(super) fn requests(&mut self, number: usize) {
        for scenario in &mut self.plan.scenarios {
            if let Behaviour::Requests(mix) = &mut scenario.behaviour {
                mix.requests = vec![mix.requests[0].clone(); number];
            }
        }
    }

    /// All responses get one shape, with these sampled bodies.
    pub(super) fn bodies(&mut self, bodies: &[&str]) {
        self.some_bodies(self.totals.seen.counts.completed, bodies);
    }

    /// The same for some of the responses.
    pub(super) fn some_bodies(&mut self, count: u64, bodies: &[&str]) {
        let length = bodies[0].len() as u64;
        let shape = Shape {
            status: 200,
            size_class: Shape::size_class_of(length),
            content_type: "application/json".to_owned(),
        };
        let tally = self.totals.seen.shapes.row(shape);
        tally.count = count;
        tally.body_size.record(length);
        bodies.iter().for_each(|body| tally.sample(body.as_bytes()));
    }

    /// Adds rows second by second.
    pub(super) fn seconds(&mut self, seconds: u64, fill: impl Fn(u64, &mut Row)) {
        self.series = (0..seconds)
            .map(|number| {
                let mut row = Row {
                    at_ns: number * Nanos::PER_SECOND,
                    span_ns: Nanos::PER_SECOND,
                    ..Row::default()
                };
                fill(number, &mut row);
                row
            })
            .collect();
    }

    /// Sets a metric: values in nanoseconds, each with its number.
    pub(super) fn metric(&mut self, name: &str, values: &[(u64, u64)]) {
        let mut trend = TimeTrend::default();
        values.iter().for_each(|(ns, n)| trend.record_n(*ns, *n));
        self.metrics.insert(name.to_owned(), TimeMetric::of(trend));
    }

    pub(super) fn judge(&mut self) -> Verdict {
        let service = TimeMetric::of(self.totals.seen.service_time());
        self.metrics
            .entry("service_time_ns".to_owned())
            .or_insert(service);
        judge(&Evidence {
            plan: &self.plan,
            environment: &self.environment,
            totals: &self.totals,
            metrics: &self.metrics,
            series: &self.series,
            events: &self.events,
            observations: &self.observations,
            summary: self.summary.as_ref(),
        })
    }
}

/// The finding with a code.
pub(super) fn found(verdict: &Verdict, code: Code) -> Option<&Finding> {
    verdict
        .findings
        .iter()
        .find(|finding| finding.code == code.name())
}

pub(super) fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect()
}

fn plan(executor: Executor) -> TestPlan {
    let request = RequestTemplate {
        method: "POST".to_owned(),
        origin: Origin {
            scheme: Scheme::Http,
            host: "target".to_owned(),
            port: 50_016,
        },
        target: Template::literal("/predict"),
        headers: Vec::new(),
        body: BodySource::from_bytes(b"{\"query\":\"cordless drill\",\"topk\":10}".to_vec()),
    };
    let mix = RequestMix {
        requests: vec![request],
        order: RequestOrder::RoundRobin,
        redirects_max: 0,
        redirect_rules: loadline_model::request::RedirectRules::default(),
        cookies: false,
    };
    let scenario = Scenario {
        name: "default".to_owned(),
        start_time: Duration::ZERO,
        executor,
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: Duration::ZERO,
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Requests(mix),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    };
    TestPlan {
        scenarios: vec![scenario],
        start_window: Duration::from_micros(100),
        seed: 1,
        ..TestPlan::without_load(ClientPlan::default())
    }
}

fn totals(seconds: f64, asked: Option<u64>, vus: u64) -> Totals {
    let ns = (seconds * 1e9) as u64;
    Totals {
        elapsed_ns: ns,
        measured_ns: ns,
        asked,
        active_vus_max: vus,
        cpu_ns: ns / 3,
        ..Totals::default()
    }
}

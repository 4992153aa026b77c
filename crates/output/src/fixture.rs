//! A fictitious run for the tests of this crate: a plan, seconds with rising counts, a result.
//!
//! Must not know any sink. Invariant: the seconds sum to [`sum_of`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::client::ClientPlan;
use loadline_model::event::{Mark, RunEvent};
use loadline_model::executor::Executor;
use loadline_model::observation::ResourceSample;
use loadline_model::plan::{Behaviour, OnExhausted, Scenario, TestPlan};
use loadline_model::request::{BodySource, RequestMix, RequestOrder, RequestTemplate};
use loadline_model::result::{Environment, GeneratorUse, Percentiles, Row};
use loadline_model::sample::Sample;
use loadline_model::snapshot::Snapshot;
use loadline_model::template::Template;
use loadline_model::units::{ArrivalRate, Nanos};
use loadline_model::url::{Origin, Scheme};

pub(crate) fn plan() -> TestPlan {
    let request = RequestTemplate {
        method: "GET".to_owned(),
        origin: Origin {
            scheme: Scheme::Http,
            host: "localhost".to_owned(),
            port: 8080,
        },
        target: Template::literal("/"),
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
    let scenario = Scenario {
        name: "default".to_owned(),
        start_time: Duration::ZERO,
        executor: Executor::ConstantArrivalRate {
            rate: ArrivalRate::per_second(100),
            duration: Some(Duration::from_secs(60)),
            spacing: loadline_model::executor::Spacing::Even,
            iterations: None,
            pre_allocated_vus: 10,
            max_vus: 20,
        },
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: Duration::from_secs(5),
        queue_grace: Duration::from_secs(5),
        behaviour: Behaviour::Requests(mix),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    };
    TestPlan {
        scenarios: vec![scenario],
        start_window: Duration::from_micros(100),
        labels: BTreeMap::from([("build".to_owned(), "7".to_owned())]),
        tags: BTreeMap::from([("testid".to_owned(), "fixture".to_owned())]),
        seed: 1,
        ..TestPlan::without_load(ClientPlan::default())
    }
}

/// What all workers saw in the second with this number; one request is still in flight.
pub(crate) fn delta(second: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    seen.counts.started = 10 + second;
    seen.counts.completed = 9 + second;
    seen.counts.good = 9;
    for step in 0..9 + second {
        seen.answered_time.record(1_000_000 + step * 1_000);
        seen.response_time.record(1_100_000 + step * 1_000);
    }
    *seen.statuses.row(200) += 9 + second;
    seen
}

pub(crate) fn row(second: u64) -> Row {
    Row {
        at_ns: second * Nanos::PER_SECOND,
        span_ns: Nanos::PER_SECOND,
        offered: Some(10 + second),
        started: 10 + second,
        completed: 9 + second,
        good: 9,
        active_vus: 1,
        service_time_ns: Some(Percentiles {
            p50: 1_000_000,
            p90: 2_000_000,
            p95: Some(2_500_000),
            p99: 3_000_000,
        }),
        generator: GeneratorUse {
            cpu_cores: 0.5,
            busiest_worker: 0.3,
            ..GeneratorUse::default()
        },
        ..Row::default()
    }
}

pub(crate) fn second(number: u64) -> RunEvent {
    RunEvent::Second {
        row: row(number),
        delta: Arc::new(delta(number)),
    }
}

pub(crate) fn started() -> RunEvent {
    let environment = Environment {
        cores: 1.5,
        workers: 2,
        ..Environment::default()
    };
    RunEvent::Started {
        plan: Arc::new(plan()),
        environment: Arc::new(environment),
        started_unix_ms: 1_700_000_000_000,
    }
}

pub(crate) fn mark(at_ns: u64) -> RunEvent {
    RunEvent::Mark(Mark {
        at_ns,
        kind: "stage".to_owned(),
        text: "the next stage".to_owned(),
    })
}

pub(crate) fn resource(at_ns: u64) -> RunEvent {
    RunEvent::Resource(ResourceSample {
        at_ns: i64::try_from(at_ns).unwrap(),
        observer: Arc::from("process"),
        component: Arc::from("target"),
        metric: Arc::from("cpu_cores"),
        value: 0.25,
    })
}

/// The sum of the seconds 0 to `seconds` - 1.
pub(crate) fn sum_of(seconds: u64) -> Snapshot {
    let mut sum = Snapshot::default();
    for number in 0..seconds {
        sum.merge(delta(number));
    }
    sum
}

pub(crate) fn sample(number: u64) -> Sample {
    Sample {
        start_ns: number,
        intended_ns: number,
        dns_ns: 0,
        connect_ns: 0,
        sending_ns: 1,
        waiting_ns: 2,
        receiving_ns: 3,
        service_ns: 6,
        status: 200,
        error: None,
        body_bytes: 2,
        sent_bytes: 70,
        vus: 1,
    }
}

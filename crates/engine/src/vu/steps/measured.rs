//! How samples of steps are measured: with the metrics of a script's requests, under the sampler's name, and separate
//! metrics for other samplers.
//!
//! A transaction is a group, and an assertion a check. Must not know how a sample was made, nor where values go.
//! Invariant: a sample is measured once, whether it is reported alone or below a transaction.

use std::cell::RefCell;

use loadline_metric::{HttpTimes, TagSet, Tagged};
use loadline_model::sample::{RequestFacts, VusAtWork};
use loadline_model::{Nanos, TestPlan, is_good_status, other_place};
use loadline_steps::listener::Heard;
use loadline_steps::sample::{AssertionOutcome, Sample};

use crate::clock::Clock;
use crate::record_script::{Occasion, ScriptMetrics, ScriptRecorder};
use crate::steps::metrics::OtherSamplers;

/// The longest time in milliseconds by which exchanges and their sample, which counts in whole ones, may differ.
const ROUNDING_MS: u64 = 2;

/// Where a worker's samples are measured.
pub(crate) struct WorkerMeasures {
    pub(crate) recorder: RefCell<ScriptRecorder>,
    run_tags: TagSet,
    others: OtherSamplers,
}

/// The tags of a sample.
struct SampleTags<'a> {
    run: &'a TagSet,
    scenario: &'a str,
    group: &'a str,
    /// `None` for iterations and groups, which belong to no sampler.
    sample: Option<&'a Sample>,
    /// The name of an assertion; `None` for everything else.
    check: Option<&'a str>,
}

impl SampleTags<'_> {
    fn expected(sample: &Sample) -> &'static str {
        if sample.success { "true" } else { "false" }
    }

    /// Why a sample failed: an assertion's name, else the message of its response; `None`: it did not.
    fn error(sample: &Sample) -> Option<&str> {
        if sample.success {
            return None;
        }
        let failed = sample
            .assertions
            .iter()
            .find(|one| one.failure || one.error);
        Some(match failed {
            Some(assertion) => &assertion.name,
            None => &sample.message,
        })
    }
}

impl Tagged for SampleTags<'_> {
    fn tag(&self, name: &str) -> Option<&str> {
        let sample = self.sample;
        let known = match name {
            "scenario" => Some(self.scenario),
            "group" => Some(self.group),
            "name" => sample.map(|sample| sample.label.as_str()),
            "status" => sample.map(|sample| sample.code.as_str()),
            "method" => sample.map(|sample| sample.method.as_str()),
            "expected_response" => sample.map(SampleTags::expected),
            "error" => sample.and_then(SampleTags::error),
            "check" => self.check,
            _ => None,
        };
        let known = known.filter(|value| !value.is_empty() || name == "group");
        known.or_else(|| self.run.get(name))
    }

    fn each_tag(&self, each: &mut dyn FnMut(&str, &str)) {
        const OWN: [&str; 8] = [
            "scenario",
            "group",
            "name",
            "status",
            "method",
            "expected_response",
            "error",
            "check",
        ];
        let of_run = self.run.iter().filter(|(name, _)| !OWN.contains(name));
        of_run.for_each(|(name, value)| each(name, value));
        for name in OWN {
            if let Some(value) = self.tag(name) {
                each(name, value);
            }
        }
    }
}

impl WorkerMeasures {
    /// # Errors
    /// The metrics cannot be declared.
    pub(crate) fn new(
        clock: Clock,
        metrics: &ScriptMetrics,
        plan: &TestPlan,
    ) -> Result<WorkerMeasures, String> {
        Ok(WorkerMeasures {
            recorder: RefCell::new(ScriptRecorder::new(clock, metrics, plan.warm_up)),
            run_tags: plan.run_tags(),
            others: OtherSamplers::declare(metrics)?,
        })
    }

    /// Measures samples that ended at an instant; `exchanged` are the times of the exchanges since the previous
    /// samples.
    pub(crate) fn measure(&self, done: &[Heard], scenario: &str, at: Nanos, exchanged: HttpTimes) {
        let samples = || done.iter().flat_map(Heard::news);
        let mut requests = 0;
        for sample in samples() {
            each_request(sample, &mut |_| requests += 1);
        }
        let exact = (requests == 1).then_some(exchanged);
        for sample in samples() {
            self.measure_one(sample, scenario, at, exact);
        }
    }

    /// Measures a complete iteration of a group.
    pub(crate) fn iteration(&self, duration_ns: u64, scenario: &str, at: Nanos) {
        let tags = self.tags(scenario, "", None);
        let on = occasion(at, &tags);
        self.recorder.borrow_mut().iteration(duration_ns, on);
    }

    fn tags<'a>(
        &'a self,
        scenario: &'a str,
        group: &'a str,
        sample: Option<&'a Sample>,
    ) -> SampleTags<'a> {
        SampleTags {
            run: &self.run_tags,
            scenario,
            group,
            sample,
            check: None,
        }
    }

    fn measure_assertions(&self, sample: &Sample, scenario: &str, at: Nanos) {
        let group = sample.transactions.as_str();
        for assertion in &sample.assertions {
            let tags = SampleTags {
                check: Some(&assertion.name),
                ..self.tags(scenario, group, None)
            };
            let holds = !(assertion.failure || assertion.error);
            let mut recorder = self.recorder.borrow_mut();
            recorder.check(holds, occasion(at, &tags));
        }
    }

    fn measure_one(&self, sample: &Sample, scenario: &str, at: Nanos, exact: Option<HttpTimes>) {
        if sample.is_transaction {
            for below in &sample.children {
                self.measure_one(below, scenario, at, exact);
            }
            let tags = self.tags(scenario, &sample.transactions, None);
            let on = occasion(at, &tags);
            let mut recorder = self.recorder.borrow_mut();
            return recorder.group(nanos(sample.elapsed_ms), on);
        }
        self.measure_assertions(sample, scenario, at);
        let tags = self.tags(scenario, &sample.transactions, Some(sample));
        let on = occasion(at, &tags);
        let mut recorder = self.recorder.borrow_mut();
        if sample.url.is_none() {
            let OtherSamplers {
                count,
                duration,
                failed,
            } = self.others;
            let is_failed = f64::from(u8::from(!sample.success));
            let values = [
                (count, 1.0),
                (duration, sample.elapsed_ms as f64),
                (failed, is_failed),
            ];
            for (metric, value) in values {
                recorder
                    .value(metric, value, on)
                    .expect("whole numbers are finite");
            }
            return;
        }
        let facts = || RequestFacts {
            sent_bytes: sample.sent_bytes,
            body_bytes: sample.body_bytes,
            vus: VusAtWork {
                scenario: sample.group_threads,
                run: sample.all_threads,
            },
        };
        recorder.http(&times_of(sample, exact), Some(!sample.success), facts, on);
        let without_sampler = self.tags(scenario, &sample.transactions, None);
        recorder.data(
            sample.sent_bytes,
            sample.bytes,
            occasion(at, &without_sampler),
        );
    }
}

/// Reports, for each response that its assertions judge differently from its status, whether it is good.
pub(crate) fn each_overruled(done: &[Heard], tell: &mut dyn FnMut(bool)) {
    for sample in done.iter().flat_map(Heard::news) {
        each_request(sample, &mut |request| {
            if let Some(is_good) = overruled(request) {
                tell(is_good);
            }
        });
    }
}

/// Reports each sample whose request could not be made.
pub(crate) fn each_unsent(done: &[Heard], tell: &mut dyn FnMut(&Sample)) {
    for sample in done.iter().flat_map(Heard::news) {
        each_sampler(sample, &mut |sample| {
            if sample.is_unsent {
                tell(sample);
            }
        });
    }
}

/// Reports each other place from which redirects brought what a sample asked for: the first of its sub-samples is what was
/// asked.
pub(crate) fn each_other_place(done: &[Heard], tell: &mut dyn FnMut(String)) {
    let place_of = |sample: &Sample| {
        let asked = sample.children.first()?;
        let asks = matches!(&*asked.method, "GET" | "HEAD");
        let (asked, got) = asked.url.as_ref().zip(sample.url.as_ref())?;
        other_place(asked, got).filter(|_| asks)
    };
    for sample in done.iter().flat_map(Heard::news) {
        each_request(sample, &mut |sample| {
            if let Some(place) = place_of(sample) {
                tell(place);
            }
        });
    }
}

/// Whether a response is good according to its assertions, if its status alone says the opposite; `None`: they
/// agree.
fn overruled(request: &Sample) -> Option<bool> {
    let status: u16 = request.code.parse().ok()?;
    let fails = |one: &AssertionOutcome| one.failure || one.error;
    match is_good_status(status) {
        true => request.assertions.iter().any(fails).then_some(false),
        false => request.success.then_some(true),
    }
}

/// When something happened, and with which tags.
fn occasion(at: Nanos, tags: &dyn Tagged) -> Occasion<'_> {
    Occasion {
        at,
        tags,
        metadata: None,
    }
}

/// The requests of a sample: itself, or its sub-samples if it is a transaction.
fn each_request<'a>(sample: &'a Sample, tell: &mut dyn FnMut(&'a Sample)) {
    each_sampler(sample, &mut |sample| {
        if sample.url.is_some() {
            tell(sample);
        }
    });
}

/// The samplers of a sample: itself, or its sub-samples if it is a transaction.
fn each_sampler<'a>(sample: &'a Sample, tell: &mut dyn FnMut(&'a Sample)) {
    if sample.is_transaction {
        let below = sample.children.iter();
        below.for_each(|below| each_sampler(below, tell));
    } else {
        tell(sample);
    }
}

/// The phases of a sample's time: those of its exchanges if they are complete, otherwise its own.
fn times_of(sample: &Sample, exact: Option<HttpTimes>) -> HttpTimes {
    let whole_ns = |times: &HttpTimes| times.blocked.saturating_add(times.duration());
    let fits = |times: &HttpTimes| {
        let whole_ms = whole_ns(times) / 1_000_000;
        whole_ms.abs_diff(sample.elapsed_ms) <= ROUNDING_MS
    };
    exact.filter(fits).unwrap_or_else(|| {
        let latency_ms = sample.latency_ms.max(sample.connect_ms);
        HttpTimes {
            blocked: nanos(sample.connect_ms),
            connecting: nanos(sample.connect_ms),
            waiting: nanos(latency_ms - sample.connect_ms),
            receiving: nanos(sample.elapsed_ms.saturating_sub(latency_ms)),
            ..HttpTimes::default()
        }
    })
}

fn nanos(ms: u64) -> u64 {
    ms.saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loadline_metric::BuiltIn;

    use super::*;

    fn measured(samples: Vec<Sample>, exchanged: HttpTimes) -> loadline_metric::MeasurementsDelta {
        let metrics = ScriptMetrics {
            registry: Arc::default(),
            series: Arc::new(loadline_metric::SeriesPlan {
                by_tag: Some("name".to_owned()),
                ..Default::default()
            }),
            values: None,
        };
        let plan = TestPlan::without_load(loadline_model::ClientPlan::default());
        let measures = WorkerMeasures::new(Clock::start(), &metrics, &plan).expect("new names");
        let heard: Vec<Heard> = samples.into_iter().map(Heard::from).collect();
        measures.measure(&heard, "G", Nanos(1), exchanged);
        measures.recorder.borrow_mut().take().0
    }

    fn request(label: &str, elapsed_ms: u64) -> Sample {
        Sample {
            label: label.to_owned(),
            url: Some("http://h/".to_owned()),
            elapsed_ms,
            success: true,
            ..Sample::default()
        }
    }

    fn mean_ns(seen: &loadline_metric::MeasurementsDelta) -> f64 {
        match seen.root.values.get(&BuiltIn::HttpReqDuration.id()) {
            Some(loadline_metric::Aggregated::Times(times)) => times.mean().expect("a value"),
            other => panic!("times, not {other:?}"),
        }
    }

    #[test]
    fn one_request_takes_the_exact_times_of_its_exchange() {
        let exchanged = HttpTimes {
            waiting: 1_250_000,
            ..HttpTimes::default()
        };
        assert!((mean_ns(&measured(vec![request("a", 1)], exchanged)) - 1.25e6).abs() < 1.0);
        let two = measured(vec![request("a", 3), request("b", 5)], exchanged);
        assert!((mean_ns(&two) - 4e6).abs() < 1.0, "whose is it?");
        let odd = measured(vec![request("a", 900)], exchanged);
        assert!((mean_ns(&odd) - 9e8).abs() < 1.0, "it is not all of it");
    }

    #[test]
    fn what_stands_below_a_transaction_is_measured_once() {
        let transaction = Sample {
            is_transaction: true,
            transactions: "::T".to_owned(),
            elapsed_ms: 7,
            children: vec![request("a", 3), request("b", 4)],
            ..Sample::default()
        };
        let seen = measured(vec![transaction], HttpTimes::default());
        let count = seen.root.values.get(&BuiltIn::HttpReqs.id());
        let Some(loadline_metric::Aggregated::Counter(count)) = count else {
            panic!("a counter, not {count:?}");
        };
        assert!((count.total() - 2.0).abs() < f64::EPSILON);
        assert!(seen.root.values.contains_key(&BuiltIn::GroupDuration.id()));
    }

    #[test]
    fn assertions_decide_whether_an_answer_is_good() {
        let judged = |code: &str, failure, success| {
            let outcome = AssertionOutcome {
                failure,
                ..Default::default()
            };
            overruled(&Sample {
                code: code.to_owned(),
                success,
                assertions: vec![outcome],
                ..request("a", 1)
            })
        };
        assert_eq!(judged("200", true, false), Some(false));
        assert_eq!(judged("200", false, true), None);
        assert_eq!(judged("200", false, false), None, "an embedded one failed");
        assert_eq!(judged("404", false, true), Some(true));
        assert_eq!(judged("404", true, false), None);
        assert_eq!(judged("Non HTTP response code: X", true, false), None);
    }

    #[test]
    fn the_place_of_a_redirected_sample_is_told() {
        let asked = |method: &str| Sample {
            method: method.to_owned(),
            url: Some("http://h/account".to_owned()),
            ..request("a", 1)
        };
        let led = |method: &str, to: &str| Sample {
            url: Some(to.to_owned()),
            children: vec![asked(method)],
            ..request("a->b", 2)
        };
        let samples = [
            led("GET", "http://h/login?next=account"),
            led("POST", "http://h/done"),
            led("GET", "http://h/account/"),
            asked("GET"),
        ];
        let mut told = Vec::new();
        each_other_place(&samples.map(Heard::from), &mut |place| told.push(place));
        assert_eq!(told, ["/login"]);
    }

    #[test]
    fn answers_below_a_transaction_are_judged_too() {
        let failing = AssertionOutcome {
            failure: true,
            ..Default::default()
        };
        let request = Sample {
            code: "200".to_owned(),
            assertions: vec![failing],
            ..request("a", 1)
        };
        let transaction = Sample {
            is_transaction: true,
            code: "200".to_owned(),
            children: vec![request.clone(), request],
            ..Sample::default()
        };
        let mut told = Vec::new();
        each_overruled(&[transaction.into()], &mut |is_good| told.push(is_good));
        assert_eq!(told, [false, false]);
    }

    #[test]
    fn assertions_are_checks() {
        let outcome = |failure| AssertionOutcome {
            name: "A".to_owned(),
            failure,
            ..Default::default()
        };
        let sample = Sample {
            assertions: vec![outcome(true), outcome(false)],
            ..request("a", 1)
        };
        let seen = measured(vec![sample], HttpTimes::default());
        let checks = seen.root.values.get(&BuiltIn::Checks.id());
        let Some(loadline_metric::Aggregated::Rate(rate)) = checks else {
            panic!("a rate, not {checks:?}");
        };
        assert_eq!(rate.share(), Some(0.5));
    }

    #[test]
    fn samplers_without_requests_have_metrics_of_their_own() {
        let debug = Sample {
            label: "d".to_owned(),
            ..Sample::default()
        };
        let seen = measured(vec![debug], HttpTimes::default());
        assert!(!seen.root.values.contains_key(&BuiltIn::HttpReqs.id()));
        assert_eq!(seen.root.values.len(), 3);
    }
}

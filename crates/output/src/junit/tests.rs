//! The document for runs with and without a script, and for hostile names.

use std::sync::{Arc, LazyLock, Mutex};

use loadline_metric::{Aggregated, BuiltIn, TimeTrend};
use loadline_model::Check;
use loadline_model::result::{RunResult, StopReason, ThresholdOutcome};
use loadline_model::test_summary::{
    CheckSummary, MetricSummary, Section, TestSummary, ThresholdSummary,
};
use proptest::prelude::*;

use super::JunitFile;
use super::encode::render;
use crate::fixture;
use crate::journal::{Journal, recover};

/// A result without thresholds and checks.
fn plain() -> RunResult {
    static RESULT: LazyLock<RunResult> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.journal");
        let journal = Journal::create(&path).unwrap();
        journal.record(&fixture::started());
        journal.record(&fixture::second(0));
        assert!(journal.close().complete);
        recover(&path).unwrap().result
    });
    let mut result = RESULT.clone();
    result.totals.stop = StopReason::Finished;
    result
}

fn check(name: &str, passes: u64, fails: u64) -> CheckSummary {
    CheckSummary {
        name: name.to_owned(),
        first_seen: 0,
        passes,
        fails,
    }
}

/// A script's result with a check of this name in a group.
fn scripted(name: &str) -> RunResult {
    let metric = MetricSummary {
        definition: BuiltIn::HttpReqDuration.definition(),
        tags: None,
        suffix: Some("name:a".into()),
        values: Aggregated::Times(TimeTrend::new()),
        thresholds: vec![
            ThresholdSummary {
                source: "p(95)<500".into(),
                observed: Some(812.5),
                passed: false,
            },
            ThresholdSummary {
                source: "avg<900".into(),
                observed: Some(400.0),
                passed: true,
            },
        ],
    };
    let group = Section {
        checks: vec![check(name, 97, 3)],
        ..Section::default()
    };
    let mut result = plain();
    // A run lists the thresholds of a script twice: with their metrics, and in one list.
    let outcome = |threshold: &str, value, passed| ThresholdOutcome {
        threshold: format!("http_req_duration{{name:a}}: {threshold}"),
        value: Some(value),
        passed,
    };
    result.thresholds = vec![
        outcome("p(95)<500", 812.5, false),
        outcome("avg<900", 400.0, true),
    ];
    result.summary = Some(TestSummary {
        root: Section {
            metrics: vec![metric],
            checks: vec![check("is 200", 5, 0)],
            groups: vec![("shop".to_owned(), group)],
        },
        ..TestSummary::default()
    });
    result
}

#[test]
fn thresholds_and_checks_are_tests() {
    let document = render(&scripted("a<b"), "test.js");
    let without_times: Vec<String> = document
        .lines()
        .map(|line| {
            let end = line.find(" time=").unwrap_or(line.len());
            line[..end].trim().to_owned()
        })
        .collect();
    assert_eq!(
        without_times,
        [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites name=\"test.js\" tests=\"5\" failures=\"2\" errors=\"0\"",
            "<testsuite name=\"run\" tests=\"1\" failures=\"0\" errors=\"0\"",
            "<testcase classname=\"run\" name=\"ends as planned\"/>",
            "</testsuite>",
            "<testsuite name=\"thresholds\" tests=\"2\" failures=\"1\" errors=\"0\"",
            "<testcase classname=\"thresholds.http_req_duration{name:a}\" name=\"p(95)&lt;500\">",
            "<failure type=\"thresholds\" message=\"p(95)&lt;500 does not hold: the value was \
             812.5 ms\">p(95)&lt;500 does not hold: the value was 812.5 ms</failure>",
            "</testcase>",
            "<testcase classname=\"thresholds.http_req_duration{name:a}\" name=\"avg&lt;900\"/>",
            "</testsuite>",
            "<testsuite name=\"checks\" tests=\"2\" failures=\"1\" errors=\"0\"",
            "<testcase classname=\"checks\" name=\"is 200\"/>",
            "<testcase classname=\"checks.::shop\" name=\"a&lt;b\">",
            "<failure type=\"checks\" message=\"3 of 100 failed\">3 of 100 failed</failure>",
            "</testcase>",
            "</testsuite>",
            "</testsuites>",
        ]
    );
}

#[test]
fn a_crossed_thresholds_value_has_the_unit_of_what_it_asks() {
    let told = |metric: BuiltIn, condition: &str, observed| {
        let definition = metric.definition();
        let values = Aggregated::empty(definition.kind, definition.contains, false);
        let mut result = scripted("a");
        result.thresholds.clear();
        let summary = result.summary.as_mut().expect("of a script");
        summary.root.metrics = vec![MetricSummary {
            definition,
            tags: None,
            suffix: None,
            values,
            thresholds: vec![ThresholdSummary {
                source: condition.into(),
                observed: Some(observed),
                passed: false,
            }],
        }];
        let document = render(&result, "test.js");
        let (_, value) = document.split_once("the value was ").expect("it is told");
        value.split('"').next().unwrap_or_default().to_owned()
    };
    assert_eq!(told(BuiltIn::DataReceived, "rate>1000", 12.5), "12.5 B/s");
    assert_eq!(told(BuiltIn::DataReceived, "count>1000", 12.0), "12 B");
    assert_eq!(told(BuiltIn::HttpReqs, "rate>100", 7.5), "7.5/s");
    assert_eq!(told(BuiltIn::Checks, "rate>0.9", 0.25), "25 %");
}

#[test]
fn a_run_without_a_script_has_its_thresholds_and_how_it_ended() {
    let mut result = plain();
    result.totals.stop = StopReason::Interrupted;
    result.thresholds = vec![ThresholdOutcome {
        threshold: "goodput>5".to_owned(),
        value: None,
        passed: false,
    }];
    let document = render(&result, "bench");
    assert!(
        document.contains("tests=\"2\" failures=\"2\""),
        "{document}"
    );
    assert!(document.contains("a signal ended it"), "{document}");
    assert!(document.contains("goodput&gt;5 does not hold: there was no value"));
}

#[test]
fn a_response_of_a_bad_status_fails_a_test_though_no_check_saw_it() {
    let told = |checks: &[&str]| {
        let mut result = plain();
        let checks = checks.iter().map(|text| Check::parse(text));
        let checks: Result<_, String> = checks.collect();
        result.plan.scenarios[0].checks = checks.expect("good checks");
        let seen = &mut result.totals.seen;
        (seen.counts.completed, seen.counts.good) = (10, 5);
        *seen.failed_checks.row("size>1".to_owned()) += 2;
        let document = render(&result, "bench");
        let tests = document
            .lines()
            .filter(|line| line.contains("\"checks\" name="));
        let failures = document
            .lines()
            .filter_map(|line| line.split_once("message=\""));
        let failures = failures.filter_map(|(_, text)| text.split_once('"'));
        let failures: Vec<String> = failures.map(|(text, _)| text.to_owned()).collect();
        (tests.count(), failures)
    };
    let (tests, failures) = told(&["size>1", "time<1s"]);
    assert_eq!(tests, 3);
    assert_eq!(failures, ["3 of 10 failed", "2 of 7 failed"]);
    let (tests, _) = told(&["size>1", "status=500"]);
    assert_eq!(tests, 2, "the status is one of the checks");
    assert_eq!(told(&[]).0, 0);
}

#[test]
fn values_are_told_in_the_units_of_their_thresholds() {
    let told = |threshold: &str, value: f64| {
        let mut result = plain();
        result.thresholds = vec![ThresholdOutcome {
            threshold: threshold.to_owned(),
            value: Some(value),
            passed: false,
        }];
        let document = render(&result, "bench");
        let (_, behind) = document.split_once("the value was ").expect("it is told");
        let (value, _) = behind.split_once('"').expect("an attribute ends");
        value.to_owned()
    };
    assert_eq!(told("p99<50ms", 904_123_456.0), "904.123 ms");
    assert_eq!(told("p(95)<200", 250_000.0), "0.25 ms");
    assert_eq!(told("response_time:max<2s", 3_210_000_000.0), "3.21 s");
    assert_eq!(told("avg<100us", 212_345.6), "212.346 µs");
    assert_eq!(told("error_rate:rate<1%", 0.012_345), "1.235 %");
    assert_eq!(told("rate<0.01", 0.02), "0.02");
    assert_eq!(told("goodput:rate>1000", 812.5), "812.5");
}

#[test]
fn the_document_is_written_at_the_end() {
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let page = Page::default();
    let file = JunitFile::stream(page.clone(), "test.js");
    assert!(page.0.lock().unwrap().is_empty());
    file.finish(&plain()).unwrap();
    let written = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    assert_eq!(written, render(&plain(), "test.js"));
    let folder = tempfile::tempdir().unwrap();
    assert!(JunitFile::create(&folder.path().join("none/a.xml"), "a").is_err());
}

proptest! {
    #[test]
    fn whatever_names_hold_the_document_is_well_formed(name in "\\PC{0,12}|[<>&\"'\n\u{0}-\u{1f}]{0,6}") {
        let document = render(&scripted(&name), &name);
        let text: String = document.chars().filter(|c| *c != '\n').collect();
        prop_assert!(!text.chars().any(|c| c < ' '), "control characters are not XML");
        let mut open: Vec<&str> = Vec::new();
        for part in text.split('<').skip(1) {
            let (tag, behind) = part.split_once('>').expect("a tag ends");
            prop_assert!(!behind.contains('>'));
            prop_assert!(tag.matches('"').count() % 2 == 0);
            let element = tag.split(' ').next().expect("a tag has a name");
            match element.strip_prefix('/') {
                Some(closed) => prop_assert_eq!(open.pop(), Some(closed)),
                None if tag.ends_with('/') || tag.starts_with('?') => {}
                None => open.push(element),
            }
        }
        prop_assert!(open.is_empty());
        for reference in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;", "#10;", "#13;", "#9;"];
            prop_assert!(known.iter().any(|known| reference.starts_with(known)));
        }
    }
}

//! The document: test suites for the run, its thresholds and its checks.
//!
//! Source: the elements and attributes that the JUnit XML readers of Jenkins and GitLab share. Must not know
//! files. Invariant: the document is well-formed whatever names contain.

use std::fmt::Write as _;

use loadline_metric::Contains;
use loadline_metric::threshold::{Aggregation, Bound, Threshold, TimeUnit};
use loadline_model::Check;
use loadline_model::markup::escaped;
use loadline_model::plan::TestPlan;
use loadline_model::result::{RunResult, StopReason, ThresholdOutcome};
use loadline_model::test_summary::{
    CheckSummary, MetricSummary, ObservedUnit, Section, ThresholdSummary,
};

use crate::k6_lines::push_rfc3339;

/// One test.
struct Case {
    class: String,
    name: String,
    /// What is wrong, in one line; `None`: it passed.
    failure: Option<String>,
}

/// The document of a finished run with this name, such as that of its script.
#[must_use]
pub(super) fn render(result: &RunResult, name: &str) -> String {
    let suites = [
        ("run", vec![run_case(result.totals.stop)]),
        ("thresholds", threshold_cases(result)),
        ("checks", check_cases(result)),
    ];
    let seconds = result.totals.elapsed_ns as f64 / 1e9;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    push(
        &mut out,
        format_args!("<testsuites name=\"{}\" ", escaped(name)),
    );
    push_counts(&mut out, all(), seconds);
    out.push_str(">\n");
    let started = timestamp(result.totals.started_unix_ms);
    for (suite, cases) in suites.iter().filter(|(_, cases)| !cases.is_empty()) {
        push(&mut out, format_args!("  <testsuite name=\"{suite}\" "));
        push_counts(&mut out, cases.iter(), seconds);
        push(
            &mut out,
            format_args!(" skipped=\"0\" timestamp=\"{started}\">\n"),
        );
        for case in cases {
            push_case(&mut out, suite, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all text");
}

fn push_counts<'a>(out: &mut String, cases: impl Iterator<Item = &'a Case>, seconds: f64) {
    let (mut tests, mut failures) = (0, 0);
    for case in cases {
        tests += 1;
        failures += u32::from(case.failure.is_some());
    }
    push(
        out,
        format_args!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\""
        ),
    );
}

fn push_case(out: &mut String, suite: &str, case: &Case) {
    let class = match case.class.is_empty() {
        true => suite.to_owned(),
        false => format!("{suite}.{}", escaped(&case.class)),
    };
    let name = escaped(&case.name);
    push(
        out,
        format_args!("    <testcase classname=\"{class}\" name=\"{name}\""),
    );
    match &case.failure {
        None => out.push_str("/>\n"),
        Some(failure) => {
            let failure = escaped(failure);
            push(
                out,
                format_args!(
                    ">\n      <failure type=\"{suite}\" message=\"{failure}\">{failure}\
                     </failure>\n    </testcase>\n"
                ),
            );
        }
    }
}

/// Whether the run was aborted; a threshold that ended it is listed with the thresholds.
fn run_case(stop: StopReason) -> Case {
    let failure = match stop {
        StopReason::Finished | StopReason::ThresholdCrossed => None,
        StopReason::Interrupted | StopReason::Aborted => Some("a signal ended it"),
        StopReason::Script => Some("the script ended it"),
        StopReason::Remote => Some("it was ended through the REST API"),
        StopReason::ObserverLost => Some("a required observer was lost"),
        StopReason::Defect => Some("a part of loadline crashed"),
        StopReason::Crashed => Some("the process died"),
    };
    Case {
        class: String::new(),
        name: "ends as planned".to_owned(),
        failure: failure.map(str::to_owned),
    }
}

fn threshold_cases(result: &RunResult) -> Vec<Case> {
    let summary = result.summary.iter();
    let metrics = || summary.clone().flat_map(|summary| &summary.root.metrics);
    // Thresholds of a script are listed with their metrics, which know their units.
    let is_of_script = |outcome: &&ThresholdOutcome| {
        metrics().any(|metric| {
            let rest = outcome.threshold.strip_prefix(&metric.key());
            let source = rest.and_then(|rest| rest.strip_prefix(": "));
            source.is_some_and(|source| metric.thresholds.iter().any(|one| *one.source == *source))
        })
    };
    let of_script = metrics().flat_map(|metric| {
        let cases = metric.thresholds.iter();
        cases.map(|threshold| of_script(metric, threshold))
    });
    result
        .thresholds
        .iter()
        .filter(|outcome| !is_of_script(outcome))
        .map(of_plan)
        .chain(of_script)
        .collect()
}

fn of_plan(outcome: &ThresholdOutcome) -> Case {
    let threshold = &outcome.threshold;
    let value = outcome.value.map(|value| with_unit(value, threshold));
    Case {
        class: String::new(),
        name: threshold.clone(),
        failure: (!outcome.passed).then(|| crossed(threshold, value)),
    }
}

fn of_script(metric: &MetricSummary, threshold: &ThresholdSummary) -> Case {
    let name = threshold.source.to_string();
    let unit = ObservedUnit::of(&metric.definition, &name);
    let value = threshold.observed.map(|value| in_unit(value, unit));
    Case {
        class: metric.key(),
        failure: (!threshold.passed).then(|| crossed(&name, value)),
        name,
    }
}

fn crossed(threshold: &str, value: Option<String>) -> String {
    match value {
        Some(value) => format!("{threshold} does not hold: the value was {value}"),
        None => format!("{threshold} does not hold: there was no value"),
    }
}

fn in_unit(value: f64, unit: ObservedUnit) -> String {
    match unit {
        ObservedUnit::Share => format!("{} %", rounded(value * 100.0)),
        ObservedUnit::Count => value.to_string(),
        ObservedUnit::Amount(contains) => format!("{value}{}", unit_of(contains)),
        ObservedUnit::PerSecond(contains) => format!("{value}{}/s", unit_of(contains)),
    }
}

fn unit_of(contains: Contains) -> &'static str {
    match contains {
        Contains::Time => " ms",
        Contains::Data => " B",
        Contains::Default => "",
    }
}

/// The value, in nanoseconds for times, of a threshold in a run without a script, in the threshold's unit;
/// times without a unit are in milliseconds, as in thresholds.
fn with_unit(value: f64, threshold: &str) -> String {
    let Ok(threshold) = threshold.parse::<Threshold>() else {
        return value.to_string();
    };
    match (threshold.aggregation, threshold.bound) {
        (_, Bound::Percent(_)) => format!("{} %", rounded(value * 100.0)),
        (_, Bound::Time(_, unit)) => {
            let name = match unit {
                TimeUnit::Nanosecond => "ns",
                TimeUnit::Microsecond => "µs",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Second => "s",
                TimeUnit::Minute => "min",
                TimeUnit::Hour => "h",
            };
            format!("{} {name}", rounded(value / unit.nanoseconds() as f64))
        }
        (
            Aggregation::Avg
            | Aggregation::Min
            | Aggregation::Max
            | Aggregation::Med
            | Aggregation::Percentile(_),
            Bound::Number(_),
        ) => format!("{} ms", rounded(value / 1e6)),
        (Aggregation::Rate | Aggregation::Count | Aggregation::Value, Bound::Number(_)) => {
            value.to_string()
        }
    }
}

/// Rounded to a thousandth, which is finer than any threshold.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn check_cases(result: &RunResult) -> Vec<Case> {
    let mut cases = plan_checks(&result.plan, result);
    if let Some(summary) = &result.summary {
        push_section(&summary.root, "", &mut cases);
    }
    cases
}

/// The checks of a run without a script: unless they say which statuses are good, that of a response must be, before it is
/// tested; then the first check that fails counts.
fn plan_checks(plan: &TestPlan, result: &RunResult) -> Vec<Case> {
    let seen = &result.totals.seen;
    let outcomes = seen.counts.outcomes();
    let checks: Vec<&Check> = plan.scenarios.iter().flat_map(|one| &one.checks).collect();
    let failed = &seen.failed_checks;
    let rows = failed.rows().map(|(_, fails)| *fails);
    let known: u64 = rows.chain(failed.overflow().copied()).sum();
    let of_bad_status = outcomes.wrong().saturating_sub(known);
    let tested = outcomes.completed.saturating_sub(of_bad_status);
    let case = |check: &&Check| {
        let name = check.to_string();
        let row = failed.rows().find(|(check, _)| **check == name);
        let fails = row.map_or(0, |(_, fails)| *fails);
        case_of("", &name, tested.saturating_sub(fails), fails)
    };
    let status_decides = !checks.is_empty() && !checks.iter().any(|check| check.is_about_status());
    let status = status_decides.then(|| case_of("", "a good status", tested, of_bad_status));
    status.into_iter().chain(checks.iter().map(case)).collect()
}

fn push_section(section: &Section, path: &str, cases: &mut Vec<Case>) {
    for CheckSummary {
        name,
        passes,
        fails,
        ..
    } in &section.checks
    {
        cases.push(case_of(path, name, *passes, *fails));
    }
    for (name, group) in &section.groups {
        push_section(group, &format!("{path}::{name}"), cases);
    }
}

fn case_of(class: &str, name: &str, passes: u64, fails: u64) -> Case {
    let of = passes + fails;
    Case {
        class: class.to_owned(),
        name: name.to_owned(),
        failure: (fails > 0).then(|| format!("{fails} of {of} failed")),
    }
}

fn timestamp(unix_ms: u64) -> String {
    let mut text = Vec::new();
    push_rfc3339(unix_ms * 1_000_000, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

//! The pages: complete, self-contained, and correct for any names in the result.

mod support;

use std::sync::Arc;

use loadline_metric::{
    Aggregated, BuiltIn, Contains, MetricDefinition, MetricType, Rate, TimeTrend,
};
use loadline_model::event::Mark;
use loadline_model::heat::Heat;
use loadline_model::observation::{ObservationLog, ObserverNote, Phases, ResourceSample, Span};
use loadline_model::plan::{ScriptBehaviour, StepsBehaviour};
use loadline_model::result::{GeneratorUse, Percentiles, Row, StopReason};
use loadline_model::rows::Rows;
use loadline_model::script_settings::ScriptSettings;
use loadline_model::tag_series::{self, TagSeries, ValueSeries};
use loadline_model::test_summary::{
    ByTag, CheckSummary, MetricSummary, Section, TestSummary, ThresholdSummary,
};
use loadline_model::{Behaviour, ErrorClass, Executor, RunResult};
use loadline_report::html::{self, Steering};
use serde_json::Value;
use support::pages::{charted, markup};

/// A hostile name for anything that a page shows.
const HOSTILE: &str = "</script><script>alert('x')</script><img src=x onerror=\"alert(1)\">";

fn nothing() -> RunResult {
    let executor = Executor::ConstantVus {
        vus: 1,
        duration: None,
    };
    support::empty(support::plan("http://h/", executor))
}

fn times(of: &[u64]) -> TimeTrend {
    let mut trend = TimeTrend::new();
    of.iter().for_each(|ns| trend.record(*ns));
    trend
}

fn metric(of: BuiltIn, values: Aggregated) -> MetricSummary {
    MetricSummary {
        definition: of.definition(),
        tags: None,
        suffix: None,
        values,
        thresholds: Vec::new(),
    }
}

/// A script's run whose every name is hostile.
fn hostile() -> RunResult {
    let mut result = support::troubled_open();
    let key = support::key(ErrorClass::Timeout, HOSTILE, HOSTILE, HOSTILE);
    support::fail(&mut result, &key, 3);
    result.labels.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    result.environment.command = vec![HOSTILE.to_owned()];
    result.environment.host = HOSTILE.to_owned();
    result.plan.scenarios[0].name = HOSTILE.to_owned();
    result.plan.scenarios[0]
        .tags
        .insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    result.verdict.headline = format!("in short: {HOSTILE}");
    result.verdict.findings[0].text = HOSTILE.to_owned();
    result.verdict.findings[0].advice = Some(HOSTILE.to_owned());
    *result.totals.seen.failed_checks.row(HOSTILE.to_owned()) += 1;
    result.events.push(Mark {
        at_ns: 1,
        kind: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
    });
    let mut failed = Rate::default();
    failed.record(true);
    let mut duration = metric(
        BuiltIn::HttpReqDuration,
        Aggregated::Times(times(&[2_000_000, 4_000_000])),
    );
    duration.thresholds.push(ThresholdSummary {
        source: Arc::from("p(95)<1"),
        observed: Some(3.9),
        passed: false,
    });
    let own = MetricSummary {
        definition: MetricDefinition {
            name: HOSTILE.into(),
            kind: MetricType::Rate,
            contains: Contains::Default,
        },
        ..metric(BuiltIn::Checks, Aggregated::Rate(failed))
    };
    let check = CheckSummary {
        name: HOSTILE.to_owned(),
        first_seen: 0,
        passes: 1,
        fails: 2,
    };
    let group = Section {
        checks: vec![check],
        ..Section::default()
    };
    result.summary = Some(TestSummary {
        duration_ns: 1_000_000_000,
        root: Section {
            metrics: vec![duration.clone(), own],
            checks: Vec::new(),
            groups: vec![(HOSTILE.to_owned(), group)],
        },
        scenarios: Vec::new(),
        by_tag: Some(ByTag {
            tag: HOSTILE.to_owned(),
            rows: vec![(HOSTILE.to_owned(), vec![duration])],
            overflowed: 1,
            failures: vec![(HOSTILE.to_owned(), vec![(HOSTILE.to_owned(), 3)])],
            over_time: None,
        }),
    });
    result
}

#[test]
fn nothing_that_a_result_holds_becomes_markup() {
    let page = html::report(&hostile());
    let shown = markup(&page);
    for piece in ["<script", "<img", "onerror=\"", "alert('x')"] {
        assert!(!shown.contains(piece), "{piece}");
    }
    let escaped = shown.matches("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;");
    assert!(escaped.count() > 20);
    // The scripts of the page: its data, the library and eight of ours.
    assert_eq!(page.matches("<script").count(), 10);
    assert_eq!(page.matches("</script>").count(), 10);
    let data = charted(&page);
    let marks = data["marks"].as_array().expect("a list");
    assert!(marks.iter().any(|mark| mark["text"] == HOSTILE));
}

/// The entries of a page's table of contents: target and text.
fn contents(page: &str) -> Vec<(&str, &str)> {
    let (_, list) = page.split_once("<nav ").expect("it has a list");
    let (list, _) = list.split_once("</nav>").expect("it ends");
    let links = list.split("<a href=\"#").skip(1);
    let parted = links.map(|link| link.split_once("\">").expect("a link has a text"));
    parted
        .map(|(id, text)| (id, text.split('<').next().unwrap_or_default()))
        .collect()
}

#[test]
fn contents_list_the_sections_that_are_shown() {
    for result in [support::clean_closed(), support::troubled_open(), hostile()] {
        let page = html::report(&result);
        let shown = markup(&page);
        let sections = shown.split("<section id=\"").skip(1);
        let sections: Vec<&str> = sections
            .filter(|section| {
                !section
                    .split('>')
                    .next()
                    .unwrap_or_default()
                    .contains("hidden")
            })
            .map(|section| section.split('"').next().unwrap_or_default())
            .collect();
        let listed = contents(&shown);
        let ids: Vec<&str> = listed.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, sections);
        for (id, name) in listed {
            assert!(!name.is_empty(), "{id}");
        }
    }
    let page = html::report(&hostile());
    assert!(contents(&page).contains(&("names", "Requests")));
    assert!(contents(&page).contains(&("charts", "Over time")));
    let live = html::live(&Steering::default(), "", None);
    assert!(!live.contains("<nav "), "a run that goes on has none yet");
}

#[test]
fn a_page_asks_nothing_of_any_other_place() {
    for page in [
        html::report(&support::clean_closed()),
        html::live(&Steering::default(), "", None),
    ] {
        let shown = markup(&page);
        for piece in ["src=", "url(", "@import", "action="] {
            assert!(!shown.contains(piece), "{piece}");
        }
        for link in shown.split("href=\"").skip(1) {
            assert!(
                link.starts_with('#') || link.starts_with("data:,"),
                "{link:.40}"
            );
        }
        assert!(
            shown.contains("default-src &#39;none&#39;") || shown.contains("default-src 'none'")
        );
    }
}

#[test]
fn the_verdict_comes_first_and_is_honest() {
    let good = html::report(&support::clean_closed());
    assert!(good.contains("class=\"verdict good\""));
    let mut crossed = support::clean_closed();
    crossed.thresholds = support::troubled_open().thresholds;
    let crossed = html::report(&crossed);
    assert!(crossed.contains("class=\"verdict alarm\""));
    assert!(crossed.contains("1 of 3 thresholds was crossed."));
    let mut stopped = support::clean_closed();
    stopped.totals.stop = StopReason::Interrupted;
    assert!(html::report(&stopped).contains("class=\"verdict caution\""));
    let troubled = markup(&html::report(&support::troubled_open()));
    let at = |piece: &str| troubled.find(piece).unwrap_or_else(|| panic!("{piece}"));
    assert!(at("class=\"headline\"") < at("class=\"figures\""));
    assert!(at("class=\"figures\"") < at("id=\"charts\""));
}

#[test]
fn what_the_headline_says_is_not_said_again() {
    let mut result = support::troubled_open();
    result.verdict.headline = result.verdict.findings[1].text.clone();
    let page = html::report(&result);
    assert_eq!(page.matches(&result.verdict.headline).count(), 1);
    assert!(page.contains("Look at the balancer"), "its advice stays");
}

#[test]
fn a_run_without_anything_has_a_page_too() {
    let page = html::report(&nothing());
    assert!(page.contains("Nothing was measured"));
    assert_eq!(charted(&page)["at"], serde_json::json!([]));
}

#[test]
fn values_are_those_of_the_result() {
    let page = markup(&html::report(&support::troubled_open()));
    for piece in [
        "<th scope=\"row\">Offered</th><td class=\"n\">1,000/s</td>",
        "<code>p(99)&lt;50ms</code></th><td class=\"n\">904 ms</td>",
        "<th scope=\"row\">timeout</th><td class=\"n\">500</td>",
        "10.0.0.3:8080",
        "GET http://shop.example:8080/predict",
        "2027-01-15 08:00:00 UTC",
    ] {
        assert!(page.contains(piece), "{piece}");
    }
    let data = charted(&html::report(&support::troubled_open()));
    assert_eq!(data["began"], 1_800_000_000_000_u64);
    let script = markup(&html::report(&hostile()));
    assert!(script.contains("p(95)&lt;1</code></th><td class=\"n\">3.90 ms</td>"));
    assert!(script.contains("1 sample with further values"));
}

#[test]
fn four_figures_lead_and_the_others_are_a_table() {
    for (result, last) in [
        (support::clean_closed(), "<dt>Virtual users</dt>"),
        (support::troubled_open(), "<dt>Load delivered</dt>"),
    ] {
        let page = markup(&html::report(&result));
        assert_eq!(page.matches("<dt>").count(), 4);
        let tiles = page.find(last).expect("the last tile");
        let table = page.find("class=\"rest\"").expect("a table of the others");
        assert!(tiles < table, "{last}");
        assert!(page.contains("<dt>Wrong or failed</dt>"));
        assert!(page.contains("<th scope=\"row\">Throughput</th>"));
    }
}

/// Two minutes of 20 iterations a second that sent a dozen requests each.
fn many_requests_an_iteration() -> RunResult {
    let mut result = support::troubled_open();
    result.plan.scenarios[0].behaviour = Behaviour::Script(ScriptBehaviour {
        exec: "default".to_owned(),
        env: std::collections::BTreeMap::new(),
    });
    result.totals.rates.offered = Some(20.0);
    result.totals.rates.started = 247.5;
    result.totals.asked = Some(2_400);
    result.totals.never_started = 0;
    result.totals.seen.counts.dropped = 24;
    result.totals.seen.warm_up.dropped = 0;
    result
}

#[test]
fn the_share_delivered_is_of_what_was_planned_in_its_own_unit() {
    let page = markup(&html::report(&many_requests_an_iteration()));
    assert!(page.contains("<dd>99.0 %</dd><dd class=\"remark\">of 20 iterations/s planned</dd>"));
    assert!(
        !page.contains("1237"),
        "requests are no share of iterations"
    );
    let mut running = many_requests_an_iteration();
    running.totals.asked = None;
    let page = markup(&html::report(&running));
    assert!(page.contains("<dt>Load delivered</dt><dd>–</dd>"));
    let mut beside = support::troubled_open();
    let mut closed = support::clean_closed().plan.scenarios;
    beside.plan.scenarios.append(&mut closed);
    beside.totals.asked = None;
    assert_eq!(
        beside.delivered_share(),
        None,
        "closed requests are not planned"
    );
}

#[test]
fn a_page_is_called_by_its_file_or_address() {
    let page = html::report(&support::troubled_open());
    assert!(page.contains("<h1>GET http://shop.example:8080/predict</h1>"));
    let mut result = many_requests_an_iteration();
    assert!(html::report(&result).contains("<h1>script function default</h1>"));
    result.plan.script = Some(Arc::new(ScriptSettings {
        script: "/home/a/shop.js".to_owned(),
        ..ScriptSettings::default()
    }));
    assert!(html::report(&result).contains("<h1>shop.js</h1>"));
    result.plan.script = None;
    result.plan.scenarios[0].behaviour = Behaviour::Steps(StepsBehaviour {
        group: 0,
        sends: true,
    });
    result.environment.command = ["loadline", "run", "plans/a&b.jmx"]
        .map(str::to_owned)
        .to_vec();
    let page = html::report(&result);
    assert!(page.contains("<h1>a&amp;b.jmx</h1>"));
    assert!(page.contains("<title>a&amp;b.jmx – loadline report</title>"));
}

fn name(number: u64) -> String {
    format!("GET https://shop.example/api/v2/products/{number}")
}

fn failures_of_name(number: u64) -> (String, Vec<(String, u64)>) {
    let reasons = ["dial: i/o timeout", "request timeout", "status 503"];
    let reasons = reasons.map(|reason| (reason.to_owned(), number));
    (name(number), reasons.to_vec())
}

/// As many rows of each name as a run keeps, with numbers of many digits.
fn course_of_names() -> TagSeries {
    let rows = tag_series::ROWS_MAX as u64;
    let column = |first: u64| (0..rows).map(|row| first + row * 1_237).collect();
    let times = |first: u64| (0..rows).map(|row| Some(first + row * 7_654_321)).collect();
    let of_name = |number: u64| ValueSeries {
        value: name(number),
        requests: column(100_000 * number),
        failed: column(number),
        p50_ns: times(123_456),
        p99_ns: times(987_654_321),
    };
    TagSeries {
        at_ns: (0..rows).map(|row| row * 900_000_000_000).collect(),
        span_ns: vec![900_000_000_000; rows as usize],
        values: (1..=500).map(of_name).collect(),
    }
}

/// A day of seconds, joined as a run joins them, of a script whose requests have as many names as a page shows.
fn long_and_wide() -> RunResult {
    let mut result = many_requests_an_iteration();
    let heats: Vec<Heat> = (0..17).map(busy_second).collect();
    let mut rows = Rows::default();
    for second in 0..86_400 {
        rows.add(busy_row(second, &heats[(second % 17) as usize]));
    }
    result.series = rows.finish();
    let of_name = |number: u64| {
        let value = name(number);
        let mut failed = Rate::default();
        failed.record_n(number, 1_234_567);
        let metrics = vec![
            metric(
                BuiltIn::HttpReqDuration,
                Aggregated::Times(times(&[number * 1_234_567])),
            ),
            metric(BuiltIn::HttpReqFailed, Aggregated::Rate(failed)),
        ];
        (value, metrics)
    };
    result.summary = Some(TestSummary {
        by_tag: Some(ByTag {
            tag: "name".to_owned(),
            rows: (1..=500).map(of_name).collect(),
            failures: (1..=500).map(failures_of_name).collect(),
            over_time: Some(course_of_names()),
            overflowed: 0,
        }),
        ..TestSummary::default()
    });
    result
}

#[test]
fn a_day_of_five_hundred_names_fits_into_a_megabyte() {
    let result = long_and_wide();
    let page = html::report(&result);
    assert!(page.len() <= 1_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("/api/v2/products/").count(), 500);
    assert_eq!(page.matches("data-why=").count(), 500);
    let course = page.split("data-course=\"").nth(1).expect("a course");
    let course = course.split('"').next().unwrap_or_default();
    let course: Vec<Vec<f64>> = serde_json::from_str(course).expect("lists of numbers");
    let told: Vec<usize> = course.iter().map(Vec::len).collect();
    assert!(
        told[0] >= 12 && told.iter().all(|rows| *rows == told[0]),
        "{told:?}"
    );
    let requests: u64 = course_of_names().values[0].requests.iter().sum();
    assert_eq!(course[0].iter().sum::<f64>(), requests as f64);
    let data = charted(&page);
    let sum = |name: &str| -> f64 {
        let column = data[name].as_array().expect("a column");
        column.iter().filter_map(Value::as_f64).sum()
    };
    let all = |of: fn(&Row) -> u64| result.series.iter().map(of).sum::<u64>() as f64;
    assert_eq!(sum("completed"), all(|row| row.completed));
    assert_eq!(sum("span"), all(|row| row.span_ns));
    let rows = data["at"].as_array().map_or(0, Vec::len);
    assert!(rows > 600, "more than a screen has columns for: {rows}");
    assert_eq!(data["heat"].as_array().map(Vec::len), Some(rows));
}

/// Times over four decades.
fn busy_second(number: u64) -> Heat {
    let spread = (0..4_000).map(|step| 80_000 + step * step * (60 + number));
    Heat::of(&times(&spread.collect::<Vec<u64>>()))
}

/// A second of a busy open model.
fn busy_row(second: u64, heat: &Heat) -> Row {
    let percentiles = Percentiles {
        p50: 212_345 + second,
        p90: 3_123_456 + second,
        p95: Some(13_123_456 + second),
        p99: 903_123_456 + second,
    };
    Row {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        offered: Some(45_000 + second),
        started: 44_900 + second,
        completed: 44_800 + second,
        good: 44_700 + second,
        failed: second % 90,
        failures: [(ErrorClass::Timeout, second % 90)].into(),
        dropped: second % 70,
        waiting: second % 1_000,
        active_vus: 1_000 + second % 100,
        bytes_sent: 4_123_456 + second,
        bytes_received: 104_123_456 + second,
        service_time_ns: Some(percentiles),
        response_time_ns: Some(percentiles),
        lag_p99_ns: Some(123_456 + second),
        heat: heat.clone(),
        generator: GeneratorUse {
            cpu_cores: 1.234,
            busiest_worker: 0.678,
            rss_bytes: 123_456_789 + second,
            ..GeneratorUse::default()
        },
        warm_up: second < 5,
    }
}

/// Ten seconds with an observer beside them.
fn observed() -> RunResult {
    let mut result = nothing();
    result.series = (0..10)
        .map(|second| Row {
            at_ns: second * 1_000_000_000,
            span_ns: 1_000_000_000,
            completed: 5,
            ..Row::default()
        })
        .collect();
    let mut log = ObservationLog::default();
    for second in -3..13_i64 {
        let busy = if (0..10).contains(&second) {
            1.25
        } else {
            0.01
        };
        for (metric, value) in [("cpu_cores", busy), ("cpu_limit_cores", 2.0)] {
            log.add(&ResourceSample {
                at_ns: second * 1_000_000_000 + 500_000_000,
                observer: Arc::from(HOSTILE),
                component: Arc::from("api-1"),
                metric: Arc::from(metric),
                value,
            });
        }
    }
    let span = |from_s: i64, to_s: i64| Span {
        from_ns: from_s * 1_000_000_000,
        to_ns: to_s * 1_000_000_000,
    };
    result.observations = log.finish(Some(Phases {
        baseline: span(-100, 0),
        warm_up: span(0, 0),
        load: span(0, 10),
        steady: span(1, 10),
        tail: span(10, 100),
    }));
    result.observations.notes.push(ObserverNote {
        at_ns: -1_500_000_000,
        observer: "api".to_owned(),
        component: "api-1".to_owned(),
        kind: "gap".to_owned(),
        text: "<b>no response</b>".to_owned(),
    });
    result
}

#[test]
fn what_was_observed_is_a_table_a_chart_and_remarks() {
    let result = observed();
    let page = html::report(&result);
    let told = markup(&page);
    for cell in [
        ">0.01 cores<",
        ">1.25 cores<",
        ">CPU limit<",
        ">−1.50 s<",
        "&lt;b&gt;no response",
    ] {
        assert!(told.contains(cell), "{cell}");
    }
    assert!(!told.contains("<img src=x"));
    let data = charted(&page);
    let lines = data["observed"]["cpu_cores"]
        .as_object()
        .expect("lines by name");
    assert_eq!(lines.len(), 2);
    let of_api = &lines[&format!("{HOSTILE} api-1")];
    assert_eq!(of_api.as_array().map(Vec::len), Some(10));
    assert_eq!(of_api[0], 1.25);
    let one = html::chart_row(&result.series[3], &result);
    let one: Value = serde_json::from_str(&one).expect("it is JSON");
    assert_eq!(
        one["observed"]["cpu_cores"][format!("{HOSTILE} api-1 limit")],
        2.0
    );
}

#[test]
fn the_terminal_report_tells_what_was_observed() {
    let style = loadline_report::Style::default();
    let text = loadline_report::text::render(&observed(), &style);
    let line = text
        .lines()
        .find(|line| line.contains("api-1") && line.contains("1.25 cores"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("0.01 cores"), "{line}");
}

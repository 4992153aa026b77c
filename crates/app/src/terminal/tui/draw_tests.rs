//! The screen for constructed runs.
//!
//! Must not know a terminal: the drawing is read from a buffer. Invariant: no size panics.

use std::sync::Arc;

use loadline_model::event::{Mark, RunEvent};
use loadline_model::result::{Environment, GeneratorUse, Percentiles, Row};
use loadline_model::{ErrorClass, Snapshot, TestPlan};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::web::state::State;

fn plan(line: &str) -> Arc<TestPlan> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Arc::new(crate::plan::tests_support::plan_of(&words))
}

/// An unfinished run of this many seconds.
fn running(line: &str, seconds: u64) -> Shown {
    let plan = plan(line);
    let mut state = State::default();
    state.take(RunEvent::Started {
        plan: Arc::clone(&plan),
        environment: Arc::new(Environment {
            cores: 2.0,
            ..Environment::default()
        }),
        started_unix_ms: 0,
    });
    for second in 0..seconds {
        let mut delta = Snapshot::default();
        let counts = &mut delta.counts;
        (counts.started, counts.completed, counts.good) = (510, 500, 490);
        counts.failed[ErrorClass::Timeout.index()] = 10;
        *delta.failed_checks.row("status=200".to_owned()) += 10;
        let times = Percentiles {
            p50: 200_000 + second * 10_000,
            p90: 900_000,
            p95: Some(1_000_000),
            p99: 12_000_000,
        };
        state.take(RunEvent::Second {
            row: Row {
                at_ns: second * 1_000_000_000,
                span_ns: 1_000_000_000,
                offered: plan.is_open().then_some(510),
                started: 510,
                completed: 500 - second,
                good: 490,
                failed: 10,
                active_vus: 8,
                service_time_ns: Some(times),
                response_time_ns: plan.is_open().then_some(times),
                lag_p99_ns: plan.is_open().then_some(150_000),
                generator: GeneratorUse {
                    cpu_cores: 0.4,
                    busiest_worker: 0.25,
                    rss_bytes: 12_000_000,
                    ..GeneratorUse::default()
                },
                ..Row::default()
            },
            delta: Arc::new(delta),
        });
    }
    let mut shown = Shown::new(&plan, false, false, false);
    shown.phase = state.phase();
    shown.result = state.result(None);
    shown
}

fn drawn(shown: &Shown, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a buffer");
    terminal
        .draw(|frame| draw(frame, shown))
        .expect("a buffer takes all");
    let buffer = terminal.backend().buffer();
    let line = |y: u16| -> String {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

const OPEN: &str =
    "loadline bench -r 510 -c 8 -z 20s --threshold p(99)<10ms --threshold goodput>100 h";

#[test]
fn a_wide_screen() {
    insta::assert_snapshot!(drawn(&running(OPEN, 12), 120, 36));
}

/// The usual terminal size has room for the most important things.
#[test]
fn thresholds_and_errors_are_seen_on_a_small_screen() {
    let mut shown = running(OPEN, 12);
    let mut result = shown.result.as_deref().cloned().expect("it runs");
    result.events.push(Mark {
        at_ns: 5_000_000_000,
        kind: "stage".to_owned(),
        text: "something happened".to_owned(),
    });
    shown.result = Some(Arc::new(result));
    let text = drawn(&shown, 80, 24);
    for wanted in [
        "✗ p(99)<10ms",
        "✓ goodput>100",
        "timeout",
        "response",
        "service",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn iterations_of_a_script_are_no_requests() {
    let mut shown = running(OPEN, 12);
    let mut plan = shown.plan.as_ref().clone();
    plan.script = Some(Arc::default());
    shown.plan = Arc::new(plan);
    let text = drawn(&shown, 120, 40);
    assert!(text.contains("iterations due 510/s"), "{text}");
    assert!(
        text.contains(" requests per second  ⠒ answered  ▄ failed ─"),
        "{text}"
    );
}

#[test]
fn the_distribution_takes_the_place_of_the_charts() {
    let mut shown = running("loadline bench -c 8 -z 20s h", 12);
    shown.body = Body::Distribution;
    assert!(drawn(&shown, 80, 24).contains("no distribution yet: too few responses"));
    let mut result = shown.result.as_deref().cloned().expect("it runs");
    let seen = &mut result.totals.seen;
    for ns in (1..500).map(|ms| ms * 100_000).chain([90_000_000]) {
        seen.answered_time.record(ns);
    }
    shown.result = Some(Arc::new(result));
    let text = drawn(&shown, 80, 24);
    assert!(text.contains("distribution of service time"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn requests_by_name_take_the_place_of_the_charts() {
    let mut shown = running("loadline bench -c 8 -z 20s h", 12);
    shown.body = Body::Names;
    assert!(drawn(&shown, 80, 24).contains("one kind of request so far"));
    let mut result = shown.result.as_deref().cloned().expect("it runs");
    for (name, answered) in [("GET http://h/a", 70), ("GET http://h/b", 30)] {
        let row = result.totals.seen.requests.row(name.to_owned());
        (row.answered, row.good, row.failed) = (answered, answered, 7);
    }
    shown.result = Some(Arc::new(result));
    for (width, heads) in [
        (60, "requests failed p99"),
        (80, "requests req/s failed p50 p99"),
        (120, "requests req/s failed p50 p99"),
    ] {
        let text = drawn(&shown, width, 24);
        assert!(text.contains("GET http://h/a"), "{text}");
        let head = text.lines().find(|line| line.contains("  requests "));
        // On a wide screen there are other things beside the table.
        let words: Vec<&str> = head.unwrap_or_default().split_whitespace().collect();
        assert!(words.join(" ").starts_with(heads), "{text}");
    }
}

/// Long names give way, so that the failures beside them and the rows' ends are visible.
#[test]
fn long_names_are_shortened_and_rows_beyond_the_limit_counted() {
    let mut line = "loadline bench -c 8 -z 20s h".to_owned();
    for percentile in 90..99 {
        line += &format!(" --threshold service_time:p({percentile})<1us");
    }
    let text = drawn(&running(&line, 12), 80, 24);
    let state = |text: &str| text.lines().nth(3).map(str::to_owned);
    let narrow = state(&text).unwrap_or_default();
    assert!(narrow.starts_with("✗ 9 of 9 thresholds failing   "));
    assert!(narrow.ends_with(": timeout"), "{text}");
    assert!(text.contains("and 7 more"), "{text}");
    let wider = state(&drawn(&running(&line, 12), 90, 24)).unwrap_or_default();
    assert!(wider.contains('…') && wider.ends_with(": timeout"));
}

#[test]
fn a_narrow_screen() {
    insta::assert_snapshot!(drawn(&running("loadline bench -c 8 -z 20s h", 12), 80, 24));
}

#[test]
fn help_lies_over_the_screen() {
    let mut shown = running(OPEN, 3);
    shown.shows_help = true;
    shown.is_stopping = true;
    let text = drawn(&shown, 100, 30);
    assert!(text.contains(" keys "), "{text}");
    assert!(
        text.contains("stopping: requests are interrupted"),
        "{text}"
    );
    assert!(text.contains("q stop at once"), "{text}");
}

#[test]
fn what_cannot_be_paused_is_told() {
    let mut shown = running(OPEN, 1);
    shown.says_no_pause = 1;
    assert!(drawn(&shown, 100, 30).contains("only externally controlled scenarios"));
}

#[test]
fn any_size_is_drawn() {
    let shown = [
        running(OPEN, 0),
        running(OPEN, 5),
        Shown::new(&plan(OPEN), true, true, true),
    ];
    for shown in &shown {
        for (width, height) in [
            (1, 1),
            (49, 40),
            (50, 14),
            (103, 15),
            (104, 14),
            (240, 80),
            (400, 20),
        ] {
            let text = drawn(shown, width, height);
            assert!(!text.trim().is_empty(), "{width} × {height}");
        }
    }
}

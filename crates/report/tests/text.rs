//! The terminal report, the verdict block and live progress, as seen by a reader.

mod support;

use std::time::Duration;

use loadline_model::result::{Percentiles, StopReason};
use loadline_model::{AgentShare, ArrivalRate, ErrorClass, Executor, RunResult};
use loadline_report::progress::{self, Progress};
use loadline_report::{Style, text, verdict};

const PLAIN: Style = Style {
    color: false,
    width: 100,
};

/// Compares with a file, which is rewritten if `UPDATE_GOLDEN` is set.
fn assert_golden(name: &str, text: &str) {
    let path = format!(
        "{}/tests/golden/loadline/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
    }
    let wanted = std::fs::read_to_string(&path).expect("the golden file is there");
    assert_eq!(
        text, wanted,
        "{name}: see the picture above, or run with UPDATE_GOLDEN=1"
    );
}

fn nothing() -> RunResult {
    let executor = Executor::ConstantVus {
        vus: 1,
        duration: None,
    };
    support::empty(support::plan("http://h/", executor))
}

#[test]
fn a_clean_closed_run() {
    assert_golden(
        "clean-closed.txt",
        &text::render(&support::clean_closed(), &PLAIN),
    );
}

#[test]
fn the_end_of_a_run_is_told_without_a_guess_at_its_iterations() {
    for (stop, line) in [
        (StopReason::ThresholdCrossed, "  stopped by a threshold"),
        (
            StopReason::ObserverLost,
            "  ended because a required observer was lost",
        ),
    ] {
        let mut result = support::clean_closed();
        result.totals.stop = stop;
        let told = text::render(&result, &PLAIN);
        assert!(told.lines().any(|told| told == line), "{told}");
    }
}

#[test]
fn a_troubled_open_run() {
    let result = support::troubled_open();
    assert_golden("troubled-open.txt", &text::render(&result, &PLAIN));
    assert_golden(
        "troubled-open-verdict.txt",
        &verdict::render(&result, &PLAIN),
    );
}

#[test]
fn several_agents_are_a_row_each() {
    let mut result = support::clean_closed();
    let agent = |name: &str, replaced, p99| AgentShare {
        name: name.to_owned(),
        replaced,
        counts: result.totals.seen.counts.clone(),
        service_time_ns: Some(Percentiles {
            p50: 212_000,
            p90: 300_000,
            p95: None,
            p99,
        }),
        cpu_ns: 1_900_000_000,
        ..AgentShare::default()
    };
    let (one, mut two) = (agent("vienna", 0, 412_000), agent("osaka", 1, 251_000_000));
    two.counts.failed[ErrorClass::Timeout.index()] = 100;
    result.agents = vec![one.clone()];
    assert!(!text::render(&result, &PLAIN).contains("vienna"));
    let other = AgentShare {
        stands_in_for: Some("graz".to_owned()),
        cpu_ns: 0,
        ..agent("vienna", 1, 412_000)
    };
    result.agents = vec![two, one, other];
    let report = text::render(&result, &PLAIN);
    let (_, table) = report.split_once("Agents").expect("there is a section");
    let (table, _) = table.split_once("\n\n").expect("another follows");
    assert_eq!(
        table,
        "   service times per agent; totals are above
  agent                  answered     per s   failed   lost      p50      p99   lag p99      CPU
  osaka (after 1 lost)    391,840   39184.0      100      0   212 µs   251 ms         -   1.90 s
  vienna                  391,840   39184.0        0      0   212 µs   412 µs         -   1.90 s
  vienna (for graz)       391,840   39184.0        0      0   212 µs   412 µs         -        -"
    );
}

#[test]
fn a_run_without_anything_has_a_report_too() {
    let mut result = nothing();
    result.totals.stop = StopReason::Aborted;
    assert_golden("nothing.txt", &text::render(&result, &PLAIN));
}

#[test]
fn goodput_comes_first_and_the_verdict_last() {
    for result in [support::clean_closed(), support::troubled_open(), nothing()] {
        let report = text::render(&result, &PLAIN);
        let at = |what: &str| {
            report
                .find(what)
                .unwrap_or_else(|| panic!("{what} in {report}"))
        };
        assert!(at("Goodput") < at("Throughput") && at("Throughput") < at("Requests\n"));
        assert!(at("Requests\n") < at("\nVerdict"));
    }
}

#[test]
fn colour_only_when_asked_and_lines_end_clean() {
    for result in [support::clean_closed(), support::troubled_open(), nothing()] {
        let plain = text::render(&result, &PLAIN);
        assert!(!plain.contains('\u{1b}'));
        assert!(plain.lines().all(|line| line == line.trim_end()));
        assert!(!plain.contains("\n\n\n"));
        let coloured = text::render(
            &result,
            &Style {
                color: true,
                width: 100,
            },
        );
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(stripped(&coloured), plain);
    }
}

fn stripped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('m').expect("a sequence ends");
        rest = &rest[at + end + 1..];
    }
    (out + rest)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

#[test]
fn lines_keep_to_the_width() {
    for width in [80, 100, 140] {
        for result in [support::clean_closed(), support::troubled_open()] {
            let report = text::render(
                &result,
                &Style {
                    color: false,
                    width,
                },
            );
            let widest = report
                .lines()
                .max_by_key(|line| line.chars().count())
                .expect("a line");
            assert!(widest.chars().count() <= width, "{width}: {widest}");
        }
    }
}

#[test]
fn a_count_that_is_not_conserved_is_told() {
    let mut result = support::clean_closed();
    assert!(!text::render(&result, &PLAIN).contains("does not add up"));
    result.totals.seen.counts.started += 1;
    assert!(text::render(&result, &PLAIN).contains("does not add up"));
}

fn open_progress(seconds: u64) -> Progress {
    let result = support::troubled_open();
    let mut progress = Progress::new(&result.plan);
    result
        .series
        .iter()
        .take(seconds as usize)
        .for_each(|row| progress.add(row));
    progress
}

#[test]
fn progress_of_an_open_run() {
    let progress = open_progress(15);
    assert_golden("progress-open.txt", &progress::block(&progress, &PLAIN));
    let usual = Style { width: 80, ..PLAIN };
    assert!(!progress::block(&progress, &usual).contains('…'), "cut off");
    assert_eq!(progress.share(), Some(0.5));
    assert_eq!(
        progress::line(&progress),
        "15s, 50 % done, 998/s, offered 1,000/s, response p50 220 µs, p99 3.90 ms, 50 VUs busy, \
         14,685 answered, 600 failed, 15 s left"
    );
}

#[test]
fn progress_of_a_counted_run_and_of_one_without_an_end() {
    let rows = support::clean_closed().series;
    let counted = Executor::SharedIterations {
        vus: 5,
        iterations: 200_000,
        max_duration: None,
    };
    let endless = Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(5),
        duration: None,
        spacing: loadline_model::executor::Spacing::Even,
        iterations: None,
        pre_allocated_vus: 1,
        max_vus: 1,
    };
    let mut progress = Progress::new(&support::plan("http://h/", counted));
    assert_eq!(
        progress::line(&progress),
        "0s, 0 % done, starting, 0 answered"
    );
    rows.iter().take(2).for_each(|row| progress.add(row));
    assert!(progress::block(&progress, &PLAIN).contains("79,151 / 200,000 requests"));
    let mut progress = Progress::new(&support::plan("http://h/", endless));
    progress.add(&rows[0]);
    assert_eq!(progress.share(), None);
    assert!(progress::block(&progress, &PLAIN).contains("1s, until stopped"));
}

#[test]
fn the_progress_block_keeps_its_height_and_width() {
    for width in [20, 34, 50, 60, 80, 120] {
        for seconds in [0, 1, 14, 30, 70] {
            let block = progress::block(
                &open_progress(seconds),
                &Style {
                    color: false,
                    width,
                },
            );
            assert_eq!(block.lines().count(), 5, "{block}");
            assert!(
                block.lines().all(|line| line.chars().count() <= width),
                "{width}\n{block}"
            );
        }
    }
}

#[test]
fn ramps_and_paces_are_described() {
    let stages = (1..=6).map(|i| loadline_model::executor::VuStage {
        duration: Duration::from_secs(30),
        target: i * 10,
    });
    let ramp = Executor::RampingVus {
        start_vus: 1,
        stages: stages.collect(),
        graceful_ramp_down: Duration::ZERO,
    };
    let mut result = support::empty(support::plan("http://h/", ramp));
    result.plan.scenarios[0].pacing = Some(Duration::from_millis(1_500));
    let report = text::render(&result, &PLAIN);
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("VUs from 1 to 10 in 30s, then 20 in 30s, then 30 in 30s, then 60 in 30s (2 stages between not shown)"), "{report}");
    assert!(flat.contains("every 1.5s"), "{report}");
}

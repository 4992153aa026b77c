//! Figures that fit and figures that do not, and some that loadline would never write.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn threshold(number: usize, passed: bool) -> ThresholdFigure {
    ThresholdFigure {
        name: format!("http_req_duration{{name:{number}}}"),
        condition: "p(95)<200".to_owned(),
        value: Some(number as f64),
        passed,
    }
}

fn figures(thresholds: usize) -> Figures {
    let mut thresholds: Vec<ThresholdFigure> = (0..thresholds)
        .map(|number| threshold(number, number % 3 > 0))
        .collect();
    thresholds.sort_by_key(|threshold| threshold.passed);
    Figures {
        requests: Some(RequestFigures {
            started: 100,
            completed: 90,
            failed: 4,
            interrupted: 3,
            lost: 3,
        }),
        iterations: Some(IterationFigures {
            planned: Some(100),
            completed: 97,
            ..IterationFigures::default()
        }),
        rate: Some(12.5),
        times: Some(TimeFigures {
            metric: "http_req_duration".to_owned(),
            count: 94,
            p95: span(12_345_678.0),
            p99: span(1.5e9),
        }),
        vus_max: Some(8),
        lost_share: 0.03,
        thresholds,
        verdict: Some("delivered, and the target had room to spare".repeat(8)),
        error: Some("thresholds on metrics 'a' have been crossed".repeat(9)),
        ..Figures::default()
    }
}

#[test]
fn spans_have_four_digits() {
    for (ns, text) in [
        (0.0, "0s"),
        (999.4, "999ns"),
        (12_345_678.0, "12.35ms"),
        (1_500_000_000.0, "1.5s"),
        (3_725_400_000_000.0, "1h2m5s"),
    ] {
        assert_eq!(span(ns), text);
    }
}

#[test]
fn what_is_written_is_read_again() {
    let written = figures(3);
    let read = Figures::read(&written.clone().within(4_096));
    assert_eq!(read, Some(written));
    assert_eq!(Figures::read("{\"loadline\":\"figures/v2\"}"), None);
    assert_eq!(Figures::read("level=error msg=\"x\""), None);
}

#[test]
fn what_held_gives_way_first_and_numbers_stay() {
    for bytes_max in [4_096, 3_072, 2_048, 1_024, 512, 400] {
        let text = figures(90).within(bytes_max);
        assert!(text.len() <= bytes_max && !text.is_empty(), "{bytes_max}");
        let read = Figures::read(&text).expect("it is whole");
        assert_eq!(read.requests, figures(0).requests);
        assert_eq!(read.thresholds.len() as u64 + read.thresholds_left_out, 90);
        if read.thresholds.len() > 30 {
            assert!(read.verdict.expect("there is room").len() > SENTENCE_SHORT);
        } else {
            assert!(read.thresholds.iter().all(|threshold| !threshold.passed));
        }
    }
    assert_eq!(figures(90).within(100), "");
}

#[test]
fn a_message_that_was_cut_is_known() {
    let text = figures(3).within(4_096);
    let cut = &text[..text.len() / 2];
    assert_eq!(Figures::read(cut), None);
    assert!(Figures::is_meant(cut) && !Figures::is_meant("time=\"x\" level=error"));
}

#[test]
fn what_others_write_is_brought_within_bounds() {
    let many: Vec<_> = (0..100)
        .map(|_| json!({"condition": "x".repeat(999)}))
        .collect();
    let hostile = json!({
        "loadline": MARK, "vusMax": u64::MAX, "thresholdsLeftOut": u64::MAX, "thresholds": many,
        "requests": {"started": u64::MAX}, "verdict": "\u{1b}[2J".repeat(999), "other": [1],
    });
    let read = Figures::read(&hostile.to_string()).expect("figures");
    assert_eq!(read.vus_max, Some(COUNT_MAX));
    assert_eq!(read.requests.expect("some").started, COUNT_MAX);
    assert_eq!(
        (read.thresholds.len(), read.thresholds_left_out),
        (64, COUNT_MAX)
    );
    assert_eq!(read.thresholds[0].condition.len(), NAME_MAX);
    let verdict = read.verdict.expect("one");
    assert!(verdict.len() <= SENTENCE_MAX && !verdict.contains('\u{1b}'));
    let wrong = json!({"loadline": MARK, "vusMax": "many"});
    assert_eq!(Figures::read(&wrong.to_string()), None);
}

proptest! {
    #[test]
    fn whatever_there_is_fits_or_is_left_out(
        texts in proptest::collection::vec(any::<String>(), 0..40),
        sentence in any::<String>(),
        bytes_max in 0_usize..5_000,
    ) {
        let written = Figures {
            thresholds: texts.iter().map(|text| ThresholdFigure {
                name: text.clone(),
                condition: text.clone(),
                ..ThresholdFigure::default()
            }).collect(),
            verdict: Some(sentence.repeat(9)),
            ..figures(0)
        };
        let text = written.within(bytes_max);
        prop_assert!(text.len() <= bytes_max);
        prop_assert!(text.is_empty() || Figures::read(&text).is_some());
    }
}

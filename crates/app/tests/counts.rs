//! Results of command lines that can be counted: connections, seconds, the warm-up, sampled bodies.
//!
//! Must not know layout. Invariant: no assertion depends on the speed of this machine.

use std::sync::{Arc, mpsc};

use loadline_app::cli::{self, Command};
use loadline_app::{Env, Files, plan};
use loadline_model::RunResult;
use loadline_model::sample::Sample;
use loadline_target::TargetConfig;

/// The result of a `bench` command line against its own target, whose URL replaces `@`.
fn result_of(line: &str) -> RunResult {
    run_of(line, None)
}

fn run_of(line: &str, samples: Option<mpsc::SyncSender<Vec<Sample>>>) -> RunResult {
    let target = loadline_target::serve(TargetConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        ..TargetConfig::default()
    })
    .expect("the target starts");
    let line = format!("loadline bench {line}").replace('@', &target.local_addr().to_string());
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let Command::Bench(args) = cli::parse(&words).expect("a good line").command else {
        panic!("{line}: not a bench");
    };
    let plan = plan::bench(&args, &Env::default(), &Files::Disk, 7).expect("a good plan");
    let (_orders, commands) = mpsc::channel();
    let setup = loadline_run::RunSetup {
        samples,
        ..loadline_run::RunSetup::new(commands, words)
    };
    let ran = loadline_run::run(Arc::new(plan), setup, &mut |_| {}).expect("it runs");
    target.stop();
    target.join();
    ran.result
}

#[test]
fn connections_are_as_many_as_were_asked_for() {
    for (line, connections) in [
        ("-c 1 -n 60 --h2c --streams 10 @/ok", 1),
        ("-c 2 -n 20 --h2c --no-keepalive @/ok", 20),
        ("-c 2 -n 20 --no-keepalive @/ok", 20),
        ("-c 1 -n 20 --max-requests-per-connection 5 @/ok", 4),
    ] {
        let result = result_of(line);
        assert_eq!(
            result.totals.seen.counts.good,
            result.totals.asked.unwrap_or(0)
        );
        assert_eq!(result.totals.seen.connections.opened, connections, "{line}");
    }
}

#[test]
fn each_second_has_one_row_and_rows_sum_to_the_whole() {
    let result = result_of("-c 4 --workers 2 -z 2s --pacing 1ms @/ok");
    let mut at = 0;
    for row in &result.series {
        assert_eq!(row.at_ns, at);
        at += row.span_ns;
    }
    assert!(at >= result.totals.elapsed_ns);
    let sum: u64 = result.series.iter().map(|row| row.completed).sum();
    assert_eq!(sum, result.totals.seen.counts.completed);
    for pair in result.series.windows(2) {
        assert!(pair[1].span_ns * 10 >= pair[0].span_ns, "{pair:?}");
    }
}

#[test]
fn the_bytes_of_all_requests_are_those_that_were_sent() {
    for line in [
        "-c 2 -n 20 -m POST -b hello @/ok",
        "-c 1 -n 4 --no-keepalive @/redirect/2 --max-redirects 5",
    ] {
        let (sender, samples) = mpsc::sync_channel(64);
        let result = run_of(line, Some(sender));
        let sent: u64 = samples
            .iter()
            .flatten()
            .map(|sample| sample.sent_bytes)
            .sum();
        assert!(sent > 0);
        assert_eq!(sent, result.totals.seen.counts.bytes_sent, "{line}");
    }
}

#[test]
fn the_bytes_of_the_warm_up_do_not_count() {
    let result = result_of("-c 2 -z 600ms --warm-up 300ms --pacing 1ms @/ok");
    let seen = &result.totals.seen;
    let (warm_up, counts) = (&seen.warm_up, &seen.counts);
    let bytes = warm_up.bytes_received + counts.bytes_received;
    let each = bytes as f64 / (warm_up.completed + counts.completed) as f64;
    // At the boundary each connection's response may be counted on one side and its bytes on the other.
    let expected = each * counts.completed as f64;
    let off = (counts.bytes_received as f64 - expected).abs();
    assert!(off <= 2.5 * each, "{off} bytes of {expected}");
}

#[test]
fn a_count_of_arrivals_is_offered_at_the_rate_asked_for() {
    let result = result_of("-n 30 -r 100 -c 5 @/ok");
    assert!(result.totals.elapsed_ns >= 300_000_000);
    let offered = result.totals.rates.offered.expect("an open model");
    assert!(offered <= 100.0, "{offered}");
}

#[test]
fn waiting_for_a_slow_target_does_not_make_the_load_smaller() {
    let result = result_of("-r 20 -z 500ms -c 1 --max-vus 1 --graceful-stop 600ms @/delay/0.3");
    let (totals, rates) = (&result.totals, &result.totals.rates);
    assert!(totals.elapsed_ns > 600_000_000);
    assert_eq!(rates.offered, Some(20.0));
    assert_eq!(rates.started, totals.seen.counts.started as f64 * 2.0);
}

#[test]
fn what_is_sent_after_the_schedule_is_not_of_its_rate() {
    let line = "-r 200 -z 1s -c 1 --max-vus 1 @/delay/0.02";
    let result = result_of(line);
    let (totals, rates) = (&result.totals, &result.totals.rates);
    assert_eq!(totals.seen.counts.started, 200);
    assert_eq!(rates.offered, Some(200.0));
    // One virtual user gets fifty responses per second.
    assert!(rates.started < 60.0, "{rates:?}");
    let share = result.delivered_share().expect("an open model");
    assert!(share < 0.3, "{share}");
}

#[test]
fn one_virtual_user_is_enough_to_see_that_all_bodies_are_the_same() {
    let result = result_of("-n 5 -c 1 -b {} @/predict?nulls=1");
    let codes: Vec<&str> = result
        .verdict
        .findings
        .iter()
        .map(|f| f.code.as_str())
        .collect();
    assert!(codes.contains(&"hollow-answers"), "{codes:?}");
}

#[test]
fn answers_without_the_header_asked_for_have_a_row_too() {
    let result = result_of("-n 5 -c 1 --by header:x-none @/ok");
    let rows: Vec<(&str, u64)> = result
        .totals
        .seen
        .by_header
        .rows()
        .map(|(value, tally)| (value.as_str(), tally.answered))
        .collect();
    assert_eq!(rows, [("", 5)]);
}

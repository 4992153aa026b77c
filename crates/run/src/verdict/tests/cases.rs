//! Published runs that were misinterpreted, with the numbers of their documents.

use std::time::Duration;

use loadline_model::error_class::ErrorClass;
use loadline_model::executor::Executor;
use loadline_model::verdict::{Delivery, Gravity, Limit};

use super::builder::{Run, arrivals, codes, found, percentiles, shared};
use crate::verdict::Code;

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// Response times as rows of a histogram: number, and middle of the row in nanoseconds.
fn rows(run: &mut Run, rows: &[(u64, u64)]) {
    let all: u64 = rows.iter().map(|(n, _)| n).sum();
    let shares: Vec<(f64, u64)> = rows
        .iter()
        .map(|(n, ns)| (*n as f64 / all as f64, *ns))
        .collect();
    run.answer(all, &shares);
}

/// `hey -q 50 -z 5m`, 50 workers: 50 × 50/s planned, 17.7/s delivered at 2.8 s mean.
#[test]
fn fifty_by_fifty_asked_and_seventeen_delivered_is_the_targets_ceiling() {
    let mut run = Run::new(arrivals(2_500, 300, 50), 302.776_7, 5_361, 2_811.2);
    rows(
        &mut run,
        &[
            (1, 298 * MS),
            (25, 1_200 * MS),
            (437, 2_280 * MS),
            (3_762, 2_720 * MS),
            (839, 3_160 * MS),
            (165, 3_600 * MS),
            (64, 4_050 * MS),
            (68, 4_500 * MS),
        ],
    );
    run.totals.asked = Some(750_000);
    run.totals.never_started = 744_639;
    run.totals.active_vus_max = 50;
    run.seconds(302, |_, row| {
        row.offered = Some(2_500);
        (row.started, row.completed, row.good) = (18, 18, 18);
        row.service_time_ns = percentiles(2_730.0, 4_333.0);
    });
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Target)
    );
    assert_eq!(
        verdict.headline,
        "asked for 2,500/s, got 17.7/s good responses: the target was the limit (50 VUs / 2.81 s = 17.8/s)"
    );
    let missed = found(&verdict, Code::OfferedLoadMissed).expect("told");
    assert_eq!(missed.gravity, Gravity::Alarm);
    assert!(
        missed
            .text
            .contains("asked for 750,000 requests (2,500/s), sent 5,361 in time (0.7 %)"),
        "{}",
        missed.text
    );
    let ceiling = found(&verdict, Code::TargetCeiling).expect("told");
    assert!(
        ceiling
            .text
            .contains("17.7/s was reached: the service time is the ceiling"),
        "{}",
        ceiling.text
    );
    assert_eq!(
        ceiling.advice.as_deref(),
        Some("2,500/s needs responses 141 times as fast: more connections would only wait longer")
    );
}

/// The same after scaling to three replicas, celebrated as "throughput increased to 56.57".
#[test]
fn most_requests_never_answered_is_no_improvement() {
    let mut run = Run::new(arrivals(2_500, 300, 50), 300.784_3, 1_800, 2_248.3);
    rows(
        &mut run,
        &[
            (841, 500 * MS),
            (255, 1_650 * MS),
            (142, 2_700 * MS),
            (184, 3_760 * MS),
            (165, 4_800 * MS),
            (117, 5_870 * MS),
            (59, 6_900 * MS),
            (37, 8_200 * MS),
        ],
    );
    run.fail(ErrorClass::Closed, 15_217, 720 * MS);
    run.totals.asked = Some(750_000);
    run.totals.never_started = 750_000 - 17_017;
    run.totals.active_vus_max = 50;
    run.series.clear();
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Target)
    );
    assert_eq!(
        verdict.headline,
        "of 17,017 requests sent, 1,800 (10.6 %) got a response, goodput 5.98/s, most failures: closed"
    );
    assert_eq!(verdict.findings[0].code, Code::MostUnanswered.name());
    let text = &verdict.findings[0].text;
    assert!(
        text.ends_with("do not count the others (50.6/s) as throughput"),
        "{text}"
    );
    assert_eq!(verdict.findings[0].gravity, Gravity::Alarm);
}

/// A whole test with "200 OK" in which every response was the same 44 bytes of nulls.
#[test]
fn the_same_bytes_of_nulls_fifty_thousand_times_are_not_goodput() {
    let mut run = Run::new(arrivals(2_000, 300, 20), 300.154_8, 50_398, 118.6);
    rows(
        &mut run,
        &[
            (1, 6_200_000),
            (5_000, 25 * MS),
            (20_000, 60 * MS),
            (20_000, 100 * MS),
            (4_900, 190 * MS),
            (497, 3 * S),
        ],
    );
    run.fail(ErrorClass::Closed, 7, 10 * MS);
    run.totals.asked = Some(600_000);
    run.totals.never_started = 549_595;
    run.totals.active_vus_max = 20;
    let nulls = "{\"categories\":null,\"scores\":null,\"ids\":null}\n";
    assert_eq!(nulls.trim_end().len(), 44);
    run.bodies(&[nulls.trim_end(); 5]);
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Target)
    );
    assert!(
        verdict.headline.starts_with(
            "all 5 sampled bodies were the same 44 bytes without content (50,398 responses with status 200)"
        ),
        "{}",
        verdict.headline
    );
    let hollow = found(&verdict, Code::HollowAnswers).expect("told");
    assert_eq!(hollow.gravity, Gravity::Alarm);
}

/// A hundred thousand requests over a distance: 76 ms each, of which 75 ms is the network.
#[test]
fn a_far_away_generator_measures_the_way() {
    let mut run = Run::new(shared(125, 100_000), 60.9, 100_000, 76.15);
    for _ in 0..125 {
        run.totals.seen.connections.min_rtt.record(74 * MS);
    }
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::Delivered, Limit::Network)
    );
    assert_eq!(codes(&verdict), ["network-bound"]);
}

/// A hundred thousand requests in 0.4 s.
#[test]
fn less_than_half_a_second_is_too_short() {
    let mut run = Run::new(shared(125, 100_000), 0.400_7, 100_000, 0.426_45);
    let verdict = run.judge();
    assert_eq!(codes(&verdict), ["too-short"]);
    assert!(
        verdict.findings[0]
            .text
            .contains("100,000 requests in 401 ms"),
        "{}",
        verdict.findings[0].text
    );
    assert_eq!(verdict.rate_error, None);
    // All of them were sent: it did not end before its time.
    let mut few = shared(125, 100_000);
    if let Executor::SharedIterations { max_duration, .. } = &mut few {
        *max_duration = Some(Duration::from_secs(600));
    }
    let verdict = Run::new(few, 0.400_7, 100_000, 0.426_45).judge();
    assert_eq!(
        verdict.findings[0].advice.as_deref(),
        Some("plan enough requests for 30 s or more")
    );
}

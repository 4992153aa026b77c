//! Paths that become longer, hold packets back or reorder them, and pauses of a load that was carried.
//!
//! Must not know thresholds of the verdict. Invariant: what a target may cause as well is not blamed on the network alone.

use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::verdict::Limit;

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles, rate_ramp};
use crate::verdict::Code;

/// Connections to another machine: smallest and smoothed round trips in milliseconds.
fn connect(run: &mut Run, smallest_ms: f64, smoothed_ms: &[f64]) {
    let ns = |ms: f64| (ms * MS as f64) as u64;
    let seen = &mut run.totals.seen;
    seen.peers.row("10.0.0.2:80".to_owned()).answered = seen.counts.completed;
    seen.connections.opened = smoothed_ms.len() as u64;
    for smoothed in smoothed_ms {
        seen.connections.connect.record(ns(smallest_ms));
        seen.connections.min_rtt.record(ns(smallest_ms));
        seen.connections.rtt.record(ns(*smoothed));
    }
}

/// A route of 80 ms in the place of a short one: nearly all requests came before it, most of the users' time after it.
#[test]
fn a_path_that_becomes_longer_takes_the_users_time_not_the_requests() {
    for (smoothed_ms, limit) in [(80.5, Limit::Network), (41.0, Limit::Target)] {
        let mut run = Run::new(constant_vus(10, 8), 8.0, 30_500, 2.6);
        run.answer(30_500, &[(0.982, MS), (0.018, 81 * MS)]);
        connect(&mut run, 0.02, &[smoothed_ms; 10]);
        for (second, row) in run.series.iter_mut().enumerate() {
            row.active_vus = 10;
            let (each, ms) = if second < 4 {
                (7_500, 1.0)
            } else {
                (125, 81.0)
            };
            (row.started, row.completed, row.good) = (each, each, each);
            row.service_time_ns = percentiles(ms + second as f64 / 100.0, ms + 1.0);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::NetworkBound).map(|it| it.text.as_str());
        let text = "the round trip grew from 20 µs to 80.5 ms";
        assert_eq!(told, (limit == Limit::Network).then_some(text));
        // That the seconds before and after it rose as well is chance.
        let slowing = found(&verdict, Code::Slowing).expect("it is told");
        let words = "responses took longer from second 4 on";
        assert!(slowing.text.starts_with(words), "{}", slowing.text);
    }
}

/// Acknowledgments that are delayed come with the responses of a target that takes 37 ms; packets in a queue of 37 ms look
/// the same. Nearby there is no such queue, connections that share one have the same round trips, and the first request meets
/// none.
#[test]
fn a_round_trip_as_long_as_a_response_is_the_targets_or_a_queues() {
    for (smallest_ms, smoothed_ms, fastest_ms, limit) in [
        (3.0, [36.5, 37.0], 12, Limit::Unknown),
        (0.3, [36.5, 37.0], 12, Limit::Target),
        (3.0, [12.0, 37.0], 12, Limit::Target),
        (3.0, [36.5, 37.0], 33, Limit::Target),
    ] {
        let mut run = Run::new(constant_vus(50, 8), 8.0, 10_600, 37.5);
        let waiting = &mut run.totals.seen.phases.waiting;
        waiting.record(fastest_ms * MS);
        (0..1_000).for_each(|_| waiting.record(37 * MS));
        connect(&mut run, smallest_ms, &smoothed_ms.repeat(25));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let shared = found(&verdict, Code::SharedLimit);
        if limit == Limit::Unknown {
            let words = "the limit is unknown (the target, or a queue on the path to it)";
            assert!(verdict.headline.ends_with(words), "{}", verdict.headline);
            let text = &shared.expect("the parts are told").text;
            assert!(
                text.contains("in the target, or in a queue on the way to it (92.0 %)"),
                "{text}"
            );
        }
    }
}

/// Every other second of a rising load ends with packets held for more than half a second: by the path, whose round trip
/// shows it, or by a target that hangs.
#[test]
fn pauses_of_a_rising_load_count_if_they_are_long() {
    for (smoothed_ms, held_ms, limit) in [
        (67.0, 600, Limit::Network),
        (3.0, 600, Limit::Target),
        (3.0, 300, Limit::Nobody),
    ] {
        let mut run = Run::new(rate_ramp(300, 9, 200), 9.0, 1_350, 3.0);
        run.answer(
            1_350,
            &[(0.85, 3 * MS), (0.08, 100 * MS), (0.07, held_ms * MS)],
        );
        connect(&mut run, 2.0, &[smoothed_ms; 100]);
        for (second, row) in run.series.iter_mut().enumerate() {
            let worst = if second % 2 == 1 { held_ms as f64 } else { 4.0 };
            row.service_time_ns = percentiles(3.0, worst);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let pauses = found(&verdict, Code::Pauses);
        let advice = pauses.map(|it| it.advice.clone().unwrap_or_default());
        let (headline, words) = match limit {
            Limit::Network => (
                "but the network stalled: ",
                "packets waited on the network path",
            ),
            Limit::Target => ("but responses stalled: ", "look for what stops the target"),
            _ => ("delivered: ", ""),
        };
        assert!(verdict.headline.contains(headline), "{}", verdict.headline);
        assert_eq!(advice.is_some(), limit != Limit::Nobody);
        assert!(advice.is_none_or(|it| it.starts_with(words)));
    }
}

/// A target that is stopped once for a second.
#[test]
fn one_pause_counts_if_one_in_twenty_waited_half_a_second() {
    for (part, second, limit) in [
        (0.1, 3, Limit::Target),
        (0.02, 3, Limit::Nobody),
        // A start is not a pause.
        (0.1, 0, Limit::Nobody),
    ] {
        let mut run = Run::new(arrivals(200, 8, 400), 8.0, 1_600, 3.0);
        run.answer(1_600, &[(1.0 - part, 3 * MS), (part, 800 * MS)]);
        run.series[second].service_time_ns = percentiles(3.0, 1_000.0);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::Pauses).map(|it| it.text.as_str());
        let text = "in 1 of 8 seconds responses stalled for up to 1 s; the median was 3.00 ms";
        assert_eq!(told, (limit == Limit::Target).then_some(text));
    }
}

/// A target that is stopped for the first half of each second, whose end is a calm one or in the middle of a pause.
#[test]
fn pauses_in_step_with_the_seconds_show_in_what_is_in_flight() {
    for (in_flight, limit) in [
        ([2, 2, 48, 48], Limit::Target),
        ([13, 15, 9, 17], Limit::Nobody),
    ] {
        let mut run = Run::new(arrivals(100, 8, 300), 8.0, 800, 23.0);
        let times = [(0.6, 15 * MS), (0.2, 230 * MS), (0.2, 450 * MS)];
        run.answer(800, &times);
        let mut each = TimeTrend::default();
        times
            .iter()
            .for_each(|(part, ns)| each.record_n(*ns, (part * 100.0) as u64));
        for (second, row) in run.series.iter_mut().enumerate() {
            row.heat = Heat::of(&each);
            row.active_vus = in_flight[second / 2];
            row.service_time_ns = percentiles(23.0, 520.0);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        assert_eq!(
            found(&verdict, Code::Pauses).is_some(),
            limit == Limit::Target
        );
    }
}

/// A link that loses four of five packets carries nothing.
#[test]
fn most_packets_out_of_order_were_overtaken_not_lost() {
    for (out_of_order, words) in [
        (
            6_000,
            "parts of responses overtook others (60.0 TCP segments per response",
        ),
        (
            1_500,
            "parts of responses were lost and retransmitted, or overtaken (15.0 TCP",
        ),
    ] {
        let mut run = Run::new(constant_vus(5, 10), 10.0, 100, 500.0);
        connect(&mut run, 10.0, &[12.0; 5]);
        let seen = &mut run.totals.seen;
        seen.counts.body_bytes = 100 * 76 * 1_448;
        seen.connections.out_of_order = out_of_order;
        (0..100).for_each(|_| seen.phases.receiving.record(400 * MS));
        let verdict = run.judge();
        let told = &found(&verdict, Code::AnswersLost).expect("it is told").text;
        assert!(told.starts_with(words), "{told}");
        assert_eq!(verdict.limit, Limit::Network);
    }
}

/// A generator that has the machine for itself in one second gets far more responses in it.
#[test]
fn the_usual_rate_beside_an_outage_is_not_that_of_the_best_second() {
    let mut run = Run::new(constant_vus(10, 10), 10.0, 12_000, 5.0);
    let good = [1_180, 1_470, 1_420, 0, 0, 0, 930, 1_360, 1_410, 3_800];
    for (row, good) in run.series.iter_mut().zip(good) {
        row.active_vus = 10;
        (row.started, row.completed, row.good) = (good, good, good);
    }
    let verdict = run.judge();
    let outage = &found(&verdict, Code::OutageSeen).expect("it is told").text;
    let words = "for 3 s from 3 s on, goodput fell below 10.0 % of its usual 1,410/s";
    assert!(outage.starts_with(words), "{outage}");
}

/// Round trips bound virtual users, whatever the path could carry.
#[test]
fn users_that_wait_for_round_trips_are_bound_by_their_number() {
    for (smoothed_ms, words) in [
        (
            50.5,
            "157/s good responses: a round trip of 50 ms bounds 8 VUs to 160/s; more would get more",
        ),
        // Packets queue: more users would only lengthen the queue.
        (
            190.0,
            "157/s good responses, as fast as the network let 8 VUs go",
        ),
    ] {
        let mut run = Run::new(constant_vus(8, 20), 20.0, 3_140, 51.0);
        connect(&mut run, 50.0, &[smoothed_ms; 8]);
        run.totals.active_vus_max = 8;
        run.series.iter_mut().for_each(|row| row.active_vus = 8);
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Network, "{}", verdict.headline);
        assert_eq!(verdict.headline, words);
    }
}

/// Of 20 requests in a pause of 300 ms, the first waits for all of it; a percentile of the second shows less.
#[test]
fn a_pause_is_as_long_as_the_longest_wait_in_it() {
    let mut run = Run::new(constant_vus(20, 12), 12.0, 12_000, 5.0);
    run.answer(
        12_000,
        &[(0.98, 5 * MS), (0.015, 150 * MS), (0.005, 300 * MS)],
    );
    for (second, row) in run.series.iter_mut().enumerate() {
        let mut times = TimeTrend::default();
        times.record_n(5 * MS, 980);
        row.service_time_ns = percentiles(5.0, 6.0);
        if second % 3 == 1 {
            times.record_n(150 * MS, 15);
            times.record_n(300 * MS, 5);
            row.service_time_ns = percentiles(5.0, 150.0);
        }
        row.heat = Heat::of(&times);
        row.active_vus = 20;
    }
    let verdict = run.judge();
    let pauses = &found(&verdict, Code::Pauses).expect("they are told").text;
    let words = "responses stalled for up to 29";
    assert!(
        pauses.contains(words) || pauses.contains("for up to 300 ms"),
        "{pauses}"
    );
    assert!(pauses.contains("about every 3 s"), "{pauses}");
}

//! Losses and delays on the network path, and what only looks like them.
//!
//! Invariant: what a target does not accept by itself is not blamed on the network.

use std::sync::Arc;

use loadline_model::client::Protocol;
use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::Limit;

use super::builder::{Run, arrivals, constant_vus, found, percentiles};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// Users of a service that is 4 ms away, with a new connection per response.
fn far(answers: u64, connect: &[(u64, u64)], waiting_ms: u64) -> Run {
    let mut run = Run::new(constant_vus(12, 10), 10.0, answers, 700.0);
    let seen = &mut run.totals.seen;
    seen.connections.opened = answers;
    for (ns, count) in connect {
        (0..*count).for_each(|_| seen.connections.connect.record(*ns));
    }
    for _ in 0..answers {
        seen.connections.min_rtt.record(4 * MS);
        seen.connections.rtt.record(4 * MS);
        seen.phases.waiting.record(waiting_ms * MS);
    }
    seen.phases.waiting.record(7 * MS);
    run
}

#[test]
fn syns_that_are_lost_are_the_networks_unless_the_accepted_wait_too() {
    let connect = [(4 * MS, 100), (1_004 * MS, 50), (3_004 * MS, 20)];
    for (waiting_ms, limit) in [(8, Limit::Network), (200, Limit::Target)] {
        let mut run = far(170, &connect, waiting_ms);
        run.answer(170, &[(0.6, 12 * MS), (0.3, 1_012 * MS), (0.1, 3_012 * MS)]);
        run.totals.seen.counts.started = 170;
        run.totals.seen.connections.retransmits = 90;
        // Connections that were never made were lost as well.
        run.fail(ErrorClass::ConnectTimeout, 12, 7_000 * MS);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        assert!(found(&verdict, Code::SlowConnects).is_some());
        // Nothing was retransmitted: the generator was late.
        run.totals.seen.connections.retransmits = 0;
        assert!(found(&run.judge(), Code::SlowConnects).is_none());
    }
}

#[test]
fn what_nobody_acknowledged_on_a_new_connection_is_told_with_both_suspects() {
    for (untaken, limit) in [(28, Limit::Unknown), (30, Limit::Network)] {
        let mut run = far(0, &[(4 * MS, 30)], 8);
        run.fail(ErrorClass::Timeout, 30, 4_000 * MS);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 30;
        connections.untaken = untaken;
        (0..30).for_each(|_| connections.min_rtt.record(10 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        assert!(found(&verdict, Code::Unacknowledged).is_some());
    }
}

#[test]
fn answers_of_which_only_later_parts_came_are_lost_on_the_way() {
    let mut run = far(40, &[(10 * MS, 40)], 2);
    run.fail(ErrorClass::Timeout, 40, 2_000 * MS);
    let connections = &mut run.totals.seen.connections;
    (0..40).for_each(|_| connections.min_rtt.record(10 * MS));
    connections.gapped = 39;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Network, "{}", verdict.headline);
    assert!(found(&verdict, Code::AnswersLost).is_some());
}

/// A link that drops what it cannot carry at once: the target retransmits, and nothing from this side is lost.
#[test]
fn answers_that_wait_for_parts_that_were_lost_are_held_up_by_the_network() {
    for (out_of_order, limit) in [(160, Limit::Network), (4, Limit::Target)] {
        let mut run = Run::new(constant_vus(8, 10), 10.0, 130, 615.0);
        let seen = &mut run.totals.seen;
        (0..130).for_each(|_| seen.phases.receiving.record(540 * MS));
        seen.connections.opened = 8;
        (0..8).for_each(|_| seen.connections.min_rtt.record(5_000));
        seen.connections.out_of_order = out_of_order;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::AnswersLost).is_some();
        assert_eq!(told, limit == Limit::Network);
    }
}

/// If a response of one packet is lost, nothing follows: it is late by the target's retransmission timeout.
#[test]
fn answers_that_are_late_by_a_retransmission_were_lost() {
    for (late_ms, limit) in [(211, Limit::Network), (400, Limit::Target)] {
        let mut run = Run::new(constant_vus(6, 10), 10.0, 1_900, 32.0);
        run.answer(1_900, &[(0.9, 6 * MS), (0.1, late_ms * MS)]);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 6;
        (0..6).for_each(|_| connections.min_rtt.record(2 * MS));
        connections.retransmits = 50;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// The smallest round trip of a connection says little about a path with varying delay.
#[test]
fn a_way_whose_delay_varies_is_as_long_as_it_usually_is() {
    for (connect_ms, rtt_ms, limit) in [(60, 62, Limit::Network), (16, 40, Limit::Target)] {
        let mut run = Run::new(constant_vus(12, 10), 10.0, 1_875, 64.0);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 8;
        for _ in 0..8 {
            connections.connect.record(connect_ms * MS);
            connections.min_rtt.record(16 * MS);
            connections.rtt.record(rtt_ms * MS);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn a_way_that_grew_longer_is_told() {
    for (rtt_ms, told) in [
        (245, Some("the round trip grew from 11 ms to 245 ms")),
        (12, None),
    ] {
        let mut run = Run::new(constant_vus(8, 10), 10.0, 1_000, 75.0);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 8;
        for _ in 0..8 {
            connections.min_rtt.record(11 * MS);
            connections.rtt.record(rtt_ms * MS);
        }
        let verdict = run.judge();
        let finding = found(&verdict, Code::NetworkBound).map(|finding| finding.text.as_str());
        assert_eq!(finding, told);
    }
}

/// Without queueing, a long path or a slow sender delays them; on a short path it is the sender.
#[test]
fn acknowledgments_that_queue_hold_large_answers_up() {
    for (least_ns, rtt_ns, limit) in [
        (10 * MS, 440 * MS, Limit::Network),
        (10 * MS, 12 * MS, Limit::Unknown),
        (5_000, 200_000, Limit::Target),
    ] {
        let mut run = Run::new(constant_vus(6, 10), 10.0, 60, 988.0);
        let seen = &mut run.totals.seen;
        seen.counts.body_bytes = 60 * 60_000;
        for _ in 0..6 {
            seen.connections.min_rtt.record(least_ns);
            seen.connections.rtt.record(rtt_ns);
        }
        (0..60).for_each(|_| seen.phases.receiving.record(500 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A client that would use HTTP/2, and some retransmits: they delay all streams of their connections.
#[test]
fn a_lost_segment_holds_up_the_streams_of_its_connection() {
    for (http2, limit) in [(0, Limit::Target), (20, Limit::Network)] {
        let mut run = Run::new(constant_vus(20, 10), 10.0, 1_300, 130.0);
        run.answer(1_300, &[(0.98, 10 * MS), (0.02, 6_000 * MS)]);
        run.plan.client.protocol = Protocol::Negotiate { streams: 100 };
        let connections = &mut run.totals.seen.connections;
        (connections.opened, connections.http2) = (20, http2);
        connections.retransmits = 40;
        (0..20).for_each(|_| connections.min_rtt.record(50_000));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Two connections of ten streams on a link that loses some parts of responses: the others wait behind them.
#[test]
fn streams_that_wait_for_lost_parts_of_others_wait_on_the_way() {
    for (out_of_order, limit) in [(4_000, Limit::Network), (0, Limit::Target)] {
        let mut run = Run::new(constant_vus(20, 9), 9.0, 280, 630.0);
        run.plan.client.protocol = Protocol::Negotiate { streams: 10 };
        let seen = &mut run.totals.seen;
        (seen.connections.opened, seen.connections.http2) = (2, 2);
        seen.connections.out_of_order = out_of_order;
        (0..2).for_each(|_| seen.connections.min_rtt.record(20 * MS));
        seen.phases.waiting.record(25 * MS);
        (0..280).for_each(|_| seen.phases.waiting.record(430 * MS));
        (0..280).for_each(|_| seen.phases.receiving.record(180 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A link that drops everything for seconds, and a target that hangs: it acknowledges what it does not answer.
#[test]
fn responses_that_are_late_by_an_outage_are_late_on_the_way() {
    for (retransmits, limit) in [(400, Limit::Network), (12, Limit::Target)] {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 800, 80.0);
        run.answer(800, &[(0.8, 100 * MS), (0.2, 1_100 * MS)]);
        let connections = &mut run.totals.seen.connections;
        (connections.opened, connections.retransmits) = (10, retransmits);
        (0..10).for_each(|_| connections.min_rtt.record(10 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A firewall that only lets few connections pass: SYNs are retransmitted for seconds, and accepted connections
/// get fast responses.
#[test]
fn connections_that_are_let_in_late_and_answered_soon_were_kept_on_the_way() {
    for (waiting_ms, limit) in [(25, Limit::Network), (800, Limit::Target)] {
        let mut run = Run::new(arrivals(200, 10, 50), 10.0, 500, 900.0);
        run.totals.asked = Some(2_000);
        run.totals.never_started = 1_500;
        run.totals.active_vus_max = 50;
        let seen = &mut run.totals.seen;
        seen.connections.opened = 250;
        for _ in 0..250 {
            seen.connections.connect.record(3_000 * MS);
            seen.connections.min_rtt.record(10 * MS);
        }
        seen.phases.waiting.record(10 * MS);
        (1..500).for_each(|_| seen.phases.waiting.record(waiting_ms * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// 200 kB in four seconds over a round trip of 10 ms, a few hundred bytes per round trip: no window is that
/// small.
#[test]
fn a_target_that_sends_slowly_waits_for_no_window() {
    for (fastest_ms, rtt_ms, limit) in [
        (3_900, 11, Limit::Target),
        (400, 11, Limit::Unknown),
        (3_900, 15, Limit::Unknown),
    ] {
        let mut run = Run::new(constant_vus(15, 12), 12.0, 45, 4_000.0);
        let seen = &mut run.totals.seen;
        // A script that discards bodies does not count their bytes.
        seen.counts.bytes_received = 45 * 200_000;
        seen.connections.opened = 15;
        for _ in 0..15 {
            seen.connections.min_rtt.record(10 * MS);
            seen.connections.rtt.record(rtt_ms * MS);
        }
        seen.phases.receiving.record(fastest_ms * MS);
        (1..45).for_each(|_| seen.phases.receiving.record(4_000 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Bodies that fit the initial window and are unacknowledged most of the time, before a full link.
#[test]
fn small_uploads_queue_too() {
    for (in_flight_ms, limit) in [(62_000, Limit::Network), (6_000, Limit::Target)] {
        let mut run = Run::new(constant_vus(8, 8), 8.0, 99, 660.0);
        let seen = &mut run.totals.seen;
        seen.counts.bytes_sent = 99 * 10_000;
        seen.connections.opened = 8;
        for _ in 0..8 {
            seen.connections.min_rtt.record(31 * MS);
            seen.connections.rtt.record(126 * MS);
        }
        seen.connections.in_flight_ns = in_flight_ms * MS;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn uploads_are_on_the_way_until_they_are_acknowledged() {
    for (in_flight_s, limit) in [(9, Limit::Network), (1, Limit::Target)] {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 120, 770.0);
        let seen = &mut run.totals.seen;
        seen.counts.bytes_sent = 120 * 30_000;
        seen.connections.opened = 10;
        for _ in 0..10 {
            seen.connections.min_rtt.record(16 * MS);
            seen.connections.rtt.record(20 * MS);
        }
        seen.connections.in_flight_ns = 10 * in_flight_s * 1_000 * MS;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn pauses_of_a_link_that_loses_are_not_the_targets() {
    for (retransmits, is_told) in [(0, true), (4_000, false)] {
        let mut run = Run::new(constant_vus(8, 12), 12.0, 40_000, 40.0);
        run.answer(40_000, &[(0.9, 12 * MS), (0.1, 360 * MS)]);
        let connections = &mut run.totals.seen.connections;
        connections.retransmits = retransmits;
        connections.opened = 8;
        for _ in 0..8 {
            connections.min_rtt.record(10 * MS);
            connections.rtt.record(140 * MS);
        }
        run.seconds(12, |second, row| {
            let is_hit = second % 3 == 1;
            row.service_time_ns = percentiles(12.0, if is_hit { 560.0 } else { 14.0 });
        });
        let verdict = run.judge();
        let pauses = found(&verdict, Code::Pauses);
        assert_eq!(pauses.is_some(), is_told, "{retransmits}");
        let rows = run.series.iter_mut();
        for row in rows {
            let is_hit = row.at_ns / 1_000 / MS % 3 == 1;
            row.good = if is_hit { 600 } else { 4_000 };
        }
        let verdict = run.judge();
        let told = found(&verdict, Code::Pauses).expect("the link is interrupted");
        let advice = told.advice.as_deref().unwrap_or_default();
        assert_eq!(
            advice.contains("interrupts the network path"),
            !is_told,
            "{advice}"
        );
    }
}

#[test]
fn users_who_wait_for_a_few_long_answers_most_of_their_time_are_held_up() {
    let mut run = Run::new(constant_vus(16, 13), 13.0, 288, 546.0);
    run.answer(288, &[(0.82, 21 * MS), (0.18, 3_000 * MS)]);
    run.plan.script = Some(Arc::default());
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
}

#[test]
fn a_worker_that_writes_most_of_its_time_is_what_is_waited_for() {
    let mut run = Run::new(constant_vus(10, 8), 8.0, 348, 210.0);
    run.totals.seen.back_pressure_ns = 7_000 * MS;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator, "{}", verdict.headline);
    assert!(found(&verdict, Code::SinkSlow).is_some());
}

/// 101 uploads of 100 kB over eight connections, and some that failed, with this smoothed round trip.
fn uploads(rtt_ms: u64, failed: u64) -> Run {
    let mut run = Run::new(constant_vus(8, 10), 10.0, 101, 822.0);
    run.fail(ErrorClass::Closed, failed, 800 * MS);
    let seen = &mut run.totals.seen;
    seen.counts.bytes_sent = (101 + failed) * 100_000;
    seen.connections.opened = 8;
    seen.connections.retransmits = 411;
    for _ in 0..8 {
        seen.connections.min_rtt.record(16 * MS);
        seen.connections.rtt.record(rtt_ms * MS);
    }
    seen.connections.in_flight_ns = 82_900 * MS;
    run
}

#[test]
fn uploads_fill_a_link_only_where_packets_wait() {
    for (rtt_ms, is_told) in [(66, true), (17, false)] {
        let verdict = uploads(rtt_ms, 0).judge();
        assert_eq!(verdict.limit, Limit::Network, "{}", verdict.headline);
        assert!(found(&verdict, Code::Retransmits).is_some());
        assert_eq!(found(&verdict, Code::LinkFull).is_some(), is_told);
    }
}

#[test]
fn uploads_of_requests_that_failed_may_not_have_passed_the_link() {
    let verdict = uploads(66, 30).judge();
    let text = &found(&verdict, Code::LinkFull).expect("packets queue").text;
    assert!(text.starts_with("1.00 MB/s"), "{text}");
}

/// Forty requests at once on four connections: each waits for the bytes of the others.
fn shared_connections() -> Run {
    let mut run = Run::new(constant_vus(40, 10), 10.0, 800, 490.0);
    run.answer(800, &[(0.01, 5 * MS), (0.99, 495 * MS)]);
    let seen = &mut run.totals.seen;
    seen.connections.opened = 4;
    for _ in 0..4 {
        seen.connections.min_rtt.record(20 * MS);
        seen.connections.rtt.record(63 * MS);
    }
    run
}

#[test]
fn answers_that_share_connections_fill_a_link_together() {
    for (out_of_order, limit) in [(1_400, Limit::Network), (0, Limit::Target)] {
        let mut run = shared_connections();
        run.totals.seen.connections.out_of_order = out_of_order;
        run.totals.seen.counts.body_bytes = 800 * 30_000;
        run.series
            .iter_mut()
            .for_each(|row| row.bytes_received = 2_400_000);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn uploads_that_share_connections_fill_a_link_together() {
    for (in_flight_ms, limit) in [(39_000, Limit::Network), (4_000, Limit::Target)] {
        let mut run = shared_connections();
        let seen = &mut run.totals.seen;
        seen.counts.bytes_sent = 800 * 50_000;
        seen.connections.in_flight_ns = in_flight_ms * MS;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A receiver that is slow to read large responses causes some retransmits, but does not wait for them.
#[test]
fn some_segments_of_a_thousand_are_no_loss() {
    for (body, limit) in [(50_000_000, Limit::Target), (100_000, Limit::Network)] {
        let mut run = Run::new(constant_vus(4, 10), 10.0, 400, 98.0);
        let seen = &mut run.totals.seen;
        seen.counts.body_bytes = 400 * body;
        (0..400).for_each(|_| seen.phases.receiving.record(90 * MS));
        seen.connections.opened = 4;
        (0..4).for_each(|_| seen.connections.min_rtt.record(8_000));
        seen.connections.out_of_order = 105;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn round_trips_of_handshakes_are_no_matter_of_keys() {
    for (rtt_ms, words) in [(120, "round trips"), (1, "ECDSA")] {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 200, 400.0);
        run.totals.seen.connections.opened = 200;
        for _ in 0..200 {
            let connections = &mut run.totals.seen.connections;
            connections.min_rtt.record(rtt_ms * MS);
            connections.connect.record(rtt_ms * MS);
            connections.tls.record(130 * MS);
        }
        let verdict = run.judge();
        let told = found(&verdict, Code::Handshakes).expect("told");
        let advice = told.advice.as_deref().unwrap_or_default();
        assert!(advice.contains(words), "{advice}");
    }
}

#[test]
fn users_whose_uploads_share_what_passes_are_not_too_few() {
    for (sending_ms, is_told) in [(0, true), (500, false)] {
        let mut run = Run::new(constant_vus(8, 10), 10.0, 150, 533.0);
        (0..150).for_each(|_| run.totals.seen.phases.sending.record(sending_ms * MS));
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::TooFewVus).is_some(), is_told);
    }
}

#[test]
fn a_way_that_stood_still_is_no_pause_of_the_target() {
    // 8 users meet a path that stalls for a second, three times; their data was unacknowledged in that time, or
    // had been acknowledged.
    let stalls = |in_flight_ms: u64| {
        let mut run = Run::new(arrivals(60, 10, 8), 10.0, 437, 59.0);
        run.answer(437, &[(0.945, 6 * MS), (0.055, 1_000 * MS)]);
        run.totals.asked = Some(600);
        run.totals.seen.counts.dropped = 163;
        run.totals.active_vus_max = 8;
        for (second, row) in run.series.iter_mut().enumerate() {
            row.service_time_ns = percentiles(6.0, if second % 3 == 1 { 1_000.0 } else { 7.0 });
        }
        let connections = &mut run.totals.seen.connections;
        connections.opened = 8;
        (0..8).for_each(|_| connections.min_rtt.record(8_000));
        connections.in_flight_ns = 8 * in_flight_ms * MS;
        run.judge()
    };
    let verdict = stalls(3_000);
    assert_eq!(verdict.limit, Limit::Network);
    let advice = found(&verdict, Code::Pauses).and_then(|told| told.advice.as_deref());
    assert!(
        advice.is_some_and(|advice| advice.contains("interrupts the network path")),
        "{advice:?}"
    );
    let verdict = stalls(500);
    assert_ne!(verdict.limit, Limit::Network);
    let advice = found(&verdict, Code::Pauses).and_then(|told| told.advice.as_deref());
    assert!(
        advice.is_some_and(|advice| advice.contains("garbage collection")),
        "{advice:?}"
    );
}

/// The path is cut for two seconds of nine; before and after, only the target takes time.
#[test]
fn an_outage_in_which_nothing_was_acknowledged_may_be_one_of_the_path() {
    for (in_flight_s, is_of_path) in [(8, true), (1, false)] {
        let mut run = Run::new(constant_vus(10, 9), 9.0, 7_800, 11.0);
        run.answer(7_800, &[(0.9987, 8 * MS), (0.0013, 2_600 * MS)]);
        for (second, row) in run.series.iter_mut().enumerate() {
            row.active_vus = 10;
            row.heat = loadline_model::heat::Heat::default();
            if second == 3 || second == 4 {
                (row.completed, row.good, row.service_time_ns) = (0, 0, None);
            }
        }
        let connections = &mut run.totals.seen.connections;
        connections.opened = 10;
        connections.retransmits = 50;
        (0..10).for_each(|_| connections.min_rtt.record(8_000));
        connections.in_flight_ns = 10 * in_flight_s * 1_000 * MS;
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
        let outage = found(&verdict, Code::OutageSeen).expect("told");
        let advice = outage.advice.clone().unwrap_or_default();
        assert_eq!(advice.contains("the network path"), is_of_path, "{advice}");
    }
}

/// The kernel is asked about some of the connections: losses on the others are as many each.
#[test]
fn retransmits_of_a_few_connections_stand_for_those_of_all() {
    for (opened, limit) in [(20, Limit::Target), (400, Limit::Network)] {
        let mut run = Run::new(constant_vus(400, 10), 10.0, 4_000, 80.0);
        run.answer(4_000, &[(0.6, 80 * MS), (0.4, 255 * MS)]);
        let connections = &mut run.totals.seen.connections;
        connections.opened = opened;
        connections.retransmits = 130;
        for _ in 0..20 {
            connections.connect.record(40 * MS);
            connections.min_rtt.record(40 * MS);
            connections.rtt.record(41 * MS);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::Retransmits).expect("they are many");
        assert_eq!(
            told.text.starts_with("about 2,600"),
            opened == 400,
            "{}",
            told.text
        );
    }
}

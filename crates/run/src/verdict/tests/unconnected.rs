//! Connections that are never or only sometimes made, directly and through a proxy.
//!
//! Must not know thresholds of the verdict. Invariant: a mistake in the plan is not blamed on a party that
//! succeeds at other times, or that is not the only one on the path.

use loadline_model::client::ProxyPlan;
use loadline_model::error_class::ErrorClass;
use loadline_model::snapshot::ErrorKey;
use loadline_model::verdict::Limit;

use super::builder::{Run, arrivals, constant_vus, found};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// A mistake in the plan always fails: handshakes that succeed at other times are not a mistake, and neither is
/// such a proxy.
#[test]
fn what_fails_at_times_only_is_not_the_plans_mistake() {
    for (class, at_times) in [
        (ErrorClass::Tls, Limit::Target),
        (ErrorClass::Certificate, Limit::Target),
        (ErrorClass::Proxy, Limit::Network),
    ] {
        let mut run = Run::new(arrivals(100, 5, 50), 5.0, 300, 4.0);
        run.fail(class, 200, MS);
        let always = (ErrorClass::Proxy != class).then(|| run.judge().limit);
        assert_ne!(always, Some(at_times), "{class:?}: no handshake succeeded");
        run.totals.seen.connections.tls.record(MS);
        let verdict = run.judge();
        assert_eq!(verdict.limit, at_times, "{class:?}");
        let told = verdict
            .findings
            .iter()
            .filter_map(|it| it.advice.as_deref());
        let told = told.filter(|it| it.starts_with("some ") && it.contains("behind this address"));
        assert_eq!(told.count(), usize::from(class != ErrorClass::Proxy));
        let mut none = Run::new(arrivals(100, 5, 50), 5.0, 0, 4.0);
        none.fail(class, 500, MS);
        assert_eq!(none.judge().limit, Limit::Plan, "{class:?}");
    }
}

/// Alerts are about what the plan offers, but for those with which a target says that it failed itself.
#[test]
fn a_handshake_that_the_target_breaks_off_is_its_own() {
    let alert = |name: &str| format!("{} \"{name}\"", ErrorKey::ALERT_SENT);
    for (detail, limit) in [
        (alert("internal error"), Limit::Target),
        (alert("bad record MAC"), Limit::Target),
        (ErrorKey::CLOSED_IN_HANDSHAKE.to_owned(), Limit::Target),
        (alert("protocol version not supported"), Limit::Plan),
        (alert("unknown certificate authority"), Limit::Plan),
    ] {
        let mut run = Run::new(arrivals(100, 5, 50), 5.0, 0, 4.0);
        run.fail(ErrorClass::Tls, 500, MS);
        let key = ErrorKey {
            class: ErrorClass::Tls,
            request: "GET https://a/".to_owned(),
            address: None,
            detail,
        };
        *run.totals.seen.errors.row(key.clone()) += 500;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", key.detail);
        let advice = found(&verdict, Code::NothingAnswered).and_then(|it| it.advice.clone());
        let is_told = advice.is_some_and(|it| it.contains("breaks TLS handshakes off"));
        assert_eq!(is_told, limit == Limit::Target);
    }
}

/// Nothing shows whether the target, something on the path or a timeout that is too short prevented all
/// connections; nor whether a proxy or the target behind it is silent.
#[test]
fn who_kept_all_connections_from_being_made_is_left_open() {
    let mut run = Run::new(arrivals(100, 5, 50), 5.0, 0, 4.0);
    run.fail(ErrorClass::Timeout, 500, MS);
    assert_eq!(run.judge().limit, Limit::Target);
    run.totals.seen.connections.failed = 500;
    assert_eq!(run.judge().limit, Limit::Unknown);
    run.plan.client.proxy = Some(ProxyPlan {
        host: "proxy".to_owned(),
        port: 3128,
        authorization: None,
        except: Vec::new(),
        for_http: true,
        for_https: true,
    });
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Unknown);
    let advice = found(&verdict, Code::NothingAnswered).and_then(|it| it.advice.clone());
    assert!(advice.is_some_and(|it| it.contains("through the proxy")));
}

/// A firewall resets unwanted connections before anybody can have looked at the request; an overloaded target
/// does too.
#[test]
fn resets_that_come_sooner_than_any_answer_leave_open_whose_they_are() {
    for (failed_ns, limit) in [(140_000, Limit::Unknown), (12 * MS, Limit::Target)] {
        let mut run = Run::new(arrivals(30, 10, 20), 10.0, 300, 11.0);
        run.answer(250, &[(1.0, 11 * MS)]);
        run.fail(ErrorClass::ResetReading, 50, failed_ns);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Users that waited for connections until a timeout show nothing about the target, which responded to the
/// others.
#[test]
fn users_without_a_connection_leave_the_limit_open() {
    let mut run = Run::new(constant_vus(30, 10), 10.0, 8_000, 11.0);
    run.answer(8_000, &[(1.0, 11 * MS)]);
    assert_eq!(run.judge().limit, Limit::Target);
    run.fail(ErrorClass::ConnectTimeout, 60, 3_000 * MS);
    assert_eq!(run.judge().limit, Limit::Unknown);
    let far = "10.0.0.7:80".to_owned();
    run.totals.seen.peers.row(far).answered = 8_000;
    assert_eq!(run.judge().limit, Limit::Unknown);
}

/// Within one machine, only a target that does not accept connections can keep users from having one.
#[test]
fn users_without_a_connection_within_a_machine_wait_for_the_target() {
    let mut run = Run::new(constant_vus(30, 10), 10.0, 8_000, 11.0);
    run.answer(8_000, &[(1.0, 11 * MS)]);
    let near = "127.0.0.1:80".to_owned();
    run.totals.seen.peers.row(near).answered = 8_000;
    run.fail(ErrorClass::ConnectTimeout, 60, 3_000 * MS);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let most = "most of their time on requests that failed: connect-timeout";
    assert!(verdict.headline.ends_with(most), "{}", verdict.headline);
    let mut run = Run::new(arrivals(100, 10, 50), 10.0, 900, 11.0);
    run.answer(900, &[(1.0, 11 * MS)]);
    let near = "[::1]:80".to_owned();
    run.totals.seen.peers.row(near).answered = 900;
    run.fail(ErrorClass::ConnectTimeout, 100, 3_000 * MS);
    assert_eq!(run.judge().limit, Limit::Target);
}

/// Lookups that fail after seconds take most of the time, although most requests are answered.
#[test]
fn users_who_mostly_wait_for_what_fails_wait_for_its_side() {
    for (class, limit) in [
        (ErrorClass::Dns, Limit::Network),
        (ErrorClass::Timeout, Limit::Target),
    ] {
        let mut run = Run::new(constant_vus(20, 10), 10.0, 130, 11.0);
        run.answer(130, &[(1.0, 11 * MS)]);
        run.fail(class, 45, 4_000 * MS);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A firewall that drops all packets from some time on; a process that hangs still has connections in its accept queue.
#[test]
fn connections_that_nobody_makes_from_some_time_on_are_cut_off_by_the_network() {
    for (made, limit) in [(0, Limit::Network), (5, Limit::Unknown)] {
        let mut run = Run::new(arrivals(60, 9, 200), 9.0, 540, 1.0);
        run.answer(240, &[(1.0, MS)]);
        run.fail(ErrorClass::Timeout, 300, 3_000 * MS);
        let connections = &mut run.totals.seen.connections;
        connections.failed = 290 - made;
        connections.unacknowledged = 10;
        (0..300).for_each(|_| connections.min_rtt.record(7_000));
        for row in &mut run.series[4..] {
            (row.good, row.completed, row.active_vus) = (0, 0, 180);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// A name that does not exist is the plan's mistake; a resolver that does not answer is not.
#[test]
fn lookups_that_nobody_answers_are_not_the_plans_mistake() {
    for (took_ms, limit) in [(20, Limit::Plan), (3_000, Limit::Network)] {
        let mut run = Run::new(arrivals(10, 8, 50), 8.0, 0, 4.0);
        run.fail(ErrorClass::Dns, 80, took_ms * MS);
        assert_eq!(run.judge().limit, limit);
    }
}

/// A full accept queue drops SYNs as well, but no part of a response.
#[test]
fn connects_that_take_seconds_are_of_the_network_if_responses_lose_parts() {
    for (out_of_order, limit) in [(70, Limit::Network), (0, Limit::Target)] {
        let mut run = Run::new(constant_vus(30, 10), 10.0, 2_000, 150.0);
        run.answer(2_000, &[(0.85, MS), (0.15, 1_000 * MS)]);
        let seen = &mut run.totals.seen;
        (0..1_950).for_each(|_| seen.phases.waiting.record(MS));
        (0..50).for_each(|_| seen.phases.waiting.record(400 * MS));
        let connections = &mut seen.connections;
        connections.opened = 2_000;
        (0..1_700).for_each(|_| connections.connect.record(50_000));
        (0..300).for_each(|_| connections.connect.record(1_001 * MS));
        (0..2_000).for_each(|_| connections.min_rtt.record(20_000));
        connections.out_of_order = out_of_order;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// What accepts connections takes the data of the first ones, whether or not a process reads it.
#[test]
fn data_that_nobody_ever_took_was_lost_on_the_way() {
    for (untaken, limit) in [(60, Limit::Network), (50, Limit::Target)] {
        let mut run = Run::new(constant_vus(15, 8), 8.0, 0, 4.0);
        run.fail(ErrorClass::Timeout, 60, 2_000 * MS);
        run.series.iter_mut().for_each(|row| row.completed = 0);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 60;
        (0..60).for_each(|_| connections.min_rtt.record(10_000));
        connections.untaken = untaken;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        assert_eq!(
            found(&verdict, Code::Unacknowledged).is_some(),
            untaken == 60
        );
    }
}

/// A path that drops all SYNs from some time on, or a target that accepts no connection any more.
#[test]
fn where_no_new_connection_is_made_any_more_nobody_is_blamed() {
    let judged = |never_made: u64| {
        let mut run = Run::new(constant_vus(10, 9), 9.0, 840, 30.0);
        run.fail(ErrorClass::Timeout, 30, 2_000 * MS);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 870 - never_made;
        connections.failed = never_made;
        (0..840).for_each(|_| connections.min_rtt.record(4 * MS));
        run.seconds(9, |second, row| {
            row.active_vus = 10;
            row.started = if second < 3 { 280 } else { 5 };
            row.completed = if second < 3 { 280 } else { 0 };
            row.good = row.completed;
        });
        run.judge()
    };
    let none = judged(28);
    assert_eq!(none.limit, Limit::Unknown, "{}", none.headline);
    assert!(none.headline.contains("until no new connection was made"));
    assert_eq!(judged(0).limit, Limit::Target);
}

/// Nobody responded, so that only the failures say where the requests went.
#[test]
fn requests_to_this_machine_that_find_no_connection_wait_for_the_target() {
    for (url, limit) in [
        ("http://127.0.0.1:80/a", Limit::Target),
        ("https://localhost?b", Limit::Target),
        ("http://[::1]:1/", Limit::Target),
        ("http://10.0.0.7/127.0.0.1", Limit::Unknown),
    ] {
        let mut run = Run::new(constant_vus(20, 6), 6.0, 0, 11.0);
        run.fail(ErrorClass::Timeout, 40, 3_000 * MS);
        run.totals.seen.connections.failed = 35;
        let key = ErrorKey {
            class: ErrorClass::Timeout,
            request: format!("GET {url}"),
            address: None,
            detail: "timed out before a connection was made".to_owned(),
        };
        *run.totals.seen.errors.row(key) += 40;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{url}");
    }
}

//! Matching instants of expressions, including clock changes. Must not know how they are computed. Invariant:
//! checking every minute gives the same result.

use k8s_openapi::jiff::ToSpan;
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn zone(name: &str) -> TimeZone {
    crate::schedule::zone(name).expect("a time zone")
}

fn cron(text: &str) -> Cron {
    Cron::parse(text).expect(text)
}

/// This many instants after another.
fn after(text: &str, name: &str, from: &str, count: usize) -> Vec<String> {
    let (cron, zone) = (cron(text), zone(name));
    let mut all = Vec::new();
    let mut now = at(from);
    for _ in 0..count {
        now = cron.next(&zone, now).expect("one comes");
        all.push(now.to_string());
    }
    all
}

#[test]
fn fields_are_read_as_cron_reads_them() {
    for (text, from, next) in [
        (
            "*/15 * * * *",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:15:00Z",
        ),
        (
            "5/20 3 * * *",
            "2026-01-01T03:05:00Z",
            "2026-01-01T03:25:00Z",
        ),
        (
            "0 22 * * 1-5",
            "2026-01-02T22:00:00Z",
            "2026-01-05T22:00:00Z",
        ),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        (
            "0 0 * * sun",
            "2026-01-01T00:00:00Z",
            "2026-01-04T00:00:00Z",
        ),
        (
            "0 0 13 * FRI",
            "2026-01-03T00:00:00Z",
            "2026-01-09T00:00:00Z",
        ),
        (
            "0 0 29 feb *",
            "2026-01-01T00:00:00Z",
            "2028-02-29T00:00:00Z",
        ),
        (
            "1,59 23 31 12 *",
            "2026-12-31T23:01:00Z",
            "2026-12-31T23:59:00Z",
        ),
        (
            "0 0 1-31/2 * 1",
            "2026-01-01T00:00:00Z",
            "2026-01-03T00:00:00Z",
        ),
    ] {
        assert_eq!(after(text, "UTC", from, 1), [next], "{text}");
    }
    assert_eq!(
        cron("0 0 30 2 *").next(&TimeZone::UTC, at("2026-01-01T00:00:00Z")),
        None
    );
}

#[test]
fn what_is_no_expression_is_refused_by_its_field() {
    for (text, named) in [
        ("", "0 fields"),
        ("* * * *", "4 fields"),
        ("@daily", "1 fields"),
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day"),
        ("* * * 13 *", "month"),
        ("* * * FEBRUARY *", "month"),
        ("* * * * 8", "day of the week"),
        ("*/0 * * * *", "step"),
        ("*/ * * * *", "step"),
        ("+1 * * * *", "minute"),
        ("5-1 * * * *", "ends before"),
        ("1,,2 * * * *", "minute"),
        ("-1 * * * *", "minute"),
        ("ü * * * *", "minute"),
    ] {
        let why = Cron::parse(text).expect_err(text);
        assert!(why.contains(named), "{text}: {why}");
    }
}

#[test]
fn a_local_time_that_does_not_come_is_left_out() {
    // In Vienna clocks go from 2 to 3 on 29 March 2026.
    assert_eq!(
        after("30 2 * * *", "Europe/Vienna", "2026-03-28T00:00:00Z", 2),
        ["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"]
    );
}

#[test]
fn a_local_time_that_comes_twice_counts_once_unless_every_hour_is_meant() {
    // In Vienna clocks go from 3 to 2 on 25 October 2026.
    assert_eq!(
        after("30 2 * * *", "Europe/Vienna", "2026-10-24T12:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    assert_eq!(
        after("30 * * * *", "Europe/Vienna", "2026-10-25T00:00:00Z", 3),
        [
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:30:00Z"
        ]
    );
}

#[test]
fn the_last_of_a_long_time_is_found() {
    let cron = cron("* * * * *");
    let (from, until) = (at("2000-01-01T00:00:00Z"), at("2026-01-01T00:00:30Z"));
    assert_eq!(
        cron.last(&TimeZone::UTC, from, until),
        Some(at("2026-01-01T00:00:00Z"))
    );
    assert_eq!(
        cron.last(&TimeZone::UTC, at("2026-01-01T00:00:00Z"), until),
        None
    );
}

fn expression() -> impl Strategy<Value = String> {
    let minute = prop_oneof![
        "[0-5]?[0-9]",
        Just("*/7".to_owned()),
        Just("0,30".to_owned())
    ];
    let hour = prop_oneof![
        Just("*".to_owned()),
        "[0-9]|1[0-9]|2[0-3]",
        Just("0-6/2".to_owned())
    ];
    let day = prop_oneof![3 => Just("*".to_owned()), 1 => "[1-9]|[12][0-9]"];
    let weekday = prop_oneof![3 => Just("*".to_owned()), 1 => "[0-7]"];
    (minute, hour, day, weekday)
        .prop_map(|(minute, hour, day, weekday)| format!("{minute} {hour} {day} * {weekday}"))
}

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Vienna",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "America/Scoresbysund",
];

proptest! {
    #[test]
    fn nothing_lies_between(text in expression(), name in proptest::sample::select(ZONES), day in 0_i64..366, second in 0_i64..86_400) {
        let (cron, zone) = (cron(&text), zone(name));
        let from = Timestamp::from_second(1_767_225_600 + day * 86_400 + second).expect("an instant");
        let next = cron.next(&zone, from).expect("one comes");
        prop_assert!(next > from);
        prop_assert_eq!(next.as_second() % 60, 0);
        prop_assert_eq!(cron.last(&zone, from, next), Some(next));
        let before = next - 1.second();
        prop_assert_eq!(cron.last(&zone, from, before), None);
        if before > from {
            prop_assert_eq!(cron.next(&zone, before), Some(next));
        }
    }

    #[test]
    fn every_minute_of_two_days_is_one_or_is_not(text in expression(), name in proptest::sample::select(ZONES), day in 0_i64..366) {
        let (cron, zone) = (cron(&text), zone(name));
        let begin = Timestamp::from_second(1_767_225_600 + day * 86_400).expect("an instant");
        let end = begin + 48.hours();
        let mut found = Vec::new();
        let mut now = begin - 1.second();
        while let Some(next) = cron.next(&zone, now).filter(|next| *next < end) {
            found.push(next);
            now = next;
        }
        let fits = |at: &Timestamp| {
            let local = zone.to_datetime(*at);
            let is_first = match zone.to_ambiguous_timestamp(local).offset() {
                AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok() == Some(*at),
                _ => true,
            };
            cron.has_day(local.date()) && cron.hours.has(local.hour()) && cron.minutes.has(local.minute())
                && (is_first || cron.hours.is_any)
        };
        let minutes = (0..48 * 60).map(|minute: i64| begin + minute.minutes());
        prop_assert_eq!(found, minutes.filter(fits).collect::<Vec<_>>());
    }
}

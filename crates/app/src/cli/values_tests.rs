//! Tables of accepted and refused values, and properties over all texts.

use super::*;
use loadline_model::Nanos;
use proptest::prelude::*;

fn refused<T: std::fmt::Debug>(read: fn(&str) -> Result<T, String>, cases: &[(&str, &str)]) {
    for (text, part) in cases {
        let message = read(text).expect_err("refused");
        assert!(message.contains(part), "{text:?}: {message}");
    }
}

#[test]
fn durations() {
    for (text, milliseconds) in [
        ("10s", 10_000),
        ("1m30s", 90_000),
        ("500ms", 500),
        ("1.5h", 5_400_000),
        ("2", 2_000),
        ("0.25", 250),
        ("0", 0),
        ("1d", 86_400_000),
    ] {
        assert_eq!(
            duration(text),
            Ok(Duration::from_millis(milliseconds)),
            "{text}"
        );
    }
    assert_eq!(duration("3µs"), Ok(Duration::from_micros(3)));
    refused(
        duration,
        &[
            ("", "empty"),
            ("10x", "unit of time"),
            ("-1", "negative"),
            ("s", "not a duration"),
            ("1m30", "unit of time"),
            ("9999999h", "a year"),
            ("inf", "not a duration"),
            ("NaN", "not a duration"),
        ],
    );
    refused(positive_duration, &[("0s", "above zero")]);
}

#[test]
fn counts_and_sizes() {
    for (text, number) in [
        ("200", 200),
        ("10k", 10_000),
        ("1.5M", 1_500_000),
        ("0", 0),
        ("2G", 2_000_000_000),
    ] {
        assert_eq!(count(text), Ok(number), "{text}");
    }
    refused(
        count,
        &[
            ("", "not a count"),
            ("-1", "not a count"),
            ("1.5", "not a count"),
            ("99999999999999999999", "not a count"),
            ("k", "not a count"),
        ],
    );
    refused(positive_count, &[("0", "above zero")]);
    refused(vus, &[("0", "from 1"), ("2M", "from 1")]);
    for (text, bytes) in [
        ("4096", 4096),
        ("64k", 64_000),
        ("64KiB", 65_536),
        ("1.5MB", 1_500_000),
        ("1Gi", 1 << 30),
        ("12b", 12),
    ] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    refused(size, &[("big", "not a size"), ("1.0001k", "not a size")]);
}

#[test]
fn rates() {
    for (text, per_second) in [
        ("500", 500.0),
        ("0.5", 0.5),
        ("500/s", 500.0),
        ("30/m", 0.5),
        ("2k", 2000.0),
        ("1800/h", 0.5),
    ] {
        let rate = rate(text).expect("a rate");
        assert!(
            (rate.starts_per_second() - per_second).abs() < 1e-9,
            "{text}"
        );
    }
    assert_eq!(
        rate("30/m"),
        Ok(ArrivalRate {
            starts: 30,
            per: Nanos::from_secs(60)
        })
    );
    refused(
        rate,
        &[
            ("", "not a number"),
            ("5/d", "unit of time"),
            ("-5", "not a number"),
            ("2e9", "not a number"),
            ("2000M", "from 0"),
        ],
    );
    refused(positive_rate, &[("0", "above zero")]);
}

#[test]
fn ramps() {
    let Stages(legs) = stages("30s:100,5m:100/s").expect("stages");
    assert_eq!(
        (legs.len(), legs[0].is_rate, legs[1].is_rate),
        (2, false, true)
    );
    assert_eq!(legs[1].duration, Duration::from_secs(300));
    refused(
        stages,
        &[
            ("30s", "has no colon"),
            ("30s:x", "not a number"),
            ("x:1", "not a duration"),
            ("", "has no colon"),
            ("0s:5", "have no duration"),
        ],
    );
}

#[test]
fn pairs_headers_and_methods() {
    assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
    refused(pair, &[("a", "NAME=VALUE"), ("=b", "NAME=VALUE")]);
    assert_eq!(
        header("X-A:  b c "),
        Ok(("X-A".to_owned(), "b c".to_owned()))
    );
    assert_eq!(header("Empty:"), Ok(("Empty".to_owned(), String::new())));
    refused(
        header,
        &[
            ("novalue", "no colon"),
            (": x", "no name"),
            ("a b: c", "contains ' '"),
            ("a: b\r\nc", "contains '\\r'"),
        ],
    );
    assert_eq!(method("PATCH"), Ok("PATCH".to_owned()));
    refused(method, &[("", "needed"), ("GET /", "contain ' '")]);
}

proptest! {
    #[test]
    fn no_text_breaks_a_reader(text in "\\PC{0,12}") {
        let _ = (duration(&text), count(&text), size(&text), rate(&text), stages(&text));
    }

    #[test]
    fn whole_seconds_survive(seconds in 0_u64..100_000) {
        prop_assert_eq!(duration(&format!("{seconds}s")), Ok(Duration::from_secs(seconds)));
    }

    #[test]
    fn rates_keep_their_millionths(parts in 1_u64..1_000_000_000) {
        let text = format!("{}.{:06}", parts / 1_000_000, parts % 1_000_000);
        let rate = rate(&text).expect("a decimal number");
        prop_assert!((rate.starts_per_second() - parts as f64 / 1e6).abs() < 1e-6);
    }
}

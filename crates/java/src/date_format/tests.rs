//! Results of patterns in Java: most lines were recorded with Java 17.
//!
//! Must not know how patterns are parsed. Invariant: a test's expected value was never computed by this crate.

use super::{Moment, Pattern, date_of, day_number};

/// 2026-11-23T00:59:42.430Z, a Monday.
const MOMENT: Moment = Moment {
    unix_ms: 1_795_395_582_430,
    offset_s: 0,
    zone: None,
};

fn written(pattern: &str) -> String {
    Pattern::new(pattern)
        .expect("it is a pattern")
        .format(MOMENT)
}

#[test]
fn letters_are_written() {
    let cases = [
        ("yyyyMMdd-HHmmss", "20261123-005942"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2026-11-23T00:59:42.430+0000"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-11-23T00:59:42.430Z"),
        (
            "EEE, d MMM yyyy HH:mm:ss z",
            "Mon, 23 Nov 2026 00:59:42 UTC",
        ),
        (
            "EEEE MMMM d y yy yyy yyyyy YYYY w W D F u a h hh H k K m s S SS SSSS G",
            "Monday November 23 2026 26 2026 02026 2026 48 4 327 2 2026 AM 12 12 0 24 0 59 42 4 43 4300 AD",
        ),
        (
            "M MM L LLL XXXXX XX X zzzz",
            "11 11 11 Nov Z Z Z Coordinated Universal Time",
        ),
        ("'o''clock' yyyy é", "o'clock 2026 é"),
        ("xyz", "+002026UTC"),
        ("q Q QQQ e c", "4 4 Q4 2 2"),
    ];
    for (pattern, expected) in cases {
        assert_eq!(written(pattern), expected, "{pattern}");
    }
    for refused in ["bad{", "'unclosed", "b", "HHH", "[yyyy]", "DDDD"] {
        assert!(Pattern::new(refused).is_err(), "{refused}");
    }
}

#[test]
fn offsets_are_written() {
    let east = Moment {
        offset_s: 19_800,
        ..MOMENT
    };
    let pattern = Pattern::new("HH:mm X XX XXXXX x Z ZZZZ ZZZZZ O z").expect("it is a pattern");
    let expected = "06:29 +0530 +0530 +05:30 +0530 +0530 GMT+05:30 +05:30 GMT+5:30 GMT+05:30";
    assert_eq!(pattern.format(east), expected);
}

#[test]
fn texts_are_read() {
    let read = |pattern: &str, text: &str| {
        let fields = Pattern::new(pattern)
            .expect("it is a pattern")
            .parse(text)?;
        Some((
            fields.date().map(date_of),
            fields.time_ms(),
            fields.offset_s,
        ))
    };
    let day = Some((2020, 1, 3));
    assert_eq!(read("yyyyMMdd", "20200103"), Some((day, None, None)));
    assert_eq!(read("d/M/yyyy", "3/1/2020"), Some((day, None, None)));
    assert_eq!(
        read("EEE MMM d yyyy", "Fri Jan 3 2020"),
        Some((day, None, None))
    );
    assert_eq!(
        read("EEE MMM d yyyy", "Mon Jan 3 2020"),
        Some((None, None, None))
    );
    assert_eq!(
        read("dd/MM/yy", "03/01/99"),
        Some((Some((2099, 1, 3)), None, None))
    );
    assert_eq!(
        read("yyyy-MM-dd", "2020-02-30"),
        Some((Some((2020, 2, 29)), None, None))
    );
    assert_eq!(read("yyyy-MM-dd", "2020-13-31"), Some((None, None, None)));
    assert_eq!(
        read("yyyy-MM-dd", "+12020-01-03"),
        Some((Some((12020, 1, 3)), None, None))
    );
    assert_eq!(
        read("hh:mm a", "10:20 PM"),
        Some((None, Some(80_400_000), None))
    );
    assert_eq!(
        read("yyyy-MM-dd HH:mm", "2020-01-03 24:00"),
        Some((day, Some(86_400_000), None))
    );
    assert_eq!(
        read("yyyyMMddHHmmssSSS", "20200103102030123"),
        Some((day, Some(37_230_123), None))
    );
    assert_eq!(
        read("yyyy-MM-dd'T'HH:mm:ssX", "2020-01-03T04:05:06Z"),
        Some((day, Some(14_706_000), Some(0)))
    );
    assert_eq!(
        read("HH:mm XXXXX", "04:05 -02:30"),
        Some((None, Some(14_700_000), Some(-9000)))
    );
    for (pattern, text) in [
        ("yyyy-MM-dd", "20-1-3"),
        ("yyyy-MM-dd", "2020-2-3"),
        ("yyyy-MM-dd", "2020-02-03x"),
        ("yyyy-MM-dd", "12020-01-03"),
        ("yyyy-MM-dd'T'HH:mm:ssZ", "2020-01-03T04:05:06Z"),
        ("HH:mm", "25:01"),
        ("HH:mm", "24:01"),
        ("MMM d yyyy", "january 3 2020"),
        ("d MMM yyyy", "3 feb 2020"),
    ] {
        assert_eq!(read(pattern, text), None, "{pattern} {text}");
    }
}

#[test]
fn days_and_dates_agree() {
    assert_eq!(day_number(1970, 1, 1), Some(0));
    assert_eq!(day_number(2000, 3, 1), Some(11_017));
    assert_eq!(date_of(-1), (1969, 12, 31));
    for day in (-800_000..800_000).step_by(97) {
        let (year, month, date) = date_of(day);
        assert_eq!(day_number(year, month, date), Some(day));
    }
}

proptest::proptest! {
    #[test]
    fn what_is_written_is_read(unix_ms in -62_135_596_800_000_i64..253_402_300_799_000, offset_s in -18..=18) {
        let moment = Moment { unix_ms, offset_s: offset_s * 3600, zone: None };
        let pattern = Pattern::new("yyyy-MM-dd'T'HH:mm:ss.SSSXXX EEEE MMMM").expect("it is a pattern");
        let fields = pattern.parse(&pattern.format(moment)).expect("it was written");
        let offset = fields.offset_s.expect("an offset was read");
        let read = fields.date().zip(fields.time_ms()).map(|(day, ms)| day * 86_400_000 + ms - offset * 1000);
        proptest::prop_assume!(moment.unix_ms + offset * 1000 > -62_135_596_800_000);
        proptest::prop_assert_eq!(read, Some(unix_ms));
    }

    #[test]
    fn no_text_and_no_pattern_makes_it_panic(pattern in ".*", text in ".*", unix_ms: i64) {
        if let Ok(pattern) = Pattern::new(&pattern) {
            let _ = pattern.parse(&text).map(|fields| (fields.date(), fields.time_ms()));
            let _ = pattern.format(Moment { unix_ms, offset_s: -3600, zone: None });
        }
    }
}

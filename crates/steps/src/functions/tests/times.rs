//! Results of JMeter's functions of date and time.
//!
//! Must not know how they work. Invariant: a test's expected value was never computed by this crate.

use super::check;
use crate::testing::Bench;

#[test]
fn the_time() {
    let bench = &mut Bench::default();
    check(
        bench,
        &[
            (
                "${__time}-${__time()}-${__time(/1000,t)}-${t}",
                "1580466030123-1580466030123-1580466030-1580466030",
            ),
            (
                "${__time(YMD)}-${__time(HMS)}-${__time(YMDHMS)}-${__time(USER1)}",
                "20200131-102030-20200131-102030-",
            ),
            (
                "${__time(EEE\\, d MMM yyyy)}${__time( yyyy )}",
                "Fri, 31 Jan 2020 2020 ",
            ),
            ("${__time(/0)}${__time(bad{)}${__time('unclosed)}", ""),
        ],
    );
    bench
        .host
        .properties
        .get_mut()
        .insert("time.YMD".to_owned(), "yy".to_owned());
    check(bench, &[("${__time(YMD)}", "20")]);
}

#[test]
fn shifted_times() {
    let shift = |arguments: &str| Bench::default().value(&format!("${{__timeShift({arguments})}}"));
    let cases = [
        ("yyyy-MM-dd,2020-01-31,P1D,,", "2020-02-01"),
        ("yyyy-MM-dd,2020-01-31,P1D,", "2020-02-01"),
        ("yyyy-MM-dd,2020-01-31,,,", "2020-01-31"),
        ("yyyy-MM-dd,2020-01-31,-P1D,,", "2020-01-30"),
        ("yyyy-MM-dd,2020-01-31,P1M,,", "2020-01-31"),
        (
            "yyyy-MM-dd HH:mm,2020-01-31 10:20,PT25H30M,,",
            "2020-02-01 11:50",
        ),
        (",0,P1D,,", "86400000"),
        (",x,PT1S,,", "1580466031123"),
        ("yyyy,x,PT1S,,", "2020"),
        ("bad{,2020,PT1S,,", ""),
        ("yyyy-MM-dd,2020-02-30,,,", "2020-02-29"),
        ("HH:mm,10:20,PT1H,,", "11:20"),
        ("HH:mm:ss.SSS,00:00:01.000, PT1.5S,,", "00:00:02.500"),
        (
            "yyyy-MM-dd'T'HH:mm:ssXXX,2019-01-31T10:20:30+02:00,,,",
            "2019-01-31T10:20:30+02:00",
        ),
        (
            "yyyy-MM-dd'T'HH:mm:ss'Z',2019-01-31T10:20:30Z,PT1M,,",
            "2019-01-31T10:21:30Z",
        ),
        ("yy-M-d,20-1-3,,,", "20-1-3"),
        ("MM-dd,05-06,,,", "05-06"),
        // Input that conflicts with JMeter's defaults is not a valid date, and is replaced by now.
        ("hh:mm a,11:20 PM,,,", "10:20 AM"),
        ("HH:mm:ss.SSS,00:00:01.500,,,", "10:20:30.123"),
        ("uuuu-MM-dd,2019-01-05,,,", "2020-01-31"),
        ("yyyy-MM-dd,2019-2-3,,,", "2020-01-31"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(shift(arguments), expected, "{arguments}");
    }
    let bench = &mut Bench::default();
    check(
        bench,
        &[("${__timeShift(yyyy,2020,,,v)}-${v}", "2020-2020")],
    );
}

#[test]
fn converted_times() {
    let convert =
        |arguments: &str| Bench::default().value(&format!("${{__dateTimeConvert({arguments})}}"));
    let cases = [
        ("2020-01-31,yyyy-MM-dd,dd/MM/yy", "31/01/20"),
        (
            "1577836800000,,yyyy-MM-dd HH:mm:ss.SSS",
            "2020-01-01 00:00:00.000",
        ),
        ("2020-02-30,yyyy-MM-dd,dd/MM/yy", "29/02/20"),
        (
            "2020-01-03T04:05:06.7Z,yyyy-MM-dd'T'HH:mm:ss.SX,yyyy-MM-dd HH:mm:ss.SSS",
            "2020-01-03 04:05:06.700",
        ),
        (
            "2020-01-03 04:05 +0530,yyyy-MM-dd HH:mm Z,yyyy-MM-dd HH:mm:ss",
            "2020-01-03 04:05:00",
        ),
        ("10:20 PM,hh:mm a,HH:mm:ss", "22:20:00"),
        (
            "2020-01-03 24:00,yyyy-MM-dd HH:mm,yyyy-MM-dd HH:mm",
            "2020-01-04 00:00",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(convert(arguments), expected, "{arguments}");
    }
    for arguments in [
        "2020-01-31 10:11,yyyy-MM-dd HH:mm,h:mm a Z",
        "2020-13-31,yyyy-MM-dd,dd/MM/yy",
        "bad,yyyy-MM-dd,dd/MM/yy",
        "2020-01-31,bad{,dd/MM/yy",
        "2020-01-31,yyyy-MM-dd,bad",
        "10:20,HH:mm,yyyy-MM-dd",
        "2020,yyyy,yyyy",
        "1577836800000,,",
        "abc,,dd",
    ] {
        assert_eq!(convert(arguments), "", "{arguments}");
    }
}

#[test]
fn random_dates() {
    check(
        &mut Bench::default(),
        &[
            (
                "${__RandomDate(yyyy-MM-dd,2020-01-01,2020-01-02,,)}",
                "2020-01-01",
            ),
            (
                "${__RandomDate(,2020-01-01,2020-01-02,,rd)}-${rd}",
                "2020-01-01-2020-01-01",
            ),
            (
                "${__RandomDate(dd MM yyyy,01 01 2020,02 01 2020,,)}",
                "01 01 2020",
            ),
            ("${__RandomDate(yyyy-MM-dd,2020-01-02,2020-01-01,,)}", ""),
            ("${__RandomDate(yyyy-MM-dd,bad,1970-01-02,,)}", "1970-01-01"),
            ("${__RandomDate(yyyy-MM-dd,2020-01-01,2020-01-01,,)}", ""),
            ("${__RandomDate(bad{,2020-01-01,2020-01-02,,)}", ""),
        ],
    );
}

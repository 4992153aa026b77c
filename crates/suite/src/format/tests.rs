//! Realistic formatted cells, and arbitrary formats and values.

use proptest::prelude::*;

use super::*;
use crate::expression::Dimension;

fn cell(format: &str, values: &[(f64, Dimension)]) -> String {
    let format: Format = format.parse().expect("a format");
    let kinds: Vec<ValueKind> = values
        .iter()
        .map(|(_, of)| ValueKind::Number(Some(*of)))
        .collect();
    format.check(&kinds).expect("it suits");
    let values: Vec<Value<'_>> = values
        .iter()
        .map(|(amount, of)| Value::number(*amount, *of))
        .collect();
    let mut out = String::new();
    assert!(format.write(&values, &Blank::Unit, &ListStyle::default(), &mut out));
    out
}

fn blank(format: &str, blank: &Blank) -> String {
    let format: Format = format.parse().expect("a format");
    let mut out = String::new();
    assert!(!format.write(
        &[Value::Missing, Value::Missing],
        blank,
        &ListStyle::default(),
        &mut out
    ));
    out
}

#[test]
fn cells_are_as_people_write_them() {
    let gibi = f64::powi(1024.0, 3);
    for (format, amount, dimension, expected) in [
        ("{:.0 rps}", 13_177.4, Dimension::RATE, "13177 rps"),
        ("{:.0} rps", 13_177.4, Dimension::RATE, "13177 rps"),
        (
            "{:,.0 req/s}",
            1_313_177.4,
            Dimension::RATE,
            "1,313,177 req/s",
        ),
        ("{:~2 ms}", 0.000_95, Dimension::TIME, "0.95 ms"),
        ("{:~2 ms}", 0.0045, Dimension::TIME, "4.5 ms"),
        ("{:.2 ms}", 0.0011, Dimension::TIME, "1.10 ms"),
        ("{:~1 Gib}", 6.7 * gibi, Dimension::BYTES, "6.7 Gib"),
        ("{:~2Gi}", 10.37 * gibi, Dimension::BYTES, "10.37Gi"),
        (
            "{:~2 autoi}",
            49.91 * 1024.0 * 1024.0,
            Dimension::BYTES,
            "49.91 Mi",
        ),
        ("{:~2 GB}", 6.8e9, Dimension::BYTES, "6.8 GB"),
        ("{:~2 GB}", 10e9, Dimension::BYTES, "10 GB"),
        ("{:~2 GB}", 3.8e6, Dimension::BYTES, "0.004 GB"),
        ("{:~2 GB}", 0.0, Dimension::BYTES, "0 GB"),
        ("{:~1K}", 39_200.0, Dimension::RATE, "39.2K"),
        ("{:~1K}", 114_020.0, Dimension::RATE, "114K"),
        ("{:.2(MB/s)}", 326.05e6, Dimension::BYTE_RATE, "326.05"),
        ("{:.0m}", 0.9919, Dimension::CORES, "992m"),
        ("{:.0m}", 300.0, Dimension::TIME, "5m"),
        ("{:clock}", 90.0, Dimension::TIME, "1m30s"),
        ("{:clock}", 5400.0, Dimension::TIME, "1h30m"),
        ("{:~1clock}", 0.5, Dimension::TIME, "0.5s"),
        ("{:.1%}", 0.8912, Dimension::NUMBER, "89.1%"),
        ("{:=3}", 13_177.0, Dimension::RATE, "13200"),
        ("{:=3}", 0.012_345, Dimension::NUMBER, "0.0123"),
        ("{:=3}", 9.999, Dimension::NUMBER, "10.0"),
        ("{:+.1}", 2.0, Dimension::NUMBER, "+2.0"),
        ("{:.0}", -0.2, Dimension::NUMBER, "0"),
        (
            "{:.0 messages/min} (`{:.0 messages/sec}`)",
            95.0,
            Dimension::RATE,
            "5700 messages/min (`95 messages/sec`)",
        ),
        ("{}", 0.012, Dimension::TIME, "12 ms"),
        ("{}", 0.1 + 0.2, Dimension::NUMBER, "0.3"),
        ("{{{}}} [[x]]", 1.0, Dimension::NUMBER, "{1} [x]"),
    ] {
        assert_eq!(cell(format, &[(amount, dimension)]), expected, "{format}");
    }
}

#[test]
fn two_values_stand_in_one_cell_and_the_second_may_be_missing() {
    let format = "{:~1K}[ (avg: {1:~3K})]";
    let both = [(39_200.0, Dimension::RATE), (35_234.0, Dimension::RATE)];
    assert_eq!(cell(format, &both), "39.2K (avg: 35.234K)");
    let read: Format = format.parse().expect("a format");
    let mut out = String::new();
    let one = [Value::number(31_000.0, Dimension::RATE), Value::Missing];
    assert!(read.write(&one, &Blank::Empty, &ListStyle::default(), &mut out));
    assert_eq!(out, "31K");
}

#[test]
fn what_is_missing_is_blank_as_asked() {
    assert_eq!(blank("{:.0 rps}", &Blank::Unit), " rps");
    assert_eq!(blank("{:.0} rps", &Blank::Unit), " rps");
    assert_eq!(blank("{:~2ms}", &Blank::Unit), "ms");
    assert_eq!(blank("{:~1K}[ (avg: {1:~3K})]", &Blank::Unit), "K");
    assert_eq!(blank("{:.0 rps}", &Blank::Empty), "");
    assert_eq!(blank("{:.0 rps}", &Blank::Text("n/a".to_owned())), "n/a");
}

#[test]
fn lists_name_their_components() {
    let cores = |amount| Quantity {
        amount,
        dimension: Dimension::CORES,
    };
    let items = vec![
        ("K6".to_owned(), cores(6.752)),
        ("httpbin_repl_1".to_owned(), cores(2.94)),
    ];
    let mut out = String::new();
    let format: Format = "{:~4}".parse().expect("a format");
    assert!(format.write(
        &[Value::List(items)],
        &Blank::Empty,
        &ListStyle::default(),
        &mut out
    ));
    assert_eq!(out, "K6 = 6.752, httpbin_repl_1 = 2.94");
}

#[test]
fn formats_that_say_nothing_sensible_are_refused_with_their_place() {
    for (format, column, word) in [
        ("rps", 1, "write {}"),
        ("ab {:.0 rpm}", 4, "`rpm` is not a unit"),
        ("{", 1, "add }"),
        ("a}", 2, "}}"),
        ("{:.99}", 1, "at most 15"),
        ("{:=0}", 1, "the number of digits"),
        ("{x}", 1, "number of a value"),
        ("{}[a]", 3, "contain no value"),
        ("{}[{}", 3, "add ]"),
        ("{:(ms}", 1, "add )"),
    ] {
        let error = format.parse::<Format>().expect_err(format);
        assert_eq!(error.column, column, "{format}: {error}");
        assert!(error.what.contains(word), "{format}: {error}");
    }
}

#[test]
fn a_unit_must_fit_what_is_known() {
    let check = |format: &str, kinds: &[ValueKind]| {
        format.parse::<Format>().expect("a format").check(kinds)
    };
    let time = ValueKind::Number(Some(Dimension::TIME));
    assert!(
        check("{:.1 GB}", &[time])
            .expect_err("bytes")
            .what
            .contains("its units are ns")
    );
    assert!(
        check("{:.1} ms", &[time])
            .expect_err("no unit")
            .what
            .contains("needs a unit")
    );
    assert!(
        check("{}", &[time, time])
            .expect_err("one is unused")
            .what
            .contains("{1}")
    );
    assert!(check("{} {1}", &[time]).is_err());
    assert!(check("{:.1}", &[ValueKind::Text]).is_err());
    assert!(check("{:.1 GB}", &[ValueKind::Any]).is_ok());
}

proptest! {
    #[test]
    fn any_number_is_written_without_an_exponent(value in prop::num::f64::NORMAL, digits in 0_u8..=15) {
        for sign in ['.', '~', '='] {
            let Ok(format) = format!("{{:{sign}{digits}}}").parse::<Format>() else { continue };
            let mut out = String::new();
            format.write(&[Value::number(value, Dimension::NUMBER)], &Blank::Empty, &ListStyle::default(), &mut out);
            prop_assert!(out.parse::<f64>().is_ok(), "{}", out);
            prop_assert!(!out.contains('e'));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_within_it(text in "[{}\\[\\]:~.=0-9a-z ()%]{0,20}") {
        if let Err(error) = text.parse::<Format>() {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column));
        }
    }
}

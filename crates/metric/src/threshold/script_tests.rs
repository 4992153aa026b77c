//! What k6 2.2.0 accepts and refuses, as observed by running it with one threshold each.

use super::*;

fn refusal(text: &str) -> String {
    let error = Threshold::parse_script(text).expect_err(text);
    error.to_string()
}

#[test]
fn what_k6_takes_is_taken() {
    let taken = [
        "p(95)<500",
        "p(99.9)<500",
        "p(0)>=1",
        "p(100)<=3",
        "p(1e1)<5",
        "p(9_5)<5",
        "p<5",
        " avg<5",
        "avg <5",
        "avg< 5",
        "  avg  <  5  ",
        "avg<-5",
        "avg>+1",
        "avg<1e3",
        "avg<.5",
        "avg<5.",
        "avg<0x1p4",
        "avg<1_000",
        "avg<NaN",
        "avg!=NaN",
        "avg<Inf",
        "avg<infinity",
        "avg>-Inf",
        "avg==2",
        "avg===2",
        "avg!=2",
        "med<5",
        "min>=1",
        "max<4",
        "avg<5\t",
        "avg\t<5",
    ];
    for text in taken {
        let read = Threshold::parse_script(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((read.metric, read.window), (None, None), "{text}");
    }
}

const LEFT: &str = "failed parsing threshold expression's ";
const RIGHT: &str = "failed parsing threshold expresion's ";

#[test]
fn what_is_no_aggregation_is_refused() {
    let no_aggregation = [
        "p95<500",
        "p (95)<500",
        "p(95<5",
        "avg=<5",
        "avg=>5",
        "avg><5",
        "avg!==2",
        "<5",
        "AVG<5",
        "mean<5",
        "5>avg",
        "t:avg<5",
        "error_rate<1",
        "goodput>1",
    ];
    for text in no_aggregation {
        let told =
            format!("{LEFT}{text:?} left hand side; reason: failed parsing method from expression");
        assert_eq!(refusal(text), told);
    }
}

#[test]
fn what_is_no_percentile_is_refused() {
    let percentiles = [
        (
            "p( 95 )<500",
            "; reason: strconv.ParseFloat: parsing \" 95 \": invalid syntax",
        ),
        (
            "p(95 )<500",
            "; reason: strconv.ParseFloat: parsing \"95 \": invalid syntax",
        ),
        ("p(101)<500", ", provide a number between 0 and 100"),
        ("p(-1)<5", ", provide a number between 0 and 100"),
        ("p(NaN)<5", ", provide a number between 0 and 100"),
        ("p(Inf)<5", ", provide a number between 0 and 100"),
        (
            "p()<5",
            "; reason: strconv.ParseFloat: parsing \"\": invalid syntax",
        ),
        (
            "p(0x10)<5",
            "; reason: strconv.ParseFloat: parsing \"0x10\": invalid syntax",
        ),
        (
            "p(abc)<5",
            "; reason: strconv.ParseFloat: parsing \"abc\": invalid syntax",
        ),
    ];
    for (text, why) in percentiles {
        let told =
            format!("{LEFT}{text:?} left hand side; reason: malformed percentile value{why}");
        assert_eq!(refusal(text), told);
    }
}

#[test]
fn what_is_no_bound_is_refused() {
    let bounds = [
        ("avg<0x10", r#""0x10": invalid syntax"#),
        ("avg<1e999", r#""1e999": value out of range"#),
        ("avg<>5", r#"">5": invalid syntax"#),
        ("avg<<5", r#""<5": invalid syntax"#),
        ("avg=====2", r#""==2": invalid syntax"#),
        ("avg< ", r#""": invalid syntax"#),
        ("avg<5 && max<5", r#""5 && max<5": invalid syntax"#),
        ("avg<5, max<5", r#""5, max<5": invalid syntax"#),
        ("avg<=5<=6", r#""5<=6": invalid syntax"#),
    ];
    for (text, why) in bounds {
        let told =
            format!("{RIGHT}{text:?} right hand side; reason: strconv.ParseFloat: parsing {why}");
        assert_eq!(refusal(text), told);
    }
}

#[test]
fn what_has_no_two_sides_is_refused() {
    for text in ["avg=5", "avg 5", "avg<", " ", "", "avg"] {
        assert_eq!(
            refusal(text),
            format!(
                "failed parsing threshold expression {text:?}; reason: malformed threshold expression"
            )
        );
    }
}

#[test]
fn windows_and_units_are_added() {
    let read = |text| Threshold::parse_script(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        read(" p(95)[1m] < 500 ").window,
        Some(Duration::from_secs(60))
    );
    assert_eq!(
        read("avg<5ms").bound,
        Bound::Time(5.0, super::super::TimeUnit::Millisecond)
    );
    assert_eq!(read("rate<1%").bound, Bound::Percent(1.0));
    assert_eq!(read("p<5").aggregation, Aggregation::Percentile(0.0));
    assert!(Threshold::parse_script("p(95)[1m]x<5").is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-zA-Zx(){}\\[\\]:,.<>=!%0-9eµ_ \"'+-]{0,24}") {
        let _ = Threshold::parse_script(&text);
    }
}

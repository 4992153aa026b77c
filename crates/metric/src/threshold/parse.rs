//! The parser of thresholds: one pass over the text, with the grammar in the parent module.
//!
//! Must not know metrics. Invariant: every error carries the position at which the text stopped making sense.

use super::problem::{ParseError, Problem};
use super::selector::{self, MetricSelector};
use super::{Aggregation, Bound, Operator, Threshold, TimeUnit};
use std::time::Duration;

/// In matching order: an operator comes before its own prefix.
const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

pub(super) fn threshold(text: &str) -> Result<Threshold, ParseError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_spaces();
    if cursor.rest().is_empty() {
        return Err(cursor.error_at(0, Problem::Empty));
    }
    let prefix = metric_prefix(&mut cursor)?;
    let (metric, aggregation) = aggregation(&mut cursor, prefix)?;
    let window = window(&mut cursor)?;
    cursor.skip_spaces();
    let operator = operator(&mut cursor)?;
    cursor.skip_spaces();
    let bound = bound(&mut cursor)?;
    cursor.expect_end()?;
    Ok(Threshold {
        source: text.into(),
        metric,
        aggregation,
        window,
        operator,
        bound,
    })
}

/// `selector:`; `None`, with nothing consumed, when there is no selector here.
fn metric_prefix(cursor: &mut Cursor<'_>) -> Result<Option<MetricSelector>, ParseError> {
    let start = cursor.position();
    let name = cursor.name();
    if !cursor.rest().starts_with([':', '{']) {
        cursor.position = start;
        return Ok(None);
    }
    if name.is_empty() {
        return Err(cursor.error(Problem::NoMetricName));
    }
    let selector = MetricSelector {
        metric: name.into(),
        tags: selector::tags(cursor)?,
    };
    cursor.expect(':')?;
    cursor.skip_spaces();
    Ok(Some(selector))
}

fn aggregation(
    cursor: &mut Cursor<'_>,
    prefix: Option<MetricSelector>,
) -> Result<(Option<MetricSelector>, Aggregation), ParseError> {
    let start = cursor.position();
    let word = cursor.take_while(|c| c.is_alphabetic() || c == '_');
    let aggregation = match word {
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "value" => Aggregation::Value,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "max" => Aggregation::Max,
        "med" => Aggregation::Med,
        "p" => Aggregation::Percentile(percentile(cursor)?),
        "error_rate" | "errors" | "goodput" | "throughput" if prefix.is_some() => {
            return Err(cursor.error_at(start, Problem::TwoMetrics(word.into())));
        }
        // As the objective of a search for the capacity.
        "errors" => {
            return Ok((Some(MetricSelector::whole("error_rate")), Aggregation::Rate));
        }
        "error_rate" | "goodput" | "throughput" => {
            return Ok((Some(MetricSelector::whole(word)), Aggregation::Rate));
        }
        _ => {
            let rest = cursor.take_while(|c| !c.is_whitespace() && !"<>=![".contains(c));
            let found = format!("{word}{rest}");
            return Err(cursor.error_at(start, Problem::UnknownAggregation(found)));
        }
    };
    Ok((prefix, aggregation))
}

/// `(95)` or `95`
fn percentile(cursor: &mut Cursor<'_>) -> Result<f64, ParseError> {
    let in_brackets = cursor.eat("(");
    let start = cursor.position();
    let value = cursor.number()?;
    if !(0.0..=100.0).contains(&value) {
        let written = cursor.since(start).into();
        return Err(cursor.error_at(start, Problem::PercentileRange(written)));
    }
    if in_brackets {
        cursor.expect(')')?;
    }
    Ok(value)
}

pub(super) fn window(cursor: &mut Cursor<'_>) -> Result<Option<Duration>, ParseError> {
    if !cursor.eat("[") {
        return Ok(None);
    }
    let start = cursor.position();
    let mut ns = 0.0;
    loop {
        let value = cursor.number()?;
        ns += value * time_unit(cursor)?.nanoseconds() as f64;
        if cursor.eat("]") {
            break;
        }
        if !cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(cursor.error(Problem::Missing(']')));
        }
    }
    if (1.0..u64::MAX as f64).contains(&ns) {
        Ok(Some(Duration::from_nanos(ns.round() as u64)))
    } else {
        Err(cursor.error_at(start, Problem::WindowRange))
    }
}

fn time_unit(cursor: &mut Cursor<'_>) -> Result<TimeUnit, ParseError> {
    let start = cursor.position();
    let unit = cursor.take_while(char::is_alphabetic);
    TimeUnit::parse(unit).ok_or_else(|| cursor.error_at(start, Problem::UnknownUnit(unit.into())))
}

fn operator(cursor: &mut Cursor<'_>) -> Result<Operator, ParseError> {
    let found = OPERATORS.into_iter().find(|(text, _)| cursor.eat(text));
    found
        .map(|(_, operator)| operator)
        .ok_or_else(|| cursor.error(Problem::NoOperator))
}

pub(super) fn bound(cursor: &mut Cursor<'_>) -> Result<Bound, ParseError> {
    let value = cursor.number()?;
    if cursor.eat("%") {
        return Ok(Bound::Percent(value));
    }
    if cursor.rest().starts_with(char::is_alphabetic) {
        return Ok(Bound::Time(value, time_unit(cursor)?));
    }
    Ok(Bound::Number(value))
}

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.position]
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    pub(super) fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Letters, digits, `_`, `.` and `-`: what names of metrics are made of. May be empty.
    pub(super) fn name(&mut self) -> &'a str {
        self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
    }

    /// Whether `wanted` stood here; then it is passed over.
    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.position += wanted.len();
        }
        found
    }

    pub(super) fn expect(&mut self, wanted: char) -> Result<(), ParseError> {
        if self.rest().starts_with(wanted) {
            self.position += wanted.len_utf8();
            Ok(())
        } else {
            Err(self.error(Problem::Missing(wanted)))
        }
    }

    pub(super) fn expect_end(&mut self) -> Result<(), ParseError> {
        self.skip_spaces();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.error(Problem::Trailing))
        }
    }

    /// `[+-] digits [. digits] [e [+-] digits]`; digits may be missing on one side of the point.
    fn number(&mut self) -> Result<f64, ParseError> {
        let start = self.position;
        self.take_sign();
        self.take_while(|c| c.is_ascii_digit() || c == '.');
        let mantissa_end = self.position;
        if self.eat("e") || self.eat("E") {
            self.take_sign();
            // Not an exponent after all: leave the letter to whoever reads units.
            if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                self.position = mantissa_end;
            }
        }
        match self.since(start).parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err(self.error_at(start, Problem::NotFinite)),
            Err(_) => Err(self.error_at(start, Problem::NoNumber)),
        }
    }

    fn take_sign(&mut self) {
        if !self.eat("-") {
            self.eat("+");
        }
    }

    pub(super) fn error(&self, problem: Problem) -> ParseError {
        self.error_at(self.position, problem)
    }

    pub(super) fn error_at(&self, position: usize, problem: Problem) -> ParseError {
        ParseError {
            text: self.text.into(),
            position,
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TagSet;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Threshold {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn problem(text: &str) -> (usize, Problem) {
        let error = text.parse::<Threshold>().expect_err(text);
        (error.position, error.problem)
    }

    #[test]
    fn k6_conditions_are_read() {
        let cases = [
            ("count>=10", Aggregation::Count, Operator::AtLeast, 10.0),
            ("rate<0.01", Aggregation::Rate, Operator::Less, 0.01),
            ("value == -1", Aggregation::Value, Operator::Equal, -1.0),
            (
                "  avg  <=  1e3 ",
                Aggregation::Avg,
                Operator::AtMost,
                1000.0,
            ),
            ("min!=.5", Aggregation::Min, Operator::Unequal, 0.5),
            ("max > 5.", Aggregation::Max, Operator::Greater, 5.0),
            ("med===2", Aggregation::Med, Operator::Equal, 2.0),
            (
                "p(99.9)<+500",
                Aggregation::Percentile(99.9),
                Operator::Less,
                500.0,
            ),
            ("p(0)<1", Aggregation::Percentile(0.0), Operator::Less, 1.0),
        ];
        for (text, aggregation, operator, bound) in cases {
            let threshold = parsed(text);
            assert_eq!(threshold.aggregation, aggregation, "{text}");
            assert_eq!(
                (threshold.operator, threshold.bound),
                (operator, Bound::Number(bound)),
                "{text}"
            );
            assert_eq!((threshold.metric, threshold.window), (None, None), "{text}");
        }
    }

    #[test]
    fn short_forms_name_their_metric() {
        for name in ["error_rate", "goodput", "throughput"] {
            let threshold = parsed(&format!("{name}>100"));
            assert_eq!(threshold.metric, Some(MetricSelector::whole(name)));
            assert_eq!(threshold.aggregation, Aggregation::Rate);
        }
        assert_eq!(parsed("p99.9<5").aggregation, Aggregation::Percentile(99.9));
        assert_eq!(parsed("error_rate<1%").bound, Bound::Percent(1.0));
        assert_eq!(parsed("errors<1%").metric, parsed("error_rate<1%").metric);
    }

    #[test]
    fn bounds_take_units_of_time() {
        for (text, number, unit) in [
            ("p(99)<50ms", 50.0, TimeUnit::Millisecond),
            ("p99 < 1.5s", 1.5, TimeUnit::Second),
            ("max<2e3us", 2000.0, TimeUnit::Microsecond),
            ("max<3µs", 3.0, TimeUnit::Microsecond),
            ("max<3m", 3.0, TimeUnit::Minute),
        ] {
            assert_eq!(parsed(text).bound, Bound::Time(number, unit), "{text}");
        }
    }

    #[test]
    fn windows_are_read() {
        assert_eq!(
            parsed("p(95)[1m]<500").window,
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            parsed("rate[1m30s] < 1%").window,
            Some(Duration::from_secs(90))
        );
        assert_eq!(
            parsed("avg[0.5s]<1").window,
            Some(Duration::from_millis(500))
        );
    }

    #[test]
    fn prefixes_name_a_metric_and_tags() {
        let metric = |text: &str| parsed(text).metric.expect(text);
        assert_eq!(
            metric("service_time:p(99)<50ms"),
            MetricSelector::whole("service_time")
        );
        let tagged = metric(r#"http_req_duration{ name : "a:b,}", method:GET }: p(95)[10s]<200"#);
        assert_eq!(
            tagged.tags,
            TagSet::new().with("name", "a:b,}").with("method", "GET")
        );
        assert_eq!(
            metric("reqs{url:http://h/}:count>1").tags.get("url"),
            Some("http://h/")
        );
        assert_eq!(
            tagged.to_string(),
            r#"http_req_duration{method:GET,name:"a:b,}"}"#
        );
    }

    #[test]
    fn problems_are_placed() {
        use Problem::*;
        let cases = [
            ("", 0, Empty),
            ("  ", 0, Empty),
            ("p95th<5", 3, NoOperator),
            ("mean<5", 0, UnknownAggregation("mean".into())),
            ("x:avrage<5", 2, UnknownAggregation("avrage".into())),
            ("<5", 0, UnknownAggregation(String::new())),
            ("p(101)<5", 2, PercentileRange("101".into())),
            ("p(-1)<5", 2, PercentileRange("-1".into())),
            ("p()<5", 2, NoNumber),
            ("p(95<5", 4, Missing(')')),
            ("avg=5", 3, NoOperator),
            ("avg 5", 4, NoOperator),
            ("avg<", 4, NoNumber),
            ("avg<inf", 4, NoNumber),
            ("avg<1e999", 4, NotFinite),
            ("avg<5 ms", 6, Trailing),
            ("avg<5 avg", 6, Trailing),
            ("avg<5days", 5, UnknownUnit("days".into())),
            ("avg[5]<5", 5, UnknownUnit(String::new())),
            ("avg[0s]<5", 4, WindowRange),
            ("avg[-1s]<5", 4, WindowRange),
            ("avg[1e300h]<5", 4, WindowRange),
            ("avg[1s<5", 6, Missing(']')),
            ("m:goodput>1", 2, TwoMetrics("goodput".into())),
            (":avg<5", 0, NoMetricName),
            ("m{a}:avg<5", 3, Missing(':')),
            ("m{:b}:avg<5", 2, NoTagName),
            ("m{a:b:avg<5", 11, Missing('}')),
            ("m{a:1,a:2}:avg<5", 6, TagTwice("a".into())),
            ("m{a:b}avg<5", 6, Missing(':')),
        ];
        for (text, position, expected) in cases {
            assert_eq!(problem(text), (position, expected), "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let error = "größe:p(101)<5"
            .parse::<Threshold>()
            .expect_err("101 is too much");
        let expected = "a percentile must lie between 0 and 100, not 101 (column 9)\n  größe:p(101)<5\n          ^";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn selectors_are_read_alone() {
        let selector: MetricSelector = " checks{check: is ok } ".parse().unwrap();
        assert_eq!(selector.tags.get("check"), Some("is ok"));
        assert_eq!("checks{}".parse(), Ok(MetricSelector::whole("checks")));
        assert_eq!(
            "a b".parse::<MetricSelector>().unwrap_err().problem,
            Problem::Trailing
        );
        assert_eq!(
            "{a:b}".parse::<MetricSelector>().unwrap_err().problem,
            Problem::NoMetricName
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z(){}\\[\\]:,.<>=!%0-9eµ \"'-]{0,24}") {
            if let Err(error) = text.parse::<Threshold>() {
                prop_assert!(error.to_string().contains("column"));
            }
        }

        #[test]
        fn selectors_read_back(name in "[a-z_]{1,9}", tag in "[a-z_]{1,5}", value in "[a-z \":,}é]{0,9}") {
            let selector = MetricSelector { metric: name.into(), tags: TagSet::new().with(tag, value) };
            prop_assert_eq!(selector.to_string().parse(), Ok(selector));
        }
    }
}

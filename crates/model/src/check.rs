//! Content checks (`--expect`): what a response must satisfy to count as goodput.
//!
//! Parsing and evaluation are pure: a response is passed in as parts. Must not know the wire. Invariant: a
//! check that needs the body cannot pass by accident when no body was kept; the engine asks
//! [`Check::needs_body`] first.

use std::fmt;
use std::time::Duration;

use regex::bytes::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::JsonPath;
use crate::duration;

/// Whether a status counts as good when the user says nothing about it: success or redirect, as in k6.
#[must_use]
pub const fn is_good_status(status: u16) -> bool {
    matches!(status, 200..400)
}

/// The parts of a response that checks look at.
pub struct Answer<'a> {
    /// Status code.
    pub status: u16,
    /// Header fields in order.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// The body, decoded from its content coding, as far as it was kept.
    pub body: &'a [u8],
    /// Bytes of the body as received.
    pub body_size: u64,
    /// Service time in nanoseconds.
    pub service_time_ns: u64,
}

#[derive(Clone, Debug)]
enum Expectation {
    Status {
        ranges: Vec<(u16, u16)>,
        negated: bool,
    },
    Header {
        name: String,
        text: TextRule,
    },
    Body(TextRule),
    Json {
        path: JsonPath,
        rule: JsonRule,
    },
    Size(NumberRule),
    TimeNs(NumberRule),
}

#[derive(Clone, Debug)]
enum TextRule {
    Present,
    Equals(String),
    Differs(String),
    Matches(Regex),
    DoesNotMatch(Regex),
}

#[derive(Clone, Debug)]
enum JsonRule {
    PresentAndNotNull,
    Text(TextRule),
    Number(NumberRule),
}

#[derive(Clone, Copy, Debug)]
struct NumberRule {
    order: Order,
    bound: f64,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

/// One content check.
#[derive(Clone, Debug)]
pub struct Check {
    source: String,
    expectation: Expectation,
}

/// The supported forms, for help and error messages.
pub const FORMS: &str = "status=200, status=2xx, status=200,201, status!=500, header:NAME, \
     header:NAME=TEXT, header:NAME=~REGEX, body=TEXT, body~REGEX, body!~REGEX, json:PATH, \
     json:PATH=VALUE, json:PATH=~REGEX, json:PATH>N, size>N, size=N, time<50ms";

impl Check {
    /// Parses one check.
    ///
    /// # Errors
    /// Says which part is wrong, and lists the supported forms.
    pub fn parse(text: &str) -> Result<Check, String> {
        let expectation = parse_expectation(text.trim())
            .map_err(|why| format!("check {text:?}: {why}; forms: {FORMS}"))?;
        Ok(Check {
            source: text.to_owned(),
            expectation,
        })
    }

    /// Whether this check needs the body to be kept.
    #[must_use]
    pub fn needs_body(&self) -> bool {
        matches!(
            self.expectation,
            Expectation::Body(_) | Expectation::Json { .. }
        )
    }

    /// Whether this check needs the header fields.
    #[must_use]
    pub fn needs_headers(&self) -> bool {
        matches!(self.expectation, Expectation::Header { .. })
    }

    /// Whether this check decides which statuses are good.
    #[must_use]
    pub fn is_about_status(&self) -> bool {
        matches!(self.expectation, Expectation::Status { .. })
    }

    /// Whether the response passes.
    #[must_use]
    pub fn passes(&self, answer: &Answer<'_>) -> bool {
        match &self.expectation {
            Expectation::Status { ranges, negated } => {
                let inside = ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&answer.status));
                inside != *negated
            }
            Expectation::Header { name, text } => {
                let value = answer
                    .headers
                    .iter()
                    .find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()))
                    .map(|(_, value)| *value);
                text.holds(value)
            }
            Expectation::Body(text) => text.holds(Some(answer.body)),
            Expectation::Json { path, rule } => {
                serde_json::from_slice(answer.body).is_ok_and(|json| rule.holds(path.find(&json)))
            }
            Expectation::Size(rule) => rule.holds(answer.body_size as f64),
            Expectation::TimeNs(rule) => rule.holds(answer.service_time_ns as f64),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Check::parse(&text).map_err(serde::de::Error::custom)
    }
}

fn parse_expectation(text: &str) -> Result<Expectation, String> {
    if let Some(rest) = text.strip_prefix("status") {
        return parse_status(rest);
    }
    if let Some(rest) = text.strip_prefix("header:") {
        let end = rest.find(['=', '~', '!', '<', '>']).unwrap_or(rest.len());
        let (name, rule) = rest.split_at(end);
        if name.is_empty() {
            return Err("names no header".to_owned());
        }
        return Ok(Expectation::Header {
            name: name.to_owned(),
            text: parse_text_rule(rule)?,
        });
    }
    if let Some(rest) = text.strip_prefix("body") {
        return match parse_text_rule(rest)? {
            TextRule::Present => Err("says nothing about the body".to_owned()),
            rule => Ok(Expectation::Body(rule)),
        };
    }
    if let Some(rest) = text.strip_prefix("json:") {
        let (path, rule) = JsonPath::parse_prefix(rest)?;
        return Ok(Expectation::Json {
            path,
            rule: parse_json_rule(rule)?,
        });
    }
    if let Some(rest) = text.strip_prefix("size") {
        return parse_number_rule(rest, number).map(Expectation::Size);
    }
    if let Some(rest) = text.strip_prefix("time") {
        return parse_number_rule(rest, time_ns).map(Expectation::TimeNs);
    }
    Err("starts with none of status, header:, body, json:, size, time".to_owned())
}

fn parse_status(rest: &str) -> Result<Expectation, String> {
    let (negated, list) = match (rest.strip_prefix("!="), rest.strip_prefix('=')) {
        (Some(list), _) => (true, list),
        (None, Some(list)) => (false, list),
        (None, None) => return Err("a status check is status=… or status!=…".to_owned()),
    };
    let ranges: Result<Vec<_>, String> = list
        .split(',')
        .map(|part| status_range(part.trim()))
        .collect();
    Ok(Expectation::Status {
        ranges: ranges?,
        negated,
    })
}

fn status_range(text: &str) -> Result<(u16, u16), String> {
    let code = |digits: &str| match digits.parse::<u16>() {
        Ok(code @ 100..=999) => Ok(code),
        _ => Err(format!(
            "{text:?} is not a status code, a range 200-299 or a class 2xx"
        )),
    };
    if let Some(class) = text.strip_suffix("xx") {
        return code(&format!("{class}00")).map(|low| (low, low + 99));
    }
    match text.split_once('-') {
        Some((low, high)) => Ok((code(low)?, code(high)?)),
        None => code(text).map(|only| (only, only)),
    }
}

fn parse_text_rule(rule: &str) -> Result<TextRule, String> {
    let regex =
        |pattern: &str| Regex::new(pattern).map_err(|why| format!("regex {pattern:?}: {why}"));
    if rule.is_empty() {
        return Ok(TextRule::Present);
    }
    if let Some(pattern) = rule.strip_prefix("=~").or_else(|| rule.strip_prefix('~')) {
        return regex(pattern).map(TextRule::Matches);
    }
    if let Some(pattern) = rule.strip_prefix("!~") {
        return regex(pattern).map(TextRule::DoesNotMatch);
    }
    if let Some(text) = rule.strip_prefix("!=") {
        return Ok(TextRule::Differs(text.to_owned()));
    }
    match rule.strip_prefix('=') {
        Some(text) => Ok(TextRule::Equals(text.to_owned())),
        None => Err(format!("{rule:?} is not a comparison")),
    }
}

fn parse_json_rule(rule: &str) -> Result<JsonRule, String> {
    if rule.is_empty() {
        return Ok(JsonRule::PresentAndNotNull);
    }
    if rule.starts_with(['<', '>']) {
        return parse_number_rule(rule, number).map(JsonRule::Number);
    }
    parse_text_rule(rule).map(JsonRule::Text)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn time_ns(text: &str) -> Option<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a year has fewer microseconds than 2^53"
    )]
    let ns = |time: Duration| time.as_nanos() as f64;
    duration::parse_with_units(text).ok().map(ns)
}

fn parse_number_rule(
    rule: &str,
    number: impl Fn(&str) -> Option<f64>,
) -> Result<NumberRule, String> {
    const ORDERS: [(&str, Order); 7] = [
        ("<=", Order::LessOrEqual),
        (">=", Order::GreaterOrEqual),
        ("!=", Order::NotEqual),
        ("==", Order::Equal),
        ("<", Order::Less),
        (">", Order::Greater),
        ("=", Order::Equal),
    ];
    let (order, value) = ORDERS
        .iter()
        .find_map(|(sign, order)| rule.strip_prefix(sign).map(|value| (*order, value)))
        .ok_or_else(|| format!("{rule:?} is not a comparison with a number"))?;
    let bound = number(value.trim()).ok_or_else(|| format!("{value:?} is not a number"))?;
    Ok(NumberRule { order, bound })
}

impl TextRule {
    fn holds(&self, value: Option<&[u8]>) -> bool {
        match (self, value) {
            (TextRule::Present, value) => value.is_some(),
            (TextRule::Equals(text), Some(value)) => value == text.as_bytes(),
            (TextRule::Matches(regex), Some(value)) => regex.is_match(value),
            (TextRule::Equals(_) | TextRule::Matches(_), None) => false,
            (TextRule::Differs(text), value) => value != Some(text.as_bytes()),
            (TextRule::DoesNotMatch(regex), value) => !value.is_some_and(|v| regex.is_match(v)),
        }
    }
}

impl JsonRule {
    fn holds(&self, value: Option<&serde_json::Value>) -> bool {
        use serde_json::Value;
        match self {
            JsonRule::PresentAndNotNull => value.is_some_and(|value| !value.is_null()),
            JsonRule::Number(rule) => value
                .and_then(Value::as_f64)
                .is_some_and(|number| rule.holds(number)),
            // A pattern applies to a value; null counts as a missing value.
            JsonRule::Text(rule @ (TextRule::Matches(_) | TextRule::DoesNotMatch(_)))
                if value.is_some_and(Value::is_null) =>
            {
                rule.holds(None)
            }
            JsonRule::Text(rule) => {
                let text = value.map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                rule.holds(text.as_ref().map(String::as_bytes))
            }
        }
    }
}

impl NumberRule {
    fn holds(self, value: f64) -> bool {
        match self.order {
            Order::Less => value < self.bound,
            Order::LessOrEqual => value <= self.bound,
            Order::Equal => value == self.bound,
            Order::NotEqual => value != self.bound,
            Order::GreaterOrEqual => value >= self.bound,
            Order::Greater => value > self.bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(check: &str, status: u16, body: &str) -> bool {
        let headers: [(&[u8], &[u8]); 1] = [(b"Content-Type", b"application/json")];
        let answer = Answer {
            status,
            headers: &headers,
            body: body.as_bytes(),
            body_size: body.len() as u64,
            service_time_ns: 20_000_000,
        };
        Check::parse(check).expect("a good check").passes(&answer)
    }

    #[test]
    fn statuses() {
        assert!(passes("status=200", 200, ""));
        assert!(passes("status=2xx,404", 404, ""));
        assert!(!passes("status=200-204", 205, ""));
        assert!(!passes("status!=5xx", 503, ""));
    }

    #[test]
    fn headers_and_bodies() {
        assert!(passes("header:content-type=~json", 200, ""));
        assert!(passes("header:content-type", 200, ""));
        assert!(!passes("header:x-none", 200, ""));
        assert!(!passes("header:content-type=text/html", 200, ""));
        assert!(passes("body~^a+$", 200, "aaa"));
        assert!(passes("body!~error", 200, "fine"));
        assert!(passes("size>2", 200, "aaa"));
        assert!(!passes("size=4", 200, "aaa"));
        assert!(passes("time<50ms", 200, ""));
        assert!(passes("time<1m30s", 200, ""));
    }

    #[test]
    fn json_paths() {
        let body = r#"{"categories":null,"items":[{"name":"drill","n":3}]}"#;
        assert!(!passes("json:$.categories", 200, body));
        assert!(passes("json:$.items[0].name=drill", 200, body));
        assert!(passes("json:$['items'][0].n>2", 200, body));
        assert!(passes("json:$[\"items\"][-1].n>2", 200, body));
        assert!(!passes("json:$.items[1]", 200, body));
        assert!(!passes("json:$.categories=~.", 200, body));
        assert!(passes("json:$.categories=null", 200, body));
        assert!(!passes("json:$.items", 200, "not json"));
    }

    #[test]
    fn bad_checks_say_why() {
        for (text, part) in [
            ("nothing", "starts with none"),
            ("status=abc", "not a status code"),
            ("body", "says nothing"),
            ("json:a", "starts with $"),
            ("body~(", "regex"),
            ("size>x", "not a number"),
            ("size<nan", "not a number"),
            ("json:$.a<inf", "not a number"),
            ("time<NaNms", "not a number"),
            ("time<50", "not a number"),
        ] {
            let message = Check::parse(text).expect_err("a bad check");
            assert!(message.contains(part), "{message}");
        }
    }
}

//! Whether the answers say anything: one and the same body, one without content, or errors with a status of success.
//!
//! Must not know how bodies were sampled. Invariants: a body is called one without content only where every body of its
//! shape that was looked at was the same; silent where a check of the user's looks at bodies.

use std::collections::BTreeMap;

use loadline_model::request::{BodySource, RequestTemplate};
use loadline_model::snapshot::{BODY_SAMPLE_MAX, BodySample, Shape, ShapeTally};
use loadline_model::verdict::{Finding, Gravity};
use serde_json::Value;

use super::code::Code;
use super::facts::{Facts, share};
use super::wording::{count, percent};

/// Bodies that must have been looked at for a statement on all.
const SAMPLED_MIN: u64 = 3;

/// Share of the answers from which those without content are told beside others that have some; and the share from
/// which they are what the rate consists of.
const HOLLOW_TOLD: f64 = 0.01;
const HOLLOW_RATE: f64 = 0.2;

/// Share of the successful answers from which those of another kind are told.
const MIXED: f64 = 0.01;
/// Share of the answers from which redirects are told.
const REDIRECTS: f64 = 0.5;
/// Characters of a body that are shown.
const EXAMPLE: usize = 80;

pub(super) fn findings(facts: &Facts<'_>) -> Option<Finding> {
    if body_is_checked(facts) {
        return None;
    }
    some_hollow(facts)
        .filter(|_| !facts.is_script())
        .or_else(|| redirects(facts))
        .or_else(|| all_alike(facts))
        .or_else(|| mixed(facts))
}

/// Answers that send the client elsewhere, where it did not go.
fn redirects(facts: &Facts<'_>) -> Option<Finding> {
    const NOT_MODIFIED: u16 = 304;
    let is_elsewhere = |status: u16| (300..400).contains(&status) && status != NOT_MODIFIED;
    let part = facts.status_share(is_elsewhere);
    let rows = facts.seen.statuses.rows();
    let elsewhere = rows.filter(|(status, _)| is_elsewhere(**status));
    let (status, _) = elsewhere.max_by_key(|(_, n)| **n)?;
    // A script's hops are answers too, those that were followed among them.
    let least = if facts.is_script() { 1.0 } else { REDIRECTS };
    (part >= least).then(|| {
        Code::MixedAnswers.finding(
            Gravity::Caution,
            format!(
                "{} of the answers were redirects that were not followed, most with status {status}",
                percent(part)
            ),
            "follow redirects, or ask for the address that they name",
        )
    })
}

/// Answers with a status of success that differ in kind: some hold an error, or nothing, or are of another content type.
fn mixed(facts: &Facts<'_>) -> Option<Finding> {
    let rows = facts.seen.shapes.rows();
    let good: Vec<(&Shape, &ShapeTally)> = rows
        .filter(|(shape, _)| (200..300).contains(&shape.status))
        .collect();
    let all: u64 = good.iter().map(|(_, tally)| tally.count).sum();
    let (errors, example) = with_bodies(&good, is_error);
    let (empty, _) = with_bodies(&good, is_bare);
    let has_content = good.iter().any(|(_, tally)| {
        tally
            .samples
            .iter()
            .any(|body| !is_bare(&body.text) && !body.text.trim().is_empty())
    });
    let what = if errors / all as f64 >= MIXED {
        let text: String = example.trim().chars().take(EXAMPLE).collect();
        format!(
            "{} of the answers with a status of success hold an error: {text}",
            percent(errors / all as f64)
        )
    } else if has_content && !facts.is_script() && empty / all as f64 >= MIXED {
        format!(
            "{} of the answers with a status of success are empty objects, the others are not",
            percent(empty / all as f64)
        )
    } else {
        other_kinds(&good, all).filter(|_| !requests_vary(facts))?
    };
    Some(Code::MixedAnswers.finding(
        Gravity::Caution,
        what,
        "look at a sample body of each kind[, and say with {expect} what a right answer holds]",
    ))
}

/// How many answers have such a body, by the samples of each shape, and one of them.
fn with_bodies<'a>(
    shapes: &[(&'a Shape, &'a ShapeTally)],
    is_such: impl Fn(&str) -> bool,
) -> (f64, &'a str) {
    let (mut number, mut example) = (0.0, "");
    for (_, tally) in shapes {
        for body in tally.samples.iter().filter(|body| is_such(&body.text)) {
            number += tally.count as f64 * share(body.count, tally.sampled);
            example = &body.text;
        }
    }
    (number, example)
}

/// Content types that one request gave by turns.
fn other_kinds(shapes: &[(&Shape, &ShapeTally)], all: u64) -> Option<String> {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (shape, tally) in shapes {
        let kind = shape.content_type.split(';').next().unwrap_or_default();
        *kinds.entry(kind.trim()).or_default() += tally.count;
    }
    let mut kinds: Vec<(&str, u64)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let [(most, _), (other, n), ..] = kinds[..] else {
        return None;
    };
    let part = share(n, all);
    let named = |kind: &str| match kind {
        "" => "no content type".to_owned(),
        kind => kind.to_owned(),
    };
    (part >= MIXED).then(|| {
        format!(
            "answers with a status of success are of two kinds: {} and, in {} of them, {}",
            named(most),
            percent(part),
            named(other)
        )
    })
}

/// Answers without content among others that have some: what is fast about them is nothing.
fn some_hollow(facts: &Facts<'_>) -> Option<Finding> {
    let completed = facts.counts.completed;
    let shapes = facts.seen.shapes.rows();
    let (shape, tally, body) = shapes
        .filter_map(|(shape, tally)| {
            let [body] = &tally.samples[..] else {
                return None;
            };
            let size = tally.body_size.max().unwrap_or(0);
            let is_one = tally.body_size.min() == tally.body_size.max()
                && body.count == tally.sampled
                && tally.sampled >= SAMPLED_MIN;
            let is_success = (200..300).contains(&shape.status);
            (is_one && is_success && is_hollow(&body.text, size)).then_some((shape, tally, body))
        })
        .max_by_key(|(_, tally, _)| tally.count)?;
    let share = share(tally.count, completed);
    if share < HOLLOW_TOLD || tally.count >= completed {
        return None;
    }
    let gravity = if share >= HOLLOW_RATE {
        Gravity::Alarm
    } else {
        Gravity::Caution
    };
    let text = format!(
        "{} of the answers ({} with status {}) were the same {} bytes without content, the others were not: {}",
        percent(share),
        count(tally.count),
        shape.status,
        count(tally.body_size.max().unwrap_or(0)),
        body.text.trim()
    );
    Some(Code::HollowAnswers.finding(
        gravity,
        text,
        "such answers are no goodput[: say what a right answer holds with {expect}, and run again]",
    ))
}

/// One body for everything.
fn all_alike(facts: &Facts<'_>) -> Option<Finding> {
    let (shape, tally, body) = only_body(facts)?;
    let size = tally.body_size.max().unwrap_or(0);
    let what = |without_content: &str| {
        format!(
            "every body looked at ({}) was the same {} bytes{without_content}, of {} answers with status {}",
            count(tally.sampled),
            count(size),
            count(tally.count),
            shape.status,
        )
    };
    if is_hollow(&body.text, size) {
        return Some(Code::HollowAnswers.finding(
            Gravity::Alarm,
            format!("{}: {}", what(" without content"), body.text.trim()),
            "send one request by hand and compare[; then add {expect} so that such an \
                 answer is not goodput]",
        ));
    }
    (requests_vary(facts) && !facts.is_script()).then(|| {
        Code::SameAnswer.finding(
            Gravity::Caution,
            format!("{}, though the requests differ", what("")),
            "check that the target uses what is sent[, and say with {expect} what a right \
                 answer holds]",
        )
    })
}

/// The one body of the one shape of all answers; `None` when there are more, or none with a body.
fn only_body<'a>(facts: &'a Facts<'_>) -> Option<(&'a Shape, &'a ShapeTally, &'a BodySample)> {
    let shapes = &facts.seen.shapes;
    let mut rows = shapes.rows();
    let (shape, tally) = rows.next()?;
    let is_only = rows.next().is_none() && shapes.overflow().is_none();
    let [body] = &tally.samples[..] else {
        return None;
    };
    let all_alike = body.count == tally.sampled && tally.body_size.min() == tally.body_size.max();
    let said = is_only && all_alike && tally.sampled >= SAMPLED_MIN && !body.text.trim().is_empty();
    (said && (200..300).contains(&shape.status)).then_some((shape, tally, body))
}

/// Whether a body is JSON with names or places for values and no value in any of them. A bare
/// `{}`, `[]` or `null` may be all that an answer has to say.
fn is_hollow(body: &str, size: u64) -> bool {
    if size > BODY_SAMPLE_MAX as u64 {
        return false;
    }
    match serde_json::from_str(body) {
        Ok(Value::Object(fields)) => !fields.is_empty() && fields.values().all(says_nothing),
        Ok(Value::Array(items)) => !items.is_empty() && items.iter().all(says_nothing),
        _ => false,
    }
}

/// The parser limits the depth, so recursion is limited too.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a body says by its names that it is an error.
fn is_error(body: &str) -> bool {
    const NAMES: [&str; 5] = ["error", "errors", "err", "exception", "fault"];
    const STATES: [&str; 4] = ["error", "fail", "failed", "failure"];
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(body) else {
        // What was cut off cannot be read; its beginning can.
        return body.trim_start().starts_with("{\"error");
    };
    let names_one = |name: &str, value: &Value| {
        NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
            && !says_nothing(value)
            && !matches!(value, Value::Bool(false))
    };
    let is_state = |name: &str, value: &Value| match (name, value) {
        ("success" | "ok", Value::Bool(is_so)) => !is_so,
        ("status" | "result" | "state", Value::String(text)) => {
            STATES.iter().any(|state| text.eq_ignore_ascii_case(state))
        }
        _ => false,
    };
    fields
        .iter()
        .any(|(name, value)| names_one(name, value) || is_state(name, value))
}

/// Whether a body is an object, list or value with nothing in it.
fn is_bare(body: &str) -> bool {
    matches!(body.trim(), "{}" | "[]" | "null" | "\"\"")
}

fn body_is_checked(facts: &Facts<'_>) -> bool {
    facts
        .evidence
        .plan
        .scenarios
        .iter()
        .any(|s| s.checks.iter().any(|check| check.needs_body()))
}

fn requests_vary(facts: &Facts<'_>) -> bool {
    facts.evidence.plan.scenarios.iter().any(|scenario| {
        // What a script sends is not known here; it may vary.
        let Some(mix) = scenario.requests() else {
            return true;
        };
        mix.requests.len() > 1 || mix.requests.iter().any(varies)
    })
}

fn varies(request: &RequestTemplate) -> bool {
    let body_varies = match &request.body {
        BodySource::Template { template } => template.as_literal().is_none(),
        _ => false,
    };
    body_varies || request.target.as_literal().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hollow_is_what_names_fields_and_fills_none() {
        for body in [
            r#"{"a":null,"b":[]}"#,
            r#"[null,""]"#,
            r#"{"a":{"b":[{}]}}"#,
        ] {
            assert!(is_hollow(body, body.len() as u64), "{body}");
        }
        for body in [
            "{}",
            "[]",
            "null",
            "ok",
            r#"{"a":0}"#,
            r#"{"a":null,"ok":false}"#,
            "<null/>",
        ] {
            assert!(!is_hollow(body, body.len() as u64), "{body}");
        }
        assert!(
            !is_hollow(r#"{"a":null}"#, 10_000),
            "the sample is only the beginning"
        );
    }
}

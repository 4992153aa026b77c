//! Whether the responses mean anything: always the same body, bodies without content, errors with a success
//! status, or redirects to another address.
//!
//! Must not know how bodies were sampled. Invariants: a body counts as without content only if all sampled
//! bodies of its shape were the same; silent where a check of the user examines bodies.

use std::collections::BTreeMap;

use loadline_model::plan::Scenario;
use loadline_model::request::{BodySource, RequestTemplate};
use loadline_model::snapshot::{BodySample, Shape, ShapeTally};
use loadline_model::verdict::{Finding, Gravity};

use super::body::{is_bare, is_error, is_hollow, is_waiting_page};
use super::code::Code;
use super::elsewhere;
use super::elsewhere::leads_elsewhere;
use super::facts::{Facts, share};
use super::shapes::{BODILESS, MIXED, is_success, part_with_bodies, successes};
use super::wording::{count, percent};

/// Sampled bodies needed for a statement about all of them.
const SAMPLED_MIN: u64 = 3;

/// Share of responses without content from which they are reported beside others that have some; and the share
/// from which they dominate the rate.
const HOLLOW_TOLD: f64 = 0.01;
const HOLLOW_RATE: f64 = 0.2;

/// Share of the responses from which redirects are reported.
const REDIRECTS: f64 = 0.5;
/// Followed redirects per response from which they are reported.
const FOLLOWED: f64 = 0.5;
/// Characters of a body that are shown.
const EXAMPLE: usize = 80;

pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let of_bodies = || {
        some_hollow(facts)
            .filter(|_| !facts.may_think())
            .or_else(|| redirects(facts))
            .or_else(|| turned_away(facts))
            .or_else(|| all_alike(facts))
            .or_else(|| all_empty(facts))
            .or_else(|| mixed(facts))
    };
    let of_bodies = match body_is_checked(facts) {
        true => None,
        false => of_bodies(),
    };
    let of_places = elsewhere::finding(facts).or_else(|| followed(facts));
    of_bodies.into_iter().chain(of_places).collect()
}

/// Responses from another address than the requested one.
fn followed(facts: &Facts<'_>) -> Option<Finding> {
    let completed = facts.counts.completed;
    let others = elsewhere::final_responses(facts);
    let redirects = match facts.may_think() {
        true => completed.saturating_sub(others),
        false => facts.counts.redirects,
    };
    let each = share(redirects, others);
    (each >= FOLLOWED).then(|| {
        Code::Redirected.finding(
            Gravity::Note,
            format!(
                "{} redirects ({each:.1} per other response): following them took some of the time",
                count(redirects)
            ),
            "check where they lead (a login page, perhaps), or request that URL directly",
        )
    })
}

/// No response had a body, although a GET should return one.
fn all_empty(facts: &Facts<'_>) -> Option<Finding> {
    let is_asked = asks_for_bodies(facts) && facts.counts.completed >= SAMPLED_MIN;
    (is_asked && facts.counts.good > 0 && facts.counts.body_bytes == 0).then(|| {
        Code::HollowAnswers.finding(
            Gravity::Caution,
            format!(
                "every one of {} responses had an empty body",
                count(facts.counts.completed)
            ),
            "send one request by hand and compare[; then add {expect} so that such responses do not count as goodput]",
        )
    })
}

/// Whether every request is one whose response has a body.
fn asks_for_bodies(facts: &Facts<'_>) -> bool {
    let only_gets = |scenario: &Scenario| {
        let mix = scenario.requests();
        mix.is_some_and(|mix| mix.requests.iter().all(|request| request.method == "GET"))
    };
    let bodiless = facts.status_share(|status| BODILESS.contains(&status) || status >= 300);
    bodiless == 0.0 && facts.evidence.plan.scenarios.iter().all(only_gets)
}

/// Redirects that were not followed.
fn redirects(facts: &Facts<'_>) -> Option<Finding> {
    let part = facts.status_share(leads_elsewhere);
    let rows = facts.seen.statuses.rows();
    let elsewhere = rows.filter(|(status, _)| leads_elsewhere(**status));
    let (status, _) = elsewhere.max_by_key(|(_, n)| **n)?;
    // A script's hops are responses too, including redirects that were followed. Of several requests, some may be
    // redirected by nature.
    let least = match facts.may_think() {
        true => 1.0,
        false if requests_vary(facts) => REDIRECTS,
        false => MIXED,
    };
    (part >= least).then(|| {
        Code::MixedAnswers.finding(
            Gravity::Caution,
            format!(
                "{} of the responses were redirects that were not followed, most with status {status}",
                percent(part)
            ),
            "follow redirects, or request the URL that they name",
        )
    })
}

/// Responses with a success status that differ in kind: some contain an error, are empty, or have another
/// content type.
fn mixed(facts: &Facts<'_>) -> Option<Finding> {
    let good = successes(facts);
    let all: u64 = good.iter().map(|(_, tally)| tally.count).sum();
    let kinds = || other_kinds(&good, all).or_else(|| empty_bodies(&good, all));
    let what = errors(&good, all)
        .or_else(|| empty_objects(&good, all).filter(|_| !facts.may_think()))
        .or_else(|| kinds().filter(|_| !requests_vary(facts)))?;
    Some(Code::MixedAnswers.finding(
        Gravity::Caution,
        what,
        "look at a sample body of each kind[, and describe a correct response with {expect}]",
    ))
}

/// Pages that let nobody through to what was asked for.
fn turned_away(facts: &Facts<'_>) -> Option<Finding> {
    let good = successes(facts);
    let all = good.iter().map(|(_, tally)| tally.count).sum();
    let (part, example) = part_with_bodies(&good, all, is_waiting_page);
    (part >= MIXED).then(|| {
        let example: String = example.trim().chars().take(EXAMPLE).collect();
        Code::MixedAnswers.finding(
            Gravity::Caution,
            format!(
                "about {} of the 2xx responses are pages that let nobody through yet: {example}",
                percent(part)
            ),
            "let the generator pass the waiting room, or the examination of browsers, that stands before the target[; describe a correct response with {expect}]",
        )
    })
}

fn errors(good: &[(&Shape, &ShapeTally)], all: u64) -> Option<String> {
    let (part, example) = part_with_bodies(good, all, is_error);
    (part >= MIXED).then(|| {
        let example: String = example.trim().chars().take(EXAMPLE).collect();
        format!(
            "about {} of the 2xx responses contain an error: {example}",
            percent(part)
        )
    })
}

fn empty_objects(good: &[(&Shape, &ShapeTally)], all: u64) -> Option<String> {
    let is_filled = |body: &BodySample| !is_bare(&body.text) && !body.text.trim().is_empty();
    let mut samples = good.iter().flat_map(|(_, tally)| &tally.samples);
    let (part, _) = part_with_bodies(good, all, is_bare);
    (part >= MIXED && samples.any(is_filled)).then(|| {
        format!(
            "{} of the 2xx responses are empty objects, the others are not",
            percent(part)
        )
    })
}

/// Empty bodies among others.
fn empty_bodies(good: &[(&Shape, &ShapeTally)], all: u64) -> Option<String> {
    let empty = good.iter().filter(|(shape, _)| shape.size_class == 0);
    let empty: u64 = empty.map(|(_, tally)| tally.count).sum();
    let part = share(empty, all);
    (part >= MIXED && empty < all).then(|| {
        format!(
            "{} of the 2xx responses have an empty body, the others have not",
            percent(part)
        )
    })
}

/// Different content types of responses to the same request.
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
            "the 2xx responses are of two kinds: {} and, in {} of them, {}",
            named(most),
            percent(part),
            named(other)
        )
    })
}

/// Responses without content among others that have some: the former are only fast because they are empty.
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
            (is_one && is_success(shape.status) && is_hollow(&body.text, size))
                .then_some((shape, tally, body))
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
        "{} of the responses ({} with status {}) were the same {} bytes without content: {}",
        percent(share),
        count(tally.count),
        shape.status,
        count(tally.body_size.max().unwrap_or(0)),
        body.text.trim()
    );
    Some(Code::HollowAnswers.finding(
        gravity,
        text,
        "such responses are not goodput[: describe a correct response with {expect}, and run again]",
    ))
}

/// The same body in every response.
fn all_alike(facts: &Facts<'_>) -> Option<Finding> {
    let (shape, tally, body) = only_body(facts)?;
    let size = tally.body_size.max().unwrap_or(0);
    let what = |without_content: &str| {
        format!(
            "all {} sampled bodies were the same {} bytes{without_content} ({} responses with status {})",
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
            "send one request by hand and compare[; then add {expect} so that such responses do not count as goodput]",
        ));
    }
    // An interface that only acknowledges may respond like this.
    if is_bare(&body.text) {
        return Some(Code::HollowAnswers.finding(
            Gravity::Caution,
            format!("{}: {}", what(" without content"), body.text.trim()),
            "send one request by hand: is this a correct response?[ If not, add {expect} so that it does not count as goodput]",
        ));
    }
    (requests_vary(facts) && !facts.may_think()).then(|| {
        Code::SameAnswer.finding(
            Gravity::Caution,
            format!("{}, though the requests differ", what("")),
            "check that the target evaluates the request[, and say with {expect} what a correct response contains]",
        )
    })
}

/// The only body of the only shape of all responses; `None` if there are several, or none with a body.
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
    (said && is_success(shape.status)).then_some((shape, tally, body))
}

fn body_is_checked(facts: &Facts<'_>) -> bool {
    facts
        .evidence
        .plan
        .scenarios
        .iter()
        .any(|s| s.checks.iter().any(|check| check.needs_body()))
}

/// Whether the requests of the plan differ, or may differ.
pub(super) fn requests_vary(facts: &Facts<'_>) -> bool {
    facts.evidence.plan.scenarios.iter().any(|scenario| {
        // The requests of a script are not known here; they may vary.
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

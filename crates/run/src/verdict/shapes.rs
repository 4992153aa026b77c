//! Responses by shape: which have a success status, and how many of those have a body of some kind.
//!
//! Must not judge. Invariant: shares refer to all responses, however few bodies were sampled.

use loadline_model::snapshot::{Shape, ShapeTally};

use super::body::{is_error, is_waiting_page};
use super::facts::{Facts, share};
use super::names;

/// Statuses of responses without a body.
pub(super) const BODILESS: [u16; 2] = [204, 205];
/// Share of the successful responses from which those of another kind are reported.
pub(super) const MIXED: f64 = 0.01;

/// The shapes of the responses with a success status.
pub(super) fn successes<'a>(facts: &'a Facts<'_>) -> Vec<(&'a Shape, &'a ShapeTally)> {
    let rows = facts.seen.shapes.rows();
    rows.filter(|(shape, _)| is_success(shape.status)).collect()
}

/// The share of the responses with a success status that contain an error; `None`: too few.
pub(super) fn error_share(facts: &Facts<'_>) -> Option<f64> {
    share_with_bodies(facts, is_error)
}

/// The same for pages that let nobody through yet.
pub(super) fn waiting_share(facts: &Facts<'_>) -> Option<f64> {
    share_with_bodies(facts, is_waiting_page)
}

fn share_with_bodies(facts: &Facts<'_>, is_such: impl Fn(&str) -> bool) -> Option<f64> {
    let good = successes(facts);
    let all = good.iter().map(|(_, tally)| tally.count).sum();
    let (part, _) = part_with_bodies(&good, all, is_such);
    Some(part).filter(|part| *part >= MIXED)
}

/// The share of a script's checks that failed, if others passed and responses with a success status contain
/// errors, or had another shape where a check failed: the script considers them wrong although their status does not
/// show it.
pub(super) fn wrong_by_checks(facts: &Facts<'_>) -> Option<f64> {
    const OFTEN: f64 = 0.1;
    let (failed, all) = facts.checks();
    let part = share(failed, all);
    let are_wrong = || error_share(facts).is_some() || fail_by_shape(facts);
    (part >= OFTEN && failed < all && are_wrong()).then_some(part)
}

/// The share of a script's checks that failed, if it is most of them: either the target sends something else, or the
/// script expects it.
pub(super) fn mostly_fails_checks(facts: &Facts<'_>) -> Option<f64> {
    const MOST: f64 = 0.5;
    let (failed, all) = facts.checks();
    Some(share(failed, all)).filter(|part| *part >= MOST)
}

/// Whether a check passed for responses of some shapes and failed for those of another one: it failed as often as that
/// shape occurred. A check that fails for all requests of a name may be a mistake in the plan.
fn fail_by_shape(facts: &Facts<'_>) -> bool {
    /// Share of a check's results from which it passes and fails.
    const SOMETIMES: f64 = 0.05;
    /// As a share of the failures.
    const AS_MANY: f64 = 0.05;
    let shapes = successes(facts);
    facts.each_check().iter().any(|(_, check)| {
        let all = check.passes + check.fails;
        let does_both = share(check.passes.min(check.fails), all) >= SOMETIMES;
        let is_as_many = |count: u64| share(count.abs_diff(check.fails), check.fails) <= AS_MANY;
        does_both
            && shapes.iter().any(|(_, tally)| is_as_many(tally.count))
            && !names::one_has(facts, check.fails)
    })
}

/// The share of `all` responses that have such a body, estimated from the samples of each shape, and an
/// example.
pub(super) fn part_with_bodies<'a>(
    shapes: &[(&'a Shape, &'a ShapeTally)],
    all: u64,
    is_such: impl Fn(&str) -> bool,
) -> (f64, &'a str) {
    let (mut number, mut example) = (0.0, "");
    for (_, tally) in shapes {
        for body in tally.samples.iter().filter(|body| is_such(&body.text)) {
            number += tally.count as f64 * share(body.count, tally.sampled);
            example = &body.text;
        }
    }
    (number / all.max(1) as f64, example)
}

/// Whether a status means success with a body.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status) && !BODILESS.contains(&status)
}

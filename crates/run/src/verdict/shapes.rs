//! Answers by shape: which have a status of success, and how many of those a body of some kind.
//!
//! Must not judge. Invariant: shares are of the answers, however few bodies were looked at.

use loadline_model::snapshot::{Shape, ShapeTally};

use super::body::is_error;
use super::facts::{Facts, share};

/// Statuses that come without a body.
pub(super) const BODILESS: [u16; 2] = [204, 205];
/// Share of the successful answers from which those of another kind are told.
pub(super) const MIXED: f64 = 0.01;

/// The shapes of the answers with a status of success.
pub(super) fn successes<'a>(facts: &'a Facts<'_>) -> Vec<(&'a Shape, &'a ShapeTally)> {
    let rows = facts.seen.shapes.rows();
    rows.filter(|(shape, _)| is_success(shape.status)).collect()
}

/// Whether some answers with a status of success contain an error.
fn contain_errors(facts: &Facts<'_>) -> bool {
    let good = successes(facts);
    let all = good.iter().map(|(_, tally)| tally.count).sum();
    part_with_bodies(&good, all, is_error).0 >= MIXED
}

/// The share of a script's checks that failed, where others held and answers with a status of success hold errors: for the script,
/// that no status tells is wrong all the same.
pub(super) fn wrong_by_checks(facts: &Facts<'_>) -> Option<f64> {
    const OFTEN: f64 = 0.1;
    let (failed, all) = facts.checks();
    let part = share(failed, all);
    let is_so = part >= OFTEN && failed < all && contain_errors(facts);
    is_so.then_some(part)
}

/// The share of `all` answers that have such a body, by the samples of each shape, and one of them.
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

/// Whether a status says that all is well, with a body.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status) && !BODILESS.contains(&status)
}

//! Whether responses of two runs are similar in status and size, according to the census of shapes.
//!
//! Must not know gates. Invariant: a run is similar to itself; sizes within half and double are similar.

use std::collections::BTreeMap;

use loadline_model::RunResult;

/// How much one run's responses differ from another's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// The larger of both shares of responses whose shape the other run does not have.
    pub(super) share: f64,
    /// The commonest such shape, in words.
    pub(super) example: Option<String>,
}

/// Responses by status and size class.
type Census = BTreeMap<(u16, u8), u64>;

pub(super) fn compare(one: &RunResult, other: &RunResult) -> Comparison {
    let (one, other) = (census(one), census(other));
    let there = foreign(&one, &other);
    let back = foreign(&other, &one);
    if there.share >= back.share {
        there
    } else {
        back
    }
}

fn census(result: &RunResult) -> Census {
    let mut census = Census::new();
    for (shape, tally) in result.totals.seen.shapes.rows() {
        *census.entry((shape.status, shape.size_class)).or_default() += tally.count;
    }
    census
}

fn foreign(of: &Census, known: &Census) -> Comparison {
    let is_known = |(status, size): (u16, u8)| {
        let alike = (size.saturating_sub(1)..=size.saturating_add(1))
            // No body at all is like itself alone.
            .filter(|other| (*other == 0) == (size == 0));
        alike
            .into_iter()
            .any(|size| known.contains_key(&(status, size)))
    };
    let all: u64 = of.values().sum();
    let strange: Vec<_> = of.iter().filter(|(shape, _)| !is_known(**shape)).collect();
    let count: u64 = strange.iter().map(|(_, count)| **count).sum();
    let most = strange.iter().max_by_key(|(_, count)| **count);
    Comparison {
        share: if all == 0 {
            0.0
        } else {
            count as f64 / all as f64
        },
        example: most.map(|((status, size), count)| {
            let bytes = match size {
                0 => "no body".to_owned(),
                size => format!("up to {} bytes", (1_u64 << (*size).min(63)) - 1),
            };
            format!("{count} with status {status} and {bytes}")
        }),
    }
}

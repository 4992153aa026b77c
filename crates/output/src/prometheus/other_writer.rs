//! Detects whether another run wrote the same series at the same time: then one of this run's sums decreases in
//! the receiver, or has points there that this run did not send.
//!
//! Must not know how points are pushed. Source:
//! <https://prometheus.io/docs/prometheus/latest/querying/functions/#resets>. Invariant: a receiver that cannot
//! be queried reveals nothing about other runs.

use std::collections::VecDeque;

use super::client::Client;
use super::pages::pages;
use super::points::{Identity, Kind, Points};
use super::query::{Labels, ask, instants, query_url};
use super::settings::Settings;

/// Sums that grow continuously; the first one that a run has is used.
const GROWING: [&str; 3] = [
    "k6_iterations_total",
    "k6_http_reqs_total",
    "k6_data_sent_total",
];

/// What this run sent, and when.
pub(super) struct Sent<'a> {
    pub(super) points: &'a Points,
    /// Timestamp of its first points after its start, in milliseconds since 1970.
    pub(super) first_ms: u64,
    /// Whether every point of the sum is looked at.
    pub(super) looks_at_each: bool,
}

/// Whether a sum of this run decreased, which on its own only grows, or has points of others.
pub(super) fn is_there(client: &Client, settings: &Settings, sent: &Sent<'_>) -> bool {
    let (Some(address), Some(sum)) = (query_url(settings), growing(sent.points.identities()))
    else {
        return false;
    };
    let until_ms = sent.points.told_until_ms();
    let labels = sum.labels();
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let own: Labels = labels.collect();
    // A range excludes its first instant.
    let span = |from_ms: u64| format!("[{}ms]", (until_ms + 1).saturating_sub(from_ms));
    let mut is_mixed = false;
    let asked = pages(&mut [(sum, ())], &mut |selector, _| {
        let query = format!("resets({selector}{})", span(sent.first_ms));
        let found = ask(client, &address, &query, until_ms)?;
        let unnamed = |labels: &Labels| {
            own.iter()
                .filter(|(name, _)| *name != "__name__")
                .eq(labels)
        };
        is_mixed |= found
            .iter()
            .any(|(labels, found)| unnamed(labels) && found.number > 0.0);
        if let Some(from_ms) = sent
            .points
            .instants()
            .front()
            .filter(|_| sent.looks_at_each)
        {
            let query = format!("{selector}{}", span(*from_ms));
            let there = instants(client, &address, &query, until_ms)?;
            is_mixed |= there
                .get(&own)
                .is_some_and(|there| are_foreign(there, sent.points.instants()));
        }
        Ok::<(), String>(())
    });
    asked.is_ok() && is_mixed
}

/// Whether a point is there that was not sent.
fn are_foreign(there: &[u64], sent: &VecDeque<u64>) -> bool {
    there
        .iter()
        .any(|instant| sent.binary_search(instant).is_err())
}

fn growing(known: impl Iterator<Item = Identity>) -> Option<Identity> {
    let place = |one: &Identity| GROWING.iter().position(|name| one.family.name == *name);
    known
        .filter(|one| one.family.kind == Kind::Counter)
        .filter_map(|one| Some((place(&one)?, one)))
        .min_by_key(|(place, _)| *place)
        .map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_between_those_that_were_sent_are_of_others() {
        let sent = VecDeque::from([1_000, 6_000, 11_000]);
        assert!(!are_foreign(&[], &sent));
        assert!(!are_foreign(&[1_000, 11_000], &sent), "some may be lost");
        assert!(are_foreign(&[1_000, 6_003, 11_000], &sent));
    }
}

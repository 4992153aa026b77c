//! Detects whether another run wrote the same series at the same time: then one of this run's sums decreases in
//! the receiver.
//!
//! Must not know how points are pushed. Source:
//! <https://prometheus.io/docs/prometheus/latest/querying/functions/#resets>. Invariant: a receiver that cannot
//! be queried reveals nothing about other runs.

use super::client::Client;
use super::pages::pages;
use super::points::{Identity, Kind};
use super::query::{ask, query_url};
use super::settings::Settings;

/// Sums that grow continuously; the first one that a run has is used.
const GROWING: [&str; 3] = [
    "k6_iterations_total",
    "k6_http_reqs_total",
    "k6_data_sent_total",
];

/// Whether a sum of this run decreased between two instants, in milliseconds since 1970; on its own it only
/// grows.
pub(super) fn is_there(
    client: &Client,
    settings: &Settings,
    known: impl Iterator<Item = Identity>,
    (from_ms, until_ms): (u64, u64),
) -> bool {
    // A range excludes its first instant.
    let span_ms = (until_ms + 1).saturating_sub(from_ms);
    let (Some(address), Some(sum)) = (query_url(settings), growing(known)) else {
        return false;
    };
    let labels = sum.labels().filter(|(name, _)| *name != "__name__");
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let own = labels.collect();
    let mut falls = 0.0;
    let asked = pages(&mut [(sum, ())], &mut |selector, _| {
        let query = format!("resets({selector}[{span_ms}ms])");
        let found = ask(client, &address, &query, until_ms)?;
        falls += found.get(&own).map_or(0.0, |found| found.number);
        Ok::<(), String>(())
    });
    asked.is_ok() && falls > 0.0
}

fn growing(known: impl Iterator<Item = Identity>) -> Option<Identity> {
    let place = |one: &Identity| GROWING.iter().position(|name| one.family.name == *name);
    known
        .filter(|one| one.family.kind == Kind::Counter)
        .filter_map(|one| Some((place(&one)?, one)))
        .min_by_key(|(place, _)| *place)
        .map(|(_, one)| one)
}

//! Virtual users who wait for nothing but the round trips of a long path: their number bounds the rate, not the path.
//!
//! Must not decide who is the limit; it gets the decision. Invariant: silent if packets queue or are lost, or if bytes take
//! the time: then the path carries no more.

use loadline_model::verdict::Limit;

use super::facts::Facts;
use super::path;
use super::signs;
use super::weights;
use super::wording::{counted, duration, rate};
use super::{link, losses};

/// What bounds the virtual users, in words; `None`: something else does.
pub(super) fn bound(facts: &Facts<'_>, limit: Limit, users: u64) -> Option<String> {
    /// Share of a request's time.
    const MOST: f64 = 0.5;
    /// Share of the virtual users' time that is spent on requests.
    const BUSY: f64 = 0.8;
    /// Round trips of a request that are not told to be several.
    const ONE: f64 = 1.05;
    let round_trip = path::round_trip(facts)?;
    let mean = weights::mean_time(facts)?;
    let trips = match trips(facts, round_trip) {
        hardly_more if hardly_more <= ONE => 1.0,
        several => several,
    };
    let travels = trips * round_trip;
    let is_clear = path::queued_ns(facts).is_none()
        && link::link(facts).is_none()
        && !losses::slow_down(facts)
        && !signs::loses_segments(facts)
        && facts.counts.failed_total() == 0;
    // While their load rises, they are only all in use at its top.
    let are_all_in_use = facts.open && facts.evidence.totals.active_vus_max >= facts.vus;
    let is_so = limit == Limit::Network
        && is_clear
        && (facts.busy_share() >= BUSY || are_all_in_use)
        && travels >= MOST * mean
        && users > 0;
    is_so.then(|| {
        let way = match trips <= 1.0 {
            true => format!("a round trip of {}", duration(round_trip)),
            false => format!("{trips:.1} round trips of {}", duration(round_trip)),
        };
        let most = rate(users as f64 / travels.min(mean));
        format!("{way} bounds {} to {most}", counted(users, "VU"))
    })
}

/// Round trips of a request: its own, and those for its share of new connections.
fn trips(facts: &Facts<'_>, round_trip: f64) -> f64 {
    1.0 + path::connections_made(facts) * weights::handshake_s(facts) / round_trip
}

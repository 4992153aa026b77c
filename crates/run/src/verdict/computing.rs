//! CPU time that a script, or a plan of steps, takes for itself: computation, parsing, hashing.
//!
//! Must not know who else needed a CPU. Invariant: what its requests cost the engine at most is not the script's.

use super::facts::Facts;
use super::weights::{self, Weights};

/// Upper bounds of what the engine needs: seconds for each request and TLS handshake, and for each byte.
const REQUEST_S: f64 = 250e-6;
const HANDSHAKE_S: f64 = 3e-3;
const BYTE_S: f64 = 3e-9;
/// Share of the workers' CPU time from which the script is what they work for.
const MOSTLY: f64 = 0.5;
/// Share of the virtual users' time from which a part of it is worth telling.
const TOLD: f64 = 0.25;
/// Share of the virtual users' time up to which they do not sleep.
const HARDLY: f64 = 0.1;

/// CPU time of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Computing {
    /// Seconds for each iteration.
    pub(super) each_s: f64,
    /// Share of the workers' CPU time.
    pub(super) part: f64,
    /// Share of the virtual users' time in which they waited for it.
    pub(super) of_users: f64,
}

/// What the script itself takes, if it holds the workers, or the virtual users for a good part of their time.
pub(super) fn of_script(facts: &Facts<'_>) -> Option<Computing> {
    let own = own(facts)?;
    let is_told = weights::exhausted(facts).is_some() || own.of_users >= TOLD;
    is_told.then_some(own)
}

/// Whether the script itself, and the generator within requests, took more of the virtual users' time than sleep, or than
/// another side within requests. `weights`: those of requests.
pub(super) fn holds_users(facts: &Facts<'_>, weights: Weights) -> bool {
    let Some(own) = own(facts).filter(|own| own.of_users >= TOLD) else {
        return false;
    };
    let on_requests = facts.request_share();
    let of_generator = own.of_users + on_requests * weights.generator;
    let of_others = on_requests * weights.target.max(weights.network);
    of_generator >= of_others && of_generator >= facts.slept_share().unwrap_or(0.0)
}

/// Whether the virtual users of a script go on at once: no pause of the plan holds them.
pub(super) fn never_sleeps(facts: &Facts<'_>) -> bool {
    let is_known = facts.iterations() > 0;
    is_known && facts.slept_share().is_some_and(|part| part < HARDLY)
}

/// What the script itself takes, if the workers do hardly anything else.
fn own(facts: &Facts<'_>) -> Option<Computing> {
    let iterations = facts.iterations();
    if !facts.may_think() || iterations == 0 {
        return None;
    }
    let all = facts.seen.worker_cpu_ns as f64 / 1e9;
    let bytes = facts
        .all
        .bytes_received
        .saturating_add(facts.all.bytes_sent);
    let of_engine = facts.all.started as f64 * REQUEST_S
        + facts.seen.connections.tls.count() as f64 * HANDSHAKE_S
        + bytes as f64 * BYTE_S;
    let own = all - of_engine;
    (own > 0.0 && own >= MOSTLY * all).then(|| Computing {
        each_s: own / iterations as f64,
        part: own / all,
        of_users: facts.awake_share().unwrap_or(0.0),
    })
}

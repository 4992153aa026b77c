//! CPU time that a script takes for itself: computation, parsing, hashing.
//!
//! Must not know who else needed a CPU. Invariant: what its requests cost the engine at most is not the script's.

use super::facts::Facts;
use super::weights;

/// Upper bounds of what the engine needs: seconds for each request and TLS handshake, and for each byte.
const REQUEST_S: f64 = 250e-6;
const HANDSHAKE_S: f64 = 3e-3;
const BYTE_S: f64 = 3e-9;
/// Share of the workers' CPU time from which the script is what they work for, and share of the virtual users' time
/// from which it is what holds these.
const MOSTLY: f64 = 0.5;

/// CPU time of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Computing {
    /// Seconds for each iteration.
    pub(super) each_s: f64,
    /// Share of the workers' CPU time.
    pub(super) part: f64,
}

/// What the script itself takes, if it holds the workers or the virtual users.
pub(super) fn of_script(facts: &Facts<'_>) -> Option<Computing> {
    let is_limit = weights::exhausted(facts).is_some() || holds_users(facts);
    own(facts).filter(|_| is_limit)
}

/// Whether virtual users mostly neither slept nor waited for responses: a worker ran their script, or other work before it.
pub(super) fn holds_users(facts: &Facts<'_>) -> bool {
    let elsewhere = facts.awake_share();
    elsewhere.is_some_and(|part| part >= MOSTLY) && own(facts).is_some()
}

/// What the script itself takes, if the workers do hardly anything else.
fn own(facts: &Facts<'_>) -> Option<Computing> {
    let iterations = facts.thrown().1;
    if !facts.is_script() || iterations == 0 {
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
    })
}

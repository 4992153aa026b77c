//! Time that passes before a service handles a request: the client's measurement against the service's own.
//!
//! A distance is part of every response, including the fastest; a queue in front of the handler is not, and
//! belongs to the target. Must not know what lies in between. Invariant: of several components, the slowest
//! counts as the service's own time, so that a component deeper inside is never blamed.

use loadline_model::observation::Aggregation;
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::facts::Facts;
use crate::verdict::path;
use crate::verdict::wording::duration;

/// Minimum ratio of the client's time to the service's own time.
const FACTOR: f64 = 3.0;
/// Minimum difference between the two in seconds.
const SECONDS: f64 = 0.002;
/// Ratio of the median to the fastest response from which requests wait in a queue.
const QUEUE: f64 = 1.8;

/// The time on the network path, if it is most of the client's time.
pub(super) fn sign(components: &[Component<'_>], facts: &Facts<'_>) -> Option<Sign> {
    let seen = facts.mean_service()?;
    let own = components
        .iter()
        .filter_map(|one| Some((one.held("mean_seconds", Aggregation::Avg)?, one)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (own, component) = own;
    // A distance is part of the fastest response too; a queue is not. If the service is reached directly, only
    // round trips lie in between.
    let is_direct = is_reached_directly(component, facts);
    let seen = match is_direct {
        true => seen - path::round_trip(facts).unwrap_or(0.0),
        false => seen,
    };
    let is_queue = is_direct || facts.median_over_fastest()? >= QUEUE;
    (seen >= FACTOR * own && seen - own >= SECONDS).then(|| {
        let waits = format!("{} of {}", duration(seen - own), duration(seen));
        let title = component.title();
        let (weight, short, advice) = if is_queue {
            (
                Weight::Explains,
                format!("requests wait {waits} before {title} handles them"),
                "look for a queue in front of the handler: the accept queue, a worker or thread pool, the event loop, middleware, a proxy",
            )
        } else {
            (
                Weight::Remark,
                format!("{waits} are spent between the client and {title}"),
                "look at the network and at proxies and load balancers in between, or run the client near the service",
            )
        };
        let own = format!("which itself reports {}", duration(own));
        Sign {
            weight,
            finding: Code::OnTheWay.finding(Gravity::Caution, format!("{short}, {own}"), advice),
            short,
        }
    })
}

/// Whether the page from which a component was read has the address to which the load goes.
fn is_reached_directly(component: &Component<'_>, facts: &Facts<'_>) -> bool {
    let read_at = &facts.evidence.observations.read_at;
    let address = read_at.get(component.observer);
    address.is_some_and(|address| facts.seen.peers.rows().any(|(peer, _)| peer == address))
}

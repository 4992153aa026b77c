//! Time that is spent before a service handles a request: what the client sees against what the service itself says.
//!
//! A distance is in every answer, the fastest too; a queue in front of the handler is not, and is the target's. Must not
//! know what lies between. Invariant: of several components the one that takes longest is the service's own
//! time, so that a component further in accuses nobody.

use loadline_model::observation::Aggregation;
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::facts::Facts;
use crate::verdict::weights;
use crate::verdict::wording::duration;

/// What the client sees is this many times what the service says,
const FACTOR: f64 = 3.0;
/// and so much more, in seconds.
const SECONDS: f64 = 0.002;
/// The median over the fastest answer from which requests wait in a queue.
const QUEUE: f64 = 1.8;

/// The time on the way, where it is most of what the client sees.
pub(super) fn sign(components: &[Component<'_>], facts: &Facts<'_>) -> Option<Sign> {
    let seen = facts.mean_service()?;
    let own = components
        .iter()
        .filter_map(|one| Some((one.held("mean_seconds", Aggregation::Avg)?, one)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (own, component) = own;
    // A distance is in the fastest answer too; a queue is not. Where the service is reached directly, only round trips
    // lie between.
    let is_direct = is_reached_directly(component, facts);
    let seen = match is_direct {
        true => seen - weights::round_trip(facts).unwrap_or(0.0),
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
                "look at the network and at what stands between (proxies, balancers); or run the client near the service",
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

/// Whether the page that a component was read from is at the address to which the load goes.
fn is_reached_directly(component: &Component<'_>, facts: &Facts<'_>) -> bool {
    let read_at = &facts.evidence.observations.read_at;
    let address = read_at.get(component.observer);
    address.is_some_and(|address| facts.seen.peers.rows().any(|(peer, _)| peer == address))
}

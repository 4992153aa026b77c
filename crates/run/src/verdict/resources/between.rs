//! Time that is spent between the client and the service: what the client sees against what the service itself says.
//!
//! Must not know what lies between. Invariant: of several components the one that takes longest is the service's own
//! time, so that a component further in accuses nobody.

use loadline_model::observation::Aggregation;
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::facts::Facts;
use crate::verdict::wording::duration;

/// What the client sees is this many times what the service says,
const FACTOR: f64 = 3.0;
/// and so much more, in seconds.
const SECONDS: f64 = 0.002;

/// The time on the way, where it is most of what the client sees.
pub(super) fn sign(components: &[Component<'_>], facts: &Facts<'_>) -> Option<Sign> {
    let seen = facts.mean_service()?;
    let own = components
        .iter()
        .filter_map(|one| Some((one.held("mean_seconds", Aggregation::Avg)?, one)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (own, component) = own;
    (seen >= FACTOR * own && seen - own >= SECONDS).then(|| {
        let short = format!(
            "{} of {} are spent between the client and {}",
            duration(seen - own),
            duration(seen),
            component.title()
        );
        Sign {
            weight: Weight::Remark,
            finding: Code::OnTheWay.finding(
                Gravity::Caution,
                format!("{short}, which answers in {} by its own account", duration(own)),
                "look at the network and at what stands between (proxies, balancers); or go on with a client near the \
                 service",
            ),
            short,
        }
    })
}

//! How much of the planned load was due while agents were away: lost, and not replaced yet.
//!
//! Must not know why an agent was lost. Invariant: a load that was missed for another reason is not booked to them.

use loadline_model::Nanos;
use loadline_model::event::{AGENT_LOST_MARK, AGENT_REPLACED_MARK};

use super::facts::Facts;

/// Whether lost agents explain at least half of the load that was missed; so too if that cannot be told.
pub(super) fn explain_missed(facts: &Facts<'_>) -> bool {
    let both = facts.missed().zip(arrivals(facts));
    both.is_none_or(|(missed, due)| due.saturating_mul(2) >= missed)
}

/// About how many arrivals were due while agents were away; `None`: nothing was due at instants, or the number of
/// agents is unknown.
pub(super) fn arrivals(facts: &Facts<'_>) -> Option<u64> {
    let asked = facts.asked().filter(|_| facts.open)?;
    Some((asked as f64 * share_away(facts)?) as u64)
}

/// The mean share of the agents that were away, until nothing more was due.
fn share_away(facts: &Facts<'_>) -> Option<f64> {
    let agents = facts.evidence.agents.iter();
    let first = agents.filter(|agent| agent.replaced == 0 && agent.stands_in_for.is_none());
    let agents = Some(first.count()).filter(|count| *count > 0)?;
    let elapsed_ns = facts.evidence.totals.elapsed_ns;
    let planned = facts.evidence.plan.duration().map(|due| Nanos::from(due).0);
    let end_ns = planned.unwrap_or(elapsed_ns).min(elapsed_ns).max(1);
    let (mut away, mut since_ns, mut sum) = (0_u64, 0, 0.0);
    for mark in facts.evidence.events {
        let is_lost = mark.kind == AGENT_LOST_MARK;
        if !is_lost && mark.kind != AGENT_REPLACED_MARK {
            continue;
        }
        let at_ns = mark.at_ns.clamp(since_ns, end_ns.max(since_ns));
        sum += away as f64 * (at_ns - since_ns) as f64;
        since_ns = at_ns;
        away = match is_lost {
            true => away + 1,
            false => away.saturating_sub(1),
        };
    }
    sum += away as f64 * end_ns.saturating_sub(since_ns) as f64;
    Some((sum / (agents as f64 * end_ns as f64)).min(1.0))
}

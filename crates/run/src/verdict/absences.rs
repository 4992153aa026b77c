//! How much of the planned load was due while agents were lost.
//!
//! Must not know why an agent was lost. Invariant: a load that was missed for another reason is not booked to them.

use super::facts::Facts;

/// Whether lost agents explain at least half of the load that was missed; so too if that cannot be told.
pub(super) fn explain_missed(facts: &Facts<'_>) -> bool {
    let both = facts.missed().zip(arrivals(facts));
    both.is_none_or(|(missed, due)| due.saturating_mul(2) >= missed)
}

/// How many arrivals were due while agents were lost; `None`: none was lost, or nothing was due at instants.
pub(super) fn arrivals(facts: &Facts<'_>) -> Option<u64> {
    facts.evidence.totals.due_while_away.filter(|_| facts.open)
}

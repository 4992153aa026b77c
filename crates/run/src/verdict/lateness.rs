//! Whether arrivals started late, although all started in the end.
//!
//! Must not ask who delayed them. Invariant: an arrival that counts as late was certainly late.

use loadline_model::result::Row;

use super::facts::{Facts, share};
use super::stats::longer_than;

/// Lateness from which users would call an arrival late.
pub(super) const LATE_NS: u64 = 100_000_000;

/// Whether arrivals waited for a free virtual user in most of the seconds, although all started in the end: the
/// count was reached, the rate was not.
fn was_behind(facts: &Facts<'_>) -> bool {
    const WAITING: f64 = 0.1;
    const SECONDS: f64 = 0.5;
    let is_behind = |row: &&&Row| {
        let offered = row.offered.unwrap_or(0) as f64;
        row.waiting > 0 && row.waiting as f64 >= WAITING * offered
    };
    let behind = facts.rows.iter().filter(is_behind).count();
    facts.open && behind > 0 && behind as f64 >= SECONDS * facts.rows.len() as f64
}

/// Arrivals that certainly started late: the number of response times above a limit exceeds the number of
/// service times above it.
pub(super) fn begun_late(facts: &Facts<'_>) -> u64 {
    /// Number of service times at which the two are compared.
    const STEPS: usize = 100;
    if !facts.open {
        return 0;
    }
    let seen = facts.seen;
    let longer = |ns| longer_than(&seen.answered_time, ns) + longer_than(&seen.failed_time, ns);
    let shares = std::array::from_fn::<f64, STEPS, _>(|step| step as f64 / STEPS as f64);
    let steps = seen.answered_time.quantiles(&shares);
    let late = steps.into_iter().flatten().map(|step| {
        let step = step as u64;
        longer_than(&seen.response_time, step + LATE_NS).saturating_sub(longer(step))
    });
    late.max().unwrap_or(0)
}

/// Whether as many requests found no free virtual user as started late, or more.
pub(super) fn is_for_want_of_vus(facts: &Facts<'_>) -> bool {
    let all = facts.seen.response_time.count();
    let without = all.saturating_sub(facts.seen.schedule_lag.count());
    without > 0 && without >= begun_late(facts).max(all / 100)
}

/// The share of arrivals that certainly started late.
pub(super) fn late_share(facts: &Facts<'_>) -> f64 {
    share(begun_late(facts), facts.seen.response_time.count())
}

/// Whether a considerable share of them did.
pub(super) fn was_partly_late(facts: &Facts<'_>) -> bool {
    const PART: f64 = 0.1;
    late_share(facts) >= PART
}

/// How late the load was sent, in words; `None`: on schedule.
pub(super) fn how_late(facts: &Facts<'_>) -> Option<&'static str> {
    match was_behind(facts) {
        true => Some("late"),
        false => was_partly_late(facts).then_some("partly late"),
    }
}

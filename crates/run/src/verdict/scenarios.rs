//! What one of several scenarios did: numbers of all together explain none of them.
//!
//! Must not judge. Invariant: what cannot be told apart is `None`.

use loadline_metric::TimeTrend;
use loadline_model::plan::Scenario;
use loadline_model::result::Row;
use loadline_model::snapshot::ScenarioChange;

use super::facts::{Facts, share};
use super::names;

/// The scenario whose virtual users were too few or too slow for its arrivals.
pub(super) struct Short<'a> {
    pub(super) name: &'a str,
    pub(super) vus: u64,
    /// Its highest planned rate.
    pub(super) asked_rate: f64,
    /// Its iterations per second.
    pub(super) rate: f64,
    /// Mean duration of its iterations in seconds, including the time until the next arrival.
    pub(super) mean_s: f64,
    /// The share of its virtual users' time spent on requests.
    pub(super) request_share: Option<f64>,
    /// The service times of its requests.
    pub(super) times: Option<&'a TimeTrend>,
}

/// The one of several scenarios that dropped nearly all of the dropped arrivals, some in nearly every second: all its
/// virtual users were in use.
pub(super) fn short<'a>(facts: &Facts<'a>) -> Option<Short<'a>> {
    const NEARLY_ALL: f64 = 0.9;
    let seen = &facts.seen.scenarios;
    let (name, change) = seen.iter().max_by_key(|(_, change)| change.dropped)?;
    let plan = &facts.evidence.plan.scenarios;
    let scenario = plan.iter().find(|it| it.name.as_str() == &**name)?;
    let duration_s = scenario.executor.duration()?.as_secs_f64();
    let end_s = scenario.start_time.as_secs_f64() + duration_s;
    let is_due = |row: &&&Row| {
        let at_s = row.at_ns as f64 / 1e9;
        at_s >= scenario.start_time.as_secs_f64() && at_s < end_s
    };
    let due: Vec<u64> = facts
        .rows
        .iter()
        .filter(is_due)
        .map(|row| row.dropped)
        .collect();
    let with_drops = due.iter().filter(|dropped| **dropped > 0).count() as u64;
    let iterations = change.iterations + change.interrupted;
    let is_clear = share(change.dropped, facts.all.dropped) >= NEARLY_ALL
        && share(with_drops, due.len() as u64) >= NEARLY_ALL
        && iterations > 0
        && change.vus_made > 0;
    if plan.len() < 2 || !is_clear {
        return None;
    }
    let held_s = change.vus_made as f64 * duration_s;
    let others = seen.iter().filter(|(other, _)| *other != name);
    let others: Vec<u64> = others.map(|(_, change)| change.iterations).collect();
    let times = names::of_count(facts, change.iterations, &others);
    Some(Short {
        name: scenario.name.as_str(),
        vus: change.vus_made,
        asked_rate: scenario.executor.peak_rate()?,
        rate: iterations as f64 / duration_s,
        mean_s: held_s / iterations as f64,
        request_share: times.map(|times| times.sum() as f64 / 1e9 / held_s),
        times,
    })
}

/// Virtual users of the scenarios that dropped arrivals, if there are several scenarios.
pub(super) fn vus_of_dropped(facts: &Facts<'_>) -> u64 {
    let seen = facts.seen.scenarios.values();
    let with_drops = seen.filter(|change| change.dropped > 0);
    let made = with_drops.map(|change| change.vus_made).sum();
    match facts.evidence.plan.scenarios.len() {
        0 | 1 => 0,
        _ => made,
    }
}

/// The share of their time that virtual users of scenarios without a rate spend on requests; `None` if requests differ, or
/// iterations may send several.
pub(super) fn closed_request_share(facts: &Facts<'_>) -> Option<f64> {
    const ONE_EACH: f64 = 1.05;
    let closed = |scenario: &&Scenario| !scenario.executor.is_open();
    let seen = &facts.seen.scenarios;
    let plan = facts.evidence.plan.scenarios.iter();
    let changes = plan
        .filter(closed)
        .filter_map(|it| seen.get(it.name.as_str()));
    let iterations: u64 = changes
        .map(|change: &ScenarioChange| change.iterations)
        .sum();
    let (_, all) = facts.thrown();
    let is_one_each = facts.all.started as f64 <= ONE_EACH * all as f64;
    let time_s = facts.closed_vus() as f64 * facts.seconds;
    let is_known = time_s > 0.0 && is_one_each && names::is_one(facts);
    let mean = facts.mean_service().filter(|_| is_known)?;
    Some(iterations as f64 * mean / time_s)
}

//! Whether the target was the same all the time and everywhere: outages, restarts, cold starts,
//! idle peers.
//!
//! Must not judge the rate. Invariant: seconds are compared only where the plan asks for the same
//! load in each.

use loadline_model::bounded::Bounded;
use loadline_model::result::Row;
use loadline_model::snapshot::Tally;
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::{Facts, row_seconds};
use super::stats::median;
use super::wording::{count, duration};

/// Fewest seconds in which one can stand out.
const ROWS_MIN: usize = 6;
/// Fewest good answers in a usual second, so that an empty one is no accident.
const USUAL_MIN: f64 = 20.0;
/// A second with less than this share of the usual good answers is an outage,
const DOWN: f64 = 0.1;
/// and one with more than this share has recovered.
const RECOVERED: f64 = 0.5;
/// The first seconds are a cold start when their median is this many times the later ones',
const COLD_FACTOR: f64 = 2.0;
/// and this much above it.
const COLD_NS: f64 = 200_000.0;
/// A peer below this share of the mean is idle.
const IDLE: f64 = 0.1;
/// A peer whose answers take this many times those of the others is the slow one,
const SLOW_PEER: f64 = 2.5;
/// and so many nanoseconds more, so that microseconds are no matter.
const SLOW_PEER_NS: f64 = 500_000.0;
/// Answers per peer from which chance cannot leave one idle.
const PER_PEER_MIN: u64 = 100;

pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if facts.load_is_constant() && facts.rows.len() >= ROWS_MIN {
        findings.extend(outage(&facts.rows));
        findings.extend(cold_start(facts));
    }
    findings.extend(idle_peer(&facts.seen.peers, "address"));
    let header = facts
        .evidence
        .plan
        .aggregation
        .by_header
        .as_deref()
        .unwrap_or("header value");
    findings.extend(idle_peer(&facts.seen.by_header, header));
    findings.extend(slow_peer(&facts.seen.peers, "address"));
    findings.extend(slow_peer(&facts.seen.by_header, header));
    findings
}

fn outage(rows: &[&Row]) -> Option<Finding> {
    let good = |row: &Row| row.good as f64 / row_seconds(row);
    let usual = median(rows.iter().map(|row| good(row))).filter(|usual| *usual >= USUAL_MIN)?;
    let is_down = |row: &Row| good(row) < DOWN * usual;
    // The target may take its time to give the first answer.
    let first_up = rows.iter().position(|row| !is_down(row))?;
    let down = first_up + rows[first_up..].iter().position(|row| is_down(row))?;
    let at = duration((rows[down].at_ns) as f64 / 1e9);
    let Some(length) = rows[down..]
        .iter()
        .position(|row| good(row) > RECOVERED * usual)
    else {
        return Some(Code::TargetDied.finding(
            Gravity::Alarm,
            format!(
                "hardly a good answer came after {at}, where {usual:.0} a second had come before"
            ),
            "look at the target's log at that time: it died, or hangs",
        ));
    };
    let lasted: f64 = rows[down..down + length]
        .iter()
        .map(|row| row_seconds(row))
        .sum();
    Some(Code::OutageSeen.finding(
        Gravity::Caution,
        format!(
            "hardly a good answer came for {} from {at} on, then the target recovered",
            duration(lasted)
        ),
        "look for a restart, a failover or a long pause (garbage collection) at that time",
    ))
}

fn cold_start(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.evidence.plan.warm_up.is_zero() {
        return None;
    }
    let rows = &facts.rows;
    let p50 = |row: &&Row| row.service_time_ns.map(|p| p.p50 as f64);
    let later = median(rows[rows.len() / 3..].iter().filter_map(p50))?;
    let is_cold = |ns: f64| ns >= COLD_FACTOR * later && ns - later > COLD_NS;
    let cold: Vec<f64> = rows
        .iter()
        .map(p50)
        .map_while(|ns| ns.filter(|ns| is_cold(*ns)))
        .collect();
    if cold.is_empty() || cold.len() > rows.len() / 3 {
        return None;
    }
    let lasted: f64 = rows[..cold.len()].iter().map(|row| row_seconds(row)).sum();
    Some(Code::ColdStart.finding(
        Gravity::Caution,
        format!(
            "the first {} were slower: median {}, later {}",
            duration(lasted),
            duration(median(cold)? / 1e9),
            duration(later / 1e9)
        ),
        format!(
            "run longer[, or leave them out with {{warm-up}} {}s]",
            (lasted * 1.5).ceil()
        ),
    ))
}

/// One peer whose answers take much longer than those of the others.
fn slow_peer(peers: &Bounded<String, Tally>, what: &str) -> Option<Finding> {
    let named = peers.rows().filter(|(name, _)| !name.is_empty());
    let mut times: Vec<(f64, &str)> = named
        .filter(|(_, tally)| tally.answered >= PER_PEER_MIN)
        .filter_map(|(name, tally)| Some((tally.time.mean()?, name.as_str())))
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (most, slowest) = times.pop()?;
    let others: Vec<f64> = times.iter().map(|(mean, _)| *mean).collect();
    let usual = median(others)?;
    (most >= SLOW_PEER * usual && most - usual >= SLOW_PEER_NS).then(|| {
        Code::SlowReplica.finding(
            Gravity::Caution,
            format!(
                "of {} peers by {what}, {slowest} answered in {} on average, the others in {}",
                times.len() + 1,
                duration(most / 1e9),
                duration(usual / 1e9)
            ),
            "look at that replica's node and neighbours, or take it out and run again",
        )
    })
}

fn idle_peer(peers: &Bounded<String, Tally>, what: &str) -> Option<Finding> {
    // Answers without the header asked for have a row with no name: that is no peer.
    let named = || peers.rows().filter(|(name, _)| !name.is_empty());
    let total: u64 = named().map(|(_, tally)| tally.answered).sum();
    let number = named().count() as u64;
    if number < 2 || total < PER_PEER_MIN * number {
        return None;
    }
    let mean = total / number;
    let (name, least) = named().min_by_key(|(_, tally)| tally.answered)?;
    ((least.answered as f64) < IDLE * mean as f64).then(|| {
        Code::IdlePeer.finding(
            Gravity::Caution,
            format!(
                "of {number} peers by {what}, {name} answered {} requests while the mean is {}",
                count(least.answered),
                count(mean)
            ),
            "look at how load is balanced: kept-alive connections stay where they \
                 are[ ({max-requests} moves them)]",
        )
    })
}

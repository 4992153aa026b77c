//! Whether the target behaved the same at all times and on all peers: outages, restarts, cold starts, idle
//! peers.
//!
//! Must not judge the rate. Invariant: seconds are only compared if the plan has the same load in each.

use loadline_model::bounded::Bounded;
use loadline_model::error_class::ErrorClass;
use loadline_model::result::Row;
use loadline_model::snapshot::Tally;
use loadline_model::verdict::{Finding, Gravity, Limit};

use super::backlog;
use super::code::Code;
use super::downtime::{self, DOWN, Downtime, End, USUAL_MIN, downtime, end_of, good};
use super::facts::{Facts, row_seconds, share};
use super::link;
use super::names;
use super::signs;
use super::slowing::{self, LAST, ROWS_MIN};
use super::stats::{self, median};
use super::weights;
use super::wording::{count, duration, percent, rate};

/// A first second belongs to a cold start if its median is at least this many times that of the last part.
const COLD_FACTOR: f64 = 2.0;
/// The difference in nanoseconds must be greater than this; than the second if a second has few responses.
const COLD_NS: f64 = 200_000.0;
const COLD_OF_FEW_NS: f64 = 2_000_000.0;
/// Responses in a second from which their median is not chance.
const MANY: u64 = 100;
/// A second is affected by a pause if its p99 is at least this many times that of quiet ones.
const PAUSE_FACTOR: f64 = 3.0;
/// Minimum difference between the two in nanoseconds.
const PAUSE_NS: f64 = 50_000_000.0;
/// Minimum number of affected seconds.
const PAUSES_MIN: usize = 3;
/// Maximum number of affected seconds of a single pause; it is long enough to hold up many.
const ONCE_MAX: usize = 2;
/// Responses that are held up for so many nanoseconds are held up for long.
const LONG_NS: f64 = 500e6;
/// Share of the usual responses below which a link that loses segments counts as interrupted.
const HELD_UP: f64 = 0.5;
/// Minimum number of repeated pauses, and of seconds if these are long.
const ENDS_MIN: usize = 2;
/// Maximum variation of the gaps between pauses, as a share of their mean, for a period to be reported.
const REGULAR: f64 = 0.35;
/// A peer below this share of the mean is idle.
const IDLE: f64 = 0.1;
/// Minimum ratio of the mean duration at the slow peer to that of the others.
const SLOW_PEER: f64 = 2.5;
/// Minimum difference between the two in nanoseconds, so that microseconds are ignored.
const SLOW_PEER_NS: f64 = 500_000.0;
/// Responses per peer from which an idle peer is not chance.
const PER_PEER_MIN: u64 = 100;
/// Responses per peer from which their mean is meaningful: a slow one has few.
const OF_SLOW_PEER_MIN: u64 = 30;

pub(super) fn findings(facts: &Facts<'_>, limit: Limit) -> Vec<Finding> {
    let mut findings = interruptions(facts, limit);
    findings.extend(cold_start(facts));
    let is_even = facts.load_is_constant() || facts.threads_start_at_once();
    if is_even && !weights::is_held_up(facts) {
        findings.extend(slowing::findings(facts, limit));
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

/// Periods in which nothing was answered, or everything took long.
fn interruptions(facts: &Facts<'_>, limit: Limit) -> Vec<Finding> {
    let mut found = Vec::from_iter(outage(facts, limit));
    // A start is not a pause.
    if !starts_cold(facts) {
        found.extend(pauses(facts, limit).or_else(|| bunches(facts)));
    }
    found
}

/// Stalls in every second, so that none is a quiet one.
fn bunches(facts: &Facts<'_>) -> Option<Finding> {
    let [least, most] = backlog::is_let_go_in_bunches(facts)?;
    Some(Code::Pauses.finding(
        Gravity::Caution,
        format!(
            "responses stalled again and again, and then came together: {} to {} requests were in flight",
            count(least),
            count(most)
        ),
        "look for what stops all requests at these times: a long computation, a lock, garbage collection",
    ))
}

/// Whether such periods delayed one response in twenty by at least half a second, or one in seven for a noticeable time
/// and many times its usual one: for its user the service was interrupted, although all was sent.
pub(super) fn interrupts_many(facts: &Facts<'_>) -> bool {
    const NOTICEABLE_NS: f64 = 200e6;
    const MANY_TIMES: f64 = 10.0;
    let at = facts.answered_time().quantiles(&[0.5, 0.85]);
    let are_held = at.is_some_and(|at| at[1] - at[0] >= NOTICEABLE_NS.max(MANY_TIMES * at[0]))
        || holds_many_up_for_long(facts)
        || backlog::is_let_go_in_bunches(facts).is_some();
    are_held && (is_interrupted(facts) || backlog::stops_for_a_while(facts))
}

/// Whether one response in twenty of an open load took at least half a second longer than usual.
fn holds_many_up_for_long(facts: &Facts<'_>) -> bool {
    let at = facts.answered_time().quantiles(&[0.5, 0.95]);
    facts.open && at.is_some_and(|at| at[1] - at[0] >= LONG_NS)
}

/// Whether responses stalled at some time, or stopped.
fn is_interrupted(facts: &Facts<'_>) -> bool {
    !interruptions(facts, Limit::Nobody).is_empty() || slowing::of_a_part(facts).is_some()
}

/// Whether the target was never down, cold or interrupted.
pub(super) fn is_steady(facts: &Facts<'_>) -> bool {
    downtime(facts).is_none() && !starts_cold(facts) && !is_interrupted(facts)
}

fn outage(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let Downtime {
        usual,
        begins: down,
        length,
    } = downtime(facts)?;
    let rows = &facts.rows;
    let Some(length) = length else {
        // If only the first second had good responses and wrong ones followed, it only filled a queue: the
        // target did not die.
        let answered = rows.get(1).is_some_and(|row| row.completed > row.good);
        let was_there = down > 1 || !answered;
        return died(facts, &rows[down..], usual, limit).filter(|_| was_there);
    };
    let at = duration((rows[down].at_ns) as f64 / 1e9);
    let lasted: f64 = rows[down..down + length]
        .iter()
        .map(|row| row_seconds(row))
        .sum();
    let further = downtime::further(facts, &rows[down + length..], usual);
    let may_sleep = facts.may_think() || facts.evidence.plan.is_paced();
    let was_felt = !may_sleep || is_felt(facts, &rows[down..down + length], lasted / 2.0);
    if !was_felt || often_take(facts, lasted / 2.0, 1 + further) {
        return None;
    }
    let again = match further {
        0 => String::new(),
        1 => "; it happened once more".to_owned(),
        many => format!("; it happened {many} times more"),
    };
    Some(Code::OutageSeen.finding(
        Gravity::Caution,
        format!(
            "for {} from {at} on, goodput fell below {} of its usual {}, then recovered{again}",
            duration(lasted),
            percent(DOWN),
            rate(usual)
        ),
        match limit {
            Limit::Network if signs::loses_segments(facts) => {
                "look for what interrupted the network path to the target at that time"
            }
            Limit::Network => {
                "look for what interrupted the target at that time, or the network path to it"
            }
            _ if link::stood_still(facts) => {
                "the target's kernel acknowledged nothing for a while: look for what interrupted the network path at that time, or stopped the target's machine"
            }
            _ => "look for a restart, a failover or a long pause (garbage collection) at that time",
        },
    ))
}

/// Whether a request failed in these rows, had a wrong answer, or took so many seconds: users who all sleep ask for nothing.
fn is_felt(facts: &Facts<'_>, rows: &[&Row], seconds: f64) -> bool {
    let was_failed = rows
        .iter()
        .any(|row| row.failed > 0 || row.completed > row.good);
    let ns = (seconds * 1e9) as u64;
    let seen = facts.seen;
    let took =
        stats::longer_than(&seen.answered_time, ns) + stats::longer_than(&seen.failed_time, ns);
    was_failed || took > 0
}

/// Whether responses often take this many seconds: then they were not missing for that long. In an outage each
/// virtual user waits once.
fn often_take(facts: &Facts<'_>, seconds: f64, outages: usize) -> bool {
    const OFTEN: u64 = 3;
    let usual = facts.answered_time().quantile(0.5).unwrap_or(0.0) / 1e9;
    let as_long = stats::longer_than(facts.answered_time(), (seconds * 1e9) as u64);
    let once = facts.vus.saturating_mul(outages as u64);
    usual >= seconds || names::usually_take(facts, seconds) || as_long > OFTEN * once
}

/// A target that did not recover in the rows from its outage on.
fn died(facts: &Facts<'_>, rows: &[&Row], usual: f64, limit: Limit) -> Option<Finding> {
    let good: u64 = rows.iter().map(|row| row.good).sum();
    let nothing_came = match good {
        0 => "no responses came after that",
        _ => "hardly any responses came after that",
    };
    let (what, advice) = match end_of(facts, rows, usual)? {
        End::Wrong => (
            "the responses after that were wrong",
            match facts.worst_status() {
                Some((500.., _)) => "look at a wrong response and at the target's log at that time",
                _ => {
                    "look at a wrong response and at the target's log at that time: a token, a quota or data may have run out"
                }
            },
        ),
        End::Silent if limit == Limit::Network => (
            nothing_came,
            "look for what cut the network path to the target at that time: a link, a firewall, a route",
        ),
        End::Silent if may_come_too_late(facts) => (
            "none came in time after that",
            "look for a queue that grows: responses may come later than {timeout}, which each request waited for",
        ),
        End::Silent => (
            nothing_came,
            "look at the target's log at that time: it died, or hangs",
        ),
    };
    let left: f64 = rows.iter().map(|row| row_seconds(row)).sum();
    Some(Code::TargetDied.finding(
        Gravity::Alarm,
        format!(
            "after {}, goodput fell from {} to {} and did not recover: {what}",
            duration(rows.first()?.at_ns as f64 / 1e9),
            rate(usual),
            rate(good as f64 / left.max(f64::MIN_POSITIVE))
        ),
        advice,
    ))
}

/// Whether the longest responses took nearly as long as the requests that were given up: the others may have come later.
fn may_come_too_late(facts: &Facts<'_>) -> bool {
    const NEARLY: f64 = 0.5;
    let longest = facts.answered_time().max();
    let given_up = facts.seen.failed_time.quantile(0.5);
    let times_out = facts.worst_class() == Some(ErrorClass::Timeout);
    let is_near = |(longest, given_up): (u64, f64)| longest as f64 >= NEARLY * given_up;
    times_out && longest.zip(given_up).is_some_and(is_near)
}

/// Whether seconds can be compared: there are enough, and the plan has the same load in each.
fn are_comparable(facts: &Facts<'_>) -> bool {
    facts.load_is_constant() && facts.rows.len() >= ROWS_MIN
}

/// Whether the first responses were slower than later ones.
fn starts_cold(facts: &Facts<'_>) -> bool {
    cold_start(facts).is_some()
}

fn cold_start(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.evidence.plan.warm_up.is_zero() || !are_comparable(facts) {
        return None;
    }
    let rows = &facts.rows;
    // Failures have durations too, which say nothing about the duration of a response.
    let answers = |row: &&Row| row.completed > row.failed;
    let p50 = |row: &Row| Some(row.service_time_ns.filter(|_| answers(&row))?.p50 as f64);
    let last = &rows[rows.len() - rows.len() / LAST..];
    let later = median(last.iter().filter_map(|row| p50(row)))?;
    let always_answered = last.iter().all(|row| good(row) >= USUAL_MIN);
    // A second without responses has no times; if every later second has many responses, it is cold too.
    let is_cold = |row: &Row| match p50(row) {
        Some(ns) if row.completed < MANY => {
            ns >= COLD_FACTOR * later && ns - later > COLD_OF_FEW_NS
        }
        Some(ns) => ns >= COLD_FACTOR * later && ns - later > COLD_NS,
        // A response that takes a second cannot arrive in the first one.
        None => always_answered && (row.at_ns + row.span_ns) as f64 > COLD_FACTOR * later,
    };
    let cold = rows.iter().take_while(|row| is_cold(row)).count();
    if cold == 0 || cold > rows.len() - rows.len() / LAST || turns_away(&rows[..cold], last) {
        return None;
    }
    let at_first = median(rows[..cold].iter().filter_map(|row| p50(row)));
    if at_first.is_some_and(|first| only_connects(facts, &rows[..cold], first - later)) {
        return None;
    }
    let lasted: f64 = rows[..cold].iter().map(|row| row_seconds(row)).sum();
    let (span, later) = (duration(lasted), duration(later / 1e9));
    Some(Code::ColdStart.finding(
        Gravity::Caution,
        match at_first {
            None => {
                format!("no response came in the first {span}; later ones took {later} (median)")
            }
            Some(ns) => {
                let at_first = duration(ns / 1e9);
                format!(
                    "responses of the first {span} were slower: median {at_first}, later {later}"
                )
            }
        },
        match fell_short_at_first(facts, &rows[..cold]) {
            true => "find out what the target lacks at first: users who come then wait for it too".to_owned(),
            false => format!(
                "run longer[, or leave them out with {{warm-up}} {}s]",
                (lasted * 1.5).ceil()
            ),
        },
    ))
}

/// Whether requests failed in these first seconds, or arrivals waited: excluding them would hide that.
fn fell_short_at_first(facts: &Facts<'_>, first: &[&Row]) -> bool {
    let waited = first.iter().any(|row| row.waiting > 0 || row.dropped > 0);
    facts.open && waited || first.iter().any(|row| row.failed > 0)
}

/// Whether the later responses are only fast because they are refusals: a rate limiter, a circuit breaker.
fn turns_away(first: &[&Row], last: &[&Row]) -> bool {
    const FEWER: f64 = 0.9;
    let good = |rows: &[&Row]| {
        let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row)).sum();
        share(sum(|row| row.good), sum(|row| row.completed))
    };
    good(last) < FEWER * good(first)
}

/// Whether only connection setup takes longer at first: it is part of the first request's time on each
/// connection.
fn only_connects(facts: &Facts<'_>, cold: &[&Row], longer_ns: f64) -> bool {
    let connections = &facts.seen.connections;
    let times = [&connections.dns, &connections.connect, &connections.tls];
    let each: f64 = times.iter().filter_map(|time| time.mean()).sum();
    let answers: u64 = cold.iter().map(|row| row.completed).sum();
    connections.opened.saturating_mul(2) >= answers && each * 2.0 >= longer_ns
}

/// Seconds with responses much slower than in the others: the target, or the link, stalls for a moment. While a rate rises,
/// responses become slower anyway, but not for half a second and then quick again.
fn pauses(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let is_constant = facts.load_is_constant();
    let is_carried = facts.open && facts.missed().is_none();
    if facts.rows.len() < ROWS_MIN || !is_constant && !is_carried {
        return None;
    }
    let rows: Vec<(&Row, f64)> = facts
        .rows
        .iter()
        .filter_map(|row| Some((*row, row.service_time_ns?.p99 as f64)))
        .collect();
    let mut times: Vec<f64> = rows.iter().map(|(_, p99)| *p99).collect();
    times.sort_by(f64::total_cmp);
    // Quiet seconds may be less than half.
    let quiet = *times.get(times.len() / 4)?;
    let beyond = |ns: f64| (PAUSE_FACTOR * quiet).max(quiet + ns);
    let least = beyond(if is_constant { PAUSE_NS } else { LONG_NS });
    let rows: Vec<(&Row, f64)> = rows
        .into_iter()
        .map(|(row, p99)| (row, p99.max(held_for(facts, row, least))))
        .collect();
    let is_hit = |ns: f64| ns >= least;
    let hit: Vec<&(&Row, f64)> = rows.iter().filter(|(_, p99)| is_hit(*p99)).collect();
    let longest = median(hit.iter().map(|(_, p99)| *p99))?;
    // A slowdown that lasts to the end of the run is not a pause.
    let ends = rows
        .windows(2)
        .filter(|pair| is_hit(pair[0].1) && pair[1].1 < beyond(PAUSE_NS));
    let is_long = longest - quiet >= LONG_NS;
    let are_enough = match ends.count() {
        0 => false,
        1 => is_long && hit.len() <= ONCE_MAX && !is_hit(rows[0].1) && is_felt_once(facts),
        _ => hit.len() >= if is_long { ENDS_MIN } else { PAUSES_MIN },
    };
    if !are_enough {
        return None;
    }
    // A link with losses delays a few responses: that is reported instead of a pause.
    let is_of_link = limit == Limit::Network && signs::loses_segments(facts);
    if is_of_link && !hold_most_up(&rows, &is_hit) {
        return None;
    }
    let usual = facts.service()?.p50? as f64;
    // Requests that the client timed out are not a pause of the target.
    if stats::longer_than(&facts.seen.failed_time, (longest / 2.0) as u64) >= hit.len() as u64 {
        return None;
    }
    // An alternation of seconds with and without such a request is not a pause.
    if names::usually_take(facts, longest / 1e9 / PAUSE_FACTOR) {
        return None;
    }
    let every = period(&hit, longest).map_or_else(String::new, |seconds| {
        format!(
            ", about every {}",
            duration((seconds * 10.0).round() / 10.0)
        )
    });
    Some(Code::Pauses.finding(
        Gravity::Caution,
        format!(
            "in {} of {} seconds responses stalled for up to {}{every}; the median was {}",
            hit.len(),
            rows.len(),
            duration(length_of(facts, &hit, longest) / 1e9),
            duration(usual / 1e9)
        ),
        advice_on_pauses(facts, limit, is_of_link),
    ))
}

/// The seconds from pause to pause, if they come regularly. Shorter ones than half of the usual length have other causes.
fn period(hit: &[&(&Row, f64)], usual: f64) -> Option<f64> {
    let long = hit.iter().filter(|(_, ns)| *ns >= usual / 2.0);
    let starts: Vec<f64> = long.map(|(row, _)| row.at_ns as f64 / 1e9).collect();
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (mean, deviation) = stats::mean_and_deviation(&gaps)?;
    (deviation <= REGULAR * mean).then_some(mean)
}

/// How long a pause lasts, in nanoseconds, at least `shown`: the request that began first in it waited for all of it, those that
/// began later for less. The end of a row's longest band is no time of a request.
fn length_of(facts: &Facts<'_>, hit: &[&(&Row, f64)], shown: f64) -> f64 {
    let longest_in = |row: &Row| {
        let (_, last) = row.heat.bands().last()?;
        let within = 1.0 - share(*last, row.heat.above(0)) / 2.0;
        row.heat.quantile(within).map(|ns| ns as f64)
    };
    let longest = median(hit.iter().filter_map(|(row, _)| longest_in(row)));
    let most = facts.seen.service_time().max().unwrap_or(u64::MAX) as f64;
    longest.map_or(shown, |longest| longest.min(most).max(shown))
}

/// Whether a single pause held up many requests of a load that was carried, and is not reported as an outage.
fn is_felt_once(facts: &Facts<'_>) -> bool {
    facts.missed().is_none() && holds_many_up_for_long(facts) && downtime(facts).is_none()
}

/// Where to look for the cause of pauses.
fn advice_on_pauses(facts: &Facts<'_>, limit: Limit, is_of_link: bool) -> &'static str {
    match is_of_link {
        true => "look for what interrupts the network path to the target at these times",
        false if signs::was_stopped(facts) => {
            "the generator stood still or was throttled in this run: look at that first"
        }
        false if signs::loses_segments(facts) => {
            "packets were lost: look for what interrupts the network path at these times, or stops the target's machine"
        }
        false if link::stood_still(facts) => {
            "the target's kernel acknowledged nothing during these pauses: look for what interrupts the network path, or stops the target's machine"
        }
        false if limit == Limit::Network => {
            "packets waited on the network path during these pauses: look for what interrupts it, or stops the target's machine"
        }
        false => {
            "look for what stops the target at these times: garbage collection, a periodic job, a flush to disk"
        }
    }
}

/// How long half of the virtual users or more were held up in a second, in nanoseconds, where that is at least so long. Users that
/// go on as soon as they can make many requests between two pauses, so that no percentile shows the few that were held up.
fn held_for(facts: &Facts<'_>, row: &Row, least: f64) -> f64 {
    let held = row.heat.above(least as u64);
    let are_many = held > 0 && held.saturating_mul(2) >= row.active_vus;
    if facts.open || !facts.is_hurried() || !are_many {
        return 0.0;
    }
    let half_of_them = 1.0 - share(held, row.completed + row.failed) / 2.0;
    row.heat.quantile(half_of_them).unwrap_or(0) as f64
}

/// Whether affected seconds have fewer than half as many responses as the others.
fn hold_most_up(rows: &[(&Row, f64)], is_hit: &impl Fn(f64) -> bool) -> bool {
    let (hit, quiet): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, p99)| is_hit(*p99));
    let answers = |rows: &[&(&Row, f64)]| median(rows.iter().map(|(row, _)| good(row)));
    let both = answers(&hit).zip(answers(&quiet));
    both.is_some_and(|(hit, quiet)| hit < HELD_UP * quiet)
}

/// One peer whose responses take much longer than those of the others.
fn slow_peer(peers: &Bounded<String, Tally>, what: &str) -> Option<Finding> {
    let named = peers.rows().filter(|(name, _)| !name.is_empty());
    let mut times: Vec<(f64, &str)> = named
        .filter(|(_, tally)| tally.answered >= OF_SLOW_PEER_MIN)
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
    // Responses without the requested header are in a row without a name, which is not a peer.
    let named = || peers.rows().filter(|(name, _)| !name.is_empty());
    let total: u64 = named().map(|(_, tally)| tally.answered).sum();
    let number = named().count() as u64;
    // A failing peer is not idle.
    let fails = named().any(|(_, tally)| tally.failed > tally.answered);
    if fails || number < 2 || total < PER_PEER_MIN * number {
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
            "check the load balancing: kept-alive connections stay where they \
                 are[ ({max-requests} moves them)]",
        )
    })
}

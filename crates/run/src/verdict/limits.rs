//! Who was in the way: the target, the network, the generator or the plan.
//!
//! Failures and refusals decide by themselves. Otherwise `weights` splits the time that the load lost, and the
//! side that took at least half of it is the limit. Must not ask whether the load was delivered beyond what
//! `Facts` says. Invariant: a side without half of the evidence is never named.

use loadline_metric::TimeTrend;
use loadline_model::error_class::ErrorClass;
use loadline_model::result::{Row, StopReason};
use loadline_model::verdict::{Finding, Gravity, Limit};

use super::backlog;
use super::code::Code;
use super::computing;
use super::downtime;
use super::facts::{Facts, share};
use super::failing::{
    FAILURES, FAILURES_OF_OFFERED, cuts_off, failing_from, failing_side, fails_mostly, is_flooded,
    is_on_loopback, keeps_out, side_of_failures, side_of_mistakes, side_of_silence, spoils,
};
use super::lateness;
use super::law;
use super::link;
use super::losses;
use super::names;
use super::path;
use super::queue;
use super::resources::Seen;
use super::saturation::Knee;
use super::scenarios;
use super::weights::{self, OCCUPIED, Weights};
use super::wording::{duration, listed, percent};
use super::{signs, slowing, stability, stops};

/// Share of the evidence from which a side is named.
const NAMED: f64 = 0.5;
/// Minimum lead of the first side over the second, as a share of the time, for the first to be named.
const CLEAR_LEAD: f64 = 0.1;
/// Share of the evidence from which a side that is not the limit is also reported.
const TOLD: f64 = 0.25;
/// Share of the virtual users' time on requests from which all count as busy.
const ALL_BUSY: f64 = 0.8;
/// The same share from which a queue in the target is not chance.
const QUEUED: f64 = 0.25;
/// A mean response duration from which responses are slow, whatever the load.
const SLOW_S: f64 = 0.5;

/// The limit and its evidence.
pub(super) struct Blame {
    pub(super) limit: Limit,
    /// How the time was split; `None` if failures decided, or nobody was in the way.
    pub(super) weights: Option<Weights>,
    pub(super) findings: Vec<Finding>,
}

pub(super) fn judge(facts: &Facts<'_>, knee: Option<&Knee>, seen: &Seen) -> Blame {
    let (limit, weights) = limit_of(facts, knee, seen);
    let mut findings = signs::findings(facts);
    findings.extend(law::findings(facts, limit, seen.culprit.is_some()));
    findings.extend(weights.and_then(|weights| shared(facts, limit, weights)));
    Blame {
        limit,
        weights,
        findings,
    }
}

fn limit_of(facts: &Facts<'_>, knee: Option<&Knee>, seen: &Seen) -> (Limit, Option<Weights>) {
    let no_load = facts.all.started == 0 || facts.not_begun().is_some();
    if no_load && facts.evidence.totals.stop == StopReason::Finished && facts.has_lost_agents() {
        return (Limit::Generator, None);
    }
    if matches!(
        facts.evidence.totals.stop,
        StopReason::Crashed | StopReason::Defect
    ) || no_load
    {
        return (Limit::Unknown, None);
    }
    if is_silent(facts) {
        return (side_of_silence(facts), None);
    }
    let failures = failing_side(facts);
    let in_time = facts.missed().is_none() && lateness::how_late(facts).is_none();
    let delivered = facts.open && in_time && knee.is_none();
    if delivered && failures.is_none() {
        // A queue accepts everything; whether it is processed is a separate question.
        let limit = match spoils(facts) {
            _ if seen.decides => Limit::Target,
            Some(side) => side,
            None if stops::was_frozen(facts) || is_busy_beside(facts) => Limit::Generator,
            None if is_waited_for(facts) => return by_time(facts),
            None if losses::slow_down(facts) => Limit::Network,
            None => Limit::Nobody,
        };
        return (limit, None);
    }
    // A generator that has no time to read responses sees timeouts, and no other failures.
    let is_of_time = facts.worst_class() == Some(ErrorClass::Timeout);
    // Whatever the limit was before, at the end it was only the target.
    if (failures.is_none() || is_of_time) && downtime::silent_from(facts).is_some() {
        return (side_of_silence(facts), None);
    }
    let weights = Weights::of(facts, seen.culprit.is_some());
    match failures {
        Some(side) if !is_of_time => return (side, None),
        _ if facts.refused_share() >= FAILURES => return (Limit::Target, None),
        // However fast such responses are: correct requests would get other responses.
        _ if let Some(side) = side_of_mistakes(facts) => return (side, None),
        _ if signs::generator_is_broken(facts) => return (Limit::Generator, None),
        _ if !is_of_time && cuts_off(facts) => return (Limit::Target, None),
        Some(side) => {
            let generator =
                weights.is_some_and(|weights| weights.generator >= NAMED) && !is_flooded(facts);
            let side = if generator { Limit::Generator } else { side };
            return (side, weights);
        }
        None => {}
    }
    let Some(weights) = weights else {
        return (Limit::Unknown, None);
    };
    let is_busy = || weights::uses_quota_up(facts) || computes_most(facts, weights);
    if seen.culprit.is_none() && !facts.open && is_busy() {
        return (Limit::Generator, None);
    }
    let limit = if facts.open {
        open_limit(facts, knee, weights)
    } else {
        closed_limit(facts, knee, weights)
    };
    (tempered(facts, limit, weights, seen), Some(weights))
}

/// Responses alone do not always distinguish the target from the plan, or from the network path; an exhausted
/// resource does.
fn tempered(facts: &Facts<'_>, limit: Limit, weights: Weights, seen: &Seen) -> Limit {
    match limit {
        Limit::Target if is_kept_out(facts) => Limit::Unknown,
        Limit::Target if seen.culprit.is_none() && path::may_queue(facts) => Limit::Unknown,
        Limit::Network if hardly_runs(facts, weights) => Limit::Generator,
        Limit::Target if seen.culprit.is_none() && fails_mostly(facts) => {
            side_of_failures(facts).unwrap_or(limit)
        }
        Limit::Plan | Limit::Unknown | Limit::Target if is_cut_off(facts) => Limit::Network,
        Limit::Target if seen.culprit.is_none() && link::may_wait_for_windows(facts) => {
            Limit::Unknown
        }
        Limit::Plan | Limit::Unknown | Limit::Target if seen.is_between => Limit::Network,
        Limit::Plan | Limit::Unknown if seen.culprit.is_some() => Limit::Target,
        // The sides of the whole run are those of two: before and after.
        Limit::Unknown if weights.generator < TOLD && slowing::of_target(facts).is_some() => {
            Limit::Target
        }
        Limit::Unknown if downtime::comes_back(facts) => {
            failing_from(facts, FAILURES_OF_OFFERED).unwrap_or(limit)
        }
        limit => limit,
    }
}

/// Whether the generator of a closed load always waits for a CPU: a nearer target would not get more from it.
fn hardly_runs(facts: &Facts<'_>, weights: Weights) -> bool {
    !facts.open && weights::hardly_has_a_cpu(facts) && weights.generator >= TOLD
}

/// Whether connections wait that either the target does not accept, or something on the network path blocks.
fn is_kept_out(facts: &Facts<'_>) -> bool {
    keeps_out(facts) || signs::is_let_in_late(facts) && !is_on_loopback(facts)
}

/// Whether sent data was unacknowledged most of the time, which a stopped process cannot cause. If SYNs are
/// lost while other packets are acknowledged as usual, a full accept queue can; but then what it has accepted waits.
fn is_cut_off(facts: &Facts<'_>) -> bool {
    let are_let_in = facts.seen.connections.connect.max() < Some(path::SYN_TIMEOUT_NS);
    let stood_still = link::mostly_stood_still(facts);
    stood_still && are_let_in
        || (stood_still || losses::mostly_connects(facts)) && downtime::comes_back(facts)
}

/// Whether a generator that carries the arrivals has no CPU time left for the closed scenarios beside them.
fn is_busy_beside(facts: &Facts<'_>) -> bool {
    facts.closed_vus() > 0 && weights::exhausted(facts).is_some()
}

/// Whether a load that was sent on time was not answered as fast as it was sent.
fn is_waited_for(facts: &Facts<'_>) -> bool {
    let falls_behind = backlog::falls_behind(facts).is_some();
    waits_beside(facts)
        || falls_behind
        || facts.lacks_answers()
        || stability::interrupts_many(facts)
        || backlog::piles_up(facts)
        || backlog::keeps_some_waiting(facts)
}

/// Whether the virtual users of scenarios without a rate wait for requests nearly all of the time, while the arrivals
/// beside them are carried.
fn waits_beside(facts: &Facts<'_>) -> bool {
    let own = scenarios::closed_request_share(facts);
    wait_for_one(facts, facts.closed_vus()) || own.is_some_and(|own| own >= ALL_BUSY)
}

/// Whether one of several requests takes at least `ALL_BUSY` of the time of `users` virtual users.
fn wait_for_one(facts: &Facts<'_>, users: u64) -> bool {
    let waiting =
        names::heaviest(facts).map_or(0.0, |time| time.sum() as f64 / 1e9 / facts.seconds);
    users > 0 && waiting >= ALL_BUSY * users as f64
}

/// The side that takes most of a request's time.
fn by_time(facts: &Facts<'_>) -> (Limit, Option<Weights>) {
    let weights = Weights::of(facts, false);
    let limit = match weights {
        _ if is_cut_off(facts) => Limit::Network,
        Some(weights) => heaviest(weights, Limit::Target),
        None => Limit::Unknown,
    };
    (limit, weights)
}

/// Whether virtual users spend most of their time on fully busy workers: within requests, and between them.
fn computes_most(facts: &Facts<'_>, weights: Weights) -> bool {
    /// Of a worker's time.
    const FULL: f64 = 0.9;
    let elsewhere = facts.busy_share() * (1.0 - weights.generator);
    let is_full = weights::exhausted(facts).is_some() && weights::occupied(facts) >= FULL;
    facts.may_think() && is_full && 1.0 - elsewhere >= NAMED + CLEAR_LEAD / 2.0
}

/// Whether the target accepted the requests, and virtual users waited for its responses until the end of the
/// run.
fn is_silent(facts: &Facts<'_>) -> bool {
    let was_sent = facts.all.bytes_sent > 0;
    was_sent && facts.stuck().is_some() && weights::occupied(facts) < OCCUPIED
}

/// The side that took at least half of the time, and clearly more than any other; the target's time counts for
/// `of_target`.
fn heaviest(weights: Weights, of_target: Limit) -> Limit {
    let mut sides = [weights.network, weights.generator, weights.target];
    sides.sort_by(f64::total_cmp);
    match weights {
        _ if sides[2] - sides[1] < CLEAR_LEAD => Limit::Unknown,
        Weights { generator, .. } if generator >= NAMED => Limit::Generator,
        Weights { network, .. } if network >= NAMED => Limit::Network,
        Weights { target, .. } if target >= NAMED => of_target,
        _ => Limit::Unknown,
    }
}

fn open_limit(facts: &Facts<'_>, knee: Option<&Knee>, weights: Weights) -> Limit {
    if fell_in_stalls(facts) || was_late_by_stalls(facts) {
        return Limit::Generator;
    }
    let all_in_use = facts.evidence.totals.active_vus_max >= facts.vus;
    let busy = facts.busy_share() >= ALL_BUSY;
    let are_held = weights::engaged(facts) >= ALL_BUSY || had_no_user(facts) && drops_go_on(facts);
    if are_held && spend_less_on_requests(facts) {
        // Requests matter little here: the rest of the iteration held the virtual users.
        return match weights::occupied(facts) >= OCCUPIED || computing::holds_users(facts, weights)
        {
            true => Limit::Generator,
            false => Limit::Plan,
        };
    }
    match knee {
        Some(knee) if all_in_use && !knee.slowed => return heaviest(weights, Limit::Plan),
        Some(_) => return heaviest(weights, Limit::Target),
        None => {}
    }
    let for_want = waited_where_all_were_in_use(facts) || dropped_where_all_were_in_use(facts);
    if busy || all_in_use && !is_bursty(facts) || for_want {
        return side_that_holds(facts, weights);
    }
    // Virtual users were free most of the time. Arrivals that were still missed came in bursts: the generator
    // stalled, or the target did.
    match lateness_of_generator(facts) {
        Some(share) if share >= NAMED => Limit::Generator,
        _ if has_pauses(facts) => heaviest(weights, Limit::Target),
        // A start without a free virtual user is dropped or waits for one, whether late or not.
        _ if all_in_use && (had_no_user(facts) || lateness::is_for_want_of_vus(facts)) => {
            side_that_holds(facts, weights)
        }
        _ if signs::is_late(facts) || weights::exhausted(facts).is_some() => Limit::Generator,
        _ if all_in_use => heaviest(weights, Limit::Plan),
        _ => Limit::Unknown,
    }
}

/// Whether the virtual users of an open load, or of the only scenario that dropped arrivals, spend most of their time on
/// something other than requests.
fn spend_less_on_requests(facts: &Facts<'_>) -> bool {
    let own = scenarios::short(facts).and_then(|short| short.request_share);
    own.map_or_else(
        || {
            let users = scenarios::vus_of_dropped(facts);
            facts.request_share() < NAMED && !wait_for_one(facts, users)
        },
        |own| own < NAMED,
    )
}

/// Who holds the virtual users of an open load that are all in use.
fn side_that_holds(facts: &Facts<'_>, weights: Weights) -> Limit {
    let of_target = target_or_plan(facts);
    let is_idle = || {
        facts.counts.failed_total() == 0
            && link::link(facts).is_none()
            && !signs::loses_segments(facts)
    };
    match heaviest(weights, of_target) {
        // Neither the target nor the path shows a queue, and more virtual users would find none.
        Limit::Unknown if of_target == Limit::Plan && weights.generator < TOLD && is_idle() => {
            Limit::Plan
        }
        limit => limit,
    }
}

/// Who is in the way where all virtual users wait for the target, and a rate was asked for: more of them would wait in a queue, or
/// reach it.
fn target_or_plan(facts: &Facts<'_>) -> Limit {
    match target_is_slow(facts) {
        true => Limit::Target,
        false if queue::may_stand(facts) && !queue::comes_in_rounds(facts) => Limit::Unknown,
        false => Limit::Plan,
    }
}

/// Whether most of the missed arrivals were dropped in seconds in which the generator was stalled: they came all
/// at once.
fn fell_in_stalls(facts: &Facts<'_>) -> bool {
    const STALL_S: f64 = 0.5;
    let dropped = |row: &&&Row| facts.stalled_s(row) >= STALL_S;
    let stalled: u64 = facts
        .rows
        .iter()
        .filter(dropped)
        .map(|row| row.dropped)
        .sum();
    stalled > 0 && stalled.saturating_mul(2) >= facts.missed().unwrap_or(0)
}

/// Whether most of the late arrivals were due while the generator was stalled; all started in the end.
fn was_late_by_stalls(facts: &Facts<'_>) -> bool {
    const STALL_NS: u64 = 100_000_000;
    let late = lateness::begun_late(facts);
    let stalls = facts.rows.iter().map(|row| row.generator.stalled_ns);
    let stalled: u64 = stalls.filter(|ns| *ns >= STALL_NS).sum();
    let asked = facts.asked().unwrap_or(0) as f64;
    let due = asked * stalled as f64 / 1e9 / facts.seconds.max(f64::MIN_POSITIVE);
    facts.missed().is_none() && late > 0 && due * 2.0 >= late as f64
}

/// Whether arrivals of a script were dropped because their scenario, possibly one of several, had no free
/// virtual user.
fn had_no_user(facts: &Facts<'_>) -> bool {
    let missed = facts.missed().unwrap_or(0);
    facts.is_script() && missed > 0 && facts.counts.dropped.saturating_mul(2) >= missed
}

/// Whether arrivals were dropped in most of the seconds; only checked if the load is constant.
fn drops_go_on(facts: &Facts<'_>) -> bool {
    let with_drops = facts.rows.iter().filter(|row| row.dropped > 0).count();
    !facts.load_is_constant() || with_drops.saturating_mul(2) >= facts.rows.len()
}

/// Whether most of the missed arrivals waited at the end of the schedule, and arrivals only waited in seconds at whose end
/// every virtual user was in use: so a load ends that the target carried at first.
fn waited_where_all_were_in_use(facts: &Facts<'_>) -> bool {
    let missed = facts.missed().unwrap_or(0);
    let waiting = || facts.rows.iter().filter(|row| row.waiting > 0);
    let at_the_end = facts.rows.last().map_or(0, |row| row.waiting);
    missed > 0
        && at_the_end.saturating_mul(2) >= missed
        && waiting().all(|row| row.active_vus >= facts.vus)
}

/// Whether all missed arrivals were dropped by scenarios that used all of their allowed virtual users; other
/// scenarios may have had free ones.
fn dropped_where_all_were_in_use(facts: &Facts<'_>) -> bool {
    let seen = &facts.seen.scenarios;
    let plan = &facts.evidence.plan.scenarios;
    plan.len() > 1
        && had_no_user(facts)
        && plan.iter().all(|scenario| {
            let change = seen.get(scenario.name.as_str());
            change.is_none_or(|change| {
                change.dropped == 0 || change.vus_made >= u64::from(scenario.executor.max_vus())
            })
        })
}

/// Whether all virtual users were only in use for moments.
fn is_bursty(facts: &Facts<'_>) -> bool {
    facts.busy_share() < NAMED
}

/// The share of the arrivals' waiting time during which a virtual user was free; `None` if they did not wait,
/// or were dropped instead because no virtual user was free.
fn lateness_of_generator(facts: &Facts<'_>) -> Option<f64> {
    /// Mean wait of a request below which they did not wait, in nanoseconds.
    const WAITED_NS: f64 = 1e6;
    let sum = |name: &str| {
        let metric = facts.metric(name)?;
        Some(metric.mean? as f64 * metric.count as f64)
    };
    let waited = sum("response_time_ns")? - sum("service_time_ns")?;
    let waited = waited.max(0.0);
    let each = waited / facts.seen.response_time.count().max(1) as f64;
    let dropped = facts.counts.dropped;
    let dropped = dropped > 0 && dropped.saturating_mul(2) >= facts.missed().unwrap_or(0);
    (each >= WAITED_NS && !dropped).then(|| sum("schedule_lag_ns").unwrap_or(0.0) / waited)
}

/// Whether a few responses took so much longer than the others that they held the virtual users.
fn has_pauses(facts: &Facts<'_>) -> bool {
    const LONG: f64 = 5.0;
    let at = facts.answered_time().quantiles(&[0.5, 0.99]);
    at.is_some_and(|at| at[1] >= LONG * at[0])
}

fn closed_limit(facts: &Facts<'_>, knee: Option<&Knee>, weights: Weights) -> Limit {
    match facts.busy_share() {
        busy if busy >= ALL_BUSY && facts.misses_pace() => heaviest(weights, target_or_plan(facts)),
        busy if busy >= ALL_BUSY || weights::exhausted(facts).is_some() => {
            heaviest(weights, target_or_users(facts))
        }
        _ if facts.refused_share() >= FAILURES_OF_OFFERED => Limit::Target,
        // What virtual users do between requests either uses the generator's workers or, if they sleep, no CPU
        // time.
        _ if weights::occupied(facts) >= OCCUPIED => Limit::Generator,
        _ if computing::holds_users(facts, weights) => Limit::Generator,
        _ if stops::took_much(facts).is_some() => Limit::Generator,
        // More virtual users got no more responses, and waited longer for each.
        _ if knee.is_some_and(|knee| knee.slowed) || queue::slows_with_load(facts) => {
            heaviest(weights, Limit::Target)
        }
        busy if busy >= QUEUED && slowing::costs_responses(facts) => {
            heaviest(weights, Limit::Target)
        }
        // Virtual users with think time meet a queue as well.
        busy if busy >= QUEUED && queue::has_queue(facts) => heaviest(weights, Limit::Target),
        busy if busy >= NAMED && queue::is_served_evenly(facts) => heaviest(weights, Limit::Target),
        // Most of their time goes into a few responses, whose requests wait for their turn.
        busy if busy >= NAMED && queue::is_mostly_long(facts) => heaviest(weights, Limit::Target),
        // Virtual users with think time wait for a full link as well.
        _ if link::link(facts).is_some() => heaviest(weights, Limit::Target),
        _ if facts.evidence.plan.is_paced()
            || facts.may_think() && !computing::never_sleeps(facts) =>
        {
            spoils(facts).unwrap_or(Limit::Plan)
        }
        // The rest are requests that never ended, or a ramp that had fewer virtual users than at its top.
        _ => heaviest(weights, target_or_users(facts)),
    }
}

/// Who is in the way of virtual users that hurry: the target, unless more of them would get more.
fn target_or_users(facts: &Facts<'_>) -> Limit {
    match law::more_users_would_help(facts) {
        true => Limit::Plan,
        false => Limit::Target,
    }
}

/// Whether more virtual users would only lengthen the target's queue.
fn target_is_slow(facts: &Facts<'_>) -> bool {
    shows_a_queue(facts) && !queue::comes_in_rounds(facts)
        || facts.refused_share() > 0.01
        || share(facts.counts.failed_total(), facts.counts.started) > 0.1
}

/// Whether responses look as if they had waited in the target.
fn shows_a_queue(facts: &Facts<'_>) -> bool {
    // A single user never waits for others.
    let is_any_slow = is_slow(facts.answered_time()) || names::heaviest(facts).is_some_and(is_slow);
    facts.vus > 1 && is_any_slow
        || queue::has_queue(facts)
        || queue::slows_when_full(facts)
        || queue::slows_with_load(facts)
        || queue::fills_at_start(facts)
        || queue::comes_in_bunches(facts)
        || queue::is_served_evenly(facts)
        // A generator without CPU varies as well.
        || queue::varies_together(facts) && !signs::lacks_cpu(facts)
        || facts.evidence.plan.scenarios.len() == 1 && queue::starves_some(facts)
        || signs::waits_to_be_accepted(facts)
}

/// Whether responses are slow, and not uniformly slow by nature.
fn is_slow(time: &TimeTrend) -> bool {
    let mean = time.mean().unwrap_or(0.0) / 1e9;
    mean >= SLOW_S && !queue::takes_as_long_for_each(time)
}

/// How the time was split, if more than one side took much of it.
fn shared(facts: &Facts<'_>, limit: Limit, weights: Weights) -> Option<Finding> {
    let time = weights::mean_time(facts)?;
    let sides = weights.sides();
    let may_queue = path::may_queue(facts);
    let is_told = match limit {
        Limit::Nobody | Limit::Plan => false,
        Limit::Unknown => sides[0].share < NAMED || may_queue,
        _ => sides[1].share >= TOLD,
    };
    is_told.then(|| {
        let taken = sides.iter().filter(|side| side.share >= 0.05);
        let taken = taken.map(|side| {
            let part = duration(side.share * time);
            let also = match side.name == "target" {
                true if signs::loses_segments(facts) => ", or waiting for its retransmits",
                true if may_queue => ", or in a queue on the way to it",
                _ => "",
            };
            format!("{part} {}{also} ({})", side.place, percent(side.share))
        });
        let text = format!(
            "a request takes {} on average: about {}",
            duration(time),
            listed(&taken.collect::<Vec<_>>())
        );
        let advice = match weights.generator >= TOLD {
            true => "run the generator on its own machine: the times include its delay",
            false if signs::loses_segments(facts) => {
                "find what loses packets between the generator and the target, and run again"
            }
            false if may_queue => {
                "run again with a new connection for each request: connects wait in a queue on the path, but not for the target"
            }
            false => "move the generator nearer to the target and run again",
        };
        Code::SharedLimit.finding(Gravity::Caution, text, advice)
    })
}

/// For the headline: the shares of the sides, if it was not one side alone and they are the reason for the limit.
pub(super) fn divided(facts: &Facts<'_>, limit: Limit, weights: Option<Weights>) -> Option<String> {
    // Parts of the whole run are those of neither phase.
    let weights = weights.filter(|_| slowing::of_target(facts).is_none())?;
    if limit == Limit::Unknown && path::may_queue(facts) {
        return Some("the target, or a queue on the path to it".to_owned());
    }
    let sides = weights.sides();
    let [first, second, _] = &sides;
    let is_reason = match limit {
        Limit::Nobody | Limit::Plan => false,
        Limit::Unknown => true,
        Limit::Target => weights.target >= first.share,
        Limit::Network => weights.network >= first.share,
        Limit::Generator => weights.generator >= first.share,
    };
    if !is_reason || second.share < TOLD {
        return None;
    }
    let part = |side: &weights::Side| format!("{:.0} % {}", side.share * 100.0, side.name);
    Some(format!("{}, {}", part(first), part(second)))
}

//! What the number of virtual users and the time of an iteration say about the rate: Little's law.
//!
//! Must not decide who is the limit; it gets the decision. Invariant: the law is only told where it explains the
//! shortfall, or the lack of one.

use loadline_metric::TimeTrend;
use loadline_model::result::Row;
use loadline_model::verdict::{Finding, Gravity, Limit};

use super::code::Code;
use super::facts::{Facts, row_seconds};
use super::wording::{count, counted, duration, percent, rate};
use super::{link, queue, scenarios};

/// Maximum ratio of the rate that Little's law allows to the rate reached, for the law to explain the rate.
const CEILING: f64 = 1.5;
/// The same for the rate to be what the law allows: a mean is longer at the end, while a queue grows.
const REACHED: f64 = 1.15;
/// Number of virtual users of a closed model that counts as few, and of responses from which their times are
/// meaningful.
const FEW_VUS: u64 = 8;
const FEW_VUS_SAMPLES: u64 = 100;
/// Share of the virtual users' time below which requests do not hold them.
const HELD: f64 = 0.5;

/// The findings.
pub(super) fn findings(facts: &Facts<'_>, limit: Limit, is_target_full: bool) -> Vec<Finding> {
    let unhurried = unhurried(facts, limit).filter(|_| !is_target_full);
    ceiling(facts, limit).into_iter().chain(unhurried).collect()
}

/// Whether the virtual users of a closed model show no queue in the target: they are so few that they never wait for each
/// other, or became many while responses took as long as before.
fn are_few(facts: &Facts<'_>) -> bool {
    let at_once = match facts.rows.len() {
        0 | 1 => facts.vus,
        _ => facts.vus.min(facts.evidence.totals.active_vus_max),
    };
    !facts.open
        && (at_once <= FEW_VUS && facts.is_hurried() || rises_with_users(facts))
        && facts.answered_time().count() >= FEW_VUS_SAMPLES
        && !link::mostly_moves(facts)
        && !queue::may_stand_in_target(facts)
        && !queue::has_queue(facts)
        && !queue::is_mostly_long(facts)
}

/// Whether the number of virtual users rose during the load, and each of them got as many responses as before: by Little's
/// law, the rate rose with them to the end.
pub(super) fn rises_with_users(facts: &Facts<'_>) -> bool {
    const ROWS_MIN: usize = 3;
    const TIMES: u64 = 2;
    /// Share of the virtual users' time that answered requests account for.
    const ANSWERED: f64 = 0.8;
    let most = facts.most_active_vus();
    let Some(full) = facts.rows.iter().position(|row| row.active_vus == most) else {
        return false;
    };
    let rise = &facts.rows[..=full];
    let rises = rise
        .windows(2)
        .all(|two| two[0].active_vus <= two[1].active_vus);
    let is_ramp = rise.len() >= ROWS_MIN && rise[0].active_vus * TIMES <= most && rises;
    let mean = facts.mean_service().unwrap_or(0.0);
    let is_all_theirs = |two: &[&Row]| {
        let users = (two[0].active_vus + two[1].active_vus) as f64 / 2.0;
        two[1].completed as f64 * mean >= ANSWERED * users * row_seconds(two[1])
    };
    is_ramp && rise.windows(2).all(is_all_theirs)
}

/// Whether more of them would get more responses: nearly all took about as long as the fastest, or the rate rose with their
/// number to the end. A single user never waits for others, so that this says nothing.
pub(super) fn more_users_would_help(facts: &Facts<'_>) -> bool {
    const LONGER: f64 = 1.25;
    let time = facts.answered_time();
    let both = time.quantile(0.9).zip(time.min());
    let are_alike = both.is_some_and(|(slow, fastest)| slow <= LONGER * fastest as f64);
    are_few(facts) && facts.vus > 1 && (are_alike || rises_with_users(facts))
}

/// They do not show the capacity of the target.
fn unhurried(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let is_so = matches!(limit, Limit::Target | Limit::Plan) && are_few(facts);
    is_so.then(|| {
        Code::TooFewVus.finding(
            Gravity::Note,
            format!(
                "{} {} always busy, and responses show no queue in the target{}",
                counted(facts.vus, "virtual user"),
                if facts.vus == 1 { "was" } else { "were" },
                pace(facts.answered_time())
            ),
            "use more virtual users to find the target's capacity",
        )
    })
}

/// The virtual users, their mean time and the rate that follows, as text; `None` if that is not the rate reached.
pub(super) fn in_numbers(facts: &Facts<'_>) -> Option<String> {
    let mean = facts.mean_service()?;
    let most = facts.vus as f64 / mean;
    let is_reached = most <= REACHED * facts.per_second(facts.counts.completed);
    let vus = counted(facts.vus, "VU");
    is_reached.then(|| format!("{vus} / {} = {}", duration(mean), rate(most)))
}

/// Little's law in numbers.
struct Law<'a> {
    /// Whose numbers these are, if there are several scenarios.
    scenario: Option<&'a str>,
    vus: u64,
    asked: f64,
    mean: f64,
    achieved: f64,
    /// The share of the virtual users' time spent on requests.
    request_share: Option<f64>,
    times: Option<&'a TimeTrend>,
}

impl<'a> Law<'a> {
    /// That of the scenario that dropped arrivals, or of all virtual users; `None` if it is that of neither.
    fn of(facts: &Facts<'a>) -> Option<Law<'a>> {
        let is_mixture = facts.evidence.plan.scenarios.len() > 1 && facts.counts.dropped > 0;
        if is_mixture {
            let short = scenarios::short(facts)?;
            return Some(Law {
                scenario: Some(short.name),
                vus: short.vus,
                asked: short.asked_rate,
                mean: short.mean_s,
                achieved: short.rate,
                request_share: short.request_share,
                times: short.times,
            });
        }
        let completed = facts.per_second(facts.counts.completed);
        Some(Law {
            scenario: None,
            vus: facts.vus,
            asked: facts.highest_rate()?,
            mean: facts.mean_iteration()?,
            achieved: completed / facts.requests_per_iteration(),
            request_share: Some(facts.request_share()),
            times: Some(facts.answered_time()),
        })
    }

    fn most(&self) -> f64 {
        self.vus as f64 / self.mean
    }

    fn needed(&self) -> u64 {
        (self.asked * self.mean).ceil() as u64
    }

    fn in_words(&self, facts: &Facts<'_>) -> String {
        let whose = self.scenario.map(|name| format!("in scenario {name}, "));
        format!(
            "{}{} / {} {} = {}, and {} was reached",
            whose.unwrap_or_default(),
            counted(self.vus, "virtual user"),
            duration(self.mean),
            match facts.may_think() {
                true => "for an iteration",
                false => "mean service time",
            },
            rate(self.most()),
            rate(self.achieved)
        )
    }

    /// What the responses say about the virtual users that were all busy.
    fn of_responses(&self, facts: &Facts<'_>, limit: Limit) -> String {
        let elsewhere = self.request_share.map(|share| 1.0 - share);
        let pace = self.times.map_or_else(String::new, pace);
        let waits = self
            .times
            .is_none_or(|times| queue::half_may_wait(facts, times));
        match elsewhere.filter(|elsewhere| *elsewhere > HELD) {
            Some(elsewhere) => {
                let part = percent(elsewhere);
                format!("they spent {part} of their time between requests")
            }
            None if queue::comes_in_rounds(facts) => {
                format!("responses came in rounds, as if a clock released them{pace}")
            }
            None if limit == Limit::Unknown || waits => {
                format!("responses do not show whether they waited in the target{pace}")
            }
            None => format!("responses show no queue in the target{pace}"),
        }
    }
}

/// Little's law, if it explains a shortfall.
fn ceiling(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    facts.missed()?;
    let law = Law::of(facts)?;
    let (asked, most, achieved, needed) = (law.asked, law.most(), law.achieved, law.needed());
    let times = asked / most;
    // If much more would have been possible, something else held the load back, or mean and rate are from
    // different periods.
    if times < 1.0 || most > CEILING * achieved || facts.reached_cap().is_some() {
        return None;
    }
    let words = law.in_words(facts);
    match limit {
        Limit::Target | Limit::Network => Some(Code::TargetCeiling.finding(
            Gravity::Caution,
            match limit {
                Limit::Network => format!("{words}: the time on the network path is the ceiling"),
                _ if most > REACHED * achieved => {
                    format!("{words}: the service time grew until it was the ceiling")
                }
                _ => format!("{words}: the service time is the ceiling"),
            },
            faster(facts, limit, asked, needed, times.max(asked / achieved)),
        )),
        Limit::Unknown if !queue::may_stand(facts) => None,
        Limit::Plan | Limit::Unknown => Some(Code::TooFewVus.finding(
            Gravity::Caution,
            format!(
                "all virtual users were busy: {words}; {} needs {}; {}",
                rate(asked),
                count(needed),
                law.of_responses(facts, limit)
            ),
            format!(
                "allow more virtual users ({{max-vus}} {}) and run again; if the service time grows \
                     with them, the target is the limit",
                needed + needed / 5
            ),
        )),
        _ => None,
    }
}

/// What would be needed to carry the planned load.
fn faster(facts: &Facts<'_>, limit: Limit, asked: f64, needed: u64, times: f64) -> String {
    let asked = rate(asked);
    let times = match times {
        few if few < 10.0 => format!("{few:.1}"),
        many => count(many.round() as u64),
    };
    // More virtual users do not make a slow target faster.
    let only_wait = link::link(facts).is_some() || limit == Limit::Target;
    match only_wait {
        true => format!(
            "{asked} needs responses {times} times as fast: more connections would only wait longer"
        ),
        false => format!(
            "{asked} needs {} connections with the same response time, or responses {times} times as fast",
            count(needed)
        ),
    }
}

/// The fastest and the median response.
fn pace(time: &TimeTrend) -> String {
    let at = time.quantiles(&[0.5]).zip(time.min());
    at.map_or_else(String::new, |(at, min)| {
        format!(
            " (the fastest took {}, the median {})",
            duration(min as f64 / 1e9),
            duration(at[0] / 1e9)
        )
    })
}

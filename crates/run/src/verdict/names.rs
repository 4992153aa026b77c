//! Which of several requests took the time, and which failed: evaluates the table by name.
//!
//! Must not judge who was in the way. Invariant: silent if there is no table, or only one name.

use loadline_metric::{Rate, TimeTrend};
use loadline_model::request_table::RowFigures;
use loadline_model::snapshot::RequestTally;
use loadline_model::test_summary::MetricSummary;
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::Facts;
use super::wording::{duration, percent};

/// Minimum share of the total time that the requests of the slow name took.
const MOST_TIME: f64 = 0.5;
/// Minimum ratio of their mean duration to that of the other names.
const SLOWER: f64 = 3.0;
/// Minimum difference between these means in seconds.
const SLOWER_S: f64 = 0.005;
/// Maximum share of the requests that the slow name has.
const NEARLY_ALL: f64 = 0.95;
/// Minimum share of the failures that the failing name has.
const MOST_FAILURES: f64 = 0.9;
/// Maximum share of the requests that the failing name has.
const FEW_REQUESTS: f64 = 0.8;
/// Below this share of the requests, failures are chance.
const FAILURES: f64 = 0.01;
/// Maximum length of a shown name in characters.
const SHOWN: usize = 80;

/// The requests of one name.
struct Named<'a> {
    name: &'a str,
    /// Those that ended.
    requests: f64,
    failed: f64,
    /// Those that the end of the run cut short.
    cut_short: f64,
    /// The time of all of them.
    seconds: f64,
    times: Option<&'a TimeTrend>,
}

impl Named<'_> {
    fn all(&self) -> f64 {
        self.requests + self.cut_short
    }

    fn unanswered(&self) -> f64 {
        self.failed + self.cut_short
    }

    fn mean(&self) -> f64 {
        self.seconds / self.all().max(1.0)
    }
}

pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let names = names(facts);
    if names.len() < 2 {
        return Vec::new();
    }
    let failing = hung(&names).map_or_else(|| failing(&names), |hung| Some(hanging(&names, hung)));
    slow(&names).into_iter().chain(failing).collect()
}

/// The only name whose requests hang, if virtual users spent most of their time on them in vain, and the others are
/// answered: the target is there, and whoever asks for this name waits.
pub(super) fn that_hangs<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    hung(&names(facts)).map(|hung| hung.name)
}

fn hung<'n, 'a>(names: &'n [Named<'a>]) -> Option<&'n Named<'a>> {
    const ALWAYS: f64 = 0.95;
    const ANSWERED: f64 = 0.9;
    const LONG_S: f64 = 1.0;
    const LONGER: f64 = 5.0;
    let heaviest = heaviest_of(names).filter(|_| names.len() > 1)?;
    let others = |of: fn(&Named<'_>) -> f64| sum(names, of) - of(heaviest);
    let asked = others(|it| it.all());
    let is_in_vain = heaviest.unanswered() >= ALWAYS * heaviest.all();
    let are_answered = asked - others(|it| it.unanswered()) >= ANSWERED * asked;
    let usual = others(|it| it.seconds) / asked.max(1.0);
    let is_long = heaviest.mean() >= LONG_S.max(LONGER * usual);
    (is_in_vain && is_long && asked > 0.0 && are_answered).then_some(heaviest)
}

/// The name that took most of the total time.
fn heaviest_of<'n, 'a>(names: &'n [Named<'a>]) -> Option<&'n Named<'a>> {
    let slowest = names
        .iter()
        .max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    (slowest.seconds >= MOST_TIME * sum(names, |it| it.seconds)).then_some(slowest)
}

/// What is asked for, without method and origin.
pub(super) fn path_of(name: &str) -> &str {
    let path = name.split_once("://").and_then(|(_, rest)| {
        let at = rest.find('/')?;
        rest.get(at..)
    });
    path.unwrap_or(name)
}

/// Whether the requests of some name usually take this long or longer: then it is normal for them, not an event
/// in the target.
pub(super) fn usually_take(facts: &Facts<'_>, seconds: f64) -> bool {
    let names = names(facts);
    let takes = |named: &Named<'_>| {
        let median = named.times.and_then(|times| times.quantile(0.5));
        median.is_some_and(|ns| ns / 1e9 >= seconds)
    };
    names.len() > 1 && names.iter().any(takes)
}

/// Whether some name, but not the only one, has this many requests, within a twentieth.
pub(super) fn one_has(facts: &Facts<'_>, requests: u64) -> bool {
    const WITHIN: f64 = 0.05;
    let names = names(facts);
    let requests = requests as f64;
    let is_as_many = |named: &Named<'_>| (named.requests - requests).abs() <= WITHIN * requests;
    names.len() > 1 && names.iter().any(is_as_many)
}

/// Whether all requests have the same name.
pub(super) fn is_one(facts: &Facts<'_>) -> bool {
    names(facts).len() == 1
}

/// The times of the only name that has this many requests, if none of the `other` numbers fits it as well.
pub(super) fn of_count<'a>(
    facts: &Facts<'a>,
    requests: u64,
    others: &[u64],
) -> Option<&'a TimeTrend> {
    const WITHIN: f64 = 0.01;
    let names = names(facts);
    let off = |named: &Named<'_>, number: u64| (named.requests - number as f64).abs();
    let nearest = |named: &&Named<'_>| {
        let own = off(named, requests);
        own <= WITHIN * requests as f64 && others.iter().all(|other| own < off(named, *other))
    };
    let mut fitting = names.iter().filter(nearest);
    let only = fitting.next()?;
    only.times
        .filter(|_| names.len() > 1 && fitting.next().is_none())
}

/// The times of the name that took most of the total time; `None` if there is no such name, or only one name.
pub(super) fn heaviest<'a>(facts: &Facts<'a>) -> Option<&'a TimeTrend> {
    let names = names(facts);
    let times = heaviest_of(&names)?.times;
    times.filter(|times| times.count() > 0 && names.len() > 1)
}

/// The times of the name that took most of the total time; if there is none, those of all names: requests of
/// different names may differ by nature.
pub(super) fn of_most_time<'a>(facts: &Facts<'a>) -> &'a TimeTrend {
    heaviest(facts).unwrap_or(facts.answered_time())
}

/// Whether most failures belong to one name, whose requests hardly ever succeed.
pub(super) fn always_fails(facts: &Facts<'_>) -> bool {
    const ALWAYS: f64 = 0.95;
    let names = names(facts);
    let worst = worst(&names).filter(|_| names.len() > 1);
    worst.is_some_and(|worst| worst.failed >= ALWAYS * worst.requests)
}

/// The name with most of the failures.
fn worst<'n, 'a>(names: &'n [Named<'a>]) -> Option<&'n Named<'a>> {
    let worst = names.iter().max_by(|a, b| a.failed.total_cmp(&b.failed))?;
    let failed = sum(names, |it| it.failed);
    (failed > 0.0 && worst.failed >= MOST_FAILURES * failed).then_some(worst)
}

/// The names of the table, or the requests of one scenario; empty if the table overflowed.
fn names<'a>(facts: &Facts<'a>) -> Vec<Named<'a>> {
    let table = facts.evidence.summary.and_then(|it| it.by_tag.as_ref());
    let table = table.filter(|table| table.overflowed == 0);
    let rows = table.map_or(&[][..], |table| &table.rows);
    let tags = rows.iter().map(|(name, metrics)| named(name, metrics));
    let requests = &facts.seen.requests;
    let told_apart = requests.rows().filter(|_| requests.overflow().is_none());
    let requests = told_apart.map(|(request, tally)| tallied(request, tally));
    let all = tags.chain(requests);
    all.filter(|named| named.all() > 0.0).collect()
}

fn tallied<'a>(request: &'a str, tally: &'a RequestTally) -> Named<'a> {
    let requests = tally.answered + tally.failed;
    Named {
        name: request,
        requests: requests as f64,
        failed: requests.saturating_sub(tally.good) as f64,
        cut_short: tally.cut_short_time.count() as f64,
        seconds: (tally.time.sum() + tally.failed_time.sum() + tally.cut_short_time.sum()) as f64
            / 1e9,
        times: Some(&tally.time),
    }
}

fn named<'a>(name: &'a str, metrics: &'a [MetricSummary]) -> Named<'a> {
    let RowFigures {
        requests,
        failed,
        times,
    } = RowFigures::of(metrics);
    Named {
        name,
        requests: requests.unwrap_or(0) as f64,
        failed: failed.map_or(0, Rate::nonzero) as f64,
        cut_short: 0.0,
        seconds: times.map_or(0.0, |times| times.sum() as f64 / 1e9),
        times,
    }
}

fn shown(name: &str) -> String {
    match name.char_indices().nth(SHOWN) {
        _ if name.is_empty() => "a request without a name".to_owned(),
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

fn sum(names: &[Named<'_>], of: impl Fn(&Named<'_>) -> f64) -> f64 {
    names.iter().map(of).sum()
}

fn slow(names: &[Named<'_>]) -> Option<Finding> {
    let (requests, seconds) = (sum(names, |it| it.all()), sum(names, |it| it.seconds));
    let slowest = heaviest_of(names)?;
    let others = (seconds - slowest.seconds) / (requests - slowest.all()).max(1.0);
    let mean = slowest.mean();
    let is_one_of_several = others > 0.0 && slowest.all() <= NEARLY_ALL * requests;
    let stands_out = is_one_of_several && mean >= SLOWER * others && mean - others >= SLOWER_S;
    stands_out.then(|| {
        Code::SlowRequest.finding(
            Gravity::Note,
            format!(
                "{} of the time went to {}, which is {} of the requests: {} on average, the others {}",
                percent(slowest.seconds / seconds),
                shown(slowest.name),
                percent(slowest.all() / requests),
                duration(mean),
                duration(others)
            ),
            "look at this request first: means over all of them hide it",
        )
    })
}

fn hanging(names: &[Named<'_>], hung: &Named<'_>) -> Finding {
    let answered = hung.all() - hung.unanswered();
    let how_many = match answered > 0.0 {
        true => format!("only {answered:.0}"),
        false => "none".to_owned(),
    };
    Code::FailingRequest.finding(
        Gravity::Caution,
        format!(
            "{} hangs: {how_many} of its {} requests got a good response, and they took {} of the time; others were answered",
            shown(hung.name),
            hung.all(),
            percent(hung.seconds / sum(names, |it| it.seconds))
        ),
        "look at what this request waits for in the target; leave it out to measure the others",
    )
}

/// Which of several requests nearly all failed checks of a script are about, in words.
pub(super) fn whose_checks_failed(facts: &Facts<'_>) -> String {
    let table = &facts.seen.failed_checks_of;
    let (failed, _) = facts.checks();
    let worst = table.rows().max_by_key(|(_, number)| **number);
    let worst = worst.filter(|(_, number)| **number as f64 >= MOST_FAILURES * failed as f64);
    match worst.filter(|_| names(facts).len() > 1) {
        None => String::new(),
        Some((name, number)) if *number >= failed => format!("; all on {}", shown(name)),
        Some((name, _)) => format!("; nearly all on {}", shown(name)),
    }
}

fn failing(names: &[Named<'_>]) -> Option<Finding> {
    let (requests, failed) = (sum(names, |it| it.requests), sum(names, |it| it.failed));
    let worst = worst(names)?;
    let stands_out = failed >= FAILURES * requests && worst.requests <= FEW_REQUESTS * requests;
    stands_out.then(|| {
        let of_all = match worst.failed < failed {
            true => percent(worst.failed / failed),
            false => "all".to_owned(),
        };
        Code::FailingRequest.finding(
            Gravity::Note,
            format!(
                "{of_all} of the failures come from {}: {} of its requests failed",
                shown(worst.name),
                percent(worst.failed / worst.requests)
            ),
            "send this request by hand, and look at its response",
        )
    })
}

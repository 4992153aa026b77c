//! May the numbers be believed: duration, spread, number of samples, and the measuring instrument itself.
//!
//! Must not ask what the target did. Invariant: a long, even run gets at most one note from here.

use loadline_model::event::{AGENT_RETURNED_MARK, COORDINATOR_REPLACED_MARK};
use loadline_model::result::{Row, StopReason};
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::{Facts, row_seconds, share};
use super::names;
use super::path;
use super::signs;
use super::stability;
use super::stats;
use super::stops;
use super::wording::{count, counted, duration, margin, rate, some_of};

/// Runs shorter than this measure connecting, caches and the scheduler as much as the target.
const SECONDS_MIN: f64 = 3.0;
/// A wider margin than this makes the rate a guess.
const RATE_ERROR_MAX: f64 = 0.1;
/// A p99 is determined by the slowest hundredth of the samples: fewer than ten samples below the first number,
/// less than one below the second.
const SAMPLES_NOTE: u64 = 1_000;
const SAMPLES_CAUTION: u64 = 100;
/// Quantiles, each with the factor over the median from which it is a spike; for exponentially distributed
/// times the factors are 3.3, 4.3 and 6.6.
const SPIKES: [(f64, f64); 3] = [(0.9, 5.0), (0.95, 6.0), (0.99, 10.0)];
/// The least factor between two groups of responses with nothing in between, and the smallest share of either
/// in percent.
const KINDS_FACTOR: f64 = 4.0;
const KIND_MIN: usize = 5;
/// The same for few responses, and the number from which two groups of them are not chance.
const KIND_MIN_OF_FEW: usize = 20;
const SAMPLES_OF_KINDS: u64 = 30;
/// Maximum relative difference between the number of slow responses and that of connections made where one may
/// explain the other.
const AS_MANY: f64 = 0.15;
/// How far they must be above the others, in nanoseconds.
const SPIKE_NS: f64 = 1_000_000.0;

/// Findings that say why a rate varied: running longer does not make it even.
const EXPLAIN_THE_RATE: [Code; 8] = [
    Code::TargetDied,
    Code::OutageSeen,
    Code::RestartSeen,
    Code::Pauses,
    Code::Slowing,
    Code::ColdStart,
    Code::GeneratorStopped,
    Code::AgentLost,
];

/// Half width of the 95 % confidence interval of the mean rate, as a share of it.
pub(super) fn rate_error(facts: &Facts<'_>) -> Option<f64> {
    if !facts.load_is_constant() {
        return None;
    }
    let rates: Vec<f64> = facts
        .rows
        .iter()
        .map(|row| row.completed as f64 / row_seconds(row))
        .collect();
    stats::relative_half_width(&rates)
}

/// `others`: what was found before, which may explain what is found here.
pub(super) fn findings(
    facts: &Facts<'_>,
    rate_error: Option<f64>,
    others: &[Finding],
) -> Vec<Finding> {
    let findings = [
        not_conserved(facts),
        coordinator_replaced(facts),
        agents_returned(facts),
        too_short(facts),
        uncertain(facts, rate_error, others),
        few_samples(facts),
        spikes(facts),
        lag_exceeds_latency(facts),
    ];
    findings.into_iter().flatten().collect()
}

/// The note that every run gets, unless there is already a note.
pub(super) fn add_one_run(facts: &Facts<'_>, rate_error: Option<f64>, findings: &mut Vec<Finding>) {
    let has_note = findings
        .iter()
        .any(|finding| finding.gravity == Gravity::Note);
    if has_note || facts.counts.completed == 0 || Code::TooShort.is_among(findings) {
        return;
    }
    let margin = rate_error.map_or_else(String::new, |error| {
        format!(" (its margin is {})", margin(error))
    });
    findings.push(Code::OneRun.finding(
        Gravity::Note,
        format!("this is one run{margin}: it does not show how much runs vary"),
        "repeat it three times or more before comparing",
    ));
}

fn coordinator_replaced(facts: &Facts<'_>) -> Option<Finding> {
    let said = facts.said_by_marks(COORDINATOR_REPLACED_MARK);
    (!said.is_empty()).then(|| {
        Code::CoordinatorReplaced.finding(
            Gravity::Caution,
            some_of(&said),
            "find out why the first one ended (its log, dmesg, kubectl describe pod)",
        )
    })
}

fn agents_returned(facts: &Facts<'_>) -> Option<Finding> {
    let said = facts.said_by_marks(AGENT_RETURNED_MARK);
    (!said.is_empty()).then(|| {
        Code::AgentReturned.finding(
            Gravity::Note,
            format!("{}, and all of it is counted", some_of(&said)),
            "look at the network between coordinator and agents",
        )
    })
}

fn not_conserved(facts: &Facts<'_>) -> Option<Finding> {
    (!facts.all.is_conserved()).then(|| {
        Code::NotConserved.finding(
            Gravity::Alarm,
            format!(
                "{} requests were started, but only {} are accounted for",
                count(facts.all.started),
                count(facts.all.ended())
            ),
            "this is a defect of loadline: please report it with the JSON result",
        )
    })
}

fn too_short(facts: &Facts<'_>) -> Option<Finding> {
    let ended = facts.evidence.totals.stop == StopReason::Finished;
    let short = facts.seconds < SECONDS_MIN && facts.counts.completed > 0;
    (ended && short).then(|| {
        Code::TooShort.finding(
            Gravity::Caution,
            format!(
                "the run was too short ({} in {}) to trust {} or to give it a margin",
                counted(facts.counts.completed, "request"),
                duration(facts.seconds),
                rate(facts.per_second(facts.counts.completed))
            ),
            match facts.evidence.plan.duration() {
                _ if !facts.seen.ended_threads.is_empty() => {
                    "its threads ended early: fix the cause"
                }
                _ if facts.evidence.plan.planned_iterations().is_some() => {
                    "plan enough requests for 30 s or more"
                }
                Some(planned) if planned.as_secs_f64() >= SECONDS_MIN => {
                    "it ended early: look for what stopped the virtual users"
                }
                _ => "run for 30 s or more",
            },
        )
    })
}

fn uncertain(facts: &Facts<'_>, rate_error: Option<f64>, others: &[Finding]) -> Option<Finding> {
    let error = rate_error.filter(|error| *error > RATE_ERROR_MAX)?;
    // Then the rate is the planned one, and only the times of the responses vary.
    if facts.open && facts.missed().is_none() && facts.good_share() > 1.0 - RATE_ERROR_MAX {
        return None;
    }
    Some(Code::RateUncertain.finding(
        Gravity::Caution,
        format!(
            "the rate of {} is uncertain by {} (95 % confidence): it varied a lot from second to second",
            rate(facts.per_second(facts.counts.completed)),
            margin(error)
        ),
        match is_explained(others) {
            true => "look at the throughput over time: what changed it is named above",
            false => "look at the throughput over time, and run longer",
        },
    ))
}

/// Whether a finding of at least this weight says why the rate varied.
fn is_explained(others: &[Finding]) -> bool {
    let heavy = others.iter().filter(|it| it.gravity >= Gravity::Caution);
    let mut names = heavy.map(|it| it.code.as_str());
    names.any(|name| EXPLAIN_THE_RATE.iter().any(|code| code.name() == name))
}

fn few_samples(facts: &Facts<'_>) -> Option<Finding> {
    let no_load = facts.not_begun().is_some();
    let has_answers = facts.counts.completed > 0;
    let samples = facts.service().filter(|_| !no_load && has_answers)?.count;
    let gravity = match samples {
        few if few < SAMPLES_CAUTION => Gravity::Caution,
        few if few < SAMPLES_NOTE => Gravity::Note,
        _ => return None,
    };
    let text = match samples / 100 {
        0 => format!(
            "{} {} too few for a 99th percentile: it is the slowest one",
            counted(samples, "sample"),
            are(samples)
        ),
        beyond => format!(
            "of {} only {beyond} {} beyond the 99th percentile",
            counted(samples, "sample"),
            if beyond == 1 { "lies" } else { "lie" }
        ),
    };
    Some(Code::FewSamples.finding(
        gravity,
        text,
        "gather 1,000 samples or more, or quote the median",
    ))
}

fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Responses that took many times as long as the others.
fn spikes(facts: &Facts<'_>) -> Option<Finding> {
    let time = facts.answered_time();
    let are_few = time.count() < SAMPLES_CAUTION;
    if time.count() < SAMPLES_OF_KINDS {
        return None;
    }
    let percentiles: Vec<f64> = (0..100).map(|percent| f64::from(percent) / 100.0).collect();
    let at = time.quantiles(&percentiles)?;
    let kind_min = match are_few {
        true => KIND_MIN_OF_FEW,
        false => KIND_MIN,
    };
    let tail = || long_tail(facts).filter(|_| !are_few);
    let spread = two_kinds(facts, &at, kind_min).or_else(tail)?;
    let advice = match spread.wrong_are_fast {
        true => "look at the times of right and wrong responses separately: refusals come at once",
        false => {
            "look for pauses, timeouts (200 ms or 1 s suggests a lost packet), cache misses or a slow code path; do not quote the mean alone"
        }
    };
    (!names::usually_take(facts, spread.slow_ns / 1e9 / 2.0))
        .then(|| Code::Spikes.finding(Gravity::Note, spread.text, advice))
}

/// How far apart responses are.
struct Spread {
    text: String,
    /// Time of the slow responses, in nanoseconds.
    slow_ns: f64,
    /// Whether the fast responses are the wrong ones.
    wrong_are_fast: bool,
}

/// Two groups of responses, with nothing in between.
fn two_kinds(facts: &Facts<'_>, percentiles: &[f64], kind_min: usize) -> Option<Spread> {
    let within = &percentiles[kind_min..percentiles.len() - kind_min];
    let steps = within.windows(2).enumerate();
    let widest = steps.max_by(|(_, a), (_, b)| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    let (place, step) = widest?;
    // A percentile in the gap can lie anywhere between the two.
    let (fast, slow) = (step[0], within.get(place + 2).copied().unwrap_or(step[1]));
    let are_apart = slow >= KINDS_FACTOR * fast && slow - fast > SPIKE_NS;
    let fast_ones = (place + kind_min + 1) as f64 / percentiles.len() as f64;
    let slow_ones = 1.0 - fast_ones;
    let made = path::connections_made(facts);
    let are_as_many = |some: f64, others: f64| (others - some).abs() <= AS_MANY * some;
    let wrong = facts.wrong_share();
    let is_nearer = (wrong - fast_ones).abs() < (wrong - slow_ones).abs();
    let wrong_are_fast = is_nearer && are_as_many(fast_ones, wrong);
    let wrong_are_slow = !is_nearer && are_as_many(slow_ones, wrong);
    are_apart.then(|| {
        let when = when_slow(facts, slow);
        let text = format!(
            "service times fall into two groups: {:.0} % within {}, the others {} or more{}",
            fast_ones * 100.0,
            duration(fast / 1e9),
            duration(slow / 1e9),
            match () {
                () if wrong_are_fast => "; there are as many fast ones as wrong responses",
                () if wrong_are_slow => "; there are as many slow ones as wrong responses",
                () if when.is_empty() && are_as_many(slow_ones, made) && stability::is_steady(facts) => "; there are as many slow ones as connections: probably the first request on each",
                () => when.as_str(),
            }
        );
        Spread {
            text,
            slow_ns: slow,
            wrong_are_fast,
        }
    })
}

/// The time of the slow responses, if they all came in one part of the run; empty otherwise.
fn when_slow(facts: &Facts<'_>, slow_ns: f64) -> String {
    /// Relative width of a band of the rows' times, which may begin below the slow responses.
    const BAND: f64 = 0.8;
    /// Maximum share of slow responses in the other seconds.
    const ELSEWHERE: f64 = 0.1;
    let share_of_slow = |row: &Row| {
        let slow = row.heat.above((BAND * slow_ns) as u64);
        share(slow, row.completed + row.failed)
    };
    let shares: Vec<f64> = facts.rows.iter().map(|row| share_of_slow(row)).collect();
    let is_slow = |share: &f64| *share >= 0.5;
    let Some((from, to)) = shares
        .iter()
        .position(is_slow)
        .zip(shares.iter().rposition(is_slow))
    else {
        return String::new();
    };
    // The seconds at its edges have responses of both kinds.
    let before = shares.iter().take(from.saturating_sub(1));
    let others = before.chain(shares.iter().skip(to + 2));
    let is_one_part = shares[from..=to].iter().all(is_slow)
        && to + 1 - from < shares.len()
        && others.copied().all(|share| share <= ELSEWHERE);
    match is_one_part {
        true => {
            let (from, to) = (facts.rows[from], facts.rows[to]);
            let seconds = |ns: u64| duration(ns as f64 / 1e9);
            let end = seconds(to.at_ns + to.span_ns);
            match from.at_ns {
                0 => format!("; these came in the first {end}"),
                start => format!("; these came between {} and {end}", seconds(start)),
            }
        }
        false => String::new(),
    }
}

/// A few responses that took many times the median.
fn long_tail(facts: &Facts<'_>) -> Option<Spread> {
    let time = facts.answered_time();
    let median = time.quantile(0.5)?;
    let is_spike = |ns: f64, factor: f64| ns >= factor * median && ns - median > SPIKE_NS;
    let enough = |q: f64| time.count() as f64 * (1.0 - q) >= SAMPLES_NOTE as f64 / 100.0;
    let (quantile, ns) = SPIKES.iter().find_map(|(quantile, factor)| {
        let ns = time.quantile(*quantile)?;
        (is_spike(ns, *factor) && enough(*quantile)).then_some((*quantile, ns))
    })?;
    let text = format!(
        "one in {:.0} responses took {} or more; the median was {}",
        1.0 / (1.0 - quantile),
        duration(ns / 1e9),
        duration(median / 1e9)
    );
    Some(Spread {
        text,
        slow_ns: ns,
        wrong_are_fast: false,
    })
}

fn lag_exceeds_latency(facts: &Facts<'_>) -> Option<Finding> {
    let lag = facts.metric("schedule_lag_ns")?.p99?;
    // It is told as the delay that it is.
    if stops::was_stopped_for(facts, lag) {
        return None;
    }
    let median = facts.service()?.p50?;
    let window = loadline_model::units::duration_ns(facts.evidence.plan.start_window);
    (lag >= median).then(|| {
        let planned = lag <= window.saturating_mul(2);
        let gravity = if planned || signs::is_late(facts) {
            Gravity::Note
        } else {
            Gravity::Caution
        };
        Code::LagExceedsLatency.finding(
            gravity,
            format!(
                "starts were {} late (p99), and the median service time was {}: \
                     response times include the generator's own delay",
                duration(lag as f64 / 1e9),
                duration(median as f64 / 1e9)
            ),
            if planned {
                "[set a smaller {start-window}, or ]quote service times"
            } else {
                "take load off the generator, or quote service times"
            },
        )
    })
}

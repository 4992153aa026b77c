//! Was the offered load delivered: planned, sent, answered, and answered correctly.
//!
//! Must not ask who was in the way. Invariant: a request counts as delivered if it started while arrivals were
//! due; a run in which more than a tenth of the planned load has no response, or started late, was not
//! delivered either.

use loadline_engine::INSTANT_FAILURES_PER_SECOND;
use loadline_model::ErrorClass;
use loadline_model::event::{AGENT_LOST_MARK, DEFECT_MARK, SILENT_MARK};
use loadline_model::result::StopReason;
use loadline_model::units::Bytes;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit};

use super::absences;
use super::closed_connections;
use super::code::Code;
use super::downtime::breaks_off;
use super::facts::{Facts, PlannedWords, share};
use super::failing::{completes_no_iteration, is_flooded};
use super::lateness;
use super::names;
use super::next_step::next_step;
use super::signs;
use super::wording::{count, counted, duration, listed, percent, rate};

/// Share of failures, or of wrong responses, from which the numbers need care; the default tolerance of service
/// level objectives.
pub(super) const FAILED_CAUTION: f64 = 0.01;
/// Share of wrong responses from which throughput is meaningless.
const WRONG_ALARM: f64 = 0.1;
/// Response time is reported separately if its p99 is more than this many times that of the service time.
const WAITED_FACTOR: f64 = 2.0;
/// The difference in nanoseconds must be greater than this: less is the start window and scheduling noise.
const WAITED_NS: u64 = 5_000_000;

pub(super) fn judge(facts: &Facts<'_>) -> Delivery {
    let totals = facts.evidence.totals;
    if totals.stop != StopReason::Finished {
        return Delivery::Unfinished;
    }
    if facts.has_lost_agents() {
        return Delivery::FellShort;
    }
    if totals.asked.is_none() {
        return Delivery::AsFastAsPossible;
    }
    if facts.missed().is_some() || facts.lacks_answers() || lateness::how_late(facts).is_some() {
        Delivery::FellShort
    } else {
        Delivery::Delivered
    }
}

pub(super) fn findings(facts: &Facts<'_>, limit: Limit) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(stopped(facts));
    findings.extend(unanswered(facts, limit));
    let never_answered = never_answered(facts, limit).or_else(|| kept_waiting(facts));
    findings.extend(never_answered.or_else(|| left_at_the_end(facts)));
    findings.extend(closed_connections::told(facts));
    findings.extend(paused(facts));
    findings.extend(missed(facts));
    findings.extend(waited(facts));
    findings.extend(missed_pace(facts));
    findings.extend(cut_short(facts));
    findings.extend(threw(facts));
    findings.extend(ended_threads(facts));
    findings.extend(wrong(facts));
    findings.extend(unheld(facts));
    findings
}

/// Throughput timers that had nothing to hold back: what they ask for was not sent.
fn missed_pace(facts: &Facts<'_>) -> Option<Finding> {
    let pace = facts.seen.pace;
    facts.misses_pace().then(|| {
        Code::PaceMissed.finding(
            Gravity::Caution,
            format!(
                "the plan's throughput timers ask for a higher rate than {} sent: {} of {} samples were overdue",
                counted(facts.vus, "thread"),
                count(pace.overdue),
                count(pace.overdue + pace.held_back)
            ),
            "use more threads; if responses then take longer, the target is the limit",
        )
    })
}

/// Iterations that all took longer than the run: the requests at their end were never sent.
fn cut_short(facts: &Facts<'_>) -> Option<Finding> {
    completes_no_iteration(facts).then(|| {
        Code::NoIterationCompleted.finding(
            Gravity::Caution,
            "no iteration of the script completed: each was cut off at the end of the run"
                .to_owned(),
            "raise the duration[ or {graceful-stop}], or shorten the pauses of the script",
        )
    })
}

/// Iterations that aborted: their remaining requests are missing, and no request shows it.
fn threw(facts: &Facts<'_>) -> Option<Finding> {
    let (thrown, all) = facts.thrown();
    let part = share(thrown, all);
    let gravity = match part {
        _ if breaks_off(facts) => Gravity::Alarm,
        some if some >= FAILED_CAUTION => Gravity::Caution,
        _ => Gravity::Note,
    };
    (thrown > 0).then(|| {
        Code::IterationsThrew.finding(
            gravity,
            format!(
                "{} of {} ended with an uncaught exception ({}): later requests of such an iteration were not sent",
                count(thrown),
                counted(all, "iteration"),
                percent(part)
            ),
            "look at the first such error in the log; --once shows an iteration request by request",
        )
    })
}

/// Threads of a plan that ended early: the load was lower than the plan's times and threads suggest.
fn ended_threads(facts: &Facts<'_>) -> Option<Finding> {
    let ended = facts.seen.ended_threads;
    if ended.failed > 0 {
        return Some(Code::ThreadsEnded.finding(
            Gravity::Caution,
            format!(
                "{} ended early because a sample failed: the action after an error stops the thread, or the test",
                counted(ended.failed, "thread")
            ),
            "look at the first failure; to go on after errors, set the thread group's action after a sampler error to Continue",
        ));
    }
    (ended.out_of_data > 0).then(|| {
        Code::ThreadsEnded.finding(
            Gravity::Note,
            format!(
                "{} ended early because their data set had no line left",
                counted(ended.out_of_data, "thread")
            ),
            "add lines to the data set, or set Recycle on EOF",
        )
    })
}

/// Checks of a script: a failed check is no failed request, so no rate shows it.
fn unheld(facts: &Facts<'_>) -> Option<Finding> {
    let checks = facts.each_check();
    let (failed, all) = facts.checks();
    let part = share(failed, all);
    let (name, worst) = checks.iter().max_by_key(|(_, check)| check.fails)?;
    (part >= FAILED_CAUTION).then(|| {
        Code::ChecksFailed.finding(
            Gravity::Caution,
            format!(
                "{} of {} failed ({}), most often {name:?}: {} of {}{}",
                count(failed),
                counted(all, "check"),
                percent(part),
                count(worst.fails),
                count(worst.fails + worst.passes),
                names::whose_checks_failed(facts)
            ),
            "look at a response that fails it; --once shows an iteration request by request",
        )
    })
}

fn stopped(facts: &Facts<'_>) -> Option<Finding> {
    if facts.not_begun().is_some() {
        return None;
    }
    let at = duration(facts.elapsed_seconds());
    if let Some(said) = facts.said_by_marks(SILENT_MARK).first() {
        return Some(Code::RunInterrupted.finding(
            Gravity::Alarm,
            format!(
                "ended after {at}: {said}; the outcome of {} is unknown",
                counted(facts.all.lost, "request")
            ),
            "find what blocked them: a terminal or pipe that nobody reads, a disk that hangs",
        ));
    }
    match facts.evidence.totals.stop {
        StopReason::Finished => None,
        StopReason::Crashed => Some(Code::RunCrashed.finding(
            Gravity::Alarm,
            format!("the process died; its journal has the first {at}"),
            "look for an out-of-memory kill (dmesg) or a kill -9, then run again",
        )),
        StopReason::Defect => {
            let said = facts.said_by_marks(DEFECT_MARK);
            let what = said.first().copied().unwrap_or("a part of loadline crashed");
            Some(Code::RunCrashed.finding(
                Gravity::Alarm,
                format!("ended after {at}: {what}"),
                "the numbers are valid up to that point, except for the last second",
            ))
        }
        StopReason::Interrupted | StopReason::Aborted => Some(Code::RunInterrupted.remark(
            Gravity::Note,
            format!("stopped by a signal after {at}: the numbers are valid up to that point"),
        )),
        StopReason::Script | StopReason::Remote => Some(Code::RunInterrupted.remark(
            Gravity::Note,
            format!("ended on purpose after {at}: the numbers are valid up to that point"),
        )),
        StopReason::ObserverLost => Some(Code::RunInterrupted.remark(
            Gravity::Caution,
            format!(
                "ended after {at}, because a required observer was lost: the numbers are valid up to that point"
            ),
        )),
        StopReason::ThresholdCrossed => Some(Code::RunInterrupted.remark(
            Gravity::Note,
            format!("stopped by a threshold after {at}: the numbers are valid up to that point"),
        )),
    }
}

/// Why there is nothing to measure: the script failed, nothing was sent, or all of it in the warm-up.
fn nothing_sent(facts: &Facts<'_>) -> Option<Finding> {
    let (text, step) = match facts.not_begun() {
        Some(why) => (
            why.to_owned(),
            "look at the first error in the log: only the requests of setup() were measured",
        ),
        // Neither a script nor a plan of steps has to send requests.
        None if facts.all.started == 0 && (facts.is_script() || facts.is_without_requests()) => {
            return None;
        }
        None if facts.all.started == 0 => (
            "no request was sent".to_owned(),
            "look at the plan's rate, duration and start times",
        ),
        None => (
            format!(
                "{} sent, all in the warm-up: nothing was measured",
                counted(facts.all.started, "request")
            ),
            "shorten the warm-up, or send more requests",
        ),
    };
    Some(Code::NothingSent.finding(Gravity::Alarm, text, step))
}

fn unanswered(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let counts = facts.counts;
    let (sent, answered, failed) = (counts.started, counts.completed, counts.failed_total());
    if sent == 0 || facts.not_begun().is_some() {
        return nothing_sent(facts);
    }
    // Their outcome is unknown, which is reported with its cause.
    if counts.lost > 0 && answered + failed == 0 {
        return None;
    }
    let next_step = next_step(facts, limit);
    let mostly = worst_in_words(facts);
    if answered == 0 {
        let mostly = match facts.is_without_handshake() {
            true => ": no TLS handshake completed",
            false => mostly.as_str(),
        };
        let all = counted(sent, "request");
        let text = match is_flooded(facts) {
            true => format!(
                "none of {all} was answered, while {} arrived that belong to no response{mostly}",
                Bytes(counts.bytes_received)
            ),
            false => format!("none of {all} was answered{mostly}"),
        };
        return Some(Code::NothingAnswered.finding(Gravity::Alarm, text, next_step));
    }
    if answered < sent.div_ceil(2) {
        let text = format!(
            "of {} requests sent, {} ({}) got a response, goodput {}{mostly}: do not count the others \
                 ({}) as throughput",
            count(sent),
            count(answered),
            percent(share(answered, sent)),
            rate(facts.per_second(counts.good)),
            rate(facts.per_second(sent - answered)),
        );
        return Some(Code::MostUnanswered.finding(Gravity::Alarm, text, next_step));
    }
    (failed > 0).then(|| {
        let failed_share = share(failed, sent);
        let gravity = if failed_share < FAILED_CAUTION {
            Gravity::Note
        } else {
            Gravity::Caution
        };
        let text = format!(
            "{} of {} requests failed ({}){mostly}",
            count(failed),
            count(sent),
            percent(failed_share)
        );
        Code::RequestsFailed.finding(gravity, text, next_step)
    })
}

/// Virtual users that waited for a response until the end.
fn never_answered(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let stuck = facts.stuck().or_else(|| facts.left_waiting());
    let stuck = stuck.filter(|_| facts.counts.completed > 0)?;
    let (what, advice) = match facts.wait_for_connections().is_some() {
        true => (
            "a connection",
            "look for what prevents connections: a firewall, a full accept queue, a dead machine",
        ),
        false if limit == Limit::Network => (
            "a response",
            "look for what interrupts the network path, or loses packets on it",
        ),
        false => (
            "a response",
            "check whether the target hangs; a {timeout} shorter than the run counts such requests as failures",
        ),
    };
    Some(Code::NeverAnswered.finding(
        Gravity::Alarm,
        format!(
            "{} were still waiting for {what} after {} or more when the run ended; they blocked {}",
            counted(stuck.requests, "request"),
            duration(stuck.waited),
            counted(stuck.requests.min(facts.vus), "virtual user")
        ),
        advice,
    ))
}

/// Virtual users that waited for one response until the load ended, while others were served.
fn kept_waiting(facts: &Facts<'_>) -> Option<Finding> {
    let kept = facts.kept_waiting()?;
    let of_all = format!("{} of {}", kept.users, counted(facts.vus, "virtual user"));
    let text = match kept.all_along {
        true => format!(
            "{of_all} waited for one response until the load ended; the others had all {} before",
            counted(kept.answered, "response")
        ),
        false => format!(
            "{of_all} still waited for a response when the load ended, far longer than usual, while others were served"
        ),
    };
    let advice = match kept.all_along {
        true => {
            "look for a limit on connections served at once: workers, threads, maxconn, a hanging process"
        }
        false => OF_A_PART,
    };
    Some(Code::NeverAnswered.finding(Gravity::Caution, text, advice))
}

/// A few requests that waited far longer than usual when the run ended.
fn left_at_the_end(facts: &Facts<'_>) -> Option<Finding> {
    /// Fewer are chance.
    const SOME: u64 = 5;
    let left = facts.cut_short_in_vain();
    (left >= SOME && facts.counts.completed > 0).then(|| {
        Code::NeverAnswered.finding(
            Gravity::Caution,
            format!(
                "{} still waited for a response when the run ended, far longer than usual",
                counted(left, "request")
            ),
            OF_A_PART,
        )
    })
}

/// Where to look if some wait and others are served.
const OF_A_PART: &str =
    "look for a part of the target that hangs at the end: a replica, a worker, a lock";

/// Instant failures from which the pauses are reported; with fewer, there may have been no pause.
const HELD_TO_PACE_MIN: u64 = 1_000;

/// Failures that take no time, so that the engine adds a pause.
fn paused(facts: &Facts<'_>) -> Option<Finding> {
    let classes = ErrorClass::ALL.iter().copied();
    let mut failed = classes.filter(|class| class.is_instant() && facts.failed(*class) > 0);
    let first = failed.next()?;
    let sum = facts.failed(first) + failed.map(|class| facts.failed(class)).sum::<u64>();
    if sum < HELD_TO_PACE_MIN {
        return None;
    }
    let text = format!(
        "{} requests failed immediately; a worker makes at most {} such requests a second",
        count(sum),
        count(u64::from(INSTANT_FAILURES_PER_SECOND)),
    );
    Some(Code::PausedAfterFailures.finding(Gravity::Note, text, first.hint()))
}

fn worst_in_words(facts: &Facts<'_>) -> String {
    let is_proxied = facts.evidence.plan.client.proxy.is_some();
    facts.worst_class().map_or_else(String::new, |class| {
        let by_whom = match class {
            ErrorClass::Refused if is_proxied => " by the proxy",
            _ => "",
        };
        format!(", most failures: {}{by_whom}", class.name())
    })
}

/// Which of several scenarios dropped arrivals.
fn dropped_by(facts: &Facts<'_>) -> String {
    const NAMED: usize = 3;
    let scenarios = &facts.seen.scenarios;
    let short = scenarios.iter().filter(|(_, change)| change.dropped > 0);
    let mut short: Vec<_> = short.collect();
    short.sort_by_key(|(_, change)| std::cmp::Reverse(change.dropped));
    let short = short.into_iter().take(NAMED);
    let named: Vec<String> = short
        .map(|(name, change)| format!("{} by scenario {name}", count(change.dropped)))
        .collect();
    match scenarios.len() {
        0 | 1 => String::new(),
        _ if named.is_empty() => String::new(),
        _ => format!(" ({})", named.join(", ")),
    }
}

fn missed(facts: &Facts<'_>) -> Option<Finding> {
    let (asked, missed) = (facts.asked()?, facts.missed()?);
    let begun = share(facts.begun(), asked);
    let PlannedWords {
        things,
        past,
        participle,
    } = facts.planned_words();
    let gravity = if begun < 0.9 {
        Gravity::Alarm
    } else {
        Gravity::Caution
    };
    if !facts.open {
        // If someone stopped the run, it is clear that its count was not reached.
        if facts.evidence.totals.stop != StopReason::Finished {
            return None;
        }
        let text = format!(
            "{} of {} {things} were {participle} before the end",
            count(facts.begun()),
            count(asked)
        );
        return Some(Code::CountNotReached.finding(
            gravity,
            text,
            format!("give the run more time, or ask for fewer {things}"),
        ));
    }
    let text = format!(
        "asked for {} {things} ({}), {past} {} in time ({}): {}",
        count(asked),
        rate(facts.asked_rate().unwrap_or(0.0)),
        count(facts.begun()),
        percent(begun),
        what_became(facts, missed),
    );
    let advice = match facts.reached_cap() {
        Some(most) => {
            format!("raise or remove the option rps: it limited all requests together to {most}/s")
        }
        None => "compare goodput with the planned rate first".to_owned(),
    };
    Some(Code::OfferedLoadMissed.finding(gravity, text, advice))
}

/// What happened to the missed arrivals.
fn what_became(facts: &Facts<'_>, missed: u64) -> String {
    let dropped = facts.counts.dropped;
    let waiting = missed.saturating_sub(dropped);
    let dropped =
        (dropped > 0).then(|| format!("{} were dropped{}", count(dropped), dropped_by(facts)));
    let parts: Vec<String> = dropped
        .into_iter()
        .chain(unstarted(facts, waiting))
        .collect();
    listed(&parts)
}

/// Why so many arrivals neither started nor were dropped.
fn unstarted(facts: &Facts<'_>, waiting: u64) -> Vec<String> {
    let away = absences::arrivals(facts).map(|away| away.min(waiting));
    let was_lost = !facts.said_by_marks(AGENT_LOST_MARK).is_empty();
    let told = |number: u64, what: &str| (number > 0).then(|| format!("{} {what}", count(number)));
    let parts = match away {
        Some(away) if was_lost => vec![
            told(away, "were due while an agent was away"),
            told(waiting - away, "were still waiting when the schedule ended"),
        ],
        None if was_lost => vec![told(
            waiting,
            "were due while an agent was away, or still waiting when the schedule ended",
        )],
        _ => vec![told(waiting, "were still waiting when the schedule ended")],
    };
    parts.into_iter().flatten().collect()
}

fn waited(facts: &Facts<'_>) -> Option<Finding> {
    if facts.missed().is_some() {
        return None;
    }
    let service = facts.service()?.p99?;
    let response = facts.metric("response_time_ns")?.p99?;
    let longer = response.saturating_sub(service);
    let seconds = |ns: u64| duration(ns as f64 / 1e9);
    let (how, waited) = if response as f64 > WAITED_FACTOR * service as f64 && longer > WAITED_NS {
        let (response, service) = (seconds(response), seconds(service));
        let how = format!("the p99 response time was {response}, the p99 service time {service}");
        (how, longer)
    } else if lateness::was_partly_late(facts) {
        let how = format!(
            "{} of the requests started at least {} late",
            percent(lateness::late_share(facts)),
            seconds(lateness::LATE_NS)
        );
        (how, lateness::LATE_NS)
    } else {
        return None;
    };
    let lag = facts.metric("schedule_lag_ns").and_then(|lag| lag.p99);
    let is_own = lag.is_some_and(|lag| lag.saturating_mul(2) >= waited)
        && !lateness::is_for_want_of_vus(facts);
    if is_own && signs::tells_lateness(facts) {
        return None;
    }
    let (what, advice) = match is_own {
        true => (
            "arrivals waited for the generator, though a VU was free",
            "take load off the generator and run again: users would not have waited",
        ),
        false => (
            "arrivals waited for a free VU",
            "quote the response time: it is what users experience",
        ),
    };
    Some(Code::ArrivalsWaited.finding(Gravity::Caution, format!("{what}: {how}"), advice))
}

fn wrong(facts: &Facts<'_>) -> Option<Finding> {
    let counts = facts.counts;
    let wrong = counts.outcomes().wrong();
    if wrong == 0 {
        return None;
    }
    let wrong_share = share(wrong, counts.completed);
    let gravity = match wrong_share {
        s if s >= WRONG_ALARM => Gravity::Alarm,
        s if s >= FAILED_CAUTION => Gravity::Caution,
        _ => Gravity::Note,
    };
    let (part, advice) = match wrong == counts.completed {
        true => (
            format!("all {}", count(wrong)),
            "check the URL, the credentials and what a good response is: look at a sample body",
        ),
        false => (
            format!("{} of {}", count(wrong), count(counts.completed)),
            "quote goodput, and look at a sample body of the wrong responses",
        ),
    };
    let text = format!(
        "{part} responses were wrong ({}){}: throughput was {}, goodput {}",
        percent(wrong_share),
        most_often_wrong(facts, wrong),
        rate(facts.per_second(counts.completed)),
        rate(facts.per_second(counts.good)),
    );
    Some(Code::WrongAnswers.finding(gravity, text, advice))
}

fn most_often_wrong(facts: &Facts<'_>, wrong: u64) -> String {
    let all = || "all".to_owned();
    let of_them = |n| if n == wrong { all() } else { count(n) };
    let check = facts.seen.failed_checks.rows().max_by_key(|(_, n)| **n);
    match (check, facts.worst_status()) {
        (Some((check, n)), _) => format!(", {} by the check {check:?}", of_them(*n)),
        (None, Some((status, n))) => format!(", {} with status {status}", of_them(n)),
        (None, None) => String::new(),
    }
}

//! Shared base of the verdict's questions: the evidence with derived sums and ratios.
//!
//! Must not judge. Invariant: no ratio is infinite or NaN; if its base is missing it is `None` or zero.

mod users;

use loadline_metric::TimeTrend;
use loadline_model::ThreadGroup;
use loadline_model::error_class::ErrorClass;
use loadline_model::executor::{Executor, Spacing};
use loadline_model::plan::{Behaviour, Scenario};
use loadline_model::rates::planned_after_warm_up;
use loadline_model::result::{Row, TimeMetric};
use loadline_model::snapshot::{Counts, Snapshot};
use loadline_model::test_summary::CheckSummary;
use loadline_model::units::Nanos;

use super::Evidence;
use loadline_model::event::{AGENT_LOST_MARK, AGENT_REPLACED_MARK, NOT_BEGUN_MARK};

/// The status of a target that limits the rate of requests.
pub(super) const TOO_MANY_REQUESTS: u16 = 429;

/// Share of responses that reject the request as wrong from which the plan is at fault, if one of several
/// requests always gets such a response.
const MISTAKES: f64 = 0.33;

pub(super) struct Facts<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) seen: &'a Snapshot,
    /// The counted part: without the warm-up.
    pub(super) counts: &'a Counts,
    /// Including the warm-up.
    pub(super) all: Counts,
    /// Duration of the counted part.
    pub(super) seconds: f64,
    pub(super) open: bool,
    /// Maximum number of virtual users.
    pub(super) vus: u64,
    /// Counted rows that end before the last arrival is due.
    pub(super) rows: Vec<&'a Row>,
}

/// Words for the planned work.
pub(super) struct PlannedWords {
    pub(super) things: &'static str,
    pub(super) past: &'static str,
    pub(super) participle: &'static str,
}

impl<'a> Facts<'a> {
    pub(super) fn of(evidence: &'a Evidence<'a>) -> Facts<'a> {
        let seen = &evidence.totals.seen;
        Facts {
            evidence,
            seen,
            counts: &seen.counts,
            all: seen.whole(),
            seconds: Nanos(evidence.totals.measured_ns).as_secs_f64(),
            open: evidence.plan.is_open(),
            vus: u64::from(evidence.plan.max_vus()),
            rows: rows_under_load(evidence),
        }
    }

    /// Whether an agent was lost whose share of the load nobody took over.
    pub(super) fn has_lost_agents(&self) -> bool {
        let marks = |kind| self.said_by_marks(kind).len();
        marks(AGENT_LOST_MARK) > marks(AGENT_REPLACED_MARK)
    }

    /// Why the load never started, if it did not.
    pub(super) fn not_begun(&self) -> Option<&'a str> {
        self.said_by_marks(NOT_BEGUN_MARK).first().copied()
    }

    /// The texts of the marks of a kind, such as lost agents or agents that took over.
    pub(super) fn said_by_marks(&self, kind: &str) -> Vec<&'a str> {
        let marks = self.evidence.events.iter();
        let said = marks.filter(|mark| mark.kind == kind);
        said.map(|mark| mark.text.as_str()).collect()
    }

    /// Cores of the generator's machine.
    pub(super) fn environment_cores(&self) -> f64 {
        self.evidence.environment.cores
    }

    /// How many starts the plan asked for: of those that were due at instants, the ones that are judged. `None`: neither
    /// instants nor a count.
    pub(super) fn asked(&self) -> Option<u64> {
        let asked = self.evidence.totals.asked?;
        Some(match self.open {
            true => planned_after_warm_up(asked, &self.seen.warm_up),
            false => asked,
        })
    }

    /// Planned starts per second; `None` if the plan has no rate.
    pub(super) fn asked_rate(&self) -> Option<f64> {
        let asked = self.asked().filter(|_| self.open)?;
        let elapsed = self.elapsed_seconds();
        let planned = self
            .evidence
            .plan
            .duration()
            .map_or(elapsed, |planned| planned.as_secs_f64());
        let seconds = planned.min(elapsed) - self.evidence.plan.warm_up.as_secs_f64();
        // A start that is due at the very end belongs to a next second that does not exist.
        let at_the_end = self.evidence.plan.scenarios.iter().filter(|it| {
            let executor = &it.executor;
            matches!(
                executor,
                Executor::ConstantArrivalRate {
                    spacing: Spacing::EvenToTheEnd,
                    ..
                }
            )
        });
        let within = asked.checked_sub(at_the_end.count() as u64);
        let asked = within.filter(|within| *within > 0).unwrap_or(asked);
        (seconds > 0.0).then(|| asked as f64 / seconds)
    }

    /// Virtual users that exist from the beginning.
    pub(super) fn vus_made(&self) -> u64 {
        let scenarios = self.evidence.plan.scenarios.iter();
        let made = scenarios.map(|scenario| match scenario.executor {
            Executor::ConstantArrivalRate {
                pre_allocated_vus, ..
            }
            | Executor::RampingArrivalRate {
                pre_allocated_vus, ..
            } => pre_allocated_vus,
            _ => scenario.executor.max_vus(),
        });
        made.map(u64::from).sum()
    }

    /// The most virtual users that were active in a counted row.
    pub(super) fn most_active_vus(&self) -> u64 {
        let active = self.rows.iter().map(|row| row.active_vus);
        active.max().unwrap_or(0)
    }

    /// Virtual users of scenarios without a rate: they continue as soon as they can.
    pub(super) fn closed_vus(&self) -> u64 {
        let scenarios = self.evidence.plan.scenarios.iter();
        let closed = scenarios.filter(|scenario| !scenario.executor.is_open());
        closed
            .map(|scenario| u64::from(scenario.executor.max_vus()))
            .sum()
    }

    /// Whether the throughput timers of a plan asked for more than its threads sent: they hardly ever held one back.
    pub(super) fn misses_pace(&self) -> bool {
        const OVERDUE: f64 = 0.9;
        const SAMPLES_MIN: u64 = 20;
        let pace = self.seen.pace;
        let all = pace.overdue + pace.held_back;
        all >= SAMPLES_MIN && pace.overdue as f64 >= OVERDUE * all as f64
    }

    /// The highest planned rate, which a ramp only has for a moment.
    pub(super) fn highest_rate(&self) -> Option<f64> {
        let scenarios = self.evidence.plan.scenarios.iter();
        let peaks = scenarios.filter_map(|scenario| scenario.executor.peak_rate());
        self.asked_rate()
            .map(|asked| asked.max(peaks.fold(0.0, f64::max)))
    }

    /// Whether an iteration is a function of a script, which may send any number of requests.
    pub(super) fn is_script(&self) -> bool {
        self.evidence.plan.script.is_some()
    }

    /// Whether virtual users may do something other than requests, such as sleep: those of scripts and of plans
    /// of steps, whose requests are not known beforehand.
    pub(super) fn may_think(&self) -> bool {
        let scenarios = self.evidence.plan.scenarios.iter();
        let mut behaviours = scenarios.map(|scenario| &scenario.behaviour);
        self.is_script() || behaviours.any(|one| matches!(one, Behaviour::Steps(_)))
    }

    /// What computes between the requests of such virtual users.
    pub(super) fn own_work_words(&self) -> &'static str {
        match self.is_script() {
            true => "the script",
            false => "the plan's elements",
        }
    }

    /// Whether the threads of a plan of steps ran, and none of its samplers uses HTTP.
    pub(super) fn is_without_requests(&self) -> bool {
        let sends = |scenario: &Scenario| match &scenario.behaviour {
            Behaviour::Steps(steps) => steps.sends,
            Behaviour::Requests(_) | Behaviour::Script(_) => true,
        };
        let ran = self.evidence.totals.active_vus_max > 0;
        ran && self.all.started == 0 && !self.evidence.plan.scenarios.iter().any(sends)
    }

    /// Words for the planned work and its execution: iterations of a script start; requests, as which any other
    /// iteration counts, are sent.
    pub(super) fn planned_words(&self) -> PlannedWords {
        if self.is_script() {
            PlannedWords {
                things: "iterations",
                past: "started",
                participle: "started",
            }
        } else {
            PlannedWords {
                things: "requests",
                past: "sent",
                participle: "sent",
            }
        }
    }

    /// Requests per planned unit: an iteration of a script may send any number.
    pub(super) fn requests_per_iteration(&self) -> f64 {
        match self.begun() {
            begun if self.is_script() && begun > 0 => {
                (self.all.started as f64 / begun as f64).max(f64::MIN_POSITIVE)
            }
            _ => 1.0,
        }
    }

    /// How many of the planned units started.
    pub(super) fn begun(&self) -> u64 {
        let totals = self.evidence.totals;
        match totals.begun() {
            Some(begun) if self.is_script() => {
                // Nobody reports what was due while an agent's share was unassigned.
                let heard_of = self.thrown().1 + self.all.interrupted + self.all.lost;
                match self.said_by_marks(AGENT_LOST_MARK).is_empty() {
                    true => begun,
                    false => begun.min(heard_of),
                }
            }
            _ if self.open => self.counts.started.saturating_sub(self.late()),
            _ => self.all.started,
        }
    }

    /// Arrivals that were still waiting when the last one was due: they started after the load had ended, if at
    /// all, so the rate was not the planned one.
    fn late(&self) -> u64 {
        let Some(due) = self.evidence.plan.time_filled() else {
            return 0;
        };
        // Rows end slightly late.
        let until_ns = Nanos::from(due).0.saturating_add(Nanos::PER_SECOND / 10);
        let rows = self.evidence.series.iter();
        let last = rows
            .take_while(|row| row.at_ns.saturating_add(row.span_ns) <= until_ns)
            .last();
        let waiting = last.map_or(0, |row| row.waiting);
        waiting.saturating_sub(self.evidence.totals.never_started)
    }

    /// How many of the planned units did not even start, if beyond the tolerance of 1 %.
    pub(super) fn missed(&self) -> Option<u64> {
        let asked = self.asked()?;
        if self.is_without_requests() {
            return None;
        }
        let missed = asked.saturating_sub(self.begun());
        (missed > (asked / 100).max(1)).then_some(missed)
    }

    /// Mean body size of a response, in bytes. For bodies that a script discards, only the received bytes are
    /// counted.
    pub(super) fn mean_body(&self) -> f64 {
        let body = share(self.counts.body_bytes, self.counts.completed);
        let received = share(self.counts.bytes_received, self.counts.started);
        body.max(received)
    }

    pub(super) fn elapsed_seconds(&self) -> f64 {
        Nanos(self.evidence.totals.elapsed_ns).as_secs_f64()
    }

    pub(super) fn metric(&self, name: &str) -> Option<&'a TimeMetric> {
        self.evidence
            .metrics
            .get(name)
            .filter(|metric| metric.count > 0)
    }

    /// Service time of completed and failed requests together.
    pub(super) fn service(&self) -> Option<&'a TimeMetric> {
        self.metric("service_time_ns")
    }

    /// Service time of responses, in nanoseconds.
    pub(super) fn answered_time(&self) -> &'a TimeTrend {
        &self.seen.answered_time
    }

    /// Mean time from the arrival of data in the kernel to the read by a worker, in seconds; `None` if it is known
    /// for too few reads.
    pub(super) fn read_delay_s(&self) -> Option<f64> {
        /// For the delay to be representative.
        const READS_KNOWN: u64 = 20;
        let delays = &self.seen.connections.read_delay;
        // Of few requests, all may be known.
        let is_known = delays.count() >= READS_KNOWN.min(self.seen.answered_time.count().max(1));
        delays.mean().filter(|_| is_known).map(|ns| ns / 1e9)
    }

    /// The median service time of responses divided by the fastest.
    pub(super) fn median_over_fastest(&self) -> Option<f64> {
        let time = self.answered_time();
        let median = *time.quantiles(&[0.5])?.first()?;
        time.min().map(|min| median / min.max(1) as f64)
    }

    /// Mean service time of responses, in seconds.
    pub(super) fn mean_service(&self) -> Option<f64> {
        self.answered_time()
            .mean()
            .map(|ns| ns / 1e9)
            .filter(|mean| *mean > 0.0)
    }

    /// Seconds for which the generator's process was stalled, in a row or next to it: a stall may be recorded
    /// in the following row.
    pub(super) fn stalled_s(&self, row: &Row) -> f64 {
        let series = self.evidence.series;
        let near = |other: &&Row| {
            let end = |row: &Row| row.at_ns.saturating_add(row.span_ns);
            other.at_ns <= end(row) && row.at_ns <= end(other)
        };
        let stalled = series
            .iter()
            .filter(near)
            .map(|row| row.generator.stalled_ns);
        stalled.max().unwrap_or(0) as f64 / 1e9
    }

    /// The share of the run for which the generator's process was stalled: of each second its stalls, or the longest if
    /// the process also waited for a CPU in it.
    pub(super) fn stalled_share(&self) -> f64 {
        let of = |row: &&Row| row.generator.stalled_ns.max(row.generator.stalls_ns);
        let stalled: u64 = self.rows.iter().map(of).sum();
        (stalled as f64 / 1e9 / self.elapsed_seconds().max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// Iterations of a script that ended with an uncaught exception, and all that ended.
    pub(super) fn thrown(&self) -> (u64, u64) {
        let scenarios = self.seen.scenarios.values();
        scenarios.fold((0, 0), |(thrown, all), change| {
            (thrown + change.thrown, all + change.iterations)
        })
    }

    pub(super) fn failed(&self, class: ErrorClass) -> u64 {
        self.counts.failed[class.index()]
    }

    /// The share of the sent requests that got a good response.
    pub(super) fn good_share(&self) -> f64 {
        share(self.counts.good, self.counts.started)
    }

    /// The most frequent error status, and its number of responses.
    pub(super) fn worst_status(&self) -> Option<(u16, u64)> {
        let rows = self.seen.statuses.rows();
        let errors = rows.filter(|(status, _)| **status >= 400);
        errors
            .max_by_key(|(_, n)| **n)
            .map(|(status, n)| (*status, *n))
    }

    /// The share of responses with such a status.
    pub(super) fn status_share(&self, is_such: impl Fn(u16) -> bool) -> f64 {
        let rows = self.seen.statuses.rows();
        let such = rows.filter(|(status, _)| is_such(**status));
        share(such.map(|(_, n)| n).sum(), self.counts.completed)
    }

    /// The share of responses that reject the request as wrong: not allowed, not found, not understood.
    /// Responses that the plan counts as good are excluded.
    pub(super) fn mistaken_share(&self) -> f64 {
        let said =
            self.status_share(|status| (400..500).contains(&status) && status != TOO_MANY_REQUESTS);
        said.min(self.wrong_share())
    }

    /// The share of refusals: the target cannot, or does not want to, keep up.
    pub(super) fn refused_share(&self) -> f64 {
        self.status_share(|status| status >= 500 || status == TOO_MANY_REQUESTS)
            .min(self.wrong_share())
    }

    /// The share of responses that the plan does not count as good.
    pub(super) fn wrong_share(&self) -> f64 {
        1.0 - share(self.counts.good, self.counts.completed)
    }

    /// The share of responses without an error status that lack the required content.
    pub(super) fn wrong_content_share(&self) -> f64 {
        self.wrong_share() - self.status_share(|status| status >= 400)
    }

    /// The checks of a script, with their groups.
    pub(super) fn each_check(&self) -> Vec<(String, &CheckSummary)> {
        let summary = self.evidence.summary;
        summary.map_or_else(Vec::new, |summary| summary.root.all_checks(" › "))
    }

    /// How many checks of a script failed, and the total.
    pub(super) fn checks(&self) -> (u64, u64) {
        let checks = self.each_check();
        let failed = checks.iter().map(|(_, check)| check.fails).sum();
        let held: u64 = checks.iter().map(|(_, check)| check.passes).sum();
        (failed, failed + held)
    }

    /// Whether enough responses reject the request that it may be the plan's mistake.
    pub(super) fn has_mistakes(&self) -> bool {
        self.mistaken_share() >= MISTAKES
    }

    /// The class with most failures; `None` if there are none.
    pub(super) fn worst_class(&self) -> Option<ErrorClass> {
        let worst = ErrorClass::ALL
            .iter()
            .copied()
            .max_by_key(|class| self.failed(*class));
        worst.filter(|class| self.failed(*class) > 0)
    }

    /// Whether the plan has a constant load, so that seconds can be compared.
    pub(super) fn load_is_constant(&self) -> bool {
        let scenarios = &self.evidence.plan.scenarios;
        let is_constant = |scenario: &Scenario| {
            !matches!(
                scenario.executor,
                Executor::RampingVus { .. }
                    | Executor::RampingArrivalRate { .. }
                    | Executor::ExternallyControlled { .. }
                    | Executor::ThreadGroup(_)
            )
        };
        match scenarios.as_slice() {
            [alone] => is_constant(alone),
            [first, others @ ..] => {
                let time = |it: &Scenario| (it.start_time, it.executor.duration());
                let are_open = scenarios.iter().all(|it| it.executor.is_open());
                let at_once = others.iter().all(|it| time(it) == time(first));
                are_open && at_once && scenarios.iter().all(is_constant)
            }
            [] => false,
        }
    }

    /// The limit of requests per second of a script (its `rps`), if the script reached it approximately.
    pub(super) fn reached_cap(&self) -> Option<u32> {
        let sent = self.all.started as f64 / self.seconds;
        self.cap().filter(|_| self.reaches_cap(sent))
    }

    /// Whether this many requests per second are close to the script's limit.
    pub(super) fn reaches_cap(&self, per_second: f64) -> bool {
        const REACHED: f64 = 0.9;
        self.cap()
            .is_some_and(|most| per_second >= REACHED * f64::from(most))
    }

    fn cap(&self) -> Option<u32> {
        let script = self.evidence.plan.script.as_ref()?;
        script.http.requests_per_second
    }

    /// Whether the plan is a thread group whose threads start within one second.
    pub(super) fn threads_start_at_once(&self) -> bool {
        const AT_ONCE_MS: u64 = 1_000;
        let starts = |scenario: &Scenario| match &scenario.executor {
            Executor::ThreadGroup(ThreadGroup::Ramp {
                threads, step_ms, ..
            }) => step_ms.saturating_mul(u64::from(*threads)) <= AT_ONCE_MS,
            _ => false,
        };
        match self.evidence.plan.scenarios.as_slice() {
            [one] => starts(one),
            _ => false,
        }
    }

    /// Worker threads; at least one.
    pub(super) fn workers(&self) -> f64 {
        f64::from(self.evidence.environment.workers.max(1))
    }
}

/// A part divided by the whole; zero if the whole is zero.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Length of a row in seconds; never zero, so that rates are finite.
pub(super) fn row_seconds(row: &Row) -> f64 {
    Nanos(row.span_ns.max(1)).as_secs_f64()
}

/// The last row is cut at the end of the run, so it is left out if it is shorter than the others.
fn rows_under_load<'a>(evidence: &'a Evidence<'a>) -> Vec<&'a Row> {
    let planned = evidence
        .plan
        .duration()
        .map_or(u64::MAX, loadline_model::units::duration_ns);
    // A row is cut by a timer, and the last one includes what ended in the moment after it.
    let end = planned.saturating_add(Nanos::PER_SECOND / 10);
    let measured = evidence.series.iter().filter(|row| !row.warm_up);
    let mut rows: Vec<&Row> = measured
        .filter(|row| row.at_ns.saturating_add(row.span_ns) <= end)
        .collect();
    let longest = rows.iter().map(|row| row.span_ns).max().unwrap_or(0);
    if rows
        .last()
        .is_some_and(|row| row.span_ns < longest - longest / 10)
    {
        rows.pop();
    }
    rows
}

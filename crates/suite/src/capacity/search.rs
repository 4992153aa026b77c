//! Which rate to probe next: double until one is not sustained, then bisect, repeating close results.
//!
//! Must not know how a probe is run, nor clocks: elapsed time is an argument. Invariants: the same reports give
//! the same next step; there are at most [`PROBES_MAX`] probes; a rate that was not sustained is followed by a
//! recovery.

use std::time::Duration;

use super::answer::{Answer, Ended, Probe, ProbeFinding};
use super::figures::Figures;
use super::judge::{Judgement, Look, Outcome};
use super::rates::{ProbeLength, Rates, Tried};
use super::slo::Slo;

/// Maximum probes of a search.
pub const PROBES_MAX: usize = 80;
/// Default first rate, per second: low for most targets, and high enough for samples.
pub const START: f64 = 100.0;
/// Default minimum rate, per second.
pub const LOWEST: f64 = 1.0;
/// Default maximum rate, per second: more than any generator can do.
pub const HIGHEST: f64 = 1e8;
/// A bracket grows by this factor.
const GROWTH: f64 = 2.0;
/// A short probe is this part of a full one.
const SHORT: u32 = 6;
/// The shortest probe of all.
const SHORTEST: Duration = Duration::from_secs(2);
/// A target recovers under this part of the last sustained rate, or of the first unsustained one.
const RECOVERY_SHARE: f64 = 0.1;
/// The highest rate of a recovery, per second: enough to see how the target responds.
const RECOVERY_RATE_MAX: f64 = 50.0;
/// Maximum times that a probe is doubled in length because of too few samples.
const LONGER_MAX: u32 = 4;

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The lowest rate to try, which is the first, per second; `None`: [`START`] is the first and [`LOWEST`] the lowest.
    pub from: Option<f64>,
    /// The highest rate to try, per second; `None`: [`HIGHEST`].
    pub to: Option<f64>,
    /// The width of the interval that is aimed at, as a share of its lower edge: 0.02.
    pub precision: f64,
    /// What is measured by a full probe, at least.
    pub probe: Duration,
    /// What is measured by the longest probe, where the objectives need many samples.
    pub probe_max: Duration,
    /// What is left out at the start of a full probe.
    pub warm_up: Duration,
    /// How long the target is looked at once while it recovers.
    pub recovery: Duration,
    /// How many times it is looked at before it counts as not recovering.
    pub recoveries_max: u32,
    /// Time after which no probe is started; `None`: no limit.
    pub time_max: Option<Duration>,
    /// Samples that a probe needs: those of [`Slo::samples_min`].
    pub samples_min: u64,
}

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchStep {
    /// Put load on the target, and report.
    Probe(Order),
    /// Put so little load on the target that it can recover, and say whether it has.
    Recover(Order),
    /// Nothing: this is the result.
    Done(Box<Answer>),
}

/// A load to run against the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Requests (of a script: iterations) due per second.
    pub rate: f64,
    /// What is left out at the start.
    pub warm_up: Duration,
    /// What is measured after it.
    pub duration: Duration,
    /// What for.
    pub aim: Aim,
}

impl Order {
    /// How long the load lasts.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.warm_up + self.duration
    }
}

/// The purpose of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// A short check whether the rate is far below or above the capacity.
    Bracket,
    /// To halve the interval.
    Narrow,
    /// To settle a rate whose probes do not agree or were close.
    Repeat,
    /// To be sure of an edge of the interval.
    Confirm,
    /// To let the target recover.
    Recover,
}

/// The report of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The judgement of the objectives.
    pub judgement: Judgement,
    /// Findings besides the objectives.
    pub found: ProbeFinding,
}

impl Report {
    /// The report on a probe's measurements.
    #[must_use]
    pub fn of(slo: &Slo, figures: &Figures) -> Report {
        Report {
            judgement: super::judge::judge(slo, figures),
            found: ProbeFinding::of(figures),
        }
    }
}

/// The running probe.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waiting {
    Nothing,
    /// For the report of a probe.
    Probe(Order),
    /// Waiting for the target to recover, which was checked this many times.
    Recovery {
        looks: u32,
        is_silent: bool,
    },
}

/// The search for a capacity.
#[derive(Clone, Debug)]
pub struct Search {
    slo: Slo,
    settings: Settings,
    rates: Rates,
    probes: Vec<Probe>,
    waiting: Waiting,
    /// The last of all looks at a target that did not recover.
    gave_up: Option<Look>,
}

impl Search {
    /// A new search.
    #[must_use]
    pub fn new(slo: Slo, settings: Settings) -> Search {
        Search {
            slo,
            settings,
            rates: Rates::default(),
            probes: Vec::new(),
            waiting: Waiting::Nothing,
            gave_up: None,
        }
    }

    /// The next step; `spent` is the time since the start. Call it again only after the ordered probe was
    /// reported.
    pub fn next(&mut self, spent: Duration) -> SearchStep {
        if let Waiting::Recovery { .. } = self.waiting {
            let order = self.recovery();
            return match self.has_time(spent, &order) {
                true => SearchStep::Recover(order),
                false => self.done(Ended::OutOfTime),
            };
        }
        match self.gave_up {
            Some(_) if self.rates.lower().is_none() && self.is_without_answer() => {
                return self.done(Ended::NothingAnswered);
            }
            Some(Look::Silent) => return self.done(Ended::Gone),
            Some(_) if self.rates.lower().is_some() => return self.done(Ended::NotRecovered),
            _ => {}
        }
        let order = match self.choose() {
            Ok(order) => order,
            Err(ended) => return self.done(ended),
        };
        if self.probes.len() == PROBES_MAX {
            return self.done(Ended::OutOfProbes);
        }
        if !self.has_time(spent, &order) {
            return self.done(Ended::OutOfTime);
        }
        self.waiting = Waiting::Probe(order);
        SearchStep::Probe(order)
    }

    /// Accepts the report of the last ordered probe; one that was not ordered is ignored.
    pub fn told(&mut self, report: Report) {
        let Waiting::Probe(order) = std::mem::replace(&mut self.waiting, Waiting::Nothing) else {
            return;
        };
        let has_held = matches!(report.judgement.outcome, Outcome::Held { .. });
        let length = ProbeLength {
            is_full: order.aim != Aim::Bracket,
            is_longest: order.duration >= self.settings.probe_max
                || self.longer_at(order.rate) >= LONGER_MAX,
        };
        self.rates.add(order.rate, &report.judgement, length);
        self.probes
            .push(Probe::new(self.probes.len() + 1, &order, report));
        if !has_held {
            self.waiting = Waiting::Recovery {
                looks: 0,
                is_silent: true,
            };
        }
    }

    /// Accepts the result of a look at a recovering target.
    pub fn told_recovery(&mut self, look: Look) {
        let Waiting::Recovery { looks, is_silent } = self.waiting else {
            return;
        };
        let looks = looks + 1;
        let is_silent = is_silent && look == Look::Silent;
        let is_last = looks >= self.settings.recoveries_max;
        self.gave_up = match look {
            Look::Recovered => None,
            _ if !is_last => None,
            _ if is_silent => Some(Look::Silent),
            _ => Some(Look::NotYet),
        };
        self.waiting = match look == Look::Recovered || is_last {
            true => Waiting::Nothing,
            false => Waiting::Recovery { looks, is_silent },
        };
    }

    /// The result so far, for a search that is interrupted.
    #[must_use]
    pub fn interrupted(&self) -> Answer {
        self.answer(Ended::Interrupted)
    }

    /// The probes so far.
    #[must_use]
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The highest rate known to hold below the lowest known not to, and the latter.
    #[must_use]
    pub fn interval(&self) -> (Option<f64>, Option<f64>) {
        let rate = |tried: &Tried| tried.rate;
        (self.rates.lower().map(rate), self.rates.upper().map(rate))
    }

    fn done(&self, ended: Ended) -> SearchStep {
        SearchStep::Done(Box::new(self.answer(ended)))
    }

    fn answer(&self, ended: Ended) -> Answer {
        Answer::of(&self.slo, &self.settings, &self.rates, &self.probes, ended)
    }

    fn has_time(&self, spent: Duration, order: &Order) -> bool {
        let until = spent.saturating_add(order.length());
        self.settings.time_max.is_none_or(|most| until <= most)
    }

    /// Whether no probe had a response: a lower rate will have none either.
    fn is_without_answer(&self) -> bool {
        self.probes
            .iter()
            .all(|probe| probe.found.throughput <= 0.0)
    }

    fn longer_at(&self, rate: f64) -> u32 {
        self.rates.get(rate).map_or(0, |tried| tried.longer)
    }

    /// The next probe, or why none is needed.
    fn choose(&self) -> Result<Order, Ended> {
        if let Some(open) = self.rates.open() {
            return Ok(self.full(open.rate, Aim::Repeat));
        }
        let (first, lowest, highest) = self.span();
        if self.rates.is_empty() {
            return Ok(self.short(first));
        }
        match (self.rates.lower(), self.rates.upper()) {
            (Some(lower), None) if lower.rate >= highest => {
                self.confirmed(&[lower], Ended::ReachedHighest)
            }
            (Some(lower), None) => Ok(self.short((lower.rate * GROWTH).min(highest))),
            (None, Some(upper)) if upper.rate <= lowest => {
                self.confirmed(&[upper], Ended::BelowLowest)
            }
            (None, Some(upper)) => Ok(self.short((upper.rate / GROWTH).max(lowest))),
            (Some(lower), Some(upper))
                if upper.rate <= lower.rate * (1.0 + self.settings.precision) =>
            {
                self.confirmed(&[lower, upper], Ended::Bracketed)
            }
            (Some(lower), Some(upper)) => {
                Ok(self.full(between(lower.rate, upper.rate), Aim::Narrow))
            }
            (None, None) => Ok(self.short(first)),
        }
    }

    /// The first, the lowest and the highest rate.
    fn span(&self) -> (f64, f64, f64) {
        let highest = self.settings.to.unwrap_or(HIGHEST);
        let first = self.settings.from.unwrap_or(START).min(highest);
        (
            first,
            self.settings.from.unwrap_or(LOWEST).min(highest),
            highest,
        )
    }

    /// The end, where all of these rates are confirmed, else a probe of one that is not: of the one that was probed less.
    fn confirmed(&self, edges: &[&Tried], ended: Ended) -> Result<Order, Ended> {
        let open = edges
            .iter()
            .filter(|edge| !self.rates.is_confirmed(edge, self.settings.precision));
        match open.min_by_key(|edge| edge.full()) {
            Some(edge) => Ok(self.full(edge.rate, Aim::Confirm)),
            None => Err(ended),
        }
    }

    fn short(&self, rate: f64) -> Order {
        Order {
            rate,
            warm_up: self.settings.warm_up / 2,
            duration: whole_seconds(self.settings.probe / SHORT)
                .max(SHORTEST)
                .min(self.settings.probe),
            aim: Aim::Bracket,
        }
    }

    /// A probe that is long enough for its samples.
    fn full(&self, rate: f64, aim: Aim) -> Order {
        let needed = self.settings.samples_min as f64 / rate;
        let longest = self.settings.probe_max.max(self.settings.probe);
        let needed = Duration::try_from_secs_f64(needed).unwrap_or(longest);
        let longer = 1_u32 << self.longer_at(rate).min(LONGER_MAX);
        let duration = self.settings.probe.max(needed).saturating_mul(longer);
        Order {
            rate,
            warm_up: self.settings.warm_up,
            duration: whole_seconds(duration).min(longest),
            aim,
        }
    }

    fn recovery(&self) -> Order {
        let last = self.probes.last().map_or(LOWEST, |probe| probe.rate);
        let known = self
            .rates
            .lower()
            .map_or(last, |lower| lower.rate.min(last));
        Order {
            rate: (known * RECOVERY_SHARE)
                .min(RECOVERY_RATE_MAX)
                .max(LOWEST.min(known)),
            warm_up: Duration::ZERO,
            duration: self.settings.recovery,
            aim: Aim::Recover,
        }
    }
}

/// Rounded up, where it is not short.
fn whole_seconds(duration: Duration) -> Duration {
    match duration.subsec_nanos() {
        0 => duration,
        _ if duration < SHORTEST => duration,
        _ => Duration::from_secs(duration.as_secs() + 1),
    }
}

/// A round number in the middle of two rates, by their ratio.
fn between(lower: f64, upper: f64) -> f64 {
    let middle = (lower * upper).sqrt();
    let step = 10_f64.powf(((upper - lower) / 4.0).log10().floor());
    let round = (middle / step).round() * step;
    if round > lower && round < upper {
        round
    } else {
        middle
    }
}

#[cfg(test)]
mod tests;

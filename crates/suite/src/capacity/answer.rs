//! The result of a capacity search: an interval for the capacity, its confidence, and what failed.
//!
//! Must not know how it is shown. Invariant: a rate is only reported as sustained if probes held there.

use loadline_model::verdict::{Finding, Limit};
use serde::{Deserialize, Serialize};

use super::figures::Figures;
use super::fit::{Crossing, Stress};
use super::judge::{Doubt, Measured, Outcome};
use super::rates::{Rates, Standing, Tried};
use super::search::{Aim, Order, Report, Settings};
use super::slo::Slo;

/// The version of the result's layout.
pub const SCHEMA: &str = "loadline/capacity/v1";

/// One probe with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// From one on.
    pub number: usize,
    /// Requests (of a script: iterations) due per second.
    pub rate: f64,
    /// What for.
    pub aim: Aim,
    /// Seconds left out at its start.
    pub warm_up_s: f64,
    /// Seconds measured.
    pub duration_s: f64,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Each objective.
    pub objectives: Vec<Measured>,
    /// Requests that ended, or were due and did not end.
    pub samples: u64,
    /// Why the load was not sustained, in words; `None` if it was, or if an objective says why.
    pub not_carried: Option<String>,
    /// Bad requests relative to the allowed number, of the objective closest to its limit; `None` without a countable
    /// one.
    pub stress: Option<Stress>,
    /// Findings besides the objectives.
    #[serde(flatten)]
    pub found: ProbeFinding,
}

/// Findings of a probe besides the objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFinding {
    /// Responses per second.
    pub throughput: f64,
    /// Who was in the way.
    pub limit: Limit,
    /// The verdict in one sentence.
    pub headline: String,
    /// The gravest findings.
    pub findings: Vec<Finding>,
}

impl ProbeFinding {
    /// Extracts the findings.
    #[must_use]
    pub fn of(figures: &Figures) -> ProbeFinding {
        ProbeFinding {
            throughput: figures.throughput,
            limit: figures.limit,
            headline: figures.headline.clone(),
            findings: figures.findings.clone(),
        }
    }
}

impl Probe {
    pub(super) fn new(number: usize, order: &Order, report: Report) -> Probe {
        let judgement = report.judgement;
        Probe {
            number,
            rate: order.rate,
            aim: order.aim,
            warm_up_s: order.warm_up.as_secs_f64(),
            duration_s: order.duration.as_secs_f64(),
            outcome: judgement.outcome,
            objectives: judgement.objectives,
            samples: judgement.samples,
            not_carried: judgement.not_carried,
            stress: judgement.stress,
            found: report.found,
        }
    }

    fn has_broken(&self) -> bool {
        matches!(self.outcome, Outcome::Broke { .. })
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The interval is as narrow as it was to be.
    Bracketed,
    /// The highest rate was carried.
    ReachedHighest,
    /// The lowest rate was not carried.
    BelowLowest,
    /// There was no time for another probe.
    OutOfTime,
    /// As many probes were made as are allowed.
    OutOfProbes,
    /// The target did not recover after a rate that it could not sustain.
    NotRecovered,
    /// The target stopped answering, and did not come back.
    Gone,
    /// No request was answered, not even at a low rate.
    NothingAnswered,
    /// It was stopped by the user.
    Interrupted,
}

/// The capacity, per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Capacity {
    /// Between two rates.
    Between {
        /// The highest that held.
        held: f64,
        /// The lowest that did not.
        broke: f64,
    },
    /// At least a rate: no higher one was tried, or the generator was the limit there.
    AtLeast {
        /// The highest that held.
        held: f64,
        /// The rate that the generator did not get to; `None` when it was not the limit.
        limited: Option<f64>,
    },
    /// Below a rate: even the lowest one tried did not hold.
    Below {
        /// The lowest that did not hold.
        broke: f64,
    },
    /// The probes do not say.
    Unknown,
}

impl Capacity {
    /// The highest rate that held, per second; `None` if none did.
    #[must_use]
    pub fn held(&self) -> Option<f64> {
        match self {
            Capacity::Between { held, .. } | Capacity::AtLeast { held, .. } => Some(*held),
            Capacity::Below { .. } | Capacity::Unknown => None,
        }
    }
}

/// The reliability of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Each edge rests on two probes or more that agree, or all probes near the edge together place it within twice the
    /// precision asked for.
    High,
    /// The edges were settled by a majority, or noise leaves them less sure than asked for.
    Fair,
    /// The search could not be ended, or its probes contradict each other.
    Low,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaveWay {
    /// The rate of the probe that this is taken from, per second.
    pub rate: f64,
    /// The objectives that did not hold there.
    pub objectives: Vec<Measured>,
    /// What kept the load from being carried there; `None` when it was.
    pub not_carried: Option<String>,
    /// Who was in the way.
    pub limit: Limit,
    /// That probe's verdict in one sentence.
    pub headline: String,
    /// Its gravest findings.
    pub findings: Vec<Finding>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: String,
    /// The objectives as written.
    pub slo: String,
    /// The capacity.
    pub capacity: Capacity,
    /// Where all probes near the edge together see it, with 95 % confidence; `None` where no line could be drawn through
    /// them: the edge is steep, or they are few.
    pub crossing: Option<Crossing>,
    /// How far it can be relied on.
    pub confidence: Confidence,
    /// Why the search ended.
    pub ended: Ended,
    /// What failed; `None` when nothing did.
    pub gave_way: Option<GaveWay>,
    /// What the reader should know, a sentence each.
    pub remarks: Vec<String>,
    /// Every probe in the order in which they were run.
    pub probes: Vec<Probe>,
}

impl Answer {
    /// The number of probes that say nothing about the target because the generator or its plan may have been
    /// the limit.
    #[must_use]
    pub fn void_probes(&self) -> usize {
        let void = self.probes.iter().filter(|probe| probe.outcome.is_void());
        void.count()
    }

    pub(super) fn of(
        slo: &Slo,
        settings: &Settings,
        rates: &Rates,
        probes: &[Probe],
        ended: Ended,
    ) -> Answer {
        let capacity = capacity(rates);
        Answer {
            schema: SCHEMA.to_owned(),
            slo: slo.to_string(),
            capacity,
            crossing: crossing(rates),
            confidence: confidence(settings, rates, ended),
            ended,
            gave_way: gave_way(capacity, probes),
            remarks: remarks(rates, probes, ended),
            probes: probes.to_vec(),
        }
    }

    /// Whether a rate is shown to be sustainable.
    #[must_use]
    pub fn shows(&self, rate: f64) -> bool {
        self.capacity.held().is_some_and(|held| held >= rate)
    }
}

fn capacity(rates: &Rates) -> Capacity {
    let is_limited = |tried: &&Tried| tried.standing() == Standing::Limited;
    match (rates.lower(), rates.upper()) {
        (Some(lower), Some(upper)) if is_limited(&upper) => Capacity::AtLeast {
            held: lower.rate,
            limited: Some(upper.rate),
        },
        (Some(lower), Some(upper)) => Capacity::Between {
            held: lower.rate,
            broke: upper.rate,
        },
        (Some(lower), None) => Capacity::AtLeast {
            held: lower.rate,
            limited: None,
        },
        (None, Some(upper)) if !is_limited(&upper) => Capacity::Below { broke: upper.rate },
        (None, _) => Capacity::Unknown,
    }
}

/// The line's crossing, where it decides for an edge.
fn crossing(rates: &Rates) -> Option<Crossing> {
    let edges = rates.lower().into_iter().chain(rates.upper());
    edges.into_iter().find_map(|edge| rates.line_at(edge))
}

fn confidence(settings: &Settings, rates: &Rates, ended: Ended) -> Confidence {
    let edges: Vec<&Tried> = rates.lower().into_iter().chain(rates.upper()).collect();
    let is_narrow = match (rates.lower(), rates.upper()) {
        (Some(lower), Some(upper)) => {
            upper.rate <= lower.rate * (1.0 + settings.precision) * (1.0 + f64::EPSILON)
        }
        _ => true,
    };
    let is_whole = matches!(
        ended,
        Ended::Bracketed | Ended::ReachedHighest | Ended::BelowLowest
    );
    if edges.is_empty() || !is_whole || rates.contradiction().is_some() {
        return Confidence::Low;
    }
    let is_sure = edges
        .iter()
        .all(|edge| rates.is_sure(edge, settings.precision));
    match is_sure && is_narrow {
        true => Confidence::High,
        false => Confidence::Fair,
    }
}

/// The most informative probe about what failed: the one at the lowest unsustained rate whose verdict names a
/// cause, otherwise the lowest unsustained one; if the generator was the limit, the probe that shows it. A failure at
/// a rate that the other probes there sustained is chance, and comes last.
fn gave_way(capacity: Capacity, probes: &[Probe]) -> Option<GaveWay> {
    let names_somebody =
        |probe: &&Probe| matches!(probe.found.limit, Limit::Target | Limit::Network);
    // Of several at one rate, the one that rests on most samples.
    let order = |one: &&Probe, other: &&Probe| {
        let by_rate = one.rate.total_cmp(&other.rate);
        by_rate.then(other.samples.cmp(&one.samples))
    };
    let lowest = |probes: &mut dyn Iterator<Item = &Probe>| -> Option<GaveWay> {
        probes.min_by(order).map(told)
    };
    match capacity {
        Capacity::Between { broke, .. } | Capacity::Below { broke } => {
            let broken = || probes.iter().filter(|probe| probe.has_broken());
            let beyond = || broken().filter(|probe| probe.rate >= broke);
            lowest(&mut beyond().filter(names_somebody))
                .or_else(|| lowest(&mut beyond()))
                .or_else(|| lowest(&mut broken()))
        }
        Capacity::AtLeast {
            limited: Some(_), ..
        }
        | Capacity::Unknown => lowest(&mut probes.iter().filter(|probe| probe.outcome.is_void())),
        Capacity::AtLeast { limited: None, .. } => None,
    }
}

fn told(probe: &Probe) -> GaveWay {
    GaveWay {
        rate: probe.rate,
        objectives: probe
            .objectives
            .iter()
            .filter(|measured| !measured.held)
            .cloned()
            .collect(),
        not_carried: probe.not_carried.clone(),
        limit: probe.found.limit,
        headline: probe.found.headline.clone(),
        findings: probe.found.findings.clone(),
    }
}

fn remarks(rates: &Rates, probes: &[Probe], ended: Ended) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some((held, broke)) = rates.contradiction() {
        remarks.push(format!(
            "a probe at {held}/s held, although {broke}/s did not: results did not always get worse with load \
             (caches, autoscaling, noise); the lower rate counts"
        ));
    }
    let edges = rates.lower().into_iter().chain(rates.upper());
    for tried in edges.filter(|tried| tried.is_disputed() && rates.line_at(tried).is_none()) {
        remarks.push(format!(
            "probes at {}/s did not agree: {} held and {} did not",
            tried.rate, tried.held, tried.broke
        ));
    }
    let is_few = |probe: &&Probe| {
        let few = [Doubt::FewHeld, Doubt::FewBroke];
        matches!(probe.outcome, Outcome::Inconclusive { why } if few.contains(&why))
            && probe.aim != Aim::Bracket
    };
    if let Some(few) = probes
        .iter()
        .filter(is_few)
        .max_by_key(|probe| probe.samples)
    {
        remarks.push(format!(
            "probes had too few samples for the objectives (at most {}); allow longer ones with --probe-max",
            few.samples
        ));
    }
    let nothing = probes
        .iter()
        .flat_map(|probe| &probe.objectives)
        .find(|measured| measured.value.is_none());
    if let Some(measured) = nothing {
        remarks.push(format!(
            "nothing was measured for the objective {}",
            measured.objective
        ));
    }
    remarks.extend(end(ended).map(str::to_owned));
    remarks
}

fn end(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::Bracketed | Ended::ReachedHighest | Ended::BelowLowest => None,
        Ended::OutOfTime => Some("there was no time for another probe: --max-time allows more"),
        Ended::OutOfProbes => Some("the search did not finish within the maximum number of probes"),
        Ended::NotRecovered => Some(
            "the target did not recover from the overload: it then failed even at a low rate; restart it \
             before the next test",
        ),
        Ended::Gone => Some(
            "the target stopped answering during the search, and no longer answers even at a low rate: see whether it \
             still runs, and what ended it",
        ),
        Ended::NothingAnswered => Some(
            "no request was answered, not even at a low rate: check the URL, and that the target runs",
        ),
        Ended::Interrupted => Some("the search was stopped before it finished"),
    }
}

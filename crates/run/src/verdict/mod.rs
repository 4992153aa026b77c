//! The verdict of a run: was the offered load delivered, who was in the way, what to change, and may the
//! numbers be believed.
//!
//! A pure function of the run's results. Must not know clocks, files or presentation. Invariants: every finding
//! has a code of [`Code::ALL`], which `docs/verdict.md` explains; a clean run has one line and at most a note.

mod absences;
mod answers;
mod backlog;
mod belief;
mod body;
mod closed_connections;
mod code;
mod computing;
mod delivery;
mod distance;
mod downtime;
mod elsewhere;
mod facts;
mod failing;
mod headline;
mod lateness;
mod law;
mod limits;
mod link;
mod losses;
mod moments;
mod names;
mod next_step;
mod path;
mod queue;
mod rates;
mod reach;
mod resources;
mod saturation;
mod scenarios;
mod shapes;
mod signs;
mod slowing;
mod stability;
mod stats;
mod stops;
#[cfg(test)]
pub(crate) mod tests;
mod unanswered;
mod weights;
mod wording;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use loadline_model::event::Mark;
use loadline_model::hint::worded;
use loadline_model::plan::TestPlan;
use loadline_model::result::{Environment, Row, RunResult, TimeMetric, Totals};
use loadline_model::test_summary::TestSummary;
use loadline_model::verdict::{Limit, Verdict};
use loadline_model::{FrontEnd, Observations};

pub use code::Code;
use facts::Facts;

/// A whole result except its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The plan that was run.
    pub plan: &'a TestPlan,
    /// Where it ran.
    pub environment: &'a Environment,
    /// Sums.
    pub totals: &'a Totals,
    /// Distributions by name, as in the result.
    pub metrics: &'a BTreeMap<String, TimeMetric>,
    /// The run second by second.
    pub series: &'a [Row],
    /// Marks on the time axis.
    pub events: &'a [Mark],
    /// What observers saw of the system under test.
    pub observations: &'a Observations,
    /// Requests by name, among others; `None` if the run does not distinguish them.
    pub summary: Option<&'a TestSummary>,
}

impl<'a> Evidence<'a> {
    /// The evidence in a result.
    #[must_use]
    pub fn of(result: &'a RunResult) -> Evidence<'a> {
        Evidence {
            plan: &result.plan,
            environment: &result.environment,
            totals: &result.totals,
            metrics: &result.metrics,
            series: &result.series,
            events: &result.events,
            observations: &result.observations,
            summary: result.summary.as_ref(),
        }
    }
}

/// Judges a run.
#[must_use]
pub fn judge(evidence: &Evidence<'_>) -> Verdict {
    let facts = Facts::of(evidence);
    let delivery = delivery::judge(&facts);
    let knee = saturation::find(&facts);
    let seen = resources::judge(&facts);
    let blame = limits::judge(&facts, knee.as_ref(), &seen);
    let rate_error = belief::rate_error(&facts);
    let mut findings = delivery::findings(&facts, blame.limit);
    findings.extend(reach::findings(&facts));
    findings.extend(answers::findings(&facts));
    findings.extend(
        knee.as_ref()
            .map(|knee| saturation::finding(knee, blame.limit)),
    );
    findings.extend(blame.findings);
    findings.extend(seen.findings);
    findings.extend(stability::findings(&facts, blame.limit));
    findings.extend(names::findings(&facts));
    let beliefs = belief::findings(&facts, rate_error, &findings);
    findings.extend(beliefs);
    belief::add_one_run(&facts, rate_error, &mut findings);
    let front_end = FrontEnd::of_command_line(&evidence.environment.command);
    for finding in &mut findings {
        let advice = finding.advice.take();
        finding.advice = advice.map(|hint| worded(&hint, front_end).into_owned());
    }
    findings.sort_by_key(|finding| Reverse(finding.gravity));
    let mut headline = headline::headline(&facts, delivery, blame.limit, knee.as_ref(), &findings);
    if let Some(culprit) = seen.culprit.filter(|_| blame.limit == Limit::Target) {
        headline.because(&culprit);
    } else if let Some(divided) = limits::divided(&facts, blame.limit, blame.weights) {
        headline.add(&format!(" ({divided})"));
    }
    let headline = headline.into_text();
    Verdict {
        delivery,
        limit: blame.limit,
        headline,
        findings,
        saturation: knee.map(|knee| knee.point),
        rate_error,
    }
}

//! The result of a run, made from its sums and judged.
//!
//! Must not know where they come from. Invariant: the verdict is made last, from everything else.

use std::time::Duration;

use loadline_model::result::{
    Environment, RunResult, SCHEMA, ThresholdOutcome, Totals, metrics_of,
};
use loadline_model::verdict::{Delivery, Limit};
use loadline_model::{Observations, TestPlan, TestSummary, Verdict};

use crate::thresholds;
use crate::verdict::{Evidence, judge};

/// The summary of a script run, and the outcomes of its thresholds.
pub(crate) type ScriptOutcome = (TestSummary, Vec<ThresholdOutcome>);

/// A result that only has its sums.
pub(crate) fn bare_result(plan: &TestPlan, environment: &Environment, totals: Totals) -> RunResult {
    let metrics = metrics_of(plan, &totals.seen);
    let plan = plan.redacted();
    RunResult {
        schema: SCHEMA.to_owned(),
        environment: environment.clone(),
        labels: plan.labels.clone(),
        plan,
        metrics,
        totals,
        series: Vec::new(),
        events: Vec::new(),
        observations: Observations::default(),
        agents: Vec::new(),
        thresholds: Vec::new(),
        summary: None,
        verdict: Verdict {
            delivery: Delivery::Unfinished,
            limit: Limit::Unknown,
            headline: String::new(),
            findings: Vec::new(),
            saturation: None,
            rate_error: None,
        },
    }
}

/// Evaluates thresholds on the results, and makes the verdict.
pub(crate) fn judged(mut result: RunResult, script: Option<ScriptOutcome>) -> RunResult {
    let measured = Duration::from_nanos(result.totals.measured_ns);
    result.thresholds = thresholds::evaluate(&result.plan, &result.totals.seen, measured);
    if let Some((summary, held)) = script {
        result.thresholds.extend(held);
        result.summary = Some(summary);
    }
    result.verdict = judge(&Evidence::of(&result));
    result
}

//! The result of a run, judged.
//!
//! Must not know where they come from. Invariant: the verdict is made last, from everything else.

use std::time::Duration;

use loadline_model::TestSummary;
use loadline_model::result::{RunResult, ThresholdOutcome};

use crate::thresholds;
use crate::verdict::{Evidence, judge};

/// The summary of a script run, and the outcomes of its thresholds.
pub(crate) type ScriptOutcome = (TestSummary, Vec<ThresholdOutcome>);

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

//! Stages of a pipeline: the one that does not keep up.
//!
//! Must not know what the stages do. Invariant: a backlog that does not grow is not a bottleneck.

use loadline_model::observation::{Aggregation, Phase};
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::wording::{count, duration, rate};

/// Backlog at the end, in seconds of the ingest rate, from which a stage is behind.
const BEHIND_S: f64 = 2.0;

pub(super) fn signs(components: &[Component<'_>]) -> Vec<Sign> {
    components
        .iter()
        .filter_map(|one| behind(one, components))
        .collect()
}

/// A pipeline whose backlog grew under load.
fn behind(pipeline: &Component<'_>, components: &[Component<'_>]) -> Option<Sign> {
    let backlog = pipeline.metric("backlog")?;
    let waiting = backlog.aggregate(Aggregation::Last, pipeline.phases.load)?;
    // The backlog when the load started, if it was read.
    let baseline = backlog.aggregate(Aggregation::Last, pipeline.phases.span(Phase::Baseline));
    let first = backlog.points_in(pipeline.phases.load).next()?.1;
    let before = baseline.unwrap_or(first);
    let stages: Vec<(f64, &Component<'_>)> = components
        .iter()
        .filter(|stage| stage.observer == pipeline.observer)
        .filter_map(|stage| Some((stage.held("rate_per_s", Aggregation::Avg)?, stage)))
        .collect();
    let (taken_in, _) = stages.first()?;
    let (slowest_rate, slowest) = stages.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    if waiting - before < BEHIND_S * taken_in.max(1.0) {
        return None;
    }
    let drained = pipeline
        .metric("drain_seconds")
        .and_then(|series| series.aggregate(Aggregation::Last, pipeline.phases.span(Phase::Tail)));
    let afterwards = match drained {
        Some(seconds) => format!(", drained {} after the load", duration(seconds)),
        None => ", not drained at the last reading".to_owned(),
    };
    let short = format!(
        "{} processed {} of {} received",
        slowest.title(),
        rate(*slowest_rate),
        rate(*taken_in)
    );
    let text = format!(
        "{short}: {} waited at the end of the load{afterwards}",
        count(waiting.max(0.0) as u64)
    );
    Some(Sign {
        weight: Weight::Decides,
        finding: Code::SlowestStage.finding(
            Gravity::Alarm,
            text,
            "quote the rate of the slowest stage: whatever enters faster only waits",
        ),
        short,
    })
}

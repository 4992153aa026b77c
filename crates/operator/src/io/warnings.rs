//! Warnings of the cluster about pods that do not start without a reason in their status.
//!
//! Must not know the reaction. Invariant: few pods are queried, and none that starts normally.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::ListParams;

use crate::seen::{Hindrance, SeenPod};
use crate::step::{Seen, elapsed};

/// Delays up to this are normal.
const USUAL: Duration = Duration::from_secs(5);
/// Maximum objects queried at a time: what blocks one blocks the others.
const ASKED_MAX: usize = 3;
/// Maximum warnings that are read.
const WARNINGS_MAX: u32 = 20;

/// Searches warnings about pods that do not start, and Jobs without pods.
pub(super) async fn look_for(events: &Api<Event>, seen: &mut Seen, now: Timestamp) {
    let is_late = |made: Option<Timestamp>| made.is_some_and(|made| elapsed(made, now) >= USUAL);
    let is_kept = |pod: &SeenPod| {
        let is_told = pod.unscheduled.is_some() || pod.waiting.is_some();
        !pod.is_running && !pod.is_over() && !is_told && is_late(pod.made)
    };
    for pod in seen
        .pods
        .iter_mut()
        .filter(|pod| is_kept(pod))
        .take(ASKED_MAX)
    {
        pod.warning = last(events, "Pod", &pod.name).await;
    }
    let pods = &seen.pods;
    let jobs = seen.jobs.iter_mut();
    let kept = jobs.filter(|job| is_late(job.made) && !job.has_failed && job.lacks_a_pod(pods));
    for job in kept.take(ASKED_MAX) {
        job.warning = last(events, "Job", &job.name).await;
    }
}

/// The last warning about an object; none if it may not be read.
async fn last(events: &Api<Event>, kind: &str, name: &str) -> Option<Hindrance> {
    let about = format!("involvedObject.kind={kind},involvedObject.name={name},type=Warning");
    let params = ListParams::default().fields(&about).limit(WARNINGS_MAX);
    let listed = events.list(&params).await.ok()?;
    let at = |event: &Event| {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        last.or_else(|| event.event_time.as_ref().map(|time| time.0))
    };
    let last = listed.items.into_iter().max_by_key(at)?;
    Some(Hindrance {
        reason: last.reason?,
        message: last.message.unwrap_or_default(),
    })
}

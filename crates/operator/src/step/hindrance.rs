//! What prevents a test's pods from starting, and how long that is tolerated.
//!
//! Must not know the reaction. Invariant: a possibly temporary problem is reported, and only ends a test after
//! some time.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::{Seen, elapsed};
use crate::seen::{Hindrance, SeenPod};

/// How long a pod may be unscheduled, or blocked by what the cluster warns about, before that is reported.
const TOLD_AFTER: Duration = Duration::from_secs(10);
/// How long creating a container may take before that is reported: large images take a while.
const SLOW_AFTER: Duration = Duration::from_secs(30);
/// How long to wait for an image or a container's parts: registries may fail for a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait for a node: autoscalers create one within it.
const DEADLINE: Duration = Duration::from_secs(600);

/// The result of checking pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing blocks them.
    Fine,
    /// Nothing yet; check again after this time.
    Again(Duration),
    /// This blocks them; check again after this time.
    Kept(Hindrance, Duration),
    /// This blocks them permanently.
    Hopeless(Hindrance),
}

/// Checks all pods; the most severe result counts.
pub(super) fn look(seen: &Seen, now: Timestamp) -> Look {
    let pods = seen.pods.iter().map(|pod| at_pod(pod, now));
    let jobs = seen.jobs.iter().filter_map(|job| {
        let waited = elapsed(job.made?, now);
        job.lacks_a_pod(&seen.pods).then(|| match &job.warning {
            Some(why) => {
                let message = format!("Job {} has no pod: {}", job.name, why.message);
                borne(&why.reason, message, waited, TOLD_AFTER, DEADLINE)
            }
            None => {
                let message = format!("Job {} has no pod yet", job.name);
                borne("NoPod", message, waited, TOLD_AFTER, DEADLINE)
            }
        })
    });
    pods.chain(jobs).fold(Look::Fine, graver)
}

fn graver(one: Look, other: Look) -> Look {
    let weight = |look: &Look| match look {
        Look::Fine => 0,
        Look::Again(_) => 1,
        Look::Kept(..) => 2,
        Look::Hopeless(_) => 3,
    };
    match (one, other) {
        (Look::Again(one), Look::Again(other)) => Look::Again(one.min(other)),
        (one, other) if weight(&other) > weight(&one) => other,
        (one, _) => one,
    }
}

fn at_pod(pod: &SeenPod, now: Timestamp) -> Look {
    if pod.is_running || pod.is_over() {
        return Look::Fine;
    }
    let made = pod.made.unwrap_or(now);
    let age = elapsed(made, now);
    if let Some((why, since)) = &pod.unscheduled {
        let waited = elapsed(since.unwrap_or(made), now);
        let message = format!("pod {} has no node: {}", pod.name, why.message);
        return borne(&why.reason, message, waited, TOLD_AFTER, DEADLINE);
    }
    if let Some(why) = &pod.waiting {
        let message = format!("pod {} does not start: {}", pod.name, why.message);
        let patience = match why.reason.as_str() {
            "InvalidImageName" | "ErrImageNeverPull" => Duration::ZERO,
            _ => PATIENCE,
        };
        // The kubelet reports each attempt, and the pause after it.
        let reason = match why.reason.as_str() {
            "ErrImagePull" => "ImagePullBackOff",
            reason => reason,
        };
        return borne(reason, message, age, Duration::ZERO, patience);
    }
    if let Some(why) = &pod.warning {
        let message = format!("pod {} does not start: {}", pod.name, why.message);
        return borne(&why.reason, message, age, TOLD_AFTER, DEADLINE);
    }
    if age < TOLD_AFTER {
        return Look::Again(TOLD_AFTER - age);
    }
    let message = format!("pod {} does not start yet", pod.name);
    borne("NotStarted", message, age, SLOW_AFTER, DEADLINE)
}

fn borne(
    reason: &str,
    message: String,
    waited: Duration,
    told_after: Duration,
    deadline: Duration,
) -> Look {
    let why = Hindrance {
        reason: reason.to_owned(),
        message,
    };
    match waited {
        waited if waited >= deadline => Look::Hopeless(why),
        waited if waited >= told_after => Look::Kept(why, deadline - waited),
        waited => Look::Again(told_after - waited),
    }
}

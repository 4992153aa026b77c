//! Stores the whole result of a test in the requested place.
//!
//! Must not know when. Invariants: what a pod prints is read up to a limit; whatever goes wrong with a result,
//! its test ends.

use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use kube::{Api, Client};

use super::make;
use crate::failure::{Failure, in_words};
use crate::handed::{self, Plan};
use crate::results::{self, Kept, Wanted};
use crate::seen::SeenPod;
use crate::test::Test;

/// Stores it; `None`: it is not available yet.
///
/// # Errors
/// It may work later.
pub(super) async fn result(
    client: &Client,
    run: &Test,
    pod: &SeenPod,
) -> Result<Option<Kept>, Failure> {
    if run.results == Wanted::Nowhere {
        return Ok(None);
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), &run.namespace);
    let params = LogParams {
        container: Some(results::CONTAINER.to_owned()),
        limit_bytes: Some(handed::LOG_MAX),
        ..LogParams::default()
    };
    let log = match pods.logs(&pod.name, &params).await {
        Ok(log) => log,
        Err(error) => return Ok(Some(Kept::nowhere(in_words(&error)))),
    };
    match handed::plan(run, &pod.name, &log) {
        Plan::Wait => Ok(None),
        Plan::Tell(kept) => Ok(Some(kept)),
        Plan::Make(map, kept) => match make::make(client, make::owner(run), &map).await {
            Ok(_) => Ok(Some(kept)),
            Err(Failure::Refused(refusal)) => Ok(Some(Kept::in_log(&pod.name, &refusal.message))),
            Err(passing) => Err(passing),
        },
    }
}

//! Creates a test's objects.
//!
//! Must not know when. Invariants: an existing object is only used if it belongs to the test; what the API
//! refuses is reported to the user, and any other error is retried.

use futures::{StreamExt, TryStreamExt};
use kube::Client;
use serde_json::Value;

use crate::failure::Failure;
use crate::names::MANAGER;
use crate::objects;
use crate::pods::Settings;
use crate::test::{Refusal, Test};
use crate::{clock, identity};
use loadline_model::test_kind::TestKind;

/// Requests at a time.
const AT_ONCE: usize = 16;

/// Creates missing objects of the coordinator; its dependencies first.
pub(super) async fn coordinator(
    client: &Client,
    run: &Test,
    settings: &Settings,
) -> Result<(), Failure> {
    let for_agents = match run.work.is_alone() {
        true => [None, None],
        false => for_agents(client, run).await?,
    };
    let own = [objects::files(run), objects::disruption_budget(run)];
    let all = for_agents.into_iter().chain(own).flatten();
    futures::future::try_join_all(
        all.map(|object| async move { make(client, owner(run), &object).await.map(drop) }),
    )
    .await?;
    make(client, owner(run), &objects::coordinator(run, settings))
        .await
        .map(drop)
}

/// The identities and the Service for joining; the Service is created first, because certificates contain its
/// address.
async fn for_agents(client: &Client, run: &Test) -> Result<[Option<Value>; 2], Failure> {
    let service = make(client, owner(run), &objects::service(run)).await?;
    let cluster_ip = service["spec"]["clusterIP"].as_str().unwrap_or_default();
    let names = objects::coordinator_names(run, cluster_ip);
    let identities = identity::make(&names, objects::identities(run), clock::calendar())
        .map_err(|error| Failure::Passing(format!("no certificate can be made: {error}")))?;
    let secret = objects::secret(run, &identities);
    Ok([Some(secret), objects::network_policy(run)])
}

/// Creates the missing agents.
pub(super) async fn agents(
    client: &Client,
    run: &Test,
    settings: &Settings,
) -> Result<(), Failure> {
    let jobs = jobs_of_agents(client, run, settings).await?;
    futures::stream::iter(jobs)
        .map(|job| async move { make(client, owner(run), &job).await.map(drop) })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

/// Creates the Job of one agent, counted from 1, if each has its own.
pub(super) async fn agent(
    client: &Client,
    run: &Test,
    settings: &Settings,
    number: u32,
) -> Result<(), Failure> {
    let jobs = jobs_of_agents(client, run, settings).await?;
    let index = usize::try_from(number).unwrap_or_default().checked_sub(1);
    match index.and_then(|index| jobs.get(index)) {
        Some(job) => make(client, owner(run), job).await.map(drop),
        None => Ok(()),
    }
}

async fn jobs_of_agents(
    client: &Client,
    run: &Test,
    settings: &Settings,
) -> Result<Vec<Value>, Failure> {
    let service = make(client, owner(run), &objects::service(run)).await?;
    let cluster_ip = service["spec"]["clusterIP"].as_str().unwrap_or_default();
    let address = objects::join_address(run, cluster_ip);
    Ok(objects::agents(run, settings, &address))
}

/// The owner of a test's objects.
pub(super) fn owner(run: &Test) -> (TestKind, &str) {
    (run.kind, &run.uid)
}

/// Creates an object, or returns the existing one.
pub(super) async fn make(
    client: &Client,
    owner: (TestKind, &str),
    object: &Value,
) -> Result<Value, Failure> {
    let path = path(object);
    let uri = format!("{path}?fieldManager={MANAGER}&fieldValidation=Strict");
    let body = serde_json::to_vec(object).map_err(|error| Failure::Passing(error.to_string()))?;
    let request = http::Request::post(uri)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(|error| Failure::Passing(error.to_string()))?;
    let what = || {
        let kind = object["kind"].as_str().unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{kind} {name}")
    };
    match client.request::<Value>(request).await {
        Ok(made) => Ok(made),
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {
            there(client, owner, object, &path, &what()).await
        }
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 413 | 422) => {
            Err(Failure::Refused(Refusal {
                reason: match status.code {
                    403 => "Forbidden",
                    _ => "Invalid",
                },
                message: format!("cannot create {}: {}", what(), status.message),
            }))
        }
        Err(error) => Err(Failure::of(&what(), &error)),
    }
}

/// The existing object with this name, if it belongs to the test.
async fn there(
    client: &Client,
    (kind, uid): (TestKind, &str),
    object: &Value,
    path: &str,
    what: &str,
) -> Result<Value, Failure> {
    // Their names are unique to the test, and neither Secrets nor ConfigMaps are read.
    if object["kind"] == "Secret" || object["kind"] == "ConfigMap" {
        return Ok(Value::Null);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let request = http::Request::get(format!("{path}/{name}"))
        .body(Vec::new())
        .map_err(|error| Failure::Passing(error.to_string()))?;
    let found = client.request::<Value>(request).await;
    let found = found.map_err(|error| Failure::of(what, &error))?;
    let owners = found["metadata"]["ownerReferences"].as_array();
    let owners = owners.map_or(&[][..], Vec::as_slice);
    if owners.iter().any(|owner| owner["uid"] == uid) {
        return Ok(found);
    }
    let is_left = owners.iter().any(|owner| owner["kind"] == kind.name());
    match is_left || found["metadata"]["deletionTimestamp"].is_string() {
        true => Err(Failure::Passing(format!(
            "{what} of an earlier test of this name still exists"
        ))),
        false => Err(Failure::Refused(Refusal {
            reason: "NameTaken",
            message: format!("{what} already exists, and does not belong to this test"),
        })),
    }
}

fn path(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let (root, plural) = match object["kind"].as_str().unwrap_or_default() {
        "Service" => ("api", "services"),
        "Secret" => ("api", "secrets"),
        "ConfigMap" => ("api", "configmaps"),
        "LoadTest" => ("apis", "loadtests"),
        "NetworkPolicy" => ("apis", "networkpolicies"),
        "PodDisruptionBudget" => ("apis", "poddisruptionbudgets"),
        _ => ("apis", "jobs"),
    };
    format!("/{root}/{version}/namespaces/{namespace}/{plural}")
}

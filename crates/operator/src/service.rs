//! The operator as a process: its settings, its start and its end.
//!
//! Must not know tests. Invariants: it ends with an error if it could not do its work, so that it is restarted; it
//! only handles tests while it holds the Lease.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use futures::channel::mpsc::UnboundedReceiver;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Key, in_words};
use crate::io::{Operator, resource};
use crate::lease::Leadership;
use crate::pods::Settings;
use crate::terminal;
use loadline_model::test_kind::TestKind;

/// The default namespace of a k6-operator.
const OTHERS_NAMESPACE: &str = "k6-operator-system";
/// The default user of programs: one that no image knows.
const RUN_AS_USER: i64 = 65_532;

/// The default image that checks scripts out of git repositories.
const GIT_IMAGE: &str = "registry.k8s.io/git-sync/git-sync:v4.7.1";

/// Runs TestRuns (k6.io/v1alpha1) and LoadTests (loadline.io/v1alpha1): one test on several pods, with one result
#[derive(Parser, Debug)]
#[command(name = "loadline-operator", version)]
pub struct Options {
    /// Image with loadline, for coordinators and agents
    #[arg(long, value_name = "IMAGE", env = "LOADLINE_IMAGE")]
    image: String,
    /// Image with git-sync (v4), which checks scripts out of git repositories
    #[arg(long, value_name = "IMAGE", env = "LOADLINE_GIT_IMAGE", default_value = GIT_IMAGE)]
    git_image: String,
    /// Namespace whose tests are run (repeatable) [default: the operator's own]
    #[arg(long = "namespace", value_name = "NAME")]
    namespaces: Vec<String>,
    /// Context of the kubeconfig; in a pod none is needed
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// User that programs run as; image: the one that the image names
    #[arg(long, value_name = "UID|image", default_value_t = RUN_AS_USER.to_string(), value_parser = user)]
    run_as_user: String,
}

fn user(text: &str) -> Result<String, String> {
    match text {
        "image" => Ok(text.to_owned()),
        text => match text.parse::<i64>() {
            Ok(1..) => Ok(text.to_owned()),
            _ => Err("write image, or the number of a user other than root".to_owned()),
        },
    }
}

/// Runs the operator until it is asked to stop.
///
/// # Errors
/// It cannot start or continue; in words for the administrator.
pub async fn run(options: Options) -> Result<(), String> {
    let config = config(options.context.as_deref()).await?;
    let own = config.default_namespace.clone();
    let client = Client::try_from(config).map_err(|error| format!("no client: {error}"))?;
    let namespaces = match options.namespaces.is_empty() {
        true => vec![own.clone()],
        false => options.namespaces,
    };
    let kinds = kinds(&client, &namespaces).await?;
    let me = format!("{}_{}", hostname(), std::process::id());
    let leadership = Leadership::new(client.clone(), &own, me);
    let settings = Settings {
        image: options.image,
        run_as_user: options.run_as_user.parse().ok(),
        git_image: options.git_image,
    };
    let mut others = namespaces.clone();
    others.extend([own, OTHERS_NAMESPACE.to_owned()]);
    others.sort();
    others.dedup();
    let begin = || Operator::new(client.clone(), settings.clone(), others.clone());
    let (mut interrupted, mut terminated) = signals()?;
    let ended = tokio::select! {
        why = take_turns(&leadership, &begin, &kinds, &namespaces) => Err(why),
        _ = interrupted.recv() => Ok(()),
        _ = terminated.recv() => Ok(()),
    };
    let patience = Duration::from_secs(2);
    // It expires if it cannot be released.
    drop(tokio::time::timeout(patience, leadership.release()).await);
    ended
}

/// Handles the namespaces whenever the Lease is ours. A long outage of the API server costs the Lease, but does not
/// end the operator: a container that ends is restarted after growing delays. Says why the watches ended.
async fn take_turns(
    leadership: &Leadership,
    begin: &impl Fn() -> (Arc<Operator>, UnboundedReceiver<Key>),
    kinds: &[TestKind],
    namespaces: &[String],
) -> String {
    loop {
        leadership.acquire().await;
        terminal::say(&format!("looking after {}", namespaces.join(", ")));
        let (operator, woken) = begin();
        tokio::select! {
            () = operator.attend(kinds, namespaces, woken) => return "the watches ended".to_owned(),
            why = leadership.keep() => terminal::say(&format!("{why}; waiting for it")),
        }
    }
}

fn signals() -> Result<(tokio::signal::unix::Signal, tokio::signal::unix::Signal), String> {
    let heed = |kind| signal(kind).map_err(|error| format!("signals cannot be handled: {error}"));
    Ok((
        heed(SignalKind::interrupt())?,
        heed(SignalKind::terminate())?,
    ))
}

/// The API: in a pod its own cluster's, elsewhere that of a context.
async fn config(context: Option<&str>) -> Result<Config, String> {
    if context.is_none()
        && let Ok(config) = Config::incluster()
    {
        return Ok(config);
    }
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let unread = |error| format!("no pod's account, and no kubeconfig: {error}");
    let file = Kubeconfig::read().map_err(unread)?;
    let config = Config::from_custom_kubeconfig(file, &options).await;
    config.map_err(unread)
}

/// The kinds that the cluster has; at least one is required.
async fn kinds(client: &Client, namespaces: &[String]) -> Result<Vec<TestKind>, String> {
    let mut there = Vec::new();
    for kind in TestKind::ALL {
        let mut is_there = true;
        for namespace in namespaces {
            is_there &= check(client, kind, namespace).await?;
        }
        match is_there {
            true => there.push(kind),
            false => terminal::say(&format!(
                "the cluster has no {}s; to run them: kubectl apply -f {}, and restart the operator",
                kind.name(),
                kind.definition()
            )),
        }
    }
    match there.is_empty() {
        true => Err("the cluster has none of the kinds that it runs".to_owned()),
        false => Ok(there),
    }
}

/// Whether a kind exists; fails if objects of a namespace cannot be listed.
async fn check(client: &Client, kind: TestKind, namespace: &str) -> Result<bool, String> {
    let tests: Api<kube::core::DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &resource(kind));
    match tests.list_metadata(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(kube::Error::Api(status)) if status.code == 403 => Err(format!(
            "namespace {namespace}: {}; deploy/operator/role.yaml grants the permissions",
            status.message
        )),
        Err(error) => Err(format!("namespace {namespace}: {}", in_words(&error))),
    }
}

fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "operator".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let read = |words: &[&str]| {
            Options::try_parse_from(
                [&["loadline-operator", "--image", "loadline:1"], words].concat(),
            )
        };
        let options = read(&["--namespace", "a", "--namespace", "b"]).expect("options");
        assert_eq!(options.namespaces, ["a", "b"]);
        assert_eq!(options.run_as_user, "65532");
        assert!(read(&["--run-as-user", "image"]).is_ok());
        for user in ["0", "-1", "root"] {
            assert!(read(&["--run-as-user", user]).is_err(), "{user}");
        }
        assert!(Options::try_parse_from(["loadline-operator"]).is_err());
    }
}

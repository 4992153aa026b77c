//! Changes of clusters and queries to them, through their client.
//!
//! Must not know hooks. Invariant: a change is recorded before it is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loadline_http::host_in_url;
use loadline_kubernetes::{
    Change, Cluster as Client, Conflicts, ForwardTo, Kubeconfig, PortForward, RemotePort, Rollout,
    Service, Undo as ClusterUndo, Workload, WorkloadName, read_manifests,
};
use serde_json::{Value, json};

use super::spec::{Cluster, ClusterOrder};
use super::world::{Record, Undo};
use crate::file::KubernetesTarget;

/// Clusters that were spoken to, by context.
#[derive(Default)]
pub(super) struct Clusters {
    /// The kubeconfig file; `None`: those that the environment names.
    kubeconfig: Option<PathBuf>,
    clients: BTreeMap<String, Client>,
    /// Ports that are forwarded until the end.
    forwards: Vec<PortForward>,
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Clusters {
    /// Those of a kubeconfig file.
    pub(super) fn of_file(kubeconfig: PathBuf) -> Clusters {
        Clusters {
            kubeconfig: Some(kubeconfig),
            ..Clusters::default()
        }
    }

    fn client(&mut self, context: &str) -> Result<&Client, String> {
        if !self.clients.contains_key(context) {
            let config = Kubeconfig::of(self.kubeconfig.as_deref()).map_err(told)?;
            let client = Client::from_kubeconfig(&config, context).map_err(told)?;
            self.clients.insert(context.to_owned(), client);
        }
        let client = self.clients.get(context);
        client.ok_or_else(|| format!("there is no context {context:?}"))
    }

    /// Makes a change.
    pub(super) fn change(
        &mut self,
        cluster: &Cluster,
        order: &ClusterOrder,
        folder: &Path,
        record: Record,
    ) -> Result<(), String> {
        let client = self.client(&cluster.context)?;
        let change = plan(client, cluster, order, folder)?;
        if !change.undo.steps.is_empty() {
            let undo = serde_json::to_value(&change.undo).map_err(told)?;
            record(Undo::Kubernetes {
                context: cluster.context.clone(),
                what: what(cluster, order),
                undo,
            })?;
        }
        client.carry_out(&change).map_err(told)
    }

    /// Takes a change back.
    pub(super) fn undo(&mut self, context: &str, undo: &Value) -> Result<(), String> {
        let undo: ClusterUndo = serde_json::from_value(undo.clone()).map_err(told)?;
        self.client(context)?.undo(&undo).map(drop).map_err(told)
    }

    pub(super) fn is_rolled_out(
        &mut self,
        cluster: &Cluster,
        workload: &str,
    ) -> Result<bool, String> {
        match self.workload(cluster, workload)?.rollout() {
            Rollout::Complete => Ok(true),
            Rollout::Progressing(why) | Rollout::Failed(why) => Err(why),
        }
    }

    pub(super) fn has_replicas(
        &mut self,
        cluster: &Cluster,
        workload: &str,
        count: u32,
    ) -> Result<bool, String> {
        Ok(self.workload(cluster, workload)?.is_scaled_to(count))
    }

    fn workload(&mut self, cluster: &Cluster, workload: &str) -> Result<Workload, String> {
        let name = WorkloadName::parse(workload, &cluster.namespace).map_err(told)?;
        let client = self.client(&cluster.context)?;
        client.workload(&name).map_err(told)
    }

    /// The URL that an object leads to.
    pub(super) fn find_target(&mut self, target: &KubernetesTarget) -> Result<String, String> {
        let (namespace, name) = (target.namespace.as_str(), target.name.as_str());
        let client = self.client(&target.context)?;
        let address = match target.kind.as_str() {
            "kservice" => {
                let found = client.knative_service(namespace, name).map_err(told)?;
                let why = found
                    .message
                    .unwrap_or_else(|| "it has no URL yet".to_owned());
                return found
                    .url
                    .map(|url| format!("{url}{}", target.path))
                    .ok_or(why);
            }
            "ingress" => {
                let found = client.ingress(namespace, name).map_err(told)?;
                // A wildcard is no host that can be asked.
                let hosts = found.hosts.into_iter();
                let hosts = hosts.filter(|host| !host.starts_with('*'));
                let host = hosts.chain(found.addresses).next();
                let host = host.ok_or("the ingress has neither a host nor an address yet")?;
                let host = host_in_url(&host);
                match target.port {
                    Some(port) => format!("{host}:{port}"),
                    None => host.into_owned(),
                }
            }
            _ if target.port_forward => self.forward(target)?,
            _ => service_address(client, target)?,
        };
        Ok(format!("{}://{address}{}", target.scheme, target.path))
    }

    /// What went wrong with forwarded ports since this was asked last.
    pub(super) fn forward_troubles(&self) -> Vec<String> {
        self.forwards
            .iter()
            .flat_map(PortForward::troubles)
            .collect()
    }

    fn forward(&mut self, target: &KubernetesTarget) -> Result<String, String> {
        let client = self.client(&target.context)?;
        let to = ForwardTo::Service {
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        };
        let port = match target.port {
            Some(port) => port,
            None => {
                let found = client.service(&target.namespace, &target.name);
                first_port(&found.map_err(told)?)?
            }
        };
        let forward = client
            .port_forward(&to, &RemotePort::Number(port))
            .map_err(told)?;
        let address = forward.address().to_string();
        self.forwards.push(forward);
        Ok(address)
    }
}

fn first_port(service: &Service) -> Result<u16, String> {
    let port = service.ports.first().map(|port| port.port);
    port.ok_or_else(|| format!("the service {} has no ports", service.name))
}

/// The load balancer's address, otherwise the host of an external name, otherwise the name inside the cluster.
fn service_address(client: &Client, target: &KubernetesTarget) -> Result<String, String> {
    let found = client
        .service(&target.namespace, &target.name)
        .map_err(told)?;
    let port = match target.port {
        Some(port) => port,
        None => first_port(&found)?,
    };
    let outside = found.load_balancer.first().cloned();
    let outside = outside.or_else(|| found.external_name.clone());
    let host = outside.unwrap_or_else(|| found.dns_name());
    Ok(format!("{}:{port}", host_in_url(&host)))
}

fn plan(
    client: &Client,
    cluster: &Cluster,
    order: &ClusterOrder,
    folder: &Path,
) -> Result<Change, String> {
    let namespace = &cluster.namespace;
    let workload = |text: &str| WorkloadName::parse(text, namespace).map_err(told);
    let planned = match order {
        ClusterOrder::Restart(name) => client.plan_restart(&workload(name)?),
        ClusterOrder::Scale(name, replicas) => client.plan_scale(&workload(name)?, *replicas),
        ClusterOrder::Resources(name, change) => client.plan_resources(&workload(name)?, change),
        ClusterOrder::Apply(file) => {
            client.plan_apply(&manifests(file, folder)?, namespace, Conflicts::TakeOver)
        }
        ClusterOrder::Delete(what) => client.plan_delete(&named(what, folder)?, namespace),
    };
    planned.map_err(told)
}

fn manifests(file: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    read_manifests(&text).map_err(told)
}

/// Objects of a file, or one by `KIND/NAME`, of the API versions that hooks deal with.
fn named(what: &str, folder: &Path) -> Result<Vec<Value>, String> {
    const KINDS: [(&str, &str, &str); 9] = [
        ("deployment", "apps/v1", "Deployment"),
        ("statefulset", "apps/v1", "StatefulSet"),
        ("daemonset", "apps/v1", "DaemonSet"),
        ("replicaset", "apps/v1", "ReplicaSet"),
        ("pod", "v1", "Pod"),
        ("service", "v1", "Service"),
        ("configmap", "v1", "ConfigMap"),
        ("job", "batch/v1", "Job"),
        ("ingress", "networking.k8s.io/v1", "Ingress"),
    ];
    if folder.join(what).is_file() {
        return manifests(what, folder);
    }
    let kind = what.split_once('/').and_then(|(kind, name)| {
        let kind = kind.to_ascii_lowercase();
        let known = KINDS.iter().find(|(word, ..)| *word == kind)?;
        Some((known, name))
    });
    let Some(((_, version, kind), name)) = kind else {
        let words: Vec<&str> = KINDS.iter().map(|(word, ..)| *word).collect();
        return Err(format!(
            "{what:?} is neither a file nor KIND/NAME with one of {}; name it in a file of manifests",
            words.join(", ")
        ));
    };
    Ok(vec![
        json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name } }),
    ])
}

/// What a change is of: two scalings of one workload are of one thing.
fn what(cluster: &Cluster, order: &ClusterOrder) -> String {
    let what = match order {
        ClusterOrder::Restart(what) => format!("restart {what}"),
        ClusterOrder::Scale(what, _) => format!("replicas of {what}"),
        ClusterOrder::Resources(what, change) => format!(
            "requests [{}] and limits [{}] of {what} {}",
            names(&change.requests),
            names(&change.limits),
            change.container
        ),
        ClusterOrder::Apply(what) => format!("what was applied from {what}"),
        ClusterOrder::Delete(what) => format!("what was deleted as {what}"),
    };
    format!("{what} in {}", cluster.namespace)
}

fn names(amounts: &BTreeMap<String, Option<String>>) -> String {
    let names: Vec<&str> = amounts.keys().map(String::as_str).collect();
    names.join(" ")
}

//! The controllers: they create and remove a workload's pods according to its specification, and update its status.
//!
//! Must not know who changed the specification. Invariant: after a settling the status knows the newest generation.

use serde_json::{Value, json};

use super::state::{Key, State};
use crate::json;

/// The annotation of a pod that identifies its template.
const TEMPLATE: &str = "/template";
/// The label by which a replica set knows its pods.
const TEMPLATE_HASH: &str = "pod-template-hash";

impl State {
    /// Every controller acts once.
    pub(super) fn settle_all(&mut self) {
        let keys: Vec<Key> = self.objects.keys().cloned().collect();
        for key in keys {
            self.settle(&key);
        }
    }

    /// The controller of an object acts.
    pub(super) fn settle(&mut self, key: &Key) {
        match key[1].as_str() {
            "deployments" => self.settle_deployment(key),
            "statefulsets" | "replicasets" => {
                let wanted = self
                    .objects
                    .get(key)
                    .map(|object| json::count(object, "/spec/replicas", 1));
                self.settle_workload(key, wanted.unwrap_or_default());
            }
            "daemonsets" => {
                let nodes = self.names("Node", "").len();
                self.settle_workload(key, u32::try_from(nodes).unwrap_or(u32::MAX));
            }
            _ => {}
        }
    }

    /// A deployment keeps a replica set for each template; all but the newest have no pods.
    fn settle_deployment(&mut self, key: &Key) {
        let Some(mut deployment) = self.objects.get(key).cloned() else {
            return;
        };
        let wanted = json::count(&deployment, "/spec/replicas", 1);
        let hash = format!("{:08x}", revision(&deployment["spec"]["template"]));
        let name = format!("{}-{hash}", key[3]);
        let newest = [key[0].as_str(), "replicasets", &key[2], &name].map(str::to_owned);
        let uid = json::owned(&deployment, "/metadata/uid");
        for old in self.kept_by(&uid) {
            if old != newest {
                self.scale_set(&old, 0);
            }
        }
        if !self.objects.contains_key(&newest) {
            let set = replica_set(&deployment, &name, &hash);
            self.store(&newest, set);
        }
        self.scale_set(&newest, wanted);
        deployment["status"] = status(&key[1], &deployment, wanted);
        self.store(key, deployment);
    }

    fn scale_set(&mut self, key: &Key, replicas: u32) {
        if let Some(mut set) = self.objects.get(key).cloned() {
            set["spec"]["replicas"] = replicas.into();
            self.store(key, set);
            self.settle_workload(key, replicas);
        }
    }

    fn settle_workload(&mut self, key: &Key, wanted: u32) {
        let Some(mut object) = self.objects.get(key).cloned() else {
            return;
        };
        let revision = revision(&object["spec"]["template"]);
        let names: Vec<String> = (0..wanted)
            .map(|index| match key[1].as_str() {
                "daemonsets" => format!("{}-{revision:08x}-{index}", key[3]),
                _ => format!("{}-{index}", key[3]),
            })
            .collect();
        let uid = json::owned(&object, "/metadata/uid");
        let is_old = |other_key: &Key, other: &Value| {
            let is_kept = json::text(other, "/metadata/ownerReferences/0/uid") == Some(&uid);
            let made_of = json::text(&other["metadata"]["annotations"], TEMPLATE);
            let is_current = made_of == Some(&format!("{revision:08x}"));
            is_kept && !(names.contains(&other_key[3]) && is_current)
        };
        let old: Vec<Key> = self
            .objects
            .iter()
            .filter(|(other_key, other)| other_key[1] == "pods" && is_old(other_key, other))
            .map(|(other_key, _)| other_key.clone())
            .collect();
        old.iter().for_each(|key| self.remove_key(key));
        for name in &names {
            let pod_key = ["v1", "pods", &key[2], name].map(str::to_owned);
            if !self.objects.contains_key(&pod_key) {
                let pod = self.pod(&object, name, revision);
                self.store(&pod_key, pod);
            }
        }
        object["status"] = status(&key[1], &object, wanted);
        self.store(key, object);
    }

    /// A pod that runs and is ready.
    fn pod(&mut self, workload: &Value, name: &str, revision: u32) -> Value {
        let at = self.now();
        let template = &workload["spec"]["template"];
        let containers = json::items(template, "/spec/containers");
        let statuses: Vec<Value> = containers
            .iter()
            .map(|container| {
                json!({ "name": container["name"], "image": container["image"], "imageID": "sha256:0",
                    "containerID": "containerd://1", "ready": true, "started": true, "restartCount": 0,
                    "state": { "running": { "startedAt": at } }, "lastState": {} })
            })
            .collect();
        let mut metadata = template["metadata"].clone();
        metadata["name"] = name.into();
        metadata["namespace"] = workload["metadata"]["namespace"].clone();
        metadata["annotations"][TEMPLATE.trim_start_matches('/')] =
            format!("{revision:08x}").into();
        metadata["ownerReferences"] = json!([owner(workload)]);
        let mut spec = template["spec"].clone();
        spec["nodeName"] = "node-1".into();
        let conditions: Vec<Value> = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
            .iter()
            .map(|kind| json!({ "type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": at }))
            .collect();
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec,
            "status": { "phase": "Running", "startTime": at, "podIP": "10.244.0.9", "hostIP": "192.0.2.1",
                "qosClass": "Burstable", "conditions": conditions, "containerStatuses": statuses } })
    }
}

/// What keeps the pods of one template.
fn replica_set(deployment: &Value, name: &str, hash: &str) -> Value {
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][TEMPLATE_HASH] = hash.into();
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][TEMPLATE_HASH] = hash.into();
    json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": { "name": name, "namespace": deployment["metadata"]["namespace"],
            "labels": template["metadata"]["labels"], "ownerReferences": [owner(deployment)] },
        "spec": { "replicas": 0, "selector": selector, "template": template } })
}

/// An object's owner reference.
fn owner(keeper: &Value) -> Value {
    json!({ "apiVersion": keeper["apiVersion"], "kind": keeper["kind"], "name": keeper["metadata"]["name"],
        "uid": keeper["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true })
}

fn status(resource: &str, object: &Value, wanted: u32) -> Value {
    let generation = object["metadata"]["generation"].clone();
    match resource {
        "daemonsets" => json!({ "observedGeneration": generation, "desiredNumberScheduled": wanted,
            "currentNumberScheduled": wanted, "numberReady": wanted, "updatedNumberScheduled": wanted,
            "numberAvailable": wanted, "numberMisscheduled": 0 }),
        "statefulsets" => {
            json!({ "observedGeneration": generation, "replicas": wanted, "readyReplicas": wanted,
            "currentReplicas": wanted, "updatedReplicas": wanted, "availableReplicas": wanted,
            "currentRevision": "r1", "updateRevision": "r1" })
        }
        "replicasets" => {
            json!({ "observedGeneration": generation, "replicas": wanted, "readyReplicas": wanted,
            "availableReplicas": wanted, "fullyLabeledReplicas": wanted })
        }
        _ => json!({ "observedGeneration": generation, "replicas": wanted, "readyReplicas": wanted,
            "updatedReplicas": wanted, "availableReplicas": wanted, "conditions": [
                { "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "" },
                { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": "" }] }),
    }
}

/// A number that another template does not have (FNV-1a).
fn revision(template: &Value) -> u32 {
    let text = template.to_string();
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

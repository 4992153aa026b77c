//! Plans a change: the current state, what to do, and how to undo it.
//!
//! Must not change anything: every call here only reads. Invariant: planning is refused if the cluster was not
//! named.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Change, ChangeStep, Conflicts, ObjectName, ResourceChange, Undo, UndoStep};
use crate::cluster::Cluster;
use crate::discovery::workload_place;
use crate::error::{Error, Result, quoted};
use crate::json;
use crate::objects::{Workload, WorkloadName};
use crate::place::ApiPlace;
use crate::quantity::Quantity;
use crate::time;

/// The annotation on a pod template with which kubectl restarts a workload; the same one, so that histories look the
/// same.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";
/// Kinds whose content cannot be restored from a copy of the object.
const HOLDERS: [&str; 4] = [
    "CustomResourceDefinition",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
];
/// Labels by which a job knows its pods, the older ones last.
const JOB_LABELS: [&str; 4] = [
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
];

impl Cluster {
    /// Plans to scale a workload.
    ///
    /// # Errors
    /// The context was not named, there is no such workload, or its number of replicas cannot be set.
    pub fn plan_scale(&self, workload: &WorkloadName, replicas: u32) -> Result<Change> {
        self.refuse_unnamed()?;
        if !workload.kind.has_scale() {
            return Err(Error::user(format!(
                "{workload} has one replica on each of its nodes and cannot be scaled"
            )));
        }
        let scale = self.get(workload_place(workload).part("scale"))?;
        let before = json::count(&scale, "/spec/replicas", 0);
        Ok(Change {
            summary: format!("{workload}: {before} → {replicas} replicas"),
            undo: self.undo_of(vec![UndoStep::Scale {
                workload: workload.clone(),
                replicas: before,
            }]),
            steps: vec![ChangeStep::Scale(workload.clone(), replicas)],
        })
    }

    /// Plans to replace all pods of a workload, like `kubectl rollout restart`. This cannot be undone.
    ///
    /// # Errors
    /// The context was not named, or there is no such workload.
    pub fn plan_restart(&self, workload: &WorkloadName) -> Result<Change> {
        self.refuse_unnamed()?;
        let found = self.workload(workload)?;
        let at = time::format(self.client.clock.unix_ns());
        let annotations = json!({ RESTARTED_AT: at });
        let patch =
            json!({ "spec": { "template": { "metadata": { "annotations": annotations } } } });
        Ok(Change {
            summary: format!("{workload}: {} replicas restart", found.wanted),
            undo: self.undo_of(Vec::new()),
            steps: vec![ChangeStep::Patch(workload.clone(), patch)],
        })
    }

    /// Plans to change requests and limits of a workload's container, which restarts its pods.
    ///
    /// # Errors
    /// The context was not named, there is no such workload or container, or an amount is invalid.
    pub fn plan_resources(
        &self,
        workload: &WorkloadName,
        change: &ResourceChange,
    ) -> Result<Change> {
        self.refuse_unnamed()?;
        for amount in change
            .requests
            .values()
            .chain(change.limits.values())
            .flatten()
        {
            let parsed: std::result::Result<Quantity, _> = amount.parse();
            parsed.map_err(|error| Error::user(format!("{} {error}", quoted(amount))))?;
        }
        let value = self.get(workload_place(workload))?;
        let container = container_name(&Workload::read(&value, workload.kind)?, &change.container)?;
        let containers = json::items(&value, "/spec/template/spec/containers").iter();
        let mut of_name = containers.filter(|one| json::text(one, "/name") == Some(&container));
        let resources = of_name.next().map_or(&Value::Null, |one| &one["resources"]);
        let before = |of: &BTreeMap<String, Option<String>>, which: &str| {
            let names = of.keys().map(|name| {
                let now = resources.get(which).and_then(|amounts| amounts.get(name));
                (name.clone(), now.and_then(Value::as_str).map(str::to_owned))
            });
            names.collect::<BTreeMap<_, _>>()
        };
        let back = ResourceChange {
            requests: before(&change.requests, "requests"),
            limits: before(&change.limits, "limits"),
            container: container.clone(),
        };
        let summary = format!("{workload}, container {container}: {}", told(&back, change));
        Ok(Change {
            summary,
            steps: vec![ChangeStep::Patch(
                workload.clone(),
                resource_patch(&container, change),
            )],
            undo: self.undo_of(vec![UndoStep::Resources {
                workload: workload.clone(),
                change: back,
            }]),
        })
    }

    /// Plans to apply objects, as returned by [`super::read_manifests`], with server-side apply and the field
    /// manager `loadline`. Objects without a namespace go into the given one; if it is empty, into the
    /// context's.
    ///
    /// # Errors
    /// The context was not named, an object has no kind or name, or the cluster does not know its kind.
    pub fn plan_apply(
        &self,
        objects: &[Value],
        namespace: &str,
        conflicts: Conflicts,
    ) -> Result<Change> {
        self.refuse_unnamed()?;
        let mut steps = Vec::new();
        let mut back = Vec::new();
        let mut told = Vec::new();
        for object in objects {
            let (name, place) = self.located(object, namespace)?;
            let before = self.found(place.clone())?;
            told.push(match &before {
                Some(_) => format!("changes {name}"),
                None => format!("makes {name}"),
            });
            back.push(match before {
                Some(value) => UndoStep::Restore {
                    object: name.clone(),
                    value: without_the_clusters_own(value),
                },
                None => UndoStep::Remove {
                    object: name.clone(),
                },
            });
            steps.push(ChangeStep::Apply(place, placed(object, &name), conflicts));
        }
        back.reverse();
        Ok(Change {
            summary: told.join(", "),
            undo: self.undo_of(back),
            steps,
        })
    }

    /// Plans to delete objects, given by kind, name and optionally namespace; missing ones are skipped. Undoing
    /// this does not restore pods managed by a workload, nor objects that hold data.
    ///
    /// # Errors
    /// The context was not named, an object has no kind or name, or the cluster does not know its kind.
    pub fn plan_delete(&self, objects: &[Value], namespace: &str) -> Result<Change> {
        self.refuse_unnamed()?;
        let mut steps = Vec::new();
        let mut back = Vec::new();
        let mut told = Vec::new();
        for object in objects {
            let (name, place) = self.located(object, namespace)?;
            let Some(value) = self.found(place.clone())? else {
                continue;
            };
            let is_kept = !json::items(&value, "/metadata/ownerReferences").is_empty();
            let is_holder = HOLDERS.contains(&name.kind.as_str());
            told.push(match is_holder {
                true => format!("deletes {name}, which cannot be undone"),
                false => format!("deletes {name}"),
            });
            if !is_kept && !is_holder {
                back.push(UndoStep::Restore {
                    object: name,
                    value: without_the_clusters_own(value),
                });
            }
            steps.push(ChangeStep::Delete(place));
        }
        back.reverse();
        Ok(Change {
            summary: match told.is_empty() {
                true => "nothing to delete".to_owned(),
                false => told.join(", "),
            },
            undo: self.undo_of(back),
            steps,
        })
    }

    /// The name of an object that a file describes, and its place.
    fn located(&self, object: &Value, namespace: &str) -> Result<(ObjectName, ApiPlace)> {
        let field = |pointer: &str| {
            json::filled(object, pointer).ok_or_else(|| {
                Error::user(format!(
                    "an object has no {}",
                    pointer[1..].replace('/', ".")
                ))
            })
        };
        let mut name = ObjectName {
            api_version: field("/apiVersion")?,
            kind: field("/kind")?,
            namespace: json::owned(object, "/metadata/namespace"),
            name: field("/metadata/name")?,
        };
        if name.namespace.is_empty() {
            name.namespace = match namespace.is_empty() {
                true => self.namespace().to_owned(),
                false => namespace.to_owned(),
            };
        }
        let place = self.place_of(&mut name)?;
        Ok((name, place))
    }

    /// The place of an object; the namespace of one whose kind has none is emptied.
    pub(super) fn place_of(&self, name: &mut ObjectName) -> Result<ApiPlace> {
        let kind = self.resource_of(&name.api_version, &name.kind)?;
        if !kind.is_namespaced {
            name.namespace.clear();
        }
        let place = ApiPlace::of(&name.api_version, &kind.resource);
        Ok(place.within(&name.namespace).named(&name.name))
    }

    /// An object; `None`: there is none.
    pub(super) fn found(&self, place: ApiPlace) -> Result<Option<Value>> {
        match self.get(place) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn undo_of(&self, steps: Vec<UndoStep>) -> Undo {
        Undo {
            server: self.server().to_owned(),
            steps,
        }
    }
}

/// The patch that changes requests and limits; `null` removes one.
pub(super) fn resource_patch(container: &str, change: &ResourceChange) -> Value {
    let mut resources = Map::new();
    for (which, amounts) in [("requests", &change.requests), ("limits", &change.limits)] {
        if !amounts.is_empty() {
            resources.insert(which.to_owned(), json!(amounts));
        }
    }
    let container = json!({ "name": container, "resources": resources });
    json!({ "spec": { "template": { "spec": { "containers": [container] } } } })
}

fn container_name(workload: &Workload, wanted: &str) -> Result<String> {
    let has = &workload.containers;
    let found = match (wanted, has.as_slice()) {
        ("", [only]) => Some(only),
        (wanted, all) => all.iter().find(|name| *name == wanted),
    };
    found.cloned().ok_or_else(|| {
        let what = match wanted {
            "" => "has several containers, so one must be named".to_owned(),
            wanted => format!("has no container {}", quoted(wanted)),
        };
        Error::user(format!("{} {what}: {}", workload.name, has.join(", ")))
    })
}

fn told(before: &ResourceChange, after: &ResourceChange) -> String {
    let mut told = Vec::new();
    let pairs = [
        ("request", &before.requests, &after.requests),
        ("limit", &before.limits, &after.limits),
    ];
    for (which, before, after) in pairs {
        for (name, now) in after {
            let said = |amount: Option<&Option<String>>| {
                amount
                    .cloned()
                    .flatten()
                    .unwrap_or_else(|| "none".to_owned())
            };
            told.push(format!(
                "{name} {which} {} → {}",
                said(before.get(name)),
                said(Some(now))
            ));
        }
    }
    told.join(", ")
}

/// The object with the namespace that was found for it.
fn placed(object: &Value, name: &ObjectName) -> Value {
    let mut placed = object.clone();
    if !name.namespace.is_empty() {
        placed["metadata"]["namespace"] = name.namespace.as_str().into();
    }
    placed
}

/// What a job knows its pods by is its uid, which is another one when it is put back; the cluster refuses an old one.
///
/// Source: the Kubernetes documentation, "Jobs", on pod selectors.
fn remove_job_selector(value: &mut Value) {
    let is_job = json::text(value, "/kind") == Some("Job");
    if !is_job || json::is_true(value, "/spec/manualSelector") {
        return;
    }
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("selector");
    }
    for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
        let labels = value.pointer_mut(labels).and_then(Value::as_object_mut);
        if let Some(labels) = labels {
            labels.retain(|name, _| !JOB_LABELS.contains(&name.as_str()));
        }
    }
}

/// What the cluster adds to an object and would refuse, or misread, when it is put back.
pub(super) fn without_the_clusters_own(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.remove("status");
    }
    remove_job_selector(&mut value);
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        let own = [
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "resourceVersion",
            "selfLink",
            "uid",
        ];
        for name in own {
            metadata.remove(name);
        }
    }
    value
}

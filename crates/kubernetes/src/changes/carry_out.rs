//! Executes a planned change, and undoes one.
//!
//! Must not know the purpose of a change. Invariant: what was done before an error is undone by the same undo,
//! which skips what was not done.

use std::time::Duration;

use serde_json::{Value, json};

use super::plan::{resource_patch, without_the_clusters_own};
use super::{Change, ChangeStep, Conflicts, FIELD_MANAGER, ObjectName, Undo, UndoStep};
use crate::access::Call;
use crate::cluster::Cluster;
use crate::discovery::workload_place;
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::objects::WorkloadName;
use crate::place::{ApiPlace, Verb};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";

/// Time between two checks of an object that is being deleted.
const GOING_WAIT: Duration = Duration::from_secs(1);
/// Maximum checks: pods usually have 30 s to end.
const GOING_LOOKS: u32 = 60;

impl Cluster {
    /// Executes a planned change.
    ///
    /// # Errors
    /// A step was refused; the previous ones were executed, and [`Cluster::undo`] undoes them.
    pub fn carry_out(&self, change: &Change) -> Result<()> {
        self.refuse_unnamed()?;
        change.steps.iter().try_for_each(|step| self.make(step))
    }

    /// Undoes a change; returns a line for each thing that was restored. Waits up to a minute for each object
    /// that is still being deleted.
    ///
    /// # Errors
    /// The context was not named, it is another cluster, or the cluster refuses. Every step is tried; the first
    /// error is returned.
    pub fn undo(&self, undo: &Undo) -> Result<Vec<String>> {
        self.refuse_unnamed()?;
        if undo.server != self.server() {
            return Err(Error::user(format!(
                "the change was made in the cluster at {}, and the context {:?} leads to {}",
                undo.server,
                self.name(),
                self.server()
            )));
        }
        let mut done = Vec::new();
        let mut first = None;
        for step in &undo.steps {
            match self.take_back(step) {
                Ok(line) => done.push(line),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(done), Err)
    }

    fn make(&self, step: &ChangeStep) -> Result<()> {
        match step {
            ChangeStep::Scale(workload, replicas) => self.scale(workload, *replicas),
            ChangeStep::Patch(workload, patch) => self.patch(workload, patch),
            ChangeStep::Apply(place, object, conflicts) => {
                self.apply(place.clone(), object, *conflicts)
            }
            ChangeStep::Delete(place) => self.delete(place.clone()),
        }
    }

    fn take_back(&self, step: &UndoStep) -> Result<String> {
        match step {
            UndoStep::Scale { workload, replicas } => {
                self.scale(workload, *replicas)?;
                Ok(format!("{workload}: {replicas} replicas again"))
            }
            UndoStep::Resources { workload, change } => {
                self.patch(workload, &resource_patch(&change.container, change))?;
                Ok(format!(
                    "{workload}: requests and limits of {} as before",
                    change.container
                ))
            }
            UndoStep::Remove { object } => {
                let place = self.place_of(&mut object.clone())?;
                self.delete(place)?;
                Ok(format!("{object}: removed"))
            }
            UndoStep::Restore { object, value } => {
                self.restore(object, value)?;
                Ok(format!("{object}: as before"))
            }
        }
    }

    fn scale(&self, workload: &WorkloadName, replicas: u32) -> Result<()> {
        let call = Call::new(Verb::Patch, workload_place(workload).part("scale"))
            .query("fieldManager", FIELD_MANAGER)
            .body(MERGE, &json!({ "spec": { "replicas": replicas } }));
        self.client.json(&call).map(drop)
    }

    fn patch(&self, workload: &WorkloadName, patch: &Value) -> Result<()> {
        let call = Call::new(Verb::Patch, workload_place(workload))
            .query("fieldManager", FIELD_MANAGER)
            .body(STRATEGIC, patch);
        self.client.json(&call).map(drop)
    }

    fn apply(&self, place: ApiPlace, object: &Value, conflicts: Conflicts) -> Result<()> {
        let mut call = Call::new(Verb::Patch, place).query("fieldManager", FIELD_MANAGER);
        if conflicts == Conflicts::TakeOver {
            call = call.query("force", "true");
        }
        // JSON is YAML.
        self.client.json(&call.body(APPLY, object)).map(drop)
    }

    fn delete(&self, place: ApiPlace) -> Result<()> {
        let call = Call::new(Verb::Delete, place).query("propagationPolicy", "Background");
        match self.client.json(&call) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    /// An object that is not being deleted; `None`: there is none. Changes to one that is being deleted would
    /// be lost.
    fn lasting(&self, object: &ObjectName, place: &ApiPlace) -> Result<Option<Value>> {
        for _ in 0..GOING_LOOKS {
            match self.found(place.clone())? {
                Some(now) if json::text(&now, "/metadata/deletionTimestamp").is_some() => {
                    self.client.clock.wait(GOING_WAIT);
                }
                found => return Ok(found),
            }
        }
        let waited = GOING_WAIT * GOING_LOOKS;
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "{object} could not be restored: it is still being deleted after {} s",
                waited.as_secs()
            ),
        ))
    }

    /// Restores an object, whether it exists or not. An unchanged one is left alone.
    fn restore(&self, object: &ObjectName, value: &Value) -> Result<()> {
        const TRIES: usize = 3;
        let place = self.place_of(&mut object.clone())?;
        for _ in 0..TRIES {
            let now = self.lasting(object, &place)?;
            let (verb, place, value) = match now {
                None => (Verb::Create, place.clone().all(), value.clone()),
                Some(now) if without_the_clusters_own(now.clone()) == *value => return Ok(()),
                Some(now) => {
                    let mut newer = value.clone();
                    newer["metadata"]["resourceVersion"] =
                        json::owned(&now, "/metadata/resourceVersion").into();
                    keep_job_pods(&now, &mut newer);
                    (Verb::Update, place.clone(), newer)
                }
            };
            let call = Call::new(verb, place)
                .query("fieldManager", FIELD_MANAGER)
                .body(JSON, &value);
            match self.client.json(&call) {
                // A controller was faster: read it again.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                other => return other.map(drop),
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("{object} could not be restored: something else keeps changing it"),
        ))
    }
}

/// A job's pod selector and template are immutable while it exists.
fn keep_job_pods(now: &Value, newer: &mut Value) {
    if json::text(now, "/kind") == Some("Job") {
        for fixed in ["selector", "template"] {
            newer["spec"][fixed] = now["spec"][fixed].clone();
        }
    }
}

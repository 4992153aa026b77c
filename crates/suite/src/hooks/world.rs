//! The interface of hooks to the world, as a trait: the real system, or a simulation in tests.
//!
//! Must not know the order of hooks. Invariant: a change that can be undone is recorded before it is made.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::file::KubernetesTarget;

use super::spec::{Cluster, ClusterOrder, CpuOf, ExecCall, HttpCall, TestbedAction};

/// A response to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Status.
    pub status: u16,
    /// Body, cut to a limit.
    pub body: String,
}

/// How to undo a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "where")]
pub enum Undo {
    /// In a cluster, in the form of its client.
    Kubernetes {
        /// The context of the kubeconfig.
        context: String,
        /// What was changed, for messages; a later change of the same thing is not recorded again.
        what: String,
        /// What takes it back.
        undo: serde_json::Value,
    },
    /// At a testbed's control port.
    Testbed {
        /// URL of the control port.
        control: String,
        /// The component.
        component: String,
        /// Its replicas before; `None`: only what was degraded is taken back.
        replicas: Option<u32>,
    },
}

impl Undo {
    /// What was changed: two changes of the same thing are undone once, to the state before the first.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Undo::Kubernetes { context, what, .. } => format!("{context} {what}"),
            Undo::Testbed {
                control,
                component,
                replicas,
            } => {
                let kind = if replicas.is_some() {
                    "replicas"
                } else {
                    "degrading"
                };
                format!("{kind} of {component} at {control}")
            }
        }
    }
}

/// Records a change before it is made.
pub type Record<'a> = &'a mut dyn FnMut(Undo) -> Result<(), String>;

/// Lines that are written to a file.
pub trait NewLines {
    /// Passes on those since the last call, as far as they are whole.
    ///
    /// # Errors
    /// The file cannot be read; the text names it.
    fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), String>;
}

/// The interface of hooks to the world.
pub trait World {
    /// Time since some fixed instant.
    fn now(&self) -> Duration;

    /// Waits for a time, or until it is asked to stop.
    fn pause(&mut self, span: Duration);

    /// Whether it was asked to stop.
    fn should_stop(&self) -> bool;

    /// Runs a command and returns its output.
    ///
    /// # Errors
    /// It could not be started, failed, or took longer than `timeout`; the text says which.
    fn exec(&mut self, call: &ExecCall, timeout: Duration) -> Result<String, String>;

    /// Sends a request.
    ///
    /// # Errors
    /// There was no response within `timeout`.
    fn http(&mut self, call: &HttpCall, timeout: Duration) -> Result<HttpAnswer, String>;

    /// Changes a cluster.
    ///
    /// # Errors
    /// The change could not be recorded or made.
    fn change_cluster(
        &mut self,
        cluster: &Cluster,
        order: &ClusterOrder,
        record: Record,
    ) -> Result<(), String>;

    /// Changes a testbed.
    ///
    /// # Errors
    /// The change could not be recorded or made.
    fn change_testbed(&mut self, action: &TestbedAction, record: Record) -> Result<(), String>;

    /// Takes a change back.
    ///
    /// # Errors
    /// It could not be.
    fn undo(&mut self, undo: &Undo) -> Result<(), String>;

    /// The URL that an object of a cluster leads to; a port that is forwarded stays so as long as the world is there.
    ///
    /// # Errors
    /// There is none, or it could not be asked.
    fn find_target(&mut self, target: &KubernetesTarget) -> Result<String, String>;

    /// What went wrong on the way to the target since this was asked last, and is not the target's doing.
    fn target_troubles(&mut self) -> Vec<String>;

    /// Whether the rollout of a workload is complete.
    ///
    /// # Errors
    /// It could not be asked.
    fn is_rolled_out(&mut self, cluster: &Cluster, workload: &str) -> Result<bool, String>;

    /// Whether a workload has this many ready replicas, and no others.
    ///
    /// # Errors
    /// It could not be queried.
    fn has_replicas(
        &mut self,
        cluster: &Cluster,
        workload: &str,
        count: u32,
    ) -> Result<bool, String>;

    /// Whether an address, `HOST:PORT`, takes connections.
    fn takes_connections(&mut self, address: &str) -> bool;

    /// The lines that are written to a file from now on; it need not be there yet.
    fn new_lines(&mut self, path: &str) -> Box<dyn NewLines>;

    /// Processor time used so far, in seconds.
    ///
    /// # Errors
    /// It cannot be read.
    fn cpu_seconds(&mut self, of: &CpuOf) -> Result<f64, String>;
}

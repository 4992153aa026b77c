//! The setting of the calls: what the stand-in and a real cluster do for them, each in its own way.
//!
//! Must not know either. Invariant: whatever only one of them can do is hidden behind this, and has an equivalent in
//! the other.

use std::path::Path;

use loadline_kubernetes::{Cluster, Kubeconfig};
use serde_json::Value;

/// Where calls are made.
pub(crate) trait Stage {
    /// The cluster for a user who may do everything.
    fn cluster(&self) -> &Cluster;
    /// The namespace of the calls.
    fn namespace(&self) -> &str;
    /// An image that has a shell.
    fn image(&self) -> String;
    /// The pods of a workload, or the one of that name, print what their command prints.
    fn print(&self, workload: &str, lines: &[&str]);
    /// The cluster knows tests from now on.
    fn define_tests(&self);
    /// An object as another user makes it.
    fn put(&self, object: &Value);
    /// An object loses what holds it back from being deleted.
    fn let_go(&self, kind: &str, name: &str);
    /// An object as it is; `None`: there is none.
    fn look(&self, kind: &str, name: &str) -> Option<Value>;
    /// The cluster for a user who lacks one of the required permissions.
    fn as_somebody_without(&self, verb: &str, resource: &str) -> Cluster;
    /// The cluster for an unknown user.
    fn as_a_stranger(&self) -> Cluster;
}

/// The cluster of the current context of a kubeconfig.
pub(crate) fn cluster_of(text: &str) -> Cluster {
    let config = Kubeconfig::parse(text, Path::new(".")).expect("a kubeconfig");
    let context = config.current_context().expect("one is current").to_owned();
    Cluster::from_kubeconfig(&config, &context).expect("it can be used")
}

//! A stand-in for an API server: it keeps objects and responds over HTTPS like Kubernetes, so that code that uses a
//! cluster can be tested without one.
//!
//! Must not know the client: it only shares the code of WebSocket frames with it. Invariants: responses have the
//! field names and shapes of the API reference; nothing waits for real time (its clock advances with each event).
//!
//! It keeps objects of any kind that [`RESOURCES`] lists, with resource versions, generations and `Status` objects for
//! errors; lists by label and field selectors, in pages; merge, strategic merge and apply patches, with owners of fields;
//! finalizers; the scale subresource; logs, followed and previous; the metrics API and kubelet summaries; port forwarding
//! over WebSockets. The calls of `tests/calls` hold it against a real server.
//! It stands in for controllers too: what a workload's specification wants is so at once, pods included, unless
//! [`ApiServer::hold_still`] was called. Not there: admission and defaults beyond a few, schemas.

mod http;
mod log;
mod ownership;
mod patch;
mod pki;
mod portforward;
mod routes;
mod rules;
mod select;
mod serve;
mod settle;
mod state;
mod usage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::{Clock, SystemClock};
use crate::cluster::Cluster;
use crate::kubeconfig::Kubeconfig;
use ownership::Manager;
use pki::Pki;
use serve::Shared;
use state::Failure;
pub use state::RESOURCES;

/// The token that the fake server accepts.
pub const TOKEN: &str = "stand-in-token";
/// The name in the fake server's certificate, besides its address.
pub const SERVER_NAME: &str = "kubernetes.test";

/// The fake API server; it stops when dropped.
#[derive(Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    pki: Pki,
}

impl Default for ApiServer {
    fn default() -> ApiServer {
        ApiServer::start()
    }
}

impl ApiServer {
    /// Starts it on a free port of 127.0.0.1, with the empty namespaces `default` and `shop`.
    ///
    /// # Panics
    /// If no port can be opened.
    #[must_use]
    pub fn start() -> ApiServer {
        let pki = Pki::new();
        let shared = Arc::new(Shared::default());
        let address = serve::start(&shared, pki.server_config());
        let server = ApiServer {
            shared,
            address,
            pki,
        };
        for name in ["default", "shop"] {
            server.put(
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
            );
        }
        server
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig with one context, which is also the current one, and the token.
    #[must_use]
    pub fn kubeconfig(&self, context: &str) -> String {
        self.kubeconfig_of(context, &format!("{{ token: {TOKEN} }}"), "")
    }

    /// The same with a client certificate.
    #[must_use]
    pub fn kubeconfig_by_certificate(&self, context: &str) -> String {
        let (certificate, key) = self.pki.client_data();
        let user = format!("{{ client-certificate-data: {certificate}, client-key-data: {key} }}");
        self.kubeconfig_of(context, &user, "")
    }

    /// The same with a user and more settings of the cluster in YAML; each line starts with four spaces.
    #[must_use]
    pub fn kubeconfig_of(&self, context: &str, user: &str, cluster: &str) -> String {
        let (address, authority) = (self.address, self.pki.authority_data());
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {context}\nclusters:\n- name: {context}\n  cluster:\n    \
             server: https://{address}\n    certificate-authority-data: {authority}\n{cluster}\
             users:\n- name: {context}\n  user: {user}\ncontexts:\n- name: {context}\n  context: {{ cluster: {context}, \
             user: {context}, namespace: shop }}\n"
        )
    }

    /// Its cluster, through the context `stand-in`.
    ///
    /// # Panics
    /// Never: the kubeconfig is its own.
    #[must_use]
    pub fn cluster(&self) -> Cluster {
        self.cluster_with(Arc::new(SystemClock))
    }

    /// The same with the caller's clock.
    ///
    /// # Panics
    /// Never: the kubeconfig is its own.
    #[must_use]
    pub fn cluster_with(&self, clock: Arc<dyn Clock>) -> Cluster {
        let config = Kubeconfig::parse(&self.kubeconfig("stand-in"), std::path::Path::new("."));
        let config = config.expect("it is well formed");
        Cluster::with_clock(&config, Some("stand-in"), clock).expect("it can be used")
    }

    /// Creates or replaces an object like another user: controllers react to it.
    ///
    /// # Panics
    /// If its kind is not one of [`RESOURCES`] or it has no name: a mistake in the test.
    pub fn put(&self, object: Value) {
        self.shared.change(|state| {
            let by = Manager {
                name: "somebody".to_owned(),
                applies: false,
            };
            state
                .put_by(&by, object)
                .expect("the kind is known, and it has a name");
        });
    }

    /// A deployment with one container `main` with requests of 100m and 64Mi and limits of 500m and 128Mi, and
    /// its pods.
    pub fn deploy(&self, namespace: &str, name: &str, replicas: u32) {
        self.put(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "namespace": namespace },
            "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": name } },
                "template": { "metadata": { "labels": { "app": name } }, "spec": { "containers": [{
                    "name": "main", "image": "registry.test/api:1",
                    "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
                    "resources": { "requests": { "cpu": "100m", "memory": "64Mi" },
                        "limits": { "cpu": "500m", "memory": "128Mi" } } }] } } },
        }));
    }

    /// The current state of an object; the kind such as `Deployment`, an empty namespace for one that has none.
    #[must_use]
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.shared
            .look(|state| state.get(kind, namespace, name).cloned())
    }

    /// Changes an object directly, including its status; controllers do not react.
    pub fn change(&self, kind: &str, namespace: &str, name: &str, how: impl FnOnce(&mut Value)) {
        self.shared
            .change(|state| state.touch(kind, namespace, name, how));
    }

    /// Removes an object, if it is there.
    pub fn remove(&self, kind: &str, namespace: &str, name: &str) {
        self.shared
            .change(|state| state.remove(kind, namespace, name));
    }

    /// Names of the pods of a namespace.
    #[must_use]
    pub fn pod_names(&self, namespace: &str) -> Vec<String> {
        self.shared.look(|state| state.names("Pod", namespace))
    }

    /// Stops the controllers until [`ApiServer::settle`].
    pub fn hold_still(&self) {
        self.shared.change(|state| state.holds_still = true);
    }

    /// Lets the controllers act once.
    pub fn settle(&self) {
        self.shared.change(state::State::settle_all);
    }

    /// Sets a container's resource use, as quantities; reported by the metrics API and the summary of its pod's
    /// node.
    pub fn set_usage(&self, namespace: &str, pod: &str, container: &str, cpu: &str, memory: &str) {
        let key = [namespace, pod, container].map(str::to_owned);
        let usage = [cpu, memory].map(str::to_owned);
        self.shared.change(|state| {
            state.usage.insert(key, usage);
        });
    }

    /// Disables the metrics API.
    pub fn without_metrics_api(&self) {
        self.shared.change(|state| state.has_metrics = false);
    }

    /// A container prints a line.
    pub fn print(&self, namespace: &str, pod: &str, container: &str, line: &str) {
        self.shared
            .change(|state| state.print(namespace, pod, container, line));
    }

    /// Advances its time.
    pub fn pass(&self, time: Duration) {
        self.shared.change(|state| state.pass(time));
    }

    /// Ends a container for a reason (`OOMKilled`, `Error`) and restarts it.
    pub fn restart_container(&self, namespace: &str, pod: &str, container: &str, reason: &str) {
        self.shared
            .change(|state| state.restart(namespace, pod, container, reason));
    }

    /// Makes the next calls fail with a status, and optionally a retry delay.
    pub fn fail_next(&self, times: u32, status: u16, retry_after: Option<Duration>) {
        let failure = Failure {
            times,
            status,
            retry_after_s: retry_after.map(|time| time.as_secs()),
        };
        self.shared.change(|state| state.failure = Some(failure));
    }

    /// Forbids a verb on a resource (`list`, `pods`; `patch`, `deployments/scale`).
    pub fn forbid(&self, verb: &str, resource: &str) {
        let rule = (verb.to_owned(), resource.to_owned());
        self.shared.change(|state| state.forbidden.push(rule));
    }

    /// Forwards connections for a port of a pod to an address.
    pub fn listen_at(&self, pod: &str, port: u16, address: SocketAddr) {
        let key = (pod.to_owned(), port);
        self.shared.change(|state| {
            state.listeners.insert(key, address);
        });
    }

    /// The headers of the last request whose names have this prefix, in lower case.
    #[must_use]
    pub fn headers(&self, begin: &str) -> Vec<(String, String)> {
        let headers = self.shared.look(|state| state.headers.clone());
        let small = headers
            .into_iter()
            .map(|(name, value)| (name.to_lowercase(), value));
        small.filter(|(name, _)| name.starts_with(begin)).collect()
    }

    /// The requests so far: method, path and query.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.shared.look(|state| state.requests.clone())
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.shared.end(self.address);
    }
}

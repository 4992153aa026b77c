//! A cluster: its address, the context used, and whether it may be changed.
//!
//! Must not know what it runs. Invariant: a cluster whose context was not named refuses every change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::access::{self, Access, Call, Client};
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, Result};
use crate::json;
use crate::kubeconfig::Kubeconfig;
use crate::place::{ApiPlace, Verb};

/// Objects per page of a list.
const PAGE: &str = "500";
/// Maximum pages of a list: twenty thousand objects.
const PAGES_MAX: usize = 40;

/// A cluster. Cheap to clone; the clones share their connections.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(crate) client: Arc<Client>,
    namespace: String,
    is_named: bool,
    /// Cached resources of group versions.
    kinds: Arc<Mutex<BTreeMap<String, Arc<[ResourceKind]>>>>,
}

/// A resource that the API offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceKind {
    /// As in `Deployment`.
    pub(crate) kind: String,
    /// As in `deployments`.
    pub(crate) resource: String,
    pub(crate) is_namespaced: bool,
}

impl Cluster {
    /// The cluster of a context named by the user.
    ///
    /// # Errors
    /// There is no such context, or it is invalid.
    pub fn from_kubeconfig(config: &Kubeconfig, context: &str) -> Result<Cluster> {
        Cluster::with_clock(config, Some(context), Arc::new(SystemClock))
    }

    /// The cluster of the current context, read-only: every change is refused.
    ///
    /// # Errors
    /// There is no current context, or it is invalid.
    pub fn for_reading(config: &Kubeconfig) -> Result<Cluster> {
        Cluster::with_clock(config, None, Arc::new(SystemClock))
    }

    /// The cluster of a context (`None`: the current one, read-only) with the caller's clock.
    ///
    /// # Errors
    /// As [`Cluster::from_kubeconfig`].
    pub fn with_clock(
        config: &Kubeconfig,
        context: Option<&str>,
        clock: Arc<dyn Clock>,
    ) -> Result<Cluster> {
        Cluster::new(config.access(context)?, context.is_some(), clock)
    }

    /// The cluster in which this process runs, with its pod's service account.
    ///
    /// # Errors
    /// This is not a pod, or it has no account.
    pub fn in_cluster() -> Result<Cluster> {
        Cluster::new(access::in_cluster()?, true, Arc::new(SystemClock))
    }

    /// The same cluster for callers that ask again soon: each call has this time limit and is not retried. Not
    /// for calls with endless responses, such as logs.
    ///
    /// # Errors
    /// The kubeconfig is invalid.
    pub fn hurried(self, within: Duration) -> Result<Cluster> {
        Ok(Cluster {
            client: Arc::new(self.client.hurried(within)?),
            ..self
        })
    }

    fn new(access: Access, is_named: bool, clock: Arc<dyn Clock>) -> Result<Cluster> {
        Ok(Cluster {
            namespace: access.namespace.clone(),
            client: Arc::new(Client::new(access, clock)?),
            is_named,
            kinds: Arc::default(),
        })
    }

    /// The name of its context.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.client.access().name
    }

    /// Its address.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.client.access().server
    }

    /// The default namespace: the context's, or `default` if it has none.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its version, such as `v1.34.1`; the call also checks that it responds and accepts the credentials.
    ///
    /// # Errors
    /// It does not respond.
    pub fn version(&self) -> Result<String> {
        let call = Call::new(Verb::Get, ApiPlace::path_only("/version"));
        let value = self.client.json(&call)?;
        json::filled(&value, "/gitVersion").ok_or_else(|| {
            Error::answer(format!(
                "{} does not report its version",
                self.client.told()
            ))
        })
    }

    /// # Errors
    /// The context was not named.
    pub(crate) fn refuse_unnamed(&self) -> Result<()> {
        if self.is_named {
            return Ok(());
        }
        Err(Error::user(format!(
            "{} is only the current context of the kubeconfig; name the context before anything in it is changed",
            self.client.told()
        )))
    }

    pub(crate) fn get(&self, place: ApiPlace) -> Result<Value> {
        self.client.json(&Call::new(Verb::Get, place))
    }

    /// Every object of a list.
    pub(crate) fn list(
        &self,
        place: &ApiPlace,
        query: &[(&'static str, String)],
    ) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        let mut next = None;
        for _ in 0..PAGES_MAX {
            let mut call = Call::new(Verb::List, place.clone())
                .queries(query.to_vec())
                .query("limit", PAGE);
            if let Some(next) = next.take() {
                call = call.query("continue", next);
            }
            let mut page = self.client.json(&call)?;
            next = json::filled(&page, "/metadata/continue");
            match page.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => found.extend(items),
                // A list without items may be null.
                Some(Value::Null) => {}
                _ => {
                    return Err(Error::answer(format!(
                        "{} answered with no list of {}",
                        self.client.told(),
                        place.told()
                    )));
                }
            }
            if next.is_none() {
                return Ok(found);
            }
        }
        Err(Error::answer(format!(
            "{} has more than {} {}; narrow the selector",
            self.client.told(),
            found.len(),
            place.told()
        )))
    }

    /// The resource of a kind, according to the API.
    ///
    /// # Errors
    /// The cluster has no such kind.
    pub(crate) fn resource_of(&self, group_version: &str, kind: &str) -> Result<ResourceKind> {
        let kept = self.kinds_of(group_version)?;
        let found = kept.iter().find(|one| one.kind == kind).cloned();
        found.ok_or_else(|| {
            Error::user(format!(
                "{} has no kind {kind:?} in {group_version:?}; is its custom resource definition installed?",
                self.client.told()
            ))
        })
    }

    fn kinds_of(&self, group_version: &str) -> Result<Arc<[ResourceKind]>> {
        let lock = || self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kinds) = lock().get(group_version) {
            return Ok(Arc::clone(kinds));
        }
        let path = ApiPlace::of(group_version, "").path();
        let place = ApiPlace::path_only(path.trim_end_matches('/'));
        let value = match self.get(place) {
            Err(error) if error.is_not_found() => Value::Null,
            other => other?,
        };
        let resources = json::items(&value, "/resources").iter();
        // A part such as deployments/scale is not a separate kind.
        let whole = resources.filter(|one| !json::owned(one, "/name").contains('/'));
        let kinds: Arc<[ResourceKind]> = whole
            .map(|one| ResourceKind {
                kind: json::owned(one, "/kind"),
                resource: json::owned(one, "/name"),
                is_namespaced: json::is_true(one, "/namespaced"),
            })
            .collect();
        // Missing kinds are not cached: their definitions may be installed later.
        if !kinds.is_empty() {
            lock().insert(group_version.to_owned(), Arc::clone(&kinds));
        }
        Ok(kinds)
    }
}

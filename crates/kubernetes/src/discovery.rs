//! What runs in a cluster: pods, workloads, services, ingresses, nodes, tests.
//!
//! Must not know what is measured about them. Invariant: every call only reads.

use std::collections::BTreeMap;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use loadline_model::test_kind::TestKind;

use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::objects::{
    ClusterTest, Ingress, KnativeService, Node, Pod, Service, TestName, Workload, WorkloadName,
    place_of_tests,
};
use crate::place::ApiPlace;
use crate::selector::Selector;

impl Cluster {
    /// The selected pods of a namespace (empty: all), by name.
    ///
    /// # Errors
    /// The cluster does not respond, or does not allow it.
    pub fn pods(&self, namespace: &str, selector: &Selector) -> Result<Vec<Pod>> {
        let place = ApiPlace::of("v1", "pods").within(namespace);
        let found = self.list(&place, &selector.query())?;
        let mut pods: Vec<Pod> = found.iter().map(Pod::read).collect::<Result<_>>()?;
        pods.sort_by(|one, other| {
            (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
        });
        Ok(pods)
    }

    /// One pod.
    ///
    /// # Errors
    /// There is none, or the cluster does not respond.
    pub fn pod(&self, namespace: &str, name: &str) -> Result<Pod> {
        Pod::read(&self.get(ApiPlace::of("v1", "pods").within(namespace).named(name))?)
    }

    /// The binary content of a ConfigMap, by key.
    ///
    /// # Errors
    /// There is none, its content is not base64, or the cluster does not respond.
    pub fn config_map_bytes(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<BTreeMap<String, Vec<u8>>> {
        let place = ApiPlace::of("v1", "configmaps")
            .within(namespace)
            .named(name);
        let data = json::texts(&self.get(place)?, "/binaryData").into_iter();
        let decoded = data.map(|(key, text)| Ok((key, STANDARD.decode(text)?)));
        let decoded: std::result::Result<_, DecodeError> = decoded.collect();
        decoded.map_err(|error| Error::answer(format!("ConfigMap {name}: {error}")))
    }

    /// One workload.
    ///
    /// # Errors
    /// There is none, or the cluster does not respond.
    pub fn workload(&self, name: &WorkloadName) -> Result<Workload> {
        Workload::read(&self.get(workload_place(name))?, name.kind)
    }

    /// One service.
    ///
    /// # Errors
    /// There is none, or the cluster does not respond.
    pub fn service(&self, namespace: &str, name: &str) -> Result<Service> {
        Service::read(&self.get(ApiPlace::of("v1", "services").within(namespace).named(name))?)
    }

    /// One ingress.
    ///
    /// # Errors
    /// There is none, or the cluster does not respond.
    pub fn ingress(&self, namespace: &str, name: &str) -> Result<Ingress> {
        let place = ApiPlace::of("networking.k8s.io/v1", "ingresses");
        Ingress::read(&self.get(place.within(namespace).named(name))?)
    }

    /// One service of Knative Serving.
    ///
    /// # Errors
    /// There is none, Knative is not installed, or the cluster does not respond.
    pub fn knative_service(&self, namespace: &str, name: &str) -> Result<KnativeService> {
        let place = ApiPlace::of("serving.knative.dev/v1", "services");
        KnativeService::read(&self.get(place.within(namespace).named(name))?)
    }

    /// One test.
    ///
    /// # Errors
    /// There is none, its custom resource definition is not installed, or the cluster does not respond.
    pub fn test(&self, namespace: &str, test: &TestName) -> Result<ClusterTest> {
        let place = place_of_tests(test.kind)
            .within(namespace)
            .named(&test.name);
        ClusterTest::read(test.kind, &self.get(place)?)
    }

    /// The test with this name, of the first kind that has one.
    ///
    /// # Errors
    /// No kind has one, or the cluster does not respond or allow it.
    pub fn find_test(&self, namespace: &str, name: &str) -> Result<ClusterTest> {
        let mut missing = Vec::new();
        for kind in TestKind::ALL {
            let name = name.to_owned();
            match self.test(namespace, &TestName { kind, name }) {
                Err(error) if is_of_one_kind(&error) => missing.push(error),
                found => return found,
            }
        }
        // A kind that may not be read is more informative than one without objects.
        let tells = missing.iter().position(|error| !error.is_not_found());
        Err(missing.swap_remove(tells.unwrap_or(0)))
    }

    /// The tests of a namespace (empty: all), newest first, and errors for kinds that could not be listed.
    ///
    /// # Errors
    /// No custom resource definition is installed, or the cluster does not respond or allow it.
    pub fn tests(&self, namespace: &str) -> Result<(Vec<ClusterTest>, Vec<Error>)> {
        let mut tests = Vec::new();
        let mut missing = Vec::new();
        for kind in TestKind::ALL {
            match self.list(&place_of_tests(kind).within(namespace), &[]) {
                Ok(found) => {
                    for one in &found {
                        tests.push(ClusterTest::read(kind, one)?);
                    }
                }
                Err(error) if is_of_one_kind(&error) => missing.push(error),
                Err(error) => return Err(error),
            }
        }
        if missing.len() == TestKind::ALL.len() {
            return Err(missing.swap_remove(0));
        }
        missing.retain(|error| !error.is_not_found());
        tests.sort_by_key(|test| std::cmp::Reverse((test.made_unix_ns, test.name.clone())));
        Ok((tests, missing))
    }

    /// The selected nodes.
    ///
    /// # Errors
    /// The cluster does not respond, or does not allow it.
    pub fn nodes(&self, selector: &Selector) -> Result<Vec<Node>> {
        let found = self.list(&ApiPlace::of("v1", "nodes"), &selector.query())?;
        found.iter().map(Node::read).collect()
    }
}

/// Whether other kinds may be there all the same.
fn is_of_one_kind(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden)
}

pub(crate) fn workload_place(name: &WorkloadName) -> ApiPlace {
    ApiPlace::of("apps/v1", name.kind.resource())
        .within(&name.namespace)
        .named(&name.name)
}

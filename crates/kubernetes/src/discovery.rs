//! What runs in a cluster: pods, workloads, services, ingresses, nodes, events.
//!
//! Must not know what is measured of them. Invariant: every call reads and changes nothing.

use crate::cluster::Cluster;
use crate::error::Result;
use crate::events::{self, EventFeed};
use crate::objects::{
    Event, Ingress, KnativeService, Node, Pod, Service, Workload, WorkloadKind, WorkloadName,
};
use crate::place::Place;
use crate::selector::Selector;

impl Cluster {
    /// The pods of a namespace (empty: of all) that a selector means, by name.
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn pods(&self, namespace: &str, selector: &Selector) -> Result<Vec<Pod>> {
        let place = Place::of("v1", "pods").within(namespace);
        let (found, _) = self.list(&place, &selector.query())?;
        let mut pods: Vec<Pod> = found.iter().map(Pod::read).collect::<Result<_>>()?;
        pods.sort_by(|one, other| {
            (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
        });
        Ok(pods)
    }

    /// One pod.
    ///
    /// # Errors
    /// There is none, or the cluster does not answer.
    pub fn pod(&self, namespace: &str, name: &str) -> Result<Pod> {
        Pod::read(&self.get(Place::of("v1", "pods").within(namespace).named(name))?)
    }

    /// One workload.
    ///
    /// # Errors
    /// There is none, or the cluster does not answer.
    pub fn workload(&self, name: &WorkloadName) -> Result<Workload> {
        Workload::read(&self.get(workload_place(name))?, name.kind)
    }

    /// The workloads of a kind in a namespace (empty: in all).
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn workloads(
        &self,
        namespace: &str,
        kind: WorkloadKind,
        selector: &Selector,
    ) -> Result<Vec<Workload>> {
        let place = Place::of("apps/v1", kind.resource()).within(namespace);
        let (found, _) = self.list(&place, &selector.query())?;
        found
            .iter()
            .map(|value| Workload::read(value, kind))
            .collect()
    }

    /// One service.
    ///
    /// # Errors
    /// There is none, or the cluster does not answer.
    pub fn service(&self, namespace: &str, name: &str) -> Result<Service> {
        Service::read(&self.get(Place::of("v1", "services").within(namespace).named(name))?)
    }

    /// The services of a namespace (empty: of all).
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn services(&self, namespace: &str, selector: &Selector) -> Result<Vec<Service>> {
        let place = Place::of("v1", "services").within(namespace);
        let (found, _) = self.list(&place, &selector.query())?;
        found.iter().map(Service::read).collect()
    }

    /// One ingress.
    ///
    /// # Errors
    /// There is none, or the cluster does not answer.
    pub fn ingress(&self, namespace: &str, name: &str) -> Result<Ingress> {
        let place = Place::of("networking.k8s.io/v1", "ingresses");
        Ingress::read(&self.get(place.within(namespace).named(name))?)
    }

    /// The ingresses of a namespace (empty: of all).
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn ingresses(&self, namespace: &str, selector: &Selector) -> Result<Vec<Ingress>> {
        let place = Place::of("networking.k8s.io/v1", "ingresses").within(namespace);
        let (found, _) = self.list(&place, &selector.query())?;
        found.iter().map(Ingress::read).collect()
    }

    /// One service of Knative Serving.
    ///
    /// # Errors
    /// There is none, Knative is not installed, or the cluster does not answer.
    pub fn knative_service(&self, namespace: &str, name: &str) -> Result<KnativeService> {
        let place = Place::of("serving.knative.dev/v1", "services");
        KnativeService::read(&self.get(place.within(namespace).named(name))?)
    }

    /// The nodes that a selector means.
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn nodes(&self, selector: &Selector) -> Result<Vec<Node>> {
        let (found, _) = self.list(&Place::of("v1", "nodes"), &selector.query())?;
        found.iter().map(Node::read).collect()
    }

    /// The events that a namespace (empty: all) still keeps, usually those of the last hour, and the version of the list,
    /// from which [`Cluster::watch_events`] can go on.
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn events(&self, namespace: &str, selector: &Selector) -> Result<(Vec<Event>, String)> {
        let place = events::place(namespace);
        let (found, version) = self.list(&place, &selector.query())?;
        Ok((found.iter().map(Event::read).collect(), version))
    }

    /// The events of a namespace (empty: of all) from now on, read on a thread of its own.
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow it.
    pub fn watch_events(&self, namespace: &str, selector: &Selector) -> Result<EventFeed> {
        EventFeed::start(self.clone(), namespace, selector)
    }
}

pub(crate) fn workload_place(name: &WorkloadName) -> Place {
    Place::of("apps/v1", name.kind.resource())
        .within(&name.namespace)
        .named(&name.name)
}

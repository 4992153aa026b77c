//! The testbed as JSON and as metrics: its components, and the true counts.
//!
//! It must not know HTTP. Invariant: totals of a component are the sums over its replicas, and include
//! processes that have ended.

use super::slot::ReplicaSlot;
use super::{Component, Fleet};
use crate::metrics::{Family, Labels};
use crate::testbed::calendar;
use crate::testbed::plan::{ComponentKind, LogPlan};
use crate::testbed::tally::{CounterSlot as Counter, Totals};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// Counters by the names under which they are shown.
const NAMES: [(&str, Counter); 13] = [
    ("requests", Counter::Requests),
    ("scrapes", Counter::Scrapes),
    ("bytes_in", Counter::BytesIn),
    ("bytes_out", Counter::BytesOut),
    ("connections", Counter::Connections),
    ("acknowledged", Counter::Acknowledged),
    ("refused", Counter::Refused),
    ("resets", Counter::Resets),
    ("ooms", Counter::Ooms),
    ("cpu_burnt_ns", Counter::BurntNs),
    ("in_flight", Counter::InFlight),
    ("waiting", Counter::Waiting),
    ("backlog", Counter::Backlog),
];

impl Fleet {
    /// Every component with its replicas.
    pub(super) fn components_json(&self) -> Value {
        let components = self.components.iter().map(Component::json);
        json!({
            "pid": std::process::id(),
            "control": self.control.map(|address| url("http", address)),
            "components": components.collect::<Vec<_>>(),
        })
    }

    /// What was counted, by component.
    pub(super) fn truth_json(&self) -> Value {
        let components = self
            .components
            .iter()
            .map(|component| (component.plan.name.clone(), component.truth()));
        json!({ "components": components.collect::<Map<_, _>>() })
    }

    /// What was counted, for Prometheus.
    pub(super) fn families(&self) -> Vec<Family> {
        let counter = |name, help, slot: Counter| {
            Family::counter(
                name,
                help,
                self.by_replica(|place| place.totals().get(slot)),
            )
        };
        let gauge = |name, help, slot: Counter| {
            Family::gauge(
                name,
                help,
                self.by_replica(|place| place.totals().get(slot)),
            )
        };
        vec![
            counter(
                "testbed_requests_total",
                "Requests that arrived.",
                Counter::Requests,
            ),
            counter(
                "testbed_bytes_in_total",
                "Bytes from clients.",
                Counter::BytesIn,
            ),
            counter(
                "testbed_bytes_out_total",
                "Bytes to clients.",
                Counter::BytesOut,
            ),
            counter(
                "testbed_connections_total",
                "Connections.",
                Counter::Connections,
            ),
            counter(
                "testbed_acknowledged_total",
                "Messages done.",
                Counter::Acknowledged,
            ),
            counter(
                "testbed_refused_total",
                "Requests refused because the queue was full.",
                Counter::Refused,
            ),
            counter("testbed_ooms_total", "OOM kills.", Counter::Ooms),
            gauge(
                "testbed_in_flight",
                "Requests in progress.",
                Counter::InFlight,
            ),
            gauge("testbed_backlog", "Messages that wait.", Counter::Backlog),
            Family::counter(
                "testbed_restarts_total",
                "Processes started again.",
                self.by_replica(|place| place.restarts),
            ),
            Family::gauge(
                "testbed_ready",
                "Whether the replica answers.",
                self.by_replica(|place| u64::from(place.state() == "ready")),
            ),
        ]
    }

    fn by_replica(&self, value: impl Fn(&ReplicaSlot) -> u64) -> Vec<(Labels, f64)> {
        let value = &value;
        let component = |component: &'_ Component| {
            let name = component.plan.name.clone();
            let slots = component.slots.iter().enumerate();
            let series = slots.map(move |(replica, slot)| {
                let labels = vec![
                    ("component", name.clone()),
                    ("replica", replica.to_string()),
                ];
                (labels, value(slot) as f64)
            });
            series.collect::<Vec<_>>()
        };
        self.components.iter().flat_map(component).collect()
    }
}

impl Component {
    fn json(&self) -> Value {
        let addresses = self
            .slots
            .iter()
            .find_map(|slot| slot.live.as_ref()?.addresses);
        let replicas = self.slots.iter().enumerate();
        let replicas = replicas.map(|(replica, slot)| slot_json(replica, slot));
        json!({
            "name": self.plan.name,
            "kind": self.plan.kind.word(),
            "sends_to": self.plan.kind.sends_to(),
            "url": addresses.map(|(plain, _)| url("http", plain)),
            "https": addresses.and_then(|(_, https)| https).map(|https| url("https", https)),
            "log": self.log().map(|log| log.file.display().to_string()),
            "wanted": self.wanted,
            "ready": self.ready_count(),
            "replicas": replicas.collect::<Vec<_>>(),
        })
    }

    fn log(&self) -> Option<&LogPlan> {
        match &self.plan.kind {
            ComponentKind::Service(plan) => plan.log.as_ref(),
            ComponentKind::Queue(plan) => plan.log.as_ref(),
            _ => None,
        }
    }

    /// Replicas that answer.
    fn ready_count(&self) -> usize {
        let ready = self.slots.iter().filter(|slot| slot.state() == "ready");
        ready.count()
    }

    fn truth(&self) -> Value {
        let mut all = Totals::default();
        let mut replicas = Vec::new();
        for (replica, slot) in self.slots.iter().enumerate() {
            let totals = slot.totals();
            all.add(&totals);
            let mut shown = counters(&totals);
            shown.insert("replica".to_owned(), json!(replica));
            shown.insert("restarts".to_owned(), json!(slot.restarts));
            replicas.push(Value::Object(shown));
        }
        let mut shown = counters(&all);
        let restarts: u64 = self.slots.iter().map(|slot| slot.restarts).sum();
        shown.insert("kind".to_owned(), json!(self.plan.kind.word()));
        shown.insert("restarts".to_owned(), json!(restarts));
        shown.insert("wanted".to_owned(), json!(self.wanted));
        shown.insert("ready".to_owned(), json!(self.ready_count()));
        shown.insert("replicas".to_owned(), Value::Array(replicas));
        Value::Object(shown)
    }
}

fn slot_json(replica: usize, slot: &ReplicaSlot) -> Value {
    let live = slot.live.as_ref();
    let addresses = live.and_then(|live| live.addresses);
    json!({
        "replica": replica,
        "state": slot.state(),
        "pid": live.map(|live| live.process.id),
        "port": addresses.map(|(plain, _)| plain.port()),
        "url": addresses.map(|(plain, _)| url("http", plain)),
        "https": addresses.and_then(|(_, https)| https).map(|https| url("https", https)),
        "since": live.map(|live| calendar::rfc3339(live.since)),
        "restarts": slot.restarts,
        "last_end": slot.last_end,
        "factor": slot.factor,
        "counters": counters(&slot.totals()),
    })
}

fn counters(totals: &Totals) -> Map<String, Value> {
    let plain = NAMES.map(|(name, slot)| (name.to_owned(), json!(totals.get(slot))));
    let mut shown: Map<String, Value> = plain.into_iter().collect();
    let statuses = totals.statuses();
    let answered: Map<String, Value> = statuses
        .map(|(code, n)| (code.to_string(), json!(n)))
        .collect();
    shown.insert("answered".to_owned(), Value::Object(answered));
    shown
}

fn url(scheme: &str, address: SocketAddr) -> String {
    format!("{scheme}://{address}/")
}

//! Tests how a cluster's responses are interpreted, with a fake cluster.
//!
//! Must not know the API. Invariant: the cluster responds as the test set it up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use loadline_kubernetes::objects::Termination;
use loadline_kubernetes::{Container, ContainerUsage, Phase, UsageSource};
use loadline_model::observation::{EVICTION_NOTE, OOM_NOTE, RESTART_NOTE, TOTAL_COMPONENT};

use super::*;
use crate::clock::tests::TestClock;
use crate::readings::Readings;
use crate::sources::Tick;

#[derive(Clone, Default)]
struct MadeUp(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    pods: Vec<Pod>,
    usage: Vec<PodUsage>,
}

impl Fleet for MadeUp {
    fn pods(&self) -> Result<Vec<Pod>, Gap> {
        Ok(self.0.lock().unwrap().pods.clone())
    }

    fn pod_usage(&self) -> Result<Usage<PodUsage>, Gap> {
        Ok(Usage {
            source: UsageSource::MetricsApi,
            items: self.0.lock().unwrap().usage.clone(),
            troubles: Vec::new(),
        })
    }

    fn nodes(&self) -> Result<Vec<Node>, Gap> {
        Ok(Vec::new())
    }

    fn node_usage(&self) -> Result<Usage<NodeUsage>, Gap> {
        Err(Gap::new("there is no source"))
    }

    fn workload(&self) -> Result<Workload, Gap> {
        Err(Gap::new("there is no workload"))
    }
}

fn container(name: &str, restarts: u32, last_end: Option<&str>) -> Container {
    let end = |reason: &str| Termination {
        reason: reason.to_owned(),
        exit_code: 137,
        at_unix_ns: None,
    };
    Container {
        name: name.to_owned(),
        image: "i".to_owned(),
        cpu_request: Some(Quantity::from_nano(250_000_000)),
        cpu_limit: Some(Quantity::from_nano(500_000_000)),
        memory_request: None,
        memory_limit: Some(Quantity::from_nano(1_000_000_000_000)),
        ports: Vec::new(),
        is_ready: true,
        is_running: true,
        started_unix_ns: None,
        restarts,
        waiting: None,
        last_end: last_end.map(end),
    }
}

fn pod(name: &str, containers: Vec<Container>) -> Pod {
    Pod {
        namespace: "n".to_owned(),
        name: name.to_owned(),
        uid: format!("uid-{name}"),
        labels: BTreeMap::new(),
        phase: Phase::Running,
        node: None,
        ip: None,
        is_ready: true,
        is_ending: false,
        reason: None,
        message: None,
        owner: None,
        started_unix_ns: None,
        containers,
    }
}

fn usage(name: &str, at_unix_ns: u64, cores: &[f64]) -> PodUsage {
    let containers = cores
        .iter()
        .enumerate()
        .map(|(index, cores)| ContainerUsage {
            name: format!("c{index}"),
            cpu_cores: Some(*cores),
            memory_bytes: Some(250),
        });
    PodUsage {
        namespace: "n".to_owned(),
        name: name.to_owned(),
        at_unix_ns: Some(at_unix_ns),
        window: None,
        containers: containers.collect(),
    }
}

fn look(source: &mut dyn Source) -> (Readings, Result<(), Gap>) {
    let clock = TestClock::default();
    let tick = Tick {
        clock: &clock,
        load_ended_unix_ns: None,
    };
    let mut readings = Readings::new(&Arc::from("pods"), 77);
    let result = source.read(&tick, &mut readings);
    (readings, result)
}

#[test]
fn pods_containers_and_their_total_are_read_with_shares() {
    let cluster = MadeUp::default();
    let two = vec![container("c0", 0, None), container("c1", 0, None)];
    cluster.0.lock().unwrap().pods = vec![pod("a", two), pod("b", vec![container("c0", 0, None)])];
    cluster.0.lock().unwrap().usage = vec![usage("a", 5, &[0.25, 0.5]), usage("b", 6, &[0.125])];
    let mut source = pod::PodSource::new(Box::new(cluster.clone()), true);
    let (first, result) = look(&mut source);
    assert_eq!(result, Ok(()));
    let value = |component: &str, metric| first.value(component, metric);
    assert_eq!(value("a", "cpu_cores"), Some(0.75));
    assert_eq!(value("a", "cpu_limit_cores"), Some(1.0));
    assert_eq!(value("a", "cpu_of_limit_ratio"), Some(0.75));
    assert_eq!(value("a", "cpu_of_request_ratio"), Some(1.5));
    assert_eq!(value("a", "memory_of_limit_ratio"), Some(0.25));
    assert_eq!(value("a", "memory_of_request_ratio"), None);
    assert_eq!(value("a/c1", "cpu_cores"), Some(0.5));
    assert_eq!(value("b/c0", "cpu_cores"), None);
    assert_eq!(value(TOTAL_COMPONENT, "cpu_cores"), Some(0.875));
    assert_eq!(value(TOTAL_COMPONENT, "replicas"), Some(2.0));
    // The same measurement is not handed on again.
    let (second, _) = look(&mut source);
    assert_eq!(second.value("a", "cpu_cores"), None);
    assert_eq!(second.value(TOTAL_COMPONENT, "cpu_cores"), None);
    assert_eq!(second.value("a", "restarts"), Some(0.0));
    cluster.0.lock().unwrap().usage = vec![usage("a", 9, &[0.5, 0.5]), usage("b", 6, &[0.125])];
    let (third, _) = look(&mut source);
    assert_eq!(third.value("a", "cpu_cores"), Some(1.0));
    assert_eq!(third.value("b", "cpu_cores"), None);
    assert_eq!(third.value(TOTAL_COMPONENT, "cpu_cores"), Some(1.125));
}

#[test]
fn restarts_kills_and_evictions_are_told_once() {
    let cluster = MadeUp::default();
    cluster.0.lock().unwrap().pods = vec![pod("a", vec![container("c0", 3, None)])];
    let mut source = pod::PodSource::new(Box::new(cluster.clone()), true);
    let (first, _) = look(&mut source);
    assert_eq!(first.value("a", "restarts"), Some(0.0));
    let mut away = pod("b", vec![container("c0", 0, None)]);
    away.phase = Phase::Failed;
    away.reason = Some("Evicted".to_owned());
    let killed = pod("a", vec![container("c0", 4, Some("OOMKilled"))]);
    cluster.0.lock().unwrap().pods = vec![killed, away];
    let (second, _) = look(&mut source);
    assert_eq!(second.value("a", "restarts"), Some(1.0));
    assert_eq!(second.value("a", "oom_kills"), Some(1.0));
    for note in [RESTART_NOTE, OOM_NOTE, EVICTION_NOTE] {
        assert_eq!(second.remarks(note).len(), 1, "{note}");
    }
    let (third, _) = look(&mut source);
    for note in [RESTART_NOTE, OOM_NOTE, EVICTION_NOTE] {
        assert!(third.remarks(note).is_empty(), "{note}");
    }
    assert_eq!(third.value(TOTAL_COMPONENT, "pods"), Some(1.0));
}

#[test]
fn what_cannot_be_asked_is_a_gap() {
    let mut nodes = nodes::NodeSource::new(Box::new(MadeUp::default()));
    assert_eq!(look(&mut nodes).1, Err(Gap::new("there is no source")));
    let mut replicas = nodes::ReplicaSource::new(Box::new(MadeUp::default()));
    assert_eq!(look(&mut replicas).1, Err(Gap::new("there is no workload")));
}

//! `pod`: selected pods, their containers, and their total.
//!
//! Must not know how a cluster is queried. Invariant: restarts, OOM kills and evictions are reported once each.

use std::collections::{HashMap, HashSet};

use loadline_kubernetes::{ContainerUsage, Phase, Pod, PodUsage};
use loadline_model::observation::{EVICTION_NOTE, OOM_NOTE, RESTART_NOTE, TOTAL_COMPONENT};

use super::{Fleet, amount, sum};
use crate::readings::{Gap, Readings};
use crate::sources::{Source, Tick};

/// Ended pods that are remembered, so that nothing is reported twice.
const REMEMBERED_MAX: usize = 2_000;

/// Reads pods.
pub(super) struct PodSource {
    fleet: Box<dyn Fleet>,
    with_containers: bool,
    /// When each pod was measured last, in nanoseconds since 1970.
    measured: HashMap<String, u64>,
    /// Restarts of each container when first seen, and at the last read.
    restarts: HashMap<String, (u32, u32)>,
    oom_kills: HashMap<String, u32>,
    evicted: HashSet<String>,
    is_first: bool,
}

/// Limits of a container or a pod.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    cpu_request: Option<f64>,
    cpu_limit: Option<f64>,
    memory_request: Option<f64>,
    memory_limit: Option<f64>,
}

impl PodSource {
    pub(super) fn new(fleet: Box<dyn Fleet>, with_containers: bool) -> PodSource {
        PodSource {
            fleet,
            with_containers,
            measured: HashMap::new(),
            restarts: HashMap::new(),
            oom_kills: HashMap::new(),
            evicted: HashSet::new(),
            is_first: true,
        }
    }

    /// Whether a measurement is new. One without a time always is.
    fn is_newer(&mut self, usage: &PodUsage) -> bool {
        let Some(at) = usage.at_unix_ns else {
            return true;
        };
        self.measured.insert(usage.name.clone(), at) != Some(at)
    }

    fn tell_events(&mut self, pod: &Pod, readings: &mut Readings) {
        if pod.is_evicted()
            && self.evicted.len() < REMEMBERED_MAX
            && self.evicted.insert(pod.uid.clone())
            && !self.is_first
        {
            let why = pod.message.as_deref().unwrap_or("its node needed room");
            readings.remark(&pod.name, EVICTION_NOTE, format!("it was evicted: {why}"));
        }
        if self.restarts.len() > REMEMBERED_MAX {
            self.restarts.clear();
        }
        for container in &pod.containers {
            let key = format!("{}/{}", pod.uid, container.name);
            // A pod that appeared during the run started without restarts.
            let first = if self.is_first { container.restarts } else { 0 };
            let (_, known) = self.restarts.entry(key).or_insert((first, first));
            let anew = container.restarts.saturating_sub(*known);
            *known = container.restarts;
            if anew == 0 {
                continue;
            }
            let end = container.last_end.as_ref();
            let why = end.map_or("unknown", |end| end.reason.as_str());
            let text = format!("container {} restarted ({anew}×): {why}", container.name);
            readings.remark(&pod.name, RESTART_NOTE, text);
            if end.is_some_and(|end| end.is_oom()) {
                *self.oom_kills.entry(pod.uid.clone()).or_default() += anew;
                let text = format!("container {} was OOM-killed", container.name);
                readings.remark(&pod.name, OOM_NOTE, text);
            }
        }
    }

    /// Restarts of a pod since the first read.
    fn restarts_of(&self, pod: &Pod) -> u32 {
        let keys = pod
            .containers
            .iter()
            .map(|container| format!("{}/{}", pod.uid, container.name));
        let known = keys.filter_map(|key| self.restarts.get(&key));
        known.map(|(first, now)| now.saturating_sub(*first)).sum()
    }

    /// The total of all pods. While a serving pod has not been measured yet, the total is unknown, not zero.
    fn tell_total(&self, pods: &[(&Pod, Option<&PodUsage>)], readings: &mut Readings) {
        let bounds = Bounds::sum(pods.iter().map(|(pod, _)| Bounds::of_pod(pod)));
        if !pods.is_empty() {
            bounds.tell(TOTAL_COMPONENT, readings);
        }
        let is_missing = |(pod, used): &(&Pod, Option<&PodUsage>)| used.is_none() && serves(pod);
        let known = pods.iter().filter_map(|(_, used)| *used);
        let is_new = known.clone().any(|used| {
            used.at_unix_ns.is_none() || self.measured.get(&used.name).copied() != used.at_unix_ns
        });
        if !is_new || pods.iter().any(is_missing) {
            return;
        }
        let cores = sum(known.clone().map(PodUsage::cpu_cores));
        let bytes = sum(known.map(|used| used.memory_bytes().map(|bytes| bytes as f64)));
        bounds.tell_use(TOTAL_COMPONENT, None, cores, bytes, readings);
    }

    fn tell_pod(&mut self, pod: &Pod, usage: Option<&PodUsage>, readings: &mut Readings) {
        readings.put(&pod.name, "restarts", f64::from(self.restarts_of(pod)));
        let kills = self.oom_kills.get(&pod.uid).copied().unwrap_or_default();
        readings.put(&pod.name, "oom_kills", f64::from(kills));
        let bounds = Bounds::of_pod(pod);
        bounds.tell(&pod.name, readings);
        let Some(usage) = usage.filter(|usage| self.is_newer(usage)) else {
            return;
        };
        let bytes = usage.memory_bytes().map(|bytes| bytes as f64);
        bounds.tell_use(
            &pod.name,
            usage.at_unix_ns,
            usage.cpu_cores(),
            bytes,
            readings,
        );
        if !self.with_containers || usage.containers.len() < 2 {
            return;
        }
        for container in &usage.containers {
            tell_container(pod, container, usage.at_unix_ns, readings);
        }
    }
}

/// Whether a pod is one of the serving replicas.
fn serves(pod: &Pod) -> bool {
    pod.is_ready && !pod.is_ending
}

fn tell_container(
    pod: &Pod,
    usage: &ContainerUsage,
    at_unix_ns: Option<u64>,
    readings: &mut Readings,
) {
    let component = format!("{}/{}", pod.name, usage.name);
    let bounds = pod.container(&usage.name).map(Bounds::of_container);
    let bounds = bounds.unwrap_or_default();
    bounds.tell(&component, readings);
    let bytes = usage.memory_bytes.map(|bytes| bytes as f64);
    bounds.tell_use(&component, at_unix_ns, usage.cpu_cores, bytes, readings);
}

impl Bounds {
    fn of_container(container: &loadline_kubernetes::Container) -> Bounds {
        Bounds {
            cpu_request: amount(container.cpu_request),
            cpu_limit: amount(container.cpu_limit),
            memory_request: amount(container.memory_request),
            memory_limit: amount(container.memory_limit),
        }
    }

    fn of_pod(pod: &Pod) -> Bounds {
        Bounds::sum(pod.containers.iter().map(Bounds::of_container))
    }

    /// Combined limits; if one part has no limit, the whole has none.
    fn sum(parts: impl Iterator<Item = Bounds>) -> Bounds {
        let all: Vec<Bounds> = parts.collect();
        let of = |bound: fn(&Bounds) -> Option<f64>| sum(all.iter().map(bound));
        Bounds {
            cpu_request: of(|bounds| bounds.cpu_request),
            cpu_limit: of(|bounds| bounds.cpu_limit),
            memory_request: of(|bounds| bounds.memory_request),
            memory_limit: of(|bounds| bounds.memory_limit),
        }
    }

    fn tell(&self, component: &str, readings: &mut Readings) {
        for (metric, bound) in [
            ("cpu_request_cores", self.cpu_request),
            ("cpu_limit_cores", self.cpu_limit),
            ("memory_request_bytes", self.memory_request),
            ("memory_limit_bytes", self.memory_limit),
        ] {
            if let Some(bound) = bound {
                readings.put(component, metric, bound);
            }
        }
    }

    /// Reports usage, absolute and relative to the limits.
    fn tell_use(
        &self,
        component: &str,
        at_unix_ns: Option<u64>,
        cores: Option<f64>,
        bytes: Option<f64>,
        readings: &mut Readings,
    ) {
        let share = |used: Option<f64>, bound: Option<f64>| {
            let bound = bound.filter(|bound| *bound > 0.0)?;
            Some(used? / bound)
        };
        for (metric, value) in [
            ("cpu_cores", cores),
            ("cpu_of_request_ratio", share(cores, self.cpu_request)),
            ("cpu_of_limit_ratio", share(cores, self.cpu_limit)),
            ("memory_bytes", bytes),
            ("memory_of_request_ratio", share(bytes, self.memory_request)),
            ("memory_of_limit_ratio", share(bytes, self.memory_limit)),
        ] {
            match (value, at_unix_ns) {
                (Some(value), Some(at)) => readings.put_at(at, component, metric, value),
                (Some(value), None) => readings.put(component, metric, value),
                (None, _) => {}
            }
        }
    }
}

impl Source for PodSource {
    fn read(&mut self, _: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let pods = self.fleet.pods()?;
        for pod in &pods {
            self.tell_events(pod, readings);
        }
        self.is_first = false;
        let alive: Vec<&Pod> = pods
            .iter()
            .filter(|pod| !matches!(pod.phase, Phase::Succeeded | Phase::Failed))
            .collect();
        let ready = alive.iter().filter(|pod| serves(pod)).count();
        readings.put(TOTAL_COMPONENT, "replicas", ready as f64);
        readings.put(TOTAL_COMPONENT, "pods", alive.len() as f64);
        let usage = self.fleet.pod_usage();
        let known = usage
            .as_ref()
            .map(|usage| usage.items.as_slice())
            .unwrap_or_default();
        let used = |pod: &&Pod| {
            let mut known = known.iter();
            known.find(|usage| usage.name == pod.name && usage.namespace == pod.namespace)
        };
        let pairs: Vec<(&Pod, Option<&PodUsage>)> =
            alive.iter().map(|pod| (*pod, used(pod))).collect();
        self.tell_total(&pairs, readings);
        for (pod, used) in pairs {
            self.tell_pod(pod, used, readings);
        }
        let usage = usage?;
        for trouble in &usage.troubles {
            readings.missing(&readings.observer(), trouble.clone());
        }
        Ok(())
    }
}

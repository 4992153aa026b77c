//! The pod settings of a `TestRun`: fields of k6-operator's runner, starter and initializer become those of the
//! agents' and the coordinator's pods.
//!
//! Fields are copied unchanged, including unknown ones. Must not know what the operator adds. Invariant: each
//! field of the table in docs/kubernetes-distributed.md is here.

use serde_json::{Map, Value, json};

use crate::fields::{Fields, is_true};
use crate::test::{
    COORDINATOR_REQUESTS, DECIDED, PodTemplate, Refusal, ScriptImage, folder, invalid,
};

use super::quantity;

/// Fields of a pod that belong to the container.
const OF_CONTAINER: &[&str] = &["imagePullPolicy", "lifecycle", "resources"];
/// Probes of a container.
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
/// Fields of the agents' pods that would restrict where the coordinator runs.
const OF_AGENTS: &[&str] = &[
    "dnsPolicy",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "topologySpreadConstraints",
];
/// Fields that are handled one by one.
const LOOKED_AT: &[&str] = &[
    "affinity",
    "automountServiceAccountToken",
    "containerSecurityContext",
    "disabled",
    "env",
    "envFrom",
    "image",
    "initContainers",
    "livenessProbe",
    "metadata",
    "readinessProbe",
    "securityContext",
    "startupProbe",
    "volumeMounts",
    "volumes",
];

/// Fields of a pod as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PodFields(Map<String, Value>);

/// Settings for all pods.
pub(super) struct Pods {
    /// Fields of the agents' pods.
    pub(super) runner: PodFields,
    /// Fields of the pod that started the test.
    pub(super) starter: PodFields,
    /// Fields of the pod that read the script.
    pub(super) initializer: PodFields,
    /// Ports that agents declare.
    pub(super) ports: Vec<Value>,
    /// Whether the runner's image has loadline in it.
    pub(super) keeps_image: bool,
}

impl PodFields {
    pub(super) fn read(spec: &Fields<'_>, name: &str) -> Result<PodFields, Refusal> {
        let fields = spec.object(name)?.cloned().unwrap_or_default();
        let mut decided = DECIDED.iter().chain(&["containers"]);
        if let Some(decided) = decided.find(|field| fields.contains_key(**field)) {
            return Err(invalid(format!(
                "spec.{name}.{decided}: the operator sets this"
            )));
        }
        Ok(PodFields(fields))
    }

    /// A field that has a value.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that is not empty.
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    /// Its init containers, with what k6-operator adds to them: a name, and when images are pulled. They may do as little as ours, unless
    /// the user says what containers may do.
    fn init_containers(&self) -> Vec<Value> {
        let with_defaults = |(index, container): (usize, &Value)| {
            let mut container = container.clone();
            let Some(fields) = container.as_object_mut() else {
                return container;
            };
            fields.retain(|_, value| !value.is_null());
            let name = format!("k6-init-{index}");
            let is_named = fields.get("name").is_some_and(|name| name != "");
            if !is_named {
                fields.insert("name".into(), json!(name));
            }
            if let Some(policy) = self.get("imagePullPolicy") {
                fields
                    .entry("imagePullPolicy")
                    .or_insert_with(|| policy.clone());
            }
            let own =
                || json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
            fields.entry("securityContext").or_insert_with(|| {
                let users = self.get("containerSecurityContext").cloned();
                users.unwrap_or_else(own)
            });
            container
        };
        let all = self.list("initContainers").iter().enumerate();
        all.map(with_defaults).collect()
    }

    /// The elements of a list; none where it is absent.
    fn list(&self, name: &str) -> &[Value] {
        let list = self.get(name).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }
}

impl Pods {
    /// An agent's pod.
    pub(super) fn agent(&self) -> PodTemplate {
        let fields = &self.runner;
        let mut pod = self.shared(&[fields]);
        let mut put = |name: &str, list: &[Value]| {
            pod.container.insert(name.to_owned(), json!(list));
        };
        put("env", fields.list("env"));
        put("envFrom", fields.list("envFrom"));
        if !self.ports.is_empty() {
            put("ports", &self.ports);
        }
        for probe in PROBES {
            // Other probes connect to a port, and agents listen on none.
            if let Some(value) = fields.get(probe).filter(|probe| probe["exec"].is_object()) {
                pod.container.insert(probe.into(), value.clone());
            }
        }
        if let Some(affinity) = fields.get("affinity") {
            pod.spec.insert("affinity".into(), affinity.clone());
        }
        pod.spec
            .insert("initContainers".into(), json!(fields.init_containers()));
        pod
    }

    /// The coordinator's pod: settings of the initializer, then the starter, then the runner.
    pub(super) fn coordinator(&self) -> PodTemplate {
        let all = [&self.initializer, &self.starter, &self.runner];
        let mut pod = self.shared(&all);
        let env = [&self.runner, &self.starter, &self.initializer]
            .map(|fields| fields.list("env").to_vec())
            .concat();
        pod.container.insert("env".into(), json!(env));
        let sources = all.map(|fields| fields.list("envFrom").to_vec()).concat();
        pod.container.insert("envFrom".into(), json!(sources));
        pod.container
            .insert("resources".into(), self.coordinator_resources());
        // It runs as long as its agents, and beside those that keep apart there may be no room for one more: where it runs is taken
        // from the user, not with whom.
        let nodes = |fields: &&PodFields| {
            let nodes = &fields.get("affinity")?["nodeAffinity"];
            nodes.is_object().then(|| nodes.clone())
        };
        if let Some(nodes) = all.iter().find_map(nodes) {
            pod.spec
                .insert("affinity".into(), json!({"nodeAffinity": nodes}));
        }
        let own = of_metadata(&all[..2], "labels");
        let apart = self.labels_that_spread();
        pod.labels
            .retain(|name, _| own.contains_key(name) || !apart.contains(&name.as_str()));
        let before = all
            .iter()
            .find(|fields| !fields.list("initContainers").is_empty());
        let before = before.map_or_else(Vec::new, |fields| fields.init_containers());
        pod.spec.insert("initContainers".into(), json!(before));
        pod
    }

    /// Labels by which the user keeps agents apart: a coordinator that had them would take a place among them.
    fn labels_that_spread(&self) -> Vec<&str> {
        let constraints = self.runner.list("topologySpreadConstraints").iter();
        let affinity = self.runner.get("affinity");
        let terms = affinity.map_or(&Value::Null, |of| &of["podAntiAffinity"]);
        let list = |name: &str| terms[name].as_array().into_iter().flatten();
        let required = list("requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = list("preferredDuringSchedulingIgnoredDuringExecution");
        let all = constraints
            .chain(required)
            .chain(preferred.map(|one| &one["podAffinityTerm"]));
        let names = all.flat_map(|one| {
            let selector = &one["labelSelector"];
            let exact = selector["matchLabels"].as_object().into_iter();
            let exact = exact.flat_map(|labels| labels.keys().map(String::as_str));
            let others = selector["matchExpressions"].as_array().into_iter();
            let others = others.flatten().filter_map(|one| one["key"].as_str());
            exact.chain(others)
        });
        names.collect()
    }

    /// Those of the initializer. Without them little is asked for; the limits are those of the runner, for a quota may want some.
    fn coordinator_resources(&self) -> Value {
        if let Some(resources) = self.initializer.get("resources") {
            return resources.clone();
        }
        let limits = self.runner.get("resources").map(|of| &of["limits"]);
        let limits = limits.filter(|of| of.is_object());
        let mut resources = json!({});
        for (name, usual) in COORDINATOR_REQUESTS {
            let limit = limits.map(|of| &of[name]);
            let least = limit.filter(|limit| quantity::is_below(limit, usual));
            resources["requests"][name] = least.cloned().unwrap_or_else(|| json!(usual));
            if let Some(limit) = limit.filter(|limit| !limit.is_null()) {
                resources["limits"][name] = limit.clone();
            }
        }
        resources
    }

    /// The image that a script in an image is copied from; `None`: it is in the one that runs, or on a volume that the user mounts there.
    pub(super) fn script_image(&self, path: &str) -> Option<ScriptImage> {
        let all = [&self.initializer, &self.starter, &self.runner];
        let mut mounts = all.iter().flat_map(|fields| fields.list("volumeMounts"));
        let place = format!("{}/", folder(path));
        let is_mounted = mounts.any(|mount| {
            let at = mount["mountPath"].as_str().unwrap_or_default();
            let within = format!("{}/", at.trim_end_matches('/'));
            at == path || (within.len() > 1 && place.starts_with(&within))
        });
        let from = [&self.initializer, &self.runner]
            .into_iter()
            .find(|fields| fields.text("image").is_some())?;
        (!self.keeps_image && !is_mounted).then(|| ScriptImage {
            image: from.text("image").unwrap_or_default().to_owned(),
            pull_policy: from.text("imagePullPolicy").map(str::to_owned),
        })
    }

    /// Fields that have no effect, each with the reason.
    pub(super) fn ignored(&self) -> Vec<String> {
        let mut ignored = Vec::new();
        let mut ignore = |pod: &str, field: &str, why: &str| {
            ignored.push(format!("spec.{pod}.{field}: {why}"));
        };
        let ours = "the operator's image runs (loadline.io/image: keep runs the runner's)";
        let pods = [
            ("runner", &self.runner),
            ("starter", &self.starter),
            ("initializer", &self.initializer),
        ];
        for (name, fields) in pods {
            let is_run = self.keeps_image && name == "runner";
            if fields.text("image").is_some() && !is_run {
                ignore(name, "image", ours);
            }
        }
        for probe in PROBES {
            let of_port = self.runner.get(probe).filter(|of| !of["exec"].is_object());
            if of_port.is_some() {
                ignore("runner", probe, "agents listen on no port");
            }
        }
        if self.starter.get("resources").is_some() {
            ignore("starter", "resources", "there is no starter");
        }
        if self.initializer.get("disabled") == Some(&Value::Bool(true)) {
            ignore("initializer", "disabled", "there is no initializer");
        }
        let others = ["podAffinity", "podAntiAffinity"];
        for (name, fields) in &pods[1..] {
            let affinity = fields.get("affinity");
            for field in others {
                if affinity.is_some_and(|of| of[field].is_object()) {
                    let why = "the coordinator runs as long as its agents, on any node beside them";
                    ignore(name, &format!("affinity.{field}"), why);
                }
            }
        }
        ignored
    }

    /// The parts common to coordinator and agents.
    fn shared(&self, all: &[&PodFields]) -> PodTemplate {
        let mut pod = PodTemplate {
            labels: of_metadata(all, "labels"),
            annotations: of_metadata(all, "annotations"),
            ..PodTemplate::default()
        };
        for fields in all {
            for (name, value) in fields.0.iter().filter(|(_, value)| !value.is_null()) {
                if LOOKED_AT.contains(&name.as_str()) {
                    continue;
                }
                let is_runners = std::ptr::eq(*fields, &raw const self.runner);
                let is_containers = OF_CONTAINER.contains(&name.as_str());
                let is_agents = all.len() > 1 && OF_AGENTS.contains(&name.as_str());
                // Settings for the container of another image do not fit ours.
                if (is_runners && is_agents) || (!is_runners && is_containers) {
                    continue;
                }
                // It speaks of an image that is on the nodes; nobody said so of ours.
                if name == "imagePullPolicy" && value == "Never" && !self.keeps_image {
                    continue;
                }
                let place = match is_containers {
                    true => &mut pod.container,
                    false => &mut pod.spec,
                };
                place.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        if let Some(image) = self.runner.text("image").filter(|_| self.keeps_image) {
            pod.container.insert("image".into(), json!(image));
        }
        secure(&mut pod, all);
        for (place, name, key) in [
            (&mut pod.spec, "volumes", "name"),
            (&mut pod.container, "volumeMounts", "mountPath"),
        ] {
            let mut joined = Vec::new();
            for fields in all {
                join(&mut joined, fields.list(name), key);
            }
            place.insert(name.into(), json!(joined));
        }
        pod
    }
}

/// The user's security context.
fn secure(pod: &mut PodTemplate, all: &[&PodFields]) {
    if let Some(of_pod) = first(all, "securityContext") {
        pod.spec.insert("securityContext".into(), of_pod.clone());
    }
    if let Some(of_container) = first(all, "containerSecurityContext") {
        pod.container
            .insert("securityContext".into(), of_container.clone());
    }
    let mounted = first(all, "automountServiceAccountToken").and_then(|value| {
        let text = value.as_str().map(is_true);
        value.as_bool().or(text)
    });
    if let Some(mounted) = mounted {
        pod.spec
            .insert("automountServiceAccountToken".into(), json!(mounted));
    }
}

/// Adds to the user's affinity that no two pods of these labels share a node.
pub(super) fn keep_apart(pod: &mut PodTemplate, labels: &Value) {
    let apart = json!({
        "labelSelector": {"matchLabels": labels},
        "topologyKey": "kubernetes.io/hostname",
    });
    let users = pod.spec.remove("affinity").filter(Value::is_object);
    let mut affinity = users.unwrap_or_else(|| json!({}));
    let anti = &mut affinity["podAntiAffinity"];
    if !anti.is_object() {
        *anti = json!({});
    }
    let terms = &mut anti["requiredDuringSchedulingIgnoredDuringExecution"];
    match terms.as_array_mut() {
        Some(terms) => terms.push(apart),
        None => *terms = json!([apart]),
    }
    pod.spec.insert("affinity".into(), affinity);
}

/// The first of several pods with this setting.
fn first<'a>(all: &[&'a PodFields], name: &str) -> Option<&'a Value> {
    all.iter().find_map(|fields| fields.get(name))
}

/// Labels or annotations; those of the first override those of the others.
fn of_metadata(all: &[&PodFields], name: &str) -> Map<String, Value> {
    let mut merged = Map::new();
    for fields in all.iter().rev() {
        let said = fields
            .get("metadata")
            .and_then(|said| said[name].as_object());
        merged.extend(said.cloned().unwrap_or_default());
    }
    merged
}

/// Adds missing entries.
fn join(all: &mut Vec<Value>, more: &[Value], key: &str) {
    for one in more {
        if !all.iter().any(|there| there[key] == one[key]) {
            all.push(one.clone());
        }
    }
}

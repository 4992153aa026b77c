//! The pod settings of a `TestRun`: fields of k6-operator's runner, starter and initializer become those of the
//! agents' and the coordinator's pods.
//!
//! Fields are copied unchanged, including unknown ones. Must not know what the operator adds. Invariant: each
//! field of the table in docs/kubernetes-distributed.md is here.

use serde_json::{Map, Value, json};

use crate::fields::Fields;
use crate::test::{DECIDED, PodTemplate, Refusal, invalid};

/// Fields of a pod that belong to the container.
const OF_CONTAINER: &[&str] = &["imagePullPolicy", "lifecycle", "resources"];
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
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            // Other probes connect to a port, and agents listen on none.
            if let Some(value) = fields.get(probe).filter(|probe| probe["exec"].is_object()) {
                pod.container.insert(probe.into(), value.clone());
            }
        }
        if let Some(affinity) = fields.get("affinity") {
            pod.spec.insert("affinity".into(), affinity.clone());
        }
        let before = fields.list("initContainers");
        pod.spec.insert("initContainers".into(), json!(before));
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
        // Those of the runner belong to the agents.
        pod.container.remove("resources");
        if let Some(resources) = self.initializer.get("resources") {
            pod.container.insert("resources".into(), resources.clone());
        }
        // Next to agents with anti-affinity there may be no room for another pod: it takes their node rules, but not
        // their pod rules.
        let nodes = self.runner.get("affinity").map(|of| &of["nodeAffinity"]);
        let nodes = nodes
            .filter(|of| of.is_object())
            .map(|of| json!({"nodeAffinity": of}));
        if let Some(affinity) = first(&all[..2], "affinity").cloned().or(nodes) {
            pod.spec.insert("affinity".into(), affinity);
        }
        let before = all
            .iter()
            .map(|fields| fields.list("initContainers"))
            .find(|list| !list.is_empty());
        let before = before.unwrap_or_default();
        pod.spec.insert("initContainers".into(), json!(before));
        pod
    }

    /// The image that a script in an image is copied from; `None`: it is in the one that runs.
    pub(super) fn foreign_image(&self) -> Option<&str> {
        let image = self.initializer.text("image").or(self.runner.text("image"));
        image.filter(|_| !self.keeps_image)
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
        let text = value.as_str().map(|text| text == "true");
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

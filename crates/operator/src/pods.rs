//! The pods of a test: the coordinator's, and those of its agents.
//!
//! The user's fields go through as they were written; what the operator adds yields to them wherever both say something. Must not
//! know the API. Invariants: a container's program is an argument vector; a pod mounts its own identity and no other; without a
//! service account that the user names there is no token in a pod.

use serde_json::{Map, Value, json};

use crate::arguments::has;
use crate::names::Names;
use crate::test_run::{PodFields, Script, TestRun, folder};

/// Where agents join.
pub const JOIN_PORT: u16 = 6_570;
/// Where the REST API of the test is.
pub const REST_PORT: u16 = 6_565;
/// Where a pod finds its identity.
const IDENTITY_FOLDER: &str = "/loadline/identity";
/// Key of the identity within its folder.
const IDENTITY_FILE: &str = "identity.pem";
/// What the coordinator is given beside its load's: it makes none.
const COORDINATOR_REQUESTS: (&str, &str) = ("100m", "128Mi");
/// Fields of a pod that are the container's.
const OF_CONTAINER: &[&str] = &["imagePullPolicy", "lifecycle", "resources"];
/// Fields of the agents' pods that would keep the coordinator from a place, or tie it to one.
const OF_AGENTS: &[&str] = &[
    "dnsPolicy",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "topologySpreadConstraints",
];
/// Fields that are looked at one by one.
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

/// What is the same for all tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The image with loadline.
    pub image: String,
    /// Whom programs run as; `None`: as the image says.
    pub run_as_user: Option<i64>,
}

/// A pod in the making.
struct Pod {
    spec: Map<String, Value>,
    container: Map<String, Value>,
    volumes: Vec<Value>,
    mounts: Vec<Value>,
    before: Vec<Value>,
}

/// The template of an agent's pod; `address`: where it joins.
#[must_use]
pub fn agent(run: &TestRun, settings: &Settings, number: u32, address: &str) -> Value {
    let name = Names::of(run).agent(number);
    let fields = &run.runner;
    let mut pod = Pod::begin(run, settings, &[fields]);
    let identity = format!("{IDENTITY_FOLDER}/{IDENTITY_FILE}");
    let command = [
        "loadline",
        "agent",
        "--join",
        address,
        "--identity",
        &identity,
        "--name",
        &name,
    ];
    pod.container.insert("command".into(), json!(command));
    pod.container
        .insert("env".into(), fields.list("env").into());
    pod.container
        .insert("envFrom".into(), fields.list("envFrom").into());
    if !run.ports.is_empty() {
        pod.container.insert("ports".into(), json!(run.ports));
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        // Others ask a port, and agents listen on nothing.
        if let Some(value) = fields.get(probe).filter(|probe| probe["exec"].is_object()) {
            pod.container.insert(probe.into(), value.clone());
        }
    }
    if let Some(affinity) = affinity(run) {
        pod.spec.insert("affinity".into(), affinity);
    }
    pod.before.extend(fields.list("initContainers").to_vec());
    pod.share(&[fields]);
    pod.identity(run, &format!("agent-{number}.pem"));
    let labels = json!({"runner": "true"});
    pod.template(run, &name, &[fields], &labels)
}

/// The template of the coordinator's pod.
#[must_use]
pub fn coordinator(run: &TestRun, settings: &Settings) -> Value {
    let all = [&run.initializer, &run.starter, &run.runner];
    let mut pod = Pod::begin(run, settings, &all);
    pod.container.insert("command".into(), json!(command(run)));
    let mut env = [&run.runner, &run.starter, &run.initializer]
        .map(|fields| fields.list("env").to_vec())
        .concat();
    env.push(json!({"name": "LOADLINE_REFUSE_IDLE_AGENTS", "value": "1"}));
    pod.container.insert("env".into(), json!(env));
    let sources = all.map(|fields| fields.list("envFrom").to_vec()).concat();
    pod.container.insert("envFrom".into(), json!(sources));
    pod.container.insert(
        "ports".into(),
        json!([
            {"name": "join", "containerPort": JOIN_PORT},
            {"name": "http-api", "containerPort": REST_PORT},
        ]),
    );
    let (cpu, memory) = COORDINATOR_REQUESTS;
    let own = json!({"requests": {"cpu": cpu, "memory": memory}});
    let resources = run.initializer.get("resources").cloned().unwrap_or(own);
    pod.container.insert("resources".into(), resources);
    // Beside agents that keep apart there may be no room for one more: where it runs is taken from them, not with whom.
    let nodes = run.runner.get("affinity").map(|of| &of["nodeAffinity"]);
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
    pod.before.extend(before.unwrap_or_default().to_vec());
    pod.script(run);
    pod.share(&all);
    pod.identity(run, "coordinator.pem");
    // Not of the label that agents are kept apart by.
    let labels = json!({"app": "loadline"});
    pod.template(run, &Names::of(run).coordinator(), &all, &labels)
}

/// What the coordinator runs.
fn command(run: &TestRun) -> Vec<String> {
    let mut command = vec!["loadline".to_owned(), "run".to_owned()];
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    if run.quiet && !has(&run.arguments, "--quiet", "-q") {
        add(&["--quiet"]);
    }
    add(&["--agents", &run.parallelism.to_string()]);
    add(&["--listen", &format!("0.0.0.0:{JOIN_PORT}")]);
    add(&["--identity", &format!("{IDENTITY_FOLDER}/{IDENTITY_FILE}")]);
    if !has(&run.arguments, "--address", "-a") {
        add(&[&format!("--address=0.0.0.0:{REST_PORT}")]);
    }
    add(&["--tag", &format!("testrun_name={}", run.name)]);
    command.extend(run.arguments.clone());
    command.push(run.script.path());
    command
}

/// The user's affinity, and that agents keep apart.
fn affinity(run: &TestRun) -> Option<Value> {
    let users = run.runner.get("affinity").cloned();
    if !run.separate {
        return users;
    }
    let apart = json!({
        "labelSelector": {"matchLabels": {"app": "k6", "k6_cr": run.name, "runner": "true"}},
        "topologyKey": "kubernetes.io/hostname",
    });
    let mut affinity = users.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let anti = &mut affinity["podAntiAffinity"];
    if !anti.is_object() {
        *anti = json!({});
    }
    let terms = &mut anti["requiredDuringSchedulingIgnoredDuringExecution"];
    match terms.as_array_mut() {
        Some(terms) => terms.push(apart),
        None => *terms = json!([apart]),
    }
    Some(affinity)
}

/// The first of several pods that says something.
fn first<'a>(all: &[&'a PodFields], name: &str) -> Option<&'a Value> {
    all.iter().find_map(|fields| fields.get(name))
}

impl Pod {
    /// A pod with what is the same for coordinator and agents.
    fn begin(run: &TestRun, settings: &Settings, all: &[&PodFields]) -> Pod {
        let mut pod = Pod {
            spec: Map::new(),
            container: Map::new(),
            volumes: Vec::new(),
            mounts: Vec::new(),
            before: Vec::new(),
        };
        for fields in all {
            for (name, value) in fields.0.iter().filter(|(_, value)| !value.is_null()) {
                if LOOKED_AT.contains(&name.as_str()) {
                    continue;
                }
                let is_runners = std::ptr::eq(*fields, &raw const run.runner);
                let is_containers = OF_CONTAINER.contains(&name.as_str());
                let is_agents = all.len() > 1 && OF_AGENTS.contains(&name.as_str());
                // What the container of another image was given does not fit ours.
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
        let kept = run.runner.text("image").filter(|_| run.keeps_image);
        pod.container.insert("name".into(), json!("k6"));
        pod.container.insert(
            "image".into(),
            json!(kept.unwrap_or(settings.image.as_str())),
        );
        pod.container.insert("workingDir".into(), json!("/tmp"));
        pod.container.insert(
            "terminationMessagePolicy".into(),
            json!("FallbackToLogsOnError"),
        );
        pod.secure(settings, all);
        pod
    }

    /// What a pod may do, unless the user says otherwise.
    fn secure(&mut self, settings: &Settings, all: &[&PodFields]) {
        let mut own = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        if let Some(user) = settings.run_as_user {
            own["runAsUser"] = json!(user);
        }
        let of_pod = first(all, "securityContext").cloned().unwrap_or(own);
        self.spec.insert("securityContext".into(), of_pod);
        let own = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        });
        let of_container = first(all, "containerSecurityContext").cloned();
        self.container
            .insert("securityContext".into(), of_container.unwrap_or(own));
        let mounted = first(all, "automountServiceAccountToken").and_then(|value| {
            let text = value.as_str().map(|text| text == "true");
            value.as_bool().or(text)
        });
        let is_named = first(all, "serviceAccountName").is_some();
        match mounted {
            Some(mounted) => {
                self.spec
                    .insert("automountServiceAccountToken".into(), json!(mounted));
            }
            None if !is_named => {
                self.spec
                    .insert("automountServiceAccountToken".into(), json!(false));
            }
            None => {}
        }
    }

    /// The script, where the coordinator looks for it.
    fn script(&mut self, run: &TestRun) {
        let (source, at, read_only) = match &run.script {
            Script::ConfigMap { name, .. } => (json!({"configMap": {"name": name}}), "/test", true),
            Script::Volume {
                claim, read_only, ..
            } => {
                let claim = json!({"claimName": claim, "readOnly": read_only});
                (json!({"persistentVolumeClaim": claim}), "/test", *read_only)
            }
            Script::Local { path } => {
                // Without an image of the user's the script is in ours.
                let foreign = run.initializer.text("image").or(run.runner.text("image"));
                let Some(image) = foreign.filter(|_| !run.keeps_image) else {
                    return;
                };
                let at = folder(path);
                self.before.push(json!({
                    "name": "script",
                    "image": image,
                    "command": ["cp", "-R", format!("{at}/."), "/loadline/script"],
                    "securityContext": self.container["securityContext"],
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": [{"name": "k6-test-volume", "mountPath": "/loadline/script"}],
                }));
                (json!({"emptyDir": {}}), at, true)
            }
            Script::Address(_) => return,
        };
        let mut volume = source;
        volume["name"] = json!("k6-test-volume");
        self.volumes.push(volume);
        self.mounts
            .push(json!({"name": "k6-test-volume", "mountPath": at, "readOnly": read_only}));
    }

    /// The identity of this pod alone.
    fn identity(&mut self, run: &TestRun, key: &str) {
        self.volumes.push(json!({
            "name": "loadline-identity",
            "secret": {
                "secretName": Names::of(run).secret(),
                "items": [{"key": key, "path": IDENTITY_FILE}],
            },
        }));
        self.mounts.push(
            json!({"name": "loadline-identity", "mountPath": IDENTITY_FOLDER, "readOnly": true}),
        );
    }

    /// The user's volumes, and a place to write to.
    fn share(&mut self, all: &[&PodFields]) {
        for fields in all {
            join(&mut self.volumes, fields.list("volumes"), "name");
            join(&mut self.mounts, fields.list("volumeMounts"), "mountPath");
        }
        if !self.mounts.iter().any(|mount| mount["mountPath"] == "/tmp") {
            self.volumes
                .push(json!({"name": "loadline-tmp", "emptyDir": {}}));
            self.mounts
                .push(json!({"name": "loadline-tmp", "mountPath": "/tmp"}));
        }
    }

    fn template(self, run: &TestRun, name: &str, all: &[&PodFields], own: &Value) -> Value {
        let Pod {
            mut spec,
            mut container,
            volumes,
            mounts,
            before,
        } = self;
        container.insert("volumeMounts".into(), json!(mounts));
        spec.insert("volumes".into(), json!(volumes));
        if !before.is_empty() {
            spec.insert("initContainers".into(), json!(before));
        }
        spec.insert("containers".into(), json!([container]));
        spec.insert("hostname".into(), json!(name));
        spec.insert("restartPolicy".into(), json!("Never"));
        json!({"metadata": metadata(run, all, own), "spec": spec})
    }
}

/// Labels and annotations: the user's, and over them those by which the test is found.
pub(crate) fn metadata(run: &TestRun, all: &[&PodFields], own: &Value) -> Value {
    let merged = |name: &str| {
        let mut merged = Map::new();
        for fields in all.iter().rev() {
            let said = fields
                .get("metadata")
                .and_then(|said| said[name].as_object());
            merged.extend(said.cloned().unwrap_or_default());
        }
        merged
    };
    let mut labels = merged("labels");
    labels.insert("app".into(), json!("k6"));
    labels.insert("k6_cr".into(), json!(run.name));
    labels.extend(own.as_object().cloned().unwrap_or_default());
    json!({"labels": labels, "annotations": merged("annotations")})
}

/// Adds what is not there yet.
fn join(all: &mut Vec<Value>, more: &[Value], key: &str) {
    for one in more {
        if !all.iter().any(|there| there[key] == one[key]) {
            all.push(one.clone());
        }
    }
}

#[cfg(test)]
mod tests;

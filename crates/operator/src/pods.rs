//! The pods of a test: the coordinator's, and those of its agents.
//!
//! The user's fields are copied unchanged; they take precedence over what the operator adds. Must not know the
//! API. Invariants: a container's program is an argument vector; a pod mounts its own identity and no other;
//! without a service account named by the user a pod has no token.

mod keeper;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::arguments::has;
use crate::git::GitFile;
use crate::names::Names;
use crate::test::{COORDINATOR_REQUESTS, PodTemplate, Source, Test, Work, folder};
use loadline_model::test_kind::TestKind;

/// The port for joining agents.
pub const JOIN_PORT: u16 = 6_570;
/// The port of the test's REST API.
pub const REST_PORT: u16 = 6_565;
/// The folder of a git checkout, with git-sync's own files.
const GIT_FOLDER: &str = "/loadline/git";
/// The container that checks it out.
pub(crate) const GIT_CONTAINER: &str = "git-sync";
/// Where a pod finds its identity.
const IDENTITY_FOLDER: &str = "/loadline/identity";
/// Where the coordinator writes its figures: the kubelet's default path, which works even with a read-only root.
const LAST_WORD: &str = "/dev/termination-log";
/// The placeholder for the number of a pod in an Indexed Job, which the cluster fills in.
const INDEX: &str = "$(JOB_COMPLETION_INDEX)";
/// Where a suite keeps its state, and documents with paths there.
const RESULTS_FOLDER: &str = "/results";
/// Its volume.
const STATE_VOLUME: &str = "loadline-state";
/// The variable that a container's runtime sets.
const HOSTNAME: &str = "HOSTNAME";
/// Key of the identity within its folder.
const IDENTITY_FILE: &str = "identity.pem";

/// Settings common to all tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The image with loadline.
    pub image: String,
    /// The user that programs run as; `None`: the image's.
    pub run_as_user: Option<i64>,
    /// The image with git-sync (v4), which checks scripts out of git repositories.
    pub git_image: String,
}

/// A pod in the making.
struct Pod<'a> {
    run: &'a Test,
    said: &'a PodTemplate,
    git_image: &'a str,
    spec: Map<String, Value>,
    container: Map<String, Value>,
    volumes: Vec<Value>,
    mounts: Vec<Value>,
    before: Vec<Value>,
    /// Containers besides the program's.
    beside: Vec<Value>,
}

/// The template of an agent's pod, or of all agents' pods if they share one Job; `address`: where it joins.
#[must_use]
pub fn agent(run: &Test, settings: &Settings, number: u32, address: &str) -> Value {
    let names = Names::of(run);
    let name = match run.kind.is_indexed() {
        true => format!("{}-{INDEX}", names.agents()),
        false => names.agent(number),
    };
    let mut pod = Pod::begin(run, &run.agent, settings);
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
    pod.tell_place();
    pod.leave_own_variables();
    pod.script_before();
    pod.share();
    pod.identity(&identity_key(run.kind, number));
    // In an Indexed Job the cluster gives each pod its own host name: that of the Job, with the index.
    let hostname = (!run.kind.is_indexed()).then_some(name.as_str());
    pod.template(hostname, &run.kind.agent_labels(&run.name))
}

/// Key of an agent's identity in the Secret. The pods of an Indexed Job mount the same, so they have one for all of
/// them, which does not let them impersonate the coordinator: a token, from which both sides derive an authority,
/// would.
pub(crate) fn identity_key(kind: TestKind, number: u32) -> String {
    match kind.is_indexed() {
        true => "agent.pem".to_owned(),
        false => format!("agent-{number}.pem"),
    }
}

/// The template of the coordinator's pod, or of the only pod.
#[must_use]
pub fn coordinator(run: &Test, settings: &Settings) -> Value {
    let mut pod = Pod::begin(run, &run.coordinator, settings);
    pod.container.insert("command".into(), json!(command(run)));
    if !run.work.is_alone() {
        pod.coordinate();
    }
    pod.script();
    pod.results();
    pod.share();
    if !matches!(run.work, Work::Suite { .. }) {
        pod.leave_figures();
    }
    pod.keep_results();
    let name = Names::of(run).coordinator();
    let mut template = pod.template(Some(&name), &run.kind.coordinator_labels(&run.name));
    let annotations = &mut template["metadata"]["annotations"];
    annotations["kubectl.kubernetes.io/default-container"] = json!(run.kind.container());
    template
}

/// The coordinator's command.
fn command(run: &Test) -> Vec<String> {
    let words: &[&str] = match &run.work {
        Work::Script(_) | Work::Plan(_) => &["loadline", "run"],
        Work::Bench => &["loadline", "bench"],
        Work::Suite { file, .. } => return suite(run, file),
    };
    let mut command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    // For a plan, -q names a properties file.
    let letter = match run.work {
        Work::Script(_) | Work::Bench => "-q",
        Work::Plan(_) | Work::Suite { .. } => "--quiet",
    };
    if run.quiet && !has(&run.arguments, "--quiet", letter) {
        add(&["--quiet"]);
    }
    if !run.work.is_alone() {
        add(&["--agents", &run.parallelism.to_string()]);
        add(&["--listen", &format!("0.0.0.0:{JOIN_PORT}")]);
        add(&["--identity", &format!("{IDENTITY_FOLDER}/{IDENTITY_FILE}")]);
    }
    let letter = match run.work {
        Work::Script(_) => "-a",
        Work::Bench | Work::Plan(_) | Work::Suite { .. } => "--address",
    };
    if !has(&run.arguments, "--address", letter) {
        add(&[&rest_address()]);
    }
    add(&["--tag", &format!("testrun_name={}", run.name)]);
    command.extend(run.arguments.clone());
    command.extend(run.work.source().map(Source::path));
    command
}

/// Where the REST API listens.
fn rest_address() -> String {
    format!("--address=0.0.0.0:{REST_PORT}")
}

/// The command of a suite's pod. The state of an earlier suite with this name is set aside.
fn suite(run: &Test, file: &Source) -> Vec<String> {
    let state = format!("{RESULTS_FOLDER}/{}.state", run.name);
    let address = rest_address();
    let words = [
        "loadline",
        "suite",
        "run",
        "--fresh",
        "--state",
        &state,
        "--documents",
        RESULTS_FOLDER,
        &address,
    ];
    let mut command: Vec<String> = words.map(str::to_owned).to_vec();
    command.extend(run.arguments.clone());
    command.push(file.path());
    command
}

/// A list among fields; empty if it is something else.
fn list(fields: &Map<String, Value>, name: &str) -> Vec<Value> {
    let list = fields.get(name).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

impl<'a> Pod<'a> {
    /// A pod with the parts common to coordinator and agents.
    fn begin(run: &'a Test, said: &'a PodTemplate, settings: &'a Settings) -> Pod<'a> {
        let mut pod = Pod {
            run,
            said,
            git_image: &settings.git_image,
            spec: said.spec.clone(),
            container: said.container.clone(),
            volumes: Vec::new(),
            mounts: Vec::new(),
            before: list(&said.spec, "initContainers"),
            beside: said.beside.clone(),
        };
        pod.container
            .insert("name".into(), json!(run.kind.container()));
        for (name, usual) in [
            ("image", settings.image.as_str()),
            ("workingDir", "/tmp"),
            ("terminationMessagePolicy", "FallbackToLogsOnError"),
        ] {
            pod.container.entry(name).or_insert_with(|| usual.into());
        }
        pod.secure(settings);
        pod
    }

    /// The default security context of a pod.
    fn secure(&mut self, settings: &Settings) {
        let mut own = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        if let Some(user) = settings.run_as_user {
            own["runAsUser"] = json!(user);
        }
        self.spec.entry("securityContext").or_insert(own);
        let own = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        });
        self.container.entry("securityContext").or_insert(own);
        if !self.spec.contains_key("serviceAccountName") {
            self.spec
                .entry("automountServiceAccountToken")
                .or_insert(json!(false));
        }
    }

    /// Lets the program write its figures as the container's termination message.
    fn leave_figures(&mut self) {
        let mut env = list(&self.container, "env");
        env.push(json!({"name": "LOADLINE_TERMINATION_LOG", "value": LAST_WORD}));
        self.container.insert("env".into(), json!(env));
        self.container
            .insert("terminationMessagePath".into(), json!(LAST_WORD));
    }

    /// Passes the pod's location to the agent, unless the user sets it.
    fn tell_place(&mut self) {
        let mut env = list(&self.container, "env");
        for (name, path) in [
            ("POD_NAME", "metadata.name"),
            ("NODE_NAME", "spec.nodeName"),
        ] {
            if !env.iter().any(|one| one["name"] == name) {
                env.push(json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}));
            }
        }
        self.container.insert("env".into(), json!(env));
    }

    /// Names the variables that differ from pod to pod: a script has those of the coordinator, as all else, but these of its agent.
    fn leave_own_variables(&mut self) {
        let mut env = list(&self.container, "env");
        let is_given = |name: &str| {
            let given = format!("{name}=");
            let mut arguments = self.run.arguments.iter();
            arguments.any(|argument| {
                let value = argument.strip_prefix("--env=").unwrap_or(argument);
                value
                    .strip_prefix("-e")
                    .unwrap_or(value)
                    .starts_with(&given)
            })
        };
        let of_pod = env.iter().filter(|one| {
            let from = &one["valueFrom"];
            from["fieldRef"].is_object() || from["resourceFieldRef"].is_object()
        });
        let of_pod = of_pod.filter_map(|one| one["name"].as_str());
        let users_hostname = env.iter().any(|one| one["name"] == HOSTNAME);
        let hostname = (!users_hostname).then_some(HOSTNAME);
        let mut names: Vec<&str> = hostname.into_iter().chain(of_pod).collect();
        names.retain(|name| !is_given(name));
        let names = names.join(",");
        env.push(json!({"name": "LOADLINE_AGENT_VARIABLES", "value": names}));
        self.container.insert("env".into(), json!(env));
    }

    /// Settings of a coordinator of agents.
    fn coordinate(&mut self) {
        let mut env = list(&self.container, "env");
        env.push(json!({"name": "LOADLINE_REFUSE_IDLE_AGENTS", "value": "1"}));
        self.container.insert("env".into(), json!(env));
        let mut ports = list(&self.container, "ports");
        ports.extend([
            json!({"name": "join", "containerPort": JOIN_PORT}),
            json!({"name": "http-api", "containerPort": REST_PORT}),
        ]);
        self.container.insert("ports".into(), json!(ports));
        let own = json!({"requests": BTreeMap::from(COORDINATOR_REQUESTS)});
        self.container.entry("resources").or_insert(own);
        self.identity("coordinator.pem");
    }

    /// The script, at the path where the coordinator reads it.
    fn script(&mut self) {
        let name = self.run.kind.volume();
        let Some(file) = self.run.work.source() else {
            return;
        };
        let (source, at, read_only) = match file {
            Source::Inline { .. } => {
                let files = json!({"name": Names::of(self.run).files()});
                (json!({ "configMap": files }), "/test", true)
            }
            Source::ConfigMap { name, items, .. } => {
                let mut files = json!({ "name": name });
                if !items.is_empty() {
                    files["items"] = json!(items);
                }
                (json!({ "configMap": files }), "/test", true)
            }
            Source::Volume {
                claim,
                read_only,
                file,
            } => {
                let claim = json!({"claimName": claim, "readOnly": read_only});
                let at = match file.starts_with('/') {
                    true => folder(file),
                    false => "/test",
                };
                (json!({"persistentVolumeClaim": claim}), at, *read_only)
            }
            Source::Git(git) => {
                self.before.push(self.checkout(git));
                (json!({"emptyDir": {}}), GIT_FOLDER, true)
            }
            Source::Local { image: None, .. } | Source::Address(_) => return,
            Source::Local {
                path,
                image: Some(from),
            } => {
                let at = folder(path);
                let mut copy = json!({
                    "name": "script",
                    "image": from.image,
                    "command": ["cp", "-R", format!("{at}/."), "/loadline/script"],
                    "resources": self.container["resources"],
                    "securityContext": self.container["securityContext"],
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": [{"name": name, "mountPath": "/loadline/script"}],
                });
                if let Some(policy) = &from.pull_policy {
                    copy["imagePullPolicy"] = json!(policy);
                }
                self.before.push(copy);
                (json!({"emptyDir": {}}), at, true)
            }
        };
        self.mount(name, source, at, read_only);
        self.mount_before();
    }

    /// The script for the user's init containers of an agent, which itself has it from the coordinator.
    fn script_before(&mut self) {
        if self.before.is_empty() || !self.run.kind.is_k6s() {
            return;
        }
        if let Some(Source::ConfigMap { .. } | Source::Volume { .. }) = self.run.work.source() {
            self.script();
            let name = self.run.kind.volume();
            self.mounts.retain(|mount| mount["name"] != name);
        }
    }

    /// Mounts a script of a ConfigMap or a claim in the user's init containers too, as k6-operator does.
    fn mount_before(&mut self) {
        let name = self.run.kind.volume();
        let is_k6s = self.run.kind.is_k6s();
        let source = self.run.work.source();
        if !is_k6s
            || !matches!(
                source,
                Some(Source::ConfigMap { .. } | Source::Volume { .. })
            )
        {
            return;
        }
        let Some(of_script) = self.mounts.iter().find(|mount| mount["name"] == name) else {
            return;
        };
        for container in self.before.iter_mut().filter(|one| one.is_object()) {
            let mut mounts = vec![of_script.clone()];
            let users = container["volumeMounts"].as_array();
            mounts.extend(users.into_iter().flatten().cloned());
            let is_theirs = |one: &Value| one["mountPath"] == of_script["mountPath"];
            if mounts[1..].iter().any(is_theirs) {
                mounts.remove(0);
            }
            container["volumeMounts"] = json!(mounts);
        }
    }

    /// The container that checks out a revision. Its own files and home are next to the checkout: the root is
    /// read-only.
    fn checkout(&self, git: &GitFile) -> Value {
        let arguments = [
            format!("--repo={}", git.url),
            format!("--ref={}", git.revision),
            format!("--root={GIT_FOLDER}/tree"),
            "--link=checkout".to_owned(),
            "--one-time".to_owned(),
            "--depth=1".to_owned(),
        ];
        let mut env = vec![json!({"name": "HOME", "value": GIT_FOLDER})];
        if let Some(secret) = &git.secret {
            for (name, key) in [
                ("GITSYNC_USERNAME", "username"),
                ("GITSYNC_PASSWORD", "password"),
            ] {
                let from = json!({"secretKeyRef": {"name": secret, "key": key}});
                env.push(json!({"name": name, "valueFrom": from}));
            }
        }
        json!({
            "name": GIT_CONTAINER,
            "image": self.git_image,
            "args": arguments,
            "env": env,
            "resources": self.container["resources"],
            "securityContext": self.container["securityContext"],
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"name": self.run.kind.volume(), "mountPath": GIT_FOLDER}],
        })
    }

    /// Where a suite keeps what it measured.
    fn results(&mut self) {
        let Work::Suite { claim, .. } = &self.run.work else {
            return;
        };
        let source = match claim {
            Some(claim) => json!({"persistentVolumeClaim": {"claimName": claim}}),
            None => json!({"emptyDir": {}}),
        };
        self.mount(STATE_VOLUME, source, RESULTS_FOLDER, false);
    }

    /// The identity of only this pod.
    fn identity(&mut self, key: &str) {
        let source = json!({"secret": {
            "secretName": Names::of(self.run).secret(),
            "items": [{"key": key, "path": IDENTITY_FILE}],
        }});
        self.mount("loadline-identity", source, IDENTITY_FOLDER, true);
    }

    /// The user's volumes, and a place to write to.
    fn share(&mut self) {
        self.volumes.extend(list(&self.said.spec, "volumes"));
        self.mounts
            .extend(list(&self.said.container, "volumeMounts"));
        if !self.mounts.iter().any(|mount| mount["mountPath"] == "/tmp") {
            self.volumes
                .push(json!({"name": "loadline-tmp", "emptyDir": {}}));
            self.mounts
                .push(json!({"name": "loadline-tmp", "mountPath": "/tmp"}));
        }
    }

    /// A volume, and its mount.
    fn mount(&mut self, name: &str, source: Value, at: &str, read_only: bool) {
        let mut volume = source;
        volume["name"] = json!(name);
        self.volumes.push(volume);
        self.mounts
            .push(json!({"name": name, "mountPath": at, "readOnly": read_only}));
    }

    /// The complete template; `labels`: those by which it is found, which override the user's.
    fn template(mut self, hostname: Option<&str>, labels: &Value) -> Value {
        self.container
            .insert("volumeMounts".into(), json!(self.mounts));
        let mut spec = self.spec;
        spec.insert("volumes".into(), json!(self.volumes));
        spec.remove("initContainers");
        if !self.before.is_empty() {
            spec.insert("initContainers".into(), json!(self.before));
        }
        let mut containers = vec![json!(self.container)];
        containers.extend(self.beside);
        spec.insert("containers".into(), json!(containers));
        if let Some(hostname) = hostname {
            spec.insert("hostname".into(), json!(hostname));
        }
        spec.insert("restartPolicy".into(), json!("Never"));
        let mut all = self.said.labels.clone();
        all.extend(labels.as_object().cloned().unwrap_or_default());
        json!({
            "metadata": {"labels": all, "annotations": self.said.annotations},
            "spec": spec,
        })
    }
}

#[cfg(test)]
mod tests;

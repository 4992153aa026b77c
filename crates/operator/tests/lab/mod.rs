//! A namespace of a real cluster with its own operator, and a service to load.
//!
//! Must not know what is tested. Invariants: everything a test created is removed with it; only its own
//! processes are ended.

#[path = "../../../kubernetes/tests/lab/kubectl.rs"]
mod kubectl;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) use kubectl::{kubectl, spawn};

/// Maximum wait for anything.
pub(crate) const PATIENCE: &str = "--timeout=60s";

/// A namespace, and the operator that handles it.
pub(crate) struct Lab {
    pub(crate) namespace: String,
    folder: tempfile::TempDir,
    operator: Option<Child>,
}

impl Lab {
    /// A namespace without an operator.
    pub(crate) fn empty(name: &str) -> Lab {
        let namespace = format!("op-{name}-{}", std::process::id());
        let folder = tempfile::tempdir().expect("a folder");
        let lab = Lab {
            namespace,
            folder,
            operator: None,
        };
        // Concurrent tests all install them.
        for (file, crd) in [
            ("crd.yaml", "crd/testruns.k6.io"),
            ("crd-k6.yaml", "crd/k6s.k6.io"),
            ("crd-loadtest.yaml", "crd/loadtests.loadline.io"),
            ("crd-loadsuite.yaml", "crd/loadsuites.loadline.io"),
        ] {
            let file = repository().join("deploy/operator").join(file);
            let file = file.to_string_lossy();
            kubectl(&["apply", "--server-side", "-f", &file], None);
            let established = "--for=condition=Established";
            kubectl(&["wait", established, crd, PATIENCE], None);
        }
        kubectl(&["create", "namespace", &lab.namespace], None);
        lab
    }

    /// A namespace with an operator that may do everything.
    pub(crate) fn begun(name: &str) -> Lab {
        let mut lab = Lab::empty(name);
        lab.start_operator(&lab.kubeconfig(None));
        lab
    }

    /// A kubeconfig whose namespace is this one; `token`: of whom, instead of the administrator.
    pub(crate) fn kubeconfig(&self, token: Option<&str>) -> PathBuf {
        let text = kubectl(&["config", "view", "--raw", "--minify", "-o", "json"], None);
        let mut config: Value = serde_json::from_str(&text).expect("a kubeconfig");
        config["contexts"][0]["context"]["namespace"] = json!(self.namespace);
        if let Some(token) = token {
            config["users"][0]["user"] = json!({"token": token});
        }
        let path = self.folder.path().join("kubeconfig");
        std::fs::write(&path, config.to_string()).expect("a file");
        path
    }

    /// Starts the operator.
    pub(crate) fn start_operator(&mut self, kubeconfig: &PathBuf) {
        let image = image();
        let log = self.folder.path().join("operator.log");
        let log = std::fs::File::options().create(true).append(true).open(log);
        let operator = Command::new(env!("CARGO_BIN_EXE_loadline-operator"))
            .args(["--image", &image, "--namespace", &self.namespace])
            .args(["--git-image", "git-sync:dev"])
            .env("KUBECONFIG", kubeconfig)
            .stderr(log.expect("a file"))
            .spawn();
        self.operator = Some(operator.expect("the operator starts"));
    }

    /// Ends the operator as a machine that fails does.
    pub(crate) fn kill_operator(&mut self) {
        if let Some(mut operator) = self.operator.take() {
            operator.kill().expect("it is there");
            operator.wait().expect("it ends");
        }
    }

    /// The operator's output.
    pub(crate) fn operator_log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("operator.log")).unwrap_or_default()
    }

    /// kubectl in this namespace.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        kubectl(&[&["-n", &self.namespace], arguments].concat(), None)
    }

    /// Applies an object.
    pub(crate) fn apply(&self, object: &Value) {
        let arguments = ["-n", &self.namespace, "apply", "-f", "-"];
        kubectl(&arguments, Some(&object.to_string()));
    }

    /// A script in a ConfigMap, and a `TestRun` of it.
    pub(crate) fn run(&self, name: &str, script: &str, spec: &Value) {
        self.apply(&json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"test.js": script},
        }));
        let mut spec = spec.clone();
        spec["script"] = json!({"configMap": {"name": name, "file": "test.js"}});
        self.apply(&json!({
            "apiVersion": "k6.io/v1alpha1", "kind": "TestRun", "metadata": {"name": name},
            "spec": spec,
        }));
    }

    /// Waits for a stage; returns the status.
    pub(crate) fn wait(&self, name: &str, stage: &str) -> Value {
        self.wait_for(name, &format!("jsonpath={{.status.stage}}={stage}"))
    }

    /// Waits for what kubectl can wait for; returns the status.
    pub(crate) fn wait_for(&self, name: &str, what: &str) -> Value {
        self.wait_of(&format!("testrun/{name}"), what)
    }

    /// Waits for what kubectl can wait for of an object; returns its status.
    pub(crate) fn wait_of(&self, object: &str, what: &str) -> Value {
        let waited = spawn(
            &[
                "-n",
                &self.namespace,
                "wait",
                &format!("--for={what}"),
                object,
                PATIENCE,
            ],
            None,
        );
        let status = self.get(object)["status"].clone();
        assert!(
            waited.status.success(),
            "{what} was timed out after for: {status:#}\n{}",
            self.operator_log()
        );
        status
    }

    /// An object, or a list of them.
    pub(crate) fn get(&self, what: &str) -> Value {
        let text = self.kubectl(&["get", what, "-o", "json"]);
        serde_json::from_str(&text).expect("JSON")
    }

    /// Names of a test's objects of a kind.
    pub(crate) fn names(&self, kind: &str, test: &str) -> Vec<String> {
        let label = format!("k6_cr={test}");
        let text = self.kubectl(&["get", kind, "-l", &label, "-o", "name"]);
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.kill_operator();
        spawn(
            &["delete", "namespace", &self.namespace, "--wait=false"],
            None,
        );
    }
}

/// A script that asks a service for so long.
pub(crate) fn asking(url: &str, vus: u32, duration: &str) -> String {
    format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: {vus}, duration: '{duration}', thresholds: {{ http_req_failed: ['rate==0'] }} }};
        export default function () {{ http.get('{url}'); sleep(0.05); }}"
    )
}

/// The image that pods are made of.
pub(crate) fn image() -> String {
    std::env::var("LOADLINE_LAB_IMAGE").unwrap_or("loadline:dev".to_owned())
}

/// The binary under test.
pub(crate) fn binary() -> String {
    std::env::var("LOADLINE_BIN").expect("the binary under test")
}

/// The root of the sources.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `loadline k8s` in a lab's namespace.
pub(crate) fn k8s(lab: &Lab, action: &str, words: &[&str]) -> Output {
    k8s_with(lab, &[], action, words)
}

/// The same with more variables.
pub(crate) fn k8s_with(
    lab: &Lab,
    variables: &[(&str, &str)],
    action: &str,
    words: &[&str],
) -> Output {
    let kubeconfig = lab.kubeconfig(None);
    let text = std::fs::read(&kubeconfig).expect("a file");
    let config: Value = serde_json::from_slice(&text).expect("it is JSON");
    let context = config["contexts"][0]["name"].as_str().expect("a name");
    let mut command = Command::new(binary());
    command.args(["k8s", action, "--context", context, "--kubeconfig"]);
    command.envs(variables.iter().copied());
    let ran = command.arg(kubeconfig).args(words).output();
    ran.expect("it runs")
}

/// A service that responds to everything and records when it was requested.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<(u64, Option<Instant>)>>,
}

impl Service {
    /// Starts to respond on loopback.
    pub(crate) fn start() -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<(u64, Option<Instant>)>> = Arc::default();
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                std::thread::spawn(move || answer(stream, &told));
            }
        });
        Service { url, asked }
    }

    /// How often it was requested, and when last.
    pub(crate) fn asked(&self) -> (u64, Option<Instant>) {
        *self.asked.lock().expect("nobody panicked")
    }
}

fn answer(mut stream: TcpStream, told: &Mutex<(u64, Option<Instant>)>) {
    let mut bytes = [0; 4_096];
    while stream.read(&mut bytes).is_ok_and(|length| length > 0) {
        {
            let mut told = told.lock().expect("nobody panicked");
            *told = (told.0 + 1, Some(Instant::now()));
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// Waits until it holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

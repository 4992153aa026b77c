//! The calls of `tests/calls` against a real API server, so that the stand-in cannot drift from it.
//!
//! They want `KUBECONFIG` and kubectl of a lab whose image `loadline:dev` (or `LOADLINE_LAB_IMAGE`) lies beside a shell, and
//! are ignored otherwise: `cargo test -p loadline-kubernetes --test lab_calls -- --ignored`. Must not know what is called.
//! Invariant: every call is made here that `stand_in` makes; what differs is a defect of the stand-in.

mod calls;
#[path = "lab/kubectl.rs"]
mod kubectl;

use std::env;

use calls::{Stage, changing, cluster_of, logs, reading, refusals, until};
use kubectl::{kubectl, spawn};
use loadline_kubernetes::{Cluster, Selector, WorkloadName};
use serde_json::{Value, json};

/// Verbs and resources that the calls want; a part of a resource has the rule of its verb.
const WANTED: [(&str, &str, &str); 8] = [
    ("", "pods", "list"),
    ("", "pods", "get"),
    ("", "pods/log", "get"),
    ("", "pods/portforward", "get"),
    ("", "pods/portforward", "create"),
    ("apps", "deployments", "get"),
    ("apps", "deployments/scale", "get"),
    ("apps", "deployments/scale", "patch"),
];

/// A namespace of the cluster that `KUBECONFIG` names; it goes with this.
struct Lab {
    namespace: String,
    cluster: Cluster,
}

impl Lab {
    fn begun(name: &str) -> Lab {
        let lab = Lab {
            namespace: format!("calls-{name}-{}", std::process::id()),
            cluster: cluster_of(&kubeconfig(None)),
        };
        kubectl(&["create", "namespace", &lab.namespace], None);
        // Pods want it, and it is made a moment after the namespace.
        let account = [
            "wait",
            "--for=create",
            "serviceaccount/default",
            "--timeout=60s",
        ];
        lab.kubectl(&account);
        lab
    }

    fn kubectl(&self, arguments: &[&str]) -> String {
        kubectl(&[&["-n", &self.namespace], arguments].concat(), None)
    }
}

impl Stage for Lab {
    fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn image(&self) -> String {
        env::var("LOADLINE_LAB_IMAGE").unwrap_or_else(|_| "loadline:dev".to_owned())
    }

    /// They do so by themselves.
    fn print(&self, _: &str, _: &[&str]) {}

    fn define_tests(&self) {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../deploy/operator/crd.yaml"
        );
        kubectl(&["apply", "--server-side", "-f", file], None);
        let known = ["wait", "--for=condition=Established", "crd/testruns.k6.io"];
        kubectl(&known, None);
    }

    fn put(&self, object: &Value) {
        let made = ["-n", &self.namespace, "create", "-f", "-"];
        kubectl(&made, Some(&object.to_string()));
    }

    fn let_go(&self, kind: &str, name: &str) {
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        self.kubectl(&["patch", kind, name, "--type=merge", "-p", patch]);
    }

    fn look(&self, kind: &str, name: &str) -> Option<Value> {
        let found = ["-n", &self.namespace, "get", kind, name, "-o", "json"];
        serde_json::from_slice(&spawn(&found, None).stdout).ok()
    }

    fn as_somebody_without(&self, verb: &str, resource: &str) -> Cluster {
        let name = format!("without-{verb}-{}", resource.replace('/', "-"));
        let rules = WANTED
            .iter()
            .filter(|one| (one.2, one.1) != (verb, resource));
        let rules: Vec<Value> = rules
            .map(|(group, resource, verb)| {
                json!({ "apiGroups": [group], "resources": [resource], "verbs": [verb] })
            })
            .collect();
        let group = "rbac.authorization.k8s.io";
        let version = format!("{group}/v1");
        for object in [
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name } }),
            json!({ "apiVersion": version, "kind": "Role", "metadata": { "name": name }, "rules": rules }),
            json!({ "apiVersion": version, "kind": "RoleBinding", "metadata": { "name": name },
                "roleRef": { "apiGroup": group, "kind": "Role", "name": name },
                "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": self.namespace }] }),
        ] {
            self.put(&object);
        }
        let token = self.kubectl(&["create", "token", &name]);
        let account = cluster_of(&kubeconfig(Some(token.trim())));
        // The authorizer learns of a role a moment later.
        let none = WorkloadName::parse("none", &self.namespace).expect("a name");
        until("something is allowed", || {
            let lists = account.pods(&self.namespace, &Selector::all());
            let gets = account.workload(&none).expect_err("there is none");
            lists.is_ok() || gets.is_not_found()
        });
        account
    }

    fn as_a_stranger(&self) -> Cluster {
        cluster_of(&kubeconfig(Some("swordfish")))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        spawn(
            &["delete", "namespace", &self.namespace, "--wait=false"],
            None,
        );
    }
}

/// The kubeconfig of the lab; `token`: of whom, instead of the administrator.
fn kubeconfig(token: Option<&str>) -> String {
    let text = kubectl(&["config", "view", "--raw", "--minify", "-o", "json"], None);
    let mut config: Value = serde_json::from_str(&text).expect("a kubeconfig");
    if let Some(token) = token {
        config["users"][0]["user"] = json!({ "token": token });
    }
    config.to_string()
}

#[test]
#[ignore = "needs a cluster"]
fn a_version_is_told() {
    reading::a_version_is_told(&Lab::begun("version"));
}

#[test]
#[ignore = "needs a cluster"]
fn pods_of_a_workload_are_read() {
    reading::pods_of_a_workload_are_read(&Lab::begun("pods"));
}

#[test]
#[ignore = "needs a cluster"]
fn pods_are_selected() {
    reading::pods_are_selected(&Lab::begun("selected"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_is_not_there_is_told() {
    reading::what_is_not_there_is_told(&Lab::begun("missing"));
}

#[test]
#[ignore = "needs a cluster"]
fn a_service_gets_an_address() {
    reading::a_service_gets_an_address(&Lab::begun("service"));
}

#[test]
#[ignore = "needs a cluster"]
fn tests_are_read() {
    reading::tests_are_read(&Lab::begun("tests"));
}

#[test]
#[ignore = "needs a cluster"]
fn long_lists_come_whole() {
    reading::long_lists_come_whole(&Lab::begun("long"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_was_made_is_removed() {
    changing::what_was_made_is_removed(&Lab::begun("made"));
}

#[test]
#[ignore = "needs a cluster"]
fn fields_of_others_are_refused_or_taken_over() {
    changing::fields_of_others_are_refused_or_taken_over(&Lab::begun("owners"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_is_no_longer_applied_goes() {
    changing::what_is_no_longer_applied_goes(&Lab::begun("pruned"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_cannot_be_applied_is_told() {
    changing::what_cannot_be_applied_is_told(&Lab::begun("invalid"));
}

#[test]
#[ignore = "needs a cluster"]
fn replicas_are_given_back() {
    changing::replicas_are_given_back(&Lab::begun("scaled"));
}

#[test]
#[ignore = "needs a cluster"]
fn a_restart_makes_new_pods() {
    changing::a_restart_makes_new_pods(&Lab::begun("restarted"));
}

#[test]
#[ignore = "needs a cluster"]
fn requests_and_limits_are_given_back() {
    changing::requests_and_limits_are_given_back(&Lab::begun("resources"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_was_deleted_is_put_back() {
    changing::what_was_deleted_is_put_back(&Lab::begun("deleted"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_somebody_holds_back_is_put_back_when_it_is_gone() {
    changing::what_somebody_holds_back_is_put_back_when_it_is_gone(&Lab::begun("held"));
}

#[test]
#[ignore = "needs a cluster"]
fn a_job_is_put_back_with_pods_of_its_own() {
    changing::a_job_is_put_back_with_pods_of_its_own(&Lab::begun("job"));
}

#[test]
#[ignore = "needs a cluster"]
fn a_stranger_is_told_so() {
    refusals::a_stranger_is_told_so(&Lab::begun("stranger"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_is_forbidden_comes_with_its_rule() {
    refusals::what_is_forbidden_comes_with_its_rule(&Lab::begun("forbidden"));
}

#[test]
#[ignore = "needs a cluster"]
fn scaling_may_be_forbidden_alone() {
    refusals::scaling_may_be_forbidden_alone(&Lab::begun("scaling"));
}

#[test]
#[ignore = "needs a cluster"]
fn logs_may_be_forbidden_alone() {
    refusals::logs_may_be_forbidden_alone(&Lab::begun("unread"));
}

#[test]
#[ignore = "needs a cluster"]
fn forwarding_wants_get() {
    refusals::forwarding_wants_two_verbs(&Lab::begun("forward-get"), "get");
}

#[test]
#[ignore = "needs a cluster"]
fn forwarding_wants_create() {
    refusals::forwarding_wants_two_verbs(&Lab::begun("forward-create"), "create");
}

#[test]
#[ignore = "needs a cluster"]
fn a_log_is_read() {
    logs::a_log_is_read(&Lab::begun("log"));
}

#[test]
#[ignore = "needs a cluster"]
fn what_log_cannot_be_read_is_told() {
    logs::what_log_cannot_be_read_is_told(&Lab::begun("nolog"));
}

#[test]
#[ignore = "needs a cluster"]
fn pods_that_come_later_are_followed() {
    logs::pods_that_come_later_are_followed(&Lab::begun("followed"));
}

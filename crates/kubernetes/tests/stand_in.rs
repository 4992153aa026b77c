//! The calls of `tests/calls` against the stand-in.
//!
//! Must not know what is called. Invariant: every call is made here that `lab_calls` makes of a real server.

mod calls;

use calls::{Stage, changing, cluster_of, logs, reading, refusals};
use loadline_kubernetes::Cluster;
use loadline_kubernetes::testing::ApiServer;
use serde_json::{Value, json};

struct StandIn {
    server: ApiServer,
    cluster: Cluster,
}

impl StandIn {
    fn start() -> StandIn {
        let server = ApiServer::start();
        StandIn {
            cluster: server.cluster(),
            server,
        }
    }
}

impl Stage for StandIn {
    fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn namespace(&self) -> &str {
        "shop"
    }

    fn image(&self) -> String {
        "registry.test/shell:1".to_owned()
    }

    fn print(&self, workload: &str, lines: &[&str]) {
        for pod in self.server.pod_names(self.namespace()) {
            let is_meant = pod == workload || pod.starts_with(&format!("{workload}-"));
            for line in lines.iter().filter(|_| is_meant) {
                self.server.print(self.namespace(), &pod, "main", line);
            }
        }
    }

    /// It does so from the beginning.
    fn define_tests(&self) {}

    fn put(&self, object: &Value) {
        let mut object = object.clone();
        object["metadata"]["namespace"] = self.namespace().into();
        self.server.put(object);
    }

    fn let_go(&self, kind: &str, name: &str) {
        let mut object = self.look(kind, name).expect("there");
        object["metadata"]["finalizers"] = json!([]);
        self.server.put(object);
    }

    fn look(&self, kind: &str, name: &str) -> Option<Value> {
        self.server.get(kind, self.namespace(), name)
    }

    fn as_somebody_without(&self, verb: &str, resource: &str) -> Cluster {
        self.server.forbid(verb, resource);
        self.server.cluster()
    }

    fn as_a_stranger(&self) -> Cluster {
        let text = self
            .server
            .kubeconfig_of("stand-in", "{ token: swordfish }", "");
        cluster_of(&text)
    }
}

#[test]
fn a_version_is_told() {
    reading::a_version_is_told(&StandIn::start());
}

#[test]
fn pods_of_a_workload_are_read() {
    reading::pods_of_a_workload_are_read(&StandIn::start());
}

#[test]
fn pods_are_selected() {
    reading::pods_are_selected(&StandIn::start());
}

#[test]
fn what_is_not_there_is_told() {
    reading::what_is_not_there_is_told(&StandIn::start());
}

#[test]
fn a_service_gets_an_address() {
    reading::a_service_gets_an_address(&StandIn::start());
}

#[test]
fn tests_are_read() {
    reading::tests_are_read(&StandIn::start());
}

#[test]
fn long_lists_come_whole() {
    reading::long_lists_come_whole(&StandIn::start());
}

#[test]
fn what_was_made_is_removed() {
    changing::what_was_made_is_removed(&StandIn::start());
}

#[test]
fn fields_of_others_are_refused_or_taken_over() {
    changing::fields_of_others_are_refused_or_taken_over(&StandIn::start());
}

#[test]
fn what_is_no_longer_applied_goes() {
    changing::what_is_no_longer_applied_goes(&StandIn::start());
}

#[test]
fn what_cannot_be_applied_is_told() {
    changing::what_cannot_be_applied_is_told(&StandIn::start());
}

#[test]
fn replicas_are_given_back() {
    changing::replicas_are_given_back(&StandIn::start());
}

#[test]
fn a_restart_makes_new_pods() {
    changing::a_restart_makes_new_pods(&StandIn::start());
}

#[test]
fn requests_and_limits_are_given_back() {
    changing::requests_and_limits_are_given_back(&StandIn::start());
}

#[test]
fn what_was_deleted_is_put_back() {
    changing::what_was_deleted_is_put_back(&StandIn::start());
}

#[test]
fn what_somebody_holds_back_is_put_back_when_it_is_gone() {
    changing::what_somebody_holds_back_is_put_back_when_it_is_gone(&StandIn::start());
}

#[test]
fn a_job_is_put_back_with_pods_of_its_own() {
    changing::a_job_is_put_back_with_pods_of_its_own(&StandIn::start());
}

#[test]
fn a_stranger_is_told_so() {
    refusals::a_stranger_is_told_so(&StandIn::start());
}

#[test]
fn what_is_forbidden_comes_with_its_rule() {
    refusals::what_is_forbidden_comes_with_its_rule(&StandIn::start());
}

#[test]
fn scaling_may_be_forbidden_alone() {
    refusals::scaling_may_be_forbidden_alone(&StandIn::start());
}

#[test]
fn logs_may_be_forbidden_alone() {
    refusals::logs_may_be_forbidden_alone(&StandIn::start());
}

#[test]
fn forwarding_wants_get() {
    refusals::forwarding_wants_two_verbs(&StandIn::start(), "get");
}

#[test]
fn forwarding_wants_create() {
    refusals::forwarding_wants_two_verbs(&StandIn::start(), "create");
}

#[test]
fn a_log_is_read() {
    logs::a_log_is_read(&StandIn::start());
}

#[test]
fn what_log_cannot_be_read_is_told() {
    logs::what_log_cannot_be_read_is_told(&StandIn::start());
}

#[test]
fn pods_that_come_later_are_followed() {
    logs::pods_that_come_later_are_followed(&StandIn::start());
}

//! Missing permissions, and their messages.
//!
//! Must not know which server responds. Invariant: a refusal comes with the rule that allows the call.

use loadline_kubernetes::{ErrorKind, ForwardTo, LogOptions, RemotePort, Selector, WorkloadName};

use super::{Stage, deployed, fails};

pub(crate) fn a_stranger_is_told_so(stage: &dyn Stage) {
    let stranger = stage.as_a_stranger();
    fails(stranger.version(), ErrorKind::Unauthorized, &["(401)"]);
    let pods = stranger.pods(stage.namespace(), &Selector::all());
    fails(pods, ErrorKind::Unauthorized, &["(401)"]);
}

pub(crate) fn what_is_forbidden_comes_with_its_rule(stage: &dyn Stage) {
    let namespace = stage.namespace();
    let role = |group: &str, resource: &str, verb: &str| {
        format!(
            "a Role in namespace {namespace} with the rule {{apiGroups: [{group:?}], resources: [{resource:?}], verbs: [{verb:?}]}}"
        )
    };
    let said = |verb: &str, resource: &str, group: &str| {
        format!("cannot {verb} resource \\\"{resource}\\\" in API group \\\"{group}\\\"")
    };
    let lists = stage.as_somebody_without("list", "pods");
    let words = [role("", "pods", "list"), said("list", "pods", "")];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fails(
        lists.pods(namespace, &Selector::all()),
        ErrorKind::Forbidden,
        &[&words[..], &["(403)", "pods is forbidden"]].concat(),
    );
    let none = WorkloadName::parse("none", namespace).expect("a name");
    let gets = stage.as_somebody_without("get", "deployments");
    let words = [
        role("apps", "deployments", "get"),
        said("get", "deployments", "apps"),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let named = ["(403)", "deployments.apps \\\"none\\\" is forbidden"];
    fails(
        gets.workload(&none),
        ErrorKind::Forbidden,
        &[&words[..], &named].concat(),
    );
}

pub(crate) fn scaling_may_be_forbidden_alone(stage: &dyn Stage) {
    let name = deployed(stage, "api", 1);
    let account = stage.as_somebody_without("patch", "deployments/scale");
    let change = account.plan_scale(&name, 2).expect("it may be read");
    fails(
        account.carry_out(&change),
        ErrorKind::Forbidden,
        &["resources: [\"deployments/scale\"], verbs: [\"patch\"]"],
    );
    assert!(super::scaled(stage, &name, 1), "nothing was changed");
}

pub(crate) fn logs_may_be_forbidden_alone(stage: &dyn Stage) {
    deployed(stage, "api", 1);
    let account = stage.as_somebody_without("get", "pods/log");
    let pods = account.pods(stage.namespace(), &Selector::all());
    let pods = pods.expect("they may be listed");
    fails(
        account.log(stage.namespace(), &pods[0].name, &LogOptions::default()),
        ErrorKind::Forbidden,
        &["resources: [\"pods/log\"], verbs: [\"get\"]"],
    );
}

pub(crate) fn forwarding_wants_two_verbs(stage: &dyn Stage, without: &str) {
    deployed(stage, "api", 1);
    let account = stage.as_somebody_without(without, "pods/portforward");
    let pods = account.pods(stage.namespace(), &Selector::all());
    let to = ForwardTo::Pod {
        namespace: stage.namespace().to_owned(),
        name: pods.expect("they may be listed")[0].name.clone(),
    };
    fails(
        account.port_forward(&to, &RemotePort::Number(8080)),
        ErrorKind::Forbidden,
        &[
            "(403)",
            "resources: [\"pods/portforward\"]",
            "create",
            "get",
        ],
    );
}

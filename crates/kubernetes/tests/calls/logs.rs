//! What containers print.
//!
//! Must not know which server responds. Invariant: every line that was printed is seen once.

use loadline_kubernetes::{
    Conflicts, Error, ErrorKind, LogFollower, LogOptions, LogSince, Selector,
};
use serde_json::json;

use super::{Stage, apply, deployed, deployment, fails, until};

fn pod(stage: &dyn Stage) -> String {
    let pods = stage
        .cluster()
        .pods(stage.namespace(), &Selector::labels("app=api"));
    pods.expect("readable")[0].name.clone()
}

fn log(stage: &dyn Stage, pod: &str, options: &LogOptions) -> Result<String, Error> {
    stage.cluster().log(stage.namespace(), pod, options)
}

pub(crate) fn a_log_is_read(stage: &dyn Stage) {
    deployed(stage, "api", 1);
    let pod = pod(stage);
    let read = || log(stage, &pod, &LogOptions::default()).expect("readable");
    until("all is printed", || read().lines().count() == 3);
    assert_eq!(read(), "one\ntwo\nthree\n");
    let named = LogOptions {
        container: Some("main".to_owned()),
        ..LogOptions::default()
    };
    assert_eq!(log(stage, &pod, &named).expect("readable"), read());
}

pub(crate) fn what_log_cannot_be_read_is_told(stage: &dyn Stage) {
    deployed(stage, "api", 1);
    let pod = pod(stage);
    let other = LogOptions {
        container: Some("none".to_owned()),
        ..LogOptions::default()
    };
    let why = format!("container none is not valid for pod {pod}");
    fails(
        log(stage, &pod, &other),
        ErrorKind::Refused,
        &["(400)", &why],
    );
    let now = LogOptions {
        since: Some(LogSince::Seconds(0)),
        ..LogOptions::default()
    };
    let why = "sinceSeconds: Invalid value: 0: must be greater than 0";
    fails(log(stage, &pod, &now), ErrorKind::Refused, &["(422)", why]);
    fails(
        log(stage, "none", &LogOptions::default()),
        ErrorKind::NotFound,
        &["(404)", "pods \\\"none\\\" not found"],
    );
    let mut two = deployment(stage, "two", 1);
    let containers = two.pointer_mut("/spec/template/spec/containers");
    let containers = containers.and_then(serde_json::Value::as_array_mut);
    let containers = containers.expect("it has some");
    let mut second = containers[0].clone();
    (second["name"], second["ports"]) = (json!("other"), json!([]));
    containers.push(second);
    apply(stage, &[two], Conflicts::Refuse);
    let of_two = || {
        let pods = stage
            .cluster()
            .pods(stage.namespace(), &Selector::labels("app=two"));
        pods.expect("readable").into_iter().find(|pod| pod.is_ready)
    };
    until("its pod is ready", || of_two().is_some());
    let name = of_two().expect("it is ready").name;
    let why =
        format!("a container name must be specified for pod {name}, choose one of: [main other]");
    fails(
        log(stage, &name, &LogOptions::default()),
        ErrorKind::Refused,
        &["(400)", &why],
    );
}

pub(crate) fn pods_that_come_later_are_followed(stage: &dyn Stage) {
    let name = deployed(stage, "api", 1);
    let cluster = stage.cluster();
    let selector = Selector::labels("app=api");
    let follower = cluster.follow_logs(stage.namespace(), &selector, &LogOptions::default());
    let follower = follower.expect("followed");
    let first = pod(stage);
    let mut seen = Vec::new();
    until("the first pod's lines come", || {
        take(&follower, &mut seen);
        of(&seen, &first).len() >= 3
    });
    assert_eq!(of(&seen, &first), ["one", "two", "three"]);
    let change = cluster.plan_scale(&name, 2).expect("planned");
    cluster.carry_out(&change).expect("made");
    let second = || {
        let pods = cluster.pods(stage.namespace(), &selector);
        let pods = pods.expect("readable").into_iter();
        let mut others = pods.filter(|pod| pod.name != first && pod.is_ready);
        others.next().map(|pod| pod.name)
    };
    until("there is a second pod", || second().is_some());
    let second = second().expect("it is there");
    stage.print(&second, &["one", "two", "three"]);
    until("the second pod's lines come", || {
        take(&follower, &mut seen);
        of(&seen, &second).len() >= 3
    });
    assert_eq!(of(&seen, &second), ["one", "two", "three"]);
    assert_eq!(of(&seen, &first).len(), 3, "none came twice");
}

/// Lines as pod and text.
type Seen = Vec<(String, String)>;

fn take(follower: &LogFollower, seen: &mut Seen) {
    let batch = follower.take();
    assert_eq!(batch.notes, Vec::<String>::new());
    let lines = batch.lines.into_iter();
    seen.extend(lines.map(|line| (line.pod.to_string(), line.text)));
}

fn of<'a>(seen: &'a Seen, pod: &str) -> Vec<&'a str> {
    let lines = seen.iter().filter(|(of, _)| of == pod);
    lines.map(|(_, text)| text.as_str()).collect()
}

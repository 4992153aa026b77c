//! Logs read, followed, and followed across restarts.
//!
//! Must not know the stand-in's internals. Invariant: every line that was printed is seen once.

use std::time::Duration;

use super::{served, wait_for};
use crate::{ErrorKind, LogFollower, LogOptions, LogSince, Selector};

/// How often pods are looked for here.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_log_is_read_whole_or_in_part() {
    let (server, pod) = served();
    server.print("shop", &pod, "main", "one");
    server.print("shop", &pod, "main", "two");
    server.pass(Duration::from_secs(5));
    server.print("shop", &pod, "main", "three");
    let cluster = server.cluster();
    let read = |options: &LogOptions| cluster.log("shop", &pod, options).expect("readable");
    assert_eq!(read(&LogOptions::default()), "one\ntwo\nthree\n");
    let last = LogOptions {
        tail: Some(1),
        ..LogOptions::default()
    };
    assert_eq!(read(&last), "three\n");
    let recent = LogOptions {
        since: Some(LogSince::Seconds(1)),
        ..LogOptions::default()
    };
    assert_eq!(read(&recent), "three\n");
    let first = LogOptions {
        bytes: Some(5),
        ..LogOptions::default()
    };
    assert_eq!(read(&first), "one\nt");
    let after = |instant: u64| {
        let mut lines = Vec::new();
        let mut take = |line: &str, at: Option<u64>| lines.push((line.to_owned(), at));
        let read = cluster.log_after("shop", &pod, &LogOptions::default(), instant, &mut take);
        read.expect("readable");
        lines
    };
    let all = after(0);
    assert_eq!(all.len(), 3);
    let second = all[1].1.expect("it has an instant");
    assert_eq!(after(second), all[2..]);
    server.restart_container("shop", &pod, "main", "Error");
    server.print("shop", &pod, "main", "four");
    assert_eq!(read(&LogOptions::default()), "four\n");
    let before = LogOptions {
        is_previous: true,
        ..LogOptions::default()
    };
    assert_eq!(read(&before), "one\ntwo\nthree\n");
    let other = LogOptions {
        container: Some("none".to_owned()),
        ..LogOptions::default()
    };
    let error = cluster
        .log("shop", &pod, &other)
        .expect_err("no such container");
    assert_eq!(error.kind(), ErrorKind::Refused);
}

fn next(follower: &LogFollower) -> (String, String) {
    let line = follower.next_within(LONG).expect("a line comes");
    (line.pod.to_string(), line.text)
}

#[test]
fn a_selector_is_followed_across_restarts_and_new_pods() {
    let (server, pod) = served();
    server.print("shop", &pod, "main", "before");
    let cluster = server.cluster();
    let options = LogOptions {
        tail: Some(0),
        ..LogOptions::default()
    };
    let selector = Selector::labels("app=api");
    let follower = LogFollower::start(cluster, "shop", &selector, &options, LOOK_EVERY);
    let follower = follower.expect("followed");
    // The stand-in starts its response with the first line, so output before that would not be new.
    wait_for(|| {
        server
            .requests()
            .iter()
            .any(|line| line.contains("tailLines=0"))
            .then_some(())
    });
    server.print("shop", &pod, "main", "one");
    assert_eq!(next(&follower), (pod.clone(), "one".to_owned()));
    server.print("shop", &pod, "main", "last words");
    server.restart_container("shop", &pod, "main", "OOMKilled");
    server.print("shop", &pod, "main", "again");
    assert_eq!(next(&follower), (pod.clone(), "last words".to_owned()));
    assert_eq!(next(&follower), (pod.clone(), "again".to_owned()));
    server.deploy("shop", "api", 2);
    let newer = server
        .pod_names("shop")
        .into_iter()
        .find(|name| *name != pod)
        .expect("a second pod");
    server.print("shop", &newer, "main", "hello");
    assert_eq!(next(&follower), (newer, "hello".to_owned()));
    let batch = follower.take();
    assert!(
        batch.lines.is_empty() && batch.notes.is_empty(),
        "{batch:?}"
    );
}

#[test]
fn what_may_not_be_followed_is_told_at_once() {
    let (server, _) = served();
    server.forbid("list", "pods");
    let followed = server
        .cluster()
        .follow_logs("shop", &Selector::all(), &LogOptions::default());
    assert_eq!(
        followed.expect_err("forbidden").kind(),
        ErrorKind::Forbidden
    );
}

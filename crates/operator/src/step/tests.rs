//! The next step at each stage. Must not know the API. Invariant: every reason that ends a test has a case.

mod losses;
mod replaced_coordinator;

use k8s_openapi::jiff::Timestamp;
use loadline_model::Figures;
use loadline_model::figures::RequestFigures;
use serde_json::json;

use super::*;
use crate::seen::{Ended, HandOn, Hindrance};

fn run_with(annotations: &serde_json::Value) -> Test {
    crate::test_run::read(
        TestKind::TestRun,
        &json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "u", "annotations": annotations},
            "spec": {"parallelism": 2, "script": {"configMap": {"name": "c"}}},
        }),
    )
    .expect("a test")
}

fn test_run() -> Test {
    run_with(&json!({}))
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("an instant")
}

fn ours(stage: Stage) -> Known {
    let mut status = Status::begun(TestKind::TestRun, 2, at(0));
    for next in [
        Stage::Initialized,
        Stage::Created,
        Stage::Started,
        Stage::Stopped,
    ] {
        if next <= stage {
            status = status.at(next, at(0));
        }
    }
    Known::Ours(Box::new(status))
}

pub(super) fn job(role: Role) -> SeenJob {
    SeenJob {
        name: match role {
            Role::Coordinator => "t-coordinator".to_owned(),
            Role::Agent(number) => format!("t-{number}"),
            Role::Agents => "t-agent".to_owned(),
        },
        uid: "j".to_owned(),
        role,
        is_between_pods: false,
        is_going: false,
        pods: 1,
        has_failed: false,
        made: Some(at(0)),
        warning: None,
    }
}

pub(super) fn pod(role: Role) -> SeenPod {
    SeenPod {
        name: format!("{}-x", job(role).name),
        role,
        node: Some("n-1".to_owned()),
        made: Some(at(0)),
        unscheduled: None,
        waiting: None,
        warning: None,
        is_running: true,
        ended: None,
        hand_on: None,
        removed: None,
    }
}

pub(super) fn ended(role: Role, code: i32, reason: &str, message: &str) -> SeenPod {
    SeenPod {
        is_running: false,
        ended: Some(Ended {
            before: None,
            code,
            reason: reason.to_owned(),
            message: message.to_owned(),
            figures: None,
            at: Some(at(1)),
        }),
        ..pod(role)
    }
}

const ALL: [Role; 3] = [Role::Coordinator, Role::Agent(1), Role::Agent(2)];

fn all(pods: Vec<SeenPod>) -> Seen {
    Seen {
        jobs: ALL.map(job).to_vec(),
        pods,
        ..Seen::default()
    }
}

fn heard(joined: u32) -> Heard {
    Heard {
        is_listening: true,
        joined,
        runs: None,
    }
}

pub(super) fn stage(step: &Step) -> Option<Stage> {
    step.status.as_ref().map(|status| status.stage)
}

pub(super) fn told(step: &Step) -> (String, String) {
    let status = step.status.as_ref().expect("a status");
    let reason = status.reason.clone().unwrap_or_default();
    let condition = status.passed().expect("it is always there");
    assert_eq!(
        condition.reason, reason,
        "another definition of the resource drops the reason"
    );
    (reason, status.message.clone().unwrap_or_default())
}

#[test]
fn an_edit_in_mid_run_is_told_once() {
    let of_generation = |generation: i64| Test {
        generation: Some(generation),
        ..test_run()
    };
    let begun = step(&of_generation(1), &Known::New, &Seen::default(), at(0));
    let status = begun.status.expect("a status");
    assert_eq!(status.observed_generation, Some(1));
    let known = Known::Ours(Box::new(status.at(Stage::Started, at(1))));
    let seen = all(ALL.map(pod).to_vec());
    let as_it_was = step(&of_generation(1), &known, &seen, at(2));
    assert!(as_it_was.status.is_none() && as_it_was.notes.is_empty());
    let edited = step(&of_generation(2), &known, &seen, at(2));
    let reasons: Vec<&str> = edited.notes.iter().map(|note| &*note.reason).collect();
    assert_eq!(reasons, ["EditIgnored"]);
    let known = Known::Ours(Box::new(edited.status.expect("a status")));
    let again = step(&of_generation(2), &known, &seen, at(3));
    assert!(again.status.is_none() && again.notes.is_empty());
    // Another definition of the resource drops the field.
    let mut dropped = status;
    dropped.observed_generation = None;
    let known = Known::Ours(Box::new(dropped.at(Stage::Started, at(1))));
    assert!(
        step(&of_generation(2), &known, &seen, at(2))
            .notes
            .is_empty()
    );
}

/// Nothing is requested again while a test runs: grafana/k6-operator#529.
#[test]
fn a_test_goes_through_its_stages() {
    let run = test_run();
    let begun = step(&run, &Known::New, &Seen::default(), at(0));
    assert_eq!(begun.acts, [Act::MakeCoordinator]);
    assert_eq!(stage(&begun), Some(Stage::Initialization));

    let mut seen = all(vec![pod(Role::Coordinator)]);
    let reading = step(&run, &ours(Stage::Initialization), &seen, at(1));
    assert_eq!(reading.acts, [Act::Listen("t-coordinator-x".to_owned())]);

    seen.heard = heard(0);
    let read = step(&run, &ours(Stage::Initialization), &seen, at(1));
    assert_eq!(stage(&read), Some(Stage::Initialized));
    let made = step(&run, &ours(Stage::Initialized), &seen, at(1));
    assert_eq!(
        (stage(&made), &made.acts[..]),
        (Some(Stage::Created), &[Act::MakeAgents][..])
    );

    let mut seen = all(ALL.map(pod).to_vec());
    seen.heard = heard(1);
    let joining = step(&run, &ours(Stage::Created), &seen, at(2));
    assert_eq!(joining.status.expect("it counts").agents_ready, 1);
    seen.heard = heard(2);
    let started = step(&run, &ours(Stage::Created), &seen, at(2));
    assert_eq!(stage(&started), Some(Stage::Started));
    let going_on = step(&run, &ours(Stage::Started), &seen, at(3));
    assert_eq!(going_on, Step::default());

    let mut pods = vec![ended(Role::Coordinator, 0, "Completed", "")];
    pods.extend([pod(Role::Agent(1)), pod(Role::Agent(2))]);
    let stopped = step(&run, &ours(Stage::Started), &all(pods.clone()), at(4));
    assert_eq!(stage(&stopped), Some(Stage::Stopped));
    let waiting = step(&run, &ours(Stage::Stopped), &all(pods), at(1));
    assert!(waiting.status.is_none() && waiting.again.is_some());
    let over = all(ALL.map(|role| ended(role, 0, "Completed", "")).to_vec());
    let finished = step(&run, &ours(Stage::Stopped), &over, at(5));
    let status = finished.status.as_ref().expect("a status");
    assert_eq!(status.stage, Stage::Finished);
    assert_eq!(
        (status.result, status.exit_code),
        (Some(Outcome::Passed), Some(0))
    );
    assert_eq!(told(&finished).0, "Passed");
}

#[test]
fn the_same_seen_twice_gives_the_same() {
    let run = test_run();
    let seen = all(ALL.map(pod).to_vec());
    for known in [Known::New, ours(Stage::Initialized), ours(Stage::Started)] {
        assert_eq!(
            step(&run, &known, &seen, at(1)),
            step(&run, &known, &seen, at(1))
        );
    }
}

#[test]
fn nothing_is_made_after_its_stage() {
    let run = test_run();
    for known in [Stage::Created, Stage::Started, Stage::Stopped] {
        let step = step(&run, &ours(known), &Seen::default(), at(1));
        let makes = |act: &Act| matches!(act, Act::MakeCoordinator | Act::MakeAgents);
        assert!(!step.acts.iter().any(makes), "{known:?}");
    }
    assert_eq!(
        step(&run, &Known::Foreign, &Seen::default(), at(1)),
        Step::default()
    );
}

/// grafana/k6-operator#75, grafana/k6-operator#196.
#[test]
fn the_result_is_the_coordinators_exit_code() {
    let run = test_run();
    let line =
        "time=\"x\" level=error msg=\"thresholds on metrics 'a \\\"b\\\"' have been crossed\"\n";
    for (code, result, reason, message) in [
        (99, Outcome::Failed, "ThresholdsFailed", "'a \"b\"'"),
        (110, Outcome::Failed, "MarkedFailed", "exec.test.fail()"),
        (107, Outcome::Error, "ScriptException", "script"),
        (105, Outcome::Error, "ExternalAbort", "signal"),
        (1, Outcome::Error, "CoordinatorFailed", "exit code 1"),
        (137, Outcome::Error, "OOMKilled", "137"),
    ] {
        let word = match code {
            137 => "OOMKilled",
            _ => "Error",
        };
        let mut pods = vec![ended(Role::Coordinator, code, word, line)];
        let agents = [Role::Agent(1), Role::Agent(2)];
        pods.extend(agents.map(|role| ended(role, code, "Error", "")));
        let finished = step(&run, &ours(Stage::Stopped), &all(pods), at(2));
        let (told_reason, told_message) = told(&finished);
        assert_eq!(told_reason, reason);
        assert!(told_message.contains(message), "{told_message}");
        let status = finished.status.expect("a status");
        assert_eq!(
            (status.result, status.exit_code),
            (Some(result), Some(code))
        );
    }
}

/// grafana/k6-operator#75.
#[test]
fn figures_are_told_with_the_result() {
    let figures = Box::new(Figures {
        vus_max: Some(2),
        ..Figures::default()
    });
    let mut coordinator = ended(Role::Coordinator, 99, "Error", "a=\"b\" level=error msg=x");
    if let Some(ended) = &mut coordinator.ended {
        ended.figures = Some(figures.clone());
    }
    let mut pods = vec![coordinator];
    pods.extend([Role::Agent(1), Role::Agent(2)].map(|role| ended(role, 99, "Error", "")));
    let finished = step(&test_run(), &ours(Stage::Stopped), &all(pods), at(2));
    assert!(told(&finished).1.ends_with("a=\"b\" level=error msg=x"));
    assert_eq!(finished.status.expect("a status").figures, Some(figures));
}

#[test]
fn a_result_is_awaited_and_told_once() {
    let run = test_run();
    let pods = |hand_on| {
        let mut coordinator = ended(Role::Coordinator, 0, "Completed", "");
        coordinator.hand_on = Some(hand_on);
        let agents = [Role::Agent(1), Role::Agent(2)];
        let agents = agents.map(|role| ended(role, 0, "Completed", ""));
        [&[coordinator][..], &agents].concat()
    };
    let stopped = ours(Stage::Stopped);
    let waiting = all(pods(HandOn::Awaited));
    assert_eq!(hands_on(&stopped, &waiting), None);
    assert!(step(&run, &stopped, &waiting, at(1)).status.is_none());
    let late = step(&run, &stopped, &waiting, at(11))
        .status
        .expect("it is over");
    assert_eq!(late.stage, Stage::Finished);
    assert_eq!(
        late.results.expect("where it may be").pod.as_deref(),
        Some("t-coordinator-x")
    );

    let mut there = all(pods(HandOn::Ended(0)));
    assert!(hands_on(&stopped, &there).is_some());
    assert_eq!(hands_on(&ours(Stage::Started), &there), None);
    assert_eq!(step(&run, &stopped, &there, at(1)).again, Some(LOOK_AGAIN));
    there.kept = Some(Kept::in_log("p", "full"));
    // An agent takes longer.
    let mut slow = there.clone();
    slow.pods[1] = pod(Role::Agent(1));
    let kept = step(&run, &stopped, &slow, at(1))
        .status
        .expect("where it is");
    assert_eq!((kept.stage, &kept.results), (Stage::Stopped, &there.kept));
    let stopped = Known::Ours(Box::new(kept));
    assert_eq!(hands_on(&stopped, &there), None);
    there.kept = None;
    let finished = step(&run, &stopped, &there, at(2))
        .status
        .expect("it is over");
    assert_eq!(finished.results, Some(Kept::in_log("p", "full")));
}

#[test]
fn what_keeps_a_script_from_running_is_an_error() {
    let line = "time=\"x\" level=error msg=\"a.js: Line 1:37 Unexpected identifier\"\n";
    let bad = ended(Role::Coordinator, 107, "Error", "");
    let mut seen = all(vec![bad]);
    seen.tail = format!("something before\n{line}");
    let failed = step(&test_run(), &ours(Stage::Initialization), &seen, at(2));
    assert_eq!(stage(&failed), Some(Stage::Error));
    let (reason, message) = told(&failed);
    assert_eq!(reason, "ScriptException");
    assert!(
        message.ends_with("Line 1:37 Unexpected identifier"),
        "{message}"
    );
}

#[test]
fn an_init_container_that_fails_is_named() {
    let mut failed = ended(Role::Coordinator, 99, "Error", "cp: no such file");
    if let Some(ended) = &mut failed.ended {
        ended.before = Some("script".to_owned());
    }
    let seen = all(vec![failed]);
    let failed = step(&test_run(), &ours(Stage::Initialization), &seen, at(2));
    let (reason, message) = told(&failed);
    assert_eq!(reason, "InitContainerFailed");
    assert_eq!(
        message,
        "init container script ended with exit code 99: cp: no such file"
    );
    assert_eq!(failed.status.expect("a status").exit_code, None);
}

fn kept(change: impl FnOnce(&mut SeenPod), now: i64) -> Step {
    let mut one = pod(Role::Coordinator);
    one.is_running = false;
    change(&mut one);
    let seen = all(vec![one, pod(Role::Agent(1)), pod(Role::Agent(2))]);
    step(&test_run(), &ours(Stage::Initialization), &seen, at(now))
}

/// grafana/k6-operator#128.
#[test]
fn a_pod_without_a_node_is_told_after_ten_seconds() {
    let why = || Hindrance {
        reason: "Unschedulable".to_owned(),
        message: "0/3 nodes are available: insufficient cpu".to_owned(),
    };
    let without = |pod: &mut SeenPod| pod.unscheduled = Some((why(), Some(at(100))));
    let early = kept(without, 104);
    assert_eq!(
        (early.status, early.again),
        (None, Some(Duration::from_secs(6)))
    );
    let late = kept(without, 110);
    assert_eq!(stage(&late), Some(Stage::Initialization));
    let (reason, message) = told(&late);
    assert_eq!(reason, "Unschedulable");
    assert!(message.contains("insufficient cpu"), "{message}");
    assert_eq!(late.notes.len(), 1);
    let never = kept(without, 701);
    assert_eq!(stage(&never), Some(Stage::Error));
    assert_eq!(never.acts, [Act::DropAgents, Act::DropCoordinator]);
}

/// grafana/k6-operator#281.
#[test]
fn what_the_cluster_warns_of_is_told() {
    let warned = |pod: &mut SeenPod| {
        pod.warning = Some(Hindrance {
            reason: "FailedMount".to_owned(),
            message: "configmap \"c\" not found".to_owned(),
        });
    };
    assert!(kept(warned, 9).status.is_none());
    let (reason, message) = told(&kept(warned, 10));
    assert_eq!(reason, "FailedMount");
    assert!(message.ends_with("configmap \"c\" not found"), "{message}");
    assert_eq!(kept(|_| {}, 8).again, Some(Duration::from_secs(2)));
    assert!(kept(|_| {}, 10).status.is_none());
    assert_eq!(told(&kept(|_| {}, 30)).0, "NotStarted");
}

#[test]
fn a_job_without_a_pod_is_told() {
    let mut seen = all(vec![pod(Role::Coordinator), pod(Role::Agent(1))]);
    seen.jobs[2].warning = Some(Hindrance {
        reason: "FailedCreate".to_owned(),
        message: "exceeded quota".to_owned(),
    });
    let waiting = step(&test_run(), &ours(Stage::Created), &seen, at(11));
    let (reason, message) = told(&waiting);
    assert_eq!(reason, "FailedCreate");
    assert!(message.contains("exceeded quota"), "{message}");
}

/// grafana/k6-operator#153, grafana/k6-operator#290.
#[test]
fn an_image_that_does_not_come_ends_a_test() {
    let waits = |reason: &'static str| {
        move |pod: &mut SeenPod| {
            pod.waiting = Some(Hindrance {
                reason: reason.to_owned(),
                message: "no such image".to_owned(),
            });
        }
    };
    assert_eq!(
        stage(&kept(waits("InvalidImageName"), 0)),
        Some(Stage::Error)
    );
    let first = kept(waits("ErrImagePull"), 1);
    assert_eq!(stage(&first), Some(Stage::Initialization));
    assert_eq!(told(&first).0, "ImagePullBackOff");
    assert_eq!(
        stage(&kept(waits("ImagePullBackOff"), 61)),
        Some(Stage::Error)
    );
}

/// The pods of a test that ended with this exit code, and with the figures of its requests, if it sent any.
fn over_with(code: i32, requests: Option<RequestFigures>) -> Seen {
    let mut pods = ALL.map(|role| ended(role, code, "Error", "")).to_vec();
    let figures = requests.map(|requests| Figures {
        requests: Some(requests),
        ..Figures::default()
    });
    if let Some(ended) = &mut pods[0].ended {
        ended.figures = figures.map(Box::new);
    }
    all(pods)
}

#[test]
fn a_test_that_ran_while_nobody_looked_has_its_result() {
    let run = test_run();
    let sent = || Some(RequestFigures::default());
    for (code, requests) in [(99, None), (112, None), (111, sent()), (1, sent())] {
        let over = over_with(code, requests);
        for begun in [Stage::Initialized, Stage::Created] {
            let mut known = ours(begun);
            for wanted in [Stage::Started, Stage::Stopped, Stage::Finished] {
                let next = step(&run, &known, &over, at(60));
                assert_eq!(stage(&next), Some(wanted), "{code}");
                known = Known::Ours(Box::new(next.status.expect("a status")));
            }
        }
    }
    for code in [111, 105, 1] {
        let next = step(&run, &ours(Stage::Created), &over_with(code, None), at(60));
        assert_eq!(stage(&next), Some(Stage::Error), "{code}");
    }
}

#[test]
fn what_is_refused_ends_in_an_error_once() {
    let refusal = Refusal {
        reason: "Unsupported",
        message: "--out cloud".to_owned(),
    };
    let refused = refuse(TestKind::TestRun, &Known::New, &refusal, at(0));
    assert_eq!(stage(&refused), Some(Stage::Error));
    assert_eq!(told(&refused).1, "--out cloud");
    let known = Known::Ours(Box::new(refused.status.expect("a status")));
    assert_eq!(
        refuse(TestKind::TestRun, &known, &refusal, at(1)),
        Step::default()
    );
}

/// grafana/k6-operator#275, grafana/k6-operator#260, grafana/k6-operator#397.
#[test]
fn an_ended_test_goes_when_it_was_said_to() {
    let over = |annotations, seconds| {
        let run = run_with(&annotations);
        let seen = all(ALL.map(|role| ended(role, 0, "Completed", "")).to_vec());
        let finished = step(&run, &ours(Stage::Stopped), &seen, at(5));
        let known = Known::Ours(Box::new(finished.status.expect("a status")));
        step(&run, &known, &Seen::default(), at(seconds))
    };
    assert_eq!(over(json!({}), 1_000_000), Step::default());
    let cleanup = json!({crate::test_run::CLEANUP_ANNOTATION: "on-success"});
    assert_eq!(over(cleanup, 5).acts, [Act::Delete]);
    let ttl = json!({crate::test_run::TTL_ANNOTATION: "1m"});
    assert!(over(ttl.clone(), 5).again.is_some());
    assert_eq!(over(ttl, 65).acts, [Act::Delete]);
}

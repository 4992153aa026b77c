//! Lost agents and their replacements. Must not know the API.

use super::*;

/// grafana/k6-operator#251, grafana/k6-operator#304.
#[test]
fn a_lost_agent_is_named() {
    let run = test_run();
    let killed = ended(Role::Agent(2), 137, "OOMKilled", "");
    let seen = all(vec![
        pod(Role::Coordinator),
        pod(Role::Agent(1)),
        killed.clone(),
    ]);
    let lost = step(&run, &ours(Stage::Started), &seen, at(2));
    assert_eq!(stage(&lost), Some(Stage::Started));
    let (reason, message) = told(&lost);
    assert_eq!(reason, "AgentLost");
    assert!(
        message.contains("t-2-x") && message.contains("OOMKilled"),
        "{message}"
    );
    let known = Known::Ours(Box::new(lost.status.expect("a status")));
    assert_eq!(
        step(&run, &known, &seen, at(3)),
        Step::default(),
        "told once"
    );

    let pods = vec![
        ended(Role::Coordinator, 112, "Error", ""),
        ended(Role::Agent(1), 112, "Error", ""),
        killed,
    ];
    let finished = step(&run, &ours(Stage::Stopped), &all(pods), at(4));
    let (reason, message) = told(&finished);
    assert_eq!(reason, "AgentLost");
    assert!(
        message.contains("agent t-2 (pod t-2-x on node n-1) was lost: OOMKilled"),
        "{message}"
    );
    assert_eq!(finished.status.expect("a status").lost.len(), 1);
}

#[test]
fn the_pod_in_the_place_of_a_lost_one_is_told_once() {
    let run = test_run();
    let killed = ended(Role::Agent(2), 137, "OOMKilled", "");
    let mut next = pod(Role::Agent(2));
    next.name = "t-2-y".to_owned();
    let others = [pod(Role::Coordinator), pod(Role::Agent(1))];
    let seen = |agents: &[SeenPod]| all([&others, agents].concat());
    let lost = step(
        &run,
        &ours(Stage::Started),
        &seen(std::slice::from_ref(&killed)),
        at(2),
    );
    let known = Known::Ours(Box::new(lost.status.expect("a status")));
    let both = seen(&[killed, next.clone()]);
    let replaced = step(&run, &known, &both, at(13));
    assert_eq!(replaced.notes[0].reason, "AgentReplaced");
    let status = replaced.status.expect("a status");
    assert_eq!(status.lost[0].replaced_by.as_deref(), Some("t-2-y"));
    let known = Known::Ours(Box::new(status));
    assert_eq!(step(&run, &known, &both, at(14)), Step::default());
    // The killed pod was deleted meanwhile, and the next is lost as well.
    next.is_running = false;
    next.removed = Some(Hindrance {
        reason: "Evicted".to_owned(),
        message: String::new(),
    });
    let again = step(&run, &known, &seen(&[next]), at(15));
    let lost = again.status.expect("a status").lost;
    assert_eq!((lost.len(), lost[1].pod.as_str()), (2, "t-2-y"));
}

#[test]
fn a_replaced_agent_does_not_change_what_a_threshold_says() {
    let run = test_run();
    let seen = all(vec![
        ended(Role::Coordinator, 99, "Error", "level=error msg=x"),
        ended(Role::Agent(1), 99, "Error", ""),
        ended(Role::Agent(2), 137, "OOMKilled", ""),
    ]);
    let finished = step(&run, &ours(Stage::Stopped), &seen, at(2));
    assert_eq!(told(&finished).0, "ThresholdsFailed");
    assert!(!told(&finished).1.contains("OOMKilled"));
    assert_eq!(finished.status.expect("a status").lost.len(), 1);
}

#[test]
fn an_agent_that_ends_with_the_test_is_not_lost() {
    let run = test_run();
    let seen = all(vec![
        pod(Role::Coordinator),
        pod(Role::Agent(1)),
        ended(Role::Agent(2), 99, "Error", ""),
    ]);
    let doubtful = step(&run, &ours(Stage::Started), &seen, at(2));
    assert!(doubtful.status.is_none() && doubtful.again.is_some());
    let lost = step(&run, &ours(Stage::Started), &seen, at(7));
    assert_eq!(told(&lost).0, "AgentLost");
}

/// The delay of a Job that lost many pods grows to minutes, in which all agents may be lost.
#[test]
fn the_job_of_a_lost_agent_is_made_anew_once_its_loss_is_told() {
    let run = test_run();
    let killed = ended(Role::Agent(2), 143, "Error", "");
    let mut seen = all(vec![pod(Role::Coordinator), pod(Role::Agent(1)), killed]);
    seen.jobs[2].is_between_pods = true;
    let lost = step(&run, &ours(Stage::Started), &seen, at(40));
    assert_eq!(lost.acts, [], "it is told first");
    let known = Known::Ours(Box::new(lost.status.expect("a status")));
    let again = step(&run, &known, &seen, at(41));
    assert_eq!(
        (again.acts, again.status),
        (vec![Act::RemakeAgent(2)], None)
    );

    // The pod may be deleted by then, but none may run.
    let mut gone = seen.clone();
    gone.pods.pop();
    assert_eq!(
        step(&run, &known, &gone, at(41)).acts,
        [Act::RemakeAgent(2)]
    );
    let mut next = pod(Role::Agent(2));
    next.name = "t-2-y".to_owned();
    gone.pods.push(next);
    assert_eq!(step(&run, &known, &gone, at(41)).acts, []);

    // A young one retries on its own; one that failed permanently and one that no longer exists are left alone.
    let young = step(&run, &known, &seen, at(29));
    assert_eq!(
        (young.acts, young.again),
        (vec![], Some(Duration::from_secs(1)))
    );
    for change in [
        (|job| job.has_failed = true) as fn(&mut SeenJob),
        |job| job.is_going = true,
        |job| job.is_between_pods = false,
    ] {
        let mut seen = seen.clone();
        change(&mut seen.jobs[2]);
        assert_eq!(step(&run, &known, &seen, at(41)), Step::default());
    }
}

#[test]
fn pods_that_are_gone_are_lost() {
    let run = test_run();
    let mut seen = all(vec![pod(Role::Coordinator), pod(Role::Agent(1))]);
    seen.jobs[2].has_failed = true;
    let lost = step(&run, &ours(Stage::Created), &seen, at(2));
    assert_eq!(stage(&lost), Some(Stage::Error));
    assert!(told(&lost).1.contains("its pod was deleted"));
    assert_eq!(lost.acts, [Act::DropAgents, Act::DropCoordinator]);

    let mut seen = all(vec![pod(Role::Agent(1)), pod(Role::Agent(2))]);
    seen.jobs[0].has_failed = true;
    let lost = step(&run, &ours(Stage::Started), &seen, at(2));
    assert_eq!(
        (stage(&lost), told(&lost).0.as_str()),
        (Some(Stage::Error), "CoordinatorLost")
    );
}

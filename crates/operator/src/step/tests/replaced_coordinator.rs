//! A coordinator whose pod is killed or evicted, and its replacement. Must not know the API.

use super::*;

#[test]
fn another_pod_goes_on_where_the_coordinators_is_killed() {
    let run = test_run();
    let killed = ended(Role::Coordinator, 137, "OOMKilled", "");
    let agents = [pod(Role::Agent(1)), pod(Role::Agent(2))];
    let seen = |coordinators: &[SeenPod]| all([coordinators, &agents].concat());
    let one = seen(std::slice::from_ref(&killed));
    let lost = step(&run, &ours(Stage::Started), &one, at(2));
    assert_eq!(stage(&lost), Some(Stage::Started));
    assert_eq!(
        (told(&lost).0.as_str(), lost.notes.len()),
        ("CoordinatorLost", 1)
    );
    assert!(told(&lost).1.contains("OOMKilled"), "{}", told(&lost).1);
    let known = Known::Ours(Box::new(lost.status.expect("a status")));
    assert_eq!(
        step(&run, &known, &one, at(3)),
        Step::default(),
        "told once"
    );

    let mut next = pod(Role::Coordinator);
    next.name = "t-coordinator-a".to_owned();
    next.made = Some(at(12));
    let both = seen(&[killed.clone(), next.clone()]);
    let replaced = step(&run, &known, &both, at(13));
    assert_eq!(told(&replaced).0, "CoordinatorReplaced");
    assert!(!replaced.notes[0].is_warning);
    let known = Known::Ours(Box::new(replaced.status.expect("a status")));
    assert_eq!(
        step(&run, &known, &both, at(14)),
        Step::default(),
        "told once"
    );

    // It ends: its result is that of the test.
    let over = SeenPod {
        name: next.name,
        made: next.made,
        ..ended(Role::Coordinator, 0, "Completed", "")
    };
    let stopped = step(&run, &known, &seen(&[killed, over]), at(60));
    assert_eq!(stage(&stopped), Some(Stage::Stopped));
    assert_eq!(stopped.status.expect("a status").exit_code, Some(0));

    // No other is created any more.
    let mut last = one;
    last.jobs[0].has_failed = true;
    let stopped = step(&run, &ours(Stage::Started), &last, at(60));
    assert_eq!(stage(&stopped), Some(Stage::Stopped));
}

#[test]
fn a_coordinator_that_was_evicted_is_replaced_and_one_that_ended_its_test_is_not() {
    let run = test_run();
    let removed = Some(Hindrance {
        reason: "EvictionByEvictionAPI".to_owned(),
        message: "drained".to_owned(),
    });
    let evicted = SeenPod {
        is_running: false,
        removed: removed.clone(),
        ..pod(Role::Coordinator)
    };
    let lost = step(&run, &ours(Stage::Started), &all(vec![evicted]), at(2));
    assert_eq!(told(&lost).0, "CoordinatorLost");
    let stopped_itself = SeenPod {
        removed,
        ..ended(Role::Coordinator, 105, "Error", "")
    };
    let stopped = step(
        &run,
        &ours(Stage::Started),
        &all(vec![stopped_itself]),
        at(2),
    );
    assert_eq!(stage(&stopped), Some(Stage::Stopped));
}

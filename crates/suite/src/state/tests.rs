//! The state folder on a real disk.
//!
//! Must not know runners. Invariant: each test has its own folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::gates::Gates;

fn status(state: RunState) -> RunStatus {
    RunStatus {
        row: "a-1".to_owned(),
        repetition: 1,
        hash: "h".to_owned(),
        state,
        attempt: 1,
        started_unix_ms: 5,
        ended_unix_ms: None,
        reasons: Vec::new(),
        notes: Vec::new(),
        gates: Gates::default(),
        judged: Vec::new(),
        figures: BTreeMap::new(),
    }
}

fn row() -> RowRecord {
    RowRecord {
        id: "a-1".to_owned(),
        title: "a".to_owned(),
        group: None,
        labels: BTreeMap::new(),
        plan: BTreeMap::new(),
        env: BTreeMap::new(),
        hash: "h".to_owned(),
        repeat: 1,
    }
}

#[test]
fn a_second_runner_is_told_who_holds_the_folder() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let held = StateLock::acquire(folder.path()).expect("nobody has it");
    let refused = StateLock::acquire(folder.path())
        .expect_err("it is held")
        .to_string();
    let me = format!("is in use by process {}; wait for it", std::process::id());
    assert!(refused.contains(&me), "{refused}");
    let holder = StateLock::holder(folder.path());
    assert_eq!(holder, Some(format!("process {}", std::process::id())));
    drop(held);
    assert_eq!(StateLock::holder(folder.path()), None);
    StateLock::acquire(folder.path()).expect("it is free again");
}

#[test]
fn a_run_is_whole_when_its_status_says_so_and_its_result_is_there() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let state = StateFolder::new(folder.path().join("s.state"), Arc::new(SystemDisk));
    assert!(!state.has_runs());
    let run = state
        .begin(&status(RunState::Running))
        .expect("the disk is well");
    assert!(state.has_runs() && state.whole(&row(), 1).is_none());
    assert!(
        state.keep_status(&status(RunState::Done)).is_err(),
        "there is no result to make durable"
    );
    let result = crate::gates::tests::result(5, 5);
    let bytes = serde_json::to_vec(&result).expect("a result can be written");
    state
        .disk()
        .write(&run.join(RESULT), &bytes)
        .expect("the disk is well");
    state
        .keep_status(&status(RunState::Done))
        .expect("the disk is well");
    assert!(state.whole(&row(), 1).is_some());
    let changed = RowRecord {
        hash: "other".to_owned(),
        ..row()
    };
    assert!(state.whole(&changed, 1).is_none());
    assert_eq!(*state.result("a-1", 1).expect("it is there"), result);
    state
        .begin(&status(RunState::Running))
        .expect("the disk is well");
    assert!(state.whole(&row(), 1).is_none());
    assert!(
        state
            .disk()
            .exists(&state.folder().join("history/a-1-1-1").join(RESULT))
    );
    state.set_all_aside().expect("the disk is well");
    assert!(!state.has_runs());
}

/// A suite of the one row, with a run that was made.
fn with_a_run(state: &StateFolder) -> SuiteRecord {
    let run = state
        .begin(&status(RunState::Running))
        .expect("the disk is well");
    let result = serde_json::to_vec(&crate::gates::tests::result(5, 5)).expect("it can be written");
    let disk = state.disk();
    disk.write(&run.join(RESULT), &result)
        .expect("the disk is well");
    state
        .keep_status(&status(RunState::Done))
        .expect("the disk is well");
    SuiteRecord {
        schema: String::new(),
        name: "s".to_owned(),
        file: "s.yaml".to_owned(),
        rows: vec![row()],
        facts: BTreeMap::new(),
    }
}

#[test]
fn a_result_that_was_cut_is_named_and_its_run_is_missing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let state = StateFolder::new(folder.path().to_owned(), Arc::new(SystemDisk));
    let record = with_a_run(&state);
    assert!(state.damaged(&record).is_empty());
    let file = state.run_folder("a-1", 1).join(RESULT);
    state
        .disk()
        .write(&file, b"{\"schema\":")
        .expect("the disk is well");
    let damaged = state.damaged(&record);
    assert_eq!(damaged.len(), 1);
    assert!(
        damaged[0].to_string().contains("result.json"),
        "{}",
        damaged[0]
    );
    assert!(state.whole(&row(), 1).is_none(), "it is repeated");
    let outcome = state.outcome(&record).expect("the others can be told");
    assert_eq!(outcome.rows[0].status, RowStatus::Pending);
}

#[test]
fn rows_that_were_run_otherwise_are_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let state = StateFolder::new(folder.path().to_owned(), Arc::new(SystemDisk));
    let mut record = with_a_run(&state);
    assert!(state.outdated(&record).is_empty());
    record.rows[0].hash = "edited".to_owned();
    assert_eq!(state.outdated(&record), ["a-1"]);
}

#[test]
fn a_status_that_was_changed_by_hand_is_no_status() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let state = StateFolder::new(folder.path().to_owned(), Arc::new(SystemDisk));
    let run = state
        .begin(&status(RunState::Running))
        .expect("the disk is well");
    state
        .disk()
        .write(&run.join("status.json"), b"{")
        .expect("the disk is well");
    assert_eq!(state.status("a-1", 1), None);
    state
        .disk()
        .write(&folder.path().join("suite.json"), b"{}")
        .expect("the disk is well");
    let error = state.suite().expect_err("it is not a record").to_string();
    assert!(
        error.contains("suite.json") && error.contains("missing field"),
        "{error}"
    );
    assert_eq!(usual_folder(Path::new("a/b.yaml")), Path::new("a/b.state"));
}

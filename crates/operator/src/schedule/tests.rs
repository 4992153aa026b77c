//! The next actions at an instant, and at none. Must not know the API. Invariant: every policy has a case.

use super::*;

fn object(schedule: &Value) -> Value {
    json!({
        "metadata": {"name": "s", "namespace": "n", "uid": "u"},
        "spec": {"bench": ["http://a/"], "schedule": schedule},
    })
}

fn of(schedule: &Value) -> Schedule {
    Schedule::read(&object(schedule)).expect("a schedule")
}

fn every(policy: &str) -> Schedule {
    of(&json!({"cron": "*/5 * * * *", "concurrencyPolicy": policy}))
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(minute * 60).expect("an instant")
}

fn child_of(minute: i64, over: Option<bool>) -> Child {
    Child {
        name: format!("s-{minute}"),
        over,
    }
}

/// The status after the instant of a minute.
fn told(minute: i64) -> Told {
    Told {
        last_schedule_time: Some(Time(at(minute))),
        ..every("Allow")
            .follow(None, at(minute), &[], at(minute))
            .told
    }
}

/// grafana/k6-operator#48, grafana/k6-operator#191.
#[test]
fn a_test_is_made_at_its_instant_and_once() {
    let schedule = every("Allow");
    let before = schedule.follow(None, at(1), &[], at(4));
    assert_eq!((before.make, before.told.active.len()), (None, 0));
    assert_eq!(before.told.next_schedule_time, Some(Time(at(5))));
    assert_eq!(before.again, Some(Duration::from_secs(60)));
    let then = schedule.follow(Some(&before.told), at(1), &[], at(5));
    assert_eq!(then.make.as_deref(), Some("s-5"));
    assert_eq!(then.told.last_schedule_time, Some(Time(at(5))));
    assert_eq!(then.told.active, ["s-5"]);
    // A repeated check creates no second test, nor does one that finds the test created.
    let children = [child_of(5, None)];
    let again = schedule.follow(Some(&then.told), at(1), &children, at(5));
    assert_eq!(
        (again.make, again.drop.len(), again.notes.len()),
        (None, 0, 0)
    );
    for policy in ["Allow", "Forbid", "Replace"] {
        let again = every(policy).follow(Some(&before.told), at(1), &children, at(5));
        assert_eq!((again.make, again.drop.len()), (None, 0), "{policy}");
        assert_eq!(again.told.last_schedule_time, Some(Time(at(5))));
    }
}

#[test]
fn a_test_that_the_api_does_not_want_is_told_until_the_next_instant() {
    let schedule = every("Allow");
    let mut refused = schedule.follow(Some(&told(5)), at(1), &[], at(10));
    refused.refuse(&invalid("a quota".to_owned()));
    assert_eq!(
        (refused.make.as_ref(), refused.told.active.len()),
        (None, 0)
    );
    assert_eq!(refused.notes.len(), 1);
    let later = schedule.follow(Some(&refused.told), at(1), &[], at(11));
    assert_eq!(
        (later.make, later.told.message.as_deref()),
        (None, Some("a quota"))
    );
    let next = schedule.follow(Some(&refused.told), at(1), &[], at(15));
    assert_eq!(
        (next.make.as_deref(), next.told.message),
        (Some("s-15"), None)
    );
}

#[test]
fn of_missed_instants_the_last_is_made_up_for() {
    let late = every("Allow").follow(Some(&told(5)), at(1), &[], at(32));
    assert_eq!(late.make.as_deref(), Some("s-30"));
    let deadline = json!({"cron": "*/5 * * * *", "startingDeadlineSeconds": 60});
    let late = of(&deadline).follow(Some(&told(5)), at(1), &[], at(32));
    assert_eq!(late.make, None);
    assert_eq!(late.told.last_schedule_time, Some(Time(at(5))));
    let in_time = of(&deadline).follow(Some(&told(5)), at(1), &[], at(30));
    assert_eq!(in_time.make.as_deref(), Some("s-30"));
}

#[test]
fn a_policy_says_what_becomes_of_one_that_still_runs() {
    let children = [child_of(5, None)];
    let both = every("Allow").follow(Some(&told(5)), at(1), &children, at(10));
    assert_eq!(both.make.as_deref(), Some("s-10"));
    assert_eq!(both.told.active, ["s-5", "s-10"]);
    let left_out = every("Forbid").follow(Some(&told(5)), at(1), &children, at(10));
    assert_eq!((left_out.make, left_out.drop.len()), (None, 0));
    assert_eq!(left_out.notes[0].reason, "LeftOut");
    // It stays skipped when the other has ended.
    let later = [child_of(5, Some(true))];
    let later = every("Forbid").follow(Some(&left_out.told), at(1), &later, at(11));
    assert_eq!(later.make, None);
    let replaced = every("Replace").follow(Some(&told(5)), at(1), &children, at(10));
    assert_eq!(replaced.drop, ["s-5"]);
    assert_eq!(replaced.make.as_deref(), Some("s-10"));
    assert_eq!(replaced.told.active, ["s-10"]);
}

#[test]
fn nothing_comes_while_it_is_suspended() {
    let schedule = of(&json!({"cron": "* * * * *", "suspend": true}));
    let next = schedule.follow(Some(&told(5)), at(1), &[child_of(5, None)], at(9));
    assert_eq!((next.make, next.again), (None, None));
    assert_eq!(next.told.stage, "suspended");
    assert_eq!(next.told.next_schedule_time, None);
    assert_eq!(next.told.active, ["s-5"]);
}

#[test]
fn so_many_stay_of_those_that_ended() {
    let children: Vec<Child> = [
        (1, true),
        (2, true),
        (3, false),
        (4, false),
        (5, true),
        (6, true),
    ]
    .map(|(minute, passed)| child_of(minute, Some(passed)))
    .to_vec();
    let next = every("Allow").follow(Some(&told(5)), at(1), &children, at(6));
    assert_eq!(next.drop, ["s-1", "s-3"]);
    let none =
        json!({"cron": "* * * * *", "successfulRunsHistoryLimit": 0, "failedRunsHistoryLimit": 0});
    let next = of(&none).follow(Some(&told(6)), at(1), &children, at(6));
    assert_eq!(next.drop.len(), 6);
}

#[test]
fn what_cannot_be_followed_is_refused_with_its_field() {
    for (schedule, named) in [
        (json!({}), "spec.schedule.cron"),
        (json!({"cron": "0 0 30 2 *"}), "no such day exists"),
        (
            json!({"cron": "* * * * *", "timeZone": "Vienna"}),
            "spec.schedule.timeZone",
        ),
        (
            json!({"cron": "* * * * *", "timeZone": "../etc/passwd"}),
            "spec.schedule.timeZone",
        ),
        (
            json!({"cron": "* * * * *", "concurrencyPolicy": "Queue"}),
            "concurrencyPolicy",
        ),
        (
            json!({"cron": "* * * * *", "startingDeadlineSeconds": -1}),
            "startingDeadlineSeconds",
        ),
        (
            json!({"cron": "* * * * *", "every": "5m"}),
            "spec.schedule.every",
        ),
    ] {
        let refusal = Schedule::read(&object(&schedule)).expect_err(named);
        assert!(refusal.message.contains(named), "{refusal}");
    }
    let mut broken = object(&json!({"cron": "* * * * *"}));
    broken["spec"]["bench"] = json!([]);
    assert!(Schedule::read(&broken).is_err());
    let mut long = object(&json!({"cron": "* * * * *"}));
    long["metadata"]["name"] = json!("x".repeat(43));
    assert!(Schedule::read(&long).is_err());
}

#[test]
fn a_test_is_the_schedules_and_has_none_of_its_own() {
    let child = child(&object(&json!({"cron": "* * * * *"})), "s-7");
    assert!(!is_scheduled(&child));
    assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], "u");
    assert_eq!(child["metadata"]["labels"][LABEL], "s");
    assert!(load_test::read(&child).is_ok());
}

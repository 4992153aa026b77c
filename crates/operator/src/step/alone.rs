//! Tests that run in one pod, without agents.
//!
//! Must not know what the pod runs. Invariant: the stages are the same as for other tests, except those of
//! agents.

use super::{Act, At, Step};
use crate::seen::Role;

impl At<'_> {
    /// The first stage: from the pod's creation to its start.
    pub(super) fn alone(&self) -> Step {
        if let Some(end) = self.coordinator_end() {
            return match end.has_run() {
                true => self.start(),
                false => self.failed_before_start(&end),
            };
        }
        if self.seen.job(Role::Coordinator).is_none() {
            return Step::default().and(Act::MakeCoordinator);
        }
        let pod = self.seen.pod(Role::Coordinator);
        match pod.is_some_and(|pod| pod.is_running) {
            true => self.start(),
            false => self.wait(),
        }
    }

    /// The progress of a suite.
    pub(super) fn progress(&self) -> Step {
        let mut step = Step::default();
        if let Some(pod) = self.seen.pod(Role::Coordinator) {
            step.acts.push(Act::Listen(pod.name.clone()));
        }
        let runs = self.seen.heard.runs;
        if runs.is_some() && runs != self.status.runs {
            let mut next = self.status.clone();
            next.runs = runs;
            step.status = Some(next);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{at, ended, job, pod, stage, told};
    use super::super::{Seen, step};
    use super::*;
    use crate::seen::SeenPod;
    use crate::status::{Known, Outcome, Stage};
    use crate::test::Test;
    use loadline_model::test_kind::TestKind;

    fn suite() -> Test {
        crate::load_suite::read(&json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "u"},
            "spec": {"suite": {"configMap": {"name": "c"}}},
        }))
        .expect("a suite")
    }

    fn seen(pod: SeenPod) -> Seen {
        Seen {
            jobs: vec![job(Role::Coordinator)],
            pods: vec![pod],
            ..Seen::default()
        }
    }

    fn known(step: Step) -> Known {
        Known::Ours(Box::new(step.status.expect("a status")))
    }

    #[test]
    fn one_pod_goes_through_its_stages() {
        let run = suite();
        let begun = step(&run, &Known::New, &Seen::default(), at(0));
        assert_eq!(begun.acts, [Act::MakeCoordinator]);
        let known_as = known(begun);
        let started = step(&run, &known_as, &seen(pod(Role::Coordinator)), at(1));
        assert_eq!(stage(&started), Some(Stage::Started));
        let known_as = known(started);
        let going_on = step(&run, &known_as, &seen(pod(Role::Coordinator)), at(2));
        assert!(going_on.status.is_none() && going_on.notes.is_empty());
        let over = seen(ended(Role::Coordinator, 99, "Error", "level=error msg=x"));
        let stopped = step(&run, &known_as, &over, at(3));
        assert_eq!(stage(&stopped), Some(Stage::Stopped));
        let finished = step(&run, &known(stopped), &over, at(3));
        assert_eq!(told(&finished).0, "RowFailed");
        let status = finished.status.expect("a status");
        assert_eq!(
            (status.stage, status.result),
            (Stage::Finished, Some(Outcome::Failed))
        );
        assert!(status.lost.is_empty());
        let names: Vec<&str> = status
            .conditions
            .iter()
            .map(|one| one.type_.as_str())
            .collect();
        assert_eq!(names, ["Running", "Passed"]);
        assert_eq!(
            Known::read(&json!({ "status": status })),
            Known::Ours(Box::new(status))
        );
    }

    #[test]
    fn a_suite_tells_how_far_it_is_and_that_a_row_failed() {
        let run = suite();
        let begun = known(step(&run, &Known::New, &Seen::default(), at(0)));
        let mut seen_now = seen(pod(Role::Coordinator));
        let started = known(step(&run, &begun, &seen_now, at(1)));
        let listening = step(&run, &started, &seen_now, at(1));
        assert_eq!(listening.acts, [Act::Listen("t-coordinator-x".to_owned())]);
        let runs = Some(crate::status::Runs { done: 1, total: 2 });
        seen_now.heard.runs = runs;
        let told_of = step(&run, &started, &seen_now, at(2));
        assert_eq!(told_of.status.as_ref().and_then(|status| status.runs), runs);
        let over = seen(ended(
            Role::Coordinator,
            99,
            "Error",
            "1 passed, 1 failed, 0 pending",
        ));
        let stopped = known(step(&run, &known(told_of), &over, at(3)));
        let finished = step(&run, &stopped, &over, at(3));
        let (reason, message) = told(&finished);
        assert_eq!(reason, "RowFailed");
        assert_eq!(message, "a row failed: 1 passed, 1 failed, 0 pending");
        assert_eq!(finished.status.expect("a status").runs, runs);
    }

    #[test]
    fn a_suite_that_cannot_be_run_is_an_error() {
        let run = suite();
        let begun = || known(step(&run, &Known::New, &Seen::default(), at(0)));
        let refused = seen(ended(
            Role::Coordinator,
            104,
            "Error",
            "level=error msg=\"no plan\"",
        ));
        let error = step(&run, &begun(), &refused, at(1));
        assert_eq!(stage(&error), Some(Stage::Error));
        assert_eq!(told(&error).0, "InvalidConfig");
        assert!(told(&error).1.contains("no plan"));
        let unseen = seen(ended(Role::Coordinator, 0, "Completed", ""));
        let started = step(&run, &begun(), &unseen, at(60));
        assert_eq!(stage(&started), Some(Stage::Started));
        assert_eq!(run.kind, TestKind::LoadSuite);
    }
}

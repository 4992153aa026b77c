//! Schedules of `LoadTest`s: reads the tests they created, and executes the steps that follow.
//!
//! Must not know why they follow. Invariant: a test is created before the status mentions it, and the test for
//! an instant has a unique name.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::core::DynamicObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Operator, is_gone, make};
use crate::clock;
use crate::failure::{Failure, Key};
use crate::schedule::{self, Child, Next, Schedule, Told};
use crate::status::{Known, Outcome};
use crate::test::Refusal;
use loadline_model::test_kind::TestKind;

/// Maximum time between two checks of a schedule: clocks may be set.
const AGAIN_MAX: Duration = Duration::from_secs(86_400);

impl Operator {
    /// Checks a schedule, and performs the next step.
    pub(super) async fn look_scheduled(
        &self,
        key: &Key,
        object: &DynamicObject,
        value: &Value,
    ) -> Result<Option<Duration>, Failure> {
        let schedule = match Schedule::read(value) {
            Ok(schedule) => schedule,
            Err(refusal) => return self.refuse_schedule(key, object, value, &refusal).await,
        };
        let told = Told::deserialize(&value["status"]).ok();
        let made = object.metadata.creation_timestamp.as_ref();
        let made = made.map_or_else(clock::now, |made| made.0);
        let children = self.children(key, object).await?;
        let now: Timestamp = clock::now();
        let mut next = schedule.follow(told.as_ref(), made, &children, now);
        match self.make_and_drop(key, object, value, &next).await {
            Ok(()) => {}
            // The API refused this one; it may accept the next.
            Err(Failure::Refused(refusal)) => next.refuse(&refusal),
            Err(passing) => return Err(passing),
        }
        self.tell_of_schedule(key, object, told.as_ref(), &next.told)
            .await?;
        for note in &next.notes {
            self.tell(key.kind, object, note).await;
        }
        Ok(next.again.map(|again| again.min(AGAIN_MAX)))
    }

    async fn refuse_schedule(
        &self,
        key: &Key,
        object: &DynamicObject,
        value: &Value,
        refusal: &Refusal,
    ) -> Result<Option<Duration>, Failure> {
        let told = Told::deserialize(&value["status"]).ok();
        let next = schedule::refused(refusal, told.as_ref());
        if told.as_ref() != Some(&next) {
            self.tell_of_schedule(key, object, told.as_ref(), &next)
                .await?;
            self.tell(key.kind, object, &schedule::note_of(refusal))
                .await;
        }
        Ok(None)
    }

    /// Removes the tests of a deleted schedule, without waiting for the garbage collector.
    pub(super) async fn drop_scheduled(&self, key: &Key) -> Result<(), Failure> {
        let made_by = ListParams::default().labels(&format!("{}={}", schedule::LABEL, key.name));
        let tests = self.tests(key.kind, &key.namespace);
        let listed = tests.list_metadata(&made_by).await;
        let listed = listed.map_err(|error| Failure::of("the tests of the schedule", &error))?;
        for test in listed {
            let mut owners = test.owner_references().iter();
            let is_left = owners.any(|owner| owner.name == key.name);
            if is_left && test.metadata.deletion_timestamp.is_none() {
                let name = test.name_any();
                let deleted = tests.delete(&name, &DeleteParams::background()).await;
                is_gone(deleted.map(drop), &name)?;
            }
        }
        Ok(())
    }

    /// The tests that a schedule created.
    async fn children(&self, key: &Key, object: &DynamicObject) -> Result<Vec<Child>, Failure> {
        let made_by = ListParams::default().labels(&format!("{}={}", schedule::LABEL, key.name));
        let listed = self.tests(key.kind, &key.namespace).list(&made_by).await;
        let listed = listed.map_err(|error| Failure::of("the tests of the schedule", &error))?;
        let uid = object.uid().unwrap_or_default();
        let is_of_this = |test: &&DynamicObject| {
            let mut owners = test.owner_references().iter();
            test.metadata.deletion_timestamp.is_none() && owners.any(|owner| owner.uid == uid)
        };
        Ok(listed.iter().filter(is_of_this).map(child).collect())
    }

    async fn make_and_drop(
        &self,
        key: &Key,
        object: &DynamicObject,
        value: &Value,
        next: &Next,
    ) -> Result<(), Failure> {
        let tests = self.tests(key.kind, &key.namespace);
        for name in &next.drop {
            let deleted = tests.delete(name, &DeleteParams::background()).await;
            is_gone(deleted.map(drop), name)?;
        }
        let Some(name) = &next.make else {
            return Ok(());
        };
        let owner = (TestKind::LoadTest, object.uid().unwrap_or_default());
        make::make(
            &self.client,
            (owner.0, &owner.1),
            &schedule::child(value, name),
        )
        .await
        .map(drop)
    }

    async fn tell_of_schedule(
        &self,
        key: &Key,
        object: &DynamicObject,
        told: Option<&Told>,
        next: &Told,
    ) -> Result<(), Failure> {
        if told == Some(next) {
            return Ok(());
        }
        let patch = json!({
            "metadata": {"resourceVersion": object.metadata.resource_version},
            "status": next,
        });
        let tests = self.tests(key.kind, &key.namespace);
        let written = tests
            .patch_status(&key.name, &PatchParams::default(), &Patch::Merge(&patch))
            .await;
        match written {
            Ok(_) => Ok(()),
            // Somebody was first, which is an event of its own.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            Err(error) => Err(Failure::of("the status of the schedule", &error)),
        }
    }
}

fn child(test: &DynamicObject) -> Child {
    let over = match Known::read(&test.data) {
        Known::Ours(status) if status.stage.is_last() => {
            Some(status.result == Some(Outcome::Passed))
        }
        Known::New | Known::Ours(_) | Known::Foreign => None,
    };
    Child {
        name: test.name_any(),
        over,
    }
}

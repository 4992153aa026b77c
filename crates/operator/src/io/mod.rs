//! The running operator: watches objects, and executes the steps that follow.
//!
//! Must not know why a step follows. Invariants: every decision depends only on the current state in the API,
//! so a restart changes nothing; a status is only written over the version that was read; nothing is polled at
//! fixed intervals.

mod keep;
mod lines;
mod listen;
mod make;
mod scheduled;
mod warnings;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use kube::api::{DeleteParams, ListParams, LogParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Writer;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use crate::clock;
use crate::failure::{Failure, Key, in_words};
use crate::lease::{self, OtherOperator};
use crate::names::{MANAGER, Names};
use crate::pods::Settings;
use crate::reading;
use crate::schedule;
use crate::seen::{Heard, Role, SeenJob, SeenPod};
use crate::status::{Known, Runs, Stage};
use crate::step::{self, Act, Note, Seen, Step};
use crate::terminal;
use crate::test::{Test, Work};
use loadline_model::test_kind::TestKind;

use listen::{Hearing, Listeners};

/// How long changes are collected before they are handled: one change of a pod is several events.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// Time after which failed actions are retried.
const TRY_AGAIN: Duration = Duration::from_secs(1);
/// How often to check whether another operator still has the tests.
const OTHER_EVERY: Duration = Duration::from_secs(30);
/// Maximum stages that one check may pass through.
const STAGES_AT_ONCE: usize = 4;
/// Lines at the end of a log that are read.
const TAIL_LINES: i64 = 20;
/// Maximum bytes of a suite's log that are read when it has ended.
const SUITE_LOG_MAX: i64 = 1 << 20;
/// Maximum bytes of an Event's text that the API accepts.
const NOTE_MAX: usize = 1_024;

/// A kind as the API describes it.
#[must_use]
pub(crate) fn resource(kind: TestKind) -> ApiResource {
    let kind = GroupVersionKind::gvk(kind.group(), kind.version(), kind.name());
    ApiResource::from_gvk(&kind)
}

/// The operator.
pub(crate) struct Operator {
    client: Client,
    settings: Settings,
    other: OtherOperator,
    recorder: Recorder,
    listeners: Listeners,
}

impl Operator {
    /// An operator, and its channel for tests to check.
    pub(crate) fn new(
        client: Client,
        settings: Settings,
        namespaces_of_other: Vec<String>,
    ) -> (Arc<Operator>, UnboundedReceiver<Key>) {
        let (wake, woken): (UnboundedSender<Key>, _) = unbounded();
        let reporter = Reporter {
            controller: MANAGER.to_owned(),
            instance: None,
        };
        let operator = Operator {
            recorder: Recorder::new(client.clone(), reporter),
            listeners: Listeners::new(client.clone(), wake),
            other: OtherOperator::new(client.clone(), namespaces_of_other),
            client,
            settings,
        };
        (Arc::new(operator), woken)
    }

    /// Handles the tests of these kinds in namespaces until it is dropped.
    pub(crate) async fn attend(
        self: Arc<Operator>,
        kinds: &[TestKind],
        namespaces: &[String],
        woken: UnboundedReceiver<Key>,
    ) {
        // A Lease that changes between this look and the first test has a living holder.
        self.other.place().await;
        let mut wakers = Vec::new();
        let mut all = Vec::new();
        let each = |namespace| kinds.iter().map(move |kind| (*kind, namespace));
        for (kind, namespace) in namespaces.iter().flat_map(each) {
            let (wake, woken) = unbounded();
            wakers.push((kind, namespace, wake));
            all.push(Arc::clone(&self).attend_one(kind, namespace, woken));
        }
        let passing_on = woken.for_each(|key| {
            let mut of = wakers.iter();
            let of =
                of.find(|(kind, namespace, _)| *kind == key.kind && **namespace == key.namespace);
            if let Some((kind, _, wake)) = of {
                let object = ObjectRef::new_with(&key.name, resource(*kind)).within(&key.namespace);
                // The receiver lives as long as this.
                drop(wake.unbounded_send(object));
            }
            std::future::ready(())
        });
        futures::future::join(passing_on, futures::future::join_all(all)).await;
    }

    async fn attend_one(
        self: Arc<Operator>,
        kind: TestKind,
        namespace: &str,
        woken: impl Stream<Item = ObjectRef<DynamicObject>> + Send + 'static,
    ) {
        let resource = resource(kind);
        let tests = self.tests(kind, namespace);
        let selector = kind.selector();
        let labelled = || watcher::Config::default().labels(&selector);
        let kept = Writer::new(resource.clone());
        let reader = kept.as_reader();
        // A deleted test has to be checked, too.
        let touched = watcher(tests, watcher::Config::default())
            .reflect(kept)
            .touched_objects();
        let controller = Controller::for_stream_with(touched, reader, resource)
            .with_config(controller::Config::default().debounce(DEBOUNCE))
            .watches(self.api::<Job>(namespace), labelled(), move |job| {
                test_of(kind, &job)
            })
            .watches(self.api::<Pod>(namespace), labelled(), move |pod| {
                test_of(kind, &pod)
            })
            .reconcile_on(woken);
        let controller = match kind {
            TestKind::LoadTest => self.with_schedules(controller, namespace),
            TestKind::TestRun | TestKind::K6 | TestKind::LoadSuite => controller,
        };
        let operator = Arc::clone(&self);
        let reconcile = move |object, operator| reconcile(kind, object, operator);
        let mut ended = pin!(controller.run(reconcile, failed, operator));
        while let Some(ended) = ended.next().await {
            match ended {
                Ok(_) => {}
                Err(controller::Error::ObjectNotFound(gone)) => {
                    let key = Key {
                        kind,
                        namespace: gone.namespace.clone().unwrap_or_default(),
                        name: gone.name.clone(),
                    };
                    if let Err(failure) = self.look(&key).await {
                        // Remaining objects are left to the garbage collector.
                        terminal::say(&format!("{}: {failure}", key.name));
                    }
                }
                // Called with the failure.
                Err(controller::Error::ReconcilerFailed(..)) => {}
                Err(error) => terminal::say(&format!("{namespace}: {error}")),
            }
        }
    }

    /// Tests wake the schedule that created them.
    fn with_schedules(
        &self,
        controller: Controller<DynamicObject>,
        namespace: &str,
    ) -> Controller<DynamicObject> {
        let kind = TestKind::LoadTest;
        controller.watches_with(
            self.tests(kind, namespace),
            resource(kind),
            watcher::Config::default().labels(schedule::LABEL),
            move |test| named_by(schedule::LABEL, kind, &test),
        )
    }

    fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    fn tests(&self, kind: TestKind, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &resource(kind))
    }

    /// Checks a test, and performs steps until there are none.
    async fn look(&self, key: &Key) -> Result<Option<Duration>, Failure> {
        for _ in 0..STAGES_AT_ONCE {
            let tests = self.tests(key.kind, &key.namespace);
            let object = tests.get_opt(&key.name).await;
            let object = object.map_err(|error| Failure::of(key.kind.name(), &error))?;
            let Some(object) = object.filter(|object| object.metadata.deletion_timestamp.is_none())
            else {
                self.listeners.forget(key);
                self.stop_deleted(key).await?;
                if key.kind == TestKind::LoadTest {
                    self.drop_scheduled(key).await?;
                }
                return Ok(None);
            };
            let value = serde_json::to_value(&object)
                .map_err(|error| Failure::Passing(error.to_string()))?;
            if schedule::is_scheduled(&value) && key.kind == TestKind::LoadTest {
                return self.look_scheduled(key, &object, &value).await;
            }
            let known = Known::read(&value);
            if key.kind.is_k6s()
                && known == Known::New
                && let Some(place) = self.other.place().await
            {
                self.tell(key.kind, &object, &left_to_other(&place)).await;
                return Ok(Some(OTHER_EVERY));
            }
            let run = match &known {
                Known::Ours(status) => {
                    let is_made = status.stage >= Stage::Created;
                    reading::begun(key.kind, &value, status.agents, is_made)
                }
                Known::New | Known::Foreign => reading::read(key.kind, &value),
            };
            let step = match run {
                Ok(run) => self.follow(&run, &known).await?,
                Err(refusal) => step::refuse(key.kind, &known, &refusal, clock::now()),
            };
            let goes_on = self.carry_out(key.kind, &object, &known, &step).await?;
            if !goes_on {
                return Ok(step.again);
            }
        }
        Ok(Some(Duration::ZERO))
    }

    /// Ends the load of a deleted test, without waiting for the garbage collector, which notices a new kind of
    /// resource only after half a minute.
    async fn stop_deleted(&self, key: &Key) -> Result<(), Failure> {
        let name = Names::new(key.kind, &key.name, "").coordinator();
        let job = self.api::<Job>(&key.namespace).get_opt(&name).await;
        let job = job.map_err(|error| Failure::of("the deleted test's Job", &error))?;
        let is_of_test = |job: &Job| {
            let mut owners = job.owner_references().iter();
            owners.any(|owner| owner.kind == key.kind.name() && owner.name == key.name)
        };
        match job.filter(is_of_test) {
            Some(_) => self.drop_job(&key.namespace, &name).await,
            None => Ok(()),
        }
    }

    /// The next step of a test, with its actions performed.
    async fn follow(&self, run: &Test, known: &Known) -> Result<Step, Failure> {
        let mut seen = self.observe(run, known).await?;
        if let Some(pod) = step::hands_on(known, &seen) {
            seen.kept = keep::result(&self.client, run, pod).await?;
        }
        let mut step = step::step(run, known, &seen, clock::now());
        for act in std::mem::take(&mut step.acts) {
            match self.act(run, &seen, &act).await {
                Ok(()) => {}
                Err(Failure::Refused(refusal)) => {
                    step = step::refuse(run.kind, known, &refusal, clock::now());
                    for act in std::mem::take(&mut step.acts) {
                        let seen = self.observe(run, known).await?;
                        self.act(run, &seen, &act).await?;
                    }
                    return Ok(step);
                }
                Err(passing) => return Err(passing),
            }
        }
        Ok(step)
    }

    /// Writes the status and records notes; returns whether the next stage has to be checked.
    async fn carry_out(
        &self,
        kind: TestKind,
        object: &DynamicObject,
        known: &Known,
        step: &Step,
    ) -> Result<bool, Failure> {
        let Some(status) = &step.status else {
            return Ok(false);
        };
        let namespace = object.namespace().unwrap_or_default();
        let patch = json!({
            "metadata": {"resourceVersion": object.metadata.resource_version},
            "status": status.written(),
        });
        let written = self
            .tests(kind, &namespace)
            .patch_status(
                &object.name_any(),
                &PatchParams::default(),
                &Patch::Merge(&patch),
            )
            .await;
        match written {
            Ok(_) => {}
            // Somebody else was first; that change triggers its own event.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => return Ok(true),
            Err(error) => {
                let what = format!("the status of {}", kind.name());
                return Err(Failure::of(&what, &error));
            }
        }
        for note in &step.notes {
            self.tell(kind, object, note).await;
        }
        let before = match known {
            Known::Ours(status) => Some(status.stage),
            Known::New | Known::Foreign => None,
        };
        Ok(before != Some(status.stage))
    }

    async fn observe(&self, run: &Test, known: &Known) -> Result<Seen, Failure> {
        match known {
            Known::Ours(status) if !status.stage.is_last() => {}
            Known::Ours(_) | Known::New | Known::Foreign => return Ok(Seen::default()),
        }
        let names = Names::of(run);
        let of_test = ListParams::default().labels(&format!("{}={}", run.kind.label(), run.name));
        let jobs = self.api::<Job>(&run.namespace);
        let pods = self.api::<Pod>(&run.namespace);
        let (listed, pods_listed) = futures::join!(jobs.list(&of_test), pods.list(&of_test));
        let failed = |error: kube::Error| Failure::of("the test's pods", &error);
        let jobs: Vec<SeenJob> = listed
            .map_err(failed)?
            .iter()
            .filter_map(|job| SeenJob::of(job, &names, &run.uid))
            .collect();
        let of_jobs = |pod: &Pod| {
            let mut owners = pod.metadata.owner_references.iter().flatten();
            owners.any(|owner| {
                jobs.iter()
                    .any(|job| job.name == owner.name && job.uid == owner.uid)
            })
        };
        let listed = pods_listed.map_err(failed)?;
        let pods_of_test = listed.iter().filter(|pod| of_jobs(pod));
        let mut seen = Seen {
            pods: pods_of_test
                .filter_map(|pod| SeenPod::of(pod, &names))
                .collect(),
            jobs,
            heard: self.listeners.heard(&run.uid),
            tail: String::new(),
            kept: None,
        };
        warnings::look_for(&self.api(&run.namespace), &mut seen, clock::now()).await;
        if let Some(pod) = seen.pod(Role::Coordinator)
            && let Some(ended) = &pod.ended
            && ended.code != 0
            && ended.message.is_empty()
            && ended.figures.is_none()
        {
            let ours = || run.kind.container().to_owned();
            let container = ended.before.clone().unwrap_or_else(ours);
            let params = LogParams {
                container: Some(container),
                tail_lines: Some(TAIL_LINES),
                ..LogParams::default()
            };
            // A deleted log has no content.
            seen.tail = pods.logs(&pod.name, &params).await.unwrap_or_default();
        }
        if matches!(run.work, Work::Suite { .. }) {
            heard_at_the_end(&pods, run, &mut seen).await;
        }
        Ok(seen)
    }

    async fn act(&self, run: &Test, seen: &Seen, act: &Act) -> Result<(), Failure> {
        let key = Key {
            kind: run.kind,
            namespace: run.namespace.clone(),
            name: run.name.clone(),
        };
        match act {
            Act::MakeCoordinator => make::coordinator(&self.client, run, &self.settings).await,
            Act::MakeAgents => make::agents(&self.client, run, &self.settings).await,
            Act::RemakeAgent(number) => {
                let mut jobs = seen.jobs.iter();
                if let Some(job) = jobs.find(|job| job.role == Role::Agent(*number)) {
                    self.drop_this_job(&run.namespace, job).await?;
                }
                make::agent(&self.client, run, &self.settings, *number).await
            }
            Act::DropAgents => {
                let agents = |job: &&SeenJob| job.role != Role::Coordinator;
                let going = |job: &&SeenJob| !job.is_going;
                let agents = seen.jobs.iter().filter(agents).filter(going);
                let all = agents.map(|job| self.drop_job(&run.namespace, &job.name));
                futures::future::try_join_all(all).await.map(drop)
            }
            Act::DropCoordinator => {
                let mut jobs = seen.jobs.iter();
                match jobs.find(|job| job.role == Role::Coordinator && !job.is_going) {
                    Some(job) => self.drop_job(&run.namespace, &job.name).await,
                    None => Ok(()),
                }
            }
            Act::Delete => {
                let tests = self.tests(run.kind, &run.namespace);
                let of_this = DeleteParams::background().preconditions(kube::api::Preconditions {
                    uid: Some(run.uid.clone()),
                    resource_version: None,
                });
                let deleted = tests.delete(&run.name, &of_this).await;
                is_gone(deleted.map(drop), run.kind.name())
            }
            Act::Listen(pod) => {
                let hearing = match run.work {
                    Work::Suite { .. } => Hearing::Suite,
                    Work::Script(_) | Work::Bench | Work::Plan(_) => {
                        Hearing::Agents(run.parallelism)
                    }
                };
                self.listeners.listen(&run.uid, &key, pod, hearing);
                Ok(())
            }
        }
    }

    /// Deletes a Job, but not a newer one with the same name.
    async fn drop_this_job(&self, namespace: &str, job: &SeenJob) -> Result<(), Failure> {
        let of_this = DeleteParams::background().preconditions(kube::api::Preconditions {
            uid: Some(job.uid.clone()),
            resource_version: None,
        });
        let deleted = self.api::<Job>(namespace).delete(&job.name, &of_this).await;
        is_gone(deleted.map(drop), &format!("Job {}", job.name))
    }

    async fn drop_job(&self, namespace: &str, name: &str) -> Result<(), Failure> {
        let jobs = self.api::<Job>(namespace);
        let deleted = jobs.delete(name, &DeleteParams::background()).await;
        is_gone(deleted.map(drop), &format!("Job {name}"))
    }

    /// Records an Event. A failure to do so is written to the operator's own log.
    async fn tell(&self, kind: TestKind, object: &DynamicObject, note: &Note) {
        let about = ObjectReference {
            api_version: Some(kind.api_version()),
            kind: Some(kind.name().to_owned()),
            name: object.metadata.name.clone(),
            namespace: object.metadata.namespace.clone(),
            uid: object.metadata.uid.clone(),
            ..ObjectReference::default()
        };
        let message = &note.message;
        let event = Event {
            type_: match note.is_warning {
                true => EventType::Warning,
                false => EventType::Normal,
            },
            reason: note.reason.clone(),
            note: Some(message[..message.floor_char_boundary(NOTE_MAX)].to_owned()),
            action: "Run".to_owned(),
            secondary: None,
        };
        let name = object.name_any();
        terminal::say(&format!("{name}: {}: {message}", note.reason));
        if let Err(error) = self.recorder.publish(&event, &about).await {
            terminal::say(&format!("{name}: no Event: {}", in_words(&error)));
        }
    }
}

fn left_to_other(place: &str) -> Note {
    Note {
        is_warning: true,
        reason: "LeftToK6Operator".to_owned(),
        message: format!(
            "k6-operator is running (Lease {} in namespace {place}) and has this test. To switch: kubectl -n {place} scale deployment --all --replicas=0, then apply the TestRun again",
            lease::OTHER
        ),
    }
}

/// The object may have been deleted already.
fn is_gone(deleted: Result<(), kube::Error>, what: &str) -> Result<(), Failure> {
    match deleted {
        Ok(()) => Ok(()),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(error) => Err(Failure::of(what, &error)),
    }
}

/// The test that an object claims to belong to.
fn test_of(kind: TestKind, object: &impl ResourceExt) -> Option<ObjectRef<DynamicObject>> {
    named_by(kind.label(), kind, object)
}

fn named_by(
    label: &str,
    kind: TestKind,
    object: &impl ResourceExt,
) -> Option<ObjectRef<DynamicObject>> {
    let name = object.labels().get(label)?;
    let namespace = object.namespace()?;
    Some(ObjectRef::new_with(name, resource(kind)).within(&namespace))
}

async fn reconcile(
    kind: TestKind,
    object: Arc<DynamicObject>,
    operator: Arc<Operator>,
) -> Result<Action, Failure> {
    let key = Key {
        kind,
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    };
    let again = operator.look(&key).await?;
    Ok(again.map_or_else(Action::await_change, Action::requeue))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the controller hands them over"
)]
fn failed(object: Arc<DynamicObject>, failure: &Failure, _: Arc<Operator>) -> Action {
    terminal::say(&format!("{}: {failure}; trying again", object.name_any()));
    Action::requeue(TRY_AGAIN)
}

/// Reads the progress of a suite that has ended: it may have ended before its log was followed.
async fn heard_at_the_end(pods: &Api<Pod>, run: &Test, seen: &mut Seen) {
    let Some(pod) = seen.pod(Role::Coordinator).filter(|pod| pod.is_over()) else {
        return;
    };
    let params = LogParams {
        container: Some(run.kind.container().to_owned()),
        limit_bytes: Some(SUITE_LOG_MAX),
        ..LogParams::default()
    };
    let mut heard = Heard::default();
    // A deleted log has no content.
    let log = pods.logs(&pod.name, &params).await.unwrap_or_default();
    log.lines().for_each(|line| heard.take_of_suite(line));
    let done = |runs: Option<Runs>| runs.map(|runs| runs.done);
    if done(heard.runs) > done(seen.heard.runs) {
        seen.heard.runs = heard.runs;
    }
}

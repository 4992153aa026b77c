//! What a script gets from the engine without waiting: time, metrics, log, numbers.
//!
//! One per virtual user. Must not know JavaScript. Invariant: every hop is recorded in the script's metrics and
//! in the request counts that every run keeps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_metric::{Contains, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;
use loadline_model::sample::RequestFacts;
use loadline_model::system_tags::SystemTag;
use loadline_script::host::{Host, InstanceFacts, LogEntry, ScenarioFacts};
use loadline_script::samples::{CheckSample, HttpFacts, HttpSample};
use loadline_script::trace::HopTrace;

use super::worker::{ScenarioScript, WorkerScript};
use crate::net::Failure;
use crate::record::Life;
use crate::record_script::Occasion;
use crate::script::Traced;
use crate::vu::beginning::Beginning;
use crate::vu::shared::Shared;

/// The non-blocking interface of one script virtual user.
pub(crate) struct VuHost {
    shared: Rc<Shared>,
    worker: Rc<WorkerScript>,
    scenario: RefCell<Rc<ScenarioScript>>,
    /// The scheduled start of the iteration; taken by its first request.
    intended: Cell<Option<Nanos>>,
    /// When that request started.
    first_hop: Cell<Option<Nanos>>,
    /// Whether the plan says when iterations are wanted, so that requests have a response time.
    has_intended: Cell<bool>,
    iteration_in_test: Cell<u64>,
    iteration_in_instance: Cell<u64>,
    iteration_in_scenario: Cell<u64>,
    metadata: RefCell<Option<Arc<TagSet>>>,
}

impl VuHost {
    pub(crate) fn new(
        shared: &Rc<Shared>,
        worker: &Rc<WorkerScript>,
        scenario: &Rc<ScenarioScript>,
    ) -> VuHost {
        VuHost {
            shared: Rc::clone(shared),
            worker: Rc::clone(worker),
            scenario: RefCell::new(Rc::clone(scenario)),
            intended: Cell::new(None),
            first_hop: Cell::new(None),
            has_intended: Cell::new(false),
            iteration_in_test: Cell::new(0),
            iteration_in_instance: Cell::new(0),
            iteration_in_scenario: Cell::new(0),
            metadata: RefCell::default(),
        }
    }

    /// Records samples for another scenario from now on.
    pub(super) fn join(&self, scenario: &Rc<ScenarioScript>) {
        *self.scenario.borrow_mut() = Rc::clone(scenario);
    }

    /// Records the start of an iteration, number `in_scenario` of the virtual user's in the scenario.
    pub(super) fn begin_iteration(&self, beginning: Beginning, in_scenario: u64) {
        self.intended.set(beginning.intended);
        self.first_hop.set(None);
        self.has_intended.set(beginning.intended.is_some());
        self.iteration_in_test.set(beginning.iteration);
        self.iteration_in_instance.set(beginning.in_instance);
        self.iteration_in_scenario.set(in_scenario);
    }

    /// Records the end of an iteration: it extends the run even if nothing was sent.
    pub(super) fn end_iteration(&self, now: Nanos) {
        self.shared.last_done.set(now);
    }

    /// The tags of samples that the engine records for the iteration itself, given the virtual user's own tags.
    pub(crate) fn tags_at_end(&self, own: &Rc<TagSet>) -> Rc<TagSet> {
        let scenario = self.scenario.borrow();
        if Rc::ptr_eq(own, &scenario.setup.tags) {
            return Rc::clone(&scenario.tags_at_top);
        }
        let has_group = self
            .worker
            .program
            .settings()
            .system_tags
            .has(SystemTag::Group);
        if !has_group || own.get("group").is_some() {
            return Rc::clone(own);
        }
        let group = scenario.tags_at_top.get("group").unwrap_or_default();
        Rc::new((**own).clone().with("group", group))
    }

    pub(crate) fn current_metadata(&self) -> Option<Arc<TagSet>> {
        self.metadata.borrow().clone()
    }

    fn on<'a>(
        &self,
        at: Nanos,
        tags: &'a dyn Tagged,
        metadata: Option<&'a Arc<TagSet>>,
    ) -> Occasion<'a> {
        Occasion { at, tags, metadata }
    }

    /// The scheduled start of a request that started at `started`: for the first one that of the iteration, for
    /// later ones their own start. Of several concurrent requests the first to start need not be the first to
    /// end.
    fn intended_of(&self, started: Nanos) -> Option<Nanos> {
        let own = self.has_intended.get().then_some(started);
        match self.first_hop.get() == Some(started) {
            true => self.intended.take().or(own),
            false => own,
        }
    }

    /// Counts hops whose response is no longer awaited, given their starts. Metrics exclude them, as in k6.
    pub(crate) fn cut_short(&self, hops: &[Nanos]) {
        let mut recorder = self.shared.recorder.borrow_mut();
        for started in hops {
            let life = Life::begin(None, *started);
            recorder.started(&life);
            recorder.interrupted(&life);
        }
    }

    /// Maintains the request counts that every run has.
    fn account(&self, sample: &HttpSample<'_>) {
        let facts = &sample.facts;
        let started = Nanos(facts.started_ns);
        let begun = started + Duration::from_nanos(sample.times.held);
        let mut life = Life::begin(self.intended_of(started), begun);
        life.blocked_ns = sample.times.blocked;
        life.connect_ns = sample.times.connecting + sample.times.tls_handshaking;
        life.sending_ns = sample.times.sending;
        life.waiting_ns = sample.times.waiting;
        life.receiving_ns = sample.times.receiving;
        life.done = Nanos(facts.done_ns);
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.started(&life);
        if let Some(class) = facts.failure {
            let request = format!("{} {}", sample.system.method, sample.system.url);
            recorder.failed(&life, &request, &Failure::new(class, facts.error));
        } else {
            let answer = &mut *self.worker.answer.borrow_mut();
            fill(answer, facts);
            let good = !sample.failed.unwrap_or(false);
            recorder.answered(&life, answer, good, None);
            if !facts.body.is_empty() {
                recorder.sample_body(answer, facts.body.as_bytes());
            }
        }
        self.shared.last_done.set(life.done);
    }
}

fn fill(answer: &mut crate::exchange::Answer, facts: &HttpFacts<'_>) {
    answer.clear();
    answer.status = facts.status;
    answer.body_bytes = facts.body_bytes;
    answer.set_content_type(facts.content_type);
}

impl Host for VuHost {
    fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    fn hop_begins(&self, at: Nanos) {
        if self.first_hop.get().is_none() {
            self.first_hop.set(Some(at));
        }
    }

    fn wants_body(&self) -> bool {
        self.shared.takes_body()
    }

    fn unix_ns(&self) -> u64 {
        self.shared.clock.started_unix_ns() + self.shared.clock.now().0
    }

    fn random(&self) -> u64 {
        self.shared.next_random()
    }

    fn log(&self, entry: LogEntry<'_>) {
        let clock = self.shared.clock;
        let begun = clock.now();
        self.worker.log.write(&entry);
        let mut recorder = self.worker.recorder.borrow_mut();
        recorder.held_up(clock.now().since(begun));
    }

    fn declare_metric(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, String> {
        self.worker
            .registry
            .declare(name, kind, contains)
            .map_err(|error| error.to_string())
    }

    fn value(&self, metric: MetricId, value: f64, tags: &dyn Tagged) {
        let metadata = self.current_metadata();
        let on = self.on(self.now(), tags, metadata.as_ref());
        let recorded = self.worker.recorder.borrow_mut().value(metric, value, on);
        if recorded.is_err() {
            self.worker.tell_of_infinity(metric);
        }
    }

    fn metadata(&self, metadata: Option<&Arc<TagSet>>) {
        *self.metadata.borrow_mut() = metadata.map(Arc::clone);
    }

    fn http(&self, sample: &HttpSample<'_>) {
        let metadata = self.current_metadata();
        let on = self.on(Nanos(sample.facts.done_ns), sample, metadata.as_ref());
        let facts = || RequestFacts {
            sent_bytes: sample.facts.sent_bytes,
            body_bytes: sample.facts.body_bytes,
            vus: self.worker.vus_at_work(&self.scenario.borrow()),
        };
        self.worker
            .recorder
            .borrow_mut()
            .http(&sample.times, sample.failed, facts, on);
        self.account(sample);
    }

    fn came_from(&self, place: String, started: Nanos) {
        let life = Life::begin(None, started);
        self.shared.recorder.borrow_mut().came_from(place, &life);
    }

    fn traced(&self, hop: &HopTrace<'_>) {
        self.worker
            .log
            .traced(&self.scenario.borrow().name, &Traced::Hop(hop));
    }

    fn check(&self, check: &CheckSample<'_>) {
        if self.worker.program.settings().traces {
            let traced = Traced::Check {
                name: check.name,
                group: check.group,
                passed: check.passed,
            };
            self.worker
                .log
                .traced(&self.scenario.borrow().name, &traced);
        }
        let metadata = self.current_metadata();
        let now = self.now();
        let on = self.on(now, check.tags, metadata.as_ref());
        self.worker.recorder.borrow_mut().check(check.passed, on);
        if let Some(request) = check.request {
            let mut recorder = self.shared.recorder.borrow_mut();
            recorder.check_failed_of(request, now);
        }
    }

    fn group(&self, _path: &str, duration_ns: u64, tags: &dyn Tagged) {
        let metadata = self.current_metadata();
        let on = self.on(self.now(), tags, metadata.as_ref());
        self.worker.recorder.borrow_mut().group(duration_ns, on);
    }

    fn instance(&self) -> InstanceFacts {
        let live = self.worker.live_totals();
        InstanceFacts {
            test_run_duration_ms: self.shared.clock.since_test_began().0 as f64 / 1e6,
            iterations_completed: live.iterations_completed,
            iterations_interrupted: live.iterations_interrupted,
            vus_active: live.vus_active,
            vus_initialized: live.vus_made,
        }
    }

    fn scenario(&self) -> Option<ScenarioFacts> {
        let scenario = self.scenario.borrow();
        if !scenario.is_scenario {
            return None;
        }
        let started_ms = self.shared.clock.started_unix_ns() as f64 / 1e6;
        let iteration = self.iteration_in_test.get();
        Some(ScenarioFacts {
            name: Arc::clone(&scenario.name),
            executor: scenario.executor,
            start_unix_ms: (started_ms + scenario.start.0 as f64 / 1e6).floor(),
            progress: scenario.progress(self.now()),
            iteration_in_instance: self.iteration_in_instance.get(),
            iteration_in_test: iteration,
            iteration_in_scenario: self.iteration_in_scenario.get(),
        })
    }

    fn mark_failed(&self, message: &str) {
        self.worker.mark_failed(message);
    }

    fn abort_test(&self, message: &str) {
        self.worker.abort(message);
    }
}

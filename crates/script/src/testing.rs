//! A simulated host: scripts run in virtual time, and a function responds to their requests.
//!
//! Must not know which modules exist. Invariant: time only advances while a script waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use loadline_metric::{BuiltIn, Contains, MetricDefinition, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;
use url::Url;

use crate::exports::Exports;
use crate::hop::{HopAnswer, HopHeaders, HopOutcome, HopProtocol, HopRequest, HopTimes};
use crate::host::{Host, InstanceFacts, LogEntry, ScenarioFacts};
use crate::loading::{Bytes, Fetch, FetchError, Libraries, Sources};
use crate::program::{Program, ProgramSettings};
use crate::samples::{CheckSample, HttpSample};
use crate::vu::{
    Ask, Ending, Iteration, OpId, Resume, ScenarioSetup, ScriptFailure, ScriptVu, StackPool, Step,
    Task, VuIds, Wait,
};

/// Responds to a request; the response takes `times`.
pub(crate) type Answering = Rc<dyn Fn(&HopRequest) -> HopOutcome>;

/// Files by full name.
struct Files(BTreeMap<String, String>);

impl Fetch for Files {
    fn read(&self, url: &Url) -> Result<Bytes, FetchError> {
        let file = self.0.get(url.as_str());
        file.map(|text| text.clone().into())
            .ok_or(FetchError::NotFound)
    }
}

/// A recorded value: metric, value, tags as text.
pub(crate) type Recorded = (String, f64, BTreeMap<String, String>);

/// The simulated world.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) now: Cell<u64>,
    /// Time per clock reading: lets a script that only computes use up time.
    look_ns: Cell<u64>,
    /// Lines of the log: level and message, then fields.
    pub(crate) log: RefCell<Vec<String>>,
    pub(crate) values: RefCell<Vec<Recorded>>,
    pub(crate) checks: RefCell<Vec<(String, String, bool)>>,
    pub(crate) aborted: RefCell<Option<String>>,
    pub(crate) failed: RefCell<Option<String>>,
    pub(crate) metadata: RefCell<Option<Arc<TagSet>>>,
    metrics: RefCell<Vec<MetricDefinition>>,
    iteration: Cell<u64>,
    random: Cell<u64>,
}

impl World {
    fn record(&self, metric: &str, value: f64, tags: &dyn Tagged) {
        let mut all = BTreeMap::new();
        tags.each_tag(&mut |name, value| {
            all.insert(name.to_owned(), value.to_owned());
        });
        self.values
            .borrow_mut()
            .push((metric.to_owned(), value, all));
    }

    /// Values of a metric.
    pub(crate) fn values_of(&self, metric: &str) -> Vec<f64> {
        let values = self.values.borrow();
        values
            .iter()
            .filter(|(name, _, _)| name == metric)
            .map(|(_, value, _)| *value)
            .collect()
    }
}

impl Host for World {
    fn now(&self) -> Nanos {
        self.now.set(self.now.get() + self.look_ns.get());
        Nanos(self.now.get())
    }

    fn unix_ns(&self) -> u64 {
        1_700_000_000_000_000_000 + self.now.get()
    }

    fn random(&self) -> u64 {
        let next = self
            .random
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.random.set(next);
        next.rotate_left(17)
    }

    fn log(&self, entry: LogEntry<'_>) {
        let fields: String = entry
            .fields
            .iter()
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        let line = format!("{} {}{fields}", entry.level, entry.message);
        self.log.borrow_mut().push(line);
    }

    fn declare_metric(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, String> {
        let mut metrics = self.metrics.borrow_mut();
        if let Some(known) = metrics.iter().position(|metric| &*metric.name == name) {
            return Ok(MetricId(known as u32));
        }
        metrics.push(MetricDefinition {
            name: name.into(),
            kind,
            contains,
        });
        Ok(MetricId(metrics.len() as u32 - 1))
    }

    fn value(&self, metric: MetricId, value: f64, tags: &dyn Tagged) {
        let name = self.metrics.borrow()[metric.0 as usize].name.to_string();
        self.record(&name, value, tags);
    }

    fn metadata(&self, metadata: Option<&Arc<TagSet>>) {
        *self.metadata.borrow_mut() = metadata.cloned();
    }

    fn http(&self, sample: &HttpSample<'_>) {
        self.record("http_reqs", 1.0, sample);
        if let Some(failed) = sample.failed {
            self.record("http_req_failed", f64::from(failed), sample);
        }
        self.record(
            "http_req_duration",
            sample.times.duration() as f64 / 1e6,
            sample,
        );
    }

    fn check(&self, check: &CheckSample<'_>) {
        self.checks.borrow_mut().push((
            check.group.to_owned(),
            check.name.to_owned(),
            check.passed,
        ));
        self.record("checks", f64::from(check.passed), check.tags);
    }

    fn group(&self, _: &str, duration_ns: u64, tags: &dyn Tagged) {
        self.record("group_duration", duration_ns as f64 / 1e6, tags);
    }

    fn instance(&self) -> InstanceFacts {
        InstanceFacts {
            test_run_duration_ms: self.now.get() as f64 / 1e6,
            vus_active: 1,
            vus_initialized: 1,
            ..InstanceFacts::default()
        }
    }

    fn scenario(&self) -> Option<ScenarioFacts> {
        Some(ScenarioFacts {
            name: "default".into(),
            executor: "per-vu-iterations",
            start_unix_ms: 1_700_000_000_000.0,
            progress: 0.0,
            iteration_in_instance: self.iteration.get(),
            iteration_in_test: self.iteration.get(),
            iteration_in_scenario: self.iteration.get(),
        })
    }

    fn mark_failed(&self, message: &str) {
        *self.failed.borrow_mut() = Some(message.to_owned());
    }

    fn abort_test(&self, message: &str) {
        *self.aborted.borrow_mut() = Some(message.to_owned());
    }
}

/// Prepares a script for a run in virtual time.
pub(crate) struct Rehearsal {
    files: BTreeMap<String, String>,
    settings: ProgramSettings,
    iterations: u64,
    answering: Answering,
    /// Cancel the run at this instant.
    cancel_at: Option<u64>,
}

/// A line of the log without its source, and without its level if that is the usual one.
pub(crate) fn bare(line: &str) -> &str {
    let line = line.strip_prefix("info ").unwrap_or(line);
    line.strip_suffix(" source=console").unwrap_or(line)
}

/// The outcome.
pub(crate) struct Rehearsed {
    pub(crate) world: Rc<World>,
    /// Results of init and then of each iteration.
    pub(crate) endings: Vec<Ending>,
    pub(crate) exports: Result<Option<Exports>, ScriptFailure>,
}

impl Rehearsed {
    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<String> {
        self.world.log.borrow().clone()
    }

    /// What the script said by `console.log`, without level and source; no task failed.
    pub(crate) fn said(&self) -> Vec<String> {
        assert_eq!(self.failure(), None);
        self.log()
            .iter()
            .map(|line| bare(line).to_owned())
            .collect()
    }

    /// The message of the last failed task.
    pub(crate) fn failure(&self) -> Option<String> {
        self.endings.iter().rev().find_map(|ending| match ending {
            Ending::Failed(failure) => Some(failure.to_string()),
            _ => None,
        })
    }
}

/// A plain response.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> HopAnswer {
    let mut fields = HopHeaders::default();
    for (name, value) in headers {
        fields.push(name.as_bytes(), value.as_bytes());
    }
    HopAnswer {
        status,
        reason: Some("OK".to_owned()),
        protocol: HopProtocol::Http11,
        headers: fields,
        body: body.to_vec(),
        remote: None,
        tls: None,
        times: HopTimes {
            waiting: 1_000_000,
            ..HopTimes::default()
        },
        done_at: Nanos::ZERO,
        sent_bytes: 90,
    }
}

impl Rehearsal {
    /// A rehearsal of this script: one iteration, with an empty 200 response to every request.
    #[expect(
        clippy::result_large_err,
        reason = "what comes of a hop is boxed by the seam"
    )]
    pub(crate) fn new(script: &str) -> Rehearsal {
        Rehearsal {
            files: BTreeMap::from([("file:///script.js".to_owned(), script.to_owned())]),
            settings: ProgramSettings::default(),
            iterations: 1,
            answering: Rc::new(|_| Ok(answer(200, &[], b""))),
            cancel_at: None,
        }
    }

    /// Another file that the script imports or opens.
    pub(crate) fn file(mut self, name: &str, text: &str) -> Rehearsal {
        self.files
            .insert(format!("file:///{name}"), text.to_owned());
        self
    }

    pub(crate) fn iterations(mut self, iterations: u64) -> Rehearsal {
        self.iterations = iterations;
        self
    }

    pub(crate) fn settings(mut self, change: impl FnOnce(&mut ProgramSettings)) -> Rehearsal {
        change(&mut self.settings);
        self
    }

    /// Sets the function that responds to requests.
    pub(crate) fn answering(
        mut self,
        answering: impl Fn(&HopRequest) -> HopOutcome + 'static,
    ) -> Rehearsal {
        self.answering = Rc::new(answering);
        self
    }

    /// Cancels the run at an instant.
    pub(crate) fn cancelled_at(mut self, at_ns: u64) -> Rehearsal {
        self.cancel_at = Some(at_ns);
        self
    }

    pub(crate) fn run(self) -> Rehearsed {
        let world = Rc::new(World::default());
        if self.cancel_at.is_some() {
            world.look_ns.set(100_000);
        }
        let built_in = BuiltIn::ALL.iter().map(|metric| metric.definition());
        world.metrics.borrow_mut().extend(built_in);
        let entry = Url::parse("file:///script.js").expect("it is an address");
        let folder = Url::parse("file:///").expect("it is an address");
        let fetch = Box::new(Files(self.files.clone()));
        let sources = Arc::new(Sources::new(fetch, entry, folder, Libraries::Embedded));
        let program = Program::new("file:///script.js", sources, self.settings.clone());
        let host: Rc<dyn Host> = Rc::clone(&world) as Rc<dyn Host>;
        let vu = ScriptVu::new(Arc::new(program), host, StackPool::new(), VuIds::FIRST);
        let mut vu = vu.expect("there is memory");
        let mut endings = vec![self.task(&mut vu, &world, Task::Init)];
        let exports = vu.exports();
        let scenario = Rc::new(ScenarioSetup {
            function: "default".into(),
            env: Vec::new(),
            data: Arc::default(),
            tags: Rc::new(TagSet::new().with("scenario", "default")),
        });
        let is_ready = matches!(endings[0], Ending::Done(_));
        for number in 0..if is_ready { self.iterations } else { 0 } {
            world.iteration.set(number);
            let task = Task::Iteration(Iteration {
                scenario: Rc::clone(&scenario),
                number,
            });
            let ending = self.task(&mut vu, &world, task);
            let stop = matches!(ending, Ending::Cancelled);
            endings.push(ending);
            if stop {
                break;
            }
        }
        drop(vu);
        Rehearsed {
            world,
            endings,
            exports,
        }
    }

    fn task(&self, vu: &mut ScriptVu, world: &World, task: Task) -> Ending {
        let mut under_way: BTreeMap<(u64, OpId), HopOutcome> = BTreeMap::new();
        let mut step = vu.begin(task).expect("there is memory");
        loop {
            let ask = match step {
                Step::Ended(ending) => return ending,
                Step::Asks(ask) => ask,
            };
            let resume = self.fulfil(world, ask, &mut under_way);
            step = vu.resume(resume);
        }
    }

    fn fulfil(
        &self,
        world: &World,
        ask: Ask,
        under_way: &mut BTreeMap<(u64, OpId), HopOutcome>,
    ) -> Resume {
        let now = world.now.get();
        for (id, request) in ask.started {
            let outcome = (self.answering)(&request);
            under_way.insert((now + length(&outcome), id), outcome);
        }
        let due = match &ask.wait {
            Wait::Turn => now + 1_000,
            Wait::Hop(_) => now,
            Wait::Any(until) => {
                let hop = under_way.first_key_value().map(|((at, _), _)| *at);
                let due = hop.into_iter().chain(until.map(|until| until.0)).min();
                due.expect("a script that waits waits for something")
                    .max(now)
            }
        };
        if self.cancel_at.is_some_and(|at| due >= at) {
            return Resume::Cancel;
        }
        world.now.set(due);
        match ask.wait {
            Wait::Turn => Resume::Go,
            Wait::Hop(request) => {
                let mut outcome = (self.answering)(&request);
                world.now.set(now + length(&outcome));
                if let Ok(answer) = &mut outcome {
                    answer.done_at = Nanos(world.now.get());
                }
                Resume::Hop(Box::new(outcome))
            }
            Wait::Any(_) => {
                let mut ended = Vec::new();
                while let Some(entry) = under_way.first_entry() {
                    if entry.key().0 > due {
                        break;
                    }
                    let ((_, id), outcome) = entry.remove_entry();
                    ended.push((id, outcome));
                }
                Resume::Ended(ended)
            }
        }
    }
}

fn length(outcome: &HopOutcome) -> u64 {
    let times = match outcome {
        Ok(answer) => &answer.times,
        Err(failure) => &failure.times,
    };
    times.blocked + times.duration()
}

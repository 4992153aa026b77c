//! One virtual user that runs an iteration of a fixed script for each input.
//!
//! Time stands still and requests are answered at once by a body that the input gives. Must not know what is
//! asserted. Invariant: the state that one input leaves behind is that of any iteration before another.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use loadline_metric::{Contains, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;
use loadline_script::hop::{HopAnswer, HopHeaders, HopOutcome, HopProtocol, HopTimes};
use loadline_script::host::{InstanceFacts, LogEntry, ScenarioFacts};
use loadline_script::loading::{Fetch, FetchError, Libraries, Sources};
use loadline_script::samples::{CheckSample, HttpSample};
use loadline_script::vu::{Ending, Iteration, Resume, ScenarioSetup, StackPool, VuIds, Wait};
use loadline_script::{Host, Program, ProgramSettings, ScriptVu, Step, Task};
use url::Url;

const ENTRY: &str = "file:///script.js";

/// The only file that there is.
struct Entry(&'static str);

impl Fetch for Entry {
    fn read(&self, url: &Url) -> Result<loadline_script::loading::Bytes, FetchError> {
        match url.as_str() {
            ENTRY => Ok(self.0.as_bytes().to_vec().into()),
            _ => Err(FetchError::NotFound),
        }
    }
}

/// Keeps the messages that a script logs, and nothing else.
#[derive(Default)]
struct Listener(RefCell<Vec<String>>);

impl Host for Listener {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn unix_ns(&self) -> u64 {
        0
    }
    fn random(&self) -> u64 {
        4
    }
    fn log(&self, entry: LogEntry<'_>) {
        self.0.borrow_mut().push(entry.message.to_owned());
    }
    fn declare_metric(&self, _: &str, _: MetricType, _: Contains) -> Result<MetricId, String> {
        Err("no metrics here".to_owned())
    }
    fn value(&self, _: MetricId, _: f64, _: &dyn Tagged) {}
    fn metadata(&self, _: Option<&Arc<TagSet>>) {}
    fn http(&self, _: &HttpSample<'_>) {}
    fn check(&self, _: &CheckSample<'_>) {}
    fn group(&self, _: &str, _: u64, _: &dyn Tagged) {}
    fn instance(&self) -> InstanceFacts {
        InstanceFacts::default()
    }
    fn scenario(&self) -> Option<ScenarioFacts> {
        None
    }
    fn mark_failed(&self, _: &str) {}
    fn abort_test(&self, _: &str) {}
}

/// The virtual user, and what it logs.
pub(crate) struct Rehearsal {
    vu: ScriptVu,
    listener: Rc<Listener>,
    iterations: u64,
    /// Kept until the next one is made: a virtual user knows a scenario by its address.
    scenario: Option<Rc<ScenarioSetup>>,
}

impl Rehearsal {
    /// A virtual user whose module code has run.
    pub(crate) fn new(script: &'static str) -> Rehearsal {
        let entry = Url::parse(ENTRY).expect("it is an address");
        let folder = Url::parse("file:///").expect("it is an address");
        let sources = Sources::new(Box::new(Entry(script)), entry, folder, Libraries::Embedded);
        let program = Program::new(ENTRY, Arc::new(sources), ProgramSettings::default());
        let listener = Rc::new(Listener::default());
        let host: Rc<dyn Host> = Rc::clone(&listener) as Rc<dyn Host>;
        let vu = ScriptVu::new(Arc::new(program), host, StackPool::new(), VuIds::FIRST);
        let vu = vu.expect("there is memory");
        let mut made = Rehearsal {
            vu,
            listener,
            iterations: 0,
            scenario: None,
        };
        let ended = made.task(Task::Init, &[]);
        assert!(matches!(ended, Ending::Done(_)), "{ended:?}");
        made
    }

    /// Runs an iteration with this in `__ENV`, and this as the body of each answer; gives what it logged.
    pub(crate) fn iterate(&mut self, env: Vec<(String, String)>, body: &[u8]) -> Vec<String> {
        let scenario = Rc::new(ScenarioSetup {
            function: "default".into(),
            env,
            data: Arc::default(),
            tags: Rc::new(TagSet::new()),
        });
        self.scenario = Some(Rc::clone(&scenario));
        let number = self.iterations;
        self.iterations += 1;
        let ended = self.task(Task::Iteration(Iteration { scenario, number }), body);
        assert!(matches!(ended, Ending::Done(_)), "{ended:?}");
        std::mem::take(&mut *self.listener.0.borrow_mut())
    }

    fn task(&mut self, task: Task, body: &[u8]) -> Ending {
        let mut step = self.vu.begin(task).expect("there is memory");
        loop {
            let ask = match step {
                Step::Ended(ending) => return ending,
                Step::Asks(ask) => ask,
            };
            let resume = match ask.wait {
                Wait::Hop(_) => Resume::Hop(Box::new(answer(body))),
                Wait::Turn => Resume::Go,
                Wait::Any(_) => Resume::Ended(Vec::new()),
            };
            step = self.vu.resume(resume);
        }
    }
}

#[expect(clippy::result_large_err, reason = "the shape is the engine's")]
fn answer(body: &[u8]) -> HopOutcome {
    Ok(HopAnswer {
        sent_bytes: 0,
        status: 200,
        reason: Some("OK".to_owned()),
        protocol: HopProtocol::Http11,
        headers: HopHeaders::default(),
        body: body.to_vec(),
        remote: None,
        tls: None,
        times: HopTimes::default(),
        done_at: Nanos::ZERO,
    })
}

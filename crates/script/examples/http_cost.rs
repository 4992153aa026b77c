//! Cost of `http.get` and two checks on the script's side, with a host that responds immediately.
//!
//! Reads no clock: run a release build under `perf stat` or `time` with a number of requests, and once with a
//! small number to get the start-up cost. Must not need a socket. Invariant: every request gets the same 200.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use loadline_metric::{Contains, MetricId, MetricType, TagSet, Tagged};
use loadline_model::Nanos;
use loadline_script::hop::{HopAnswer, HopHeaders, HopProtocol, HopTimes};
use loadline_script::host::{Host, InstanceFacts, LogEntry, ScenarioFacts};
use loadline_script::loading::{Bytes, Fetch, FetchError, Libraries, Sources};
use loadline_script::samples::{CheckSample, HttpSample};
use loadline_script::vu::{Iteration, Resume, ScenarioSetup, StackPool, VuIds, Wait};
use loadline_script::{Program, ProgramSettings, ScriptVu, Step, Task};
use url::Url;

struct Script(String);

impl Fetch for Script {
    fn read(&self, _: &Url) -> Result<Bytes, FetchError> {
        Ok(self.0.clone().into())
    }
}

/// Counts requests and discards the rest.
#[derive(Default)]
struct Counting {
    requests: Cell<u64>,
    checks: Cell<u64>,
}

impl Host for Counting {
    fn now(&self) -> Nanos {
        Nanos(self.requests.get())
    }

    fn unix_ns(&self) -> u64 {
        1_700_000_000_000_000_000
    }

    fn random(&self) -> u64 {
        4
    }

    fn log(&self, _: LogEntry<'_>) {}

    fn declare_metric(&self, _: &str, _: MetricType, _: Contains) -> Result<MetricId, String> {
        Ok(MetricId(0))
    }

    fn value(&self, _: MetricId, _: f64, _: &dyn Tagged) {}

    fn metadata(&self, _: Option<&Arc<TagSet>>) {}

    fn http(&self, _: &HttpSample<'_>) {
        self.requests.set(self.requests.get() + 1);
    }

    fn check(&self, check: &CheckSample<'_>) {
        self.checks.set(self.checks.get() + u64::from(check.passed));
    }

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

fn answer() -> HopAnswer {
    let mut headers = HopHeaders::default();
    headers.push(b"Content-Type", b"text/plain");
    headers.push(b"Content-Length", b"12");
    HopAnswer {
        status: 200,
        reason: Some("OK".to_owned()),
        protocol: HopProtocol::Http11,
        headers,
        body: b"Hello, world".to_vec(),
        remote: None,
        tls: None,
        times: HopTimes::default(),
        done_at: Nanos(1),
        sent_bytes: 90,
    }
}

/// Runs a task to its end; every request is answered immediately.
fn run(vu: &mut ScriptVu, task: Task) {
    let mut step = vu.begin(task).expect("there is memory for a stack");
    while let Step::Asks(ask) = step {
        step = vu.resume(match ask.wait {
            Wait::Hop(_) => Resume::Hop(Box::new(Ok(answer()))),
            Wait::Any(_) => Resume::Ended(Vec::new()),
            Wait::Turn => Resume::Go,
        });
    }
}

fn main() {
    let count: u64 = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(1_000);
    let script = format!(
        "import http from 'k6/http';
         import {{ check }} from 'k6';
         export default function () {{
             for (let i = 0; i < {count}; i += 1) {{
                 const r = http.get('http://127.0.0.1:8080/x');
                 check(r, {{
                     'status is 200': (r) => r.status === 200,
                     'has a body': (r) => r.body.length > 0,
                 }});
             }}
         }}"
    );
    let entry = Url::parse("file:///script.js").expect("it is an address");
    let folder = Url::parse("file:///").expect("it is an address");
    let sources = Sources::new(Box::new(Script(script)), entry, folder, Libraries::Embedded);
    let settings = ProgramSettings::default();
    let program = Arc::new(Program::new(
        "file:///script.js",
        Arc::new(sources),
        settings,
    ));
    let host = Rc::new(Counting::default());
    let seam: Rc<dyn Host> = Rc::clone(&host) as Rc<dyn Host>;
    let mut vu = ScriptVu::new(program, seam, StackPool::new(), VuIds::FIRST)
        .expect("there is memory for one");
    run(&mut vu, Task::Init);
    let scenario = Rc::new(ScenarioSetup {
        function: "default".into(),
        env: Vec::new(),
        data: Arc::default(),
        tags: Rc::new(TagSet::new().with("scenario", "default")),
    });
    run(
        &mut vu,
        Task::Iteration(Iteration {
            scenario,
            number: 0,
        }),
    );
    assert_eq!(host.requests.get(), count, "every request is a sample");
    assert_eq!(host.checks.get(), 2 * count, "every check holds");
}

//! The load of a run that agents make.
//!
//! Must not know how reports are summed up. Invariant: it keeps the contract of [`Load`] as the engine does.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loadline_engine::batches::ValueSender;
use loadline_engine::clock::Clock;
use loadline_engine::live::LiveCounters;
use loadline_engine::platform::GeneratorTotals;
use loadline_engine::{ScriptLog, WorkerReport, platform};
use loadline_metric::MetricRegistry;
use loadline_model::sample::Sample;
use loadline_model::{AgentShare, ExitCode, Nanos, RunCommand, Snapshot, TestPlan};
use loadline_run::{Load, UnderWay};
use loadline_script::host::LogEntry;
use loadline_script::vu::SetupData;
use prost::Message as _;

use super::jobs::{Recipe, Told};
use super::roster::{Expected, Roster};
use super::server::{Serving, Shared, serve};
use crate::generated::{Kept, LogLine};
use crate::identity::{Identity, fresh_name};
use crate::message::{level_received, seen_as_bytes, seen_of_bytes};
use crate::share;

/// How long another is waited for in the place of a lost agent: what makes agents anew, such as a Job, has done so by then.
const AWAITED_FOR: Duration = Duration::from_secs(30);
/// How long agents may take to hear of the end.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often it is looked whether they have.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What a fleet is made of.
pub struct FleetSettings {
    /// How many agents.
    pub agents: u32,
    /// Where they join.
    pub listen: SocketAddr,
    /// Whom the coordinator trusts, and as whom it is known.
    pub identity: Identity,
    /// The whole plan.
    pub plan: Arc<TestPlan>,
    /// From what agents make it anew.
    pub recipe: Recipe,
    /// How long another is waited for in the place of a lost agent before one that is there is asked to stand in; `None`: 30 s.
    pub awaited_for: Option<Duration>,
    /// What the test is made of, in any form: a coordinator goes on with a test that another began only where this is the same.
    pub made_of: Vec<u8>,
    /// Where `setup()` of the script leaves its data.
    pub data: SetupData,
    /// Where single values of the agents go.
    pub takers: Takers,
    /// Where lines of the agents' logs go; `None`: nowhere.
    pub log: Option<Arc<dyn ScriptLog>>,
    /// What is said of agents that come.
    pub on_note: Box<dyn Fn(&str) + Send + Sync>,
    /// Who starts another in the place of an agent that was lost, by its name; must not block.
    pub on_lost: Box<dyn Fn(&str) + Send + Sync>,
    /// Which agents' processes are known to have ended, by name, and how; must not block.
    pub ended: Box<dyn Fn() -> Vec<(String, String)> + Send + Sync>,
}

/// Who takes single values.
#[derive(Default)]
pub struct Takers {
    /// Who takes each value of a script, and the metrics that there are; `None`: nobody.
    pub values: Option<(ValueSender, Arc<MetricRegistry>)>,
    /// Who takes each request; `None`: nobody.
    pub samples: Option<SyncSender<Vec<Sample>>>,
    /// Who takes results of a plan of steps; `None`: nobody.
    pub results: Option<ResultTaker>,
}

/// Takes results of a plan of steps, in the program's own form; an error says what is wrong with them.
pub type ResultTaker = Box<dyn Fn(&[u8]) -> Result<(), String> + Send + Sync>;

/// Why there is no fleet.
#[derive(Debug)]
pub enum FleetError {
    /// The plan cannot be cut.
    Plan(String),
    /// Nothing can be listened on.
    Listen(SocketAddr, io::Error),
    /// The system gives no random bytes.
    NoRandomness,
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetError::Plan(why) => f.write_str(why),
            FleetError::NoRandomness => f.write_str("the system gives no random bytes"),
            FleetError::Listen(address, error) => {
                write!(f, "agents cannot join at {address}: {error}")
            }
        }
    }
}

impl std::error::Error for FleetError {}

/// Agents that make the load of a run.
pub struct Fleet {
    shared: Arc<Shared>,
    reports: Receiver<WorkerReport>,
    clock: Clock,
    /// How long before the run the test began; nought unless another coordinator began it.
    begun_before_ns: AtomicU64,
    data: SetupData,
    ended: Box<dyn Fn() -> Vec<(String, String)> + Send + Sync>,
    /// What keeps the way of requests open: it closes with the run.
    _samples: Option<Arc<SyncSender<Vec<Sample>>>>,
    /// The same of results.
    _results: Option<Arc<ResultTaker>>,
}

/// What is held of a fleet beside its run.
pub struct FleetHandle {
    shared: Arc<Shared>,
    serving: Serving,
}

impl Fleet {
    /// Begins to let agents join.
    ///
    /// # Errors
    /// The plan cannot be cut, or nothing can be listened on.
    pub fn start(settings: FleetSettings) -> Result<(Fleet, FleetHandle), FleetError> {
        share::check(&settings.plan, settings.agents).map_err(FleetError::Plan)?;
        settings.recipe.check().map_err(FleetError::Plan)?;
        let (reports_to, reports) = channel();
        let agents = share::with_work(&settings.plan, settings.agents);
        let idle = settings.agents - agents;
        let log = settings.log;
        let samples = settings.takers.samples.map(Arc::new);
        let results = settings.takers.results.map(Arc::new);
        let recipe = Recipe {
            wants_results: results.is_some(),
            wants_values: settings.takers.values.is_some(),
            wants_samples: samples.is_some(),
            ..settings.recipe
        };
        let expected = Expected {
            wanted: agents,
            idle,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            is_replaceable: share::is_replaceable(&settings.plan),
            end: settings.plan.duration().map(Nanos::from),
            is_resumable: !(recipe.wants_values || recipe.wants_samples || recipe.wants_results),
            awaited_for: settings.awaited_for.unwrap_or(AWAITED_FOR),
            run: fresh_name().ok_or(FleetError::NoRandomness)?,
            test: digest(settings.agents, &settings.made_of, &recipe.archive),
        };
        let shared = Arc::new(Shared {
            roster: Mutex::new(Roster::new(expected)),
            changed: Condvar::new(),
            live: (0..agents)
                .map(|_| Arc::new(LiveCounters::for_scenarios(1)))
                .collect(),
            recipe: Told::new(recipe),
            values: settings.takers.values,
            samples: samples.as_ref().map(Arc::downgrade),
            results: results.as_ref().map(Arc::downgrade),
            plan: settings.plan,
            agents,
            reports: reports_to,
            on_log: Box::new(move |line| write(log.as_deref(), line)),
            on_note: settings.on_note,
            on_lost: settings.on_lost,
            links: Mutex::default(),
        });
        let serving = serve(Arc::clone(&shared), settings.listen, &settings.identity)
            .map_err(|error| FleetError::Listen(settings.listen, error))?;
        let fleet = Fleet {
            shared: Arc::clone(&shared),
            reports,
            clock: Clock::start(),
            begun_before_ns: AtomicU64::new(0),
            data: settings.data,
            ended: settings.ended,
            _samples: samples,
            _results: results,
        };
        Ok((fleet, FleetHandle { shared, serving }))
    }
}

impl Load for Fleet {
    fn reports(&self) -> &Receiver<WorkerReport> {
        &self.reports
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn workers(&self) -> u32 {
        let mut all = 0;
        self.shared.decide(|roster| {
            let (workers, acts) = roster.close();
            all = workers;
            acts
        });
        all
    }

    fn live_counters(&self) -> &[Arc<LiveCounters>] {
        &self.shared.live
    }

    fn is_here(&self) -> bool {
        false
    }

    fn generator_totals(&self) -> Box<dyn Fn() -> GeneratorTotals + Send> {
        let shared = Arc::clone(&self.shared);
        Box::new(move || shared.roster().used(&platform::generator_totals()))
    }

    fn agents(&self) -> Vec<AgentShare> {
        self.shared.roster().shares()
    }

    fn is_ready_within(&self, limit: Duration) -> bool {
        for (name, how) in (self.ended)() {
            self.shared.decide(|roster| {
                roster.process_ended(&name, &how);
                Vec::new()
            });
        }
        let roster = self.shared.roster();
        let wait = self
            .shared
            .changed
            .wait_timeout_while(roster, limit, |roster| !roster.is_ready());
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn under_way(&self) -> Option<UnderWay> {
        let adopted = self.shared.roster().adopted(platform::monotonic_ns())?;
        // What cannot be read is not known.
        let kept = Kept::decode(adopted.kept.as_slice()).unwrap_or_default();
        self.begun_before_ns.store(kept.begun_before_ns, Relaxed);
        (self.shared.on_note)(&adopted.what);
        Some(UnderWay {
            data: adopted.data.map(Arc::from),
            seen: seen_of_bytes(&kept.seen).unwrap_or_default(),
            seconds_in_one: adopted.seconds_in_one,
            what: adopted.what,
        })
    }

    fn keep(&self, seen: &Snapshot) {
        // What is not kept is missing under another coordinator only.
        let seen = seen_as_bytes(seen.clone()).unwrap_or_default();
        let kept = Kept {
            begun_before_ns: self.clock.since_test_began().0,
            seen,
        };
        self.shared.roster().keep(kept.encode_to_vec());
    }

    fn release(&self) {
        let data = self.data.get().map(Arc::clone);
        let now = platform::monotonic_ns();
        self.shared.decide(|roster| {
            let (at_ns, acts) = roster.start(now, data.as_deref());
            self.clock.begin_at(at_ns);
            let begun_before_ns = self.begun_before_ns.load(Relaxed);
            if begun_before_ns > 0 {
                self.clock.begin_test_before(begun_before_ns);
            }
            acts
        });
    }

    fn command(&self, command: RunCommand) {
        self.shared.decide(|roster| roster.order(command));
    }
}

impl FleetHandle {
    /// Where agents join.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address
    }

    /// The agents that have joined, by name.
    #[must_use]
    pub fn joined(&self) -> Vec<String> {
        self.shared.roster().names()
    }

    /// How many agents have work: with fewer virtual users than agents not all do.
    #[must_use]
    pub fn with_work(&self) -> u32 {
        self.shared.agents
    }

    /// All is told: agents end, with the test's exit code; one of them is given the text, and the others are told which.
    /// Waits for a moment until they have heard.
    pub fn conclude(self, exit_code: u8, text: &str) {
        self.tell_end(exit_code, text);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it waits for others, and for a moment"
    )]
    fn tell_end(&self, exit_code: u8, text: &str) {
        self.shared.decide(|roster| roster.end(exit_code, text));
        let begun = Instant::now();
        while self.shared.has_links() && begun.elapsed() < FAREWELL {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for FleetHandle {
    /// Agents whose test ends without a result end, too. Those of a coordinator that breaks down wait for another.
    fn drop(&mut self) {
        let is_told = self.shared.roster().is_over();
        if !is_told && !std::thread::panicking() {
            let text = "the coordinator has ended without a result\n";
            self.tell_end(ExitCode::ExternalAbort.code(), text);
        }
    }
}

/// What tests have in common that are made of the same.
fn digest(agents: u32, made_of: &[u8], archive: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(&agents.to_be_bytes());
    for part in [made_of, archive] {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    URL_SAFE_NO_PAD.encode(context.finish())
}

fn write(log: Option<&dyn ScriptLog>, line: &LogLine) {
    let Some(log) = log else {
        return;
    };
    let fields = line.fields.iter();
    let fields: Vec<(&str, &str)> = fields
        .map(|field| (field.name.as_str(), field.value.as_str()))
        .collect();
    log.write(&LogEntry {
        level: level_received(line),
        message: &line.message,
        fields: &fields,
        in_init: false,
    });
}

//! Starts the engine; the control plane's handle to it.
//!
//! Must not know what happens to the reports. Invariant: [`Engine::start`] refuses everything that can be known
//! to fail before the first request.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_model::plan::Behaviour;
use loadline_model::sample::Sample;
use loadline_model::url::Scheme;
use loadline_model::{Nanos, RunCommand, TestPlan};
use loadline_schedule::IterationPool;

use crate::clock::{Clock, ahead_ns};
use crate::exchange::PreparedRequest;
use crate::live::{LiveCounters, LiveTotals};
use crate::mailbox::Mailbox;
use crate::net::{Kept, Resolver, Routes, TlsError, TlsSettings};
use crate::platform;
use crate::report::WorkerReport;
use crate::script::ScriptSetup;
use crate::steps::{FAILED_NAMES_KEPT, StepsSetup};
use crate::vu::script::PlanNumbers;
use crate::vu::script_client::ScriptClientPlan;
use crate::worker::{ScriptParts, StartLine, WorkerSetup, run_worker};

/// The input for starting the engine.
pub struct EngineSetup {
    /// The plan.
    pub plan: Arc<TestPlan>,
    /// The destination of every single sample; `None`: none.
    pub samples: Option<SyncSender<Vec<Sample>>>,
    /// The plan's script; `None` if there are no script scenarios.
    pub script: Option<ScriptSetup>,
    /// The plan's steps; `None` if there are no such scenarios.
    pub steps: Option<StepsSetup>,
}

/// Why the engine did not start; nothing was sent.
#[derive(Debug)]
pub enum StartError {
    /// The plan cannot be run.
    Plan(String),
    /// The TLS settings cannot be used.
    Tls(TlsError),
    /// The operating system refused a thread.
    Thread(io::Error),
    /// The operating system refused what a thread's runtime is made of.
    Runtime(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Plan(why) => f.write_str(why),
            StartError::Tls(error) => error.fmt(f),
            StartError::Thread(error) => write!(f, "cannot start a thread: {error}"),
            StartError::Runtime(error) => write!(
                f,
                "cannot set up a worker thread: {error}; raise its limits, such as \
                 ulimit -n 1024"
            ),
        }
    }
}

impl std::error::Error for StartError {}

/// A running engine.
pub struct Engine {
    /// The workers' reports; ends when all workers have.
    pub reports: Receiver<WorkerReport>,
    /// The clock for all instants of the run.
    pub clock: Clock,
    start_line: Arc<StartLine>,
    mailboxes: Vec<Arc<Mailbox>>,
    live: Vec<Arc<LiveCounters>>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// The number of workers for a plan: as requested, otherwise one per usable core; never more than virtual
    /// users, or groups of them that share a connection.
    #[must_use]
    pub fn workers_for(plan: &TestPlan) -> u32 {
        let cores = platform::usable_cores().ceil().max(1.0) as u32;
        let together = users_per_connection(plan);
        worker_count(plan.workers.unwrap_or(cores), plan.max_vus(), together)
    }

    /// Prepares the workers and their virtual users; [`Engine::release`] starts them, and must be called.
    ///
    /// # Errors
    /// The plan, its certificates or the operating system prevent it; nothing was sent.
    pub fn start(setup: EngineSetup) -> Result<Engine, StartError> {
        let EngineSetup {
            plan,
            samples,
            script,
            steps,
        } = setup;
        plan.validate().map_err(StartError::Plan)?;
        let tls = TlsSettings::of_requests(&plan.client.tls, plan.client.protocol)
            .map_err(StartError::Tls)?;
        rehearse(&plan, &tls)?;
        let workers = Engine::workers_for(&plan);
        let clock = Clock::start();
        let kept = names_kept(&plan, steps.is_some());
        let resolver = Resolver::start(clock, kept).map_err(StartError::Thread)?;
        let mailboxes: Vec<_> = (0..workers)
            .map(|_| Arc::new(Mailbox::new(plan.scenarios.len())))
            .collect();
        let live: Vec<_> = (0..workers)
            .map(|_| Arc::new(LiveCounters::for_scenarios(plan.scenarios.len())))
            .collect();
        let whole = plan.share(0, workers).map_err(StartError::Plan)?;
        let pools: Vec<_> = plan
            .scenarios
            .iter()
            .map(|scenario| Arc::new(IterationPool::for_executor(&scenario.executor, &whole)))
            .collect();
        let taken: Vec<_> = plan.scenarios.iter().map(|_| Arc::default()).collect();
        let (reports_to, reports) = channel();
        let start_line = Arc::new(StartLine::new(workers));
        let script = script_parts(script, &plan)?;
        if let Some(steps) = &steps {
            expect_groups(steps, &plan, workers);
        }
        let mut threads = Vec::new();
        for number in 0..workers {
            let setup = WorkerSetup {
                number,
                plan: Arc::clone(&plan),
                share: whole.for_worker(number),
                clock,
                pools: pools.clone(),
                taken: taken.clone(),
                mailboxes: mailboxes.clone(),
                live: Arc::clone(&live[number as usize]),
                all_live: live.clone(),
                resolver: Arc::clone(&resolver),
                tls: Arc::clone(&tls),
                samples: samples.clone(),
                reports: reports_to.clone(),
                start_line: Arc::clone(&start_line),
                script: script.clone(),
                steps: steps.clone(),
            };
            let thread = thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || run_worker(setup))
                .map_err(StartError::Thread)?;
            threads.push(thread);
        }
        Ok(Engine {
            reports,
            clock,
            start_line,
            mailboxes,
            live,
            threads,
        })
    }

    /// Waits at most `limit` for the virtual users to be initialized; returns whether they are. Call it before
    /// the run is started.
    #[must_use]
    pub fn is_ready_within(&self, limit: Duration) -> bool {
        self.start_line.muster(limit)
    }

    /// Starts the run: its clock starts at zero now.
    pub fn release(&self) {
        self.clock.restart();
        self.start_line.release(Nanos::ZERO);
    }

    /// Starts the run at an instant on the operating system's scale, when its clock is zero; waits for it. If
    /// it has passed, the engine takes over: arrivals due before `from` belong to another process.
    #[expect(
        clippy::disallowed_methods,
        reason = "no runtime runs yet: who starts the engine waits with it"
    )]
    pub fn release_at(&self, monotonic_ns: u64, from: Nanos) {
        let ahead = ahead_ns(monotonic_ns, platform::monotonic_ns());
        thread::sleep(Duration::from_nanos(ahead.max(0).unsigned_abs()));
        self.clock.begin_at(monotonic_ns);
        self.start_line.release(from);
    }

    /// The number of workers that report.
    #[must_use]
    pub fn workers(&self) -> u32 {
        u32::try_from(self.live.len()).unwrap_or(u32::MAX)
    }

    /// Milliseconds since 1970 at the start of the run.
    #[must_use]
    pub fn started_unix_ms(&self) -> u64 {
        self.clock.started_unix_ns() / 1_000_000
    }

    /// Sends a command to every worker.
    pub fn command(&self, command: RunCommand) {
        for mailbox in &self.mailboxes {
            mailbox.command(command);
        }
    }

    /// Makes every worker check again what it waits for.
    pub fn look_again(&self) {
        for mailbox in &self.mailboxes {
            mailbox.notify.notify_one();
        }
    }

    /// Each worker's counters.
    #[must_use]
    pub fn live_counters(&self) -> &[Arc<LiveCounters>] {
        &self.live
    }

    /// The counters that can be read while the workers run.
    #[must_use]
    pub fn live(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in &self.live {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// Waits for the threads to end; returns how many of them panicked.
    #[must_use]
    pub fn join(self) -> usize {
        self.threads
            .into_iter()
            .map(JoinHandle::join)
            .filter(Result::is_err)
            .count()
    }
}

/// Registers the groups with their phases.
fn expect_groups(steps: &StepsSetup, plan: &TestPlan, workers: u32) {
    for scenario in &plan.scenarios {
        if let Behaviour::Steps(group) = &scenario.behaviour {
            steps.state.expect(steps.groups[group.group].stage, workers);
        }
    }
}

/// Virtual users that share a connection. Those of a script have connections of their own, whatever the protocol.
fn users_per_connection(plan: &TestPlan) -> u32 {
    match plan.script {
        Some(_) => 1,
        None => plan.client.protocol.streams(),
    }
}

fn worker_count(wanted: u32, vus: u32, together: u32) -> u32 {
    wanted.clamp(1, vus.div_ceil(together).max(1))
}

/// How long results of the resolver are cached: failures only for JMeter's plans, as in Java.
fn names_kept(plan: &TestPlan, is_of_steps: bool) -> Kept {
    let kept = Kept::found(plan.client.dns_ttl);
    match is_of_steps {
        true => Kept {
            failed: FAILED_NAMES_KEPT,
            ..kept
        },
        false => kept,
    }
}

/// What workers need to run a script.
pub(crate) fn script_parts(
    script: Option<ScriptSetup>,
    plan: &TestPlan,
) -> Result<Option<ScriptParts>, StartError> {
    let (Some(setup), Some(settings)) = (script, &plan.script) else {
        return Ok(None);
    };
    let client = ScriptClientPlan::new(&plan.client, settings).map_err(StartError::Tls)?;
    Ok(Some(ScriptParts {
        setup,
        client,
        numbers: Arc::new(PlanNumbers::new(plan)),
        told_of_infinity: Arc::default(),
        begun: plan.scenarios.iter().map(|_| AtomicU64::new(0)).collect(),
    }))
}

/// Prepares everything that can be prepared without sending.
fn rehearse(plan: &TestPlan, tls: &TlsSettings) -> Result<(), StartError> {
    let routes = Routes::default();
    let mut encrypted = false;
    for scenario in &plan.scenarios {
        let Behaviour::Requests(mix) = &scenario.behaviour else {
            continue;
        };
        for template in &mix.requests {
            encrypted |= template.origin.scheme == Scheme::Https;
            let route = routes.to(&template.origin, &plan.client);
            PreparedRequest::new(template.clone(), route, &plan.client)
                .map_err(|error| StartError::Plan(error.0))?;
        }
    }
    if encrypted {
        tls.make_config().map_err(StartError::Tls)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use loadline_model::client::{ClientPlan, Protocol};

    use super::*;

    #[test]
    fn a_connection_belongs_to_one_worker() {
        let counts = [(8, 50, 1), (8, 3, 1), (8, 10, 10), (2, 30, 10), (0, 0, 1)]
            .map(|(wanted, vus, streams)| worker_count(wanted, vus, streams));
        assert_eq!(counts, [8, 3, 1, 2, 1]);
    }

    #[test]
    fn users_of_a_script_share_no_connection() {
        let client = ClientPlan {
            protocol: Protocol::Negotiate { streams: 250 },
            ..ClientPlan::default()
        };
        let mut plan = TestPlan::without_load(client);
        assert_eq!(users_per_connection(&plan), 250);
        plan.script = Some(Arc::default());
        assert_eq!(users_per_connection(&plan), 1);
    }
}

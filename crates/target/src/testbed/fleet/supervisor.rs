//! Starting and stopping a testbed.
//!
//! It must not know what the components do. Invariants: after [`start`] every component responds; after
//! [`Testbed::stop`] no process of the testbed is left.

use super::process::{Event, Launch};
use super::{Control, Fleet};
use crate::clock::Clock;
use crate::config::TargetConfig;
use crate::error::TargetError;
use crate::server::{Running, serve_as};
use crate::testbed::file::{self, TestbedFileError};
use crate::testbed::part::{Role, TestbedPart};
use crate::testbed::plan::{ComponentKind, TestbedPlan};
use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the testbed is looked after when nothing happens.
const TICK: Duration = Duration::from_millis(10);
/// How long all components together may take to be ready, besides their own delays.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// After this a stop becomes a kill.
const STOP_WITHIN: Duration = Duration::from_secs(8);

/// Options for starting a testbed.
#[derive(Debug, Clone)]
pub struct TestbedOptions {
    /// The testbed file.
    pub config: PathBuf,
    /// The program that runs one process of the testbed, mostly this one.
    pub program: PathBuf,
    /// Its arguments; the name of the component and the replica's number follow as the last. It must call
    /// [`crate::testbed::serve_part`].
    pub arguments: Vec<OsString>,
}

/// Why a testbed does not run. Every message names the next step.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestbedError {
    /// The testbed file is wrong.
    File(TestbedFileError),
    /// The control port cannot be opened.
    Control(TargetError),
    /// A component does not start, and why.
    Component(String),
}

impl fmt::Display for TestbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Control(error) => write!(f, "control port: {error}"),
            Self::Component(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for TestbedError {}

/// A running testbed.
pub struct Testbed {
    fleet: Arc<Mutex<Fleet>>,
    control: Option<Running>,
    supervisor: Option<JoinHandle<()>>,
}

impl fmt::Debug for Testbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Testbed").finish_non_exhaustive()
    }
}

/// Starts a testbed and waits until every component responds.
///
/// # Errors
/// The file is invalid, or something does not start; nothing is left running.
pub fn start(options: TestbedOptions) -> Result<Testbed, TestbedError> {
    let plan = file::read(&options.config).map_err(TestbedError::File)?;
    let longest = plan
        .components
        .iter()
        .map(|component| component.start_delay)
        .max();
    let patience = READY_WITHIN + longest.unwrap_or_default() + longest_cold(&plan);
    empty_logs(&plan)?;
    let clock = Arc::new(Clock::start());
    let (sender, events) = mpsc::channel();
    let launch = Launch {
        program: options.program,
        arguments: options.arguments,
    };
    let control_at = plan.control;
    let fleet = Arc::new(Mutex::new(Fleet::new(plan, launch, sender)));
    let mut testbed = Testbed {
        control: None,
        supervisor: None,
        fleet: Arc::clone(&fleet),
    };
    let config = TargetConfig {
        listen: control_at,
        threads: NonZeroUsize::new(1),
        ..TargetConfig::default()
    };
    let control = Control::new(Arc::clone(&fleet), Arc::clone(&clock));
    let part = TestbedPart {
        tally: None,
        role: Role::Control(control),
    };
    let control = serve_as(config, Some(part)).map_err(TestbedError::Control)?;
    testbed.fleet().control = Some(control.local_addr());
    testbed.control = Some(control);
    let supervised = Arc::clone(&fleet);
    let ticking = Arc::clone(&clock);
    let supervisor = std::thread::Builder::new()
        .name("supervisor".to_owned())
        .spawn(move || supervise(&supervised, &events, &ticking))
        .map_err(|error| TestbedError::Control(TargetError::Worker(error)))?;
    testbed.supervisor = Some(supervisor);
    testbed.wait_until_ready(&clock, patience)?;
    Ok(testbed)
}

fn longest_cold(plan: &TestbedPlan) -> Duration {
    let colds = plan
        .components
        .iter()
        .filter_map(|component| match &component.kind {
            ComponentKind::Autoscaler(scaler) => Some(scaler.cold),
            _ => None,
        });
    colds.max().unwrap_or_default()
}

/// Makes every log empty, so that its lines are those of this testbed.
fn empty_logs(plan: &TestbedPlan) -> Result<(), TestbedError> {
    for component in &plan.components {
        let log = match &component.kind {
            ComponentKind::Service(service) => service.log.as_ref(),
            ComponentKind::Queue(queue) => queue.log.as_ref(),
            _ => None,
        };
        let Some(log) = log else { continue };
        std::fs::write(&log.file, "").map_err(|error| {
            let (name, file) = (&component.name, log.file.display());
            TestbedError::Component(format!("{name}: log file {file}: {error}; check the path"))
        })?;
    }
    Ok(())
}

fn supervise(fleet: &Mutex<Fleet>, events: &Receiver<Event>, clock: &Clock) {
    loop {
        let first = events.recv_timeout(TICK).ok();
        let mut fleet = fleet.lock().unwrap_or_else(PoisonError::into_inner);
        for event in first.into_iter().chain(events.try_iter()) {
            fleet.apply(event, clock.now_ns());
        }
        fleet.tick(clock.now_ns(), clock.wall());
        if fleet.stopping && fleet.is_empty() {
            return;
        }
    }
}

impl Testbed {
    /// The components as one line of JSON, like the control port's `/components`.
    #[must_use]
    pub fn table(&self) -> String {
        self.fleet().components_json().to_string() + "\n"
    }

    /// The true counts, like the control port's `/truth`.
    #[must_use]
    pub fn truth(&self) -> String {
        self.fleet().truth_json().to_string() + "\n"
    }

    /// Ends all processes; requests have a few seconds to finish.
    pub fn stop(self) {
        drop(self);
    }

    fn wait_until_ready(&self, clock: &Clock, patience: Duration) -> Result<(), TestbedError> {
        let begun_ns = clock.now_ns();
        loop {
            {
                let mut fleet = self.fleet();
                if let Some(why) = fleet.failure.take() {
                    return Err(TestbedError::Component(why));
                }
                if fleet.is_ready() {
                    return Ok(());
                }
            }
            if clock.now_ns() - begun_ns > crate::duration::as_ns(patience) {
                let why = format!(
                    "not every component is ready after {patience:?}; look for what ends them"
                );
                return Err(TestbedError::Component(why));
            }
            std::thread::park_timeout(TICK);
        }
    }

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.fleet().stopping = true;
        let clock = Clock::start();
        while self
            .supervisor
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
        {
            if clock.now_ns() > crate::duration::as_ns(STOP_WITHIN) {
                self.fleet().kill_all();
            }
            std::thread::park_timeout(TICK);
        }
        if let Some(supervisor) = self.supervisor.take() {
            // A panic of the supervisor has been printed by its thread.
            drop(supervisor.join());
        }
        if let Some(control) = self.control.take() {
            control.stop();
            control.join();
        }
    }
}

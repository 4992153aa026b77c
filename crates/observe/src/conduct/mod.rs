//! Running observers: started before a run, notified when its load ends, stopped after it.
//!
//! Must not know the engine, nor what is read. Invariants: each observer that may block has its own thread, the
//! others share one; every wait is bounded.

mod lane;
mod outbox;
mod shared;
mod watch;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use loadline_model::observation::{GAP_NOTE, Observed, Remark, RunWindow};

use crate::clock::{Clock, SystemClock, nanoseconds};
use crate::process::ProcessTable;
use crate::programs::Programs;
use crate::sources::{self, Source, Surroundings};
use crate::spec::{ObserverKind, ObserverSpec};
use lane::Lane;
use shared::{HURRY_LOOK, LaneControl};
use watch::Watch;

/// Added to the longest duration of a read before its thread is abandoned.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a thread may take to end if it is notified while another one is abandoned.
const LAST_STEP: Duration = Duration::from_millis(500);
/// How long a thread may take to note that its program was killed.
const PROGRAMS_END: Duration = Duration::from_millis(100);
/// How long queries after the run may take once a person ended the wait.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Where the kernel's files on processes and groups are; tests use other folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys/fs/cgroup`.
    pub cgroup: PathBuf,
}

impl Default for Roots {
    fn default() -> Roots {
        Roots {
            proc: PathBuf::from("/proc"),
            cgroup: PathBuf::from("/sys/fs/cgroup"),
        }
    }
}

/// What observers need to know about their run.
#[derive(Clone, Debug)]
pub struct ObserverSetup {
    /// The clock for timestamps.
    pub clock: Arc<dyn Clock>,
    /// This process.
    pub own_pid: u32,
    /// Location of the kernel's files.
    pub roots: Roots,
    /// The kubeconfig file; `None`: `KUBECONFIG` and `~/.kube/config`, as in kubectl.
    pub kubeconfig: Option<PathBuf>,
    /// How long observers continue after the load.
    pub tail: Duration,
    /// Set when nothing is waited for any more: running reads are abandoned, and no new ones start.
    pub is_hurried: Arc<AtomicBool>,
}

impl ObserverSetup {
    /// This process on this machine.
    #[must_use]
    pub fn of_this_process(tail: Duration) -> ObserverSetup {
        ObserverSetup {
            clock: Arc::new(SystemClock::start()),
            own_pid: std::process::id(),
            roots: Roots::default(),
            kubeconfig: None,
            tail,
            is_hurried: Arc::default(),
        }
    }
}

/// Start and end of the steady state; the whole load if there is none.
pub(crate) fn steady_or_all(window: &RunWindow) -> (u64, u64) {
    let all = (window.start_unix_ns, window.end_unix_ns);
    window.steady_unix_ns.unwrap_or(all)
}

/// Why a required observer cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserveError {
    /// Its name.
    pub observer: String,
    /// Why, and what to do.
    pub text: String,
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "observer {} is required and cannot start: {}",
            self.observer, self.text
        )
    }
}

impl std::error::Error for ObserveError {}

/// Running observers.
#[derive(Debug)]
pub struct Observers {
    shared: Arc<LaneControl>,
    clock: Arc<dyn Clock>,
    threads: Vec<Thread>,
    patience: Duration,
    /// Maximum time after the load during which there may be something to read.
    at_work_max: Duration,
    /// Whether a person ended the wait after the load.
    is_cut_short: bool,
    is_hurried: Arc<AtomicBool>,
    programs: Arc<Programs>,
}

#[derive(Debug)]
struct Thread {
    name: String,
    has_ended: Arc<AtomicBool>,
    handle: JoinHandle<Vec<Watch>>,
}

impl Observers {
    /// Starts observers. Each reads at once and then at whole multiples of its interval since 1970. Readings go
    /// to `sender`; if it is full, they are counted and the loss is reported later.
    ///
    /// Waits until each required observer has finished its first read; other observers that cannot start become
    /// gaps.
    ///
    /// # Errors
    /// A required observer cannot start; all others are stopped again.
    pub fn start(
        specs: &[ObserverSpec],
        setup: &ObserverSetup,
        sender: &SyncSender<Observed>,
    ) -> Result<Observers, ObserveError> {
        let longest = specs.iter().map(|spec| spec.timeout).max();
        let patience = longest.unwrap_or_default() + PATIENCE;
        let limits = specs.iter().filter_map(|spec| match &spec.kind {
            ObserverKind::Pipeline(pipeline) => Some(pipeline.limit),
            _ => None,
        });
        let mut observers = Observers {
            shared: Arc::new(LaneControl::default()),
            clock: Arc::clone(&setup.clock),
            threads: Vec::new(),
            patience,
            at_work_max: limits.fold(setup.tail, Duration::max) + patience,
            is_cut_short: false,
            is_hurried: Arc::clone(&setup.is_hurried),
            programs: Arc::default(),
        };
        let table = ProcessTable::new(&setup.roots.proc);
        let surroundings = Surroundings {
            roots: setup.roots.clone(),
            own_pid: setup.own_pid,
            kubeconfig: setup.kubeconfig.clone(),
            table: Arc::new(Mutex::new(table)),
            programs: Arc::clone(&observers.programs),
        };
        let mut local = Vec::new();
        for spec in specs {
            let source = match sources::build(spec, &surroundings) {
                Ok(source) => source,
                Err(text) => {
                    observers.cannot_start(spec, text, sender)?;
                    continue;
                }
            };
            let watch = Watch::new(spec, source, sender.clone());
            if !sources::may_block(&spec.kind) {
                local.push((spec, watch));
            } else if let Err(text) = observers.spawn(&spec.name, vec![watch], setup) {
                observers.cannot_start(spec, text, sender)?;
            }
        }
        if !local.is_empty() {
            let (specs, watches): (Vec<_>, Vec<_>) = local.into_iter().unzip();
            if let Err(text) = observers.spawn("local", watches, setup) {
                specs
                    .into_iter()
                    .try_for_each(|spec| observers.cannot_start(spec, text.clone(), sender))?;
            }
        }
        observers.wait_for_required(specs)?;
        Ok(observers)
    }

    /// Signals the end of the load: pipelines continue until they are drained or reach their limit, other
    /// observers end after the tail.
    pub fn load_ended(&self) {
        self.shared.load_ended(self.clock.unix_ns());
    }

    /// Whether every observer has ended after [`Observers::load_ended`]: the tail is over, and each pipeline is
    /// drained or has reached its limit. A read that hangs is not waited for beyond that.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.shared.idle_lanes() >= self.threads.len()
            || self
                .given_up_unix_ns()
                .is_some_and(|at| self.clock.unix_ns() > at)
    }

    /// When to stop waiting for a read; `None`: the load is still running.
    fn given_up_unix_ns(&self) -> Option<u64> {
        let ended = self.shared.orders().load_ended_unix_ns;
        ended.map(|at| at.saturating_add(nanoseconds(self.at_work_max)))
    }

    /// Signals that a person ended the wait: reads and queries that are running are waited for only a moment.
    pub fn cut_short(&mut self) {
        self.is_cut_short = true;
    }

    /// Stops all observers; waits at most as long as one read may take, and abandons a thread that takes
    /// longer.
    pub fn stop(mut self) {
        self.end();
    }

    /// Stops all observers and runs the queries that are only possible now: over the whole run, and quantiles
    /// over all of it. Skipped if [`ObserverSetup::is_hurried`] is set.
    #[must_use]
    pub fn conclude(mut self, window: RunWindow) -> Vec<Observed> {
        let mut said = Vec::new();
        let (mut watches, late) = self.end();
        let now = self.clock.unix_ns();
        for watch in &mut watches {
            said.extend(watch.leftover(now));
        }
        said.extend(self.ask_at_last(watches, window));
        said.extend(late.into_iter().map(|name| {
            let text = "it did not stop in time; its last readings may be missing";
            gap(&name, now, text.to_owned())
        }));
        said
    }

    /// Runs the final queries on a thread, which is abandoned once nothing is waited for any more. If no thread
    /// can be started, only their results are missing.
    fn ask_at_last(&self, watches: Vec<Watch>, window: RunWindow) -> Vec<Observed> {
        let (sender, receiver) = channel();
        let names: Vec<String> = watches
            .iter()
            .map(|watch| watch.name().to_owned())
            .collect();
        let clock = Arc::clone(&self.clock);
        let watches = Arc::new(Mutex::new(watches.into_iter()));
        let next = move || {
            let mut watches = watches.lock().unwrap_or_else(PoisonError::into_inner);
            watches.next()
        };
        let ask = move || {
            while let Some(mut watch) = next() {
                let mut said = Vec::new();
                watch.conclude(&window, &*clock, &mut said);
                // Nobody is listening any more.
                if sender.send(said).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("observe-at-last".to_owned());
        if thread.spawn(ask.clone()).is_err() {
            ask();
        }
        // Ends with the thread, not with this function.
        drop(ask);
        let begun = self.clock.unix_ns();
        let (mut all, mut done) = (Vec::new(), 0);
        while !self.is_hurried.load(Acquire) {
            match receiver.recv_timeout(HURRY_LOOK) {
                Ok(said) => {
                    all.extend(said);
                    done += 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.clock.unix_ns();
            if self.is_cut_short && now.saturating_sub(begun) > nanoseconds(LAST_ANSWERS) {
                let text = "the wait was ended before its queries after the run were answered";
                all.extend(
                    names
                        .iter()
                        .skip(done)
                        .map(|name| gap(name, now, text.to_owned())),
                );
                break;
            }
        }
        all
    }

    /// Starts the thread of observers.
    ///
    /// # Errors
    /// The system has no thread for it, as a text for the user.
    fn spawn(
        &mut self,
        name: &str,
        watches: Vec<Watch>,
        setup: &ObserverSetup,
    ) -> Result<(), String> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let lane = Lane {
            watches,
            shared: Arc::clone(&self.shared),
            clock: Arc::clone(&setup.clock),
            tail: setup.tail,
            has_ended: Arc::clone(&has_ended),
        };
        self.shared.lane_begins();
        let thread = std::thread::Builder::new().name(format!("observe-{name}"));
        let handle = thread.spawn(move || lane.run()).map_err(|error| {
            self.shared.lane_never_began();
            format!("no thread for it: {error}; raise the limits of processes, such as ulimit -u")
        })?;
        self.threads.push(Thread {
            name: name.to_owned(),
            has_ended,
            handle,
        });
        Ok(())
    }

    fn cannot_start(
        &self,
        spec: &ObserverSpec,
        text: String,
        sender: &SyncSender<Observed>,
    ) -> Result<(), ObserveError> {
        if spec.required {
            return Err(ObserveError {
                observer: spec.name.clone(),
                text,
            });
        }
        let remark = gap(
            &spec.name,
            self.clock.unix_ns(),
            format!("it cannot start: {text}"),
        );
        // This can only fail if the channel has no room for one note per observer.
        let _ = sender.try_send(remark);
        Ok(())
    }

    fn wait_for_required(&self, specs: &[ObserverSpec]) -> Result<(), ObserveError> {
        for spec in specs.iter().filter(|spec| spec.required) {
            let first = self.shared.first_look(&spec.name, self.patience);
            let refused = match first {
                Some(Ok(())) => continue,
                Some(Err(text)) => text,
                None => format!("it did not answer within {:?}", self.patience),
            };
            return Err(ObserveError {
                observer: spec.name.clone(),
                text: refused,
            });
        }
        Ok(())
    }

    /// Stops the threads; returns their observers, and the names of those that did not end.
    fn end(&mut self) -> (Vec<Watch>, Vec<String>) {
        self.shared.stop();
        // What was waited for after the load is not waited for once more.
        let left = match self.given_up_unix_ns() {
            _ if self.is_cut_short => LAST_STEP,
            Some(at) => {
                Duration::from_nanos(at.saturating_sub(self.clock.unix_ns())).max(LAST_STEP)
            }
            None => Duration::MAX,
        };
        let patience = self.patience.min(left);
        // After a run that was ended early, a program is not waited for as long as one reading may take.
        let programs_have = match self.given_up_unix_ns() {
            None => patience.min(PATIENCE),
            Some(_) => patience,
        };
        let is_hurried = || self.is_hurried.load(Acquire);
        self.shared.wait_for_lanes(programs_have, is_hurried);
        self.programs.end_all();
        let left = (patience - programs_have).max(PROGRAMS_END);
        self.shared.wait_for_lanes(left, is_hurried);
        let (mut watches, mut late) = (Vec::new(), Vec::new());
        for thread in std::mem::take(&mut self.threads) {
            // A thread that has ended need not be waited for.
            let ended = thread.has_ended.load(Acquire);
            match ended.then(|| thread.handle.join()) {
                Some(Ok(ended)) => watches.extend(ended),
                _ => late.push(thread.name),
            }
        }
        (watches, late)
    }
}

impl Drop for Observers {
    fn drop(&mut self) {
        self.shared.stop();
        self.programs.end_all();
    }
}

fn gap(observer: &str, at_unix_ns: u64, text: String) -> Observed {
    let observer: Arc<str> = Arc::from(observer);
    Observed::Remark(Remark {
        component: Arc::clone(&observer),
        observer,
        at_unix_ns,
        kind: GAP_NOTE.to_owned(),
        text,
    })
}

#[cfg(test)]
mod tests;

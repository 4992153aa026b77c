//! The agent's engine, from its assignment to its last report.
//!
//! Must not own connections. Invariant: whatever happens, the engine is released, so that its threads end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_engine::panics::words_of;
use loadline_engine::steps::{self, phases::Phases};
use loadline_engine::{Engine, WorkerReport, platform};
use loadline_model::{Nanos, RunCommand};
use loadline_script::vu::SetupData;

use super::line::{Line, Outgoing};
use super::outlet::Outlet;
use super::parting::{Parting, Why};
use super::post::Post;
use super::{Assignment, Prepare};
use crate::generated::from_agent::What;
use crate::generated::phase::Property;
use crate::generated::{HandOver, Phase, Ready, Refusal, Stop};
use crate::message::live_to_send;

/// How often commands are checked.
const TICK: Duration = Duration::from_millis(10);

/// Commands to the engine.
pub(super) enum Control {
    /// There is a connection, and how reports continue over it.
    Link(Line, GoingOn),
    /// What to do, and what keeps the channels of single values open.
    Do(Box<Assignment>, Outlet),
    /// When to start, on this machine's clock, and from which instant of the run the plan is the agent's; with the data of `setup()`.
    Start(u64, Nanos, Option<Arc<str>>),
    /// The new coordinator accepts reports now.
    GoOn,
    /// The agent has to leave: the load stops, and the measurements are reported.
    Leave,
    /// A command.
    Order(RunCommand),
    /// Reports up to this one have arrived.
    Received(u64),
    /// All single values were received; an error says why they were not.
    Delivered(Result<(), String>),
    /// A phase of a plan of steps is over everywhere.
    Phase(Phase),
    /// The test has to end, as requested by a thread of another agent.
    Stop(Stop),
}

/// The engine's counters, once there is one.
#[derive(Clone, Default)]
pub(super) struct LiveView(Arc<OnceLock<Vec<Arc<LiveCounters>>>>);

/// How reports continue over a connection.
pub(super) enum GoingOn {
    /// Nothing has been reported.
    First,
    /// The coordinator has received everything before this number.
    From(u64),
    /// The coordinator is a new one, and gets this; the fields about reports are not filled in.
    Anew(Box<HandOver>),
}

impl LiveView {
    /// The workers' current counts, and the agent's resource use.
    pub(super) fn told(&self) -> What {
        let used = platform::generator_totals();
        What::Live(live_to_send(self.totals(), &used))
    }

    fn totals(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in self.0.get().into_iter().flatten() {
            counters.add_to(&mut sum);
        }
        sum
    }
}

/// The work of one agent.
pub(super) struct Work {
    pub(super) control: Receiver<Control>,
    pub(super) outgoing: Outgoing,
    pub(super) live: LiveView,
    pub(super) parting: Arc<Parting>,
}

impl Work {
    /// Like [`Work::run`], but reports a panic.
    pub(super) fn run_guarded(self, prepare: Prepare) {
        let parting = Arc::clone(&self.parting);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run(prepare))) {
            let what = format!("it panicked: {}", words_of(&*panic));
            parting.begin(Why::Defect(what), platform::monotonic_ns());
            parting.done();
        }
    }

    /// Executes commands until the other side has ended.
    fn run(self, prepare: Prepare) {
        let mut post = Post::new(self.live.clone());
        let Some((assignment, mut outlet)) = self.assignment(&mut post) else {
            return;
        };
        let data = Arc::clone(&assignment.data);
        let started = prepare(*assignment).and_then(|setup| {
            let phases = setup.steps.as_ref().map(Phases::hold);
            let engine = Engine::start(setup).map_err(|error| error.to_string())?;
            Ok((engine, phases))
        });
        let (engine, phases) = match started {
            Ok(started) => started,
            Err(why) => return self.outgoing.say(What::Refusal(Refusal { why })),
        };
        drop(self.live.0.set(engine.live_counters().to_vec()));
        let Some(early) = self.until_started(&engine, &data, &mut outlet, &mut post) else {
            engine.command(RunCommand::StopNow);
            engine.release();
            return;
        };
        self.report((&engine, early), outlet, &mut post, phases);
    }

    fn assignment(&self, post: &mut Post) -> Option<(Box<Assignment>, Outlet)> {
        loop {
            match self.control.recv().ok()? {
                Control::Do(assignment, outlet) => return Some((assignment, outlet)),
                Control::Link(line, how) => post.link(line, how),
                _ => {}
            }
        }
    }

    /// Waits until everything is ready, reports that, and waits for the start; returns the workers' reports so far,
    /// or `None` if the start did not come. What scripts did to the test while virtual users were made is reported
    /// first: it may end the test before it starts.
    fn until_started(
        &self,
        engine: &Engine,
        data: &SetupData,
        outlet: &mut Outlet,
        post: &mut Post,
    ) -> Option<VecDeque<WorkerReport>> {
        let mut is_told = false;
        let mut early = VecDeque::new();
        loop {
            if !is_told && engine.is_ready_within(TICK) && outlet.has_way_within(TICK) {
                is_told = true;
                for report in engine.reports.try_iter() {
                    match report {
                        WorkerReport::Script(signal) => post.signal(signal),
                        report => early.push_back(report),
                    }
                }
                post.ready = Ready {
                    workers: engine.workers(),
                    cores: platform::usable_cores(),
                    cores_owner: platform::cores_owner(),
                    memory_bytes: platform::memory_limit().unwrap_or(0),
                };
                // A script's `setup()` sees the virtual users that were made.
                self.outgoing.say(self.live.told());
                self.outgoing.say(What::Ready(post.ready.clone()));
            }
            let control = match is_told {
                true => self.control.recv().map_err(|_| TryRecvError::Disconnected),
                false => self.control.try_recv(),
            };
            match control {
                Ok(Control::Start(at_ns, from, json)) => {
                    if let Some(json) = json {
                        // Nobody else sets it.
                        drop(data.set(json));
                    }
                    engine.release_at(at_ns, from);
                    return Some(early);
                }
                Ok(Control::Order(command)) => engine.command(command),
                Ok(Control::Link(line, how)) => post.link(line, how),
                Ok(Control::Delivered(Err(why))) => {
                    self.refuse_undelivered(&why);
                    return None;
                }
                Ok(
                    Control::Do(..)
                    | Control::GoOn
                    | Control::Leave
                    | Control::Received(_)
                    | Control::Delivered(Ok(()))
                    | Control::Phase(_)
                    | Control::Stop(_),
                )
                | Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    /// Passes reports on until the receiver has ended: arrived ones may be needed again. The last one, with which the
    /// run may end, waits until all single values were received.
    fn report(
        &self,
        (engine, mut early): (&Engine, VecDeque<WorkerReport>),
        outlet: Outlet,
        post: &mut Post,
        mut phases: Option<Phases>,
    ) {
        let mut outlet = Some(outlet).filter(Outlet::is_open);
        let mut delivered = None;
        let mut at_work = engine.workers();
        let mut is_leaving = false;
        loop {
            let report = early.pop_front();
            match report.map_or_else(|| engine.reports.recv_timeout(TICK), Ok) {
                Ok(WorkerReport::Script(signal)) => post.signal(signal),
                Ok(report) => {
                    let is_last = matches!(
                        report,
                        WorkerReport::Ended { .. } | WorkerReport::Failed { .. }
                    );
                    at_work = at_work.saturating_sub(u32::from(is_last));
                    is_leaving |= self.heed_defect(&report, engine);
                    if at_work == 0
                        && let Some(outlet) = outlet.take()
                        && !self.deliver(outlet, &mut delivered, post)
                    {
                        return;
                    }
                    match is_leaving {
                        true => unended(report).into_iter().for_each(|seen| post.take(seen)),
                        false => post.take(report),
                    }
                    if is_last {
                        post.flush();
                    }
                }
                Err(RecvTimeoutError::Timeout) => post.flush(),
                Err(RecvTimeoutError::Disconnected) => match self.control.recv() {
                    Ok(control) => is_leaving |= heed(control, engine, post, &mut delivered),
                    Err(_) => return,
                },
            }
            if let Some(phases) = &mut phases {
                self.tell_of(phases);
            }
            loop {
                match self.control.try_recv() {
                    Ok(control @ (Control::Phase(_) | Control::Stop(_))) => {
                        if let Some(phases) = &mut phases {
                            heed_others(control, phases, engine);
                        }
                    }
                    Ok(control) => is_leaving |= heed(control, engine, post, &mut delivered),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return engine.command(RunCommand::StopNow),
                }
            }
            if is_leaving && at_work == 0 && post.is_empty() {
                self.parting.done();
            }
        }
    }

    /// Leaves if a worker has panicked: the others might wait for it forever.
    fn heed_defect(&self, report: &WorkerReport, engine: &Engine) -> bool {
        let WorkerReport::Failed {
            worker,
            why,
            is_defect: true,
        } = report
        else {
            return false;
        };
        let what = Why::Defect(format!("worker {worker}: {why}"));
        self.parting.begin(what, platform::monotonic_ns());
        engine.command(RunCommand::StopNow);
        true
    }

    /// Reports events of a plan of steps.
    fn tell_of(&self, phases: &mut Phases) {
        if let Some(at_once) = phases.stop_wanted() {
            self.outgoing.say(What::Stop(Stop { at_once }));
        }
        if let Some((number, properties)) = phases.ended() {
            let phase = phase_to_send(number, properties);
            self.outgoing.say(What::Phase(phase));
        }
    }

    /// Says that single values have no way to the coordinator.
    fn refuse_undelivered(&self, why: &str) {
        let why = format!("its samples cannot be delivered: {why}");
        self.outgoing.say(What::Refusal(Refusal { why }));
    }

    /// Waits until all single values were received; returns whether they were.
    fn deliver(
        &self,
        outlet: Outlet,
        delivered: &mut Option<Result<(), String>>,
        post: &mut Post,
    ) -> bool {
        outlet.close();
        loop {
            match delivered.take() {
                Some(Ok(())) => return true,
                Some(Err(why)) => {
                    self.refuse_undelivered(&why);
                    return false;
                }
                None => {}
            }
            match self.control.recv() {
                Ok(Control::Received(number)) => post.received(number),
                Ok(Control::Delivered(outcome)) => *delivered = Some(outcome),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

/// The last report of a worker of an agent that leaves: its share has not ended, and another agent continues it.
fn unended(report: WorkerReport) -> Option<WorkerReport> {
    match report {
        WorkerReport::Ended {
            worker,
            interval,
            seen,
            planned,
            ..
        } => Some(WorkerReport::Interval {
            worker,
            interval,
            seen,
            waiting: 0,
            planned,
        }),
        WorkerReport::Failed { .. } => None,
        report => Some(report),
    }
}

/// Handles commands to a running engine; returns whether the agent has to leave.
fn heed(
    control: Control,
    engine: &Engine,
    post: &mut Post,
    delivered: &mut Option<Result<(), String>>,
) -> bool {
    match control {
        Control::Leave => {
            engine.command(RunCommand::StopNow);
            return true;
        }
        Control::Order(command) => engine.command(command),
        Control::Received(number) => post.received(number),
        Control::Delivered(outcome) => *delivered = Some(outcome),
        Control::Link(line, how) => post.link(line, how),
        Control::GoOn => post.go_on(),
        Control::Do(..) | Control::Start(..) | Control::Phase(_) | Control::Stop(_) => {}
    }
    false
}

/// Handles events of a plan of steps from other agents.
fn heed_others(control: Control, phases: &mut Phases, engine: &Engine) {
    match control {
        Control::Phase(phase) => phases.is_over(phase.number, properties_of(phase)),
        Control::Stop(stop) => {
            phases.stop();
            if stop.at_once {
                engine.command(RunCommand::StopNow);
            }
        }
        _ => return,
    }
    engine.look_again();
}

fn phase_to_send(number: u32, properties: Vec<steps::phases::Property>) -> Phase {
    let properties = properties.into_iter();
    Phase {
        number,
        properties: properties
            .map(|(name, value)| Property { name, value })
            .collect(),
    }
}

fn properties_of(phase: Phase) -> Vec<steps::phases::Property> {
    let properties = phase.properties.into_iter();
    properties
        .map(|property| (property.name, property.value))
        .collect()
}

//! The agent's engine, from its assignment to its last report.
//!
//! Must not own connections. Invariant: whatever happens, the engine is released, so that its threads end.

use std::borrow::Cow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_engine::steps::{self, phases::Phases};
use loadline_engine::{Engine, ScriptLog, WorkerReport, platform};
use loadline_model::{Nanos, RunCommand};
use loadline_script::host::LogEntry;
use loadline_script::secrets::Secrets;
use loadline_script::vu::SetupData;
use tokio::sync::mpsc::UnboundedSender;

use super::outbox::Outbox;
use super::outlet::Outlet;
use super::{Assignment, HiddenSecrets, Prepare};
use crate::generated::from_agent::What;
use crate::generated::phase::Property;
use crate::generated::{FromAgent, LogLine, Phase, Ready, Refusal, Stop, log_line};
use crate::message::{level_to_send, live_to_send};

/// How often orders are looked for.
const TICK: Duration = Duration::from_millis(10);

/// What the agent says, on its way to the wire.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) to: UnboundedSender<FromAgent>,
    /// What nothing that is said may show.
    pub(super) secrets: HiddenSecrets,
}

impl Outgoing {
    /// Sends it; where the wire is gone, its other end is told.
    pub(super) fn say(&self, mut what: What) {
        if let Some(secrets) = self.secrets.get() {
            hide(secrets, &mut what);
        }
        drop(self.to.send(FromAgent { what: Some(what) }));
    }

    /// Tells the counters as they stand, and what the agent has used.
    pub(super) fn say_live(&self, live: &LiveView) {
        let used = platform::generator_totals();
        self.say(What::Live(live_to_send(live.totals(), &used)));
    }
}

impl ScriptLog for Outgoing {
    fn write(&self, entry: &LogEntry<'_>) {
        let fields = entry.fields.iter();
        let fields = fields.map(|(name, value)| log_line::Field {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
        self.say(What::Log(LogLine {
            level: level_to_send(entry.level).into(),
            message: entry.message.to_owned(),
            fields: fields.collect(),
        }));
    }
}

/// Takes secrets out of the texts of a message. The coordinator cannot: it does not know which ones a script of an agent has got.
fn hide(secrets: &Secrets, what: &mut What) {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = secrets.redacted(text) {
            *text = hidden;
        }
    };
    match what {
        What::Log(line) => {
            hide(&mut line.message);
            for field in &mut line.fields {
                hide(&mut field.name);
                hide(&mut field.value);
            }
        }
        What::Signal(signal) => {
            hide(&mut signal.message);
            hide(&mut signal.trace);
        }
        What::Refusal(refusal) => hide(&mut refusal.why),
        _ => {}
    }
}

/// What the engine is told.
pub(super) enum Control {
    /// What to do, and who keeps the ways of single values open.
    Do(Box<Assignment>, Outlet),
    /// When to start, on this machine's clock, and from which instant of the run the plan is the agent's; with the data of `setup()`.
    Start(u64, Nanos, Option<Arc<str>>),
    /// An order.
    Order(RunCommand),
    /// Reports up to this one have arrived.
    Received(u64),
    /// All single values are taken; an error says why they are not.
    Delivered(Result<(), String>),
    /// A phase of a plan of steps is over everywhere.
    Phase(Phase),
    /// The test is to end, as a thread of another agent wants it.
    Stop(Stop),
}

/// The engine's counters, once there is one.
#[derive(Clone, Default)]
pub(super) struct LiveView(Arc<OnceLock<Vec<Arc<LiveCounters>>>>);

impl LiveView {
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
}

impl Work {
    /// Does what the agent is told, to its end: until all reports have arrived, or nobody is there any more.
    pub(super) fn run(self, prepare: Prepare) {
        let Some((assignment, outlet)) = self.assignment() else {
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
        if !self.until_started(&engine, &data) {
            engine.command(RunCommand::StopNow);
            engine.release();
            return;
        }
        self.report(&engine, outlet, phases);
    }

    fn assignment(&self) -> Option<(Box<Assignment>, Outlet)> {
        loop {
            if let Control::Do(assignment, outlet) = self.control.recv().ok()? {
                return Some((assignment, outlet));
            }
        }
    }

    /// Waits until all is ready, says so, and waits for the start; whether it came.
    fn until_started(&self, engine: &Engine, data: &SetupData) -> bool {
        let mut is_told = false;
        loop {
            if !is_told && engine.is_ready_within(TICK) {
                is_told = true;
                self.outgoing.say(What::Ready(Ready {
                    workers: engine.workers(),
                    cores: platform::usable_cores(),
                    cores_owner: platform::cores_owner(),
                }));
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
                    return true;
                }
                Ok(Control::Order(command)) => engine.command(command),
                Ok(
                    Control::Do(..)
                    | Control::Received(_)
                    | Control::Delivered(_)
                    | Control::Phase(_)
                    | Control::Stop(_),
                )
                | Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Passes reports on until the last has arrived. That one, with which the run may end, waits until all single values are taken.
    fn report(&self, engine: &Engine, outlet: Outlet, mut phases: Option<Phases>) {
        let mut outbox = Outbox::default();
        let mut outlet = Some(outlet).filter(Outlet::is_open);
        let mut delivered = None;
        let mut at_work = engine.workers();
        let mut has_ended = false;
        while !(has_ended && outbox.is_empty()) {
            match engine.reports.recv_timeout(TICK) {
                Ok(WorkerReport::Script(signal)) => {
                    self.outgoing.say(What::Signal(signal.into()));
                }
                Ok(report) => {
                    let is_last = matches!(
                        report,
                        WorkerReport::Ended { .. } | WorkerReport::Failed { .. }
                    );
                    at_work = at_work.saturating_sub(u32::from(is_last));
                    if at_work == 0
                        && let Some(outlet) = outlet.take()
                        && !self.deliver(outlet, &mut delivered, &mut outbox)
                    {
                        return;
                    }
                    self.send(outbox.take(report));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    has_ended = true;
                    match self.control.recv() {
                        Ok(Control::Received(number)) => self.send(outbox.received(number)),
                        Ok(_) => {}
                        Err(_) => return,
                    }
                }
            }
            if let Some(phases) = &mut phases {
                self.tell_of(phases);
            }
            loop {
                match self.control.try_recv() {
                    Ok(control @ (Control::Phase(_) | Control::Stop(_))) => {
                        if let Some(phases) = &mut phases {
                            heed(control, phases, engine);
                        }
                    }
                    Ok(Control::Order(command)) => engine.command(command),
                    Ok(Control::Received(number)) => self.send(outbox.received(number)),
                    Ok(Control::Delivered(outcome)) => delivered = Some(outcome),
                    Ok(Control::Do(..) | Control::Start(..)) => {}
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return engine.command(RunCommand::StopNow),
                }
            }
        }
    }

    /// Tells what has come about in a plan of steps.
    fn tell_of(&self, phases: &mut Phases) {
        if let Some(at_once) = phases.stop_wanted() {
            self.outgoing.say(What::Stop(Stop { at_once }));
        }
        if let Some((number, properties)) = phases.ended() {
            let phase = phase_to_send(number, properties);
            self.outgoing.say(What::Phase(phase));
        }
    }

    /// Waits until all single values are taken; whether they are.
    fn deliver(
        &self,
        outlet: Outlet,
        delivered: &mut Option<Result<(), String>>,
        outbox: &mut Outbox,
    ) -> bool {
        outlet.close();
        loop {
            match delivered.take() {
                Some(Ok(())) => return true,
                Some(Err(why)) => {
                    let why = format!("its single values cannot be delivered: {why}");
                    self.outgoing.say(What::Refusal(Refusal { why }));
                    return false;
                }
                None => {}
            }
            match self.control.recv() {
                Ok(Control::Received(number)) => self.send(outbox.received(number)),
                Ok(Control::Delivered(outcome)) => *delivered = Some(outcome),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    fn send(&self, reports: std::io::Result<Vec<crate::generated::Report>>) {
        match reports {
            Ok(reports) => {
                for report in reports {
                    // The run may end with this report: nothing that is told after it would count.
                    if report.end.is_some() {
                        self.outgoing.say_live(&self.live);
                    }
                    self.outgoing.say(What::Report(report));
                }
            }
            Err(error) => self.outgoing.say(What::Refusal(Refusal {
                why: format!("a report cannot be written: {error}"),
            })),
        }
    }
}

/// Heeds what has come about elsewhere in a plan of steps.
fn heed(control: Control, phases: &mut Phases, engine: &Engine) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use loadline_script::host::LogLevel;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn nothing_that_is_said_shows_a_secret_that_was_handed_out() {
        let source = BTreeMap::from([("key".to_owned(), "s3cret".to_owned())]);
        let secrets = Secrets::new(BTreeMap::from([("default".to_owned(), Arc::new(source))]));
        secrets.get("default", "key").expect("it is there");
        let (to, mut said) = unbounded_channel();
        let outgoing = Outgoing {
            to,
            secrets: Arc::new(OnceLock::from(Arc::new(secrets))),
        };
        outgoing.write(&LogEntry {
            level: LogLevel::Info,
            message: "it is s3cret",
            fields: &[("s3cret", "a s3cret b")],
        });
        outgoing.say(What::Signal(crate::generated::Signal {
            message: "s3cret".to_owned(),
            trace: "at s3cret".to_owned(),
            ..Default::default()
        }));
        let why = "s3cret".to_owned();
        outgoing.say(What::Refusal(Refusal { why }));
        drop(outgoing);
        for _ in 0..3 {
            let said = said.try_recv().expect("it was said");
            let text = format!("{said:?}");
            assert!(!text.contains("s3cret") && text.contains("***"), "{text}");
        }
    }
}

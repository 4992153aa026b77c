//! One scenario on one worker: its schedule, its virtual users, its end.
//!
//! Must not know requests. Invariant: every arrival from the schedule is started, dropped, posted to another worker,
//! or counted as never started.

mod gate;
mod numbering;
mod steering;
mod tasks;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::plan::Scenario;
use loadline_model::{Executor, Nanos, OnExhausted, ScenarioChange};
use loadline_schedule::{Arrival, Next, Schedule};

use super::task::VuTask;
use crate::clock::Clock;
use crate::live::LiveCounters;
use crate::mailbox::Mailbox;
use crate::slot::VuSlot;
use crate::steps::PhaseGate;
use crate::timers::Timers;
use crate::vu::behaviour::{BehaviourPlan, VuBehaviour};
use crate::vu::script::ScenarioScript;
use crate::vu::shared::Shared;

/// How often a worker with waiting arrivals looks for another worker with a free virtual user.
const RETRY: Duration = Duration::from_millis(1);
/// Starts that are dropped one by one in a turn, each a sample of its own as in k6. More become one sample, so that a
/// turn ends at any rate.
const DROPPED_SINGLY_MAX: u32 = 1_000;

/// One scenario on one worker.
pub(crate) struct ScenarioShare {
    pub(crate) clock: Clock,
    pub(crate) pacing: Option<Duration>,
    /// Position in the plan.
    index: usize,
    /// [`Nanos::MAX`]: it waits for other scenarios to end.
    start: Cell<Nanos>,
    on_exhausted: OnExhausted,
    graceful_stop: Duration,
    queue_grace: Duration,
    schedule: RefCell<Schedule>,
    shared: Rc<Shared>,
    live: Arc<LiveCounters>,
    mailbox: Arc<Mailbox>,
    siblings: Vec<Arc<Mailbox>>,
    slots: RefCell<Vec<Rc<VuSlot>>>,
    idle: RefCell<VecDeque<Rc<VuSlot>>>,
    living: Cell<u32>,
    over: Cell<bool>,
    /// The panic of a virtual user.
    panic: RefCell<Option<Box<dyn Any + Send>>>,
    /// Whether everything running was interrupted, and assigned arrivals may no longer start.
    cut: Cell<bool>,
    /// Arrivals wait for a virtual user.
    exhausted: Cell<bool>,
    /// No start at or after this instant; `None` until known.
    end: Cell<Option<Nanos>>,
    never_started: Cell<u64>,
    /// Arrivals planned until the scenario was over.
    planned: Cell<u64>,
    /// What its virtual users share if it runs a script.
    script: Option<Rc<ScenarioScript>>,
    /// Whether its virtual users were started.
    has_begun: Cell<bool>,
    /// Planned active and maximum virtual users, if they are controlled from outside.
    planned_vus: Option<(u32, u32)>,
    /// How often it was steered from outside.
    steered: Cell<u64>,
    /// What it waits for before it starts; `None`: nothing.
    gate: Option<PhaseGate>,
    /// Whether its end was announced to waiting groups.
    has_told_end: Cell<bool>,
    /// The last number of threads it was told to maintain.
    kept_up: Cell<Option<u32>>,
}

/// Creates the behaviour of a virtual user.
pub(crate) type MakeBehaviour<'a> = &'a dyn Fn(&Rc<VuSlot>) -> VuBehaviour;

impl ScenarioShare {
    pub(crate) fn new(
        index: usize,
        scenario: &Scenario,
        schedule: Schedule,
        shared: &Rc<Shared>,
        live: &Arc<LiveCounters>,
        mailboxes: &[Arc<Mailbox>],
        worker: usize,
    ) -> ScenarioShare {
        let start = Nanos::from(scenario.start_time);
        let end = schedule
            .end()
            .map(|end| Nanos(start.0.saturating_add(end.0)));
        let siblings = mailboxes
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != worker)
            .map(|(_, mailbox)| Arc::clone(mailbox))
            .collect();
        ScenarioShare {
            clock: shared.clock,
            pacing: scenario.pacing,
            index,
            start: Cell::new(start),
            on_exhausted: scenario.on_exhausted,
            graceful_stop: scenario.graceful_stop,
            queue_grace: scenario.queue_grace,
            schedule: RefCell::new(schedule),
            shared: Rc::clone(shared),
            live: Arc::clone(live),
            mailbox: Arc::clone(&mailboxes[worker]),
            siblings,
            slots: RefCell::default(),
            idle: RefCell::default(),
            living: Cell::new(0),
            over: Cell::new(false),
            panic: RefCell::default(),
            cut: Cell::new(false),
            exhausted: Cell::new(false),
            end: Cell::new(end),
            never_started: Cell::new(0),
            planned: Cell::new(0),
            script: None,
            has_begun: Cell::new(false),
            planned_vus: match scenario.executor {
                Executor::ExternallyControlled { vus, max_vus, .. } => Some((vus, max_vus)),
                _ => None,
            },
            steered: Cell::new(0),
            gate: None,
            has_told_end: Cell::new(false),
            kept_up: Cell::new(None),
        }
    }

    /// The same, as a script scenario.
    pub(crate) fn of_script(mut self, script: &Rc<ScenarioScript>) -> ScenarioShare {
        self.script = Some(Rc::clone(script));
        self
    }

    /// Counts starts that were due but did not happen.
    pub(crate) fn drop_starts(&self, count: u64, now: Nanos) {
        self.shared.recorder.borrow_mut().dropped(count, now);
        if let Some(scenario) = &self.script {
            scenario.worker.dropped(scenario, count, now);
        }
    }

    /// Warns once that more virtual users would be needed than the plan allows.
    fn warn_of_want(&self) {
        if let Some(scenario) = &self.script {
            scenario.worker.warn_of_want(scenario);
        }
    }

    /// Records that a virtual user became active or idle.
    pub(crate) fn note_active(&self, is_active: bool) {
        self.live.note_at_work(self.index, is_active);
        if let Some(scenario) = &self.script {
            scenario.note_active(is_active);
        }
    }

    /// What changed since the last call, and the scenario's name; `None` if it runs no script, or nothing changed.
    pub(crate) fn take_change(&self) -> Option<(Arc<str>, ScenarioChange)> {
        let script = self.script.as_ref()?;
        let change = script.change.take();
        (change != ScenarioChange::default()).then(|| (Arc::clone(&script.name), change))
    }

    /// Whether nothing more starts.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Whether an assigned arrival is too late to start.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// Counts an assigned arrival that does not start.
    pub(crate) fn leave_unstarted(&self) {
        self.never_started.set(self.never_started.get() + 1);
    }

    /// Whether the started virtual users of an open model are waiting for arrivals.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.has_arrivals()
            || self.is_over()
            || self.idle.borrow().len() == self.slots.borrow().len()
    }

    /// Whether nothing more starts and nothing is running.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_over() && self.living.get() == 0
    }

    pub(crate) fn vu_ended(&self) {
        self.living.set(self.living.get() - 1);
        self.mailbox.notify.notify_one();
    }

    /// An instant of the scenario on the run's axis.
    #[inline]
    pub(crate) fn absolute(&self, at: Nanos) -> Nanos {
        Nanos(self.start.get().0.saturating_add(at.0))
    }

    #[inline]
    fn relative(&self, at: Nanos) -> Nanos {
        Nanos(at.since(self.start.get()))
    }

    /// What a virtual user of a closed model does next; instants on the run's axis.
    #[inline]
    pub(crate) fn next_closed(&self, slot: &VuSlot, now: Nanos) -> Next {
        let start = self.start.get();
        if now < start {
            return Next::Wait { until: start };
        }
        if self.is_called_off() {
            return Next::Wait { until: Nanos::MAX };
        }
        let mut schedule = self.schedule.borrow_mut();
        let Schedule::Closed(closed) = &mut *schedule else {
            return Next::Finished;
        };
        match closed.next(slot.local, self.relative(now)) {
            Next::Wait { until } => Next::Wait {
                until: self.absolute(until),
            },
            other => other,
        }
    }

    /// When an iteration that starts now must be interrupted at the latest.
    #[inline]
    pub(crate) fn cut_for(&self, slot: &VuSlot, started: Nanos) -> Nanos {
        let by_end = self
            .end
            .get()
            .map_or(Nanos::MAX, |end| end + self.graceful_stop);
        match &*self.schedule.borrow() {
            Schedule::Open(_) => by_end,
            Schedule::Closed(closed) => closed
                .interrupt_at(slot.local, self.relative(started))
                .map_or(by_end, |at| self.absolute(at).min(by_end)),
        }
    }

    /// Records that a virtual user is free.
    pub(crate) fn park(&self, slot: &Rc<VuSlot>) {
        self.idle.borrow_mut().push_back(Rc::clone(slot));
        self.mailbox.add_free(self.index);
        // The dispatch that ran out of virtual users did not check later arrivals.
        if self.exhausted.take() {
            self.mailbox.notify.notify_one();
        }
    }

    pub(crate) fn record_lag(&self, intended: Nanos, free_since: Nanos, started: Nanos) {
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.lag(intended, free_since, started);
    }

    /// The oldest waiting arrival, for a virtual user that has just become free.
    #[inline]
    pub(crate) fn take_waiting(&self, now: Nanos) -> Option<Arrival> {
        if self.over.get() || self.on_exhausted == OnExhausted::Drop {
            return None;
        }
        let mut schedule = self.schedule.borrow_mut();
        let Schedule::Open(open) = &mut *schedule else {
            return None;
        };
        if open.next_due()? > self.relative(now) {
            return None;
        }
        open.take()
    }

    /// Creates the initial virtual users.
    pub(crate) fn populate(
        self: &Rc<Self>,
        timers: &Rc<Timers>,
        make: MakeBehaviour<'_>,
    ) -> Vec<VuTask> {
        let count = match &*self.schedule.borrow() {
            Schedule::Closed(closed) => closed.vus(),
            Schedule::Open(open) => open.pre_allocated(),
        };
        (0..count).map(|_| self.make_vu(timers, make)).collect()
    }

    fn make_vu(self: &Rc<Self>, timers: &Rc<Timers>, make: MakeBehaviour<'_>) -> VuTask {
        let task = self.make_uncounted_vu(timers, make);
        if let Some(scenario) = &self.script {
            scenario.worker.note_made(scenario, task.slot.global);
        }
        task
    }

    /// Creates an additional virtual user, which counts once it is ready.
    fn make_unplanned_vu(self: &Rc<Self>, timers: &Rc<Timers>, make: MakeBehaviour<'_>) -> VuTask {
        let mut task = self.make_uncounted_vu(timers, make);
        task.behaviour.allow_loss();
        task
    }

    fn make_uncounted_vu(self: &Rc<Self>, timers: &Rc<Timers>, make: MakeBehaviour<'_>) -> VuTask {
        let local = self.slots.borrow().len() as u32;
        let global = match &*self.schedule.borrow() {
            Schedule::Closed(closed) => closed.global_vu(local),
            Schedule::Open(open) => open.global_vu(local),
        };
        let slot = Rc::new(VuSlot::new(local, u64::from(global)));
        self.slots.borrow_mut().push(Rc::clone(&slot));
        self.living.set(self.living.get() + 1);
        let behaviour = make(&slot);
        VuTask {
            slot,
            scenario: Rc::clone(self),
            timers: Rc::clone(timers),
            behaviour,
            is_active: false,
        }
    }

    /// Starts the arrivals that are due.
    pub(crate) fn dispatch(
        self: &Rc<Self>,
        now: Nanos,
        timers: &Rc<Timers>,
        make: MakeBehaviour<'_>,
    ) {
        if self.over.get() || now < self.start.get() {
            return;
        }
        let mut dropped_singly = 0;
        while self.peek_due(now) {
            if self.mailbox.reserve(self.index) {
                self.hand_to_idle();
            } else if self.may_make_vu() {
                let arrival = self.take();
                let task = self.make_unplanned_vu(timers, make);
                self.spawn(task.run_open(arrival));
            } else if self
                .siblings
                .iter()
                .any(|other| other.post(self.index, || self.take()))
            {
                // Another worker had room.
            } else if self.on_exhausted == OnExhausted::Drop {
                let count = self.pass_due(now, &mut dropped_singly);
                self.drop_starts(count, now);
                self.warn_of_want();
            } else {
                self.exhausted.set(true);
                break;
            }
        }
    }

    /// Takes over from another at an instant of the run, before anything was started.
    pub(crate) fn take_over_at(&self, from: Nanos) {
        if from > self.start.get() {
            self.schedule.borrow_mut().take_over_at(self.relative(from));
        }
    }

    fn peek_due(&self, now: Nanos) -> bool {
        match &*self.schedule.borrow() {
            Schedule::Open(open) => open.next_due().is_some_and(|due| due <= self.relative(now)),
            Schedule::Closed(_) => false,
        }
    }

    fn take(&self) -> Option<Arrival> {
        match &mut *self.schedule.borrow_mut() {
            Schedule::Open(open) => open.take(),
            Schedule::Closed(_) => None,
        }
    }

    /// Takes arrivals to be dropped: one, as in k6, or all that are due once there were many.
    fn pass_due(&self, now: Nanos, singly: &mut u32) -> u64 {
        *singly += 1;
        match &mut *self.schedule.borrow_mut() {
            Schedule::Open(open) if *singly > DROPPED_SINGLY_MAX => {
                open.pass_due(self.relative(now))
            }
            Schedule::Open(open) => open.take().map_or(0, |_| 1),
            Schedule::Closed(_) => 0,
        }
    }

    fn hand_to_idle(&self) {
        let slot = self.idle.borrow_mut().pop_front();
        match (slot, self.take()) {
            (Some(slot), Some(arrival)) => slot.assign(arrival),
            (Some(slot), None) => self.park(&slot),
            (None, _) => {}
        }
    }

    fn may_make_vu(&self) -> bool {
        match &*self.schedule.borrow() {
            Schedule::Open(open) => (self.slots.borrow().len() as u32) < open.vus(),
            Schedule::Closed(_) => false,
        }
    }

    /// Takes an arrival that another worker posted to a virtual user reserved for it.
    pub(crate) fn receive(&self, arrival: Arrival) {
        match self.idle.borrow_mut().pop_front() {
            Some(slot) if !self.over.get() => slot.assign(arrival),
            _ => self.leave_unstarted(),
        }
    }

    /// When this scenario next needs the worker's attention.
    pub(crate) fn next_instant(&self, now: Nanos) -> Nanos {
        let mut next = Nanos::MAX;
        if self.over.get() {
            if self.living.get() > 0
                && let Some(end) = self.end.get()
            {
                next = end + self.graceful_stop;
            }
            return if next > now { next } else { Nanos::MAX };
        }
        if let Some(end) = self.known_end() {
            next = if end > now {
                end
            } else {
                end + self.queue_grace.max(RETRY)
            };
        }
        if let Schedule::Open(open) = &*self.schedule.borrow()
            && let Some(due) = open.next_due()
        {
            let due = self.absolute(due);
            if due > now {
                next = next.min(due);
            } else if !self.siblings.is_empty() {
                next = next.min(now + RETRY);
            }
        }
        next
    }

    /// Ends the scenario once its time is up: no more starts.
    pub(crate) fn end_if_due(&self, now: Nanos) {
        if self.over.get() {
            return;
        }
        let ended = match &*self.schedule.borrow() {
            Schedule::Closed(_) => {
                self.living.get() == 0 || self.known_end().is_some_and(|end| now >= end)
            }
            Schedule::Open(open) => {
                let end = self.known_end();
                open.is_over(self.relative(now))
                    || end.is_some_and(|end| now >= end + self.queue_grace)
            }
        };
        if ended {
            self.finish(self.end.get().unwrap_or(now).min(now), now);
        }
    }

    /// Ends the scenario now, whatever the plan says.
    pub(crate) fn stop(&self, now: Nanos) {
        if !self.over.get() {
            if let Some(gate) = &self.gate {
                gate.state.stop();
            }
            self.end.set(Some(now));
            self.finish(now, now);
            for slot in self.slots.borrow().iter() {
                slot.limit_cut(now + self.graceful_stop);
            }
        }
    }

    /// Interrupts whatever is running.
    pub(crate) fn cut_all(&self) {
        self.cut.set(true);
        for slot in self.slots.borrow().iter() {
            slot.cut();
        }
    }

    fn finish(&self, end: Nanos, now: Nanos) {
        self.over.set(true);
        // Threads of steps end on their own, including those whose arrival was the last.
        if self.gate.is_none() {
            self.end.set(Some(self.end.get().unwrap_or(now)));
        }
        self.mailbox.close(self.index);
        match &mut *self.schedule.borrow_mut() {
            Schedule::Open(open) => {
                let until = self.relative(end);
                self.planned.set(open.planned_by(until));
                let waiting = open.due_by(until);
                self.never_started.set(self.never_started.get() + waiting);
            }
            Schedule::Closed(closed) => {
                closed.stop();
                let unstarted = closed.unstarted();
                self.never_started.set(self.never_started.get() + unstarted);
                // As in k6, an aborted test does not count what it leaves out.
                let is_called_off = self.mailbox.ordered().is_some();
                if let Some(script) = &self.script
                    && self.has_begun.get()
                    && !is_called_off
                {
                    // They are dropped iterations to k6, and no arrivals.
                    for count in closed.unstarted_parts() {
                        script.worker.left_out(script, count, now);
                    }
                }
            }
        }
        self.idle.borrow_mut().clear();
        for slot in self.slots.borrow().iter() {
            slot.wake();
        }
    }

    /// Stops whatever is overdue.
    pub(crate) fn sweep(&self, now: Nanos) {
        for slot in self.slots.borrow().iter() {
            slot.sweep(now);
        }
    }

    /// Arrivals due and waiting.
    pub(crate) fn waiting(&self, now: Nanos) -> u64 {
        match &*self.schedule.borrow() {
            Schedule::Open(open) if !self.over.get() && now >= self.start.get() => {
                open.due_by(self.relative(now))
            }
            _ => 0,
        }
    }

    /// Arrivals planned until now; nothing in a closed model.
    pub(crate) fn planned(&self, now: Nanos) -> u64 {
        match &*self.schedule.borrow() {
            Schedule::Open(_) if self.over.get() => self.planned.get(),
            Schedule::Open(open) if now >= self.start.get() => {
                let end = self.end.get().unwrap_or(Nanos::MAX);
                open.planned_by(self.relative(now.min(end)))
            }
            _ => 0,
        }
    }

    /// Whether its iterations start at planned instants.
    pub(crate) fn has_arrivals(&self) -> bool {
        matches!(&*self.schedule.borrow(), Schedule::Open(_))
    }

    /// Starts that were planned but did not happen because the scenario ended.
    pub(crate) fn never_started(&self) -> u64 {
        self.never_started.get()
    }
}

/// A scenario on a worker, with its virtual users.
pub(crate) struct Hosted {
    pub(crate) share: Rc<ScenarioShare>,
    pub(crate) behaviour: BehaviourPlan,
    /// The initial virtual users, until the start.
    pub(crate) ready: RefCell<Vec<VuTask>>,
}

impl Hosted {
    /// Starts the virtual users.
    pub(crate) fn start(&self) {
        self.share.has_begun.set(true);
        for task in self.ready.take() {
            self.share.start_vu(task);
        }
    }
}

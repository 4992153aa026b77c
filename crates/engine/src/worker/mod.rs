//! A worker: one thread, one current-thread runtime, its share of every scenario.
//!
//! Its main future dispatches arrivals, fires timers, sweeps deadlines and ships a snapshot each
//! second; virtual users are local tasks beside it. Must not know other workers except their mailboxes. Invariant: a
//! worker ends only when every virtual user has, and its last report contains everything that earlier ones did not.

pub(crate) mod scenario;
mod setup;
pub(crate) mod task;

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Duration;

use loadline_model::{Nanos, RunCommand, Snapshot};

use crate::clock::Clock;
use crate::mailbox::Mailbox;
use crate::net::WireBytes;
use crate::platform::{self, Alarm, RunQueue};
use crate::record_script::ScriptRecorder;
use crate::report::{INTERVAL, WorkerReport};
use crate::slot::VuSlot;
use crate::timers::Timers;
use crate::vu::behaviour::BehaviourPlan;
use crate::vu::script::{RetiredVus, WorkerScript};
use crate::vu::shared::{BODIES_MAX, Shared};
use crate::vu::steps::StepsOnWorker;
use scenario::Hosted;

pub(crate) use setup::{ScriptParts, StartLine, WorkerSetup, make_script, make_shared, run_worker};

/// How often the number of threads of each group is evaluated.
const LEVEL_EVERY: Duration = Duration::from_secs(1);

/// A running worker.
pub(crate) struct Worker {
    number: u32,
    clock: Clock,
    alarm: Alarm,
    alarm_at: Nanos,
    window_ns: u64,
    sweep_every: Duration,
    next_sweep: Nanos,
    /// When the number of threads of each group is next evaluated.
    next_level: Nanos,
    next_interval: u64,
    /// When the warm-up ends; `None` once it has.
    warm_until: Option<Nanos>,
    hosted: Vec<Hosted>,
    shared: Rc<Shared>,
    /// What script virtual users share; `None` without script scenarios.
    script: Option<Rc<WorkerScript>>,
    /// What the threads of steps share; `None` without such scenarios.
    steps: Option<Rc<StepsOnWorker>>,
    retired: Rc<RetiredVus>,
    bytes: Rc<WireBytes>,
    timers: Rc<Timers>,
    mailbox: Arc<Mailbox>,
    reports: Sender<WorkerReport>,
    obeyed: Option<RunCommand>,
    /// Number of steering changes applied.
    steered: u64,
    cpu_ns: u64,
    run_queue: RunQueue,
}

impl Worker {
    /// Works until everything has ended; arrivals before `from` belong to another process.
    async fn run(mut self, from: Nanos) {
        if from > Nanos::ZERO {
            self.take_over_at(from);
        }
        // A run that was aborted before it started has dropped nothing.
        self.obey(self.clock.now());
        for hosted in &self.hosted {
            hosted.start();
        }
        // The virtual users must be waiting before the first arrival, which may be due at once.
        while !self.hosted.iter().all(|hosted| hosted.share.is_waiting()) {
            tokio::task::yield_now().await;
            self.pass_on_panic();
        }
        loop {
            self.pass_on_panic();
            let now = self.clock.now();
            self.obey(now);
            self.heed_steering();
            self.collect_letters();
            for hosted in &self.hosted {
                let make =
                    |slot: &Rc<VuSlot>| hosted.behaviour.for_vu(&self.shared, slot, &self.timers);
                hosted.share.heed_gate(now);
                hosted.share.dispatch(now, &self.timers, &make);
                hosted.share.end_if_due(now);
                hosted.share.tell_end();
            }
            self.heed_levels(now);
            self.timers.fire(now);
            self.retired.free_if_due(now);
            self.end_warm_up_if_due(now);
            self.sweep_if_due(now);
            self.report_if_due(now);
            if self.hosted.iter().all(|hosted| hosted.share.has_ended()) {
                break;
            }
            let next = self.next_instant(now);
            self.wait_until(next).await;
        }
        self.report_end();
    }

    /// Panics if a virtual user did.
    fn pass_on_panic(&self) {
        let mut shares = self.hosted.iter().map(|hosted| &hosted.share);
        if let Some(panic) = shares.find_map(|share| share.take_panic()) {
            resume_unwind(panic);
        }
    }

    fn take_over_at(&mut self, from: Nanos) {
        for hosted in &self.hosted {
            hosted.share.take_over_at(from);
        }
        self.next_interval = from.0 / Nanos::from(INTERVAL).0;
    }

    fn obey(&mut self, now: Nanos) {
        let ordered = self.mailbox.ordered();
        if ordered == self.obeyed {
            return;
        }
        self.obeyed = ordered;
        let shares = self.hosted.iter().map(|hosted| &hosted.share);
        // A run that is stopped from outside needs nothing more.
        let from_outside = ordered != Some(RunCommand::StopNow);
        for share in shares.filter(|share| from_outside || !share.outlives_stop()) {
            share.stop(now);
            if ordered != Some(RunCommand::StopGracefully) {
                share.cut_all();
            }
        }
    }

    /// Passes on commands to externally controlled scenarios.
    fn heed_steering(&mut self) {
        let Some(steering) = self.mailbox.steering(&mut self.steered) else {
            return;
        };
        for hosted in &self.hosted {
            let make =
                |slot: &Rc<VuSlot>| hosted.behaviour.for_vu(&self.shared, slot, &self.timers);
            hosted.share.steer(steering, &self.timers, &make);
        }
    }

    /// Makes groups maintain as many threads as their expressions say, once per second.
    fn heed_levels(&mut self, now: Nanos) {
        if now < self.next_level {
            return;
        }
        self.next_level = now + LEVEL_EVERY;
        for hosted in &self.hosted {
            let BehaviourPlan::Steps(group) = &hosted.behaviour else {
                continue;
            };
            if self.number == 0 {
                group.renew_target(&self.shared);
            }
            let make =
                |slot: &Rc<VuSlot>| hosted.behaviour.for_vu(&self.shared, slot, &self.timers);
            hosted.share.keep_up(group.target(), &self.timers, &make);
        }
    }

    fn collect_letters(&self) {
        for (scenario, arrival) in self.mailbox.collect() {
            self.hosted[scenario].share.receive(arrival);
        }
    }

    /// Separates the bytes of the warm-up from those that count.
    fn end_warm_up_if_due(&mut self, now: Nanos) {
        if self.warm_until.is_some_and(|until| until <= now) {
            let mut recorder = self.shared.recorder.borrow_mut();
            recorder.transferred(self.bytes.take(), true);
            self.warm_until = None;
        }
    }

    fn sweep_if_due(&mut self, now: Nanos) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + self.sweep_every;
        for hosted in &self.hosted {
            hosted.share.sweep(now);
        }
        self.pass_samples();
    }

    fn pass_samples(&self) {
        if let Some(steps) = &self.steps {
            steps.pass_samples(&self.shared);
        }
    }

    fn next_instant(&self, now: Nanos) -> Nanos {
        let starts = self
            .hosted
            .iter()
            .map(|hosted| hosted.share.next_instant(now))
            .chain(self.timers.next())
            .chain([self.retired.next_due()])
            .fold(Nanos::MAX, Nanos::min);
        let windowed = match self.window_ns {
            0 => starts,
            window => Nanos(starts.0.div_ceil(window).saturating_mul(window)),
        };
        windowed
            .min(self.next_sweep)
            .min(self.warm_until.unwrap_or(Nanos::MAX))
            .min(interval_end(self.next_interval))
    }

    /// Waits for the alarm, a message, a command, or an earlier deadline.
    async fn wait_until(&mut self, at: Nanos) {
        if at != self.alarm_at {
            self.alarm_at = at;
            self.alarm.set(self.clock.to_monotonic_ns(at));
        }
        let mut notified = pin!(self.mailbox.notify.notified());
        let (alarm, timers) = (&self.alarm, &self.timers);
        let fired = std::future::poll_fn(|cx| {
            if alarm.poll_fired(cx).is_ready() {
                return Poll::Ready(true);
            }
            if timers.take_sooner(cx) {
                return Poll::Ready(false);
            }
            notified.as_mut().poll(cx).map(|()| false)
        })
        .await;
        if fired {
            self.alarm_at = Nanos::MAX;
        }
    }

    fn report_if_due(&mut self, now: Nanos) {
        if now < interval_end(self.next_interval) {
            return;
        }
        self.next_interval = now.0 / Nanos::from(INTERVAL).0;
        let interval = self.next_interval - 1;
        self.shared.bodies_left.set(BODIES_MAX);
        let seen = Box::new(self.take_seen());
        let waiting = self
            .hosted
            .iter()
            .map(|hosted| hosted.share.waiting(now))
            .sum();
        let planned = self
            .hosted
            .iter()
            .map(|hosted| hosted.share.planned(now))
            .sum();
        let report = WorkerReport::Interval {
            worker: self.number,
            interval,
            seen,
            waiting,
            planned,
        };
        // A run that no longer listens has abandoned this worker.
        drop(self.reports.send(report));
    }

    fn report_end(&mut self) {
        // No virtual user is left for an arrival that another worker posted at the last moment.
        self.collect_letters();
        self.pass_samples();
        let now = self.clock.now();
        // The connections are dropped first: the kernel's data on them belongs to the last report.
        if let Some(http2) = &self.shared.http2 {
            http2.close();
        }
        let report = WorkerReport::Ended {
            worker: self.number,
            interval: self.next_interval,
            seen: Box::new(self.take_seen()),
            planned: self
                .hosted
                .iter()
                .map(|hosted| hosted.share.planned(now))
                .sum(),
            never_started: self.never_started(),
            last_done: self.shared.last_done.get(),
        };
        drop(self.reports.send(report));
    }

    /// Planned starts that were left out. Beside arrivals only these count: they are what was asked for.
    fn never_started(&self) -> u64 {
        let shares = || self.hosted.iter().map(|hosted| &hosted.share);
        let is_open = shares().any(|share| share.has_arrivals());
        let asked_for = shares().filter(|share| share.has_arrivals() == is_open);
        asked_for.map(|share| share.never_started()).sum()
    }

    fn take_seen(&mut self) -> Snapshot {
        let in_warm_up = self.warm_until.is_some();
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.transferred(self.bytes.take(), in_warm_up);
        let mut seen = recorder.take();
        drop(recorder);
        seen.connections.read_delay = self.bytes.take_read_delays();
        if let Some(script) = &self.script {
            take_measured(&mut script.recorder.borrow_mut(), &mut seen);
            let changes = self
                .hosted
                .iter()
                .filter_map(|hosted| hosted.share.take_change());
            seen.scenarios = changes.collect();
        }
        let measures = self
            .steps
            .as_ref()
            .and_then(|steps| steps.measures.as_ref());
        if let Some(measures) = measures {
            take_measured(&mut measures.recorder.borrow_mut(), &mut seen);
        }
        let cpu_ns = platform::thread_cpu_ns();
        let run_queue = platform::thread_run_queue().unwrap_or_default();
        seen.worker_cpu_ns = cpu_ns.saturating_sub(self.cpu_ns);
        seen.run_queue_ns = run_queue.waited_ns.saturating_sub(self.run_queue.waited_ns);
        seen.turns = run_queue.turns.saturating_sub(self.run_queue.turns);
        self.cpu_ns = cpu_ns;
        self.run_queue = run_queue;
        seen
    }
}

fn interval_end(interval: u64) -> Nanos {
    Nanos((interval + 1).saturating_mul(Nanos::from(INTERVAL).0))
}

/// Moves what was measured since the last call into `seen`, with what blocked the worker.
fn take_measured(recorder: &mut ScriptRecorder, seen: &mut Snapshot) {
    let (measured, held_up) = recorder.take();
    seen.script = Some(Box::new(measured));
    seen.back_pressure_ns += held_up.sink_ns + held_up.log_ns;
    seen.log_wait_ns += held_up.log_ns;
}

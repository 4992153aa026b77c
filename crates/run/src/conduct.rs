//! Conducts a run from its start to its result.
//!
//! Must not know how anything is presented. Invariant: once a request was sent, there is always a result, whatever
//! happens.

mod finish;
mod stopping;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_engine::live::LiveTotals;
use loadline_engine::platform::thread_run_queue;
use loadline_engine::steps::StepsState;
use loadline_engine::{EngineSetup, StartError};
use loadline_model::event::{CROSSED_MARK, Mark, NOT_BEGUN_MARK, WARNING_MARK};
use loadline_model::result::{Environment, StopReason};
use loadline_model::rows::Rows;
use loadline_model::{Nanos, RunCommand, RunEvent, Snapshot, TestPlan};

use crate::collect::{Collector, Told};
use crate::contract::{Ran, RunError, RunSetup};
use crate::environment::environment;
use crate::generator::StallWatch;
use crate::lifecycle::{Begun, Lifecycle, Surroundings};
use crate::load::{Load, load_of};
use crate::observing::Observing;
use crate::orders::EarlyOrders;
use crate::script::{Part, ScriptConduct};
use crate::thresholds;
use crate::trouble::{Trouble, trouble_of};
use crate::watch::{RunPhase, RunWatch};
use crate::windows::Windows;

use stopping::Haste;

/// Interval for checking orders and reading the live counters: short enough for a Ctrl-C, long enough to cost
/// nothing.
const TICK: Duration = Duration::from_millis(50);
/// Interval of the emitted seconds.
const SECOND: Duration = Duration::from_secs(1);
/// Maximum number of thresholds marked as crossed at one time; the result has all of them.
const CROSSED_MAX: usize = 16;

/// Runs a plan to its end, reporting events to `on_event`.
///
/// # Errors
/// Nothing could be started, or no worker could work. Once a request was sent, there is a result.
pub fn run(
    plan: Arc<TestPlan>,
    setup: RunSetup,
    on_event: &mut dyn FnMut(RunEvent),
) -> Result<Ran, RunError> {
    let refused = |why| RunError::Start(StartError::Plan(why));
    thresholds::check(&plan).map_err(refused)?;
    let mut script = match setup.metrics() {
        Some(metrics) => {
            Some(ScriptConduct::new(&plan, metrics, setup.watch.as_deref()).map_err(refused)?)
        }
        None => None,
    };
    let threads = setup.own_threads();
    let enter = |phase| setup.watch.iter().for_each(|watch| watch.enter(phase));
    let mut early = EarlyOrders::default();
    let observers = setup.observers;
    let mut observing = observers.map(|feed| Observing::begin(feed, &setup.commands, &mut early));
    enter(RunPhase::InitVus);
    let load = load_of(setup.load, || EngineSetup {
        plan: Arc::clone(&plan),
        samples: setup.samples,
        script: setup.script.as_ref().map(|script| script.setup.clone()),
        steps: setup.steps,
    });
    let load = load.map_err(RunError::Start)?;
    early.until_ready(&*load, &setup.commands, TICK);
    enter(RunPhase::Ready);
    let environment = Arc::new(environment(&*load, &setup.command_line));
    let under_way = load.under_way();
    let mut collector = Collector::of(&plan, &*load, under_way.as_ref());
    if let Some(watch) = &setup.watch {
        watch.follow(&*load);
    }
    let mut lifecycle = setup.script.map(|script| {
        let functions = script.functions;
        Lifecycle::new(&plan, script.setup, &*load, functions, setup.watch.clone())
    });
    let orders = (&setup.commands, setup.is_paused && !early.is_resumed);
    let begun = match (&mut lifecycle, early.stop, under_way) {
        (None, order, _) => order.map_or(Begun::Yes, Begun::Stopped),
        (Some(lifecycle), Some(order), _) => lifecycle.give_up(order),
        (Some(lifecycle), None, Some(known)) => lifecycle.go_on(known.data, known.seen),
        (Some(lifecycle), None, None) if collector.take_early(&*load) => lifecycle.leave_out(),
        (Some(lifecycle), None, None) => lifecycle.begin(&*load, orders, script.as_mut(), on_event),
    };
    if begun != Begun::Yes {
        load.command(RunCommand::StopNow);
    }
    load.release();
    on_event(RunEvent::Started {
        plan: Arc::new(plan.redacted()),
        environment: Arc::clone(&environment),
        started_unix_ms: load.started_unix_ms(),
    });
    if let Some(observing) = &mut observing {
        observing.start(load.started_unix_ms());
    }
    let mut conductor = Conductor::new(plan, load, collector, setup.commands);
    conductor.observing = observing;
    conductor.script = script;
    conductor.threads = threads;
    conductor.watch = setup.watch;
    if let Some(lifecycle) = &mut lifecycle {
        conductor.tell_setup(lifecycle, &begun, on_event);
    }
    conductor.take_over(begun, on_event);
    conductor.conduct(on_event);
    conductor.conclude(lifecycle, &environment, on_event)
}

struct Conductor {
    plan: Arc<TestPlan>,
    load: Box<dyn Load>,
    commands: Receiver<RunCommand>,
    collector: Collector,
    rows: Rows,
    total: Snapshot,
    told_until: Nanos,
    events: Vec<Mark>,
    /// Whether the load was started.
    has_begun: bool,
    stop: StopReason,
    haste: Haste,
    stopped_at: Option<Nanos>,
    /// When the workers were ordered to stop at once.
    cut_at: Option<Nanos>,
    /// Workers that were given up without their last report.
    silent: usize,
    active_vus_max: u64,
    /// Busy virtual users at the last check before the end of the current second.
    at_work_before: u64,
    windows: Option<Windows>,
    /// When reports were last waited for.
    looked_at: Nanos,
    stalls: StallWatch,
    /// The part for runs that measure by metrics: scripts and steps.
    script: Option<ScriptConduct>,
    /// The threads of a plan of steps; `None` for other runs.
    threads: Option<Arc<StepsState>>,
    watch: Option<Arc<RunWatch>>,
    observing: Option<Observing>,
    troubles: Vec<Trouble>,
    crossings: thresholds::RequestCrossings,
}

impl Conductor {
    fn new(
        plan: Arc<TestPlan>,
        load: Box<dyn Load>,
        collector: Collector,
        commands: Receiver<RunCommand>,
    ) -> Conductor {
        let windows = plan.aggregation.rate_window.map(Windows::new);
        Conductor {
            plan,
            load,
            commands,
            collector,
            rows: Rows::default(),
            total: Snapshot::default(),
            told_until: Nanos::ZERO,
            events: Vec::new(),
            has_begun: false,
            stop: StopReason::Finished,
            haste: Haste::Nobody,
            stopped_at: None,
            cut_at: None,
            silent: 0,
            active_vus_max: 0,
            at_work_before: 0,
            windows,
            looked_at: Nanos::ZERO,
            stalls: StallWatch::default(),
            script: None,
            threads: None,
            watch: None,
            observing: None,
            troubles: Vec::new(),
            crossings: thresholds::RequestCrossings::default(),
        }
    }

    /// Collects reports and passes orders on until every worker has ended.
    fn conduct(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        let tick = self
            .windows
            .as_ref()
            .map_or(TICK, |windows| windows.every.min(TICK));
        self.looked_at = self.load.clock().now();
        while !self.collector.all_ended() {
            let due = self.load.clock().now() + tick;
            match self.load.reports().recv_timeout(tick) {
                Ok(report) => self.collector.take(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.note_stall(tick, due);
            self.look();
            self.heed_reports(on_event);
            self.heed_observers(on_event);
            self.pass_orders(on_event);
            while let Some(told) = self.collector.next_told(self.at_work()) {
                self.tell_second(told, on_event);
            }
            if self.gave_up() {
                self.note_silent(on_event);
                break;
            }
        }
        self.look();
        self.heed_reports(on_event);
    }

    /// Ends the parts around a script's iterations, and makes the result.
    fn conclude(
        mut self,
        lifecycle: Option<Lifecycle>,
        environment: &Environment,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Result<Ran, RunError> {
        let mut troubles = Vec::new();
        self.load.settle_log();
        self.settle_observers(on_event);
        if let Some(mut lifecycle) = lifecycle {
            troubles.append(&mut lifecycle.troubles);
            troubles.append(&mut self.troubles);
            let mut surroundings = Surroundings {
                load: &*self.load,
                script: self.script.as_mut(),
                on_event,
                seen: Snapshot::default(),
            };
            let late_order = match self.haste {
                Haste::AtOnce => None,
                Haste::Nobody | Haste::Asked => {
                    lifecycle.tear_down(&self.commands, self.stop, &mut surroundings)
                }
            };
            lifecycle.seen.merge(surroundings.seen);
            self.tell_around(&mut lifecycle, on_event);
            self.take_last_troubles(lifecycle.troubles, &mut troubles, on_event);
            if let Some(order) = late_order {
                self.note_late(order);
            }
        }
        self.tell_requested(on_event);
        if troubles.is_empty()
            && let Some(error) = self.nothing_began()
        {
            return Err(error);
        }
        let live = self.load.live();
        let (complete, interrupted) = (live.iterations_completed, live.iterations_interrupted);
        let watch = self.watch.take();
        let result = self.finish(environment, on_event);
        if let Some(watch) = watch {
            watch.conclude(&result);
        }
        on_event(RunEvent::Finished(Arc::new(result.clone())));
        Ok(Ran {
            result,
            troubles,
            interrupted,
            complete,
        })
    }

    /// Takes errors of `teardown()`. As in k6, they decide how a test ends that nothing had ended before.
    fn take_last_troubles(
        &mut self,
        last: Vec<Trouble>,
        troubles: &mut Vec<Trouble>,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        if self.stop == StopReason::Finished {
            troubles.extend(last);
            return;
        }
        for trouble in last {
            let at_ns = self.load.clock().now().0;
            let warning = Mark {
                at_ns,
                kind: WARNING_MARK.to_owned(),
                text: format!("teardown() failed: {}", trouble.message),
            };
            self.mark(warning, on_event);
        }
    }

    /// Ends the test if the script requests it; adds marks for lost and replaced agents.
    fn heed_reports(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        for (kind, text) in std::mem::take(&mut self.collector.of_agents) {
            let at_ns = self.load.clock().now().0;
            let kind = kind.to_owned();
            self.mark(Mark { at_ns, kind, text }, on_event);
        }
        self.heed_defect(on_event);
        for signal in std::mem::take(&mut self.collector.signals) {
            let trouble = trouble_of(&signal);
            let is_new = self.troubles.iter().all(|known| known.code != trouble.code);
            if trouble.ends_test() && self.stopped_at.is_none() {
                let text = trouble.message.clone();
                let (command, reason) = (RunCommand::StopNow, StopReason::Script);
                self.stop_for(command, reason, "stop", text, on_event);
            }
            if is_new {
                self.troubles.push(trouble);
            }
        }
    }

    /// Takes the observers' reports; ends the test if a required observer is lost.
    fn heed_observers(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        let lost = self.observing.as_mut().and_then(|seen| seen.look(on_event));
        if let Some(text) = lost
            && self.stopped_at.is_none()
        {
            let (command, reason) = (RunCommand::StopGracefully, StopReason::ObserverLost);
            self.stop_for(command, reason, "stop", text, on_event);
        }
    }

    /// Waits for the observers' readings after the load, unless there was none, somebody ordered the end, or it ended
    /// because a required observer reads no more: its pipeline would be waited for in vain.
    fn settle_observers(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        if let Some(observing) = &mut self.observing
            && self.has_begun
            && self.haste == Haste::Nobody
            && self.stop != StopReason::ObserverLost
        {
            let lost = observing.settle(&self.commands, on_event);
            self.note_lost_observer(lost, on_event);
        }
    }

    /// Notes how much later than one tick this thread looks again, and how much later it runs again than its wait was
    /// `due` to end.
    fn note_stall(&mut self, tick: Duration, due: Nanos) {
        let now = self.load.clock().now();
        if self.load.is_here() {
            self.stalls.looked_later(now.since(self.looked_at + tick));
            let waited = thread_run_queue().map_or(0, |queue| queue.waited_ns);
            self.stalls.ran_later(now.since(due), waited);
        }
        self.looked_at = now;
    }

    /// Reads the live counters.
    fn look(&mut self) {
        let live = self.load.live();
        let at_work = self.at_work();
        self.active_vus_max = self.active_vus_max.max(at_work);
        if self.load.clock().now() < self.told_until + SECOND {
            self.at_work_before = at_work;
        }
        if let Some(windows) = &mut self.windows {
            let now = self.load.clock().now();
            let done = live.completed + live.failed;
            windows.look(now, done);
        }
    }

    /// Busy virtual users now: for a script those that run an iteration, for steps the threads that have
    /// started, otherwise those with a request in flight.
    fn at_work(&self) -> u64 {
        let live = self.live();
        match self.threads.is_some() || self.script.is_some() {
            true => live.vus_active,
            false => live.active(),
        }
    }

    /// The live counters; for steps, threads count as busy from their start.
    fn live(&self) -> LiveTotals {
        let live = self.load.live();
        match &self.threads {
            Some(threads) => LiveTotals {
                vus_active: threads.threads().0.into(),
                vus_made: self.plan.max_vus().into(),
                ..live
            },
            None => live,
        }
    }

    fn pass_orders(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        while let Ok(command) = self.commands.try_recv() {
            self.obey(command, on_event);
        }
    }

    /// Emits a whole second, which is when gauges are read.
    fn tell_second(&mut self, mut told: Told, on_event: &mut dyn FnMut(RunEvent)) {
        self.stalls.write_to(&mut told.row.generator);
        // As in k6, whose seconds start slightly before the iterations do: a virtual user that stops at the end
        // of a second was busy in it.
        let live = LiveTotals {
            vus_active: self.at_work_before,
            ..self.live()
        };
        if let Some(script) = &mut self.script {
            let until_ns = told.row.at_ns + told.row.span_ns;
            let started_unix_ms = self.load.started_unix_ms();
            script.gauge(&mut told.delta, &live, until_ns, started_unix_ms);
        }
        self.tell(told, on_event);
    }

    fn tell(&mut self, told: Told, on_event: &mut dyn FnMut(RunEvent)) {
        let Told { row, delta } = told;
        self.tell_requested(on_event);
        self.told_until = Nanos(row.at_ns + row.span_ns);
        self.rows.add(row.clone());
        let delta = self.add(delta, on_event);
        if let Some(watch) = &self.watch {
            watch.tell(&delta, self.told_of_test());
        }
        let part = Part {
            span_ns: row.span_ns,
            until_ns: self.told_until.0,
        };
        if let Some(script) = &mut self.script {
            script.keep_by_tag(&delta, part);
        }
        on_event(RunEvent::Second {
            row,
            delta: Arc::clone(&delta),
        });
        self.hold_thresholds(&delta, part, on_event);
    }

    /// Emits the measurements of `setup()` or `teardown()`, once.
    fn tell_around(&mut self, lifecycle: &mut Lifecycle, on_event: &mut dyn FnMut(RunEvent)) {
        self.tell_seen_around(std::mem::take(&mut lifecycle.seen), on_event);
    }

    /// The same for those that ran on request.
    fn tell_requested(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        let watch = self.watch.iter();
        let seen = watch.map(|watch| watch.take_around()).next();
        self.tell_seen_around(seen.unwrap_or_default(), on_event);
    }

    fn tell_seen_around(&mut self, seen: Snapshot, on_event: &mut dyn FnMut(RunEvent)) {
        if seen != Snapshot::default() {
            let seen = self.add(seen, on_event);
            on_event(RunEvent::Around(seen));
        }
    }

    /// Adds an interval to the total, and emits its series, which the total does not keep.
    fn add(&mut self, mut delta: Snapshot, on_event: &mut dyn FnMut(RunEvent)) -> Arc<Snapshot> {
        let series = delta.script.as_mut().and_then(|seen| seen.take_series());
        if let Some(series) = series {
            on_event(RunEvent::Series(Arc::new(series)));
        }
        self.total.merge(delta.clone());
        Arc::new(delta)
    }

    /// What was told so far, from the start of the test, which `setup()` belongs to.
    fn told_of_test(&self) -> Duration {
        let clock = self.load.clock();
        let before_load = clock.since_test_began().0.saturating_sub(clock.now().0);
        Duration::from_nanos(before_load + self.told_until.0)
    }

    /// Marks the first crossings of thresholds; ends a script run whose thresholds demand it; warns about tags
    /// with too many values.
    fn hold_thresholds(
        &mut self,
        delta: &Snapshot,
        part: Part,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        let elapsed = self.told_of_test();
        let Some(script) = &mut self.script else {
            let crossed = self.crossings.told(&self.plan, &self.total, part.until_ns);
            return self.mark_crossed(crossed, part.until_ns, on_event);
        };
        let warnings = [
            script.explosion(&self.total, part.until_ns),
            script.many_series(&self.total, part.until_ns),
        ];
        let crossed = script.hold(delta, &self.total, part, elapsed);
        let first_crossed = script.first_crossed();
        self.mark_crossed(first_crossed, part.until_ns, on_event);
        for warning in warnings.into_iter().flatten() {
            self.mark(warning, on_event);
        }
        let may_stop = self.stopped_at.is_none() && !self.collector.all_ended();
        if let Some(text) = crossed
            && may_stop
        {
            self.stop_for_thresholds(text, on_event);
        }
    }

    fn mark_crossed(
        &mut self,
        crossed: Vec<String>,
        at_ns: u64,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        for text in crossed.into_iter().take(CROSSED_MAX) {
            let kind = CROSSED_MARK.to_owned();
            self.mark(Mark { at_ns, kind, text }, on_event);
        }
    }

    /// Emits the measurements of `setup()`, and handles the end of the test if it ended there.
    fn tell_setup(
        &mut self,
        lifecycle: &mut Lifecycle,
        begun: &Begun,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        self.tell_around(lifecycle, on_event);
        if !lifecycle.ended_in_setup {
            return;
        }
        let text = match begun {
            Begun::No => "setup() failed: no load was made",
            _ => "the test was ended in setup(): no load was made",
        };
        let mark = Mark {
            at_ns: 0,
            kind: NOT_BEGUN_MARK.to_owned(),
            text: text.to_owned(),
        };
        self.mark(mark, on_event);
    }

    fn mark(&mut self, mark: Mark, on_event: &mut dyn FnMut(RunEvent)) {
        self.events.push(mark.clone());
        on_event(RunEvent::Mark(mark));
    }
}

#[cfg(test)]
mod tests;

//! The behaviour of a thread of a plan of steps: an iteration of the engine is the thread's life, or one arrival.
//!
//! Performs what the thread asks for. Must not know what steps mean, nor when threads start. Invariant: a thread
//! that ended, however, is counted as ended once.

mod client;
mod host;
mod java_words;
mod level;
mod measured;
mod sleeper;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use loadline_model::error_class::ErrorClass;
use loadline_model::thread_group::Arrivals;
use loadline_model::{Nanos, RunCommand, TestPlan, ThreadGroup};
use loadline_schedule::thread_group::{end_of_arrivals, life_of};
use loadline_script::vu::StackPool;
use loadline_steps::http::{HttpAnswer, HttpAsk};
use loadline_steps::thread::{Ask, Deadline, End, Outcome, Thread};
use tokio::sync::futures::Notified;

use self::client::{StepsClient, UnderWay, first_of};
use self::host::StepsHost;
use self::measured::WorkerMeasures;
use super::beginning::Beginning;
use super::shared::Shared;
use crate::batches::Gone;
use crate::client::{Stop, StopSign};
use crate::clock::Clock;
use crate::mailbox::Mailbox;
use crate::net::Failure;
use crate::record::Life;
use crate::slot::VuSlot;
use crate::steps::scripts::Scripts;
use crate::steps::told::ToldThread;
use crate::steps::{GroupTimes, Outbox, PhaseGate, StepsSetup, StepsState};
use crate::timers::Timers;

/// How often a waiting thread checks whether it has to end, in milliseconds.
const LOOK_EVERY_MS: u64 = 200;

/// What the threads of all groups on a worker share.
pub(crate) struct StepsOnWorker {
    pub(crate) outbox: Arc<Outbox>,
    /// Where samples are measured; `None`: they are not.
    pub(crate) measures: Option<WorkerMeasures>,
    /// The stacks of threads whose scripts may sleep.
    stacks: Rc<StackPool>,
}

impl StepsOnWorker {
    /// # Errors
    /// The metrics of samples cannot be declared.
    pub(crate) fn new(
        clock: Clock,
        setup: &StepsSetup,
        plan: &TestPlan,
    ) -> Result<StepsOnWorker, String> {
        let measures = setup.metrics.as_ref();
        let measures = measures.map(|metrics| WorkerMeasures::new(clock, metrics, plan));
        Ok(StepsOnWorker {
            outbox: Arc::clone(&setup.samples),
            measures: measures.transpose()?,
            stacks: StackPool::new(),
        })
    }

    /// Hands over the waiting samples; if the receiver has ended, the sender of the next sample gets the error.
    pub(crate) fn pass_samples(&self, shared: &Shared) {
        if let Ok(held_up_ns) = self.outbox.flush(&shared.clock) {
            shared.recorder.borrow_mut().held_up(held_up_ns);
        }
    }
}

/// What the threads of a group on a worker share.
pub(crate) struct GroupOnWorker {
    pub(crate) setup: StepsSetup,
    /// Its index in the program.
    pub(crate) group: usize,
    /// The scenario's name.
    pub(crate) scenario: String,
    pub(crate) on_worker: Rc<StepsOnWorker>,
    pub(crate) gate: PhaseGate,
    /// Every worker's mailbox, to end the test.
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
}

impl GroupOnWorker {
    fn times(&self) -> &GroupTimes {
        &self.setup.groups[self.group]
    }

    /// Number of threads that the group maintains.
    pub(crate) fn target(&self) -> u32 {
        self.state().target(self.group)
    }

    fn state(&self) -> &StepsState {
        &self.setup.state
    }

    /// Whether a command interrupts what threads are doing.
    fn is_called_off(&self) -> bool {
        match self.mailboxes.first().and_then(|mailbox| mailbox.ordered()) {
            None => false,
            Some(RunCommand::StopNow) => true,
            Some(_) => !self.gate.outlives_stop(),
        }
    }

    /// Whether threads have to end with the test; those of tear-down groups may be exempt.
    fn is_ending(&self) -> bool {
        self.gate.is_to_end()
    }
}

/// One thread of a group.
pub(crate) struct StepsVu {
    of: Rc<GroupOnWorker>,
    shared: Rc<Shared>,
    slot: Rc<VuSlot>,
    timers: Rc<Timers>,
    client: StepsClient,
    /// The thread that waits for its next arrival, and its iterations so far; `None`: a new thread takes it.
    waiting: Option<(Thread, StepsHost, u64)>,
}

/// A walker through a group's tree: a thread, or a branch of it.
struct Walk<'a> {
    of: &'a Rc<GroupOnWorker>,
    host: &'a StepsHost,
    /// Its branches borrow it in turn; none keeps it while it waits.
    thread: &'a RefCell<&'a mut Thread>,
    /// The branch; `None`: the thread itself.
    branch: Option<usize>,
}

impl StepsVu {
    pub(crate) fn new(
        of: Rc<GroupOnWorker>,
        shared: &Rc<Shared>,
        slot: &Rc<VuSlot>,
        timers: &Rc<Timers>,
    ) -> StepsVu {
        StepsVu {
            client: StepsClient::new(Rc::clone(shared), Rc::clone(slot)),
            of,
            shared: Rc::clone(shared),
            slot: Rc::clone(slot),
            timers: Rc::clone(timers),
            waiting: None,
        }
    }

    /// Runs the thread; returns the instant at which it ended.
    pub(crate) async fn iterate(&mut self, beginning: Beginning) -> Nanos {
        let of = Rc::clone(&self.of);
        let at_work = of.state().begin_thread(of.group);
        self.client.begin_iteration(&beginning);
        // After an interruption nothing is left to do: the samples were already reported.
        let (Ok(()) | Err(_)) = match &of.times().shape {
            ThreadGroup::Arrivals(arrivals) => self.arrive(&of, arrivals, &beginning).await,
            shape => self.live(&of, shape, &beginning).await,
        };
        drop(at_work);
        self.shared.clock.now()
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.shared.unix_ms()).unwrap_or(i64::MAX)
    }

    /// When the group started.
    fn group_began(&self, of: &GroupOnWorker) -> Nanos {
        let now = self.shared.clock.now();
        let began = of.state().phase_began(of.times().stage, now);
        began.unwrap_or(now)
    }

    /// An instant of the run's clock in milliseconds since 1970.
    fn unix_ms_of(&self, at: Nanos) -> i64 {
        let ns = self.shared.clock.started_unix_ns().saturating_add(at.0);
        i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
    }

    fn thread(&self, of: &Rc<GroupOnWorker>, number: u32) -> (Thread, StepsHost) {
        let setup = &of.setup;
        let mut thread = Thread::new(
            Arc::clone(&setup.program),
            of.group,
            number,
            setup.variables.clone(),
            Arc::clone(&setup.state.commons),
            &setup.plan,
        );
        thread.began_at(self.unix_ms_of(self.group_began(of)));
        let host = StepsHost {
            shared: Rc::clone(&self.shared),
            of: Rc::clone(of),
            scripts: self.scripts(of),
            told: Some(ToldThread::begin(setup.world_to_tell(), thread.name())),
        };
        (thread, host)
    }

    /// Scripts that end with the test. While one computes, the worker does nothing else: samples are handed over first.
    fn scripts(&self, of: &Rc<GroupOnWorker>) -> Scripts {
        let (of, shared) = (Rc::clone(of), Rc::clone(&self.shared));
        Scripts::until(move || {
            of.on_worker.pass_samples(&shared);
            of.is_called_off()
        })
    }

    /// The instant this long after the start of the group, in milliseconds since 1970.
    fn after_beginning(&self, of: &GroupOnWorker, ms: u64) -> i64 {
        let began_ms = self.unix_ms_of(self.group_began(of));
        began_ms.saturating_add_unsigned(ms)
    }

    /// The whole life of a thread.
    async fn live(
        &mut self,
        of: &Rc<GroupOnWorker>,
        shape: &ThreadGroup,
        beginning: &Beginning,
    ) -> Result<(), Stop> {
        let is_kept_up = matches!(shape, ThreadGroup::Concurrency(_));
        let number = match is_kept_up {
            true => of.state().number_thread(of.group),
            false => u32::try_from(beginning.iteration + 1).unwrap_or(u32::MAX),
        };
        let (mut thread, host) = self.thread(of, number);
        let life = life_of(shape, self.slot.global);
        if let Some(end_ms) = life.and_then(|life| life.end_ms) {
            thread.end_at(Deadline {
                unix_ms: self.after_beginning(of, end_ms),
                cuts_pauses_short: !is_kept_up,
            });
        }
        let loops = match of.times().asks_loops {
            true => thread.loops(&host),
            false => of.times().loops,
        };
        let mut done = 0;
        while loops.is_none_or(|loops| done < loops) {
            let begun = self.shared.clock.now();
            if let Some(end) = self.run_iteration(of, &mut thread, &host).await? {
                self.end(of, &thread, &host, end);
                return Ok(());
            }
            done += 1;
            self.measure_iteration(of, begun);
            let is_too_many = is_kept_up && of.state().threads_at_work(of.group).0 > of.target();
            if thread.is_late(self.now_ms()) || is_too_many || of.is_ending() {
                return Ok(());
            }
        }
        host.tell("Thread is done: ");
        Ok(())
    }

    /// What a thread does for one arrival.
    async fn arrive(
        &mut self,
        of: &Rc<GroupOnWorker>,
        arrivals: &Arrivals,
        beginning: &Beginning,
    ) -> Result<(), Stop> {
        let (mut thread, host, done) = self.waiting.take().unwrap_or_else(|| {
            let number = match arrivals.reuses_threads {
                true => of.state().number_thread(of.group),
                false => u32::try_from(beginning.iteration + 1).unwrap_or(u32::MAX),
            };
            let (thread, host) = self.thread(of, number);
            (thread, host, 0)
        });
        let lasts_ms = end_of_arrivals(&arrivals.course);
        if arrivals.reuses_threads {
            thread.end_at(Deadline {
                unix_ms: self.after_beginning(of, lasts_ms),
                cuts_pauses_short: false,
            });
        } else {
            let end = self.group_began(of) + Duration::from_millis(lasts_ms);
            self.slot.limit_cut(end);
        }
        let begun = self.shared.clock.now();
        if let Some(end) = self.run_iteration(of, &mut thread, &host).await? {
            self.end(of, &thread, &host, end);
            return Ok(());
        }
        self.measure_iteration(of, begun);
        let done = done + 1;
        if arrivals.reuses_threads && of.times().loops.is_none_or(|loops| done < loops) {
            self.waiting = Some((thread, host, done));
        }
        Ok(())
    }

    fn measure_iteration(&self, of: &GroupOnWorker, begun: Nanos) {
        let now = self.shared.clock.now();
        self.shared.last_done.set(now);
        self.shared.recorder.borrow_mut().iterated();
        if let Some(measures) = &of.on_worker.measures {
            measures.iteration(now.since(begun), &of.scenario, now);
        }
    }

    /// Runs an iteration of a thread; returns how the thread ended, if it did.
    async fn run_iteration(
        &self,
        of: &Rc<GroupOnWorker>,
        thread: &mut Thread,
        host: &StepsHost,
    ) -> Result<Option<End>, Stop> {
        thread.begin_iteration(host);
        let ran = self.carry_out(of, thread, host).await;
        let is_over = match &ran {
            Ok(end) => end.is_some(),
            Err(_) => of.is_called_off(),
        };
        if is_over {
            thread.break_off(host);
            // The thread is over, whether or not anyone is notified.
            let (Ok(()) | Err(_)) = self.hand_over(of, thread);
        }
        ran
    }

    /// Executes a thread's requests until its iteration is over; returns how the thread ended, if it did.
    async fn carry_out(
        &self,
        of: &Rc<GroupOnWorker>,
        thread: &mut Thread,
        host: &StepsHost,
    ) -> Result<Option<End>, Stop> {
        let walk = Walk {
            of,
            host,
            thread: &RefCell::new(thread),
            branch: None,
        };
        self.walk(&walk, &self.client).await
    }

    /// Executes the requests of a thread or a branch until it is over; returns how it ended, if early.
    async fn walk(&self, walk: &Walk<'_>, client: &StepsClient) -> Result<Option<End>, Stop> {
        let of = walk.of;
        let mut outcome = Outcome::Turn;
        let mut under_way = UnderWay::new();
        let mut gathering = None;
        loop {
            let ask = self.advance(walk, outcome).await?;
            if walk.host.scripts.were_called_off() {
                // The result that the script would have had is unknown.
                return Err(Stop::Cut);
            }
            if self.hand_over(of, &mut walk.thread.borrow_mut()).is_err() {
                return Ok(Some(End::TestNow));
            }
            outcome = match ask {
                Ask::Send(ask) => {
                    if of.is_ending() {
                        return Ok(Some(End::Thread));
                    }
                    Outcome::Answer(Box::new(self.exchange(of, client, &ask).await?))
                }
                Ask::Together(asks) => {
                    if of.is_ending() {
                        return Ok(Some(End::Thread));
                    }
                    for (number, ask) in asks {
                        let exchange = async move { self.exchange(of, client, &ask).await };
                        under_way.push((number, Box::pin(exchange)));
                    }
                    let (number, answer) = first_of(&mut under_way).await;
                    Outcome::OneOf(number, Box::new(answer?))
                }
                Ask::Branches { count, at_a_time } => {
                    self.walk_branches(walk, count, at_a_time).await?;
                    Outcome::Turn
                }
                Ask::Sleep(ms) => {
                    let until_ms = self.now_ms().saturating_add_unsigned(ms);
                    if !self.sleep_until(of, until_ms).await? {
                        return Ok(Some(End::Thread));
                    }
                    Outcome::Turn
                }
                Ask::Gather(until_ms) => {
                    // Releases are notified from now on, so the thread is checked once more before it waits.
                    match gathering.take() {
                        None => gathering = Some(Box::pin(of.state().let_go.notified())),
                        Some(told) => self.await_others(told, until_ms).await?,
                    }
                    if of.is_ending() {
                        return Ok(Some(End::Thread));
                    }
                    Outcome::Turn
                }
                Ask::Work(ms) => {
                    self.sleep(ms).await?;
                    Outcome::Turn
                }
                Ask::Turn if of.is_ending() => return Ok(Some(End::Thread)),
                Ask::Turn => {
                    self.turn().await?;
                    Outcome::Turn
                }
                Ask::Iteration => {
                    self.turn().await?;
                    return Ok(None);
                }
                Ask::Over(end) => return Ok(Some(end)),
            };
        }
    }

    /// Executes the requests of a thread's branches, a limited number at a time, until all are over.
    async fn walk_branches(
        &self,
        walk: &Walk<'_>,
        count: usize,
        at_a_time: usize,
    ) -> Result<(), Stop> {
        let mut under_way = UnderWay::<'_, Result<Option<End>, Stop>>::new();
        let mut begun = 0;
        let mut stopped = Ok(());
        loop {
            while begun < count && under_way.len() < at_a_time && stopped.is_ok() {
                walk.thread.borrow_mut().begin_branch(begun);
                under_way.push((begun, Box::pin(self.walk_branch(walk, begun))));
                begun += 1;
            }
            if under_way.is_empty() {
                return stopped;
            }
            let (branch, ended) = first_of(&mut under_way).await;
            let end = ended.unwrap_or_else(|stop| {
                stopped = Err(stop);
                None
            });
            walk.thread.borrow_mut().end_branch(branch, end);
            if let Some(end) = end {
                self.stop_with(walk.of, end);
            }
        }
    }

    async fn walk_branch(&self, walk: &Walk<'_>, branch: usize) -> Result<Option<End>, Stop> {
        let client = self.client.of_branch();
        let branch = Walk {
            branch: Some(branch),
            ..*walk
        };
        self.walk(&branch, &client).await
    }

    /// Performs an exchange. If a command interrupts it, it has failed, as in JMeter, which closes its socket.
    async fn exchange(
        &self,
        of: &GroupOnWorker,
        client: &StepsClient,
        ask: &HttpAsk,
    ) -> Result<HttpAnswer, Stop> {
        let begun = self.shared.clock.now();
        match client.exchange(ask).await {
            Err(Stop::Cut) if of.is_called_off() => Ok(client.closed_since(begun)),
            exchanged => exchanged,
        }
    }

    /// Hands over the finished samples.
    fn hand_over(&self, of: &GroupOnWorker, thread: &mut Thread) -> Result<(), Gone> {
        self.shared.recorder.borrow_mut().paced(thread.take_pace());
        let samples = thread.take_done();
        if samples.is_empty() {
            return Ok(());
        }
        let now = self.shared.clock.now();
        if let Some(measures) = &of.on_worker.measures {
            let exchanged = self.client.take_times();
            measures.measure(&samples, &of.scenario, now, exchanged);
        }
        measured::each_overruled(&samples, &mut |is_good| {
            self.shared.recorder.borrow_mut().overruled(now, is_good);
        });
        measured::each_other_place(&samples, &mut |place| {
            let life = Life::begin(None, now);
            self.shared.recorder.borrow_mut().came_from(place, &life);
        });
        measured::each_unsent(&samples, &mut |sample| {
            let life = Life::begin(None, now);
            let why = Failure::new(ErrorClass::Request, sample.message.clone());
            let mut recorder = self.shared.recorder.borrow_mut();
            recorder.started(&life);
            recorder.failed(&life, &sample.label, &why);
        });
        let held_up_ns = of.on_worker.outbox.put(samples, &self.shared.clock)?;
        self.shared.recorder.borrow_mut().held_up(held_up_ns);
        Ok(())
    }

    /// What the end of a thread means for the test.
    fn end(&self, of: &GroupOnWorker, thread: &Thread, host: &StepsHost, end: End) {
        host.tell_end(end, thread.ended_early());
        if let Some(early) = thread.ended_early() {
            self.shared.recorder.borrow_mut().ended_thread(early);
        }
        self.stop_with(of, end);
    }

    /// Stops whatever ends together with a thread.
    fn stop_with(&self, of: &GroupOnWorker, end: End) {
        match end {
            End::Thread => return,
            End::Group => of.state().end_group(of.group),
            End::Test => of.state().stop(),
            End::TestNow => of.state().stop_now(),
        }
        for mailbox in &of.mailboxes {
            match end {
                End::TestNow => mailbox.command(RunCommand::StopNow),
                _ => mailbox.notify.notify_one(),
            }
        }
    }

    /// Yields to everything else on this worker.
    async fn turn(&self) -> Result<(), Stop> {
        tokio::task::yield_now().await;
        self.slot.guard(std::future::ready(())).await
    }

    /// Waits until an instant (milliseconds since 1970); `false`: the test has to end.
    async fn sleep_until(&self, of: &GroupOnWorker, unix_ms: i64) -> Result<bool, Stop> {
        loop {
            if of.is_ending() {
                return Ok(false);
            }
            let left_ms = unix_ms.saturating_sub(self.now_ms());
            match u64::try_from(left_ms) {
                Err(_) | Ok(0) => return Ok(true),
                Ok(left_ms) => self.sleep(left_ms.min(LOOK_EVERY_MS)).await?,
            }
        }
    }

    /// Waits until threads are released, an instant (milliseconds since 1970), or the next check whether the test ends.
    async fn await_others(
        &self,
        mut told: Pin<Box<Notified<'_>>>,
        unix_ms: i64,
    ) -> Result<(), Stop> {
        let left_ms = unix_ms.saturating_sub(self.now_ms()).max(0).unsigned_abs();
        let clock = &self.shared.clock;
        let until = clock.now() + Duration::from_millis(left_ms.min(LOOK_EVERY_MS));
        self.timers.add(until, &self.slot);
        let due = std::future::poll_fn(|cx| match clock.now() >= until {
            true => Poll::Ready(()),
            false => told.as_mut().poll(cx),
        });
        self.rest(due).await
    }

    async fn sleep(&self, ms: u64) -> Result<(), Stop> {
        let until = self.shared.clock.now() + Duration::from_millis(ms);
        self.timers.add(until, &self.slot);
        let clock = &self.shared.clock;
        let due = std::future::poll_fn(|_| match clock.now() >= until {
            true => Poll::Ready(()),
            false => Poll::Pending,
        });
        self.rest(due).await
    }

    /// Waits, and records for how long.
    async fn rest(&self, due: impl Future<Output = ()>) -> Result<(), Stop> {
        let since = self.shared.clock.now();
        let rested = self.slot.guard(due).await;
        let slept_ns = self.shared.clock.now().since(since);
        self.shared.recorder.borrow_mut().slept(slept_ns);
        rested
    }
}

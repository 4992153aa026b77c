//! The behaviour of a thread of a plan of steps: its iteration is the thread's whole life.
//!
//! It waits for its phase and its turn in the ramp, then goes round its group's loop; what the thread asks for is
//! carried out here. Must not know what steps mean. Invariant: a thread that ended, however, is counted as ended once.

mod client;
mod host;
mod java_words;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::{Nanos, RunCommand};
use loadline_steps::program::Phase;
use loadline_steps::thread::{Ask, End, Outcome, Thread};

use self::client::StepsClient;
use self::host::StepsHost;
use super::beginning::Beginning;
use super::shared::Shared;
use crate::batches::{Gone, hand};
use crate::client::{Stop, StopSign};
use crate::mailbox::Mailbox;
use crate::slot::VuSlot;
use crate::steps::{GroupTimes, StepsSetup};
use crate::timers::Timers;

/// How often a thread that waits looks whether it is to go on or to end, in milliseconds.
const LOOK_EVERY_MS: u64 = 20;

/// What the threads of a group on a worker share.
pub(crate) struct GroupOnWorker {
    pub(crate) setup: StepsSetup,
    /// Its place in the program.
    pub(crate) group: usize,
    /// Every worker's mailbox, for a test that is to end.
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
}

/// One thread of a group.
pub(crate) struct StepsVu {
    of: Rc<GroupOnWorker>,
    shared: Rc<Shared>,
    slot: Rc<VuSlot>,
    timers: Rc<Timers>,
    client: StepsClient,
}

/// Counts a thread's end when it is over, or dropped.
struct Counted<'a> {
    of: &'a GroupOnWorker,
    times: GroupTimes,
    has_begun: bool,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let state = &self.of.setup.state;
        state.end_thread(self.of.group, self.times.stage, self.has_begun);
    }
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
        }
    }

    /// Runs the thread; gives the instant at which it ended.
    pub(crate) async fn iterate(&mut self, _beginning: Beginning) -> Nanos {
        // A cut leaves nothing to be done: what was sampled is told already.
        let (Ok(()) | Err(_)) = self.live().await;
        self.shared.clock.now()
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.shared.unix_ms()).unwrap_or(i64::MAX)
    }

    /// Whether the thread is to end with the test; those of tear-down groups may be spared that.
    fn is_ending(&self) -> bool {
        let program = &self.of.setup.program;
        let is_spared =
            program.tear_down_on_shutdown && program.groups[self.of.group].phase == Phase::TearDown;
        self.of.setup.state.is_stopping() && !is_spared
    }

    async fn live(&mut self) -> Result<(), Stop> {
        let of = Rc::clone(&self.of);
        let setup = &of.setup;
        let times = setup.groups[of.group];
        let mut counted = Counted {
            of: &of,
            times,
            has_begun: false,
        };
        let began_ms = loop {
            if self.is_ending() {
                return Ok(());
            }
            match setup.state.phase_began(times.stage, self.now_ms()) {
                Some(began_ms) => break began_ms,
                None => self.sleep(LOOK_EVERY_MS).await?,
            }
        };
        let first_ms = began_ms + i64::try_from(times.delay_ms).unwrap_or(i64::MAX);
        let behind_ms = times.step_ms.saturating_mul(self.slot.global);
        let start_ms = first_ms.saturating_add_unsigned(behind_ms);
        let end_ms = times
            .lasts_ms
            .map(|lasts| first_ms.saturating_add_unsigned(lasts));
        if end_ms.is_some_and(|end_ms| start_ms >= end_ms) || !self.sleep_until(start_ms).await? {
            return Ok(());
        }
        setup.state.begin_thread(of.group);
        counted.has_begun = true;
        let number = u32::try_from(self.slot.global + 1).unwrap_or(u32::MAX);
        let mut thread = Thread::new(
            Arc::clone(&setup.program),
            of.group,
            number,
            setup.variables.clone(),
            Arc::clone(&setup.state.commons),
            &setup.plan,
        );
        if let Some(end_ms) = end_ms {
            thread.end_at(end_ms);
        }
        self.go_round(&of, &mut thread, times, end_ms).await
    }

    /// Goes round the group's loop.
    async fn go_round(
        &mut self,
        of: &Rc<GroupOnWorker>,
        thread: &mut Thread,
        times: GroupTimes,
        end_ms: Option<i64>,
    ) -> Result<(), Stop> {
        let host = StepsHost {
            shared: Rc::clone(&self.shared),
            of: Rc::clone(of),
        };
        let mut done = 0;
        while times.loops.is_none_or(|loops| done < loops) {
            thread.begin_iteration(&host);
            if let Some(end) = self.run_iteration(of, thread, &host).await? {
                self.end(of, end);
                return Ok(());
            }
            done += 1;
            let is_late = end_ms.is_some_and(|end_ms| self.now_ms() >= end_ms);
            if is_late || self.is_ending() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Carries out what a thread asks for until its iteration is over; gives how the thread ended, if it did.
    async fn run_iteration(
        &mut self,
        of: &GroupOnWorker,
        thread: &mut Thread,
        host: &StepsHost,
    ) -> Result<Option<End>, Stop> {
        let mut outcome = Outcome::Turn;
        loop {
            let ask = thread.advance(host, outcome);
            let samples = thread.take_done();
            if !samples.is_empty() {
                match hand(&of.setup.samples, samples, &self.shared.clock) {
                    Ok(held_up_ns) => self.shared.recorder.borrow_mut().held_up(held_up_ns),
                    Err(Gone) => return Ok(Some(End::TestNow)),
                }
            }
            outcome = match ask {
                Ask::Send(ask) => {
                    if self.is_ending() {
                        return Ok(Some(End::Thread));
                    }
                    Outcome::Answer(Box::new(self.client.exchange(&ask).await?))
                }
                Ask::Sleep(ms) => {
                    let until_ms = self.now_ms().saturating_add_unsigned(ms);
                    if !self.sleep_until(until_ms).await? {
                        return Ok(Some(End::Thread));
                    }
                    Outcome::Turn
                }
                Ask::Work(ms) => {
                    self.sleep(ms).await?;
                    Outcome::Turn
                }
                Ask::Turn if self.is_ending() => return Ok(Some(End::Thread)),
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

    /// What the end of a thread means for the test.
    fn end(&self, of: &GroupOnWorker, end: End) {
        match end {
            End::Thread => {}
            End::Test => of.setup.state.stop(),
            End::TestNow => {
                of.setup.state.stop();
                for mailbox in &of.mailboxes {
                    mailbox.command(RunCommand::StopNow);
                }
            }
        }
    }

    /// Lets everything else on this worker have its turn.
    async fn turn(&self) -> Result<(), Stop> {
        tokio::task::yield_now().await;
        self.slot.guard(std::future::ready(())).await
    }

    /// Waits until an instant (milliseconds since 1970); `false`: the test is to end.
    async fn sleep_until(&self, unix_ms: i64) -> Result<bool, Stop> {
        loop {
            if self.is_ending() {
                return Ok(false);
            }
            let left_ms = unix_ms.saturating_sub(self.now_ms());
            match u64::try_from(left_ms) {
                Err(_) | Ok(0) => return Ok(true),
                Ok(left_ms) => self.sleep(left_ms.min(10 * LOOK_EVERY_MS)).await?,
            }
        }
    }

    async fn sleep(&self, ms: u64) -> Result<(), Stop> {
        let until = self.shared.clock.now() + Duration::from_millis(ms);
        self.timers.add(until, &self.slot);
        let clock = &self.shared.clock;
        let due = std::future::poll_fn(|_| match clock.now() >= until {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        });
        self.slot.guard(due).await
    }
}

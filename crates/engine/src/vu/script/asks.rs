//! Executes what a suspended script asks for: requests, time, its next turn.
//!
//! Must not know the script. Invariant: hops in flight are abandoned when their task ends.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use loadline_model::Nanos;
use loadline_script::hop::HopOutcome;
use loadline_script::vu::{Ask, Ending, OpId, Resume, Wait};
use loadline_script::{ScriptVu, Step};

use crate::client::{Stop, StopSign};
use crate::clock::Clock;
use crate::slot::VuSlot;
use crate::timers::Timers;
use crate::vu::script_client::{Cut, ScriptClient};

/// Executes the asks of one virtual user.
pub(crate) struct Asks {
    pub(crate) client: Rc<ScriptClient>,
    pub(crate) slot: Rc<VuSlot>,
    pub(crate) timers: Rc<Timers>,
    pub(crate) clock: Clock,
    /// How long it waited for nothing but an instant, in nanoseconds.
    pub(crate) slept_ns: Cell<u64>,
}

/// A hop that ended, and its outcome.
type Ended = (OpId, HopOutcome);
type UnderWay = Pin<Box<dyn Future<Output = (OpId, Result<HopOutcome, Cut>)>>>;

impl Asks {
    /// Makes later asks wait on another slot; must not be called while a task is running.
    pub(super) fn move_to(&mut self, slot: &Rc<VuSlot>) {
        self.slot = Rc::clone(slot);
        let client = Rc::get_mut(&mut self.client);
        client.expect("only hops under way share it").move_to(slot);
    }

    /// Returns how long it slept since it was last asked, in nanoseconds.
    pub(super) fn take_slept_ns(&self) -> u64 {
        self.slept_ns.take()
    }

    /// Continues a task until it ends.
    pub(crate) async fn fulfil(&self, vu: &mut ScriptVu, mut step: Step) -> Ending {
        let mut under_way: Vec<UnderWay> = Vec::new();
        loop {
            let ask = match step {
                Step::Ended(ending) => return ending,
                Step::Asks(ask) => ask,
            };
            let resume = self.answer(ask, &mut under_way).await;
            step = vu.resume(resume);
        }
    }

    async fn answer(&self, ask: Ask, under_way: &mut Vec<UnderWay>) -> Resume {
        for (id, request) in ask.started {
            let client = Rc::clone(&self.client);
            under_way.push(Box::pin(
                async move { (id, client.exchange(&request).await) },
            ));
        }
        match ask.wait {
            Wait::Hop(request) => match self.client.exchange(&request).await {
                Ok(outcome) => Resume::Hop(Box::new(outcome)),
                Err(Cut) => Resume::Cancel,
            },
            Wait::Any(until) => self.wait(until, under_way).await,
            Wait::Turn => self.turn(under_way).await,
        }
    }

    /// Lets everything else on this worker have its turn, the requests of this virtual user too.
    async fn turn(&self, under_way: &mut Vec<UnderWay>) -> Resume {
        let Ok(mut ended) = self.look(under_way).await else {
            return Resume::Cancel;
        };
        tokio::task::yield_now().await;
        match self.look(under_way).await {
            Ok(more) => {
                ended.extend(more);
                Resume::Ended(ended)
            }
            Err(_) => Resume::Cancel,
        }
    }

    /// Moves the hops under way on as far as they come without waiting; returns those that ended.
    async fn look(&self, under_way: &mut Vec<UnderWay>) -> Result<Vec<Ended>, Stop> {
        let look = std::future::poll_fn(|cx| Poll::Ready(poll_all(under_way, cx)));
        self.slot.guard(look).await
    }

    /// Waits for the end of any hop, or an instant.
    pub(super) async fn wait(&self, until: Option<Nanos>, under_way: &mut Vec<UnderWay>) -> Resume {
        let since = self.clock.now();
        let only_sleeps = under_way.is_empty();
        if let Some(until) = until {
            self.timers.add_once(until, &self.slot);
        }
        let waited = self.slot.guard(std::future::poll_fn(|cx| {
            let ended = poll_all(under_way, cx);
            let is_due = until.is_some_and(|until| self.clock.now() >= until);
            match is_due || !ended.is_empty() {
                true => Poll::Ready(ended),
                false => Poll::Pending,
            }
        }));
        let waited = waited.await;
        if only_sleeps {
            let slept_ns = self.clock.now().since(since);
            self.slept_ns.set(self.slept_ns.get() + slept_ns);
        }
        match waited {
            Ok(ended) => Resume::Ended(ended),
            Err(_) => Resume::Cancel,
        }
    }
}

/// Moves each hop on; removes and returns those that ended.
fn poll_all(under_way: &mut Vec<UnderWay>, cx: &mut Context<'_>) -> Vec<Ended> {
    let mut ended = Vec::new();
    let mut index = 0;
    while index < under_way.len() {
        match under_way[index].as_mut().poll(cx) {
            Poll::Ready((id, outcome)) => {
                drop(under_way.swap_remove(index));
                if let Ok(outcome) = outcome {
                    ended.push((id, outcome));
                }
            }
            Poll::Pending => index += 1,
        }
    }
    ended
}

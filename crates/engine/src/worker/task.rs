//! The life of a virtual user: ask for the next start, run an iteration, ask again.
//!
//! Must not know sockets. Invariant: between two iterations a virtual user holds nothing that
//! would keep its scenario from ending.

use std::rc::Rc;

use loadline_model::Nanos;
use loadline_schedule::{Arrival, Next};

use super::scenario::ScenarioShare;
use crate::slot::VuSlot;
use crate::timers::Timers;
use crate::vu::beginning::Beginning;
use crate::vu::behaviour::VuBehaviour;

/// What a virtual user's task holds.
pub(crate) struct VuTask {
    pub(crate) slot: Rc<VuSlot>,
    pub(crate) scenario: Rc<ScenarioShare>,
    pub(crate) timers: Rc<Timers>,
    pub(crate) behaviour: VuBehaviour,
    /// Whether it counts as active.
    pub(crate) is_active: bool,
}

impl VuTask {
    /// Runs iterations of a closed model until the schedule has no more.
    pub(crate) async fn run_closed(mut self) {
        let mut now = self.scenario.clock.now();
        while let Some(iteration) = self.next_closed(&mut now).await {
            self.set_active(true);
            let started = now;
            self.slot
                .begin_iteration(self.scenario.cut_for(&self.slot, started));
            now = self
                .behaviour
                .iterate(Beginning {
                    intended: None,
                    started,
                    iteration,
                    in_instance: self.scenario.number_in_instance(iteration),
                })
                .await;
            if let Some(pacing) = self.scenario.pacing {
                now = self.wait_until(started + pacing, now).await;
            }
            tokio::task::consume_budget().await;
        }
        self.set_active(false);
        self.scenario.vu_ended();
    }

    /// Reports changes in whether the virtual user is active.
    #[inline]
    fn set_active(&mut self, is_active: bool) {
        if self.is_active != is_active {
            self.is_active = is_active;
            self.scenario.note_active(is_active);
        }
    }

    /// The number of the next iteration, waited for; `None` when there is none.
    #[inline]
    async fn next_closed(&mut self, now: &mut Nanos) -> Option<u64> {
        loop {
            if self.scenario.is_over() {
                return None;
            }
            match self.scenario.next_closed(&self.slot, *now) {
                Next::Start { iteration } => return Some(iteration),
                Next::Wait { until } => {
                    self.set_active(false);
                    *now = self.wait_until(until, *now).await;
                }
                Next::Finished => return None,
            }
        }
    }

    /// Waits until an instant, a change of the scenario, or its end; returns the time after that.
    async fn wait_until(&mut self, until: Nanos, now: Nanos) -> Nanos {
        if until <= now {
            return now;
        }
        if until < Nanos::MAX {
            self.timers.add(until, &self.slot);
        }
        let scenario = &self.scenario;
        let steered = scenario.steered();
        self.slot
            .park_until(|| {
                let now = scenario.clock.now();
                let is_awaited = now >= until || scenario.steered() != steered;
                (is_awaited || scenario.is_over()).then_some(now)
            })
            .await
    }

    /// Runs iterations of an open model, beginning with `first` if there is one, until the scenario is over.
    pub(crate) async fn run_open(mut self, first: Option<Arrival>) {
        let mut next = first;
        let mut free_since = Nanos(0);
        loop {
            let arrival = match next.take() {
                Some(arrival) => arrival,
                None => {
                    self.set_active(false);
                    match self.next_open(free_since).await {
                        Some(arrival) => arrival,
                        None => break,
                    }
                }
            };
            if self.scenario.is_cut() {
                self.scenario.leave_unstarted();
                break;
            }
            self.set_active(true);
            let started = self.scenario.clock.now();
            self.slot
                .begin_iteration(self.scenario.cut_for(&self.slot, started));
            let intended = self.scenario.absolute(arrival.intended);
            let (iteration, in_instance) = self.scenario.numbers_of(arrival);
            let beginning = Beginning {
                intended: Some(intended),
                started,
                iteration,
                in_instance,
            };
            let ended = self.behaviour.iterate(beginning).await;
            if self.behaviour.is_lost() {
                self.scenario.drop_starts(1, ended);
                break;
            }
            free_since = ended;
            next = self.scenario.take_waiting(ended);
            tokio::task::consume_budget().await;
        }
        self.set_active(false);
        self.scenario.vu_ended();
    }

    /// Waits for an arrival; the virtual user has been free since `free_since`. `None` when the scenario is
    /// over.
    async fn next_open(&mut self, free_since: Nanos) -> Option<Arrival> {
        if self.scenario.is_over() {
            return None;
        }
        self.scenario.park(&self.slot);
        let (slot, scenario) = (&self.slot, &self.scenario);
        let arrival = slot
            .park_until(|| match slot.take_arrival() {
                Some(arrival) => Some(Some(arrival)),
                None => scenario.is_over().then_some(None),
            })
            .await?;
        let intended = self.scenario.absolute(arrival.intended);
        self.scenario
            .record_lag(intended, free_since, self.scenario.clock.now());
        Some(arrival)
    }
}

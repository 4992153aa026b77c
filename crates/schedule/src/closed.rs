//! Closed models: a virtual user's next start waits for the end of its last iteration.
//!
//! Must not know what an iteration does. Invariants: local virtual users are numbered from zero; a virtual user
//! that got [`Next::Finished`] never gets anything else; no iteration index is assigned twice in the whole
//! test.

use std::sync::Arc;

use loadline_model::segment::Share;
use loadline_model::{Executor, Nanos};

use crate::constant_vus::ConstantVus;
use crate::externally_controlled::ExternallyControlled;
use crate::next::Next;
use crate::per_vu_iterations::PerVuIterations;
use crate::pool::IterationPool;
use crate::ramping_vus::RampingVus;
use crate::shared_iterations::SharedIterations;
use crate::thread_group::Threads;
use crate::{global_vu, own_vus};

/// One worker's share of a closed model.
#[derive(Debug)]
pub struct Closed {
    share: Share,
    vus: u32,
    end: Option<Nanos>,
    stopped: bool,
    /// Whether this worker reports the unstarted rest of a planned number.
    counts_left: bool,
    policy: Policy,
}

#[derive(Debug)]
enum Policy {
    ConstantVus(ConstantVus),
    RampingVus(RampingVus),
    SharedIterations(SharedIterations),
    PerVuIterations(PerVuIterations),
    ExternallyControlled(ExternallyControlled),
    ThreadGroup(Threads),
}

impl Closed {
    /// # Panics
    /// For an executor of the open model.
    pub(crate) fn new(executor: &Executor, share: &Share, pool: &Arc<IterationPool>) -> Closed {
        let vus = own_vus(share, executor.max_vus());
        let policy = match executor {
            Executor::ConstantVus { .. } => Policy::ConstantVus(ConstantVus::new(share)),
            Executor::RampingVus {
                start_vus,
                stages,
                graceful_ramp_down,
            } => Policy::RampingVus(RampingVus::new(
                share,
                vus,
                *start_vus,
                stages,
                *graceful_ramp_down,
            )),
            Executor::SharedIterations { .. } => {
                Policy::SharedIterations(SharedIterations::new(Arc::clone(pool)))
            }
            Executor::PerVuIterations {
                vus: all,
                iterations,
                ..
            } => Policy::PerVuIterations(PerVuIterations::new(share, vus, *all, *iterations)),
            Executor::ExternallyControlled { vus: at_work, .. } => {
                Policy::ExternallyControlled(ExternallyControlled::new(share, *at_work))
            }
            Executor::ThreadGroup(group) => Policy::ThreadGroup(Threads::new(share, vus, group)),
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
                unreachable!("{} is an open model", executor.name())
            }
        };
        let end = executor.duration().map(Nanos::from);
        Closed {
            share: share.clone(),
            vus,
            end,
            stopped: false,
            counts_left: true,
            policy,
        }
    }

    /// Virtual users hosted by this worker: the maximum ever planned at once.
    #[must_use]
    pub fn vus(&self) -> u32 {
        self.vus
    }

    /// The number of a hosted virtual user in the whole test, from zero.
    ///
    /// # Panics
    /// If `vu` is not below [`Closed::vus`].
    #[must_use]
    pub fn global_vu(&self, vu: u32) -> u32 {
        assert!(vu < self.vus, "virtual user {vu} of {}", self.vus);
        global_vu(&self.share, vu)
    }

    /// What the idle virtual user `vu` has to do at `now`.
    #[inline]
    pub fn next(&mut self, vu: u32, now: Nanos) -> Next {
        debug_assert!(vu < self.vus, "virtual user {vu} of {}", self.vus);
        if self.stopped {
            return Next::Finished;
        }
        if self.end.is_some_and(|end| now >= end) {
            self.stop();
            return Next::Finished;
        }
        match &mut self.policy {
            Policy::ConstantVus(policy) => policy.next(),
            Policy::RampingVus(policy) => policy.next(vu, now),
            Policy::SharedIterations(policy) => policy.next(),
            Policy::PerVuIterations(policy) => policy.next(vu),
            Policy::ExternallyControlled(policy) => policy.next(vu),
            Policy::ThreadGroup(policy) => policy.next(vu, now),
        }
    }

    /// Sets the active virtual users of the whole test, zero while it is paused, and their maximum; only for
    /// the externally controlled executor. Existing virtual users stay.
    pub fn steer(&mut self, at_work: u32, max_vus: u32) {
        if let Policy::ExternallyControlled(policy) = &mut self.policy {
            policy.steer(at_work);
            self.vus = self.vus.max(own_vus(&self.share, max_vus));
        }
    }

    /// Sets the threads of the whole test that are kept up; only for groups of threads. Existing ones stay.
    pub fn keep_up(&mut self, threads: u32) {
        if let Policy::ThreadGroup(policy) = &mut self.policy {
            policy.keep_up(threads);
            self.vus = self.vus.max(own_vus(&self.share, threads));
        }
    }

    /// The instant at which an iteration of `vu` that started at `started` must be interrupted.
    ///
    /// Ramping virtual users are interrupted when their graceful ramp-down is over, unless the plan needs them
    /// again before. The instant may be after the end of the scenario's graceful stop, which then comes first.
    /// `None`: only the scenario's end interrupts it.
    #[must_use]
    pub fn interrupt_at(&self, vu: u32, started: Nanos) -> Option<Nanos> {
        match &self.policy {
            Policy::RampingVus(policy) => policy.interrupt_at(vu, started),
            _ => None,
        }
    }

    /// The first instant at which nothing starts any more; `None` without a time limit.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        self.end
    }

    /// Virtual users of this worker that are active at `now` according to the plan.
    #[must_use]
    pub fn active_vus(&self, now: Nanos) -> u32 {
        if self.stopped || self.end.is_some_and(|end| now >= end) {
            return 0;
        }
        match &self.policy {
            Policy::RampingVus(policy) => own_vus(&self.share, policy.level(now)),
            Policy::ExternallyControlled(policy) => own_vus(&self.share, policy.at_work()),
            _ => self.vus,
        }
    }

    /// Starts nothing from now on; called when the run is stopped and at the scenario's end.
    ///
    /// The first worker that stops counts the rest of the shared pool as unstarted.
    pub fn stop(&mut self) {
        // A worker without virtual users leaves the shared rest to the others.
        if let Policy::SharedIterations(policy) = &mut self.policy
            && !self.stopped
            && self.vus > 0
        {
            policy.stop();
        }
        self.stopped = true;
    }

    /// Takes over from another process before anything was started: iterations planned by number remain with
    /// the other one.
    pub(crate) fn take_over(&mut self) {
        self.counts_left = false;
        if matches!(
            self.policy,
            Policy::SharedIterations(_) | Policy::PerVuIterations(_)
        ) {
            self.stop();
        }
    }

    /// Iterations planned by count that this worker took and has not started.
    ///
    /// Once all workers have stopped, their sum is what the test did not start: k6's dropped iterations. Zero
    /// if no count was planned.
    #[must_use]
    pub fn unstarted(&self) -> u64 {
        if !self.counts_left {
            return 0;
        }
        match &self.policy {
            Policy::SharedIterations(policy) => policy.unstarted(),
            Policy::PerVuIterations(policy) => policy.unstarted(),
            Policy::ThreadGroup(policy) => policy.unstarted(),
            Policy::ConstantVus(_) | Policy::RampingVus(_) | Policy::ExternallyControlled(_) => 0,
        }
    }

    /// The parts of [`Closed::unstarted`] that k6 reports separately: the rest of each virtual user's own
    /// number, or of the shared number. Empty parts are omitted.
    #[must_use]
    pub fn unstarted_parts(&self) -> Vec<u64> {
        let mut parts = match &self.policy {
            _ if !self.counts_left => Vec::new(),
            Policy::PerVuIterations(policy) => policy.unstarted_by_vu().collect(),
            _ => vec![self.unstarted()],
        };
        parts.retain(|part| *part > 0);
        parts
    }
}

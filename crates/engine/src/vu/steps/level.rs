//! The number of threads that a group maintains, if an expression determines it while the test runs.
//!
//! Must not know threads. Invariant: the expression is evaluated on one worker, and its value holds for all.

use std::rc::Rc;

use loadline_steps::program::GroupSchedule;
use loadline_steps::scope::{FunctionMemory, Scope, ThreadIdentity};

use super::GroupOnWorker;
use super::host::StepsHost;
use crate::steps::scripts::Scripts;
use crate::vu::shared::Shared;

/// Maximum threads: more than an operating system allows one process.
const THREADS_MAX: u32 = 100_000;

impl GroupOnWorker {
    /// Evaluates how many threads the group has to maintain; an expression that cannot change was evaluated before.
    pub(crate) fn renew_target(self: &Rc<Self>, shared: &Rc<Shared>) {
        let group = &self.setup.program.groups[self.group];
        let GroupSchedule::Concurrency(level) = &group.schedule else {
            return;
        };
        if level.target.constant().is_some() || !self.state().has_begun(self.times().stage) {
            return;
        }
        let host = StepsHost {
            shared: Rc::clone(shared),
            of: Rc::clone(self),
            scripts: Scripts::default(),
            told: None,
        };
        let mut scope = Scope {
            variables: &mut self.setup.variables.clone(),
            host: &host,
            thread: &ThreadIdentity {
                group: group.name.clone(),
                plan: self.setup.plan.clone(),
                ..ThreadIdentity::default()
            },
            memory: &mut FunctionMemory::default(),
            commons: &self.state().commons,
            previous: None,
            sampler: "",
            iteration: 0,
        };
        let told = level
            .target
            .evaluate(&mut scope)
            .trim()
            .parse()
            .unwrap_or(0_i64);
        let target = u32::try_from(told.max(0)).unwrap_or(THREADS_MAX);
        self.state().set_target(self.group, target.min(THREADS_MAX));
    }
}

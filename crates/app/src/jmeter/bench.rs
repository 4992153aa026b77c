//! The environment for evaluating a plan's own texts before the first thread: variables, and a host without a
//! run.
//!
//! Must not know threads. Invariant: there is no sample yet, and no thread runs.

use std::cell::Cell;
use std::sync::Arc;

use loadline_engine::steps::scripts::Scripts;
use loadline_steps::host::{Host, World as StepsWorld};
use loadline_steps::scope::{Commons, FunctionMemory, Scope, ThreadIdentity};
use loadline_steps::script::{ScriptContext, ScriptTask, ScriptValue};
use loadline_steps::variables::Variables;

use super::world::{World, now_ms};

/// The environment in which texts are evaluated before a run.
pub(crate) struct Bench {
    pub(crate) variables: Variables,
    host: BareHost,
    thread: ThreadIdentity,
    memory: FunctionMemory,
    commons: Commons,
}

/// A host without a run.
struct BareHost {
    world: Arc<World>,
    random: Cell<u64>,
    scripts: Scripts,
}

impl Bench {
    /// For a plan whose file has this name.
    pub(crate) fn new(plan: &str, world: Arc<World>) -> Bench {
        Bench {
            variables: Variables::default(),
            host: BareHost {
                world,
                random: Cell::new(now_ms().unsigned_abs()),
                scripts: Scripts::default(),
            },
            thread: ThreadIdentity {
                plan: plan.to_owned(),
                number: 1,
                ..ThreadIdentity::default()
            },
            memory: FunctionMemory::default(),
            commons: Commons::default(),
        }
    }

    /// Lends everything that an evaluation needs.
    pub(crate) fn scope(&mut self) -> Scope<'_> {
        Scope {
            variables: &mut self.variables,
            host: &self.host,
            thread: &self.thread,
            memory: &mut self.memory,
            commons: &self.commons,
            previous: None,
            sampler: "",
            iteration: 0,
        }
    }
}

impl Host for BareHost {
    fn world(&self) -> &dyn StepsWorld {
        &*self.world
    }

    fn unix_ms(&self) -> i64 {
        now_ms()
    }

    /// SplitMix64.
    fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn threads_at_work(&self, _group: usize) -> (u32, u32) {
        (0, 0)
    }

    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        self.scripts
            .run(Arc::clone(&self.world) as _, task, context)
    }

    fn threads_of(&self, _group: usize) -> u32 {
        0
    }

    fn let_go(&self) {}
}

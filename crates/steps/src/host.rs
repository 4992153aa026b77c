//! The environment of a thread: time, randomness, scripts, and the machine.
//!
//! Must not know who provides it. Invariant: nothing in here blocks.

use crate::script::task::{ScriptContext, ScriptTask};
use crate::script::value::ScriptValue;
pub use crate::world::{FileFault, LogLevel, World, WriteMode};

/// The environment of a thread.
pub trait Host {
    /// The machine.
    fn world(&self) -> &dyn World;

    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&self) -> i64;

    /// A random number, all 64 bits of which are random.
    fn random(&self) -> u64;

    /// Active threads: of a group, given by its index in the program, and of all.
    fn threads_at_work(&self, group: usize) -> (u32, u32);

    /// Runs a script; returns the lent context, and the script's value or exception.
    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>);

    /// CPU time used by the current operating system thread, in nanoseconds.
    fn cpu_ns(&self) -> u64 {
        0
    }

    /// Whether scripts must end because the test was aborted.
    fn is_called_off(&self) -> bool {
        false
    }

    /// Sleeps while other threads go on; `false`: not possible here, the thread has to wait afterwards.
    fn sleep(&self, _ms: u64) -> bool {
        false
    }

    /// Maximum threads of a group, given by its index in the program.
    fn threads_of(&self, group: usize) -> u32;

    /// Threads waiting at a rendezvous were released: they must check again.
    fn let_go(&self);

    /// A random number below `count`; 0 if `count` is 0.
    fn random_below(&self, count: u64) -> u64 {
        let product = u128::from(self.random()) * u128::from(count);
        u64::try_from(product >> 64).expect("the upper half of a product of two words is a word")
    }
}

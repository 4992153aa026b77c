//! What a thread needs from outside: time, chance, scripts, and the machine.
//!
//! Must not know who provides it. Invariant: nothing in here waits.

use crate::script::task::{ScriptContext, ScriptTask};
use crate::script::value::ScriptValue;
pub use crate::world::{FileFault, LogLevel, World};

/// What a thread needs from outside.
pub trait Host {
    /// The machine.
    fn world(&self) -> &dyn World;

    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&self) -> i64;

    /// A random number, all 64 bits of which are random.
    fn random(&self) -> u64;

    /// Threads that are at work: of a group, by its place in the program, and of all.
    fn threads_at_work(&self, group: usize) -> (u32, u32);

    /// Runs a script; gives back what it was lent, and what it came to or threw.
    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>);

    /// Processor time that this thread of the machine has taken, in nanoseconds.
    fn cpu_ns(&self) -> u64 {
        0
    }

    /// Whether scripts must end because the test was called off.
    fn is_called_off(&self) -> bool {
        false
    }

    /// Threads that a group has at most, by its place in the program.
    fn threads_of(&self, group: usize) -> u32;

    /// Threads that wait for each other were let go: those that wait are to ask again.
    fn let_go(&self);

    /// A number below `count` by chance; 0 where that is 0.
    fn random_below(&self, count: u64) -> u64 {
        let product = u128::from(self.random()) * u128::from(count);
        u64::try_from(product >> 64).expect("the upper half of a product of two words is a word")
    }
}

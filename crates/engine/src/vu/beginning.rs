//! When an iteration begins: what a worker tells its virtual users of a start.
//!
//! Must not know what an iteration does. Invariant: none, it is told as it was decided.

use loadline_model::Nanos;

/// When an iteration begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// When the plan wanted it; `None` in a closed model.
    pub(crate) intended: Option<Nanos>,
    /// When it really begins.
    pub(crate) started: Nanos,
    /// Its number over the whole test, from zero.
    pub(crate) iteration: u64,
}

//! The start of an iteration, as a worker passes it to a virtual user.
//!
//! Must not know what an iteration does. Invariant: none; it is passed on as decided.

use loadline_model::Nanos;

/// The start of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// Its scheduled start; `None` in a closed model.
    pub(crate) intended: Option<Nanos>,
    /// Its actual start.
    pub(crate) started: Nanos,
    /// Its number in the whole test, from zero.
    pub(crate) iteration: u64,
    /// Its number in this instance, from zero.
    pub(crate) in_instance: u64,
}

//! What people see while a run goes on, and the signals they send.
//!
//! Must not know what is measured; the texts come from the report crate. Invariant: nothing but
//! reports goes to standard output, and a stream that was closed never ends the run.

pub(crate) mod now;
pub(crate) mod print;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod style;
pub(crate) mod tui;

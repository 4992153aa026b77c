//! What users see during a run, and the signals that they send.
//!
//! Must not know what is measured; the texts come from the report crate. Invariant: only reports go to standard
//! output, and a closed stream never ends the run.

pub(crate) mod now;
pub(crate) mod print;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod style;
pub(crate) mod tui;

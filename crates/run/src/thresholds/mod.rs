//! Thresholds, of runs of requests and of scripts.
//!
//! Must not parse or show them. Invariant: a threshold on a metric that a run does not measure is refused
//! before the run starts.

mod crossing;
mod requests;
mod script;
mod window;

pub use requests::evaluate;
pub(crate) use requests::{RequestCrossings, check};
pub use script::check_script;
pub(crate) use script::{HOLD_EVERY, HeldTogether};

//! JMeter's command line: same options, same console, same files.
//!
//! Must not know how a plan is read or run. Invariant: what JMeter would do and loadline does not is named before
//! anything is sent.

pub(crate) mod bench;
pub(crate) mod options;
pub(crate) mod results;
pub(crate) mod test_plan;
pub(crate) mod world;
pub(crate) mod zone;

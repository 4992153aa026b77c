//! JMeter plans: reading and preparing them for any command; and JMeter's own command line: same options, same
//! console, same files.
//!
//! Must not know how a plan is lowered or run. Invariant: whatever JMeter would do and loadline does not is
//! reported before anything is sent.

pub(crate) mod bench;
mod cut;
pub(crate) mod dashboard;
mod evaluated;
mod file_cache;
mod group_shape;
pub(crate) mod imposed_load;
pub(crate) mod inspection;
pub(crate) mod log_name;
pub(crate) mod named_files;
pub(crate) mod options;
pub(crate) mod plan_file;
pub(crate) mod prepared;
pub(crate) mod recipe;
pub(crate) mod results;
pub(crate) mod silences;
pub(crate) mod test_plan;
pub(crate) mod thresholds;
pub(crate) mod unhonoured;
pub(crate) mod wire;
pub(crate) mod world;
pub(crate) mod zone;

/// Batches of samples between the threads and their receiver.
pub(crate) const BATCHES: usize = 1024;

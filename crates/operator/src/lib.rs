//! Tests in Kubernetes: a `TestRun` becomes a coordinator and its agents.
//!
//! Must not know the engine, nor how a test is run: pods use the normal binary. Invariant: parsing a `TestRun`,
//! building its objects, and deciding on the next step are pure; API access is separate.

pub mod arguments;
mod clock;
mod failure;
mod fields;
mod git;
pub mod handed;
pub mod identity;
mod io;
pub mod lease;
pub mod load_suite;
pub mod load_test;
pub mod names;
pub mod objects;
pub mod pods;
pub mod reading;
pub mod results;
pub mod schedule;
pub mod script_address;
pub mod seen;
mod service;
pub mod status;
pub mod step;
mod template;
mod terminal;
pub mod test;
pub mod test_run;

pub use service::{Options, run};
pub use terminal::say;

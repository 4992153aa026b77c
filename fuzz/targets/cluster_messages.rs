//! Any bytes as what agents say to a coordinator.
//!
//! Invariant checked: whatever is said, and in whatever order, the coordinator goes on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_cluster::hear_hostile;

fuzz_target!(|bytes: &[u8]| hear_hostile(bytes));

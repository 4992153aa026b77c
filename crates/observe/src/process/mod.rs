//! Processes of this machine: which exist, which belong together, how much CPU time they used.
//!
//! Must not know what is reported about them. Invariants: all folders are arguments; walks over all processes
//! cost at most one percent of one core, however many there are.

mod files;
mod listeners;
mod meter;
mod slots;
mod table;
mod used;

pub(crate) use files::ProcessFiles;
pub use listeners::{Listener, listeners};
pub(crate) use meter::{CpuMeter, ReadSpan};
pub(crate) use slots::{Change, Slots};
pub(crate) use table::ProcessTable;
pub use used::{machine_cpu_seconds, named_cpu_seconds, process_cpu_seconds};

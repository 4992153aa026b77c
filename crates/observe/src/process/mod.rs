//! Processes of this machine: which there are, which belong together, what time they used.
//!
//! Must not know what is reported of them. Invariants: all folders come as arguments; walks over all processes cost
//! at most one percent of one core, however many there are.

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

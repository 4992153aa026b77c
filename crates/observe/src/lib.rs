//! Observers: what the service under test uses while it is under load.
//!
//! Must not know the engine, nor what a reading means. Invariants: observers run on their own threads;
//! unreadable data is a gap with a note, never a zero; everything that an observer stores is bounded.

mod clock;
mod conduct;
mod follower;
pub mod parse;
mod process;
mod programs;
mod readings;
mod sources;
pub mod spec;
mod web;

pub use clock::{Clock, SystemClock};
pub use conduct::{ObserveError, ObserverSetup, Observers, Roots};
pub use follower::FileFollower;
pub use process::{
    Listener, listeners, machine_cpu_seconds, named_cpu_seconds, process_cpu_seconds,
};
pub use readings::{MISSING_NOTE, OVERFLOW_NOTE};
pub use spec::{ObserverKind, ObserverSpec, ObserverSpecs, SpecError, parse_file_text};

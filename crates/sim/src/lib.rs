//! Simulated time and servers with known laws: what schedules and percentiles are held against.
//!
//! A [`Server`] answers by a law of service times; [`run_open`] and [`run_closed`] let a schedule
//! loose on it and record what a load generator would have seen. Must not know real time, sockets
//! or how the engine does the same. Invariant: a run follows from its arguments alone, and every
//! arrival or iteration ends in exactly one count of [`Outcome`].

mod closed;
mod free_times;
mod law;
mod open;
mod outcome;
mod server;

pub use closed::{ClosedRun, run_closed};
pub use law::Law;
pub use open::{OpenRun, run_open};
pub use outcome::Outcome;
pub use server::{Answer, Freeze, Server, ServerPlan};

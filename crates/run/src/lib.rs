//! Controls a run and judges it.
//!
//! Starts the engine, turns the workers' snapshots into the single stream of [`RunEvent`]s, passes orders on,
//! and makes the result with its verdict. Must not know how anything is presented. Invariant: the verdict is a
//! function of the result only, and the sum of the seconds is the total.
//!
//! [`RunEvent`]: loadline_model::RunEvent

mod collect;
mod conduct;
mod contract;
mod environment;
mod generator;
mod lifecycle;
mod load;
mod observing;
mod orders;
mod outcome;
mod script;
mod thresholds;
mod trouble;
pub mod verdict;
mod watch;
mod windows;

pub use conduct::run;
pub use contract::{Ran, RunError, RunScript, RunSetup};
pub use environment::{environment, prepare_process};
pub use lifecycle::{Handled, ReadError, handle_summary, read_exports};
pub use load::{Load, UnderWay};
pub use loadline_engine::clock::Clock;
pub use loadline_engine::steps;
pub use loadline_engine::{EngineSetup, ScriptLog, ScriptMetrics, ScriptSetup, Traced};
pub use observing::{ObserverFeed, ObserverSource};
pub use thresholds::{check_script as check_script_thresholds, evaluate as evaluate_thresholds};
pub use trouble::Trouble;
pub use watch::{RunPhase, RunWatch, Steering};

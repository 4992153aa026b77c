//! A testbed: a graph of small real processes on the loopback address, whose costs and limits are known, and a
//! port to steer it. It is what a verdict on bottlenecks is tested against.
//!
//! It must not know command lines. Invariants: every replica is a process of its own that never outlives the
//! one that started it; what was counted is exact and survives the end of every process.
//!
//! Needs a Unix system; elsewhere a testbed does not start. Described in `docs/target/testbed.md`.

mod calendar;
mod file;
mod fleet;
mod message;
mod outline;
mod part;
mod plan;
mod tally;

use std::io::{self, BufRead, Write};
use std::path::Path;

pub use file::TestbedFileError;
pub use fleet::{Testbed, TestbedError, TestbedOptions, start};
pub use outline::{Outline, OutlinedPart, outline};
pub(crate) use part::{Outcome, TestbedPart};
pub(crate) use tally::{CounterSlot, Tally};

/// Parses a testbed file and checks that it can be started; `path` is for messages and for finding routes
/// files.
///
/// # Errors
/// The first mistake.
pub fn check(path: &Path, text: &str) -> Result<(), TestbedFileError> {
    file::parse(path, text).map(|_| ())
}

/// Runs one process of a testbed, whose plan is the first line of `input`. Returns when told to stop, or when
/// `input` ends.
///
/// # Errors
/// The first line is not a plan, or `output` is closed.
pub fn serve_part(input: impl BufRead + Send + 'static, output: impl Write) -> io::Result<()> {
    part::serve(input, output)
}

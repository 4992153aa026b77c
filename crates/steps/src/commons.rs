//! What the threads of a run share besides functions: counts, turns, lines of files, sequences.
//!
//! Must not know threads. Invariant: every lock is held for one step only, and none while another is taken.

use std::collections::HashMap;
use std::sync::Mutex;

use loadline_java::random::JavaRandom;

use crate::csv::{CsvLines, Drawn, Settings};
use crate::host::Host;
use crate::scope::{Commons, locked};

/// What all threads share of what a plan's elements keep.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    /// Entries and runs of throughput controllers.
    shares: Mutex<HashMap<(usize, usize), (u64, u64)>>,
    /// When the next sample of a constant throughput timer may start.
    turns: Mutex<HashMap<(usize, Option<usize>), i64>>,
    counters: Mutex<HashMap<usize, i64>>,
    sequences: Mutex<HashMap<usize, JavaRandom>>,
    /// Files, by who shares them and what they are called.
    lines: Mutex<HashMap<(Option<usize>, String), CsvLines>>,
}

impl Commons {
    /// Lets a throughput controller decide by the counts of all threads.
    pub(crate) fn share(
        &self,
        group: usize,
        node: usize,
        decide: impl FnOnce(&mut (u64, u64)) -> bool,
    ) -> bool {
        decide(
            locked(&self.elements.shares)
                .entry((group, node))
                .or_default(),
        )
    }

    /// How long to wait for one's turn, in milliseconds.
    pub(crate) fn turn(
        &self,
        id: usize,
        group: Option<usize>,
        now_ms: i64,
        interval_ms: i64,
    ) -> i64 {
        let mut turns = locked(&self.elements.turns);
        let next_ms = match turns.get(&(id, group)) {
            None => now_ms,
            Some(last_ms) => now_ms.max(last_ms.saturating_add(interval_ms)),
        };
        turns.insert((id, group), next_ms);
        next_ms - now_ms
    }

    /// Counts for all threads.
    pub(crate) fn count(&self, id: usize, next: impl FnOnce(Option<i64>) -> i64) -> i64 {
        let mut counters = locked(&self.elements.counters);
        let value = next(counters.get(&id).copied());
        counters.insert(id, value);
        value
    }

    /// Draws from the sequence that all threads share.
    pub(crate) fn draw(
        &self,
        id: usize,
        seed: i64,
        draw: impl FnOnce(&mut JavaRandom) -> i64,
    ) -> i64 {
        let mut sequences = locked(&self.elements.sequences);
        draw(sequences.entry(id).or_insert_with(|| JavaRandom::new(seed)))
    }

    /// The values of the next line of a file that a group or all threads share.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub(crate) fn draw_line(
        &self,
        group: Option<usize>,
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<Option<Drawn>, String> {
        let mut lines = locked(&self.elements.lines);
        let lines = lines.entry((group, file.to_owned())).or_default();
        lines.draw(host, file, settings)
    }
}

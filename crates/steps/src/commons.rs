//! State shared by the threads of a run, except functions: counts, turns, lines of files, random sequences.
//!
//! Must not know threads. Invariant: a lock is held for a single step, and never while another is acquired.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use loadline_java::random::JavaRandom;

use crate::csv::{CsvLines, Drawn, Line, Settings};
use crate::deck::Deck;
use crate::host::Host;
use crate::scope::{Commons, locked};
use crate::timers::gathering::Gathering;
use crate::timers::precise::{PreciseRate, PreciseSchedule};
use crate::timers::shaping::Shaping;

/// State of a plan's elements that all threads share.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    /// Entries and runs of throughput controllers.
    shares: Mutex<HashMap<(usize, usize), (u64, u64)>>,
    /// Start time of the next sample of a constant throughput timer.
    turns: Mutex<HashMap<Option<usize>, i64>>,
    /// The schedule of each group with a precise throughput timer.
    precise: Mutex<HashMap<usize, PreciseSchedule>>,
    gatherings: Mutex<HashMap<usize, Gathering>>,
    shapings: Mutex<HashMap<usize, Shaping>>,
    counters: Mutex<HashMap<usize, i64>>,
    /// Random lines, by the number of their element.
    decks: Mutex<HashMap<usize, Deck>>,
    /// Critical section locks that are held, by name.
    locks: Mutex<HashSet<String>>,
    sequences: Mutex<HashMap<usize, JavaRandom>>,
    /// Files, by their sharers and name.
    lines: Mutex<HashMap<(Sharers, String), CsvLines>>,
}

/// The threads that share the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sharers {
    /// All.
    All,
    /// Those of a group.
    Group(usize),
    /// Those with a name for it.
    Named(String),
}

impl Commons {
    /// Runs the decision of a throughput controller on the counts of all threads.
    pub(crate) fn share<T>(
        &self,
        group: usize,
        node: usize,
        decide: impl FnOnce(&mut (u64, u64)) -> T,
    ) -> T {
        decide(
            locked(&self.elements.shares)
                .entry((group, node))
                .or_default(),
        )
    }

    /// Time to wait for the next turn among the threads of a group, or of all, in milliseconds.
    pub(crate) fn turn(&self, group: Option<usize>, now_ms: i64, interval_ms: i64) -> i64 {
        let mut turns = locked(&self.elements.turns);
        let next_ms = match turns.get(&group) {
            None => now_ms,
            Some(last_ms) => now_ms.max(last_ms.saturating_add(interval_ms)),
        };
        turns.insert(group, next_ms);
        next_ms - now_ms
    }

    /// The values of the next line of a deck shared by all threads.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub(crate) fn draw_card(
        &self,
        id: usize,
        read: impl FnOnce() -> Result<Deck, String>,
        draw: impl FnOnce(&mut Deck) -> Option<Drawn>,
    ) -> Result<Option<Drawn>, String> {
        let mut decks = locked(&self.elements.decks);
        let deck = match decks.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unread) => unread.insert(read()?),
        };
        Ok(draw(deck))
    }

    /// Acquires a lock; `false`: it is already held.
    pub(crate) fn take_lock(&self, name: &str) -> bool {
        locked(&self.elements.locks).insert(name.to_owned())
    }

    /// Releases a lock.
    pub(crate) fn free_lock(&self, name: &str) {
        locked(&self.elements.locks).remove(name);
    }

    /// The next instant of a group's precise schedule, in seconds from its start.
    pub(crate) fn next_drawn(&self, group: usize, seed: i64, wanted: PreciseRate) -> Option<f64> {
        let mut precise = locked(&self.elements.precise);
        let schedule = precise
            .entry(group)
            .or_insert_with(|| PreciseSchedule::new(seed));
        schedule.next(wanted)
    }

    /// Runs a function on a rendezvous of threads.
    pub(crate) fn gathering<T>(&self, id: usize, act: impl FnOnce(&mut Gathering) -> T) -> T {
        act(locked(&self.elements.gatherings).entry(id).or_default())
    }

    /// Runs a function on a load profile.
    pub(crate) fn shaping<T>(&self, id: usize, act: impl FnOnce(&mut Shaping) -> T) -> T {
        act(locked(&self.elements.shapings).entry(id).or_default())
    }

    /// Advances a counter shared by all threads.
    pub(crate) fn count(&self, id: usize, next: impl Fn(Option<i64>) -> i64) -> i64 {
        let mut counters = locked(&self.elements.counters);
        let last = counters.get(&id).copied();
        let skipped = self.part.skipped(last.is_none());
        let last = (0..skipped).fold(last, |last, _| Some(next(last)));
        let value = next(last);
        counters.insert(id, value);
        value
    }

    /// Draws from the random sequence shared by all threads.
    pub(crate) fn draw(&self, id: usize, seed: i64, draw: impl Fn(&mut JavaRandom) -> i64) -> i64 {
        let mut sequences = locked(&self.elements.sequences);
        let is_first = !sequences.contains_key(&id);
        let sequence = sequences.entry(id).or_insert_with(|| JavaRandom::new(seed));
        for _ in 0..self.part.skipped(is_first) {
            draw(sequence);
        }
        draw(sequence)
    }

    /// The values of the next line of a file that threads share.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn draw_line(
        &self,
        sharers: &Sharers,
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<Line, String> {
        let mut lines = locked(&self.elements.lines);
        let place = (sharers.clone(), file.to_owned());
        let skipped = self.part.skipped(!lines.contains_key(&place));
        let lines = lines.entry(place).or_default();
        for _ in 0..skipped {
            lines.draw(host, file, settings)?;
        }
        lines.draw(host, file, settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Part;

    #[test]
    fn the_parts_of_a_whole_draw_together_what_the_whole_draws() {
        let next = |before: Option<i64>| match before {
            None | Some(16) => 10,
            Some(before) => before + 2,
        };
        let drawn = |part: Part, count: usize| -> Vec<(i64, i64, u64)> {
            let commons = Commons::of_part(part);
            let one = |_| {
                let random = commons.draw(1, 7, |random| random.next_int_below(1_000).into());
                (commons.count(0, next), random, commons.advance(5))
            };
            (0..count).map(one).collect()
        };
        let whole = drawn(Part::default(), 12);
        for of in [1, 2, 3, 4] {
            let parts = (0..of).map(|number| drawn(Part { number, of }, 12 / of as usize));
            let parts: Vec<_> = parts.collect();
            let together = (0..12).map(|at| parts[at % of as usize][at / of as usize]);
            assert_eq!(together.collect::<Vec<_>>(), whole, "{of}");
        }
    }
}

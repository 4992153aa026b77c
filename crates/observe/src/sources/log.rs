//! `log`: counts and sums over lines of a file, of standard input or of pods.
//!
//! Must not know what the lines mean. Invariant: a line counts once, whatever rotation happens; possible losses
//! are reported.

mod feed;
mod meter;

use std::path::Path;

use loadline_model::observation::RunWindow;
use regex::Regex;

use super::{Counter, Source, Tick, only};
use crate::parse::{finite, pattern};
use crate::readings::{Gap, Readings};
use crate::spec::LogSettings;
use feed::Feed;
use meter::LineMeter;

/// Counts lines.
pub(super) struct LogSource {
    reader: LogReader,
    meter: LineMeter,
}

/// Reads lines and counts matching ones.
struct LogReader {
    feed: Feed,
    pattern: Regex,
    counts: Counts,
}

/// Counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Lines that matched.
    pub(super) lines: u64,
    /// The sum of the values of the pattern's group.
    pub(super) sum: f64,
    /// Its last value; `None`: no number yet.
    pub(super) last: Option<f64>,
}

impl LogReader {
    fn new(settings: &LogSettings, kubeconfig: Option<&Path>) -> Result<LogReader, String> {
        Ok(LogReader {
            feed: Feed::new(settings, kubeconfig)?,
            pattern: pattern(&settings.pattern)?,
            counts: Counts::default(),
        })
    }

    /// Whether the pattern has a group, so that there are values.
    fn has_values(&self) -> bool {
        self.pattern.captures_len() > 1
    }

    /// Reads new lines; returns possible losses, in words.
    fn read(&mut self, tick: &Tick<'_>) -> Result<Vec<String>, Gap> {
        let has_values = self.has_values();
        let (pattern, counts) = (&self.pattern, &mut self.counts);
        self.feed
            .read(tick, &mut |line| counts.take(pattern, has_values, line))
    }
}

impl Counts {
    fn take(&mut self, pattern: &Regex, has_values: bool, line: &str) {
        if !has_values {
            self.lines += u64::from(pattern.is_match(line));
            return;
        }
        let Some(captures) = pattern.captures(line) else {
            return;
        };
        self.lines += 1;
        if let Some(value) = captures.get(1).and_then(|group| finite(group.as_str())) {
            self.sum += value;
            self.last = Some(value);
        }
    }
}

impl LogSource {
    pub(super) fn new(
        settings: &LogSettings,
        kubeconfig: Option<&Path>,
    ) -> Result<LogSource, String> {
        Ok(LogSource {
            reader: LogReader::new(settings, kubeconfig)?,
            meter: LineMeter::default(),
        })
    }
}

impl Source for LogSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let lost = self.reader.read(tick)?;
        for text in lost {
            readings.missing(&readings.observer(), text);
        }
        let has_values = self.reader.has_values();
        let now = tick.clock.unix_ns();
        readings.read_at(now);
        self.meter
            .advance(now, &self.reader.counts, has_values, readings);
        Ok(())
    }

    fn conclude(&mut self, window: &RunWindow, readings: &mut Readings) -> Result<(), Gap> {
        self.meter
            .conclude(window, self.reader.has_values(), readings);
        Ok(())
    }
}

/// Lines, or the sum of the pattern's group if it has one, as a stage of a pipeline.
pub(super) struct LogCounter(LogReader);

impl LogCounter {
    pub(super) fn new(
        settings: &LogSettings,
        kubeconfig: Option<&Path>,
    ) -> Result<LogCounter, String> {
        LogReader::new(settings, kubeconfig).map(LogCounter)
    }
}

impl Counter for LogCounter {
    fn totals(&mut self, tick: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
        self.0.read(tick)?;
        Ok(only(match self.0.has_values() {
            true => self.0.counts.sum,
            false => self.0.counts.lines as f64,
        }))
    }
}

#[cfg(test)]
mod tests;

//! JMeter's summary lines: `summary +` for samples since the last lines, `summary =` for all.
//!
//! Must not know clocks: the time is an argument. Invariant: the counts of all `+` lines, plus what no line has
//! reported yet, sum to those of the `=` line.

use loadline_steps::sample::Sample;

/// Lines are due up to this many seconds after a boundary of the interval, and again after more than this many.
const WINDOW_S: i64 = 5;

/// Statistics of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Samples.
    pub samples: u64,
    /// Failed ones among them.
    pub errors: u64,
    /// Sum of their times.
    pub sum_ms: u64,
    /// The least time; beyond all times where there is no sample.
    pub min_ms: i64,
    /// The greatest time; below all times where there is no sample.
    pub max_ms: i64,
}

impl Seen {
    /// Nothing.
    pub const NONE: Seen = Seen {
        samples: 0,
        errors: 0,
        sum_ms: 0,
        min_ms: i64::MAX,
        max_ms: i64::MIN,
    };

    /// One sample.
    #[must_use]
    pub fn of(sample: &Sample) -> Seen {
        let elapsed = i64::try_from(sample.elapsed_ms).unwrap_or(i64::MAX);
        Seen {
            samples: 1,
            errors: u64::from(!sample.success),
            sum_ms: sample.elapsed_ms,
            min_ms: elapsed,
            max_ms: elapsed,
        }
    }

    /// Merges other statistics.
    pub fn add(&mut self, other: &Seen) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.sum_ms = self.sum_ms.saturating_add(other.sum_ms);
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
    }
}

/// Threads of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// Active now.
    pub active: u32,
    /// Started so far.
    pub started: u32,
    /// Ended so far.
    pub finished: u32,
}

/// The content of one line: statistics between two instants.
#[derive(Clone, Debug)]
struct Stretch {
    seen: Seen,
    start_ms: i64,
    end_ms: i64,
}

impl Stretch {
    fn new(now_ms: i64) -> Stretch {
        Stretch {
            seen: Seen::NONE,
            start_ms: now_ms,
            end_ms: now_ms,
        }
    }

    fn add(&mut self, seen: &Seen, now_ms: i64) {
        self.seen.add(seen);
        self.end_ms = now_ms;
    }
}

/// Collects statistics, and decides what to report, and when.
#[derive(Clone, Debug)]
pub struct Summariser {
    name: String,
    interval_s: i64,
    told_at_s: i64,
    since: Stretch,
    total: Stretch,
}

impl Summariser {
    /// A summariser called `name` that reports every `interval_s` seconds; the test starts now (milliseconds
    /// since 1970).
    #[must_use]
    pub fn new(name: &str, interval_s: u32, now_ms: i64) -> Summariser {
        Summariser {
            name: name.to_owned(),
            interval_s: i64::from(interval_s.max(1)),
            told_at_s: 0,
            since: Stretch::new(now_ms),
            total: Stretch::new(now_ms),
        }
    }

    /// Adds statistics and returns the lines that are due. Lines only become due with a sample. Do not pass
    /// samples of transactions, nor their sub-samples.
    pub fn observe(&mut self, seen: &Seen, now_ms: i64, threads: Threads) -> Vec<String> {
        if seen.samples == 0 {
            return Vec::new();
        }
        self.since.add(seen, now_ms);
        let now_s = now_ms / 1000;
        let is_due = now_s > self.told_at_s + WINDOW_S && now_s % self.interval_s <= WINDOW_S;
        if !is_due {
            return Vec::new();
        }
        self.told_at_s = now_s;
        let since = self.take(now_ms);
        let mut lines = vec![self.line('+', &since, Some(threads))];
        if self.total.seen.samples != since.seen.samples {
            lines.push(self.line('=', &self.total, None));
        }
        lines
    }

    /// The last lines, at the end of the test.
    pub fn finish(&mut self, now_ms: i64, threads: Threads) -> Vec<String> {
        let was_told = self.total.seen.samples > 0;
        self.since.end_ms = now_ms;
        let since = self.take(now_ms);
        let mut lines = Vec::new();
        if since.seen.samples > 0 && was_told {
            lines.push(self.line('+', &since, Some(threads)));
        }
        lines.push(self.line('=', &self.total, None));
        lines
    }

    /// Merges what came since the last lines into the total.
    fn take(&mut self, now_ms: i64) -> Stretch {
        let since = std::mem::replace(&mut self.since, Stretch::new(now_ms));
        self.total.add(&since.seen, now_ms);
        since
    }

    fn line(&self, sign: char, of: &Stretch, threads: Option<Threads>) -> String {
        let seen = &of.seen;
        let elapsed_ms = match seen.samples {
            0 => 0,
            _ => of.end_ms - of.start_ms,
        };
        let rate = match elapsed_ms {
            0 => "******".to_owned(),
            _ => format!("{:6.1}", seen.samples as f64 / elapsed_ms as f64 * 1000.0),
        };
        let share = match seen.samples {
            0 => 0.0,
            samples => seen.errors as f64 / samples as f64 * 100.0,
        };
        let threads = threads.map(|of| {
            format!(
                " Active: {} Started: {} Finished: {}",
                of.active, of.started, of.finished
            )
        });
        format!(
            "{} {sign} {:6} in {} = {rate}/s Avg: {:5} Min: {:5} Max: {:5} Err: {:5} ({share:.2}%){}",
            self.name,
            seen.samples,
            clock(elapsed_ms),
            seen.sum_ms.checked_div(seen.samples).unwrap_or(0),
            seen.min_ms,
            seen.max_ms,
            seen.errors,
            threads.unwrap_or_default(),
        )
    }
}

/// `00:00:01` of milliseconds, rounded to seconds.
fn clock(elapsed_ms: i64) -> String {
    let seconds = elapsed_ms.saturating_add(500) / 1000;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: Threads = Threads {
        active: 0,
        started: 100,
        finished: 100,
    };

    fn seen(samples: u64, each_ms: u64, errors: u64) -> Seen {
        Seen {
            samples,
            errors,
            sum_ms: samples * each_ms,
            min_ms: 1,
            max_ms: 264,
        }
    }

    /// Recorded from JMeter 5.6.3, but for the times.
    #[test]
    fn lines_are_jmeters() {
        let start = 1_795_180_438_500;
        let mut summariser = Summariser::new("summary", 30, start);
        assert_eq!(
            summariser.observe(&seen(1, 56, 0), start, THREADS),
            Vec::<String>::new()
        );
        let lines = summariser.observe(&seen(998, 56, 0), start + 2212, THREADS);
        assert_eq!(
            lines,
            [
                "summary +    999 in 00:00:02 =  451.6/s Avg:    56 Min:     1 Max:   264 Err:     0 (0.00%) \
              Active: 0 Started: 100 Finished: 100"
            ]
        );
        let none = summariser.observe(&seen(1, 60, 1), start + 2300, THREADS);
        assert_eq!(none, Vec::<String>::new());
        assert_eq!(
            summariser.finish(start + 2500, THREADS),
            [
                "summary +      1 in 00:00:00 =    3.5/s Avg:    60 Min:     1 Max:   264 Err:     1 (100.00%) \
                 Active: 0 Started: 100 Finished: 100",
                "summary =   1000 in 00:00:03 =  400.0/s Avg:    56 Min:     1 Max:   264 Err:     1 (0.10%)"
            ]
        );
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn a_test_without_samples_has_a_line() {
        let mut summariser = Summariser::new("summary", 30, 0);
        assert_eq!(
            summariser.finish(900, THREADS),
            [
                "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 \
              Max: -9223372036854775808 Err:     0 (0.00%)"
            ]
        );
    }

    #[test]
    fn lines_are_due_at_boundaries_of_the_clock() {
        let mut summariser = Summariser::new("s", 30, 0);
        let mut at = |second: i64| {
            let one = Seen {
                samples: 1,
                ..Seen::NONE
            };
            summariser.observe(&one, second * 1000, THREADS).len()
        };
        // The window ends six seconds after the boundary; a line is reported once per window.
        let told: Vec<usize> = [306, 329, 330, 333, 336, 359, 365, 371, 391]
            .map(&mut at)
            .into();
        assert_eq!(told, [0, 0, 1, 0, 0, 0, 2, 0, 2]);
    }

    #[test]
    fn hours_are_counted() {
        assert_eq!(clock(100 * 3_600_000 + 59_500), "100:01:00");
    }
}

//! Counts of lines over time: the rate now, over whole minutes of the clock, and over the best 60 s.
//!
//! Must not know lines. Invariant: a window that was not seen whole has no rate.

use std::collections::VecDeque;

use super::Counts;
use crate::clock::seconds_between;
use crate::readings::Readings;

/// The length of windows.
const WINDOW_NS: u64 = 60_000_000_000;
/// Looks within one window: ten a second.
const LOOKS_MAX: usize = 1_000;

/// What was counted when.
#[derive(Clone, Copy, Debug)]
struct LookCount {
    at_unix_ns: u64,
    lines: f64,
    sum: f64,
}

/// Makes rates of counts.
#[derive(Clone, Debug, Default)]
pub(super) struct LineMeter {
    /// The looks of the last window and the one before it.
    looks: VecDeque<LookCount>,
    /// The first look of this minute of the clock, where the minute was seen from its beginning.
    minute_begin: Option<LookCount>,
    best_lines_per_s: Option<f64>,
    best_sum_per_s: Option<f64>,
}

impl LineMeter {
    /// Takes the counts of a look.
    pub(super) fn advance(
        &mut self,
        at_unix_ns: u64,
        counts: &Counts,
        has_values: bool,
        readings: &mut Readings,
    ) {
        let now = LookCount {
            at_unix_ns,
            lines: counts.lines as f64,
            sum: counts.sum,
        };
        let before = self.looks.back().copied();
        readings.own("count", now.lines);
        if has_values {
            readings.own("sum", now.sum);
            readings.own_if("value", counts.last);
        }
        if let Some(before) = before {
            tell_rates(
                ["rate_per_s", "sum_per_s"],
                &before,
                &now,
                has_values,
                readings,
            );
            self.tell_minute(&before, &now, has_values, readings);
        }
        self.looks.push_back(now);
        self.tell_best(&now, has_values, readings);
    }

    fn tell_minute(
        &mut self,
        before: &LookCount,
        now: &LookCount,
        has_values: bool,
        readings: &mut Readings,
    ) {
        if before.at_unix_ns / WINDOW_NS == now.at_unix_ns / WINDOW_NS {
            return;
        }
        if let Some(begin) = self.minute_begin.replace(*now) {
            let names = ["rate_60s_per_s", "sum_60s_per_s"];
            tell_rates(names, &begin, now, has_values, readings);
        }
    }

    fn tell_best(&mut self, now: &LookCount, has_values: bool, readings: &mut Readings) {
        let limit = now.at_unix_ns.saturating_sub(WINDOW_NS);
        // The oldest look that is kept is the newest one at least a window away.
        while self.looks.len() > LOOKS_MAX
            || self
                .looks
                .get(1)
                .is_some_and(|look| look.at_unix_ns <= limit)
        {
            self.looks.pop_front();
        }
        let begin = self.looks.front().filter(|look| look.at_unix_ns <= limit);
        if let Some(begin) = begin {
            let seconds = seconds_between(begin.at_unix_ns, now.at_unix_ns);
            let best = |best: Option<f64>, added: f64| {
                let rate = added / seconds;
                Some(best.map_or(rate, |best| best.max(rate)))
            };
            self.best_lines_per_s = best(self.best_lines_per_s, now.lines - begin.lines);
            self.best_sum_per_s = best(self.best_sum_per_s, now.sum - begin.sum);
        }
        readings.own_if("best_60s_per_s", self.best_lines_per_s);
        if has_values {
            readings.own_if("best_60s_sum_per_s", self.best_sum_per_s);
        }
    }
}

fn tell_rates(
    names: [&str; 2],
    from: &LookCount,
    to: &LookCount,
    has_values: bool,
    readings: &mut Readings,
) {
    let seconds = seconds_between(from.at_unix_ns, to.at_unix_ns);
    if seconds <= 0.0 {
        return;
    }
    readings.own(names[0], (to.lines - from.lines) / seconds);
    if has_values {
        readings.own(names[1], (to.sum - from.sum) / seconds);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Looks each second while so many lines come in each; gives the last look.
    fn after(lines_per_second: &[u64], from_second: u64) -> Readings {
        let mut meter = LineMeter::default();
        let mut counts = Counts::default();
        let mut last = Readings::new(&Arc::from("l"), 0);
        for (second, lines) in lines_per_second.iter().enumerate() {
            counts.lines += lines;
            counts.sum += 2.0 * *lines as f64;
            counts.last = Some(7.0);
            last = Readings::new(&Arc::from("l"), 0);
            let at = (from_second + second as u64) * 1_000_000_000;
            meter.advance(at, &counts, true, &mut last);
        }
        last
    }

    #[test]
    fn the_best_minute_slides() {
        let mut lines = vec![1; 30];
        lines.extend([10; 60]);
        lines.extend([1; 30]);
        let last = after(&lines, 15);
        assert_eq!(last.value("l", "best_60s_per_s"), Some(10.0));
        assert_eq!(last.value("l", "best_60s_sum_per_s"), Some(20.0));
        assert_eq!(last.value("l", "count"), Some(660.0));
        assert_eq!(last.value("l", "rate_per_s"), Some(1.0));
        assert_eq!(last.value("l", "sum_per_s"), Some(2.0));
        assert_eq!(last.value("l", "value"), Some(7.0));
    }

    #[test]
    fn a_run_shorter_than_the_window_has_no_best() {
        let last = after(&[5; 59], 600);
        assert_eq!(last.value("l", "best_60s_per_s"), None);
    }

    #[test]
    fn whole_minutes_of_the_clock_have_a_rate() {
        // From second 30: the first whole minute is 60 to 120.
        let lines: Vec<u64> = (30..=120)
            .map(|second| u64::from(second > 60) * 3)
            .collect();
        let last = after(&lines, 30);
        assert_eq!(last.value("l", "rate_60s_per_s"), Some(3.0));
        let early = after(&[3; 40], 30);
        assert_eq!(early.value("l", "rate_60s_per_s"), None);
    }
}

//! Rates of lines over time: current, over whole minutes of the clock, and over the best 60 s.
//!
//! Must not know lines. Invariant: during the run, a window that was not seen completely has no rate; if the
//! run ends before the first complete window, the available part is reported instead, with a note.

use std::collections::VecDeque;

use loadline_model::observation::RunWindow;

use super::Counts;
use crate::clock::seconds_between;
use crate::readings::{MISSING_NOTE, Readings};

/// Length of windows.
const WINDOW_NS: u64 = 60_000_000_000;
/// Maximum reads within one window: ten per second.
const LOOKS_MAX: usize = 1_000;

/// What was counted when.
#[derive(Clone, Copy, Debug)]
struct LookCount {
    at_unix_ns: u64,
    lines: f64,
    sum: f64,
}

/// Computes rates from counts.
#[derive(Clone, Debug, Default)]
pub(super) struct LineMeter {
    /// The reads of the last window, and the one before it.
    looks: VecDeque<LookCount>,
    /// The first read of this clock minute, if the minute was seen from its start.
    minute_begin: Option<LookCount>,
    /// Whether a whole clock minute was reported.
    has_minute: bool,
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
            self.has_minute = true;
        }
    }

    /// If the run was too short for a window, reports its rate under load instead.
    pub(super) fn conclude(&self, window: &RunWindow, has_values: bool, readings: &mut Readings) {
        let mut short = Vec::new();
        if self.best_lines_per_s.is_none() {
            short.push(["best_60s_per_s", "best_60s_sum_per_s"]);
        }
        if !self.has_minute {
            short.push(["rate_60s_per_s", "sum_60s_per_s"]);
        }
        let Some((begin, end)) = self.under_load(window).filter(|_| !short.is_empty()) else {
            return;
        };
        // The end of a span is not part of it.
        readings.read_at(window.end_unix_ns.saturating_sub(1));
        for names in &short {
            tell_rates(*names, &begin, &end, has_values, readings);
        }
        let seconds = seconds_between(begin.at_unix_ns, end.at_unix_ns);
        let names: Vec<&str> = short.iter().map(|names| names[0]).collect();
        let text = format!(
            "{} {} over the {seconds:.1} s of the load: no whole minute was seen",
            names.join(" and "),
            if names.len() > 1 { "are" } else { "is" }
        );
        readings.remark(&readings.observer(), MISSING_NOTE, text);
    }

    /// The reads around the load; `None` if there are not two, or if the first is no longer kept.
    fn under_load(&self, window: &RunWindow) -> Option<(LookCount, LookCount)> {
        let before = |look: &&LookCount| look.at_unix_ns <= window.start_unix_ns;
        let after = |look: &&LookCount| look.at_unix_ns >= window.end_unix_ns;
        let begin = self.looks.iter().rev().find(before);
        let begin = begin.or(self.looks.front())?;
        let end = self.looks.iter().find(after).or(self.looks.back())?;
        (begin.at_unix_ns < end.at_unix_ns).then_some((*begin, *end))
    }

    fn tell_best(&mut self, now: &LookCount, has_values: bool, readings: &mut Readings) {
        let limit = now.at_unix_ns.saturating_sub(WINDOW_NS);
        // The oldest read that is kept is the newest one at least one window ago.
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

    /// Reads once per second while this many lines arrive in each; returns the last reading.
    fn after(lines_per_second: &[u64], from_second: u64) -> Readings {
        metered(lines_per_second, from_second).1
    }

    fn metered(lines_per_second: &[u64], from_second: u64) -> (LineMeter, Readings) {
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
        (meter, last)
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

    /// What is said at the end of a load between two seconds.
    fn concluded(meter: &LineMeter, from_s: u64, to_s: u64) -> Readings {
        let window = RunWindow {
            start_unix_ns: from_s * 1_000_000_000,
            end_unix_ns: to_s * 1_000_000_000,
            steady_unix_ns: None,
        };
        let mut readings = Readings::new(&Arc::from("l"), 0);
        meter.conclude(&window, true, &mut readings);
        readings
    }

    #[test]
    fn a_run_shorter_than_the_window_has_its_rate_under_load() {
        // Two seconds before the load and three after it nothing comes.
        let mut lines = vec![0; 3];
        lines.extend([5; 10]);
        lines.extend([0; 3]);
        let (meter, last) = metered(&lines, 600);
        assert_eq!(last.value("l", "best_60s_per_s"), None);
        let said = concluded(&meter, 602, 612);
        for metric in ["best_60s_per_s", "rate_60s_per_s"] {
            assert_eq!(said.value("l", metric), Some(5.0), "{metric}");
        }
        assert_eq!(said.value("l", "best_60s_sum_per_s"), Some(10.0));
        assert!(said.remarks(MISSING_NOTE)[0].contains("10.0 s of the load"));
    }

    #[test]
    fn a_run_with_a_best_minute_says_no_other() {
        let (meter, _) = metered(&[5; 130], 600);
        assert!(concluded(&meter, 602, 728).into_items().is_empty());
    }

    #[test]
    fn one_look_has_no_rate() {
        let (meter, _) = metered(&[5], 600);
        assert!(concluded(&meter, 600, 601).into_items().is_empty());
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

//! A load profile that all threads together follow (Throughput Shaping Timer).
//!
//! Must not know who waits. Invariant: at most as many samples as its rate start in a second, and a fractional
//! rest counts for the next second; missing samples are not made up for.

use crate::profile;

/// Maximum steps of one part of a profile.
const STEPS_MAX: i64 = 100_000;

/// A row of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShapingRow {
    /// Samples per second at its start.
    pub(crate) from: f64,
    /// Samples per second at its end.
    pub(crate) to: f64,
    /// Its duration in seconds.
    pub(crate) lasts_s: f64,
}

impl ShapingRow {
    /// The rows of a profile such as `const(10,1m) line(10,20,30s) step(5,25,5,1h)`.
    pub(crate) fn all_of(profile: &str) -> Vec<ShapingRow> {
        let rows = profile::parts(profile).map(|(word, values)| rows_of(word, &values));
        rows.flat_map(Option::unwrap_or_default).collect()
    }
}

/// The rows of one part of a profile; `None`: invalid.
fn rows_of(word: &str, values: &[&str]) -> Option<Vec<ShapingRow>> {
    let number = |index: usize| values.get(index)?.parse::<i32>().ok();
    let lasts_s = |index: usize| Some(profile::seconds(values.get(index)?)? as f64);
    let row = |from: i32, to: i32, lasts_s: f64| ShapingRow {
        from: f64::from(from),
        to: f64::from(to),
        lasts_s,
    };
    Some(match word.to_ascii_lowercase().as_str() {
        "const" => vec![row(number(0)?, number(0)?, lasts_s(1)?)],
        "line" => vec![row(number(0)?, number(1)?, lasts_s(2)?)],
        "step" => {
            let (from, to, by) = (number(0)?, number(1)?, number(2)?);
            let lasts_s = lasts_s(3)?;
            let is_down = from > to;
            let by = i64::from(if is_down { -by } else { by });
            // As in the plugin, rising steps include the end, falling ones do not.
            let levels = (0..STEPS_MAX).map(|step| i64::from(from) + step * by);
            let levels = levels.take_while(|level| match by > 0 {
                true => *level <= i64::from(to),
                false => *level > i64::from(to),
            });
            levels
                .filter_map(|level| i32::try_from(level).ok())
                .map(|level| row(level, level, lasts_s))
                .collect()
        }
        _ => return None,
    })
}

/// The result for a thread that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shaped {
    /// Its sample starts.
    Go,
    /// It must ask again after this many milliseconds.
    Wait(u64),
    /// The profile is over: its group ends.
    Over,
}

/// The state of a profile.
#[derive(Debug, Default)]
pub(crate) struct Shaping {
    /// When it was first asked, in milliseconds since 1970; `None`: never.
    started_ms: Option<i64>,
    /// The current second, and its rate.
    second: Option<(i64, f64)>,
    /// Samples of this second, plus the excess of the previous one.
    sent: f64,
    /// Slots of this second that are reserved.
    promised: f64,
    /// Waiting threads.
    pub(crate) waiting: u32,
}

/// The result of a second, which is stored in properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShapedSecond {
    /// Samples in the previous second.
    pub(crate) sent: f64,
    /// The rate of the current second.
    pub(crate) rate: f64,
    /// Total duration of all rows, in seconds.
    pub(crate) lasts_s: f64,
}

impl Shaping {
    /// Starts the second of an instant, unless it is the current one: returns the result of the previous one.
    pub(crate) fn begin_second(&mut self, now_ms: i64, rows: &[ShapingRow]) -> ShapedSecond {
        let second = self.second_of(now_ms);
        let rate = rate_in(rows, second as f64 + 0.5);
        let before = self.second.replace((second, rate.unwrap_or(-1.0)));
        let told = ShapedSecond {
            sent: self.sent.max(0.0),
            rate: rate.unwrap_or(-1.0),
            lasts_s: rows.iter().map(|row| row.lasts_s).sum(),
        };
        let left_over = match before {
            Some((earlier, rate)) if earlier + 1 == second => (self.sent - rate).max(0.0),
            _ => 0.0,
        };
        self.sent = left_over.min(1.0);
        self.promised = 0.0;
        told
    }

    /// Whether the second of an instant has not started.
    pub(crate) fn is_new_second(&self, now_ms: i64) -> bool {
        let started_ms = self.started_ms.unwrap_or(now_ms);
        let second = (now_ms - started_ms).div_euclid(1000);
        self.second.is_none_or(|(under_way, _)| under_way != second)
    }

    /// A thread asks whether its sample may start.
    pub(crate) fn ask(&mut self, now_ms: i64) -> Shaped {
        let Some((second, rate)) = self.second else {
            return Shaped::Over;
        };
        if rate < 0.0 {
            return Shaped::Over;
        }
        let started_ms = self.started_ms.unwrap_or(now_ms);
        let into_ms = (now_ms - started_ms - second * 1000).clamp(0, 1000) as f64;
        let interval_ms = 1000.0 / rate;
        // The first sample of a second may be delayed by as much as the previous second was ahead.
        let due_ms = self.sent * interval_ms;
        if due_ms < 1000.0 && into_ms >= due_ms {
            self.sent += 1.0;
            return Shaped::Go;
        }
        // A waiting thread gets its own slot after those before it, until the next second.
        let place = self.sent.max(self.promised);
        self.promised = place + 1.0;
        let until_ms = (place * interval_ms).min(1000.0);
        Shaped::Wait(((until_ms - into_ms).ceil() as u64).clamp(1, 1000))
    }

    fn second_of(&mut self, now_ms: i64) -> i64 {
        let started_ms = *self.started_ms.get_or_insert(now_ms);
        (now_ms - started_ms).div_euclid(1000)
    }
}

/// The rate at a second of the profile; `None`: it is over.
fn rate_in(rows: &[ShapingRow], at_s: f64) -> Option<f64> {
    let mut before_s = 0.0;
    for row in rows {
        if at_s < before_s + row.lasts_s {
            let part = (at_s - before_s) / row.lasts_s;
            return Some((row.from + part * (row.to - row.from)).max(0.0));
        }
        before_s += row.lasts_s;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start times of samples while this many threads do nothing but ask.
    fn starts(rows: &[ShapingRow], threads: usize) -> Vec<i64> {
        let mut shaping = Shaping::default();
        // When each thread asks next, and whether it is waiting.
        let mut asks = vec![(1_000_300_i64, false); threads];
        let mut starts = Vec::new();
        loop {
            let place = (0..threads).min_by_key(|place| asks[*place].0).unwrap_or(0);
            let (now_ms, was_waiting) = asks[place];
            if was_waiting {
                shaping.waiting -= 1;
            }
            if shaping.is_new_second(now_ms) {
                shaping.begin_second(now_ms, rows);
            }
            match shaping.ask(now_ms) {
                Shaped::Over => return starts,
                Shaped::Go => {
                    starts.push(now_ms - 1_000_300);
                    asks[place] = (now_ms + 1, false);
                }
                Shaped::Wait(ms) => {
                    shaping.waiting += 1;
                    asks[place] = (now_ms + ms.cast_signed(), true);
                }
            }
        }
    }

    fn row(from: f64, to: f64, lasts_s: f64) -> ShapingRow {
        ShapingRow { from, to, lasts_s }
    }

    #[test]
    fn counts_are_those_of_the_profile() {
        for (rows, wanted) in [
            (vec![row(20.0, 20.0, 60.0)], 1200.0),
            (vec![row(1.0, 10.0, 60.0)], 330.0),
            (vec![row(2.5, 2.5, 60.0)], 150.0),
            (
                vec![
                    row(100.0, 100.0, 20.0),
                    row(100.0, 0.0, 20.0),
                    row(0.0, 0.0, 10.0),
                    row(300.0, 300.0, 10.0),
                ],
                6000.0,
            ),
            (vec![row(400.0, 400.0, 60.0)], 24_000.0),
        ] {
            for threads in [2, 30] {
                let count = starts(&rows, threads).len() as f64;
                assert!(
                    (count - wanted).abs() <= wanted * 0.01 + 1.0,
                    "{rows:?} with {threads}: {count} of {wanted}"
                );
            }
        }
    }

    #[test]
    fn samples_of_a_second_are_spread_over_it() {
        let found = starts(&[row(10.0, 10.0, 2.0)], 5);
        let wanted: Vec<i64> = (0..20).map(|number| number * 100).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn profiles_are_read_from_a_property() {
        let rows =
            ShapingRow::all_of("const(10,10s) line(1,10,1m) odd(1) step(5,25,10,1h) step(3,1,1,2)");
        let wanted = [
            row(10.0, 10.0, 10.0),
            row(1.0, 10.0, 60.0),
            row(5.0, 5.0, 3600.0),
            row(15.0, 15.0, 3600.0),
            row(25.0, 25.0, 3600.0),
            row(3.0, 3.0, 2.0),
            row(2.0, 2.0, 2.0),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn what_did_not_come_is_not_made_up_for() {
        let mut shaping = Shaping::default();
        let rows = [row(10.0, 10.0, 10.0)];
        shaping.begin_second(0, &rows);
        assert_eq!(shaping.ask(0), Shaped::Go);
        assert!(shaping.is_new_second(5000));
        let second = shaping.begin_second(5000, &rows);
        let told = ShapedSecond {
            sent: 1.0,
            rate: 10.0,
            lasts_s: 10.0,
        };
        assert_eq!(second, told);
        assert_eq!(shaping.ask(5000), Shaped::Go);
        assert_eq!(shaping.ask(5000), Shaped::Wait(100));
    }
}

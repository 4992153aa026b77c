//! bombardier's progress bar.
//!
//! Layout observed from bombardier 2.0.2. Must not know the terminal: its width is an argument. Invariant:
//! never wider than the width given, if that holds the counters.

use std::time::Duration;

use super::{Spec, Stop, go_duration};

/// The line after the bar, including its line end.
pub const DONE: &str = "Done!\n";

/// The progress of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Completed requests, failed ones included.
    pub requests: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Whether the test has ended.
    pub finished: bool,
}

/// The bar as one line without a line end; a width of zero (no terminal) omits the bar itself.
#[must_use]
pub fn progress_bar(spec: &Spec, progress: &Progress, width: usize) -> String {
    let (current, total, counted) = match spec.stop {
        Stop::Requests(total) => (progress.requests.min(total), total, true),
        Stop::Duration(total) => {
            let share = progress.elapsed.as_secs_f64() / total.as_secs_f64().max(1e-9);
            let total = total.as_secs();
            ((share.min(1.0) * total as f64) as u64, total, false)
        }
    };
    let current = if progress.finished { total } else { current };
    let share = if total == 0 {
        1.0
    } else {
        current as f64 / total as f64
    };
    let counters = if counted {
        format!(" {current} / {total} ")
    } else {
        String::new()
    };
    let percent = if counted {
        format!(" {:6.2}%", share * 100.0)
    } else {
        String::new()
    };
    let tail = format!(
        "{percent}{}{}",
        speed(current, progress, counted),
        time(current, total, progress)
    );
    let used = counters.len() + "[]".len() + tail.len();
    format!("{counters}{}{tail}", bar(share, width.saturating_sub(used)))
}

fn bar(share: f64, cells: usize) -> String {
    if cells == 0 {
        return String::new();
    }
    let full = ((share * cells as f64).ceil() as usize).min(cells);
    match full {
        0 => format!("[{}]", "-".repeat(cells)),
        _ if full == cells => format!("[{}]", "=".repeat(cells)),
        _ => format!("[{}>{}]", "=".repeat(full - 1), "-".repeat(cells - full)),
    }
}

fn speed(current: u64, progress: &Progress, counted: bool) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    if !counted || current == 0 || seconds <= 0.0 {
        return String::new();
    }
    format!(" {}/s", (current as f64 / seconds) as u64)
}

/// Time taken when finished, else time left when that is a second or more.
fn time(current: u64, total: u64, progress: &Progress) -> String {
    if progress.finished {
        return format!(
            " {}",
            go_duration(Duration::from_secs(progress.elapsed.as_secs()))
        );
    }
    if current == 0 {
        return String::new();
    }
    let each = progress.elapsed.as_secs_f64() / current as f64;
    let left = (each * (total - current) as f64) as u64;
    let (days, hours) = (left / 86_400, left % 86_400 / 3_600);
    let day_text = if left > 86_400 {
        format!("{days}d")
    } else {
        String::new()
    };
    let hour_text = if left % 86_400 > 3_600 {
        format!("{hours}h")
    } else {
        String::new()
    };
    match left {
        0 => String::new(),
        _ => format!(
            " {day_text}{hour_text}{:02}m{:02}s",
            left % 3_600 / 60,
            left % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bombardier::tests::spec;

    /// Each line as bombardier 2.0.2 showed it on a terminal of 80 columns, and piped.
    #[test]
    fn counted_bars_look_like_bombardiers() {
        let spec = spec(Stop::Requests(30_000));
        let at = |requests, elapsed_ms, finished| Progress {
            requests,
            elapsed: Duration::from_millis(elapsed_ms),
            finished,
        };
        for (progress, width, line) in [
            (
                at(0, 0, false),
                80,
                " 0 / 30000 [-----------------------------------------------------------]   0.00%",
            ),
            (
                at(10_533, 401, false),
                80,
                " 10533 / 30000 [================>------------------------------]  35.11% 26266/s",
            ),
            (
                at(30_000, 1_010, true),
                80,
                " 30000 / 30000 [============================================] 100.00% 29702/s 1s",
            ),
            (
                at(5_000, 401, false),
                0,
                " 5000 / 30000   16.67% 12468/s 00m02s",
            ),
        ] {
            assert_eq!(progress_bar(&spec, &progress, width), line);
        }
    }

    #[test]
    fn timed_bars_look_like_bombardiers() {
        let spec = spec(Stop::Duration(Duration::from_secs(2)));
        let at = |elapsed_ms, finished| Progress {
            requests: 0,
            elapsed: Duration::from_millis(elapsed_ms),
            finished,
        };
        for (progress, line) in [
            (
                at(400, false),
                "[----------------------------------------------------------]",
            ),
            (
                at(1_000, false),
                "[=========================>-------------------------] 00m01s",
            ),
            (
                at(2_001, true),
                "[=======================================================] 2s",
            ),
        ] {
            assert_eq!(progress_bar(&spec, &progress, 60), line);
        }
    }
}

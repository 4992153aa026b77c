//! Rates of completed requests in short windows, for reports that show their spread.
//!
//! Must not know where the counts come from. Invariant: a run has at least one window.

use std::time::Duration;

use loadline_metric::ValueTrend;
use loadline_model::Nanos;

/// Rates of completed requests in short windows, as the plan requests them.
pub(crate) struct Windows {
    pub(crate) every: Duration,
    since: Nanos,
    completed: u64,
    rates: ValueTrend,
}

impl Windows {
    pub(crate) fn new(every: Duration) -> Windows {
        Windows {
            every,
            since: Nanos::ZERO,
            completed: 0,
            rates: ValueTrend::new(),
        }
    }

    pub(crate) fn look(&mut self, now: Nanos, completed: u64) {
        let span = now - self.since;
        if span < self.every {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate for showing")]
        let rate = (completed - self.completed) as f64 / span.as_secs_f64();
        // A window without completions counts too: the mean is that of the run.
        if self.rates.record(rate).is_err() {
            return;
        }
        self.since = now;
        self.completed = completed;
    }

    /// The rates; a run too short for one window counts as one.
    pub(crate) fn finish(mut self, elapsed: Nanos, completed: u64) -> ValueTrend {
        if self.rates.count() == 0 {
            self.every = Duration::ZERO;
            self.since = Nanos::ZERO;
            self.completed = 0;
            self.look(elapsed, completed);
        }
        self.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_shorter_than_a_window_has_one_rate() {
        let windows = || Windows::new(Duration::from_millis(10));
        let short = windows().finish(Nanos(2_000_000), 20);
        assert_eq!((short.count(), short.mean()), (1, Some(10_000.0)));
        assert_eq!(windows().finish(Nanos(2_000_000), 0).mean(), Some(0.0));
        let mut long = windows();
        long.look(Nanos(10_000_000), 50);
        assert_eq!(long.finish(Nanos(12_000_000), 60).count(), 1);
    }

    #[test]
    fn windows_without_an_answer_are_in_the_mean() {
        let mut windows = Windows::new(Duration::from_millis(20));
        // A target that responds every 50 ms, watched for 100 ms.
        for (ms, completed) in [(20, 0), (40, 0), (60, 1), (80, 1), (100, 2)] {
            windows.look(Nanos(ms * 1_000_000), completed);
        }
        let rates = windows.finish(Nanos(100_000_000), 2);
        assert_eq!((rates.count(), rates.mean()), (5, Some(20.0)));
    }
}

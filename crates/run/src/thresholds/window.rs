//! One threshold over a sliding window, such as the last minute, throughout the run.
//!
//! Must not know metrics. Invariants: at most [`PIECES`] + 1 pieces are kept, however long the window; a window
//! is only evaluated if it lies entirely within the run, unless the run was shorter.

use std::collections::VecDeque;
use std::time::Duration;

use loadline_metric::Aggregated;
use loadline_metric::threshold::{Outcome, Threshold};
use loadline_model::Nanos;

/// Maximum number of pieces per window: long windows move in steps of a sixtieth, which limits the memory of a
/// window to sixty distributions.
const PIECES: u64 = 60;

/// The measurements of a part of the window; `None`: nothing.
struct Piece {
    span_ns: u64,
    values: Option<Aggregated>,
}

/// A threshold with a window, and the state to evaluate it.
pub(super) struct Watch {
    length_ns: u64,
    /// Least length of a piece.
    step_ns: u64,
    /// The value of a window without measurements; `None`: it is not evaluated.
    nothing: Option<Aggregated>,
    pieces: VecDeque<Piece>,
    growing: Piece,
    looked: bool,
    latest: Outcome,
    observed: Option<f64>,
    /// The value of the first window that failed.
    failed: Option<f64>,
}

impl Watch {
    /// `nothing` is an empty aggregate of the metric.
    pub(super) fn new(window: Duration, nothing: Aggregated) -> Watch {
        let length_ns = Nanos::from(window).0.max(Nanos::PER_SECOND);
        Watch {
            length_ns,
            step_ns: (length_ns / PIECES).max(1),
            // No request in a minute means a rate of zero; it has no percentile.
            nothing: Some(nothing).filter(|nothing| matches!(nothing, Aggregated::Counter(_))),
            pieces: VecDeque::new(),
            growing: Piece {
                span_ns: 0,
                values: None,
            },
            looked: false,
            latest: Outcome::NoData,
            observed: None,
            failed: None,
        }
    }

    /// Adds the measurements of the next part of the run, and evaluates the window if it moved.
    pub(super) fn add(&mut self, threshold: &Threshold, values: Option<&Aggregated>, span_ns: u64) {
        self.growing.span_ns += span_ns;
        merge(&mut self.growing.values, values);
        if self.growing.span_ns >= self.step_ns {
            self.close_piece();
            if self.span_ns() >= self.length_ns {
                self.look(threshold);
            }
        }
    }

    /// Evaluates the last window, at the end of the run.
    pub(super) fn finish(&mut self, threshold: &Threshold) {
        if self.growing.span_ns > 0 {
            self.close_piece();
        }
        if !self.looked || self.span_ns() >= self.length_ns {
            self.look(threshold);
        }
    }

    /// The outcome of the last evaluated window.
    pub(super) fn latest(&self) -> Outcome {
        self.latest
    }

    /// The value reported with the threshold: that of the first window that failed, otherwise the last.
    pub(super) fn observed(&self) -> Option<f64> {
        self.failed.or(self.observed)
    }

    /// Whether any window failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn close_piece(&mut self) {
        let empty = Piece {
            span_ns: 0,
            values: None,
        };
        let piece = std::mem::replace(&mut self.growing, empty);
        self.pieces.push_back(piece);
        while let Some(oldest) = self.pieces.front()
            && self.span_ns() - oldest.span_ns >= self.length_ns
        {
            self.pieces.pop_front();
        }
    }

    fn span_ns(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.span_ns).sum()
    }

    fn look(&mut self, threshold: &Threshold) {
        self.looked = true;
        let mut values = self.nothing.clone();
        for piece in &self.pieces {
            merge(&mut values, piece.values.as_ref());
        }
        let span = Duration::from_nanos(self.span_ns());
        let evaluation = values
            .as_ref()
            .and_then(|values| threshold.evaluate(values.for_threshold(), span).ok());
        let Some(evaluation) = evaluation else {
            self.latest = Outcome::NoData;
            return;
        };
        self.latest = evaluation.outcome;
        self.observed = evaluation.observed.or(self.observed);
        if evaluation.outcome == Outcome::Failed {
            self.failed = self.failed.or(evaluation.observed);
        }
    }
}

fn merge(into: &mut Option<Aggregated>, more: Option<&Aggregated>) {
    match (into, more) {
        (Some(known), Some(more)) => known.merge(more),
        (into @ None, Some(more)) => *into = Some(more.clone()),
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::{Contains, MetricType};

    use super::*;

    const SECOND: u64 = Nanos::PER_SECOND;

    fn times(ms: &[u64]) -> Option<Aggregated> {
        let mut trend = Aggregated::empty(MetricType::Trend, Contains::Time, true);
        for ms in ms {
            trend.record(*ms as f64, 0).expect("finite");
        }
        (!ms.is_empty()).then_some(trend)
    }

    /// The outcome of a threshold after each second, and whether it failed in the end.
    fn told(text: &str, seconds: &[Option<Aggregated>]) -> (Vec<Outcome>, bool, Option<f64>) {
        let threshold: Threshold = text.parse().expect("a good threshold");
        let window = threshold.window.expect("it has a window");
        let kind = match text.starts_with("rate") {
            true => MetricType::Counter,
            false => MetricType::Trend,
        };
        let mut watch = Watch::new(window, Aggregated::empty(kind, Contains::Time, true));
        let mut outcomes = Vec::new();
        for second in seconds {
            watch.add(&threshold, second.as_ref(), SECOND);
            outcomes.push(watch.latest());
        }
        watch.finish(&threshold);
        (outcomes, watch.has_failed(), watch.observed())
    }

    #[test]
    fn a_spike_is_seen_while_it_is_in_the_window() {
        use Outcome::{Failed, NoData, Passed};
        let run = [&[10][..], &[10], &[900], &[10], &[10], &[10]].map(times);
        let (outcomes, failed, observed) = told("max[2s]<500", &run);
        assert_eq!(outcomes, [NoData, Passed, Failed, Failed, Passed, Passed]);
        assert!(failed);
        assert_eq!(observed, Some(900e6));
    }

    #[test]
    fn a_window_without_a_time_says_nothing_and_one_without_a_count_says_zero() {
        use Outcome::{Failed, NoData, Passed};
        let run = [&[10][..], &[], &[], &[10]].map(times);
        let (outcomes, failed, _) = told("max[2s]<500", &run);
        assert_eq!(outcomes, [NoData, Passed, NoData, Passed]);
        assert!(!failed);
        let mut counter = Aggregated::empty(MetricType::Counter, Contains::Default, false);
        counter.record(5.0, 0).expect("finite");
        let run = [Some(counter.clone()), Some(counter), None, None];
        let (outcomes, failed, observed) = told("rate[2s]>0", &run);
        assert_eq!(outcomes, [NoData, Passed, Passed, Failed]);
        assert_eq!((failed, observed), (true, Some(0.0)));
    }

    #[test]
    fn a_run_shorter_than_the_window_is_looked_at_once() {
        let run = [&[900][..], &[900]].map(times);
        let (outcomes, failed, _) = told("max[1m]<500", &run);
        assert_eq!(outcomes, [Outcome::NoData; 2]);
        assert!(failed);
    }

    #[test]
    fn a_long_window_is_kept_in_sixty_pieces() {
        let threshold: Threshold = "max[1h]<500".parse().expect("a good threshold");
        let nothing = Aggregated::empty(MetricType::Trend, Contains::Time, true);
        let mut watch = Watch::new(Duration::from_secs(3_600), nothing);
        let mut most = 0;
        for second in 0..8_000 {
            let spike = if second == 1_000 { 900 } else { 10 };
            watch.add(&threshold, times(&[spike]).as_ref(), SECOND);
            most = most.max(watch.pieces.len() as u64);
            let whole = second + 1 >= 3_600;
            assert_eq!(watch.looked, whole, "{second}");
        }
        assert_eq!(most, PIECES);
        assert!(watch.has_failed());
        assert_eq!(watch.latest(), Outcome::Passed);
    }
}

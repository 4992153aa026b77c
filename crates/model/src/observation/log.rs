//! Collects what observers report during a run.
//!
//! Must not know who reads it. Invariant: however long the run, a series has at most [`POINTS_MAX`] points;
//! each is the mean of the same number of readings, except the last.

use std::collections::HashMap;

use super::{
    Observations, ObservedSeries, ObserverNote, Phases, Point, ResourceSample, SeriesName,
};

/// Maximum points per series; beyond this, two are merged into one (an hour of seconds).
pub const POINTS_MAX: usize = 3_600;
/// Maximum notes per run: more are a log, not a finding.
pub const NOTES_MAX: usize = 1_000;
/// Maximum series per run, so that a growing metrics page cannot exhaust memory.
pub const SERIES_MAX: usize = 10_000;

/// Everything that observers have reported so far.
#[derive(Debug, Default)]
pub struct ObservationLog {
    places: HashMap<SeriesName, usize>,
    series: Vec<Recording>,
    notes: Vec<ObserverNote>,
    left_out: u64,
    /// Times of the earliest and latest samples; `None` without any.
    reach: Option<(i64, i64)>,
}

/// A series in the making.
#[derive(Clone, Debug)]
struct Recording {
    series: ObservedSeries,
    /// Readings that do not make a full point yet: time, sum and count.
    open: Option<(i64, f64, u32)>,
}

impl ObservationLog {
    /// Adds a sample.
    pub fn add(&mut self, sample: &ResourceSample) {
        let (first, last) = self.reach.unwrap_or((sample.at_ns, sample.at_ns));
        self.reach = Some((first.min(sample.at_ns), last.max(sample.at_ns)));
        match self.place_of(sample) {
            Some(place) => self.series[place].push(Point(sample.at_ns, sample.value)),
            None => self.left_out += 1,
        }
    }

    /// Adds a note.
    pub fn note(&mut self, note: ObserverNote) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(note);
        } else {
            self.left_out += 1;
        }
    }

    /// Times of the earliest and latest samples, in nanoseconds from the start of the run; `None` without any.
    #[must_use]
    pub fn reach(&self) -> Option<(i64, i64)> {
        self.reach
    }

    /// Samples and notes beyond the limits, which were dropped.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Everything so far as data, while the run goes on.
    #[must_use]
    pub fn so_far(&self) -> Observations {
        let series = self.series.iter();
        Observations {
            series: series.map(|one| one.clone().finish()).collect(),
            notes: self.notes.clone(),
            ..Observations::default()
        }
    }

    /// Everything as data. `phases`: the phases of the run.
    #[must_use]
    pub fn finish(self, phases: Option<Phases>) -> Observations {
        Observations {
            series: self.series.into_iter().map(Recording::finish).collect(),
            notes: self.notes,
            phases,
            ..Observations::default()
        }
    }

    fn place_of(&mut self, sample: &ResourceSample) -> Option<usize> {
        let name = SeriesName {
            observer: sample.observer.clone(),
            component: sample.component.clone(),
            metric: sample.metric.clone(),
        };
        if let Some(place) = self.places.get(&name) {
            return Some(*place);
        }
        if self.series.len() >= SERIES_MAX {
            return None;
        }
        let place = self.series.len();
        self.series.push(Recording::new(&name));
        self.places.insert(name, place);
        Some(place)
    }
}

impl Recording {
    fn new(name: &SeriesName) -> Recording {
        let series = ObservedSeries {
            observer: name.observer.to_string(),
            component: name.component.to_string(),
            metric: name.metric.to_string(),
            points: Vec::new(),
            per_point: 1,
            peak: None,
        };
        Recording { series, open: None }
    }

    fn push(&mut self, Point(at_ns, value): Point) {
        let series = &mut self.series;
        if series.peak.is_none_or(|peak| peak.1 < value) {
            series.peak = Some(Point(at_ns, value));
        }
        let (at_sum, sum, readings) = self.open.take().unwrap_or((0, 0.0, 0));
        let open = (at_sum.saturating_add(at_ns), sum + value, readings + 1);
        if open.2 < series.per_point {
            self.open = Some(open);
            return;
        }
        series.points.push(mean(open));
        if series.points.len() >= POINTS_MAX {
            halve(&mut series.points);
            series.per_point *= 2;
        }
    }

    fn finish(mut self) -> ObservedSeries {
        self.series.points.extend(self.open.map(mean));
        self.series
    }
}

fn mean((at_sum, sum, readings): (i64, f64, u32)) -> Point {
    Point(at_sum / i64::from(readings), sum / f64::from(readings))
}

/// Merges each pair of points into their mean; [`POINTS_MAX`] is even, so none is left over.
fn halve(points: &mut Vec<Point>) {
    let joined = points
        .chunks_exact(2)
        .map(|pair| mean((pair[0].0 + pair[1].0, pair[0].1 + pair[1].1, 2)));
    *points = joined.collect();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::observation::{Aggregation, Span};

    fn sample(at_ns: i64, value: f64) -> ResourceSample {
        ResourceSample {
            at_ns,
            observer: Arc::from("o"),
            component: Arc::from("c"),
            metric: Arc::from("m"),
            value,
        }
    }

    proptest! {
        #[test]
        fn points_stay_few_and_their_mean_and_peak_stay_true(readings in 1..20_000_u32, step in 1..7_u32) {
            let mut log = ObservationLog::default();
            let value = |n: u32| f64::from((n * step) % 1_009);
            for n in 0..readings {
                log.add(&sample(i64::from(n), value(n)));
            }
            let seen = log.finish(None);
            let series = &seen.series[0];
            prop_assert!(series.points.len() <= POINTS_MAX);
            let (last, whole) = series.points.split_last().expect("there is a reading");
            let per_point = f64::from(series.per_point);
            let rest = f64::from(readings) - whole.len() as f64 * per_point;
            let sum = whole.iter().map(|point| point.1 * per_point).sum::<f64>() + last.1 * rest;
            let truth: f64 = (0..readings).map(value).sum();
            prop_assert!((sum - truth).abs() <= truth.max(1.0) * 1e-9);
            let most = (0..readings).map(value).fold(0.0, f64::max);
            prop_assert_eq!(series.aggregate(Aggregation::Max, Span::ALL), Some(most));
        }
    }

    #[test]
    fn series_and_notes_beyond_the_limit_are_counted() {
        let mut log = ObservationLog::default();
        for n in 0..=SERIES_MAX {
            let component = Arc::from(n.to_string());
            log.add(&ResourceSample {
                component,
                ..sample(0, 1.0)
            });
        }
        assert_eq!(log.left_out(), 1);
        assert_eq!(log.finish(None).series.len(), SERIES_MAX);
    }
}

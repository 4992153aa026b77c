//! A run's figures without its result, as a long history stores them.
//!
//! Must not know files. Invariant: a record has the same value for a path as the result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use loadline_model::RunResult;
use loadline_model::observation::{Aggregation, Phase, Span};
use serde::{Deserialize, Serialize};

use super::{AggregatedSeries, DISTRIBUTIONS, FIGURES, OF_TIMES, pick, value_of};
use crate::expression::dimension::Dimension;
use crate::expression::path::Path;
use crate::expression::value::{Quantity, Value};

/// One aggregate of one observed series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObservedFigure {
    /// The observer's name.
    pub observer: String,
    /// Which component.
    pub component: String,
    /// What was read.
    pub metric: String,
    /// What was made of the readings.
    pub aggregation: Aggregation,
    /// Of which phase.
    pub phase: Phase,
}

/// Figures of one run by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Amounts in base units with what they measure, by the name behind `run.`.
    pub numbers: BTreeMap<String, (f64, Dimension)>,
    /// Words, by the name behind `run.`.
    pub texts: BTreeMap<String, String>,
    /// What observers saw, in the order in which it was first read.
    pub observed: Vec<(ObservedFigure, f64)>,
}

impl RunFigures {
    /// All figures of a result with a name, and every aggregate of the observations; for a script's metrics
    /// those of the whole test.
    #[must_use]
    pub fn of(run: &RunResult) -> RunFigures {
        let own = FIGURES.iter().map(|figure| figure.name.to_owned());
        let times = DISTRIBUTIONS
            .iter()
            .flat_map(|(prefix, _)| OF_TIMES.map(|what| format!("{prefix}{what}")));
        let metrics = run.summary.iter().flat_map(|summary| &summary.root.metrics);
        let metrics = metrics.flat_map(|metric| {
            let name = metric.key();
            super::OF_METRICS.map(|what| format!("metrics.{name}.{what}"))
        });
        let mut record = RunFigures::default();
        for name in own.chain(times).chain(metrics) {
            record.add(run, name);
        }
        record.add_observed(run);
        record
    }

    /// The values of a few paths in a result: a record no larger than a document needs.
    #[must_use]
    pub fn named(run: &RunResult, paths: &[Path]) -> RunFigures {
        let mut all = RunFigures::default();
        for path in paths {
            if let Path::Run(name) = path {
                all.add(run, name.clone());
            }
        }
        if paths.iter().any(|path| matches!(path, Path::Observe(_))) {
            all.add_observed(run);
            all.observed
                .retain(|(figure, _)| paths.iter().any(|path| figure.suits(path)));
        }
        all
    }

    fn add(&mut self, run: &RunResult, name: String) {
        match value_of(run, &Path::Run(name.clone())) {
            Value::Number(Quantity { amount, dimension }) => {
                self.numbers.insert(name, (amount, dimension));
            }
            Value::Text(text) if !text.is_empty() => {
                self.texts.insert(name, text.into_owned());
            }
            _ => {}
        }
    }

    fn add_observed(&mut self, run: &RunResult) {
        let phases = run.observations.phases;
        for series in &run.observations.series {
            for phase in Phase::ALL {
                let span = phases.map_or(Span::ALL, |phases| phases.span(phase));
                for aggregation in Aggregation::ALL {
                    let figure = ObservedFigure {
                        observer: series.observer.clone(),
                        component: series.component.clone(),
                        metric: series.metric.clone(),
                        aggregation,
                        phase,
                    };
                    let amount = series.aggregate(aggregation, span);
                    self.observed.extend(amount.map(|amount| (figure, amount)));
                }
            }
        }
    }

    /// The value of the path in the record; missing for paths that are not measurements.
    #[must_use]
    pub fn value(&self, path: &Path) -> Value<'_> {
        match path {
            Path::Run(name) => match (self.numbers.get(name), self.texts.get(name)) {
                (Some((amount, dimension)), _) => Value::number(*amount, *dimension),
                (None, Some(text)) => Value::Text(Cow::Borrowed(text)),
                (None, None) => Value::Missing,
            },
            Path::Observe(selector) => {
                let matching = self
                    .observed
                    .iter()
                    .filter(|(figure, _)| figure.suits(path));
                let seen: Vec<AggregatedSeries<'_>> = matching
                    .map(|(figure, amount)| figure.seen(*amount))
                    .collect();
                pick(&seen, selector)
            }
            _ => Value::Missing,
        }
    }
}

impl ObservedFigure {
    /// Whether a path selects this series, aggregation and phase.
    #[must_use]
    pub fn suits(&self, path: &Path) -> bool {
        let Path::Observe(selector) = path else {
            return false;
        };
        selector.aggregation == self.aggregation
            && selector.phase == self.phase
            && selector.observer.takes(&self.observer)
            && selector
                .metric
                .as_ref()
                .is_none_or(|metric| *metric == self.metric)
    }

    /// With an amount.
    #[must_use]
    pub fn seen(&self, amount: f64) -> AggregatedSeries<'_> {
        AggregatedSeries {
            observer: &self.observer,
            component: &self.component,
            metric: &self.metric,
            amount: Some(amount),
        }
    }
}

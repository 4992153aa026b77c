//! Compares results: first the differences between the tests themselves, then their findings, and which
//! differences are more than chance.
//!
//! The other sides are compared with the first one. Nothing here says why two results differ. Must not know
//! files. Invariant: a difference is called real only if the interval of all tests together excludes the
//! alternative.

mod answers;
pub mod condition;
mod differences;
mod estimate;
mod html;
mod json;
mod markdown;
mod measures;
mod numbers;
mod text;
mod verdicts;

use loadline_metric::student;
use loadline_model::RunResult;

pub use condition::{Condition, Crossing};
use differences::Difference;
use estimate::Estimate;
use measures::Measure;
use numbers::Unit;

/// The chance that a comparison of equal things calls any of its rows different.
const LEVEL: f64 = 0.05;

/// One or more runs of the same thing.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Its name in columns.
    pub name: String,
    /// Its runs; repetitions of one another where there are several.
    pub runs: Vec<&'a RunResult>,
}

/// Results compared with the first of them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the sides, and how many runs each has.
    sides: Vec<(String, usize)>,
    differences: Vec<Difference>,
    sections: Vec<Section>,
    basis: Basis,
    /// How many tests of significance were made.
    tests: usize,
}

/// The source of the spread of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// The steady seconds of single runs.
    Seconds,
    /// Whole runs that repeat one another.
    Runs,
}

#[derive(Clone, Debug)]
struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

/// One line of a comparison.
#[derive(Clone, Debug)]
struct Row {
    /// The name for programs and conditions, such as `service_time.p99`.
    id: String,
    label: String,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    Numbers {
        unit: Unit,
        /// One per side; `None` if the run has no such value.
        values: Vec<Option<f64>>,
        /// One for each side but the first.
        changes: Vec<Change>,
    },
    Words(Vec<String>),
}

/// How a side's value compares to the first side's.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// Difference of the values; `None` when one is absent.
    by: Option<f64>,
    /// The result of the test; `None` if there is too little data.
    test: Option<Test>,
}

/// The result of a test of a difference.
#[derive(Clone, Copy, Debug)]
struct Test {
    /// Mean of the first side over the compared values.
    first: f64,
    /// The same of the other.
    second: f64,
    /// Confidence interval of the difference of the means.
    low: f64,
    high: f64,
    /// Share of pairs in which the other is the higher one.
    superiority: f64,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Explained by chance alone.
    Alike,
    Better,
    Worse,
    /// More than chance, but neither direction is better.
    Differs,
}

/// Unit, values and changes of a row.
type Numbers<'c> = (Unit, &'c [Option<f64>], &'c [Change]);

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Higher,
    Lower,
    Neither,
}

/// Compares the sides with the first of them.
///
/// A side without runs has no values.
#[must_use]
pub fn compare(sides: &[Side<'_>]) -> Comparison {
    let basis = match sides.iter().any(|side| side.runs.len() > 1) {
        true => Basis::Runs,
        false => Basis::Seconds,
    };
    let measured = measures::all(sides);
    let tests = measured
        .iter()
        .flat_map(|(_, measures)| measures)
        .map(|measure| {
            let estimates = estimates(measure, sides, basis);
            let pairs = estimates
                .iter()
                .skip(1)
                .filter_map(|other| estimates[0].zip(*other));
            pairs
                .filter(|(first, other)| first.to(other).is_question())
                .count()
        })
        .sum();
    let level = LEVEL / f64::max(tests as f64, 1.0);
    let mut sections: Vec<Section> = measured
        .iter()
        .map(|(title, measures)| Section {
            title,
            rows: measures
                .iter()
                .filter_map(|measure| row(measure, sides, basis, level))
                .collect(),
        })
        .collect();
    sections.extend(verdicts::sections(sides));
    sections.retain(|section| !section.rows.is_empty());
    Comparison {
        sides: sides
            .iter()
            .map(|side| (side.name.clone(), side.runs.len()))
            .collect(),
        differences: differences::of(sides),
        sections,
        basis,
        tests,
    }
}

/// A measure of every side; `None` where no side has it.
fn row(measure: &Measure<'_>, sides: &[Side<'_>], basis: Basis, level: f64) -> Option<Row> {
    let values: Vec<Option<f64>> = sides.iter().map(|side| mean_value(measure, side)).collect();
    if values.iter().all(Option::is_none) {
        return None;
    }
    let estimates = estimates(measure, sides, basis);
    let first = values.first().copied().flatten();
    let changes = (1..sides.len())
        .map(|other| Change {
            by: first.zip(values[other]).map(|(first, other)| other - first),
            test: estimates[0].zip(estimates[other]).and_then(|pair| {
                let samples = [0, other].map(|side| samples(measure, &sides[side], basis));
                Test::of(pair, &samples, measure.better, level)
            }),
        })
        .collect();
    Some(Row {
        id: measure.id.clone(),
        label: measure.label.clone(),
        cells: Cells::Numbers {
            unit: measure.unit,
            values,
            changes,
        },
    })
}

/// The mean over a side's runs; `None` when any of them lacks the value.
fn mean_value(measure: &Measure<'_>, side: &Side<'_>) -> Option<f64> {
    let values: Option<Vec<f64>> = side.runs.iter().map(|run| measure.value_of(run)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The values for the estimates: one for each steady second, or for each run.
fn samples(measure: &Measure<'_>, side: &Side<'_>, basis: Basis) -> Vec<f64> {
    match (basis, side.runs.as_slice()) {
        (Basis::Seconds, [run]) => measure.series_of(run).unwrap_or_default(),
        (Basis::Seconds, _) => Vec::new(),
        (Basis::Runs, runs) => runs
            .iter()
            .filter_map(|run| measure.value_of(run))
            .collect(),
    }
}

/// An estimate for each side with enough data.
fn estimates(measure: &Measure<'_>, sides: &[Side<'_>], basis: Basis) -> Vec<Option<Estimate>> {
    if !measure.is_tested() {
        return vec![None; sides.len()];
    }
    let samples: Vec<Vec<f64>> = sides
        .iter()
        .map(|side| samples(measure, side, basis))
        .collect();
    if basis == Basis::Seconds {
        return samples
            .iter()
            .map(|values| Estimate::of_series(values))
            .collect();
    }
    let own: Vec<Option<Estimate>> = samples
        .iter()
        .map(|values| Estimate::of_independent(values))
        .collect();
    // A single run is assumed to vary like the side with the most data.
    let known = own
        .iter()
        .zip(&samples)
        .filter_map(|(one, of)| Some(((*one)?, of.len())));
    let best = known.max_by_key(|(_, runs)| *runs);
    let filled = own.iter().zip(&samples).map(|(one, values)| {
        let like = || match (values.as_slice(), best) {
            ([value], Some((best, runs))) => Some(Estimate::of_one_like(*value, &best, runs)),
            _ => None,
        };
        one.or_else(like)
    });
    filled.collect()
}

impl Test {
    fn of(
        (first, second): (Estimate, Estimate),
        samples: &[Vec<f64>; 2],
        better: Better,
        level: f64,
    ) -> Option<Test> {
        let difference = first.to(&second);
        if !difference.is_question() {
            return None;
        }
        let reach = match difference.error {
            error if error > 0.0 => student::two_sided_quantile(level, difference.degrees) * error,
            _ => 0.0,
        };
        let (low, high) = (difference.by - reach, difference.by + reach);
        let is_apart = low > 0.0 || high < 0.0;
        Some(Test {
            first: first.mean,
            second: second.mean,
            low,
            high,
            superiority: estimate::superiority(&samples[0], &samples[1])?,
            outcome: match (is_apart, better) {
                (false, _) => Outcome::Alike,
                (true, Better::Neither) => Outcome::Differs,
                (true, Better::Higher) if low > 0.0 => Outcome::Better,
                (true, Better::Lower) if high < 0.0 => Outcome::Better,
                (true, _) => Outcome::Worse,
            },
        })
    }

    /// How large an effect is, by the bounds of Vargha and Delaney (0.56, 0.64, 0.71).
    fn size(&self) -> &'static str {
        match (self.superiority - 0.5).abs() {
            apart if apart < 0.06 => "negligible",
            apart if apart < 0.14 => "small",
            apart if apart < 0.21 => "medium",
            _ => "large",
        }
    }
}

impl Comparison {
    /// The value of a measure on every side, and how each but the first changed.
    fn numbers(&self, id: &str) -> Option<Numbers<'_>> {
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        let found = rows.into_iter().find(|row| row.id == id)?;
        match &found.cells {
            Cells::Numbers {
                unit,
                values,
                changes,
            } => Some((*unit, values, changes)),
            Cells::Words(_) => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

//! Small charts of many runs with common scales: good responses and failures above, p99 below.
//!
//! Must not know suites. Invariant: the same height or time position means the same in all charts.

use loadline_model::RunResult;
use loadline_model::markup::escaped;
use loadline_model::result::Row;

use super::at;
use super::axis::{Axis, Quantity};
use super::chart::{Manner, path_of, push, runs};
use super::content::end_s;
use super::palette::Palette;
use crate::units::{rate, span};

/// Charts of several runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallCharts {
    /// Their common content and scales.
    pub scales: String,
    /// One for each run, as SVG.
    pub charts: Vec<String>,
}

const WIDTH: f64 = 180.0;
const HEIGHT: f64 = 132.0;
/// Top and height of the two parts.
const RATES: (f64, f64) = (14.0, 56.0);
const TIMES: (f64, f64) = (84.0, 40.0);
/// Most points of a line: about as many as there are dots across.
const POINTS_MAX: usize = 60;

type Points = Vec<(f64, Option<f64>)>;

/// The lines of one run.
struct Lines {
    seconds: f64,
    good: Points,
    bad: Points,
    p99: Points,
}

/// Draws small charts; those of runs without rows are empty.
#[must_use]
pub fn small_charts(results: &[&RunResult], palette: &Palette) -> SmallCharts {
    let all: Vec<Lines> = results.iter().map(|result| lines(result)).collect();
    let values = |of: fn(&Lines) -> [&Points; 2]| {
        let points = all
            .iter()
            .flat_map(move |lines| of(lines).into_iter().flatten());
        points.filter_map(|(_, value)| *value)
    };
    let seconds = all.iter().map(|of| of.seconds).fold(0.0, f64::max);
    let rates = values(|of| [&of.good, &of.bad]).fold(0.0, f64::max);
    let rates = Axis::linear(rates, Quantity::Rate);
    let p99 = || values(|of| [&of.p99, &of.p99]);
    let least = p99().fold(f64::INFINITY, f64::min);
    let times = Axis::of_times(
        if least.is_finite() { least } else { 1.0 },
        p99().fold(1.0, f64::max),
    );
    let (low, logarithmic) = match times.is_logarithmic {
        true => (span(times.low), ", logarithmic"),
        false => ("0".to_owned(), ""),
    };
    SmallCharts {
        scales: format!(
            "All charts have the same scales. Above: good responses (filled), and wrong or failed requests (dashed), 0 to \
             {}. Below: p99 of the service time, {} to {}{logarithmic}. Width of a chart: {}.",
            rate(rates.high),
            low,
            span(times.high),
            span(seconds * 1e9)
        ),
        charts: all
            .iter()
            .map(|lines| draw(lines, (seconds, &rates, &times), palette))
            .collect(),
    }
}

fn lines(result: &RunResult) -> Lines {
    let each = result.series.len().div_ceil(POINTS_MAX).max(1);
    let points = |value: &dyn Fn(&[Row], f64) -> Option<f64>| -> Points {
        let groups = result.series.chunks(each).map(|rows| {
            let seconds = rows.iter().map(|row| row.span_ns as f64).sum::<f64>() / 1e9;
            let middle = rows[0].at_ns as f64 / 1e9 + seconds / 2.0;
            (middle, value(rows, seconds))
        });
        groups.collect()
    };
    let per_second = |of: fn(&Row) -> u64| {
        points(&move |rows, seconds| {
            let sum = rows.iter().map(|row| of(row) as f64).sum::<f64>();
            (seconds > 0.0).then(|| sum / seconds)
        })
    };
    let mut bad = per_second(|row| row.outcomes().bad());
    if bad.iter().all(|(_, value)| *value == Some(0.0)) {
        bad.clear();
    }
    Lines {
        seconds: end_s(result),
        good: per_second(|row| row.good),
        bad,
        p99: points(&|rows, _| {
            let times = rows.iter().filter_map(|row| row.service_time_ns);
            times.map(|of| of.p99 as f64).reduce(f64::max)
        }),
    }
}

fn draw(lines: &Lines, (seconds, rates, times): (f64, &Axis, &Axis), palette: &Palette) -> String {
    let highest = |points: &Points| {
        points
            .iter()
            .filter_map(|(_, value)| *value)
            .fold(0.0, f64::max)
    };
    let told = format!(
        "at most {} good responses, {} wrong or failed, p99 at most {}",
        rate(highest(&lines.good)),
        rate(highest(&lines.bad)),
        span(highest(&lines.p99))
    );
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" font-size=\"11\">",
        at(WIDTH),
        at(HEIGHT),
        escaped(&told)
    );
    for ((top, height), text) in [(RATES, rate(rates.high)), (TIMES, span(times.high))] {
        push(
            &mut out,
            format_args!(
                "<path d=\"M0 {}H{}M0 {}H{}\" stroke=\"{}\"/><text x=\"0\" y=\"{}\" fill=\"{}\">{text}</text>",
                at(top),
                at(WIDTH),
                at(top + height),
                at(WIDTH),
                palette.grid,
                at(top - 3.0),
                palette.faint
            ),
        );
    }
    let frame = |axis, part| Frame {
        seconds,
        axis,
        part,
    };
    frame(rates, RATES).line(&mut out, &lines.good, palette.series(0), Manner::Filled);
    frame(rates, RATES).line(&mut out, &lines.bad, palette.series(1), Manner::Dashed);
    frame(times, TIMES).line(&mut out, &lines.p99, palette.series(2), Manner::Solid);
    out.push_str("</svg>");
    out
}

/// The vertical area of the values.
struct Frame<'a> {
    seconds: f64,
    axis: &'a Axis,
    /// Top and height.
    part: (f64, f64),
}

impl Frame<'_> {
    fn line(&self, out: &mut String, points: &Points, colour: &str, manner: Manner) {
        let (top, height) = self.part;
        for run in runs(points) {
            let place = |(second, value): &(f64, f64)| {
                let share = if self.seconds > 0.0 {
                    second / self.seconds
                } else {
                    0.0
                };
                let x = WIDTH * share.clamp(0.0, 1.0);
                (x, top + height * (1.0 - self.axis.place(*value)))
            };
            let mut places: Vec<(f64, f64)> = run.iter().map(place).collect();
            if let [(x, y)] = places[..] {
                places.push((x + 2.0, y));
            }
            let path = path_of(&places);
            let dash = manner.dash();
            push(
                out,
                format_args!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>"
                ),
            );
            if manner == Manner::Filled {
                push(
                    out,
                    format_args!(
                        "<path d=\"{path}V{}H{}z\" fill=\"{colour}\" opacity=\"0.15\"/>",
                        at(top + height),
                        at(places[0].0)
                    ),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::testing;

    #[test]
    fn all_charts_have_the_same_scales() {
        let (slow, fast) = (
            testing::run(30, 100, 90_000_000, 1),
            testing::run(60, 1_000, 250_000, 2),
        );
        let empty = testing::run(0, 0, 1, 1);
        let small = small_charts(&[&slow, &fast, &empty], &Palette::PAGE);
        assert_eq!(small.charts.len(), 3);
        for chart in &small.charts {
            let document = roxmltree::Document::parse(chart).expect("well-formed");
            assert_eq!(document.root_element().tag_name().name(), "svg");
            assert!(
                !chart.contains("NaN") && chart.len() < 6_000,
                "{}",
                chart.len()
            );
        }
        assert!(small.scales.contains("60 s"), "{}", small.scales);
        // The last point of 30 of 60 seconds lies before the middle, and that of all 60 near the right end.
        let end = |chart: &str| -> f64 {
            let path = chart.split("fill=\"none\"").next().unwrap_or_default();
            let last = path.rsplit('L').next().unwrap_or_default();
            let x = last.split(' ').next().unwrap_or_default();
            x.parse().expect("a place")
        };
        assert!((82.0..=90.0).contains(&end(&small.charts[0])));
        assert!((172.0..=180.0).contains(&end(&small.charts[1])));
    }
}

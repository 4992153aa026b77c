//! Several runs in one chart: the same measure of each, in a colour a side.
//!
//! Must not know how runs are compared. Invariant: a side has one colour in all charts, and repetitions
//! share their side's.

use loadline_model::RunResult;
use loadline_model::result::{Percentiles, Row};

use super::axis::Quantity;
use super::chart::{self, Chart, Line, Manner, Panel};
use super::content::{Group, axis_of_times, end_s, groups, label_of_times, panel};
use super::{Drawing, Palette};

/// A run with the name and the number of its side.
pub(crate) struct Overlaid<'r> {
    pub(crate) name: &'r str,
    pub(crate) side: usize,
    pub(crate) run: &'r RunResult,
}

/// Good answers per second, p50 and p99 over time, and the generator's CPU, of all runs together.
pub(crate) fn overlays(runs: &[Overlaid<'_>], palette: &Palette) -> Vec<Drawing> {
    let is_response = runs.iter().all(|of| {
        let mut rows = of.run.series.iter();
        rows.any(|row| row.response_time_ns.is_some())
    });
    let what = match is_response {
        true => "Response time",
        false => "Service time",
    };
    let charts = [
        ("goodput", "Goodput".to_owned(), Some(goodput(runs))),
        (
            "p50",
            format!("{what}, p50 of each second"),
            times(runs, what, |of| of.p50),
        ),
        (
            "p99",
            format!("{what}, p99 of each second"),
            times(runs, what, |of| of.p99),
        ),
        ("cpu", "CPU of the generator".to_owned(), Some(cpu(runs))),
    ];
    let seconds = runs.iter().map(|of| end_s(of.run)).fold(0.0, f64::max);
    let drawn = charts.into_iter().filter_map(|(name, title, panel)| {
        let panel = panel.filter(|_| seconds > 0.0)?;
        let chart = Chart {
            name,
            description: format!("{title}, the runs over one another, each from its own start."),
            title,
            seconds,
            panels: vec![panel],
            shades: Vec::new(),
            marks: Vec::new(),
        };
        Some(Drawing {
            name,
            svg: chart::draw(&chart, palette),
        })
    });
    drawn.collect()
}

fn goodput(runs: &[Overlaid<'_>]) -> Panel {
    let lines = lines(runs, |group| group.per_second(|row| row.good));
    panel("good answers per second", Quantity::Rate, lines)
}

fn cpu(runs: &[Overlaid<'_>]) -> Panel {
    let cores = |row: &Row| Some(row.generator.cpu_cores);
    let lines = lines(runs, |group| group.largest(cores));
    panel("cores", Quantity::Cores, lines)
}

/// A percentile of the response time, or of the service time; `None` without any.
fn times(runs: &[Overlaid<'_>], what: &str, of: fn(&Percentiles) -> u64) -> Option<Panel> {
    let is_response = what.starts_with("Response");
    let value = |row: &Row| {
        let times = match is_response {
            true => row.response_time_ns,
            false => row.service_time_ns,
        };
        times.map(|times| of(&times) as f64)
    };
    let lines = lines(runs, |group| group.largest(value));
    let axis = axis_of_times(&lines)?;
    Some(Panel {
        label: label_of_times(what, &axis),
        axis,
        lines,
    })
}

fn lines(runs: &[Overlaid<'_>], value: impl Fn(&Group<'_>) -> Option<f64>) -> Vec<Line> {
    let mut last = usize::MAX;
    let each = runs.iter().map(|of| {
        // One entry of the legend a side.
        let name = match of.side == last {
            true => String::new(),
            false => of.name.to_owned(),
        };
        last = of.side;
        let points = groups(of.run);
        Line {
            name,
            colour: of.side,
            manner: Manner::Solid,
            points: points
                .iter()
                .map(|group| (group.middle_s(), value(group)))
                .collect(),
        }
    });
    each.collect()
}

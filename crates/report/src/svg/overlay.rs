//! Several runs in one chart: the same measure of each on a common time axis, with a colour and dash pattern
//! per side.
//!
//! Must not know how runs are compared. Invariant: a side has the same colour and dash pattern in all charts,
//! and its repetitions share them.

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

/// Together with the number of colours, no two of twelve sides look alike.
const MANNERS: [Manner; 4] = [
    Manner::Solid,
    Manner::Dashed,
    Manner::Dotted,
    Manner::DashedAndDotted,
];

/// Responses and good responses per second, failures, p50, p90 and p99 over time, and the generator's CPU, of all
/// runs together.
pub(crate) fn overlays(runs: &[Overlaid<'_>], palette: &Palette) -> Vec<Drawing> {
    let is_response = runs.iter().all(|of| {
        let mut rows = of.run.series.iter();
        rows.any(|row| row.response_time_ns.is_some())
    });
    let what = match is_response {
        true => "Response time",
        false => "Service time",
    };
    let times = |name, percentile: &str, of| {
        let title = format!("{what}, {percentile} of each second");
        (name, title, times(runs, what, of))
    };
    let rate = |label, of: fn(&Row) -> u64| {
        let lines = lines(runs, |group| group.per_second(of));
        panel(label, Quantity::Rate, lines, Vec::new())
    };
    let bad = |row: &Row| row.outcomes().bad();
    let has = |of: fn(&Row) -> bool| runs.iter().any(|side| side.run.series.iter().any(of));
    let rates = rate("responses per second", |row| row.completed);
    let rates = has(|row| row.good < row.completed).then_some(rates);
    let failures = has(|row| row.failed > 0 || row.good < row.completed)
        .then(|| rate("wrong or failed requests per second", bad));
    let charts = [
        (
            "goodput",
            "Goodput".to_owned(),
            Some(rate("good responses per second", |row| row.good)),
        ),
        ("rate", "Responses".to_owned(), rates),
        ("bad", "Wrong or failed".to_owned(), failures),
        times("p50", "p50", |of| of.p50),
        times("p90", "p90", |of| of.p90),
        times("p99", "p99", |of| of.p99),
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

fn cpu(runs: &[Overlaid<'_>]) -> Panel {
    let cores = |row: &Row| Some(row.generator.cpu_cores);
    let lines = lines(runs, |group| group.largest(cores));
    panel("cores", Quantity::Cores, lines, Vec::new())
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
    let axis = axis_of_times(&lines, &[])?;
    Some(Panel {
        label: label_of_times(what, &axis),
        axis,
        lines,
        limits: Vec::new(),
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
            manner: MANNERS[of.side % MANNERS.len()],
            points: points
                .iter()
                .map(|group| (group.middle_s(), value(group)))
                .collect(),
        }
    });
    each.collect()
}

//! The output of `loadline sweep`: a line for each load, the table as text, Markdown and CSV, and the
//! conclusions.
//!
//! Must not decide anything. Invariant: all tables have the same rows in the same order.

use std::fmt::Write as _;

use loadline_model::verdict::Limit;
use loadline_report::units;
use loadline_suite::sweep::{Axis, Curve, LoadPoint, NoKnee, Scaling, Usl};

/// The start of a load.
pub(super) fn beginning(axis: Axis, load: f64, (number, of): (usize, usize)) -> String {
    let load = match axis {
        Axis::Rate => units::rate(load),
        Axis::Concurrency => units::counted(load as u64, "virtual user"),
    };
    format!("load {number} of {of}  {load:>9}")
}

/// The measurements of a load, in one line.
pub(super) fn measured(point: &LoadPoint) -> String {
    format!(
        "{}, p50 {}, p99 {}, errors {}",
        units::rate(point.throughput),
        span(point.p50_ns),
        span(point.p99_ns),
        share(point.errors)
    )
}

const HEADS: [&str; 10] = [
    "throughput",
    "goodput",
    "avg",
    "p50",
    "p95",
    "p99",
    "errors",
    "generator",
    "limit",
    "",
];

fn heads(axis: Axis) -> Vec<&'static str> {
    let load: &[&str] = match axis {
        Axis::Rate => &["rate", "offered"],
        Axis::Concurrency => &["VUs"],
    };
    load.iter().chain(&HEADS).copied().collect()
}

fn cells(curve: &Curve, point: &LoadPoint) -> Vec<String> {
    let mut cells = match curve.axis {
        Axis::Rate => vec![
            units::rate(point.load),
            point.offered.map_or_else(|| "-".to_owned(), units::rate),
        ],
        Axis::Concurrency => vec![units::count(point.load as u64)],
    };
    cells.extend([
        units::rate(point.throughput),
        units::rate(point.goodput),
        span(point.avg_ns),
        span(point.p50_ns),
        span(point.p95_ns),
        span(point.p99_ns),
        share(point.errors),
        format!("{:.2} cores", point.generator_cores),
        limit(point.limit).to_owned(),
        note(curve, point).to_owned(),
    ]);
    cells
}

fn note(curve: &Curve, point: &LoadPoint) -> &'static str {
    let is_knee = curve.knee.is_some_and(|knee| knee.load == point.load);
    let leaves = curve
        .departure
        .is_some_and(|departure| departure.from == point.load);
    match (is_knee, leaves) {
        (true, true) => "knee, p99 rises",
        (true, false) => "knee",
        (false, true) => "p99 rises",
        (false, false) => "",
    }
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Target => "target",
        Limit::Network => "network",
        Limit::Generator => "generator",
        Limit::Plan => "plan",
        Limit::Nobody => "nobody",
        Limit::Unknown => "unknown",
    }
}

fn span(ns: Option<u64>) -> String {
    units::span_or_dash(ns.map(|ns| ns as f64))
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), units::percent)
}

/// The table and the conclusions, for a terminal.
pub(super) fn text(curve: &Curve, target: &str) -> String {
    let rows: Vec<Vec<String>> = curve
        .points
        .iter()
        .map(|point| cells(curve, point))
        .collect();
    let heads = heads(curve.axis);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.fold(heads[column].len(), usize::max)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut out = format!("\nLoad curve of {target}\n\n");
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    for row in [heads].iter().chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            push(&mut line, format_args!("  {cell:>width$}"));
        }
        push(&mut out, format_args!("{}\n", line.trim_end()));
    }
    out.push('\n');
    for line in conclusions(curve) {
        push(&mut out, format_args!("  {line}\n"));
    }
    out
}

/// The table and the conclusions, as Markdown.
pub(super) fn markdown(curve: &Curve) -> String {
    let mut out = String::new();
    let heads = heads(curve.axis);
    push(&mut out, format_args!("| {} |\n", heads.join(" | ")));
    let rules: Vec<&str> = heads.iter().map(|_| "---:").collect();
    push(&mut out, format_args!("|{}|\n", rules.join("|")));
    for point in &curve.points {
        push(
            &mut out,
            format_args!("| {} |\n", cells(curve, point).join(" | ")),
        );
    }
    out.push('\n');
    for line in conclusions(curve) {
        push(&mut out, format_args!("- {line}\n"));
    }
    out
}

/// The table as CSV: plain numbers, times in seconds; empty if nothing was measured.
pub(super) fn csv(curve: &Curve) -> String {
    let load = match curve.axis {
        Axis::Rate => "rate_per_s",
        Axis::Concurrency => "virtual_users",
    };
    let mut out = format!(
        "{load},offered_per_s,throughput_per_s,goodput_per_s,avg_s,p50_s,p95_s,p99_s,errors_ratio,generator_cores,limit\n"
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value}"));
    let seconds = |ns: Option<u64>| number(ns.map(|ns| ns as f64 / 1e9));
    for point in &curve.points {
        push(
            &mut out,
            format_args!(
                "{},{},{},{},{},{},{},{},{},{},{}\n",
                point.load,
                number(point.offered),
                point.throughput,
                point.goodput,
                seconds(point.avg_ns),
                seconds(point.p50_ns),
                seconds(point.p95_ns),
                seconds(point.p99_ns),
                number(point.errors),
                point.generator_cores,
                limit(point.limit)
            ),
        );
    }
    out
}

fn conclusions(curve: &Curve) -> Vec<String> {
    if curve.is_without_answer() {
        let why = "no request was answered at any load: check the URL, and that the target runs";
        return vec![why.to_owned()];
    }
    let load = |load: f64| match curve.axis {
        Axis::Rate => units::rate(load),
        Axis::Concurrency => units::counted(load as u64, "virtual user"),
    };
    let mut lines = Vec::new();
    lines.push(match (curve.knee, curve.no_knee) {
        (Some(knee), _) => format!(
            "knee: throughput bends at {} ({})",
            load(knee.load),
            units::rate(knee.throughput)
        ),
        (None, Some(NoKnee::Contradicted { bend, throughput, load: at, measured })) => format!(
            "knee: none; throughput bends at {} ({}), but at {} it was {}: it keeps rising",
            load(bend),
            units::rate(throughput),
            load(at),
            units::rate(measured)
        ),
        (None, Some(NoKnee::TooFew { have })) => format!(
            "knee: none found; give four loads or more at which the generator is not the limit ({} measured)",
            units::count(have as u64)
        ),
        (None, Some(NoKnee::Straight) | None) => {
            "knee: none found; throughput does not bend at these loads".to_owned()
        }
    });
    match (curve.departure, curve.no_knee) {
        (Some(departure), _) => lines.push(format!(
            "p99: rises from {} on, above three times the {} of the lower loads",
            load(departure.from),
            units::span(departure.quiet_ns)
        )),
        // As few say nothing about the p99.
        (None, Some(NoKnee::TooFew { .. })) => {}
        (None, _) => lines.push("p99: stays below three times that of the lower loads".to_owned()),
    }
    match &curve.scaling {
        Some(Scaling::Fitted(usl)) => lines.extend(scaling(usl)),
        Some(Scaling::Refused(refusal)) => {
            lines.push(format!("scalability: no law was fitted: {refusal}"));
        }
        None => {}
    }
    let left_out = curve
        .points
        .iter()
        .filter(|point| !point.is_of_the_target())
        .count() as u64;
    if left_out > 0 {
        lines.push(format!(
            "the generator was the limit at {}: it is left out of the conclusions",
            units::counted(left_out, "load")
        ));
    }
    lines
}

fn scaling(usl: &Usl) -> Vec<String> {
    let worst = usl
        .residuals
        .iter()
        .fold(0.0_f64, |worst, rest| worst.max(rest.abs()));
    let law = format!(
        "scalability: {} for one virtual user, contention {:.4}, coherency {:.6} (R² {:.3}, residuals up to {:.1} %)",
        units::rate(usl.gamma),
        usl.alpha,
        usl.beta,
        usl.r_squared,
        100.0 * worst
    );
    let end = match (usl.peak, usl.limit) {
        (Some(peak), _) => format!(
            "best: {} with {}{}",
            units::rate(peak.throughput),
            units::counted(peak.concurrency.round() as u64, "virtual user"),
            if peak.is_extrapolated {
                ", beyond the measured range"
            } else {
                ""
            }
        ),
        (None, Some(limit)) => format!(
            "best: throughput nears {} and does not fall",
            units::rate(limit)
        ),
        (None, None) => "best: throughput grows with every virtual user".to_owned(),
    };
    vec![law, end]
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(load: f64, throughput: f64, limit: Limit) -> LoadPoint {
        LoadPoint {
            load,
            offered: Some(load),
            throughput,
            goodput: throughput,
            avg_ns: Some(2_100_000),
            p50_ns: Some(2_000_000),
            p95_ns: Some(4_000_000),
            p99_ns: Some(if load > 8.0 { 30_000_000 } else { 5_000_000 }),
            errors: Some(if load > 16.0 { 0.02 } else { 0.0 }),
            generator_cores: 0.25,
            limit,
            headline: String::new(),
        }
    }

    fn curve(axis: Axis) -> Curve {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let mut points: Vec<LoadPoint> = loads
            .map(|load: f64| {
                point(
                    load,
                    100.0 * load / (1.0 + 0.1 * (load - 1.0)),
                    Limit::Target,
                )
            })
            .into();
        points.push(point(64.0, 500.0, Limit::Generator));
        Curve::of(axis, points)
    }

    #[test]
    fn a_sweep_of_users_on_a_terminal() {
        insta::assert_snapshot!(text(&curve(Axis::Concurrency), "http://h/"));
    }

    #[test]
    fn a_sweep_of_rates_as_markdown() {
        insta::assert_snapshot!(markdown(&curve(Axis::Rate)));
    }

    #[test]
    fn nothing_is_concluded_of_a_target_that_answers_nothing() {
        let mut points = curve(Axis::Rate).points;
        points.iter_mut().for_each(|point| {
            (point.throughput, point.errors) = (0.0, Some(1.0));
        });
        let dead = Curve::of(Axis::Rate, points);
        let told = conclusions(&dead);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("no request was answered"), "{told:?}");
        assert!(!curve(Axis::Rate).is_without_answer());
    }

    #[test]
    fn csv_has_plain_numbers_and_empty_cells() {
        let mut one = curve(Axis::Rate);
        one.points.truncate(1);
        one.points[0].p99_ns = None;
        let text = csv(&one);
        assert_eq!(
            text.lines().nth(1),
            Some("1,1,100,100,0.0021,0.002,0.004,,0,0.25,target")
        );
    }
}

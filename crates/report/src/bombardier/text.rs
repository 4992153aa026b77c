//! bombardier's plain-text report.
//!
//! Must not know how figures are made. Invariant: columns are right-aligned ten wide, as in
//! bombardier.

use std::fmt::Write as _;

use loadline_model::RunResult;

use super::Spec;
use super::figures::{self, Figures, SHARES, Statistics};
use super::units::{binary, time_us};

/// The report with its line end: what bombardier prints after its progress.
#[must_use]
pub fn render_text(result: &RunResult, spec: &Spec) -> String {
    let mut out = String::new();
    write_report(result, spec, &mut out).expect("writing to a string cannot fail");
    out
}

fn write_report(result: &RunResult, spec: &Spec, out: &mut String) -> std::fmt::Result {
    let figures = Figures::of(result, spec);
    writeln!(
        out,
        "{:>10} {:>10} {:>10} {:>10}",
        "Statistics", "Avg", "Stdev", "Max"
    )?;
    match figures::rates(&result.totals.window_rates, SHARES) {
        Some(rates) => {
            let (name, mean, stdev, max) = ("Reqs/sec", rates.mean, rates.stdev, rates.max);
            writeln!(out, "  {name:<10} {mean:>10.2} {stdev:>10.2} {max:>10.2}")?;
        }
        None => writeln!(
            out,
            "  There wasn't enough data to compute statistics for requests."
        )?,
    }
    match figures::latencies(&result.totals.seen.service_time(), SHARES) {
        Some(latencies) => write_latencies(&latencies, spec.latencies, out)?,
        None => writeln!(
            out,
            "  There wasn't enough data to compute statistics for latencies."
        )?,
    }
    let [s1, s2, s3, s4, s5] = figures.statuses;
    writeln!(out, "  HTTP codes:")?;
    writeln!(
        out,
        "    1xx - {s1}, 2xx - {s2}, 3xx - {s3}, 4xx - {s4}, 5xx - {s5}"
    )?;
    writeln!(out, "    others - {}", figures.others)?;
    if !figures.errors.is_empty() {
        writeln!(out, "  Errors:")?;
        for (text, count) in &figures.errors {
            writeln!(out, "    {text:>10} - {count}")?;
        }
    }
    writeln!(
        out,
        "  {:<10} {:>10}/s",
        "Throughput:",
        binary(figures.throughput())
    )
}

fn write_latencies(
    latencies: &Statistics<u64>,
    with_distribution: bool,
    out: &mut String,
) -> std::fmt::Result {
    let [mean, stdev, max] = [latencies.mean, latencies.stdev, latencies.max].map(time_us);
    writeln!(out, "  {:<10} {mean:>10} {stdev:>10} {max:>10}", "Latency")?;
    if with_distribution {
        writeln!(out, "  Latency Distribution")?;
        for (share, value) in &latencies.percentiles {
            writeln!(
                out,
                "     {:2.0}% {:>10}",
                share * 100.0,
                time_us(*value as f64)
            )?;
        }
    }
    Ok(())
}

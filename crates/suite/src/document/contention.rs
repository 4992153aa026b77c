//! Other CPU users during a measurement, on the generator's machine and on the service's.
//!
//! Must not know kinds of documents, nor the consequences: the verdict judges. Invariant: only measured values
//! are reported.

use loadline_model::RunResult;
use loadline_model::observation::{Aggregation, Phase, Span};

/// Metrics of machines and control groups that show contention: name, description, and whether it is a share.
const TOLD: [(&str, &str, bool); 5] = [
    ("cpu_cores", "cores busy", false),
    (OF_MACHINES, "runnable tasks", false),
    (PRESSURE, "of the time a task waited for a CPU", true),
    ("cpu_stolen_cores", "cores stolen by the hypervisor", false),
    (THROTTLED, "of its periods stopped by its quota", true),
];
/// What only a machine has.
const OF_MACHINES: &str = "run_queue";
/// What machines and control groups have where the kernel accounts for it.
const PRESSURE: &str = "cpu_pressure_ratio";
/// What only a control group with a quota has.
const THROTTLED: &str = "throttled_ratio";
/// What is known of a node of a cluster, and nothing else; of a pod more is.
const OF_NODES: [&str; 4] = [
    "cpu_cores",
    "cpu_limit_cores",
    "memory_bytes",
    "memory_limit_bytes",
];

/// Of the generator: how long its workers were ready and had no processor, and how long a quota stopped it.
pub(super) fn of_generator(runs: &[&RunResult]) -> Vec<String> {
    let told = [
        (
            range(runs.iter().filter_map(|run| waited(run))),
            "of the time its workers waited for a CPU",
        ),
        (
            range(runs.iter().filter_map(|run| throttled(run))),
            "of the time its quota stopped it",
        ),
    ];
    let told = told.into_iter().filter_map(|(range, what)| {
        // A component that was never delayed has nothing to report.
        let range = range.filter(|(_, most)| *most > 0.0)?;
        Some(format!("{} {what}", shown(range, true)))
    });
    told.collect()
}

/// From observers of machines, nodes and control groups: means over the load, from the lowest run to the highest.
pub(super) fn of_services(runs: &[&RunResult]) -> Vec<String> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for run in runs {
        for series in &run.observations.series {
            let of = (series.observer.as_str(), series.component.as_str());
            let tells = [OF_MACHINES, PRESSURE, THROTTLED].contains(&series.metric.as_str());
            if (tells || is_node(run, of)) && !seen.contains(&of) {
                seen.push(of);
            }
        }
    }
    let told = seen.into_iter().filter_map(|of| {
        let parts: Vec<String> = TOLD
            .iter()
            .filter_map(|(metric, what, is_share)| part(runs, of, metric, what, *is_share))
            .collect();
        (!parts.is_empty()).then(|| format!("{}: {}", of.1, parts.join(", ")))
    });
    told.collect()
}

/// Whether a component is a node of a cluster, as far as is known.
fn is_node(run: &RunResult, of: (&str, &str)) -> bool {
    let series = run.observations.series.iter();
    let own = series.filter(|series| (series.observer.as_str(), series.component.as_str()) == of);
    let metrics: Vec<&str> = own.map(|series| series.metric.as_str()).collect();
    OF_NODES[..2].iter().all(|metric| metrics.contains(metric))
        && metrics.iter().all(|metric| OF_NODES.contains(metric))
}

fn part(
    runs: &[&RunResult],
    of: (&str, &str),
    metric: &str,
    what: &str,
    is_share: bool,
) -> Option<String> {
    let means = runs.iter().filter_map(|run| {
        let span = run
            .observations
            .phases
            .map_or(Span::ALL, |phases| phases.span(Phase::Load));
        let series = run.observations.find(of.0, of.1, metric)?;
        series.aggregate(Aggregation::Avg, span)
    });
    let means = range(means)?;
    // Nothing stolen and nothing stopped is the usual case.
    let is_told = metric == "cpu_cores" || metric == OF_MACHINES || means.1 > 0.0;
    is_told.then(|| format!("{} {what}", shown(means, is_share)))
}

fn waited(run: &RunResult) -> Option<f64> {
    let waited: f64 = run
        .series
        .iter()
        .map(|row| row.generator.run_queue_ns as f64)
        .sum();
    let span: f64 = run.series.iter().map(|row| row.span_ns as f64).sum();
    let workers = f64::from(run.environment.workers.max(1));
    (span > 0.0).then(|| waited / (span * workers))
}

fn throttled(run: &RunResult) -> Option<f64> {
    let throttled = run.totals.throttled_ns? as f64;
    let elapsed = run.totals.elapsed_ns as f64;
    (elapsed > 0.0).then(|| throttled / elapsed)
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| {
        let (least, most) = range.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

fn shown((least, most): (f64, f64), is_share: bool) -> String {
    let number = |value: f64| match is_share {
        true => format!("{:.1} %", 100.0 * value),
        false => format!("{value:.1}"),
    };
    let (least, most) = (number(least), number(most));
    if least == most {
        most
    } else {
        format!("{least} to {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{observe, run};
    use super::*;

    #[test]
    fn ranges_over_runs_are_told_and_what_was_not_measured_is_not() {
        let mut quiet = run(10.0);
        let mut busy = run(10.0);
        busy.environment.workers = 2;
        for row in &mut busy.series {
            row.generator.run_queue_ns = row.span_ns / 2;
        }
        busy.totals.throttled_ns = Some(busy.totals.elapsed_ns / 10);
        for (of, cores) in [(&mut quiet, 0.5), (&mut busy, 1.5)] {
            observe(of, "machine", "machine", "cpu_cores", [cores; 3]);
            observe(of, "machine", "machine", "run_queue", [2.0; 3]);
            observe(of, "machine", "machine", "cpu_stolen_cores", [0.0; 3]);
            observe(of, "service", "service", "cpu_cores", [9.0; 3]);
            for metric in OF_NODES {
                observe(of, "nodes", "worker-1", metric, [cores; 3]);
                observe(of, "pods", "web-1", metric, [cores; 3]);
            }
            observe(of, "pods", "web-1", "restarts", [0.0; 3]);
            observe(of, "group", "group", "cpu_cores", [1.0; 3]);
            observe(of, "group", "group", PRESSURE, [0.25; 3]);
        }
        let runs = [&quiet, &busy];
        assert_eq!(
            of_generator(&runs),
            [
                "0.0 % to 25.0 % of the time its workers waited for a CPU",
                "10.0 % of the time its quota stopped it"
            ]
        );
        assert_eq!(
            of_services(&runs),
            [
                "machine: 0.5 to 1.5 cores busy, 2.0 runnable tasks",
                "worker-1: 0.5 to 1.5 cores busy",
                "group: 1.0 cores busy, 25.0 % of the time a task waited for a CPU",
            ]
        );
        assert_eq!(of_services(&[]), Vec::<String>::new());
    }
}

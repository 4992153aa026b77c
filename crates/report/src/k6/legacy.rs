//! The summary in the layout of k6 before version 1: groups and checks as a tree, then all metrics.
//!
//! Must not know how values were computed. Invariant: every metric has one line.

use loadline_model::TestSummary;
use loadline_model::test_summary::CheckSummary;

use super::paint::Paint;
use super::rows::{Columns, Row};
use super::stats::{Metric, Stats};
use super::text::fails;
use super::{SummaryOptions, order};

/// The summary's text as `textSummary` of the library k6-summary returns it.
pub(super) fn render(summary: &TestSummary, options: &SummaryOptions) -> String {
    let paint = Paint {
        colour: options.colour,
    };
    let root = Stats::of(&summary.root, summary.duration_ns, &options.trend_stats);
    let mut lines = Vec::new();
    section(&root, 5, paint, &mut lines);
    metrics(&root, options, paint, &mut lines);
    lines.join("\n")
}

fn section(stats: &Stats, indent: usize, paint: Paint, lines: &mut Vec<String>) {
    let spaces = " ".repeat(indent);
    for check in &stats.checks {
        lines.extend(check_lines(check, &spaces, paint));
    }
    if !stats.checks.is_empty() {
        lines.push(String::new());
    }
    for (name, group) in &stats.groups {
        lines.push(format!("{spaces}█ {name}"));
        lines.push(String::new());
        section(group, indent + 2, paint, lines);
    }
}

fn check_lines(check: &CheckSummary, spaces: &str, paint: Paint) -> Vec<String> {
    if check.fails == 0 {
        return vec![paint.green(&format!("{spaces}✓ {}", check.name))];
    }
    vec![
        paint.red(&format!("{spaces}✗ {}", check.name)),
        paint.red(&format!("{spaces} {}", fails(check))),
    ]
}

fn metrics(root: &Stats, options: &SummaryOptions, paint: Paint, lines: &mut Vec<String>) {
    let mut shown: Vec<&Metric> = root.metrics.iter().collect();
    shown.sort_by(|a, b| order::compare(&a.key, &b.key));
    let rows: Vec<Row> = shown
        .iter()
        .map(|metric| {
            let (gap, name) = if metric.is_sub_metric {
                ("  ", format!("{{ {} }}", metric.suffix()))
            } else {
                ("", metric.name.clone())
            };
            let lead = format!("   {gap}{} ", mark(metric, paint));
            let unit = options.time_unit;
            Row::of(name, &metric.values, metric.contains, unit).led_by(lead, gap.len())
        })
        .collect();
    let columns = Columns::of(&rows);
    lines.extend(rows.iter().map(|row| columns.line(row, paint)));
}

/// Whether all thresholds of a metric held; a space where it has none.
fn mark(metric: &Metric, paint: Paint) -> String {
    if metric.thresholds.is_empty() {
        return " ".to_owned();
    }
    if metric.thresholds.iter().all(|threshold| threshold.passed) {
        paint.green("✓")
    } else {
        paint.red("✗")
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::{Aggregated, BuiltIn, Gauge, Rate, ValueCounter, ValueTrend};
    use loadline_model::test_summary::{MetricSummary, Section, ThresholdSummary};

    use super::*;
    use crate::k6::{Mode, text};

    fn metric(of: BuiltIn, values: Aggregated, passed: Option<bool>) -> MetricSummary {
        let threshold = |passed| ThresholdSummary {
            source: "rate>0.9".into(),
            observed: None,
            passed,
        };
        MetricSummary {
            definition: of.definition(),
            tags: None,
            suffix: None,
            values,
            thresholds: passed.map(threshold).into_iter().collect(),
        }
    }

    fn check(name: &str, passes: u64, fails: u64) -> CheckSummary {
        CheckSummary {
            name: name.to_owned(),
            first_seen: 0,
            passes,
            fails,
        }
    }

    fn rate(nonzero: u64, total: u64) -> Aggregated {
        let mut rate = Rate::default();
        rate.record_n(nonzero, total);
        Aggregated::Rate(rate)
    }

    fn summary() -> TestSummary {
        let mut requests = ValueCounter::default();
        requests.add(12.0).unwrap();
        let mut vus = Gauge::default();
        vus.set(4.0, 1).unwrap();
        let mut times = ValueTrend::new();
        times.record(2.5).unwrap();
        let duration = Aggregated::Values(times);
        let sub = MetricSummary {
            suffix: Some("name:x".into()),
            ..metric(BuiltIn::HttpReqDuration, duration.clone(), Some(false))
        };
        let outer = Section {
            checks: vec![check("status is 200", 6, 0), check("always fails", 0, 6)],
            groups: vec![("inner".to_owned(), Section::default())],
            ..Section::default()
        };
        TestSummary {
            duration_ns: 31_508_400,
            root: Section {
                metrics: vec![
                    metric(BuiltIn::Vus, Aggregated::Gauge(vus), None),
                    metric(BuiltIn::HttpReqs, Aggregated::Counter(requests), None),
                    metric(BuiltIn::Checks, rate(12, 18), Some(false)),
                    metric(BuiltIn::HttpReqDuration, duration, Some(true)),
                    sub,
                ],
                checks: vec![check("root ok", 6, 0)],
                groups: vec![("outer".to_owned(), outer)],
            },
            ..TestSummary::default()
        }
    }

    #[test]
    fn checks_stand_in_their_groups_and_marks_before_metrics() {
        let options = SummaryOptions {
            mode: Mode::Legacy,
            trend_stats: vec!["avg".parse().unwrap(), "max".parse().unwrap()],
            ..SummaryOptions::default()
        };
        let lines = [
            "     ✓ root ok",
            "",
            "     █ outer",
            "",
            "       ✓ status is 200",
            "       ✗ always fails",
            "        ↳  0% — ✓ 0 / ✗ 6",
            "",
            "       █ inner",
            "",
            "   ✗ checks..............: 66.66% 12 out of 18",
            "   ✓ http_req_duration...: avg=2.5ms max=2.5ms",
            "     ✗ { name:x }........: avg=2.5ms max=2.5ms",
            "     http_reqs...........: 12     380.850821/s",
            "     vus.................: 4      min=4        max=4",
        ];
        assert_eq!(text(&summary(), &options), lines.join("\n"));
    }
}

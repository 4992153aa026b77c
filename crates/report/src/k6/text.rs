//! The summary in k6's compact and full layouts.
//!
//! Measured on k6 v2.2.0. Must not know how values were computed. Invariant: the text only depends on the
//! statistics and the options.

use loadline_metric::Contains;
use loadline_model::TestSummary;
use loadline_model::test_summary::{CheckSummary, ThresholdSummary};

use super::number;
use super::paint::Paint;
use super::rows::{Columns, Row};
use super::stats::{self, Metric, Stats, Values};
use super::{Mode, SummaryOptions, order};

/// The name that k6 gives the scenario of a script that has none.
const DEFAULT_SCENARIO: &str = "default";

/// Blocks of metrics, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Block {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    Websocket,
}

impl Block {
    const ALL: [Block; 8] = [
        Block::Custom,
        Block::Http,
        Block::Execution,
        Block::Network,
        Block::Browser,
        Block::WebVitals,
        Block::Grpc,
        Block::Websocket,
    ];

    fn title(self) -> &'static str {
        match self {
            Block::Custom => "CUSTOM",
            Block::Http => "HTTP",
            Block::Execution => "EXECUTION",
            Block::Network => "NETWORK",
            Block::Browser => "BROWSER",
            Block::WebVitals => "WEB_VITALS",
            Block::Grpc => "GRPC",
            Block::Websocket => "WEBSOCKET",
        }
    }

    /// By how the name begins, so that a metric of the script may fall among k6's own.
    fn of(name: &str) -> Block {
        const BEGINNINGS: &[(&str, Block)] = &[
            ("http_reqs", Block::Http),
            ("http_req_duration", Block::Http),
            ("http_req_failed", Block::Http),
            ("http_req_blocked", Block::Http),
            ("http_req_connecting", Block::Http),
            ("http_req_tls_handshaking", Block::Http),
            ("http_req_sending", Block::Http),
            ("http_req_waiting", Block::Http),
            ("http_req_receiving", Block::Http),
            ("vus", Block::Execution),
            ("iterations", Block::Execution),
            ("iteration_duration", Block::Execution),
            ("dropped_iterations", Block::Execution),
            ("data_sent", Block::Network),
            ("data_received", Block::Network),
            ("browser_web_vital_", Block::WebVitals),
            ("browser_", Block::Browser),
            ("grpc_", Block::Grpc),
            ("ws_", Block::Websocket),
        ];
        let known = BEGINNINGS
            .iter()
            .find(|(beginning, _)| name.starts_with(beginning));
        known.map_or(Block::Custom, |(_, block)| *block)
    }
}

/// Whether a metric, with its sub-metrics, has a line in this layout.
pub(super) fn is_shown(name: &str, mode: Mode) -> bool {
    !(has_no_row(name) || mode != Mode::Full && is_detail(name))
}

/// Shown as checks, or nowhere. Names count by how they begin, as for [`Block::of`].
fn has_no_row(name: &str) -> bool {
    ["checks", "group_duration"]
        .iter()
        .any(|beginning| name.starts_with(beginning))
}

/// Left out of the compact layout: the parts of a request.
fn is_detail(name: &str) -> bool {
    const DETAILS: [&str; 6] = [
        "http_req_blocked",
        "http_req_connecting",
        "http_req_receiving",
        "http_req_sending",
        "http_req_tls_handshaking",
        "http_req_waiting",
    ];
    DETAILS.iter().any(|beginning| name.starts_with(beginning))
}

/// The summary's text as k6's `textSummary` returns it.
pub(super) fn render(summary: &TestSummary, options: &SummaryOptions) -> String {
    let (root, mut scenarios) = stats::of_test(summary, &options.trend_stats);
    let mut writer = Writer {
        out: String::new(),
        options,
        paint: Paint {
            colour: options.colour,
        },
    };
    writer.thresholds(&root);
    writer.section("TOTAL RESULTS");
    writer.results(&root, &root.all_checks(), 0);
    if options.mode == Mode::Full {
        scenarios.sort_by(|(a, _), (b, _)| order::compare(a, b));
        writer.root_groups(&groups_outside_scenarios(&root, &scenarios));
        writer.scenarios(&scenarios);
    }
    writer.out
}

/// The groups that are shown without a scenario: those of a script without scenarios or without the tag of the
/// scenario, and those within the groups that k6 creates for `setup()` and `teardown()`.
fn groups_outside_scenarios(root: &Stats, scenarios: &[(String, Stats)]) -> Vec<(String, Stats)> {
    let of_a_scenario = |name: &str| {
        let mut groups = scenarios.iter().flat_map(|(_, stats)| &stats.groups);
        groups.any(|(other, _)| other == name)
    };
    let lifecycle = |wanted: &'static str| {
        let found = root.groups.iter().filter(move |(name, group)| {
            name == wanted && !group.groups.is_empty() && !of_a_scenario(name)
        });
        found.map(|(name, group)| {
            let within = Stats {
                groups: group.groups.clone(),
                ..Stats::default()
            };
            (name.clone(), within)
        })
    };
    let default = scenarios
        .iter()
        .filter(|(name, _)| name == DEFAULT_SCENARIO)
        .flat_map(|(_, stats)| stats.groups.iter().cloned());
    let is_untold = |name: &str| scenarios.is_empty() && name != "setup" && name != "teardown";
    let untold = root.groups.iter().filter(|(name, _)| is_untold(name));
    lifecycle("setup")
        .chain(default)
        .chain(untold.cloned())
        .chain(lifecycle("teardown"))
        .collect()
}

struct Writer<'a> {
    out: String,
    options: &'a SummaryOptions,
    paint: Paint,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&" ".repeat(4 + 2 * depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    fn section(&mut self, title: &str) {
        let title = self.paint.bold(title);
        self.out.push_str(&format!("\n  █ {title} \n\n"));
    }

    fn thresholds(&mut self, root: &Stats) {
        let mut held: Vec<&Metric> = root
            .metrics
            .iter()
            .filter(|metric| !metric.thresholds.is_empty())
            .collect();
        if held.is_empty() {
            return;
        }
        held.sort_by(|a, b| order::compare(&a.key, &b.key));
        self.section("THRESHOLDS");
        for metric in &held {
            let has_parent =
                metric.is_sub_metric && held.iter().any(|other| other.key == metric.name);
            let depth = usize::from(has_parent);
            let name = metric
                .key
                .get(metric.name.len() * depth..)
                .unwrap_or(&metric.key);
            self.line(depth, name);
            for threshold in &metric.thresholds {
                let text = self.threshold(metric, threshold);
                self.line(depth, &text);
            }
            self.gap();
        }
    }

    fn threshold(&self, metric: &Metric, threshold: &ThresholdSummary) -> String {
        let mark = self
            .paint
            .good_or_bad(threshold.passed, mark(threshold.passed));
        let source = threshold.source.trim();
        // k6 looks for no `!`, so `avg!=2` shows `avg!`, of which it has no value.
        let aggregation = source
            .split(['<', '>', '='])
            .next()
            .unwrap_or(source)
            .trim();
        let observed = self.observed(metric, aggregation, threshold.observed.unwrap_or(0.0));
        format!(
            "{mark} {} {}={}",
            self.paint.white(&format!("'{source}'")),
            self.paint.white(aggregation),
            self.paint.cyan(&observed)
        )
    }

    /// The value beside a threshold: k6 finds it by how the aggregation is written, and shows nothing of a trend where
    /// that is neither among the statistics of the summary nor `p(` with a plain number.
    fn observed(&self, metric: &Metric, aggregation: &str, observed: f64) -> String {
        let shown = |value| number::value(value, metric.contains, self.options.time_unit);
        let has_window = aggregation.ends_with(']');
        match &metric.values {
            Values::Rate { .. } => number::share(observed),
            Values::Counter { .. } if has_window && aggregation.starts_with("count") => {
                shown(observed)
            }
            Values::Counter { count, .. } if aggregation == "count" => shown(*count),
            Values::Counter { .. } if has_window => format!("{}/s", shown(observed)),
            Values::Counter { rate, .. } => format!("{}/s", shown(*rate)),
            Values::Trend(stats)
                if !has_window
                    && !is_plain_percentile(aggregation)
                    && stats.iter().all(|(stat, _)| stat.name() != aggregation) =>
            {
                String::new()
            }
            Values::Gauge { .. } | Values::Trend(_) => shown(observed),
        }
    }

    fn scenarios(&mut self, scenarios: &[(String, Stats)]) {
        let named = scenarios
            .iter()
            .filter(|(name, _)| name != DEFAULT_SCENARIO);
        for (name, stats) in named {
            self.section(&format!("SCENARIO: {name}"));
            self.results(stats, &stats.all_checks(), 0);
            self.groups(&stats.groups, 0);
        }
    }

    fn root_groups(&mut self, groups: &[(String, Stats)]) {
        for (name, stats) in groups {
            self.section(&format!("GROUP: {name}"));
            self.results(stats, &stats.checks, 0);
            self.groups(&stats.groups, 0);
        }
    }

    fn groups(&mut self, groups: &[(String, Stats)], depth: usize) {
        for (name, stats) in groups {
            let title = self.paint.bold(&format!("GROUP: {name}"));
            self.line(depth, &format!("↳ {title} "));
            self.gap();
            self.results(stats, &stats.checks, depth + 1);
            self.groups(&stats.groups, depth + 1);
        }
    }

    /// Checks and metrics of a section.
    fn results(&mut self, stats: &Stats, checks: &[CheckSummary], depth: usize) {
        self.checks(stats, checks, depth);
        let rows = self.rows(stats);
        let all: Vec<Row> = rows.iter().map(|(_, row)| row.clone()).collect();
        let columns = Columns::of(&all);
        for block in Block::ALL {
            let mut of_block = rows.iter().filter(|(at, _)| *at == block).peekable();
            if of_block.peek().is_none() {
                continue;
            }
            let title = self.paint.bold(block.title());
            self.line(depth, &title);
            for (_, row) in of_block {
                let line = columns.line(row, self.paint);
                self.line(depth, &line);
            }
            self.gap();
        }
    }

    fn rows(&self, stats: &Stats) -> Vec<(Block, Row)> {
        let mut shown: Vec<&Metric> = stats
            .metrics
            .iter()
            .filter(|metric| is_shown(&metric.name, self.options.mode))
            .collect();
        shown.sort_by(|a, b| order::compare(&a.key, &b.key));
        let row = |metric: &&Metric| {
            let name = if metric.is_sub_metric {
                format!("  {{ {} }}", metric.suffix())
            } else {
                metric.name.clone()
            };
            (
                Block::of(&metric.name),
                Row::of(
                    name,
                    &metric.values,
                    metric.contains,
                    self.options.time_unit,
                ),
            )
        };
        shown.iter().map(row).collect()
    }

    fn checks(&mut self, stats: &Stats, checks: &[CheckSummary], depth: usize) {
        let Some((passes, fails)) = outcomes(stats, checks) else {
            return;
        };
        let rows = check_rows(passes, fails, stats);
        let columns = Columns::of(&rows);
        for row in &rows {
            let line = columns.line(row, self.paint);
            self.line(depth, &line);
        }
        self.gap();
        for check in checks {
            self.check(check, depth);
        }
        self.gap();
    }

    fn check(&mut self, check: &CheckSummary, depth: usize) {
        let held = check.fails == 0;
        let text = format!("{} {}", mark(held), check.name);
        let text = self.paint.good_or_bad(held, &text);
        self.line(depth, &text);
        if !held {
            let share = self.paint.red(&fails(check));
            // Below the top, k6 adds the indentation of the group a second time.
            self.line(2 * depth + 1, &share);
        }
    }
}

/// `p(95)`, `p(99.9)`: digits, and digits behind a point.
fn is_plain_percentile(aggregation: &str) -> bool {
    let number = aggregation
        .strip_prefix("p(")
        .and_then(|rest| rest.strip_suffix(')'));
    let (whole, fraction) = match number {
        Some(number) => number.split_once('.').unwrap_or((number, "0")),
        None => return false,
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_digits(whole) && is_digits(fraction)
}

fn mark(good: bool) -> &'static str {
    if good { "✓" } else { "✗" }
}

/// How often a check held that did not always.
pub(super) fn fails(check: &CheckSummary) -> String {
    let percent = (100.0 * check.passes as f64 / (check.passes + check.fails) as f64).floor();
    format!(
        "↳  {}% — ✓ {} / ✗ {}",
        number::text(percent),
        check.passes,
        check.fails
    )
}

/// How many checks held and how many did not: from the metric, which exists even without the tag that distinguishes
/// checks, otherwise from the list. `None`: there were none, and no threshold asks for them.
fn outcomes(stats: &Stats, checks: &[CheckSummary]) -> Option<(u64, u64)> {
    match stats.metric("checks").map(|metric| &metric.values) {
        Some(Values::Rate { passes, fails, .. }) => Some((*passes, *fails)),
        _ if checks.is_empty() => None,
        _ => Some((
            checks.iter().map(|check| check.passes).sum(),
            checks.iter().map(|check| check.fails).sum(),
        )),
    }
}

/// The three lines over the list of checks.
fn check_rows(passes: u64, fails: u64, stats: &Stats) -> Vec<Row> {
    let total = passes + fails;
    let share = |part: u64| {
        if total > 0 {
            part as f64 / total as f64
        } else {
            0.0
        }
    };
    let sum = Values::Counter {
        count: total as f64,
        rate: stats.per_second(total as f64),
    };
    let held = Values::Rate {
        passes,
        fails,
        rate: share(passes),
    };
    let failed = Values::Rate {
        passes: fails,
        fails: passes,
        rate: share(fails),
    };
    [
        ("checks_total", sum),
        ("checks_succeeded", held),
        ("checks_failed", failed),
    ]
    .into_iter()
    .map(|(name, values)| Row::of(name.to_owned(), &values, Contains::Default, None))
    .collect()
}

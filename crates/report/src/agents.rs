//! What each agent of a test did, one row each: the same for the terminal and for pages.
//!
//! Must not know layouts. Invariants: shown only if there are several agents; a row has as many cells as the
//! header; counts and rates of the rows add up to those of the whole test.

use loadline_model::result::RunResult;
use loadline_model::{AgentShare, Nanos};

use crate::units::{count, span_or_dash};

/// Maximum agents shown; the JSON result has all.
pub(crate) const AGENTS_MAX: usize = 50;
/// The head of the rows.
pub(crate) const HEAD: [&str; 9] = [
    "agent", "answered", "per s", "failed", "lost", "p50", "p99", "lag p99", "CPU",
];

/// The rows, and how many more there are; none for a test of one agent.
pub(crate) fn rows(result: &RunResult) -> (Vec<[String; HEAD.len()]>, usize) {
    if result.agents.len() < 2 {
        return (Vec::new(), 0);
    }
    let told = result.agents.iter().take(AGENTS_MAX);
    let rows = told.map(|agent| row(agent, result.totals.measured_ns));
    let rest = result.agents.len().saturating_sub(AGENTS_MAX);
    (rows.collect(), rest)
}

fn row(agent: &AgentShare, measured_ns: u64) -> [String; HEAD.len()] {
    let time = |ns: Option<u64>| span_or_dash(ns.map(|ns| ns as f64));
    let outcomes = agent.counts.outcomes();
    let (answered, failed) = (outcomes.completed, outcomes.failed);
    let seconds = measured_ns as f64 / Nanos::PER_SECOND as f64;
    let rate = match seconds > 0.0 {
        true => format!("{:.1}", answered as f64 / seconds),
        false => "-".to_owned(),
    };
    let name = match (&agent.stands_in_for, agent.replaced) {
        (Some(lost), _) => format!("{} (for {lost})", agent.name),
        (None, 0) => agent.name.clone(),
        (None, before) => format!("{} (after {before} lost)", agent.name),
    };
    [
        name,
        count(answered),
        rate,
        count(failed),
        count(agent.counts.lost),
        time(agent.service_time_ns.map(|times| times.p50)),
        time(agent.service_time_ns.map(|times| times.p99)),
        time(agent.lag_p99_ns),
        // The resource use of a process is in its first row.
        span_or_dash((agent.cpu_ns > 0).then_some(agent.cpu_ns as f64)),
    ]
}

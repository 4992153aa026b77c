//! Figures of one agent of a test: `run.agents["NAME"].WHAT`.
//!
//! Must not know how agents are reached. Invariant: a figure of an agent has the same meaning as for the whole
//! run.

use loadline_model::result::Percentiles;
use loadline_model::{AgentShare, RunResult};

use crate::expression::dimension::Dimension;
use crate::expression::value::{Value, ValueKind};

/// What can be asked of an agent.
pub(super) const OF_AGENTS: [&str; 14] = [
    "rps",
    "requests",
    "completed",
    "good",
    "failed",
    "lost",
    "error_rate",
    "p50",
    "p90",
    "p99",
    "response.p50",
    "response.p90",
    "response.p99",
    "lag.p99",
];

/// `NAME.WHAT`; `None` where that is no question.
fn parts(name: &str) -> Option<(&str, &'static str)> {
    let asked = |wanted: &&'static str| {
        let agent = name.strip_suffix(*wanted)?.strip_suffix('.')?;
        (!agent.is_empty()).then_some((agent, *wanted))
    };
    // `response.p99` before `p99`.
    let mut found: Vec<_> = OF_AGENTS.iter().filter_map(asked).collect();
    found.sort_by_key(|(agent, _)| agent.len());
    found.first().copied()
}

pub(super) fn kind_of(name: &str) -> Option<ValueKind> {
    let (_, wanted) = parts(name)?;
    Some(ValueKind::Number(Some(dimension(wanted))))
}

fn dimension(wanted: &str) -> Dimension {
    match wanted {
        "rps" => Dimension::RATE,
        "requests" | "completed" | "good" | "failed" | "lost" | "error_rate" => Dimension::NUMBER,
        _ => Dimension::TIME,
    }
}

pub(super) fn value_of<'a>(run: &RunResult, name: &str) -> Value<'a> {
    let Some((agent, wanted)) = parts(name) else {
        return Value::Missing;
    };
    let mut agents = run.agents.iter();
    let found = agents.find(|known| known.name == agent);
    let amount = found.and_then(|agent| amount(agent, wanted, run.totals.measured_ns));
    amount.map_or(Value::Missing, |amount| {
        Value::number(amount, dimension(wanted))
    })
}

fn amount(agent: &AgentShare, wanted: &str, measured_ns: u64) -> Option<f64> {
    let counts = &agent.counts;
    let outcomes = counts.outcomes();
    let seconds = measured_ns as f64 / 1e9;
    let of = |times: Option<Percentiles>, which: fn(&Percentiles) -> u64| {
        times.as_ref().map(|times| which(times) as f64 / 1e9)
    };
    let (service, response) = (agent.service_time_ns, agent.response_time_ns);
    match wanted {
        "rps" => (seconds > 0.0).then(|| counts.completed as f64 / seconds),
        "requests" => Some(outcomes.done() as f64),
        "completed" => Some(counts.completed as f64),
        "good" => Some(counts.good as f64),
        "failed" => Some(outcomes.failed as f64),
        "lost" => Some(counts.lost as f64),
        "error_rate" => outcomes.error_share(),
        "p50" => of(service, |times| times.p50),
        "p90" => of(service, |times| times.p90),
        "p99" => of(service, |times| times.p99),
        "response.p50" => of(response, |times| times.p50),
        "response.p90" => of(response, |times| times.p90),
        "response.p99" => of(response, |times| times.p99),
        "lag.p99" => agent.lag_p99_ns.map(|ns| ns as f64 / 1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing;

    #[test]
    fn an_agent_is_asked_by_its_name() {
        let mut run = testing::run(10.0);
        let mut vienna = AgentShare {
            name: "vienna.at".to_owned(),
            service_time_ns: Some(Percentiles {
                p99: 2_000_000_000,
                ..Percentiles::default()
            }),
            lag_p99_ns: Some(1_000_000_000),
            ..AgentShare::default()
        };
        vienna.counts.completed = 3;
        vienna.counts.good = 3;
        vienna.counts.failed[0] = 1;
        let mut kyoto = AgentShare {
            name: "kyoto".to_owned(),
            ..AgentShare::default()
        };
        kyoto.counts.completed = 4;
        kyoto.counts.good = 1;
        run.agents = vec![vienna, kyoto];
        let of = |name: &str| value_of(&run, name);
        assert_eq!(of("vienna.at.p99"), Value::number(2.0, Dimension::TIME));
        assert_eq!(of("vienna.at.lag.p99"), Value::number(1.0, Dimension::TIME));
        assert_eq!(
            of("vienna.at.requests"),
            Value::number(4.0, Dimension::NUMBER)
        );
        for (name, share) in [
            ("vienna.at.error_rate", 0.25),
            // A wrong response is an error too.
            ("kyoto.error_rate", 0.75),
        ] {
            assert_eq!(of(name), Value::number(share, Dimension::NUMBER));
        }
        assert_eq!(of("vienna.at.response.p99"), Value::Missing);
        assert_eq!(of("osaka.p99"), Value::Missing);
        assert_eq!(kind_of("p99"), None);
        assert_eq!(kind_of("osaka.walks"), None);
    }
}

//! A row's load for documents: from its command line, or from what was run.
//!
//! Must not know front ends. Invariant: what people wrote is shown as written; a run fills in what they left
//! open.

use std::collections::BTreeMap;

use loadline_model::duration;
use loadline_model::executor::Executor;
use loadline_model::{ArrivalRate, TestPlan};

/// The load of a row, for documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Virtual users.
    pub users: Option<String>,
    /// Length.
    pub duration: Option<String>,
    /// Arrival rate.
    pub rate: Option<String>,
    /// Legs of a ramp, as `5m:300, 60m:300`.
    pub stages: Option<String>,
    /// Requests or iterations.
    pub requests: Option<String>,
    /// Executor.
    pub executor: Option<String>,
}

impl Said {
    /// The properties of a row's plan that a run fills in if people left them open.
    pub const FACTS: [&str; 7] = [
        "short", "users", "duration", "rate", "stages", "requests", "executor",
    ];

    /// The load of an executed plan; for several scenarios only the total of virtual users.
    #[must_use]
    pub fn by_run(plan: &TestPlan) -> Said {
        let users = Some(plan.max_vus().to_string());
        let [scenario] = plan.scenarios.as_slice() else {
            return Said {
                users,
                ..Said::default()
            };
        };
        let executor = &scenario.executor;
        let requests = scenario.planned_iterations().map(|count| count.to_string());
        let length = executor.duration().filter(|_| requests.is_none());
        let rate = executor.peak_rate().map(number);
        Said {
            users,
            duration: length.map(duration::text),
            rate,
            stages: stages(executor),
            requests,
            executor: Some(executor.name().to_owned()),
        }
    }

    /// This, with gaps filled from another.
    #[must_use]
    pub fn or(self, other: Said) -> Said {
        let has_length =
            self.duration.is_some() || self.requests.is_some() || self.stages.is_some();
        let length = |own: Option<String>, other: Option<String>| {
            if has_length { own } else { other }
        };
        Said {
            users: self.users.or(other.users),
            duration: length(self.duration, other.duration),
            rate: self.rate.or(other.rate),
            stages: length(self.stages, other.stages),
            requests: length(self.requests, other.requests),
            executor: self.executor.or(other.executor),
        }
    }

    /// Reads what [`Said::facts`] wrote.
    #[must_use]
    pub fn of_facts(facts: &BTreeMap<String, String>) -> Said {
        let of = |name: &str| facts.get(name).cloned();
        Said {
            users: of("users"),
            duration: of("duration"),
            rate: of("rate"),
            stages: of("stages"),
            requests: of("requests"),
            executor: of("executor"),
        }
    }

    /// As properties of a row's plan, including `short`.
    #[must_use]
    pub fn facts(self) -> BTreeMap<String, String> {
        let short = Some(self.short()).filter(|short| !short.is_empty());
        let values = [
            short,
            self.users,
            self.duration,
            self.rate,
            self.stages,
            self.requests,
            self.executor,
        ];
        let known = Said::FACTS
            .into_iter()
            .zip(values)
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        known.collect()
    }

    /// The short form, such as `u:300, d: 60m` or `s: 5m:300, s: 60m:300`.
    #[must_use]
    pub fn short(&self) -> String {
        if let Some(stages) = &self.stages {
            let legs: Vec<String> = stages
                .split(',')
                .map(|leg| format!("s: {}", leg.trim()))
                .collect();
            return legs.join(", ");
        }
        let parts = [
            self.users.as_ref().map(|users| format!("u:{users}")),
            self.rate.as_ref().map(|rate| format!("r: {rate}")),
            self.requests.as_ref().map(|count| format!("n: {count}")),
            self.duration.as_ref().map(|span| format!("d: {span}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }
}

/// The legs of a ramp with what each leads to.
fn stages(executor: &Executor) -> Option<String> {
    let per_second = |rate: ArrivalRate| number(rate.starts_per_second());
    let legs: Vec<(String, String)> = match executor {
        Executor::RampingVus { stages, .. } => stages
            .iter()
            .map(|stage| (duration::text(stage.duration), stage.target.to_string()))
            .collect(),
        Executor::RampingArrivalRate { stages, .. } => stages
            .iter()
            .map(|stage| (duration::text(stage.duration), per_second(stage.target)))
            .collect(),
        _ => return None,
    };
    let legs: Vec<String> = legs
        .iter()
        .map(|(span, target)| format!("{span}:{target}"))
        .collect();
    Some(legs.join(", "))
}

/// With as many decimals as it has, at most three.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0');
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadline_model::executor::VuStage;

    use super::*;

    fn said(users: &str, duration: &str) -> Said {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Said {
            users: some(users),
            duration: some(duration),
            ..Said::default()
        }
    }

    #[test]
    fn facts_are_read_as_they_were_written() {
        let said = Said {
            stages: Some("5m:300, 1h:300".to_owned()),
            ..said("300", "")
        };
        let facts = said.clone().facts();
        assert_eq!(facts["short"], "s: 5m:300, s: 1h:300");
        assert_eq!(Said::of_facts(&facts), said);
    }

    #[test]
    fn a_run_fills_in_what_was_left_open_and_no_second_length() {
        assert_eq!(said("5", "").or(said("9", "10s")).short(), "u:5, d: 10s");
        let counted = Said {
            requests: Some("100".to_owned()),
            ..Said::default()
        };
        assert_eq!(counted.or(said("9", "10s")).short(), "u:9, n: 100");
    }

    #[test]
    fn legs_are_told_with_where_they_lead() {
        let leg = |seconds, target| VuStage {
            duration: Duration::from_secs(seconds),
            target,
        };
        let executor = Executor::RampingVus {
            start_vus: 1,
            stages: vec![leg(300, 300), leg(3_600, 300)],
            graceful_ramp_down: Duration::ZERO,
        };
        assert_eq!(stages(&executor).as_deref(), Some("5m:300, 1h:300"));
        assert_eq!(
            [100.0, 0.5, 100.0 / 3.0].map(number),
            ["100", "0.5", "33.333"]
        );
    }
}

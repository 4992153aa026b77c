//! From a program of steps to a test plan: how many threads each group has, and when they run.
//!
//! Must not know files. Invariant: a group without a thread has no scenario, and is told of.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_java::numbers::long_or_zero;
use loadline_model::client::TlsPlan;
use loadline_model::plan::{AggregationPlan, StepsBehaviour};
use loadline_model::{Behaviour, ClientPlan, Executor, OnExhausted, Scenario, TestPlan};
use loadline_run::steps::GroupTimes;
use loadline_steps::program::{Group, GroupSchedule, Phase, Program};
use loadline_steps::scope::Scope;
use loadline_steps::text::Text;

/// Evaluates the plan's variables, each element's after those before it.
pub(crate) fn set_variables(program: &Program, scope: &mut Scope<'_>) {
    for element in &program.variables {
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in element {
            let name = name.evaluate(scope).into_owned();
            let value = value.evaluate(scope).into_owned();
            if !values.iter().any(|(known, _)| *known == name) {
                values.push((name, value));
            }
        }
        for (name, value) in values {
            scope.variables.put(name, value);
        }
    }
}

/// The times of every group.
pub(crate) fn times(program: &Program, scope: &mut Scope<'_>) -> Vec<GroupTimes> {
    let mut groups: Vec<GroupTimes> = program
        .groups
        .iter()
        .map(|group| times_of(group, scope))
        .collect();
    let mut stage = 0;
    for phase in [Phase::SetUp, Phase::Main, Phase::TearDown] {
        let of_phase = (0..groups.len()).filter(|index| program.groups[*index].phase == phase);
        let of_phase: Vec<usize> = of_phase.collect();
        for index in &of_phase {
            groups[*index].stage = stage;
            stage += usize::from(program.serialize_groups);
        }
        stage += usize::from(!program.serialize_groups && !of_phase.is_empty());
    }
    groups
}

fn number(text: &Text, scope: &mut Scope<'_>) -> i64 {
    long_or_zero(text.evaluate(scope).trim())
}

fn times_of(group: &Group, scope: &mut Scope<'_>) -> GroupTimes {
    let GroupSchedule::Ramp {
        threads,
        ramp_s,
        loops,
        lifetime,
    } = &group.schedule;
    let threads = u32::try_from(number(threads, scope)).unwrap_or(0);
    let ramp_ms = u64::try_from(number(ramp_s, scope)).unwrap_or(0) * 1000;
    let count = u64::from(threads.max(1));
    let mut times = GroupTimes {
        threads,
        step_ms: (ramp_ms + count / 2) / count,
        loops: u64::try_from(number(loops, scope)).ok(),
        ..GroupTimes::default()
    };
    if let Some((duration, delay)) = lifetime {
        let lasts_s = number(duration, scope);
        times.delay_ms = u64::try_from(number(delay, scope)).unwrap_or(0) * 1000;
        times.lasts_ms = Some(u64::try_from(lasts_s).unwrap_or(0) * 1000);
        if lasts_s <= 0 {
            times.threads = 0;
        }
    }
    times
}

/// The plan of a run.
pub(crate) fn test_plan(program: &Program, times: &[GroupTimes], seed: u64) -> TestPlan {
    let groups = program.groups.iter().zip(times).enumerate();
    let groups = groups.filter(|(_, (_, times))| times.threads > 0);
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (index, (group, times)) in groups {
        let mut name = group.name.clone();
        if scenarios.iter().any(|one| one.name == name) {
            name = format!("{name} ({index})");
        }
        scenarios.push(scenario(name, index, times.threads));
    }
    TestPlan {
        scenarios,
        seed,
        aggregation: AggregationPlan::default(),
        ..TestPlan::without_load(client())
    }
}

/// A thread's whole life is one iteration.
fn scenario(name: String, group: usize, threads: u32) -> Scenario {
    Scenario {
        name,
        start_time: Duration::ZERO,
        executor: Executor::PerVuIterations {
            vus: threads,
            iterations: 1,
            max_duration: None,
        },
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: Duration::ZERO,
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Steps(StepsBehaviour { group }),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    }
}

/// JMeter's client trusts every certificate, and has no limits of its own.
fn client() -> ClientPlan {
    ClientPlan {
        connect_timeout: None,
        request_timeout: None,
        tls: TlsPlan {
            verify: false,
            ..TlsPlan::default()
        },
        ..ClientPlan::default()
    }
}

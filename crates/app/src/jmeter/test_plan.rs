//! From a program of steps to a test plan: how many threads each group has, and when they run.
//!
//! Must not know files. Invariant: a group without threads has no scenario, and is reported.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::client::TlsPlan;
use loadline_model::plan::{AggregationPlan, StepsBehaviour};
use loadline_model::{
    Behaviour, ClientPlan, Executor, OnExhausted, Scenario, TestPlan, ThreadGroup,
};
use loadline_run::steps::GroupTimes;
use loadline_steps::program::{Group, NodeId, Phase, Program};
use loadline_steps::scope::Scope;

use super::group_shape;

/// The node of a group that is the group itself.
const OWN_NODE: NodeId = 0;

/// Properties that are also variables of every plan.
const INSTANTS: [&str; 4] = ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"];

/// Evaluates the plan's variables, each element's after those before it. The plan's own, which come first, do
/// not see these times yet; as in JMeter, what functions in them store in variables is lost.
pub(crate) fn set_variables(program: &Program, scope: &mut Scope<'_>) {
    for (place, element) in program.variables.iter().enumerate() {
        let before = (place == 0).then(|| scope.variables.clone());
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in element {
            let name = name.evaluate(scope).into_owned();
            let value = value.evaluate(scope).into_owned();
            if let Some(before) = &before {
                scope.variables.clone_from(before);
            }
            if !values.iter().any(|(known, _)| *known == name) {
                values.push((name, value));
            }
        }
        if place == 0 {
            set_instants(scope);
        }
        for (name, value) in values {
            scope.variables.put(name, value);
        }
    }
}

fn set_instants(scope: &mut Scope<'_>) {
    for name in INSTANTS {
        if let Some(value) = scope.host.world().property(name) {
            scope.variables.put(name, value);
        }
    }
}

/// Evaluates what JMeter evaluates of scripts as the test starts. What comes of it are properties, files and counts: the
/// variables stay as they are.
pub(crate) fn start_scripts(program: &Program, scope: &mut Scope<'_>) {
    if program.at_start.is_empty() {
        return;
    }
    let variables = scope.variables.clone();
    for text in &program.at_start {
        text.evaluate(scope);
    }
    *scope.variables = variables;
}

/// Evaluates the names of the groups.
pub(crate) fn name_groups(program: &mut Program, scope: &mut Scope<'_>) {
    for group in &mut program.groups {
        if let Some(node) = group.nodes.get(OWN_NODE) {
            group.name = node.name.evaluate(scope).into_owned();
        }
    }
}

/// Names of groups that JMeter does not start because their scheduler is on but has no duration.
pub(crate) fn groups_without_duration(program: &Program, scope: &mut Scope<'_>) -> Vec<String> {
    let groups = program.groups.iter();
    let without = groups.filter(|group| group_shape::is_without_duration(group, scope));
    without.map(|group| group.name.clone()).collect()
}

/// The times of every group.
pub(crate) fn times(program: &Program, scope: &mut Scope<'_>) -> Vec<GroupTimes> {
    let mut groups: Vec<GroupTimes> = program
        .groups
        .iter()
        .map(|group| group_shape::times_of(group, scope))
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

/// Leaves one thread with one loop, started at once, of a group that has threads.
pub(crate) fn cut_to_one_loop(times: &mut GroupTimes) {
    let lasts_ms = match times.shape {
        ThreadGroup::Ramp { lasts_ms, .. } => lasts_ms,
        _ => None,
    };
    times.loops = Some(times.loops.map_or(1, |loops| loops.min(1)));
    times.asks_loops = false;
    times.shape = ThreadGroup::Ramp {
        threads: times.shape.threads_max().min(1),
        delay_ms: 0,
        step_ms: 0,
        lasts_ms,
        leaves_out_late: false,
    };
}

/// The plan of a run.
pub(crate) fn test_plan(program: &Program, times: &[GroupTimes], seed: u64) -> TestPlan {
    let groups = program.groups.iter().zip(times).enumerate();
    let groups = groups.filter(|(_, (_, times))| times.shape.threads_max() > 0);
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (index, (group, times)) in groups {
        let mut name = group.name.clone();
        if scenarios.iter().any(|one| one.name == name) {
            name = format!("{name} ({index})");
        }
        let behaviour = StepsBehaviour {
            group: index,
            sends: group.sends(),
        };
        scenarios.push(scenario(name, behaviour, times.shape.clone()));
    }
    TestPlan {
        scenarios,
        seed,
        aggregation: AggregationPlan::default(),
        ..TestPlan::without_load(client(program))
    }
}

/// A thread's whole life is one iteration, or the work for one arrival.
fn scenario(name: String, behaviour: StepsBehaviour, shape: ThreadGroup) -> Scenario {
    Scenario {
        name,
        start_time: Duration::ZERO,
        on_exhausted: match shape.is_open() {
            true => OnExhausted::Drop,
            false => OnExhausted::Queue,
        },
        executor: Executor::ThreadGroup(shape),
        pacing: None,
        graceful_stop: Duration::ZERO,
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Steps(behaviour),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    }
}

/// JMeter's client trusts every certificate, and has no limits of its own. Each sampler decides whether a
/// connection is kept: the client keeps none if no sampler wants it.
fn client(program: &Program) -> ClientPlan {
    ClientPlan {
        keep_alive: !program.groups.iter().any(Group::sends)
            || program.groups.iter().any(Group::keeps_connections),
        connect_timeout: None,
        request_timeout: None,
        tls: TlsPlan {
            verify: false,
            ..TlsPlan::default()
        },
        ..ClientPlan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the client keeps connections for a plan with these sampler settings.
    fn keeps(samplers: &[bool]) -> bool {
        let sampler = |kept: &bool| {
            format!(
                "<HTTPSamplerProxy testname=\"S\"><boolProp name=\"HTTPSampler.use_keepalive\">{kept}</boolProp>\
                 </HTTPSamplerProxy><hashTree/>"
            )
        };
        let samplers: String = samplers.iter().map(sampler).collect();
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree><ThreadGroup testname=\"T\">\
             <stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup><hashTree>{samplers}</hashTree>\
             </hashTree></hashTree></jmeterTestPlan>"
        );
        let reading = loadline_jmeter::read(&text).expect("a plan");
        client(&reading.program).keep_alive
    }

    #[test]
    fn no_connection_is_kept_where_no_sampler_keeps_one() {
        assert!(!keeps(&[false]));
        assert!(!keeps(&[false, false]));
        assert!(keeps(&[false, true]));
        assert!(keeps(&[]));
    }
}

//! A plan in words: what is sent, by which executor, for how long.
//!
//! Must not know results. Invariant: one line per fact, no empty lines.

use loadline_model::client::Protocol;
use loadline_model::executor::RateStage;
use loadline_model::front_end::is_plan;
use loadline_model::request::RequestTemplate;
use loadline_model::{Behaviour, Executor, Scenario, TestPlan, ThreadGroup};

use crate::units::{count, counted, planned, rate};

/// The requests of a plan: the first one, and the number of further ones.
#[must_use]
pub fn requests(plan: &TestPlan) -> String {
    let mut all = plan
        .scenarios
        .iter()
        .flat_map(|scenario| match &scenario.behaviour {
            Behaviour::Requests(mix) => mix.requests.iter().map(request).collect(),
            Behaviour::Steps(_) => vec![format!("threads of {}", scenario.name)],
            Behaviour::Script(script) => vec![format!("script function {}", script.exec)],
        });
    let Some(shown) = all.next() else {
        return "no request".to_owned();
    };
    match all.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The title of a run: the file that it runs, otherwise the address that it sends to.
///
/// `command`: the words of the command line, which include a plan's file.
#[must_use]
pub fn title(plan: &TestPlan, command: &[String]) -> String {
    let file = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    if let Some(settings) = &plan.script {
        return match settings.script.as_str() {
            "-" => "script from standard input".to_owned(),
            path => file(path),
        };
    }
    let is_steps = |s: &Scenario| matches!(s.behaviour, Behaviour::Steps(_));
    let named = command.iter().find(|word| is_plan(word));
    match named.filter(|_| plan.scenarios.iter().any(is_steps)) {
        Some(path) => file(path),
        None => requests(plan),
    }
}

/// A request in one line.
pub(crate) fn request(request: &RequestTemplate) -> String {
    format!(
        "{} {}{}",
        request.method,
        request.origin,
        request.target.source()
    )
}

/// How the load is generated.
#[must_use]
pub fn load(plan: &TestPlan) -> String {
    let mut parts: Vec<String> = plan.scenarios.iter().map(scenario).collect();
    parts.push(protocol(plan).to_owned());
    if !plan.client.keep_alive {
        parts.push("a new connection for each request".to_owned());
    }
    if !plan.warm_up.is_zero() {
        parts.push(format!(
            "first {} left out as warm-up",
            planned(plan.warm_up)
        ));
    }
    parts.join(", ")
}

fn protocol(plan: &TestPlan) -> &'static str {
    match plan.client.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Negotiate { .. } => "HTTP/2 where offered",
        Protocol::Http2 { .. } => "HTTP/2",
    }
}

/// How the load of one scenario is generated.
pub(crate) fn scenario(scenario: &Scenario) -> String {
    // An iteration of a script may send any number of requests.
    let planned_thing = match scenario.requests() {
        Some(_) => "request",
        None => "iteration",
    };
    let executor = executor(&scenario.executor, planned_thing);
    match scenario.pacing {
        Some(pacing) => format!(
            "{executor}, each starting every {} at most",
            planned(pacing)
        ),
        None => executor,
    }
}

fn executor(executor: &Executor, thing: &str) -> String {
    let lasting = executor
        .duration()
        .map_or_else(String::new, |time| format!(" for {}", planned(time)));
    match executor {
        Executor::ConstantVus { vus, .. } => format!("closed model: {}{lasting}", vus_text(*vus)),
        Executor::ExternallyControlled { vus, max_vus, .. } => {
            format!(
                "closed model: {vus} of {} at first{lasting}",
                vus_text(*max_vus)
            )
        }
        Executor::SharedIterations {
            vus, iterations, ..
        } => {
            format!(
                "closed model: {} share{} {}",
                vus_text(*vus),
                if *vus == 1 { "s" } else { "" },
                counted(*iterations, thing)
            )
        }
        Executor::PerVuIterations {
            vus, iterations, ..
        } => {
            format!(
                "closed model: {}, {} each",
                vus_text(*vus),
                counted(*iterations, thing)
            )
        }
        Executor::RampingVus {
            start_vus, stages, ..
        } => {
            let legs = stages
                .iter()
                .map(|s| format!("{} in {}", s.target, planned(s.duration)));
            format!("closed model: VUs from {start_vus} to {}", joined(legs))
        }
        Executor::ConstantArrivalRate {
            rate: arrivals,
            iterations,
            max_vus,
            ..
        } => {
            let requests =
                iterations.map_or_else(String::new, |n| format!(", {}", counted(n, thing)));
            let arrivals = rate(arrivals.starts_per_second());
            format!(
                "open model: {arrivals}{lasting}{requests}, up to {}",
                vus_text(*max_vus)
            )
        }
        Executor::RampingArrivalRate {
            start_rate,
            stages,
            max_vus,
            ..
        } => format!(
            "open model: from {} to {}, up to {}",
            rate(start_rate.starts_per_second()),
            rates(stages),
            vus_text(*max_vus)
        ),
        Executor::ThreadGroup(group) => thread_group(group),
    }
}

fn thread_group(group: &ThreadGroup) -> String {
    let threads = counted(u64::from(group.threads_max()), "thread");
    match group.is_open() {
        true => format!("open model: up to {threads}, as the plan's group starts them"),
        false => format!("closed model: {threads}"),
    }
}

fn rates(stages: &[RateStage]) -> String {
    joined(stages.iter().map(|stage| {
        let target = rate(stage.target.starts_per_second());
        format!("{target} in {}", planned(stage.duration))
    }))
}

fn vus_text(vus: u32) -> String {
    if vus == 1 {
        "1 VU".to_owned()
    } else {
        format!("{} VUs", count(u64::from(vus)))
    }
}

/// The first and last few legs of a ramp.
fn joined(legs: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let legs: Vec<String> = legs.collect();
    if legs.len() <= SHOWN {
        return legs.join(", then ");
    }
    let left_out = legs.len() - SHOWN;
    let shown = [&legs[..SHOWN - 1], &legs[legs.len() - 1..]].concat();
    format!(
        "{} ({left_out} stages between not shown)",
        shown.join(", then ")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use loadline_model::OnExhausted;
    use loadline_model::plan::{ScriptBehaviour, StepsBehaviour};
    use loadline_model::thread_group::{ArrivalCourse, Arrivals};

    use super::*;

    fn of(behaviour: Behaviour, executor: Executor) -> String {
        scenario(&Scenario {
            name: "s".to_owned(),
            start_time: Duration::ZERO,
            executor,
            on_exhausted: OnExhausted::Drop,
            pacing: None,
            graceful_stop: Duration::ZERO,
            queue_grace: Duration::ZERO,
            behaviour,
            checks: Vec::new(),
            tags: BTreeMap::new(),
        })
    }

    #[test]
    fn what_a_script_is_asked_for_are_iterations() {
        let script = Behaviour::Script(ScriptBehaviour {
            exec: "default".to_owned(),
            env: BTreeMap::new(),
        });
        let shared = Executor::SharedIterations {
            vus: 2,
            iterations: 10,
            max_duration: None,
        };
        assert_eq!(
            of(script, shared),
            "closed model: 2 VUs share 10 iterations"
        );
    }

    #[test]
    fn threads_of_a_plan_are_started_by_its_group() {
        let steps = || {
            Behaviour::Steps(StepsBehaviour {
                group: 0,
                sends: true,
            })
        };
        let ramp = ThreadGroup::Ramp {
            threads: 5,
            delay_ms: 0,
            step_ms: 0,
            lasts_ms: None,
            leaves_out_late: false,
        };
        let closed = of(steps(), Executor::ThreadGroup(ramp));
        assert_eq!(closed, "closed model: 5 threads");
        let arrivals = ThreadGroup::Arrivals(Arrivals {
            course: ArrivalCourse::FreeForm { legs: Vec::new() },
            limit: None,
            threads_max: 9,
            reuses_threads: true,
        });
        let open = of(steps(), Executor::ThreadGroup(arrivals));
        assert!(open.starts_with("open model: up to 9 threads"), "{open}");
    }
}

//! Converts the raw form of a component to its plan: ranges and defaults.
//!
//! It must not know the other components; references are checked in [`super::graph`]. Invariant: a default is
//! only written here and in `docs/target/testbed.md`.

use super::error::{Problem, problem};
use super::raw::{
    Count, Number, RawAutoscaler, RawBalancer, RawGateway, RawKind, RawLog, RawMemory, RawNetwork,
    RawQueue, RawRoute, RawService, RawSlow, RawWarmUp, Text,
};
use super::values::{law, size, time, time_or, with_way_out, within};
use crate::testbed::part::LineTemplate;
use crate::testbed::plan::{
    AutoscalerPlan, BalancerPlan, ComponentKind, ComponentPlan, GatewayPlan, GatewayRoute, LogPlan,
    MemoryPlan, NetworkPlan, Policy, QueuePlan, ServicePlan, SlowPlan, WarmUpPlan,
};
use loadline_yaml::Placed;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most processes of one component.
pub(crate) const REPLICAS_MAX: u32 = 64;
/// Threads that burn CPU in one process, where requests cost CPU.
const BURNING_WORKERS_MAX: u32 = 256;
/// What an empty answer says where the file does not.
const EMPTY_BODY: &str = r#"{"categories":null,"scores":null,"top":null}"#;
/// A line of a service's log where the file does not say.
const REQUEST_LINE: &str = "{time} {component}-{replica} {method} {path} {status} {elapsed_ms}ms";
/// A line of an acknowledgement log where the file does not say.
const ACK_LINE: &str = "{time} acked {count}";
/// A process that ended is started again after this, where the file does not say.
const RESTART_AFTER: Duration = Duration::from_secs(1);

/// One component; files that are read are looked for in `folder`.
pub(super) fn component(
    name: &str,
    raw: &Placed<RawKind>,
    folder: &Path,
) -> Result<ComponentPlan, Problem> {
    check_name(name, raw)?;
    let mut plan = match &raw.value {
        RawKind::Service(raw) => service(raw, folder),
        RawKind::Gateway(gateway) => self::gateway(gateway, raw),
        RawKind::Balancer(raw) => balancer(raw),
        RawKind::Queue(queue) => self::queue(queue, raw),
        RawKind::Autoscaler(raw) => autoscaler(raw),
        RawKind::Network(raw) => network(raw),
    }?;
    plan.name = name.to_owned();
    Ok(plan)
}

fn check_name(name: &str, raw: &Placed<RawKind>) -> Result<(), Problem> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if (1..=63).contains(&name.len()) && name.chars().all(legal) {
        return Ok(());
    }
    let text = format!("component {name:?}; name it with at most 63 of a-z, 0-9, - and _");
    Err(problem(raw, text))
}

/// A component with what most have in common left at its defaults.
fn plain(
    kind: ComponentKind,
    port: Option<&Placed<u16>>,
    restart: &Text,
) -> Result<ComponentPlan, Problem> {
    let never = restart.as_ref().is_some_and(|text| text.value == "never");
    let restart_after = if never {
        None
    } else {
        Some(time_or(restart.as_ref(), "restart", RESTART_AFTER)?)
    };
    Ok(ComponentPlan {
        name: String::new(),
        replicas: 1,
        port: port.map_or(0, |port| port.value),
        https: None,
        start_delay: Duration::ZERO,
        restart_after,
        kind,
    })
}

fn service(raw: &RawService, folder: &Path) -> Result<ComponentPlan, Problem> {
    let cpu = time_or(raw.cpu.as_ref(), "cpu", Duration::ZERO)?;
    let time = law(raw.time.as_ref())?;
    let (workers_max, workers) = if cpu.is_zero() {
        (crate::queueing::SERVERS_MAX, 1_000)
    } else {
        (BURNING_WORKERS_MAX, 16)
    };
    let kind = ServicePlan {
        time,
        workers: within(raw.workers.as_ref(), "workers", 1..=workers_max, workers)?,
        room: room(&raw.queue)?,
        cpu,
        memory: memory(raw.memory.as_ref())?,
        failing: share(&raw.failing, "failing")?,
        fail_status: within(raw.fail_status.as_ref(), "fail_status", 400..=599, 500)?,
        empty: share(&raw.empty, "empty")?,
        empty_body: raw
            .empty_body
            .clone()
            .unwrap_or_else(|| EMPTY_BODY.to_owned()),
        routes: routes_file(&raw.routes, folder)?,
        log: log(raw.log.as_ref(), REQUEST_LINE)?,
        slow: raw.slow.as_ref().map(slow).transpose()?,
        warm_up: raw.warm_up.as_ref().map(warm_up).transpose()?,
    };
    let mut plan = plain(
        ComponentKind::Service(Box::new(kind)),
        raw.port.as_ref(),
        &raw.restart,
    )?;
    plan.replicas = within(raw.replicas.as_ref(), "replicas", 0..=REPLICAS_MAX, 1)?;
    plan.https = raw.https.as_ref().map(|port| port.value);
    plan.start_delay = time_or(raw.start_delay.as_ref(), "start_delay", Duration::ZERO)?;
    Ok(plan)
}

fn room(raw: &Count) -> Result<u32, Problem> {
    within(raw.as_ref(), "queue", 0..=crate::queueing::ROOM_MAX, 10_000)
}

fn share(raw: &Number, key: &str) -> Result<f64, Problem> {
    within(raw.as_ref(), key, 0.0..=1.0, 0.0)
}

fn routes_file(raw: &Text, folder: &Path) -> Result<Option<PathBuf>, Problem> {
    let Some(raw) = raw else { return Ok(None) };
    let path = folder.join(&raw.value);
    // Read here already, so that its mistakes are told once and not by each process.
    crate::routes::RouteTable::read(&path)
        .map(|_| Some(path))
        .map_err(|error| {
            let why = with_way_out(
                &error.to_string(),
                "docs/target/README.md describes the file",
            );
            problem(raw, format!("routes: {why}"))
        })
}

fn memory(raw: Option<&RawMemory>) -> Result<MemoryPlan, Problem> {
    let Some(raw) = raw else {
        return Ok(MemoryPlan::default());
    };
    let plan = MemoryPlan {
        base: size(raw.base.as_ref(), "base")?.unwrap_or(0),
        per_request: size(raw.per_request.as_ref(), "per_request")?.unwrap_or(0),
        leak: size(raw.leak.as_ref(), "leak")?.unwrap_or(0),
        cap: size(raw.cap.as_ref(), "cap")?,
    };
    match (&raw.cap, plan.cap) {
        (Some(text), Some(cap)) if cap < plan.base.saturating_add(32_000_000) => {
            let text = format!(
                "cap: {:?} is less than base and what the process itself needs; write at least base + 32MB",
                text.value
            );
            Err(Problem {
                at: raw.cap.as_ref().and_then(|cap| cap.at),
                text,
            })
        }
        _ => Ok(plan),
    }
}

fn log(raw: Option<&RawLog>, default: &str) -> Result<Option<LogPlan>, Problem> {
    let Some(raw) = raw else { return Ok(None) };
    let template = raw.template.as_ref().map_or(default, |text| &text.value);
    if let (Err(why), Some(at)) = (LineTemplate::parse(template), &raw.template) {
        return Err(problem(at, format!("template: {why}")));
    }
    Ok(Some(LogPlan {
        file: PathBuf::from(&raw.file.value),
        template: template.to_owned(),
    }))
}

fn factor(raw: &Placed<f64>) -> Result<f64, Problem> {
    within(Some(raw), "factor", 0.01..=1_000.0, 1.0)
}

fn slow(raw: &RawSlow) -> Result<SlowPlan, Problem> {
    Ok(SlowPlan {
        replica: within(Some(&raw.replica), "replica", 0..=REPLICAS_MAX - 1, 0)?,
        factor: factor(&raw.factor)?,
    })
}

fn warm_up(raw: &RawWarmUp) -> Result<WarmUpPlan, Problem> {
    Ok(WarmUpPlan {
        factor: factor(&raw.factor)?,
        time: time_or(Some(&raw.time), "time", Duration::ZERO)?,
    })
}

fn gateway(raw: &RawGateway, at: &Placed<RawKind>) -> Result<ComponentPlan, Problem> {
    let cpu = time_or(raw.cpu.as_ref(), "cpu", Duration::ZERO)?;
    let cpu_per_kb = time_or(raw.cpu_per_kb.as_ref(), "cpu_per_kb", Duration::ZERO)?;
    let mut routes = Vec::new();
    for route in &raw.routes {
        routes.push(gateway_route(route, raw, (cpu, cpu_per_kb))?);
    }
    if let Some(to) = &raw.to {
        routes.push(GatewayRoute {
            path: "/".to_owned(),
            to: to.value.clone(),
            rewrite: None,
            cpu,
            cpu_per_kb,
        });
    }
    if routes.is_empty() {
        return Err(problem(
            at,
            "gateway: it leads nowhere; give it to: or routes:",
        ));
    }
    let kind = GatewayPlan {
        workers: within(raw.workers.as_ref(), "workers", 1..=BURNING_WORKERS_MAX, 1)?,
        room: room(&raw.queue)?,
        routes,
        memory: memory(raw.memory.as_ref())?,
    };
    let mut plan = plain(
        ComponentKind::Gateway(kind),
        raw.port.as_ref(),
        &raw.restart,
    )?;
    plan.replicas = within(raw.replicas.as_ref(), "replicas", 0..=REPLICAS_MAX, 1)?;
    plan.https = raw.https.as_ref().map(|port| port.value);
    plan.start_delay = time_or(raw.start_delay.as_ref(), "start_delay", Duration::ZERO)?;
    Ok(plan)
}

fn gateway_route(
    raw: &RawRoute,
    gateway: &RawGateway,
    (cpu, cpu_per_kb): (Duration, Duration),
) -> Result<GatewayRoute, Problem> {
    for path in [Some(&raw.path), raw.rewrite.as_ref()]
        .into_iter()
        .flatten()
    {
        if !path.value.starts_with('/') {
            let text = format!("path {:?}; begin it with \"/\"", path.value);
            return Err(problem(path, text));
        }
    }
    let to = raw.to.as_ref().or(gateway.to.as_ref());
    let to = to.ok_or_else(|| problem(&raw.path, "this route leads nowhere; give it to:"))?;
    Ok(GatewayRoute {
        path: raw.path.value.clone(),
        to: to.value.clone(),
        rewrite: raw.rewrite.as_ref().map(|text| text.value.clone()),
        cpu: time_or(raw.cpu.as_ref(), "cpu", cpu)?,
        cpu_per_kb: time_or(raw.cpu_per_kb.as_ref(), "cpu_per_kb", cpu_per_kb)?,
    })
}

fn balancer(raw: &RawBalancer) -> Result<ComponentPlan, Problem> {
    let word = raw
        .policy
        .as_ref()
        .map_or("round-robin", |policy| &policy.value);
    let pattern = raw.pattern.as_ref().map(|pattern| pattern.value.clone());
    let policy = match (word, &raw.policy) {
        ("round-robin", _) => Policy::RoundRobin,
        ("least-connections", _) => Policy::LeastConnections,
        ("pinned", _) => Policy::Pinned(pattern.unwrap_or_default()),
        (other, at) => {
            let text = format!("policy: {other:?}; write round-robin, least-connections or pinned");
            return Err(Problem {
                at: at.as_ref().and_then(|at| at.at),
                text,
            });
        }
    };
    let per_request = match raw
        .level
        .as_ref()
        .map(|level| (level, level.value.as_str()))
    {
        None | Some((_, "tcp")) => false,
        Some((level, "http")) if matches!(policy, Policy::Pinned(_)) => {
            let text = "level: only connections can be pinned; write tcp, or another policy";
            return Err(problem(level, text));
        }
        Some((_, "http")) => true,
        Some((level, other)) => {
            return Err(problem(
                level,
                format!("level: {other:?}; write tcp or http"),
            ));
        }
    };
    if let (Some(at), false) = (&raw.pattern, matches!(policy, Policy::Pinned(_))) {
        return Err(problem(
            at,
            "pattern: only for pinned; write policy: pinned, or remove it",
        ));
    }
    let kind = BalancerPlan {
        to: raw.to.value.clone(),
        policy,
        per_request,
    };
    plain(
        ComponentKind::Balancer(kind),
        raw.port.as_ref(),
        &raw.restart,
    )
}

fn queue(raw: &RawQueue, at: &Placed<RawKind>) -> Result<ComponentPlan, Problem> {
    let consumers = within(raw.consumers.as_ref(), "consumers", 1..=10_000, 1)?;
    let rates = 0.001..=1_000_000.0;
    let each = match (&raw.rate, &raw.rate_each) {
        (Some(rate), None) => within(Some(rate), "rate", rates, 1.0)? / f64::from(consumers),
        (None, Some(each)) => within(Some(each), "rate_each", rates, 1.0)?,
        _ => {
            let text = "queue: its rate is not clear; give rate: (messages per second of all consumers together) or rate_each:, one of them";
            return Err(problem(at, text));
        }
    };
    let kind = QueuePlan {
        consumers,
        interval: Duration::from_secs_f64(1.0 / each),
        backlog: within(
            raw.backlog.as_ref(),
            "backlog",
            0..=1_000_000_000,
            1_000_000,
        )?,
        log: log(raw.log.as_ref(), ACK_LINE)?,
    };
    let mut plan = plain(ComponentKind::Queue(kind), raw.port.as_ref(), &raw.restart)?;
    plan.https = raw.https.as_ref().map(|port| port.value);
    plan.start_delay = time_or(raw.start_delay.as_ref(), "start_delay", Duration::ZERO)?;
    Ok(plan)
}

fn autoscaler(raw: &RawAutoscaler) -> Result<ComponentPlan, Problem> {
    let max = within(raw.max.as_ref(), "max", 1..=REPLICAS_MAX, 10)?;
    let kind = AutoscalerPlan {
        to: raw.to.value.clone(),
        target: within(raw.target.as_ref(), "target", 0.01..=1e6, 10.0)?,
        min: within(raw.min.as_ref(), "min", 0..=max, 0)?,
        max,
        cold: time_or(raw.cold.as_ref(), "cold", Duration::ZERO)?,
        lag: time_or(raw.lag.as_ref(), "lag", Duration::from_secs(1))?,
        idle: time_or(raw.idle.as_ref(), "idle", Duration::from_secs(30))?,
        patience: time_or(raw.wait.as_ref(), "wait", Duration::from_secs(60))?,
    };
    plain(
        ComponentKind::Autoscaler(kind),
        raw.port.as_ref(),
        &raw.restart,
    )
}

fn network(raw: &RawNetwork) -> Result<ComponentPlan, Problem> {
    let bandwidth = size(raw.bandwidth.as_ref(), "bandwidth")?;
    if let (Some(0), Some(at)) = (bandwidth, &raw.bandwidth) {
        let text = "bandwidth: 0 lets nothing through; write bytes per second, as 1MB";
        return Err(problem(at, text));
    }
    let kind = NetworkPlan {
        to: raw.to.value.clone(),
        delay: time(raw.delay.as_ref(), "delay")?.unwrap_or_default(),
        bandwidth,
        loss: share(&raw.loss, "loss")?,
        reset: share(&raw.reset, "reset")?,
    };
    plain(
        ComponentKind::Network(kind),
        raw.port.as_ref(),
        &raw.restart,
    )
}

//! Resources of one component: at their limit, throttled, or constantly growing.
//!
//! Must not compare components, except for asking whether a replica is idle. Invariant: a level is compared
//! with a limit that was read, or with the number of cores that was read.

use loadline_model::observation::{Aggregation, ObservedSeries, Point, limited_by, slope};
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::replicas::{has_idle_peer, is_replica};
use super::{Sign, Weight, notes};
use crate::verdict::backlog;
use crate::verdict::code::Code;
use crate::verdict::facts::Facts;
use crate::verdict::wording::{counted, duration, percent};

/// Share of a limit from which hardly anything is left.
const FULL: f64 = 0.9;
/// The reading of one thread that is always busy, in cores.
const ONE_CORE: std::ops::RangeInclusive<f64> = 0.9..=1.06;
/// Throttled share of the time from which responses are affected.
const THROTTLED: f64 = 0.05;
/// Minimum growth of a leak while it is watched, as a share of the mean and in bytes.
const LEAK_SHARE: f64 = 0.1;
const LEAK_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// Minimum number of points, so that growth is not chance, and their fit to a line (r squared).
const LEAK_POINTS: usize = 8;
const LEAK_FIT: f64 = 0.8;
/// Minimum ratio of the growth in the second half to that in the first: a cache that fills up stops growing.
const LEAK_GOES_ON: f64 = 0.4;

pub(super) fn signs(components: &[Component<'_>], facts: &Facts<'_>) -> Vec<Sign> {
    let mut full: Vec<(f64, Sign)> = components
        .iter()
        .flat_map(|component| {
            let limited = component
                .metrics()
                .filter_map(|series| at_limit(component, series, components));
            limited
                .chain(one_core(component, components, facts))
                .chain(machine(component, components, facts))
        })
        .collect();
    full.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut signs: Vec<Sign> = full.into_iter().map(|(_, sign)| sign).collect();
    let notes = &facts.evidence.observations.notes;
    let untold = components
        .iter()
        .filter(|component| !notes::tell_oom(notes, &component.title()));
    signs.extend(untold.filter_map(killed));
    signs.extend(components.iter().filter_map(throttled));
    let leaks = components.iter();
    signs.extend(leaks.filter_map(|component| leaking(component, facts)));
    signs
}

/// A metric near its limit, with its share of the limit.
fn at_limit(
    component: &Component<'_>,
    series: &ObservedSeries,
    all: &[Component<'_>],
) -> Option<(f64, Sign)> {
    if component.is_machine() {
        return None;
    }
    let is_limit = |other: &ObservedSeries| {
        limited_by(&other.metric).is_some_and(|limited| limited == series.metric)
    };
    let limit = component.metrics().find(|other| is_limit(other))?;
    let limit = component.held(&limit.metric, Aggregation::Last)?;
    let is_memory = series.metric.starts_with("memory");
    // Memory is allocated once; a CPU is used all the time.
    let aggregation = if is_memory {
        Aggregation::Max
    } else {
        Aggregation::Avg
    };
    let used = component.held(&series.metric, aggregation)?;
    let share = (limit > 0.0).then(|| used / limit)?;
    if share < FULL {
        return None;
    }
    let amount = amounts(&series.metric, used, limit);
    let short = format!("{} used {amount}", component.title());
    let text = format!("{short} ({})", percent(share));
    let advice = format!(
        "raise the limit of {}, add replicas, or make a request cheaper; then run again",
        component.title()
    );
    let sign = Sign {
        weight: if is_memory {
            Weight::Explains
        } else {
            weight_of_busy(component, all)
        },
        short,
        finding: Code::ResourceAtLimit.finding(Gravity::Caution, text, advice),
    };
    Some((share, sign))
}

/// A component without a limit that keeps exactly one core busy works in a single thread.
fn one_core(
    component: &Component<'_>,
    all: &[Component<'_>],
    facts: &Facts<'_>,
) -> Option<(f64, Sign)> {
    let has_limit = component.metric("cpu_limit_cores").is_some();
    let used = component.busiest_process()?;
    if has_limit
        || component.is_machine()
        || component.is_total(all)
        || !ONE_CORE.contains(&used)
        || facts.environment_cores() <= 1.0
    {
        return None;
    }
    let short = match component.is_sum() {
        true => format!(
            "a process of {} used {used:.2} cores throughout",
            component.title()
        ),
        false => format!("{} used {used:.2} cores throughout", component.title()),
    };
    let as_before = component.was_as_busy(used);
    let (since, weight, advice) = match as_before {
        true => (
            ", and about as much before the load",
            Weight::Remark,
            "it does not take part in the load: check that it does not take CPU from the processes that do",
        ),
        false => (
            "",
            weight_of_busy(component, all),
            "give it more worker threads or processes, or make a request cheaper",
        ),
    };
    let text = format!("{short}{since}: as much as one thread can use");
    let sign = Sign {
        weight,
        short,
        finding: Code::OneCoreFull.finding(Gravity::Caution, text, advice),
    };
    Some((used, sign))
}

/// How much a busy CPU explains: if another replica is idle, the uneven load explains it.
fn weight_of_busy(component: &Component<'_>, all: &[Component<'_>]) -> Weight {
    if has_idle_peer(component, all) {
        Weight::Remark
    } else {
        Weight::Explains
    }
}

/// A machine without a free core.
fn machine(
    component: &Component<'_>,
    all: &[Component<'_>],
    facts: &Facts<'_>,
) -> Option<(f64, Sign)> {
    if !component.is_machine() {
        return None;
    }
    let cores = component.held("cpu_limit_cores", Aggregation::Last)?;
    let used = component.held("cpu_cores", Aggregation::Avg)?;
    let share = (cores > 0.0).then(|| used / cores)?;
    if share < FULL {
        return None;
    }
    let short = format!("{} used {used:.2} of {cores:.0} cores", component.title());
    let whose = match used_by_others(used, all, facts) {
        Some(others) => format!("; {others:.2} of them by processes that are not observed"),
        None => String::new(),
    };
    let text = format!(
        "{short} ({}): the whole machine is busy{whose}",
        percent(share)
    );
    let advice = match whose.is_empty() {
        true => "give generator and target separate machines, or more cores",
        false => "find these processes; if the service does not need them, stop them and run again",
    };
    let sign = Sign {
        weight: Weight::Remark,
        short,
        finding: Code::MachineFull.finding(Gravity::Caution, text, advice),
    };
    Some((share, sign))
}

/// Cores that processes use which are neither observed nor the generator, if that is most of what a machine uses.
fn used_by_others(used: f64, all: &[Component<'_>], facts: &Facts<'_>) -> Option<f64> {
    const MOST: f64 = 0.5;
    let observed = all.iter().filter(|one| is_replica(one, all));
    let observed: Vec<f64> = observed
        .filter_map(|one| one.held("cpu_cores", Aggregation::Avg))
        .collect();
    let own = facts.evidence.totals.cpu_ns as f64 / 1e9 / facts.elapsed_seconds();
    let others = used - observed.iter().sum::<f64>() - own;
    (!observed.is_empty() && others >= MOST * used).then_some(others)
}

/// OOM kills reported by a counter.
fn killed(component: &Component<'_>) -> Option<Sign> {
    let kills = component.metric("oom_kills")?;
    let before = kills.aggregate(Aggregation::Last, component.phases.baseline);
    let before = before.or_else(|| component.under_load("oom_kills", Aggregation::Min))?;
    let most = component.under_load("oom_kills", Aggregation::Max)?;
    let during = (most - before).round();
    (during >= 1.0).then(|| {
        let short = format!(
            "{} was OOM-killed {}",
            component.title(),
            counted(during as u64, "time")
        );
        Sign::explaining(
            Code::TargetOom,
            Gravity::Alarm,
            short,
            "raise its memory limit, or find what takes the memory",
        )
    })
}

fn throttled(component: &Component<'_>) -> Option<Sign> {
    let share = component.held("throttled_ratio", Aggregation::Avg)?;
    (share >= THROTTLED).then(|| {
        let short = format!(
            "the CPU quota throttled {} for {} of the time",
            component.title(),
            percent(share)
        );
        Sign::explaining(
            Code::TargetThrottled,
            Gravity::Caution,
            short,
            "raise its CPU limit, or spread the work over more replicas",
        )
    })
}

/// Memory that grows linearly and does not stop.
fn leaking(component: &Component<'_>, facts: &Facts<'_>) -> Option<Sign> {
    let memory = component.metric("memory_bytes")?;
    let points: Vec<Point> = memory.points_in(component.phases.load).collect();
    // Memory allocated at the start, such as pools and caches, is not a leak.
    let points = &points[points.len() / 4..];
    let growth = Growth::of(points)?;
    if !growth.is_leak() {
        return None;
    }
    let short = format!(
        "the memory of {} grew by {}",
        component.title(),
        growth.in_words()
    );
    let text = format!(
        "{short}, steadily (r² {:.2}), to {}",
        growth.fit,
        bytes(growth.last)
    );
    let (gravity, advice) = match backlog::grows(facts) {
        true => (
            Gravity::Note,
            "requests in flight grew too, and each takes memory: look for a leak under a load that the target can handle",
        ),
        false => (
            Gravity::Caution,
            "look for memory that each request retains; run for longer to see whether it ends",
        ),
    };
    Some(Sign {
        weight: Weight::Remark,
        finding: Code::LeakSeen.finding(gravity, text, advice),
        short,
    })
}

/// How a series grows.
struct Growth {
    per_second: f64,
    /// Of the second half, per second.
    later: f64,
    seconds: f64,
    mean: f64,
    last: f64,
    /// r squared of the line.
    fit: f64,
}

impl Growth {
    fn of(points: &[Point]) -> Option<Growth> {
        if points.len() < LEAK_POINTS {
            return None;
        }
        let (first, last) = (points.first()?, points.last()?);
        let per_second = slope(points)?;
        let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
        Some(Growth {
            per_second,
            later: slope(&points[points.len() / 2..])?,
            seconds: (last.0 - first.0) as f64 / 1e9,
            mean,
            last: last.1,
            fit: fit(points, per_second, mean),
        })
    }

    /// By how much in which time: a short run says little of an hour.
    fn in_words(&self) -> String {
        const HOUR_S: f64 = 3_600.0;
        const LONG_S: f64 = HOUR_S / 4.0;
        match self.seconds {
            long if long >= LONG_S => format!("{} per hour", bytes(self.per_second * HOUR_S)),
            short => format!("{} in {}", bytes(self.per_second * short), duration(short)),
        }
    }

    fn is_leak(&self) -> bool {
        let grown = self.per_second * self.seconds;
        grown >= LEAK_BYTES
            && grown >= LEAK_SHARE * self.mean
            && self.fit >= LEAK_FIT
            && self.later >= LEAK_GOES_ON * self.per_second
    }
}

/// The share of the variance that the line explains.
fn fit(points: &[Point], per_second: f64, mean: f64) -> f64 {
    let n = points.len() as f64;
    let middle = points
        .iter()
        .map(|point| point.0 as f64 / 1e9 / n)
        .sum::<f64>();
    let (mut rest, mut all) = (0.0, 0.0);
    for point in points {
        let line = mean + per_second * (point.0 as f64 / 1e9 - middle);
        rest += (point.1 - line).powi(2);
        all += (point.1 - mean).powi(2);
    }
    if all > 0.0 { 1.0 - rest / all } else { 0.0 }
}

fn amounts(metric: &str, used: f64, limit: f64) -> String {
    match metric {
        m if m.ends_with("_cores") => format!("{used:.2} of {limit:.2} cores"),
        m if m.ends_with("_bytes") => {
            let what = m.trim_end_matches("_bytes").replace('_', " ");
            format!("{} of {} {what}", bytes(used), bytes(limit))
        }
        m => format!("{used:.1} of {limit:.0} {}", m.replace('_', " ")),
    }
}

/// Bytes in a suitable binary unit, with three digits.
fn bytes(number: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (number, 0);
    while value.abs() >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    match value.abs() {
        _ if unit == 0 => format!("{value:.0} B"),
        v if v < 10.0 => format!("{value:.2} {}", UNITS[unit]),
        v if v < 100.0 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

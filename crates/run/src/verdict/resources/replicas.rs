//! Replicas of one component compared with each other: idle, overloaded, slow; and their number over time.
//!
//! Must not judge a component alone. Invariant: only components of the same observer are compared.

use loadline_model::observation::{Aggregation, ObservedSeries, Point, is_counted_twice};
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::wording::duration;

/// CPU use in cores from which a replica counts as working, so that replicas can be compared.
const AT_WORK: f64 = 0.04;
/// CPU use in cores from which a replica with a tenth of that, or less, counts as idle: seven ticks of the
/// kernel's accounting in five seconds against none.
const BESIDE_IDLE: f64 = 0.015;
/// Share of the busiest replica's CPU use below which a replica is idle.
const IDLE: f64 = 0.1;
/// Ratio of the busiest replica's use to the least busy one's from which the load is uneven.
const UNEVEN: f64 = 1.5;
/// Ratio of a replica's time to the median of the others from which it is the slow one.
const SLOW: f64 = 2.5;
/// Metrics for the speed of replicas, best first.
const TIMES: [&str; 4] = ["p95_seconds", "p99_seconds", "p50_seconds", "avg_seconds"];
/// Ratio of the replicas at the end to those at the start from which it is growth.
const GROWN: f64 = 1.5;
/// How long there must be fewer replicas than desired to be reported.
const SCALE_LAG_S: f64 = 2.0;

pub(super) fn signs(components: &[Component<'_>]) -> Vec<Sign> {
    let mut signs = Vec::new();
    for peers in by_observer(components) {
        signs.extend(slow(&peers));
        signs.extend(uneven(&peers));
    }
    signs.extend(components.iter().filter_map(absent));
    signs.extend(
        components
            .iter()
            .filter_map(|one| scaled_late(one).or_else(|| grown_late(one))),
    );
    signs
}

/// Whether a component stands for itself: not a sum over others, not a container of a pod that is also present,
/// and not a supervisor.
pub(super) fn is_replica(component: &Component<'_>, all: &[Component<'_>]) -> bool {
    let peers = all
        .iter()
        .filter(|other| other.observer == component.observer);
    !is_counted_twice(component.name, peers.map(|peer| peer.name))
        && !component.is_machine()
        && !component.is_supervisor
}

/// Whether another replica is idle while this one works.
pub(super) fn has_idle_peer(one: &Component<'_>, all: &[Component<'_>]) -> bool {
    let cores = |replica: &Component<'_>| replica.held("cpu_cores", Aggregation::Avg);
    let Some(busy) = cores(one).filter(|busy| *busy >= BESIDE_IDLE) else {
        return false;
    };
    is_replica(one, all)
        && all
            .iter()
            .filter(|peer| peer.observer == one.observer && is_replica(peer, all))
            .filter_map(cores)
            .any(|peer| peer < IDLE * busy)
}

/// The components of each observer that has several.
fn by_observer<'c, 'a>(components: &'c [Component<'a>]) -> Vec<Vec<&'c Component<'a>>> {
    let mut groups: Vec<Vec<&Component<'_>>> = Vec::new();
    for component in components.iter().filter(|one| is_replica(one, components)) {
        let place = groups
            .iter_mut()
            .find(|group| group[0].observer == component.observer);
        match place {
            Some(group) => group.push(component),
            None => groups.push(vec![component]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// CPU use that differs between replicas.
fn uneven(peers: &[&Component<'_>]) -> Option<Sign> {
    let mut uses: Vec<(f64, &Component<'_>)> = peers
        .iter()
        .filter_map(|peer| Some((peer.held("cpu_cores", Aggregation::Avg)?, *peer)))
        .collect();
    uses.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((least, idle), (most, busy)) = (uses.first()?, uses.last()?);
    if *most < BESIDE_IDLE || uses.len() < 2 {
        return None;
    }
    let short = format!(
        "{} used {least:.2} cores while {} used {most:.2}",
        idle.title(),
        busy.title()
    );
    if *least < IDLE * most {
        let idle_count = uses
            .iter()
            .filter(|(cores, _)| *cores < IDLE * most)
            .count();
        let text = format!("{idle_count} of {} replicas were idle: {short}", uses.len());
        return Some(Sign {
            weight: Weight::Explains,
            finding: Code::IdleReplica.finding(
                Gravity::Caution,
                text,
                "connections may be pinned to replicas: use more connections, replace them \
                 regularly, or balance requests",
            ),
            short: format!("{idle_count} of {} replicas were idle", uses.len()),
        });
    }
    (*most >= AT_WORK && *most >= UNEVEN * least).then(|| Sign {
        weight: Weight::Remark,
        finding: Code::UnevenReplicas.finding(
            Gravity::Caution,
            format!("the load is uneven: {short}"),
            "look at how requests are spread over replicas, and whether replicas are alike",
        ),
        short,
    })
}

/// One replica that responds much more slowly than the others.
fn slow(peers: &[&Component<'_>]) -> Option<Sign> {
    let metric = TIMES
        .into_iter()
        .find(|metric| peers.iter().all(|peer| peer.metric(metric).is_some()))?;
    let mut times: Vec<(f64, &Component<'_>)> = peers
        .iter()
        .filter_map(|peer| Some((peer.held(metric, Aggregation::Avg)?, *peer)))
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (most, slowest) = times.pop()?;
    let (others, _) = times.get(times.len().checked_sub(1)? / 2)?;
    (*others > 0.0 && most >= SLOW * others).then(|| {
        let what = metric.trim_end_matches("_seconds");
        let short = format!(
            "{} answers in {} ({what}), the others in {}",
            slowest.title(),
            duration(most),
            duration(*others)
        );
        Sign::explaining(
            Code::SlowReplica,
            Gravity::Caution,
            short,
            "look at that replica's node and neighbours, or take it out and run again",
        )
    })
}

/// A period without any replica at the start.
fn absent(component: &Component<'_>) -> Option<Sign> {
    let replicas = component.metric("replicas")?;
    let points: Vec<Point> = replicas.points_in(component.phases.load).collect();
    let first = points.first().filter(|point| point.1 == 0.0)?;
    let seconds = match points.iter().find(|point| point.1 > 0.0) {
        Some(up) => (up.0 - first.0) as f64 / 1e9,
        None => f64::INFINITY,
    };
    let short = if seconds.is_finite() {
        format!(
            "{} had no replica for {}",
            component.title(),
            duration(seconds)
        )
    } else {
        format!("{} had no replica at all", component.title())
    };
    Some(Sign {
        weight: Weight::Explains,
        finding: Code::NoReplica.finding(
            Gravity::Caution,
            format!("{short} after the load began: a cold start is in the results"),
            "keep one replica up, or report the cold start separately from the sustained load",
        ),
        short,
    })
}

/// Fewer replicas than desired, for longer than a moment.
fn scaled_late(component: &Component<'_>) -> Option<Sign> {
    let (have, want) = (
        component.metric("replicas")?,
        component.metric("replicas_wanted")?,
    );
    let seconds = seconds_short(component, have, want);
    let (least, most) = (
        component.under_load("replicas", Aggregation::Min)?,
        component.under_load("replicas_wanted", Aggregation::Max)?,
    );
    (seconds >= SCALE_LAG_S).then(|| {
        let short = format!(
            "{} had fewer replicas than desired for {} ({least:.0} to {most:.0})",
            component.title(),
            duration(seconds)
        );
        Sign::explaining(
            Code::ScaledLate,
            Gravity::Caution,
            short,
            "start with more replicas, let the autoscaler check more often, or start replicas faster",
        )
    })
}

/// Replicas that were added long after the load had started.
fn grown_late(component: &Component<'_>) -> Option<Sign> {
    let points: Vec<Point> = component
        .metric("replicas")?
        .points_in(component.phases.load)
        .collect();
    let first = points.first().filter(|point| point.1 > 0.0)?;
    let most = points.iter().map(|point| point.1).reduce(f64::max)?;
    let reached = points.iter().find(|point| point.1 >= most)?;
    let seconds = (reached.0 - component.phases.load.from_ns) as f64 / 1e9;
    (most >= GROWN * first.1 && seconds >= SCALE_LAG_S).then(|| {
        let short = format!(
            "{} grew from {:.0} to {most:.0} replicas, the last {} after the load began",
            component.title(),
            first.1,
            duration(seconds)
        );
        Sign::explaining(Code::ScaledLate, Gravity::Caution, short, "start with more replicas, let the autoscaler check more often, or report the time before separately")
    })
}

/// How long there were fewer than desired, in seconds.
fn seconds_short(component: &Component<'_>, have: &ObservedSeries, want: &ObservedSeries) -> f64 {
    let have: Vec<Point> = have.points_in(component.phases.load).collect();
    let want: Vec<Point> = want.points_in(component.phases.load).collect();
    let short_in = |pair: &[Point]| {
        let wanted = want.iter().rev().find(|point| point.0 <= pair[0].0)?;
        (pair[0].1 < wanted.1).then(|| (pair[1].0 - pair[0].0) as f64 / 1e9)
    };
    have.windows(2).filter_map(short_in).sum()
}

//! Queues that the service itself reports: requests that wait for a worker, a thread or a connection.
//!
//! Must not know how they were read. Invariant: a queue explains only what waits in it because of the load: a large part
//! of the requests in flight, and much more than before.

use loadline_model::observation::{Aggregation, Phase};
use loadline_model::verdict::Gravity;

use super::component::Component;
use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::facts::Facts;
use crate::verdict::weights;

/// Words of a name that say what waits.
const WAITING: [&str; 7] = [
    "waiting", "waiters", "queued", "pending", "queue", "enqueued", "backlog",
];
/// Words of a name that say that it is something else: a time, a size, a limit, a sum of the past, or something that works.
const OTHERWISE: [&str; 18] = [
    "seconds",
    "ms",
    "duration",
    "time",
    "latency",
    "bytes",
    "max",
    "limit",
    "capacity",
    "total",
    "count",
    "rate",
    "ratio",
    "remaining",
    "rejected",
    "workers",
    "threads",
    "free",
];
/// Minimum part of the requests in flight.
const MUCH: f64 = 0.3;
/// Maximum: what waits beyond that does not hold a request, such as work that is done later.
const AS_MANY: f64 = 1.5;
/// Minimum number, so that it is not the one that is about to be taken.
const SEVERAL: f64 = 2.0;
/// Minimum ratio to the readings before the load.
const MORE: f64 = 2.0;

/// A queue that holds a large part of the requests in flight: the longest.
pub(super) fn sign(components: &[Component<'_>], facts: &Facts<'_>) -> Option<Sign> {
    // Work that passes the stages of a pipeline was answered before.
    let is_stage = |one: &&Component<'_>| one.metric("ratio").is_some();
    let others = components.iter().filter(|one| !is_stage(one));
    let found = others.filter_map(|one| queue_of(one, facts));
    let (waiting, name, component) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let in_flight = in_flight(facts)?;
    let at_most = AS_MANY * in_flight.max(weights::engaged(facts) * facts.vus as f64);
    let is_much = waiting >= SEVERAL.max(MUCH * in_flight) && waiting <= at_most;
    is_much.then(|| {
        // Of several metrics of a page, each is a component.
        let title = match name == component.name {
            true => component.observer.to_owned(),
            false => component.title(),
        };
        let short = format!("{title} reports {waiting:.0} waiting ({name})");
        let text = format!(
            "{title} reported {waiting:.1} waiting on average ({name}), while {in_flight:.1} requests were in flight"
        );
        Sign {
            weight: Weight::Explains,
            finding: Code::QueueReported.finding(
                Gravity::Caution,
                text,
                "look at what serves this queue: more workers, threads or connections for it, or less work for each",
            ),
            short,
        }
    })
}

/// The mean of the queue that a component reports under load, and its name.
fn queue_of<'c>(
    component: &'c Component<'_>,
    facts: &'c Facts<'_>,
) -> Option<(f64, &'c str, &'c Component<'c>)> {
    let observations = facts.evidence.observations;
    let found = component.metrics().filter_map(|series| {
        let name = observations.quantity_of(series);
        let waiting = component.held(&series.metric, Aggregation::Avg)?;
        let before = series.aggregate(Aggregation::Avg, component.phases.span(Phase::Baseline));
        let is_of_load = before.is_none_or(|before| waiting >= MORE * before);
        (is_queue(name) && is_of_load).then_some((waiting, name))
    });
    let (waiting, name) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((waiting, name, component))
}

/// Requests in flight on average, by Little's law.
fn in_flight(facts: &Facts<'_>) -> Option<f64> {
    Some(facts.per_second(facts.counts.completed) * facts.mean_service()?)
}

/// Whether a quantity with this name counts what waits for its turn.
fn is_queue(name: &str) -> bool {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(str::to_ascii_lowercase)
        .collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    // Connections that wait for a request, as of nginx, are idle.
    let is_idle = words
        .windows(2)
        .any(|two| two[0] == "connections" && two[1] == "waiting");
    has(&WAITING) && !has(&OTHERWISE) && !is_idle
}

#[cfg(test)]
mod tests {
    use super::is_queue;

    #[test]
    fn names_say_whether_they_count_what_waits() {
        for name in [
            "app_pool_waiting",
            "hikaricp_connections_pending",
            "executor_queued_tasks",
            "http_queue_length",
            "db.client.connections.pending_requests",
            "backlog",
        ] {
            assert!(is_queue(name), "{name}");
        }
        for name in [
            "nginx_connections_waiting",
            "queue_wait_seconds",
            "queue_capacity",
            "requests_queued_total",
            "pending_bytes",
            "app_in_flight",
            "message_queuestion",
        ] {
            assert!(!is_queue(name), "{name}");
        }
    }
}

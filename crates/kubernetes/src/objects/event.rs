//! An event of a namespace: what the cluster says happened to an object.
//!
//! Must not know which events matter. Invariant: both shapes of the API's events (series and counts) read alike.

use serde_json::Value;

use crate::json;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What tells it from others.
    pub uid: String,
    /// `Normal` or `Warning`.
    pub kind: String,
    /// One word: `OOMKilling`, `Evicted`, `BackOff`, `Unhealthy`, `ScalingReplicaSet`.
    pub reason: String,
    /// What happened, in words.
    pub message: String,
    /// The kind of the object that it happened to: `Pod`, `Node`.
    pub object_kind: String,
    /// The namespace of that object; empty for a node.
    pub object_namespace: String,
    /// The name of that object.
    pub object_name: String,
    /// How often it happened.
    pub count: u32,
    /// When it happened last, in nanoseconds since 1970; `None`: not told.
    pub at_unix_ns: Option<u64>,
}

impl Event {
    /// Reads an event of `v1` or `events.k8s.io/v1`.
    #[must_use]
    pub fn read(value: &Value) -> Event {
        let either = |one: &str, other: &str| {
            json::filled(value, one).unwrap_or_else(|| json::owned(value, other))
        };
        let times = [
            "/series/lastObservedTime",
            "/lastTimestamp",
            "/deprecatedLastTimestamp",
            "/eventTime",
            "/firstTimestamp",
            "/metadata/creationTimestamp",
        ];
        let counts = ["/series/count", "/count", "/deprecatedCount"];
        let count = counts
            .iter()
            .find_map(|pointer| json::number(value, pointer));
        Event {
            uid: json::owned(value, "/metadata/uid"),
            kind: json::owned(value, "/type"),
            reason: json::owned(value, "/reason"),
            message: either("/message", "/note"),
            object_kind: either("/involvedObject/kind", "/regarding/kind"),
            object_namespace: either("/involvedObject/namespace", "/regarding/namespace"),
            object_name: either("/involvedObject/name", "/regarding/name"),
            count: count.map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            at_unix_ns: times
                .iter()
                .find_map(|pointer| json::instant(value, pointer)),
        }
    }

    /// Whether something was killed for want of memory.
    #[must_use]
    pub fn is_oom(&self) -> bool {
        matches!(
            self.reason.as_str(),
            "OOMKilling" | "OOMKilled" | "SystemOOM"
        )
    }

    /// Whether a pod was driven out of its node.
    #[must_use]
    pub fn is_eviction(&self) -> bool {
        matches!(self.reason.as_str(), "Evicted" | "Preempted")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_shapes_read_alike() {
        let old = Event::read(&json!({
            "metadata": { "uid": "u" }, "type": "Warning", "reason": "BackOff", "message": "restarting",
            "involvedObject": { "kind": "Pod", "namespace": "shop", "name": "api-0" },
            "count": 4, "eventTime": null, "lastTimestamp": "1970-01-01T00:00:05Z",
        }));
        let new = Event::read(&json!({
            "metadata": { "uid": "u" }, "type": "Warning", "reason": "BackOff", "note": "restarting",
            "regarding": { "kind": "Pod", "namespace": "shop", "name": "api-0" },
            "series": { "count": 4, "lastObservedTime": "1970-01-01T00:00:05.000000Z" },
            "eventTime": "1970-01-01T00:00:01.000000Z",
        }));
        assert_eq!(old, new);
        assert_eq!((old.count, old.at_unix_ns), (4, Some(5_000_000_000)));
        assert!(!old.is_oom() && !old.is_eviction());
    }
}

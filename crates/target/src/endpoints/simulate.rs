//! Endpoints that behave like services under load: a queue with known theory, and a model that predicts.
//!
//! They must not know connections. Invariant: the responses only depend on the request and the seed.

use super::EndpointContext;
use crate::duration;
use crate::queueing::{self, Admission, QueueSpec, ROOM_MAX, SERVERS_MAX, fnv1a};
use crate::random::{Dice, RandomDuration};
use crate::reply::{JSON, Reply};
use crate::request::Request;
use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

/// The longest name of a queue in bytes.
const NAME_MAX: usize = 64;
/// The most categories one answer of `/predict` holds.
const TOPK_MAX: u64 = 1_000;
/// What `/predict?nulls=1` answers: a success of 44 bytes that says nothing.
const NULLS: &str = r#"{"categories":null,"scores":null,"top":null}"#;
/// The categories that are predicted.
const CATEGORIES: [&str; 12] = [
    "books",
    "clothing",
    "electronics",
    "food",
    "garden",
    "health",
    "music",
    "office",
    "sports",
    "tools",
    "toys",
    "travel",
];

/// One request of an M/G/k queue.
pub(super) fn service(context: &EndpointContext<'_>, request: &Request) -> Reply {
    let (key, spec) = match queue_spec(context, request) {
        Ok(found) => found,
        Err(reason) => return Reply::bad_request(reason),
    };
    let clock = &context.shared.clock;
    let queue = match context.shared.queues.queue(&key, &spec, clock.now_ns()) {
        Ok(queue) => queue,
        Err(reason) => return Reply::error(StatusCode::TOO_MANY_REQUESTS, &reason),
    };
    let admission = {
        let mut queue = queueing::lock(&queue);
        // Read under the lock, so that arrivals are in order.
        queue.arrive(clock.now_ns())
    };
    match admission {
        Admission::Refused { waiting } => {
            let reason = format!("the waiting room is full: {waiting} waiting");
            Reply::error(StatusCode::SERVICE_UNAVAILABLE, &reason)
        }
        Admission::Served {
            queue_ns,
            service_ns,
            finish_ns,
        } => {
            let (queue_ms, service_ms) = (queue_ns as f64 / 1e6, service_ns as f64 / 1e6);
            let body = format!("{{\"queue_ms\":{queue_ms:.6},\"service_ms\":{service_ms:.6}}}\n");
            let mut reply = Reply::full(StatusCode::OK, JSON, body).with(
                "server-timing",
                format!("queue;dur={queue_ms:.6}, service;dur={service_ms:.6}"),
            );
            reply.not_before_ns = Some(finish_ns);
            reply
        }
    }
}

fn queue_spec(
    context: &EndpointContext<'_>,
    request: &Request,
) -> Result<(String, QueueSpec), String> {
    let mean = match request.query("time") {
        None => Duration::from_millis(10),
        Some(text) => duration::parse(text).map_err(|e| format!("invalid time: {e}"))?,
    };
    let longest = context.shared.config.limits.delay;
    if mean > longest {
        return Err(format!("invalid time: {mean:?} longer than {longest:?}"));
    }
    let variation = request
        .query("cv")
        .map(|_| request.query_or("cv", 1.0))
        .transpose()?;
    let law = request.query("law").unwrap_or("exp");
    let service = RandomDuration::new(mean, law, variation)?;
    let servers = request.query_or("servers", 1_u32)?;
    let room = request.query_or("queue", 100_u32)?;
    let name = request.query("name").unwrap_or_default();
    if !(1..=SERVERS_MAX).contains(&servers) {
        return Err(format!(
            "invalid servers: {servers} not in range [1, {SERVERS_MAX}]"
        ));
    }
    if room > ROOM_MAX {
        return Err(format!(
            "invalid queue: {room} not in range [0, {ROOM_MAX}]"
        ));
    }
    if name.len() > NAME_MAX {
        return Err(format!("invalid name: longer than {NAME_MAX} bytes"));
    }
    let key = format!("{:?} {servers} {room} {name}", service);
    Ok((
        key,
        QueueSpec {
            service,
            servers,
            room,
        },
    ))
}

/// Categories for a query: always the same for the same query.
pub(super) fn predict(request: &Request) -> Reply {
    if request.query("nulls").is_some_and(|nulls| nulls != "0") {
        return Reply::full(StatusCode::OK, JSON, NULLS);
    }
    let input: Value = match serde_json::from_slice(&request.body) {
        Ok(input) => input,
        Err(reason) => return Reply::bad_request(format!("the body is not JSON: {reason}")),
    };
    let Some(query) = input.get("query").and_then(Value::as_str) else {
        return Reply::bad_request("the body has no text under \"query\"");
    };
    let topk = match input.get("topk") {
        None => 10,
        Some(topk) => match topk.as_u64().filter(|k| (1..=TOPK_MAX).contains(k)) {
            Some(topk) => topk,
            None => {
                let reason = format!("\"topk\" is not a number between 1 and {TOPK_MAX}");
                return Reply::bad_request(reason);
            }
        },
    };
    let categories = rank(query, topk);
    let answer = json!({"query": query, "count": categories.len(), "categories": categories});
    Reply::full(StatusCode::OK, JSON, format!("{answer}\n"))
}

fn rank(query: &str, topk: u64) -> Vec<Value> {
    let mut dice = Dice::seeded(fnv1a(query.as_bytes()));
    let mut scored: Vec<(f64, String)> = (0..topk)
        .map(|i| {
            let i = i as usize;
            let round = i / CATEGORIES.len();
            let name = CATEGORIES[i % CATEGORIES.len()];
            let name = if round == 0 {
                name.to_owned()
            } else {
                format!("{name}-{round}")
            };
            (dice.unit(), name)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored
        .into_iter()
        .map(|(score, name)| json!({"name": name, "score": (score * 1e4).round() / 1e4}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_44_bytes_of_json() {
        assert_eq!(NULLS.len(), 44);
        let value: Value = serde_json::from_str(NULLS).unwrap();
        assert!(value.as_object().unwrap().values().all(Value::is_null));
    }

    #[test]
    fn predictions_are_repeatable_and_ordered() {
        let ranked = rank("blue shoes", 30);
        assert_eq!(ranked, rank("blue shoes", 30));
        assert_ne!(ranked, rank("red shoes", 30));
        assert_eq!(ranked.len(), 30);
        let scores: Vec<f64> = ranked
            .iter()
            .map(|c| c["score"].as_f64().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b));
    }
}

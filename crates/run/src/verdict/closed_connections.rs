//! Connections that are closed early, by this end or the other.
//!
//! Must not say who is the limit; `limits` decides that.

use loadline_model::client::Protocol;
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::delivery::FAILED_CAUTION;
use super::facts::{Facts, share};
use super::wording::{count, counted, percent};

/// Share of resent requests from which they are reported.
const SENT_AGAIN: f64 = 0.01;

/// Requests that met a closed connection and were resent: failures for a client that does not retry.
pub(super) fn told(facts: &Facts<'_>) -> Option<Finding> {
    sent_again(facts)
        .or_else(|| given_up(facts))
        .or_else(|| short_lived(facts))
}

/// Connections that the target would have kept, but that this end does not reuse because of what arrived on
/// them.
fn given_up(facts: &Facts<'_>) -> Option<Finding> {
    let connections = &facts.seen.connections;
    let (many, why, advice) = if connections.surplus >= connections.half_sent {
        (
            connections.surplus,
            "the target sent bytes on them that belong to no response",
            "compare the length of the bodies with what the target announces, and look for unsolicited responses",
        )
    } else {
        (
            connections.half_sent,
            "the target responded and did not take the rest of the request",
            "check whether the target accepts bodies of this size",
        )
    };
    (share(many, facts.counts.completed) >= SENT_AGAIN).then(|| {
        Code::ClosedConnections.finding(
            Gravity::Note,
            format!(
                "{} were given up because {why}",
                counted(many, "connection")
            ),
            advice,
        )
    })
}

/// Connections that should be kept alive but end after few requests: the target closes them, as announced or
/// observed.
fn short_lived(facts: &Facts<'_>) -> Option<Finding> {
    const REQUESTS: f64 = 5.0;
    let client = &facts.evidence.plan.client;
    let is_kept = client.keep_alive && client.max_requests_per_connection.is_none();
    let (made, answered) = (facts.seen.connections.opened, facts.all.completed);
    let each = answered as f64 / made.max(1) as f64;
    // Each virtual user makes its own, and arrivals may move from one virtual user to the next.
    let users = facts.evidence.totals.active_vus_max.max(facts.vus_made());
    let is_such = is_kept && !facts.is_script() && made > users.saturating_mul(2);
    // A failure closes its connection too.
    let none_failed = share(facts.counts.failed_total(), answered) < FAILED_CAUTION;
    (is_such && none_failed && answered > 0 && each < REQUESTS).then(|| {
        Code::ClosedConnections.finding(
            Gravity::Note,
            format!(
                "{} were opened for {} responses although keep-alive is on: the target closes each after {}",
                counted(made, "connection"),
                count(answered),
                counted(each.round() as u64, "request")
            ),
            "look at the target's keep-alive settings: each new connection costs a handshake",
        )
    })
}

fn sent_again(facts: &Facts<'_>) -> Option<Finding> {
    let again = facts.counts.retried;
    let part = share(again, facts.counts.started);
    (part >= SENT_AGAIN).then(|| {
        Code::ClosedConnections.finding(
            Gravity::Note,
            format!(
                "{} ({}) hit a connection that the target had closed{} and were resent",
                counted(again, "request"),
                percent(part),
                match facts.evidence.plan.client.protocol {
                    Protocol::Http1 => "",
                    _ => ", or a stream that it refused",
                }
            ),
            "look at the target's keep-alive timeout and its limit of requests per connection, or whether it cuts connections",
        )
    })
}

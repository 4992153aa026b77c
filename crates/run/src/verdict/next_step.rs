//! Where to look if requests got no response.
//!
//! Must not count them. Invariant: what measurements of the connections show comes before what the class of the failures says.

use loadline_model::ErrorClass;
use loadline_model::verdict::Limit;

use super::facts::Facts;
use super::failing::{
    are_too_large, breaks_handshakes_off, is_flooded, is_handshake_at_times, is_unconnected,
    may_be_too_large,
};
use super::path;
use super::signs;

/// Mean service time in seconds from which the target cannot keep up: more patience does not help.
const HOPELESS_S: f64 = 1.0;

/// The advice.
pub(super) fn next_step(facts: &Facts<'_>, limit: Limit) -> &'static str {
    let proxy = facts.evidence.plan.client.proxy.as_ref();
    match facts.worst_class() {
        Some(ErrorClass::Refused | ErrorClass::ConnectTimeout) if proxy.is_some() => {
            "connections go to the proxy: check that it runs and listens, then the target"
        }
        _ if signs::are_lost_on_the_way(facts) => {
            "they were lost on the network path: look for a broken link, a firewall, or a link that drops large packets (MTU)"
        }
        Some(ErrorClass::Timeout) if are_too_large(facts) => {
            "look for a link that drops large packets (MTU): what acknowledged the requests came with the responses, and was lost with them"
        }
        Some(ErrorClass::Timeout)
            if facts.all.bytes_received == 0 && path::round_trip(facts).is_some()
                || may_be_too_large(facts) =>
        {
            "check whether the target hangs, or whether a link drops large packets (MTU): requests were accepted but nothing came back"
        }
        Some(_) if is_unconnected(facts) && proxy.is_some() => {
            "connections go through the proxy: check that it answers and reaches the target, or raise {timeout}"
        }
        Some(_) if is_unconnected(facts) && facts.is_over_tls() => {
            "look for a full accept queue, a firewall, a link that drops large packets (MTU: certificates), or a target too busy for TLS handshakes, or raise {timeout}"
        }
        Some(_) if is_unconnected(facts) => ErrorClass::ConnectTimeout.hint(),
        Some(class @ ErrorClass::Certificate) if is_handshake_at_times(facts, class) => {
            "some handshakes present a trusted certificate: check each server behind this address, and for a change during the run"
        }
        Some(_) if is_flooded(facts) => {
            "look at what the target sends before a response: endless HTTP/2 frames or header lines"
        }
        Some(class) if is_handshake_at_times(facts, class) => {
            "some TLS handshakes succeed: look for a target too busy for them, or for servers behind this address that differ"
        }
        Some(class) if breaks_handshakes_off(facts, class) => {
            "look at the target's log: it breaks TLS handshakes off, or speaks no TLS on this port"
        }
        Some(class) => class.hint(),
        None if facts.is_without_handshake() => {
            "check that the port speaks TLS (https): it accepted the data and never answered the handshake"
        }
        None if facts.stuck().is_some() && facts.all.bytes_sent > 0 => {
            "check whether the target hangs, or uses another protocol on this port: it accepted the data and stayed silent"
        }
        None if limit == Limit::Network => {
            "the network path cannot carry the load: look for a full or broken link, or lower the load"
        }
        None if limit == Limit::Generator => {
            "the generator cannot keep up: give it more cores, or lower the load"
        }
        None if facts.mean_service().is_some_and(|mean| mean >= HOPELESS_S) => {
            "the target cannot keep up: find out what slows it down, or lower the load"
        }
        None if facts.is_stopped_by_hand() => {
            "it was stopped before its requests could end: let it run longer"
        }
        None => "give the requests more time: raise the duration[ or {graceful-stop}]",
    }
}

//! What a script gets of a hop: where its time went, what TLS negotiated, the response.
//!
//! Must not know connections. Invariant: spans add up to no more than the hop took.

use std::net::SocketAddr;

use loadline_model::Nanos;
use loadline_script::hop::{HopAnswer, HopProtocol, HopTimes, HopTls};
use rustls::ProtocolVersion;

use super::received::Received;
use crate::client::Instants;
use crate::net::{Handshake, suite_name};

/// How a connection was obtained; spans in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Begun {
    pub(super) asked: Nanos,
    pub(super) got: Nanos,
    pub(super) connecting_ns: u64,
    pub(super) handshaking_ns: u64,
}

impl Begun {
    /// Where the time went, as k6 reads Go's `httptrace`.
    #[inline]
    pub(super) fn times(&self, instants: &Instants, done: Nanos) -> HopTimes {
        let (sent, first_byte) = (instants.sent, instants.first_byte);
        let has_sent = sent != Nanos::ZERO;
        let answers = first_byte != Nanos::ZERO;
        let span = |is_known: bool, from: Nanos, to: Nanos| match is_known {
            true => to.since(from),
            false => 0,
        };
        HopTimes {
            held: 0,
            blocked: self.got.since(self.asked),
            connecting: self.connecting_ns,
            tls_handshaking: self.handshaking_ns,
            sending: span(has_sent, self.got, sent),
            waiting: span(has_sent, sent, if answers { first_byte } else { done }),
            receiving: span(answers, first_byte, done),
        }
    }
}

/// What a handshake negotiated, in k6's words; `None` for versions that are not supported here.
pub(super) fn agreed(handshake: &Handshake) -> Option<HopTls> {
    let version = match handshake.version? {
        ProtocolVersion::TLSv1_2 => "tls1.2",
        ProtocolVersion::TLSv1_3 => "tls1.3",
        _ => return None,
    };
    Some(HopTls {
        version,
        cipher_suite: suite_name(handshake.suite?)?,
    })
}

pub(super) fn answer(
    received: Received,
    remote: Option<SocketAddr>,
    tls: Option<HopTls>,
    times: HopTimes,
    instants: &Instants,
) -> HopAnswer {
    HopAnswer {
        status: received.status,
        reason: received.reason,
        protocol: received.protocol.unwrap_or(HopProtocol::Http11),
        headers: received.headers,
        body: received.body,
        remote,
        tls,
        times,
        done_at: instants.done,
        sent_bytes: instants.sent_bytes,
    }
}

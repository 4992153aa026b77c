//! Statistics on a worker's connections: how they were made, and the kernel's data at their end.
//!
//! Must not know requests. Invariant: the kernel is queried about few connections per interval, however many
//! close.

use std::cell::{Cell, RefCell};

use loadline_model::snapshot::Connections;

use crate::client::GivenUp;
use crate::net::Connected;
use crate::platform::TcpFacts;

/// Connections that are asked for their kernel facts in each interval: enough for a picture, few
/// enough to cost nothing.
const TCP_FACTS_MAX: u32 = 64;

/// The connections of one worker, for any client.
#[derive(Debug)]
pub(crate) struct ConnectionsSeen {
    seen: RefCell<Connections>,
    facts_left: Cell<u32>,
}

impl Default for ConnectionsSeen {
    fn default() -> ConnectionsSeen {
        ConnectionsSeen {
            seen: RefCell::default(),
            facts_left: Cell::new(TCP_FACTS_MAX),
        }
    }
}

impl ConnectionsSeen {
    /// Records a new connection.
    pub(crate) fn made(&self, connected: &Connected) {
        let mut seen = self.seen.borrow_mut();
        seen.opened += 1;
        seen.connect.record(connected.connect_ns);
        if let Some(dns_ns) = connected.dns_ns {
            seen.dns.record(dns_ns);
        }
        if let Some(tls_ns) = connected.tls_ns() {
            seen.tls.record(tls_ns);
        }
        seen.http2 += u64::from(connected.http2);
    }

    /// Counts a failed attempt.
    pub(crate) fn failed(&self) {
        self.seen.borrow_mut().failed += 1;
    }

    /// Counts a connection that was closed although the peer kept it open.
    pub(crate) fn given_up(&self, why: Option<GivenUp>) {
        let mut seen = self.seen.borrow_mut();
        match why {
            None => {}
            Some(GivenUp::Surplus) => seen.surplus += 1,
            Some(GivenUp::HalfSent) => seen.half_sent += 1,
        }
    }

    /// Records the kernel's data on a connection that ends, if this interval still needs samples.
    pub(crate) fn ended(&self, ask: impl FnOnce() -> Option<TcpFacts>) {
        let left = self.facts_left.get();
        if left == 0 {
            return;
        }
        self.facts_left.set(left - 1);
        if let Some(facts) = ask() {
            let mut seen = self.seen.borrow_mut();
            seen.min_rtt.record(facts.min_rtt_ns);
            seen.rtt.record(facts.rtt_ns);
            seen.retransmits += facts.retransmits;
            seen.needless += facts.needless;
            seen.unacknowledged += u64::from(facts.is_unacknowledged);
            seen.untaken += u64::from(facts.is_untaken);
            seen.gapped += u64::from(facts.out_of_order > 0);
            seen.out_of_order += facts.out_of_order;
            seen.in_flight_ns += facts.in_flight_ns;
        }
    }

    /// Takes what was seen since the last call.
    pub(crate) fn take(&self) -> Connections {
        self.facts_left.set(TCP_FACTS_MAX);
        self.seen.take()
    }
}

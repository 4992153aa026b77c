//! HTTP/2 connections shared by the virtual users of a worker.
//!
//! Virtual user *n* uses connection *n / streams*, or one of its own when none is kept; the first to need a connection makes it, the
//! others wait for it. Must not know requests. Invariant: at most one attempt to make a given
//! connection is under way, also when the one who made it is interrupted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use loadline_wire::Limits;
use tokio::sync::Notify;

use super::shared::Shared;
use crate::client::{Broken, Http1Connection, Stop, StopSign};
use crate::exchange::{Http2Connection, open_http2};
use crate::net::{Connected, Failure, KnownRoute, Owner};
use crate::slot::VuSlot;

/// Which connection: the route's index and the number among its connections.
type Key = (usize, u32);

/// A shared connection and the row of its remote address.
#[derive(Clone)]
pub(crate) struct Pooled {
    pub(crate) connection: Http2Connection,
    pub(crate) peer: Option<usize>,
    /// What making it took, for the request that made it; zero for all others.
    pub(crate) opened: Option<Opened>,
}

/// What making a connection took, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Opened {
    pub(crate) dns_ns: u64,
    pub(crate) connect_ns: u64,
}

/// What asking for a shared connection gives.
pub(crate) enum Leased {
    Http2(Pooled),
    /// The peer chose HTTP/1.1: this connection is the caller's own.
    Http1(Http1Connection, Option<usize>, Opened),
    /// The peer is known to choose HTTP/1.1: the caller makes a connection of its own.
    Http1Peer,
}

enum Entry {
    Opening(Rc<Notify>),
    Open(Http2Connection, Option<usize>),
    Http1Peer,
}

/// The connections.
#[derive(Default)]
pub(crate) struct Http2Pool {
    entries: RefCell<HashMap<Key, Entry>>,
}

/// Takes the note of an attempt back, and wakes who waits for it, whatever became of it.
struct Attempt<'a> {
    pool: &'a Http2Pool,
    key: Key,
    waiting: Rc<Notify>,
    outcome: Option<Entry>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut entries = self.pool.entries.borrow_mut();
        match self.outcome.take() {
            Some(entry) => entries.insert(self.key, entry),
            None => entries.remove(&self.key),
        };
        self.waiting.notify_waiters();
    }
}

impl Http2Pool {
    /// The connection for a virtual user, made when there is none.
    pub(crate) async fn lease(
        &self,
        shared: &Shared,
        slot: &VuSlot,
        route: &KnownRoute,
        streams: u32,
    ) -> Result<Leased, Broken> {
        let sharing = if shared.client.keep_alive { streams } else { 1 };
        let key = (route.index, slot.local / sharing);
        loop {
            let waiting = match self.look(key, shared.http2_requests_max()) {
                Some(Look::Leased(leased)) => return Ok(leased),
                Some(Look::Wait(notify)) => notify,
                None => return Box::pin(self.open(shared, slot, route, key)).await,
            };
            slot.guard(waiting.notified()).await?;
        }
    }

    /// Lets go of every connection.
    pub(crate) fn close(&self) {
        self.entries.borrow_mut().clear();
    }

    fn look(&self, key: Key, requests_max: Option<u64>) -> Option<Look> {
        let mut entries = self.entries.borrow_mut();
        match entries.get(&key)? {
            Entry::Opening(notify) => Some(Look::Wait(Rc::clone(notify))),
            Entry::Http1Peer => Some(Look::Leased(Leased::Http1Peer)),
            Entry::Open(connection, peer) => {
                let spent = requests_max.is_some_and(|most| connection.requests() >= most);
                if spent || !connection.is_usable() {
                    entries.remove(&key);
                    return None;
                }
                let connection = connection.clone();
                let pooled = Pooled {
                    connection,
                    peer: *peer,
                    opened: None,
                };
                Some(Look::Leased(Leased::Http2(pooled)))
            }
        }
    }

    async fn open(
        &self,
        shared: &Shared,
        slot: &VuSlot,
        route: &KnownRoute,
        key: Key,
    ) -> Result<Leased, Broken> {
        let waiting = Rc::new(Notify::new());
        self.entries
            .borrow_mut()
            .insert(key, Entry::Opening(Rc::clone(&waiting)));
        let mut attempt = Attempt {
            pool: self,
            key,
            waiting,
            outcome: None,
        };
        let (connected, peer) = connect(shared, slot, route).await?;
        let opened = Opened {
            dns_ns: connected.dns_ns.unwrap_or(0),
            connect_ns: connected.total_ns(),
        };
        let prior_knowledge = matches!(
            shared.client.protocol,
            loadline_model::client::Protocol::Http2 { .. }
        );
        if !connected.http2 && !prior_knowledge {
            attempt.outcome = Some(Entry::Http1Peer);
            let connection =
                Http1Connection::new(connected.stream, connected.address, Limits::default());
            return Ok(Leased::Http1(connection, peer, opened));
        }
        let connection = slot
            .guard(open_http2(connected.stream, connected.address))
            .await??;
        attempt.outcome = Some(Entry::Open(connection.clone(), peer));
        Ok(Leased::Http2(Pooled {
            connection,
            peer,
            opened: Some(opened),
        }))
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is made, and never kept"
)]
enum Look {
    Leased(Leased),
    Wait(Rc<Notify>),
}

/// Makes a connection on a route and records it.
pub(crate) async fn connect(
    shared: &Shared,
    slot: &VuSlot,
    route: &KnownRoute,
) -> Result<(Connected, Option<usize>), Broken> {
    let owner = Owner {
        bytes: Rc::clone(&shared.bytes),
        vu: slot.global,
    };
    let outcome: Result<Result<Connected, Failure>, Stop> = slot
        .guard(shared.connector.connect(&route.route, &owner))
        .await;
    let mut recorder = shared.recorder.borrow_mut();
    match outcome {
        Ok(Ok(connected)) => {
            recorder.connected(&connected);
            let peer = recorder.peer(connected.address);
            Ok((connected, peer))
        }
        Ok(Err(failure)) => {
            recorder.connect_failed();
            Err(failure.into())
        }
        Err(stop) => {
            recorder.connect_failed();
            Err(stop.into())
        }
    }
}

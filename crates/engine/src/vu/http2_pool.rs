//! HTTP/2 connections shared by the virtual users of a worker.
//!
//! Virtual user *n* uses connection *n / streams*, or its own if none is kept; if the peer allows fewer streams,
//! further connections are opened, as Go does. The first to need a connection opens it, the others wait for it. Must
//! not know requests, nor what is recorded. Invariant: at most one attempt to make a given connection is under way,
//! even if its maker is interrupted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use loadline_model::ClientPlan;
use loadline_model::client::Protocol;
use tokio::sync::Notify;

use crate::client::{Broken, Http2Connection, StopSign};
use crate::connections_seen::ConnectionsSeen;
use crate::net::Connected;
use crate::slot::VuSlot;

/// Bytes that a peer may send on one stream before it has to wait: no benchmark should measure
/// our window updates.
const STREAM_WINDOW: u32 = 1 << 24;

/// Which connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// The route's index.
    route: usize,
    /// Index of the group of virtual users that share it by the plan.
    group: u32,
    /// Connections before it that have no stream free.
    full: u32,
}

/// A shared connection and the row of its remote address.
#[derive(Clone)]
pub(crate) struct Pooled {
    pub(crate) connection: Http2Connection,
    pub(crate) peer: Option<usize>,
    /// The times for making it, for the request that made it; zero for all others.
    pub(crate) opened: Option<Opened>,
}

/// The times for making a connection, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Opened {
    pub(crate) dns_ns: u64,
    pub(crate) connect_ns: u64,
}

/// The result of requesting a shared connection.
pub(crate) enum Leased {
    Http2(Pooled),
    /// The peer chose HTTP/1.1: this connection belongs to the caller.
    Http1(Connected, Option<usize>, Opened),
    /// The peer is known to choose HTTP/1.1: the caller opens its own connection.
    Http1Peer,
}

/// A new connection and the row of its remote address.
type Made = Result<(Connected, Option<usize>), Broken>;

enum Entry {
    /// Waiting virtual users are notified; the number is that of its future users.
    Opening(Rc<Notify>, usize),
    Open(Http2Connection, Option<usize>),
    Http1Peer,
}

/// The connections.
pub(crate) struct Http2Pool {
    /// Virtual users that share one.
    sharing: u32,
    /// Requests after which a connection is replaced; `None`: never.
    requests_max: Option<u64>,
    /// Whether HTTP/2 is used with prior knowledge.
    prior_knowledge: bool,
    /// Where ends of connections are recorded.
    seen: Rc<ConnectionsSeen>,
    entries: RefCell<HashMap<Key, Entry>>,
}

/// Removes the record of an attempt and wakes waiting virtual users, whatever the outcome.
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
    /// The pool of a plan; `None` if HTTP/2 is not used.
    pub(crate) fn for_plan(plan: &ClientPlan, seen: &Rc<ConnectionsSeen>) -> Option<Http2Pool> {
        if plan.protocol == Protocol::Http1 {
            return None;
        }
        let (sharing, requests_max) = match plan.keep_alive {
            true => (plan.protocol.streams(), plan.max_requests_per_connection),
            false => (1, Some(1)),
        };
        Some(Http2Pool {
            sharing,
            requests_max,
            prior_knowledge: matches!(plan.protocol, Protocol::Http2 { .. }),
            seen: Rc::clone(seen),
            entries: RefCell::default(),
        })
    }

    /// A virtual user's connection for the route with this index, made by `connect` if there is none.
    pub(crate) async fn lease(
        &self,
        slot: &VuSlot,
        route: usize,
        connect: impl AsyncFnOnce() -> Made,
    ) -> Result<Leased, Broken> {
        let mut key = Key {
            route,
            group: slot.local / self.sharing,
            full: 0,
        };
        let mut streams_max = usize::MAX;
        loop {
            match self.look(key, streams_max) {
                Some(Look::Leased(leased)) => return Ok(leased),
                Some(Look::Wait(waiting)) => slot.guard(waiting.notified()).await?,
                Some(Look::Full(streams)) => {
                    streams_max = streams;
                    key.full += 1;
                }
                None => return Box::pin(self.open(slot, key, connect)).await,
            }
        }
    }

    /// Whether another request may be sent on a connection.
    pub(crate) fn may_use(&self, connection: &Http2Connection) -> bool {
        let most = self.requests_max;
        connection.is_usable() && most.is_none_or(|most| connection.requests() < most)
    }

    /// Closes every connection.
    pub(crate) fn close(&self) {
        for (_, entry) in self.entries.borrow_mut().drain() {
            if let Entry::Open(connection, _) = entry {
                connection.record();
            }
        }
    }

    /// `streams_max`: what a connection before this one allows, as this one probably will.
    fn look(&self, key: Key, streams_max: usize) -> Option<Look> {
        let mut entries = self.entries.borrow_mut();
        match entries.get_mut(&key)? {
            Entry::Opening(_, users) if *users >= streams_max => Some(Look::Full(streams_max)),
            Entry::Opening(notify, users) => {
                *users += 1;
                Some(Look::Wait(Rc::clone(notify)))
            }
            Entry::Http1Peer => Some(Look::Leased(Leased::Http1Peer)),
            Entry::Open(connection, peer) => {
                if !self.may_use(connection) {
                    entries.remove(&key);
                    return None;
                }
                if connection.is_full() {
                    return Some(Look::Full(connection.streams_max()));
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
        slot: &VuSlot,
        key: Key,
        connect: impl AsyncFnOnce() -> Made,
    ) -> Result<Leased, Broken> {
        let waiting = Rc::new(Notify::new());
        self.entries
            .borrow_mut()
            .insert(key, Entry::Opening(Rc::clone(&waiting), 1));
        let mut attempt = Attempt {
            pool: self,
            key,
            waiting,
            outcome: None,
        };
        let (connected, peer) = connect().await?;
        let opened = Opened {
            dns_ns: connected.dns_ns.unwrap_or(0),
            connect_ns: connected.total_ns(),
        };
        if !connected.http2 && !self.prior_knowledge {
            attempt.outcome = Some(Entry::Http1Peer);
            return Ok(Leased::Http1(connected, peer, opened));
        }
        let connection = slot
            .guard(Http2Connection::open(
                connected.stream,
                connected.address,
                STREAM_WINDOW,
                Rc::clone(&self.seen),
            ))
            .await??;
        attempt.outcome = Some(Entry::Open(connection.clone(), peer));
        Ok(Leased::Http2(Pooled {
            connection,
            peer,
            opened: Some(opened),
        }))
    }
}

enum Look {
    Leased(Leased),
    Wait(Rc<Notify>),
    /// None of its streams is free; holds their number.
    Full(usize),
}

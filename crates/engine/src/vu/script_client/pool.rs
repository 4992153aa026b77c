//! The connections that one virtual user keeps, of both protocols.
//!
//! Must not know requests. Invariant: an HTTP/1.1 connection in here is idle; an HTTP/2 connection
//! may be in use by any number of streams.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Context;

use loadline_model::Nanos;
use loadline_model::url::Origin;
use loadline_script::hop::HopTls;

use crate::client::{
    Http1Connection, Http2Connection, IdleConnections, KeepRules, Keepable, Usage,
};
use crate::connections_seen::ConnectionsSeen;

struct Shared {
    origin: Arc<Origin>,
    connection: Http2,
}

impl Drop for Shared {
    /// Weak: the run may end before the connection does.
    fn drop(&mut self) {
        self.connection.connection.record();
    }
}

/// An HTTP/1.1 connection, and the facts about it that a script gets.
pub(super) struct Http1 {
    pub(super) connection: Box<Http1Connection>,
    pub(super) tls: Option<HopTls>,
    /// Where its end is recorded.
    pub(super) seen: Rc<ConnectionsSeen>,
}

impl Drop for Http1 {
    fn drop(&mut self) {
        self.seen.given_up(self.connection.usage().given_up);
        self.seen.ended(|| self.connection.stream().facts());
    }
}

impl Keepable for Http1 {
    fn usage(&self) -> Usage {
        self.connection.usage()
    }

    fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        self.connection.is_stale(cx)
    }
}

/// An HTTP/2 connection, and the facts about it that a script gets; clones share it.
#[derive(Clone)]
pub(super) struct Http2 {
    pub(super) connection: Http2Connection,
    pub(super) tls: Option<HopTls>,
}

/// A connection to send on.
pub(super) enum Kept {
    Http1(Http1),
    Http2(Http2),
    Nothing,
}

/// The connections that one virtual user keeps.
pub(super) struct Pool {
    idle: RefCell<IdleConnections<Arc<Origin>, Http1>>,
    shared: RefCell<Vec<Shared>>,
}

impl Pool {
    pub(super) fn new(rules: Rc<KeepRules>) -> Pool {
        Pool {
            idle: RefCell::new(IdleConnections::new(rules)),
            shared: RefCell::default(),
        }
    }

    /// A connection to the origin, the most recently used first. Those that have ended are dropped.
    pub(super) fn take(&self, cx: &mut Context<'_>, origin: &Arc<Origin>, now: Nanos) -> Kept {
        if let Some(connection) = self.shared(origin) {
            return Kept::Http2(connection);
        }
        match self.idle.borrow_mut().take(origin, now, cx) {
            Some(connection) => Kept::Http1(connection),
            None => Kept::Nothing,
        }
    }

    /// An HTTP/2 connection to the origin that accepts requests and has a free stream, if there is one; otherwise the
    /// caller makes another, as in Go.
    pub(super) fn shared(&self, origin: &Arc<Origin>) -> Option<Http2> {
        let mut shared = self.shared.borrow_mut();
        if shared.is_empty() {
            return None;
        }
        shared.retain(|kept| kept.connection.connection.is_usable());
        let has_room = |kept: &&Shared| !kept.connection.connection.is_full();
        let mut of_origin = shared.iter().filter(|kept| kept.origin == *origin);
        let kept = of_origin.find(has_room);
        kept.map(|kept| kept.connection.clone())
    }

    /// Keeps a connection that becomes idle, within the rules.
    pub(super) fn put(&self, origin: &Arc<Origin>, connection: Http1, now: Nanos) {
        let mut idle = self.idle.borrow_mut();
        idle.put(Arc::clone(origin), connection, now);
    }

    /// Keeps an HTTP/2 connection for all requests to its origin.
    pub(super) fn share(&self, origin: &Arc<Origin>, connection: Http2) {
        self.shared.borrow_mut().push(Shared {
            origin: Arc::clone(origin),
            connection,
        });
    }

    /// Closes what is idle; an HTTP/2 connection when its last stream has ended.
    pub(super) fn close(&self) {
        self.idle.borrow_mut().close();
        self.shared.borrow_mut().clear();
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.idle.borrow().len()
    }
}

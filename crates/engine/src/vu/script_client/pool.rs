//! The connections that one virtual user keeps: Go's rules for how many.
//!
//! Must not know requests. Invariant: an HTTP/1.1 connection in here is idle; an HTTP/2 connection
//! may be in use by any number of streams.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::Context;

use loadline_model::url::Origin;
use loadline_script::hop::HopTls;

use crate::client::{Http1Connection, Http2Connection};

struct Idle {
    origin: Arc<Origin>,
    connection: Http1,
}

struct Shared {
    origin: Arc<Origin>,
    connection: Http2,
}

/// A connection of HTTP/1.1, and what a script is told of it.
pub(super) struct Http1 {
    pub(super) connection: Http1Connection,
    pub(super) tls: Option<HopTls>,
}

/// A connection of HTTP/2, and what a script is told of it; clones share it.
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
    idle_max: usize,
    idle_per_host_max: usize,
    /// The one used last comes last.
    idle: RefCell<Vec<Idle>>,
    shared: RefCell<Vec<Shared>>,
}

impl Pool {
    /// `idle_max` of zero: no limit.
    pub(super) fn new(idle_max: usize, idle_per_host_max: usize) -> Pool {
        Pool {
            idle_max,
            idle_per_host_max,
            idle: RefCell::default(),
            shared: RefCell::default(),
        }
    }

    /// A connection to the origin, the one used last first. Those that have ended are let go of.
    pub(super) fn take(&self, cx: &mut Context<'_>, origin: &Arc<Origin>) -> Kept {
        if let Some(connection) = self.shared(origin) {
            return Kept::Http2(connection);
        }
        let mut idle = self.idle.borrow_mut();
        while let Some(place) = idle.iter().rposition(|kept| is_same(&kept.origin, origin)) {
            let mut kept = idle.remove(place).connection;
            if !kept.connection.is_stale(cx) {
                return Kept::Http1(kept);
            }
        }
        Kept::Nothing
    }

    /// The HTTP/2 connection to the origin, if there is one that takes requests.
    pub(super) fn shared(&self, origin: &Arc<Origin>) -> Option<Http2> {
        let mut shared = self.shared.borrow_mut();
        if shared.is_empty() {
            return None;
        }
        shared.retain(|kept| kept.connection.connection.is_usable());
        let kept = shared.iter().find(|kept| is_same(&kept.origin, origin));
        kept.map(|kept| kept.connection.clone())
    }

    /// Keeps an idle connection, within the limits.
    pub(super) fn put(&self, origin: &Arc<Origin>, connection: Http1) {
        let mut idle = self.idle.borrow_mut();
        let of_origin = idle.iter().filter(|kept| is_same(&kept.origin, origin));
        if of_origin.count() >= self.idle_per_host_max {
            return;
        }
        if self.idle_max > 0 && idle.len() >= self.idle_max {
            idle.remove(0);
        }
        idle.push(Idle {
            origin: Arc::clone(origin),
            connection,
        });
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
        self.idle.borrow_mut().clear();
        self.shared.borrow_mut().clear();
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.idle.borrow().len()
    }
}

#[inline]
fn is_same(one: &Arc<Origin>, other: &Arc<Origin>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

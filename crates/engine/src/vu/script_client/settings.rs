//! What all script clients of a process, and those of a worker, have in common.
//!
//! The one place where a plan's options become a client's settings. Must not know requests.
//! Invariant: workers share nothing in here that is written while they run, but the pace.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::client::ProxyPlan;
use loadline_model::script_settings::{ScriptNames, ScriptSettings};
use loadline_model::url::Origin;
use loadline_model::{ClientPlan, Nanos};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::pace::Pace;
use super::tls::{TlsMaterial, WorkerConfig};
use crate::clock::Clock;
use crate::net::{Resolver, TlsError, WireBytes, proxy_serves};

/// Time that looking a name up and connecting may take together, as in k6.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// What all script clients of a process have in common.
pub(crate) struct ScriptClientPlan {
    pub(super) names: ScriptNames,
    pub(super) keep_alive: bool,
    /// Most bytes of a body that is kept; a longer one is a failure.
    pub(super) body_max: u64,
    pub(super) closes_after_iteration: bool,
    /// Idle connections kept by one virtual user; zero: no limit.
    pub(super) idle_max: usize,
    /// Of those, to one origin.
    pub(super) idle_per_host_max: usize,
    pub(super) pace: Option<Pace>,
    pub(super) tls: TlsMaterial,
    proxy: Option<ProxyPlan>,
}

impl ScriptClientPlan {
    /// Reads what a plan says of connections.
    ///
    /// # Errors
    /// A client certificate or key that cannot be used.
    pub(crate) fn new(
        client: &ClientPlan,
        script: &ScriptSettings,
    ) -> Result<Arc<ScriptClientPlan>, TlsError> {
        Ok(Arc::new(ScriptClientPlan {
            names: script.names.clone(),
            keep_alive: client.keep_alive,
            body_max: script.http.body_max,
            closes_after_iteration: script.http.closes_after_iteration,
            idle_max: script.http.batch as usize,
            idle_per_host_max: idle_per_host_max(script.http.batch_per_host),
            pace: script.http.requests_per_second.map(Pace::new),
            tls: TlsMaterial::new(&client.tls, &script.tls)?,
            proxy: client.proxy.clone(),
        }))
    }

    /// The proxy to an origin; `None`: direct. What runs on this machine is never asked for through
    /// a proxy, as in Go.
    pub(super) fn proxy(&self, origin: &Origin) -> Option<&ProxyPlan> {
        let proxy = self.proxy.as_ref()?;
        let is_local = origin.host.eq_ignore_ascii_case("localhost")
            || origin
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback());
        (!is_local && proxy_serves(proxy, origin)).then_some(proxy)
    }
}

/// Go's `http.Transport` reads zero as its default of two.
fn idle_per_host_max(batch_per_host: u32) -> usize {
    match batch_per_host {
        0 => 2,
        most => most as usize,
    }
}

/// What the script clients of one worker have in common.
pub(crate) struct ScriptClientSettings {
    pub(super) plan: Arc<ScriptClientPlan>,
    pub(super) clock: Clock,
    pub(super) resolver: Arc<Resolver>,
    pub(super) config: WorkerConfig,
    /// Where connections read into.
    pub(super) scratch: RefCell<Box<[u8]>>,
    /// Bytes over all virtual users of the worker.
    pub(super) bytes: Rc<WireBytes>,
    random: RefCell<Xoshiro256PlusPlus>,
    /// How often each name was resolved, for taking its addresses in turn. Bounded by
    /// [`TURNS_MAX`].
    turns: RefCell<HashMap<String, usize>>,
    rest: Cell<usize>,
}

/// Names whose turn is remembered; what is beyond shares one count. A test names few hosts.
const TURNS_MAX: usize = 1_024;

/// What a worker brings to its script clients.
pub(crate) struct WorkerParts {
    pub(crate) clock: Clock,
    pub(crate) resolver: Arc<Resolver>,
    /// Bytes over the whole worker.
    pub(crate) bytes: Rc<WireBytes>,
    /// What the choice among a name's addresses follows from.
    pub(crate) seed: u64,
}

impl ScriptClientSettings {
    pub(crate) fn new(plan: Arc<ScriptClientPlan>, worker: WorkerParts) -> Rc<Self> {
        Rc::new(ScriptClientSettings {
            plan,
            clock: worker.clock,
            resolver: worker.resolver,
            config: WorkerConfig::default(),
            scratch: RefCell::new(vec![0; crate::vu::shared::SCRATCH_BYTES].into_boxed_slice()),
            bytes: worker.bytes,
            random: RefCell::new(Xoshiro256PlusPlus::seed_from_u64(worker.seed)),
            turns: RefCell::default(),
            rest: Cell::new(0),
        })
    }

    /// Seconds since 1970.
    pub(super) fn unix_s(&self) -> u64 {
        (self.clock.started_unix_ns() + self.clock.now().0) / 1_000_000_000
    }

    /// When a connection attempt that begins now is given up.
    pub(super) fn dial_deadline(&self, request_deadline: Nanos) -> Nanos {
        (self.clock.now() + DIAL_TIMEOUT).min(request_deadline)
    }

    pub(super) fn random_below(&self, count: usize) -> usize {
        (self.random.borrow_mut().next_u64() % count.max(1) as u64) as usize
    }

    /// How often this was asked for `host` before.
    pub(super) fn next_turn(&self, host: &str) -> usize {
        let mut turns = self.turns.borrow_mut();
        if let Some(turn) = turns.get_mut(host) {
            *turn += 1;
            return *turn - 1;
        }
        if turns.len() < TURNS_MAX {
            turns.insert(host.to_owned(), 1);
            return 0;
        }
        self.rest.replace(self.rest.get() + 1)
    }
}

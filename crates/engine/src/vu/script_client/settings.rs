//! What all script clients of a process, and those of a worker, have in common.
//!
//! The one place where a plan's options become a client's settings. Must not know requests.
//! Invariant: workers share nothing here that is written while they run, except the pace.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_go::proxy::is_bypassed;
use loadline_model::client::ProxyPlan;
use loadline_model::script_settings::{ScriptHttp, ScriptSettings};
use loadline_model::url::Origin;
use loadline_model::{ClientPlan, Nanos};

use crate::client::{FailurePace, KeepRules, Pace};
use crate::clock::Clock;
use crate::connections_seen::ConnectionsSeen;
use crate::net::{
    AddressRules, Addresses, Connector, Resolver, Route, TlsError, TlsSettings, WireBytes,
    WorkerTls, proxy_for,
};

/// Time limit for look-up and connecting together, as in k6.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// What all script clients of a process have in common.
pub(crate) struct ScriptClientPlan {
    client: Arc<ClientPlan>,
    addresses: Arc<AddressRules>,
    tls: Arc<TlsSettings>,
    /// Maximum bytes of a kept body; a longer one is a failure.
    pub(super) body_max: u64,
    pub(super) closes_after_iteration: bool,
    keep: KeepRules,
    pub(super) pace: Option<Pace>,
}

impl ScriptClientPlan {
    /// Reads the connection settings of a plan.
    ///
    /// # Errors
    /// A client certificate or key that cannot be used.
    pub(crate) fn new(
        client: &ClientPlan,
        script: &ScriptSettings,
    ) -> Result<Arc<ScriptClientPlan>, TlsError> {
        Ok(Arc::new(ScriptClientPlan {
            client: Arc::new(client.clone()),
            addresses: Arc::new(AddressRules::of_script(&script.names)),
            tls: TlsSettings::of_script(client, &script.tls)?,
            body_max: script.http.body_max,
            closes_after_iteration: script.http.closes_after_iteration,
            keep: keep_rules(client, &script.http),
            pace: script.http.requests_per_second.map(Pace::new),
        }))
    }

    /// The proxy to an origin; `None`: direct. As in Go, this machine is never accessed through a proxy.
    pub(super) fn proxy(&self, origin: &Origin) -> Option<&ProxyPlan> {
        let proxy = proxy_for(origin, &self.client)?;
        (!is_bypassed(&origin.host)).then_some(proxy)
    }

    pub(super) fn keep_alive(&self) -> bool {
        self.client.keep_alive
    }

    /// The route to an origin.
    pub(super) fn route(&self, origin: &Origin) -> Route {
        Route::new(origin, &self.client, self.proxy(origin))
    }
}

/// The settings that k6 passes to Go's `http.Transport`, which reads zero as unlimited in total, and as its
/// default of two per host.
fn keep_rules(client: &ClientPlan, http: &ScriptHttp) -> KeepRules {
    if !client.keep_alive {
        return KeepRules::none();
    }
    let per_host = match http.batch_per_host {
        0 => 2,
        most => most as usize,
    };
    KeepRules {
        total_max: Some(http.batch as usize).filter(|most| *most > 0),
        per_key_max: Some(per_host),
        ..KeepRules::default()
    }
}

/// What the script clients of one worker have in common.
pub(crate) struct ScriptClientSettings {
    pub(super) plan: Arc<ScriptClientPlan>,
    /// Which connections a virtual user keeps.
    pub(super) keep: Rc<KeepRules>,
    pub(super) clock: Clock,
    pub(super) connector: Connector,
    /// The buffer that connections read into.
    pub(super) scratch: RefCell<Box<[u8]>>,
    /// Bytes over all virtual users of the worker.
    pub(super) bytes: Rc<WireBytes>,
    pub(super) failures: FailurePace,
    /// How connections were made, and ended.
    pub(super) connections: Rc<ConnectionsSeen>,
}

/// What a worker provides to its script clients.
pub(crate) struct WorkerParts {
    pub(crate) clock: Clock,
    pub(crate) resolver: Arc<Resolver>,
    /// Bytes over the whole worker.
    pub(crate) bytes: Rc<WireBytes>,
    /// Connections of the whole worker.
    pub(crate) connections: Rc<ConnectionsSeen>,
    /// Determines the choice among a name's addresses.
    pub(crate) seed: u64,
    /// Its number among the workers.
    pub(crate) number: usize,
}

impl ScriptClientSettings {
    pub(crate) fn new(plan: Arc<ScriptClientPlan>, worker: WorkerParts) -> Rc<Self> {
        let connector = Connector {
            clock: worker.clock,
            plan: Arc::clone(&plan.client),
            addresses: Addresses::new(
                Arc::clone(&plan.addresses),
                worker.resolver,
                worker.seed,
                worker.number,
            ),
            tls: WorkerTls::new(&plan.tls),
        };
        Rc::new(ScriptClientSettings {
            keep: Rc::new(plan.keep.clone()),
            plan,
            clock: worker.clock,
            connector,
            scratch: RefCell::new(vec![0; crate::vu::shared::SCRATCH_BYTES].into_boxed_slice()),
            bytes: worker.bytes,
            connections: worker.connections,
            failures: FailurePace::default(),
        })
    }

    /// Seconds since 1970.
    pub(super) fn unix_s(&self) -> u64 {
        (self.clock.started_unix_ns() + self.clock.now().0) / 1_000_000_000
    }

    /// When a connection attempt that starts now is given up.
    pub(super) fn dial_deadline(&self, request_deadline: Nanos) -> Nanos {
        (self.clock.now() + DIAL_TIMEOUT).min(request_deadline)
    }
}

//! A reverse proxy: gateway, request balancer, or the front of an autoscaler.
//!
//! It must not know who started its upstreams. Invariant: the proxy's own time is the total time minus the time
//! from the last byte sent upstream to the last byte read from there, so the two add up.

use super::burner::Burner;
use super::client::{Answered, NoAnswer, Pool};
use super::memory::Memory;
use super::upstreams::Upstreams;
use super::{Factor, unavailable};
use crate::duration::as_ns;
use crate::metrics::{Family, ServiceTimes};
use crate::reply::{Reply, ReplyBody};
use crate::request::Request;
use crate::server::{AnswerBody, Worker};
use crate::testbed::message::Upstream;
use crate::testbed::plan::{
    AutoscalerPlan, BalancerPlan, GatewayPlan, GatewayRoute, MemoryPlan, PartPlan, Policy,
};
use crate::testbed::tally::{CounterSlot, Tally};
use http::header::{
    CONNECTION, CONTENT_LENGTH, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many other replicas are tried if none listens.
const TRIES_MAX: usize = 3;
/// Headers of one connection, which are not forwarded (RFC 9110 §7.6.1); lengths are recomputed.
const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// A running proxy.
pub(crate) struct Proxy {
    kind: &'static str,
    routes: Vec<Route>,
    upstreams: BTreeMap<String, Arc<Upstreams>>,
    burner: Option<Burner>,
    memory: Option<Memory>,
    factor: Factor,
    /// How long a request waits for a replica; `None`: not at all.
    patience: Option<Duration>,
    /// One per worker thread.
    pools: Vec<Pool>,
    tally: Arc<Tally>,
}

/// A route and its times.
struct Route {
    plan: GatewayRoute,
    times: Mutex<Times>,
}

/// Times of the requests of a route that were forwarded.
#[derive(Default, Clone)]
struct Times {
    own: ServiceTimes,
    upstream: ServiceTimes,
    total: ServiceTimes,
}

/// What the three kinds differ in.
struct ProxyShape<'a> {
    kind: &'static str,
    routes: Vec<GatewayRoute>,
    policy: Policy,
    burner: Option<Burner>,
    memory: Option<&'a MemoryPlan>,
    patience: Option<Duration>,
}

impl Proxy {
    /// A gateway.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(super) fn gateway(
        part: &PartPlan,
        plan: &GatewayPlan,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let costs = |route: &GatewayRoute| !route.cpu.is_zero() || !route.cpu_per_kb.is_zero();
        let burner = plan.routes.iter().any(costs);
        let shape = ProxyShape {
            kind: "gateway",
            routes: plan.routes.clone(),
            policy: Policy::RoundRobin,
            burner: burner
                .then(|| Burner::start(plan.workers, plan.room))
                .transpose()?,
            memory: Some(&plan.memory).filter(|memory| memory.is_active()),
            patience: None,
        };
        Self::of(shape, part, tally)
    }

    /// A balancer of requests.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(super) fn balancer(
        part: &PartPlan,
        plan: &BalancerPlan,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let shape = ProxyShape {
            kind: "balancer",
            routes: vec![everything_to(&plan.to)],
            policy: plan.policy.clone(),
            burner: None,
            memory: None,
            patience: None,
        };
        Self::of(shape, part, tally)
    }

    /// The front of an autoscaler, where requests wait for the first replica.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(super) fn autoscaler(
        part: &PartPlan,
        plan: &AutoscalerPlan,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let shape = ProxyShape {
            kind: "autoscaler",
            routes: vec![everything_to(&plan.to)],
            policy: Policy::LeastConnections,
            burner: None,
            memory: None,
            patience: Some(plan.patience),
        };
        Self::of(shape, part, tally)
    }

    fn of(shape: ProxyShape<'_>, part: &PartPlan, tally: &Arc<Tally>) -> io::Result<Self> {
        let upstreams = shape.routes.iter().map(|route| {
            let upstreams = Upstreams::new(shape.policy.clone(), part.seed);
            (route.to.clone(), Arc::new(upstreams))
        });
        let memory = shape.memory.map(|memory| Memory::start(memory, tally));
        Ok(Self {
            kind: shape.kind,
            upstreams: upstreams.collect(),
            routes: shape.routes.into_iter().map(Route::new).collect(),
            burner: shape.burner,
            memory: memory.transpose()?,
            factor: Factor::new(part.factor),
            patience: shape.patience,
            pools: (0..super::run::threads())
                .map(|_| Pool::default())
                .collect(),
            tally: Arc::clone(tally),
        })
    }

    /// Slows down, or back.
    pub(super) fn set_factor(&self, factor: f64) {
        self.factor.set(factor);
    }

    /// Takes the newest lists of replicas.
    pub(super) fn set_upstreams(&self, lists: &BTreeMap<String, Vec<Upstream>>) {
        for (name, upstreams) in &self.upstreams {
            upstreams.replace(lists.get(name).map_or(&[][..], Vec::as_slice));
        }
    }

    /// Forwards a request and brings the answer back.
    pub(super) async fn answer(
        &self,
        worker: &Arc<Worker>,
        request: &Request,
        start_ns: u64,
    ) -> Reply {
        let Some(route) = self.routes.iter().find(|route| route.takes(&request.path)) else {
            return Reply::error(StatusCode::NOT_FOUND, "no route of the gateway leads there");
        };
        let held = self.memory.as_ref().map(Memory::take);
        if let Err(refusal) = self.examine(route, request).await {
            return refusal;
        }
        let upstreams = &self.upstreams[&route.plan.to];
        self.wait_for_somebody(upstreams).await;
        let sent_ns = worker.timer.now_ns();
        let pool = &self.pools[worker.index() % self.pools.len()];
        let answered = self.forward(pool, upstreams, route, request).await;
        drop(held);
        let now_ns = worker.timer.now_ns();
        match answered {
            Ok(answered) => {
                route.record(
                    now_ns.saturating_sub(start_ns),
                    now_ns.saturating_sub(sent_ns),
                );
                reply(answered, &request.method)
            }
            Err(refusal) => refusal,
        }
    }

    /// Burns what a look at the request costs.
    async fn examine(&self, route: &Route, request: &Request) -> Result<(), Reply> {
        let Some(burner) = &self.burner else {
            return Ok(());
        };
        let kilobytes = request.body.len() as f64 / 1_000.0;
        let cpu = route.plan.cpu + route.plan.cpu_per_kb.mul_f64(kilobytes);
        let cpu = cpu.mul_f64(self.factor.get());
        burner.work(cpu, Duration::ZERO).await.map_err(|_| {
            self.tally.add(CounterSlot::Refused, 1);
            unavailable("the gateway has no place for more requests")
        })?;
        self.tally.add(CounterSlot::BurntNs, as_ns(cpu));
        Ok(())
    }

    async fn wait_for_somebody(&self, upstreams: &Upstreams) {
        if let (Some(patience), 0) = (self.patience, upstreams.len()) {
            let _waiting = Waiting::new(&self.tally);
            // When nobody came, that is found out next.
            let _ = tokio::time::timeout(patience, upstreams.somebody()).await;
        }
    }

    async fn forward(
        &self,
        pool: &Pool,
        upstreams: &Upstreams,
        route: &Route,
        request: &Request,
    ) -> Result<Answered, Reply> {
        let mut outgoing = outgoing(request, &route.plan).map_err(|refusal| *refusal)?;
        for _ in 0..TRIES_MAX {
            let Some(picked) = upstreams.pick() else {
                self.tally.add(CounterSlot::Refused, 1);
                return Err(unavailable(&format!(
                    "no replica of {} is ready",
                    route.plan.to
                )));
            };
            match pool.send(picked.address, outgoing).await {
                Ok(answered) => return Ok(answered),
                Err(NoAnswer::Unreachable(unsent)) => outgoing = *unsent,
                Err(NoAnswer::Broken) => break,
            }
        }
        let why = format!("{} did not answer", route.plan.to);
        Err(Reply::error(StatusCode::BAD_GATEWAY, &why))
    }

    /// The proxy's own metrics.
    pub(super) fn families(&self, tally: Option<&Tally>) -> Vec<Family> {
        let routes: Vec<(String, Times)> = self
            .routes
            .iter()
            .map(|route| (route.plan.path.clone(), route.times().clone()))
            .collect();
        let pick = |pick: fn(&Times) -> &ServiceTimes| {
            let series = routes.iter().filter(|(_, times)| times.total.count > 0);
            series
                .map(|(path, times)| (vec![("route", path.clone())], pick(times).clone()))
                .collect()
        };
        let mut families = vec![
            Family::times(
                "proxy_latency_seconds",
                "Time in the proxy alone, of requests that were forwarded.",
                pick(|times| &times.own),
            ),
            Family::times(
                "upstream_latency_seconds",
                "Time from the forwarded request to its whole response.",
                pick(|times| &times.upstream),
            ),
            Family::times(
                "request_latency_seconds",
                "Whole time of requests that were forwarded.",
                pick(|times| &times.total),
            ),
        ];
        if let Some(tally) = tally {
            families.extend(self.counts(tally));
        }
        families
    }

    fn counts(&self, tally: &Tally) -> Vec<Family> {
        let kind = || vec![("kind", self.kind.to_owned())];
        let statuses = tally.read();
        let statuses = statuses.statuses();
        let statuses = statuses.map(|(code, n)| (vec![("code", code.to_string())], n as f64));
        let replicas = self
            .upstreams
            .iter()
            .map(|(name, upstreams)| (vec![("component", name.clone())], upstreams.len() as f64));
        vec![
            Family::counter(
                "proxy_requests_total",
                "Requests by status.",
                statuses.collect(),
            ),
            Family::gauge(
                "proxy_upstreams",
                "Replicas that answer.",
                replicas.collect(),
            ),
            Family::gauge(
                "proxy_in_flight",
                "Requests in progress.",
                vec![(kind(), tally.get(CounterSlot::InFlight) as f64)],
            ),
            Family::gauge(
                "proxy_waiting",
                "Requests that wait for a first replica.",
                vec![(kind(), tally.get(CounterSlot::Waiting) as f64)],
            ),
        ]
    }
}

fn everything_to(to: &str) -> GatewayRoute {
    GatewayRoute {
        path: "/".to_owned(),
        to: to.to_owned(),
        rewrite: None,
        cpu: Duration::ZERO,
        cpu_per_kb: Duration::ZERO,
    }
}

impl Route {
    fn new(plan: GatewayRoute) -> Self {
        Self {
            plan,
            times: Mutex::default(),
        }
    }

    fn takes(&self, path: &str) -> bool {
        rest_behind(path, &self.plan.path).is_some()
    }

    fn record(&self, total_ns: u64, upstream_ns: u64) {
        let mut times = self.times();
        times.total.record(total_ns);
        times.upstream.record(upstream_ns);
        times.own.record(total_ns.saturating_sub(upstream_ns));
    }

    fn times(&self) -> std::sync::MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is left of a path behind whole segments of a prefix: nothing, or text that begins with `/`.
fn rest_behind<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The request as it is sent on.
fn outgoing(
    request: &Request,
    route: &GatewayRoute,
) -> Result<http::Request<AnswerBody>, Box<Reply>> {
    let path = match &route.rewrite {
        None => request.path.clone(),
        Some(rewrite) => {
            let rest = rest_behind(&request.path, &route.path).unwrap_or_default();
            match rewrite.trim_end_matches('/') {
                "" if rest.is_empty() => "/".to_owned(),
                rewrite => format!("{rewrite}{rest}"),
            }
        }
    };
    let query = request.query_text.as_ref();
    let target = query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
    let uri: Uri = target
        .parse()
        .map_err(|_| Box::new(Reply::bad_request("the path cannot be forwarded")))?;
    let mut outgoing = http::Request::new(AnswerBody::full(request.body.clone()));
    *outgoing.method_mut() = request.method.clone();
    *outgoing.uri_mut() = uri;
    let headers = outgoing.headers_mut();
    copy_end_to_end(&request.headers, headers);
    if let Ok(origin) = HeaderValue::from_str(&request.origin()) {
        headers.insert("x-forwarded-for", origin);
    }
    Ok(outgoing)
}

fn copy_end_to_end(from: &HeaderMap, to: &mut HeaderMap) {
    for (name, value) in from {
        if !HOP_BY_HOP.contains(name) && name != "keep-alive" {
            to.append(name, value.clone());
        }
    }
}

fn reply(answered: Answered, method: &Method) -> Reply {
    let mut reply = Reply::new(answered.status);
    copy_end_to_end(&answered.headers, &mut reply.headers);
    if method == Method::HEAD
        && let Some(length) = answered.headers.get(CONTENT_LENGTH)
    {
        // The length of the body that GET would have.
        reply.headers.insert(CONTENT_LENGTH, length.clone());
    }
    reply.body = ReplyBody::Full(answered.body);
    reply
}

/// A request that waits for a first replica.
struct Waiting<'a>(&'a Tally);

impl<'a> Waiting<'a> {
    fn new(tally: &'a Tally) -> Self {
        tally.add(CounterSlot::Waiting, 1);
        Self(tally)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.subtract(CounterSlot::Waiting, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::rest_behind;

    #[test]
    fn prefixes_end_at_segments() {
        assert_eq!(rest_behind("/a/b", "/"), Some("/a/b"));
        assert_eq!(rest_behind("/a/b", "/a"), Some("/b"));
        assert_eq!(rest_behind("/a/b", "/a/"), Some("/b"));
        assert_eq!(rest_behind("/a", "/a"), Some(""));
        assert_eq!(rest_behind("/ab", "/a"), None);
        assert_eq!(rest_behind("/b", "/a"), None);
    }
}

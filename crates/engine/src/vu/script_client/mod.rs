//! The HTTP client of one script virtual user: one hop is one exchange over its own connections.
//!
//! Several hops may be in flight, each in a separate future. Redirects, cookies, codings and metrics are
//! handled before it, in the script. Must not know the purpose of a request. Invariant: a connection that
//! failed, or whose response was not read completely, is never reused.

mod message;
mod pool;
mod received;
mod settings;
#[cfg(test)]
mod tests;
mod told;
mod trouble;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use loadline_model::url::Scheme;
use loadline_model::{ErrorClass, Nanos};
use loadline_script::hop::{HopFailure, HopOutcome, HopRequest, HopTimes};
use loadline_wire::{Codings, Limits, RequestKind, TrailerEnd, ValueBytes};

use self::message::{Additions, asks_to_close, is_replayable, rest_of_body};
use self::pool::{Http1, Http2, Kept, Pool};
use self::received::Received;
use self::told::{Begun, agreed, answer};
use self::trouble::{Occasion, Trouble};
use crate::client::{
    Around, Body, Broken, Http1Connection, Http2Connection, Instants, Message, Pace, Passing, Stop,
    StopSign, TurnedAway,
};
use crate::net::{Cause, Connected, Failure, Owner, Reach, WireBytes};
use crate::slot::{VuSlot, Watch};

pub(crate) use settings::{ScriptClientPlan, ScriptClientSettings, WorkerParts};

/// Timeouts below this get a timer of their own; above it the worker's sweep, which comes at least
/// every 50 ms, is exact to one per cent.
const OWN_TIMER_BELOW: Duration = Duration::from_secs(5);

/// Message buffer that a virtual user keeps between requests: enough for any head, and small compared with its
/// other memory.
const BUFFER_KEPT_MAX: usize = 4 * 1024;

/// Go's limits: a head of ten megabytes with any number of lines and no empty line before the first; trailers that fit
/// into its read buffer and end with two line ends.
const LIMITS: Limits = Limits {
    head_bytes: 10 << 20,
    header_count: 100_000,
    chunk_line_bytes: 4 * 1024,
    trailer_bytes: 4 * 1024,
    trailer_end: TrailerEnd::TwoCrlf,
    blank_bytes: 0,
    codings: Codings::ChunkedAlone,
    values: ValueBytes::NoControls,
};

/// What Go lets a peer send ahead on one stream.
const STREAM_WINDOW: u32 = 4 << 20;

/// The iteration has to end now; what was in flight is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut;

/// The HTTP client of one script virtual user.
pub(crate) struct ScriptClient {
    slot: Rc<VuSlot>,
    settings: Rc<ScriptClientSettings>,
    owner: Owner,
    pool: Pool,
    /// Memory for the next message.
    buffer: RefCell<Vec<u8>>,
    /// The starts of the hops in flight.
    under_way: RefCell<Vec<Nanos>>,
}

/// The outcome of one attempt.
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved once a request, which costs less than a box"
)]
enum Attempt {
    Ended(HopOutcome),
    Cut,
    /// The kept connection had ended: retry at once on another.
    Again,
    /// The peer did not process it: retry later.
    Later(Box<HopFailure>),
}

impl ScriptClient {
    /// The client of the virtual user with a number, from zero.
    pub(crate) fn new(
        vu: u64,
        slot: Rc<VuSlot>,
        settings: Rc<ScriptClientSettings>,
    ) -> ScriptClient {
        let bytes = Rc::new(WireBytes::within(Rc::clone(&settings.bytes)));
        let pool = Pool::new(Rc::clone(&settings.keep));
        ScriptClient {
            owner: Owner {
                bytes,
                vu,
                is_looking_up: Cell::new(false),
            },
            slot,
            settings,
            pool,
            buffer: RefCell::default(),
            under_way: RefCell::default(),
        }
    }

    /// From now on requests are stopped through another slot.
    pub(crate) fn move_to(&mut self, slot: &Rc<VuSlot>) {
        self.slot = Rc::clone(slot);
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    /// [`Cut`] if the iteration was interrupted; all other failures are part of the outcome.
    #[inline]
    pub(crate) async fn exchange(&self, request: &HopRequest) -> Result<HopOutcome, Cut> {
        match &self.settings.plan.pace {
            Some(pace) if !request.follows => Box::pin(self.exchange_at_pace(pace, request)).await,
            _ => self.exchange_now(request).await,
        }
    }

    #[inline]
    async fn exchange_now(&self, request: &HopRequest) -> Result<HopOutcome, Cut> {
        let now = self.settings.clock.now();
        let watch = self.slot.watch(request.deadline);
        let left = Duration::from_nanos(request.deadline.since(now));
        if left.is_zero() {
            let begun = Begun {
                asked: now,
                got: now,
                ..Begun::default()
            };
            return Ok(Err(self.not_begun(request, begun, &timed_out())));
        }
        self.under_way.borrow_mut().push(now);
        let outcome = match left < OWN_TIMER_BELOW {
            true => Box::pin(self.run_with_timer(&watch, request, now, left)).await,
            false => self.run(&watch, request, now).await,
        };
        if outcome.is_ok() {
            self.is_over(now);
        }
        if let Ok(Err(failure)) = &outcome {
            let (failures, now) = (&self.settings.failures, self.settings.clock.now());
            let watch = self.slot.watch(Nanos::MAX);
            Box::pin(failures.hold_up(failure.class, now, &watch)).await;
        }
        outcome
    }

    /// Closes the connections that the options do not allow to be kept.
    pub(crate) fn end_of_iteration(&self) {
        if self.settings.plan.closes_after_iteration {
            self.pool.close();
        }
    }

    /// A hop that began at this instant is no longer in flight.
    fn is_over(&self, begun: Nanos) {
        let mut under_way = self.under_way.borrow_mut();
        if let Some(at) = under_way.iter().position(|it| *it == begun) {
            under_way.swap_remove(at);
        }
    }

    /// The starts of the hops that were in flight when the iteration ended; all of them are abandoned.
    pub(crate) fn take_cut(&self) -> Vec<Nanos> {
        self.under_way.borrow_mut().drain(..).collect()
    }

    /// Bytes sent and received since the last call, including TLS and connection setup.
    pub(crate) fn take_bytes(&self) -> (u64, u64) {
        self.owner.bytes.take()
    }

    /// Time spent waiting for the limit is not part of the request.
    async fn exchange_at_pace(&self, pace: &Pace, request: &HopRequest) -> Result<HopOutcome, Cut> {
        let asked = self.settings.clock.now();
        let wait = Duration::from_nanos(pace.reserve(asked).since(asked));
        if wait.is_zero() {
            return self.exchange_now(request).await;
        }
        let watch = self.slot.watch(Nanos::MAX);
        if let Err(Stop::Cut) = watch.guard(tokio::time::sleep(wait)).await {
            return Err(Cut);
        }
        let held = self.settings.clock.now().since(asked);
        let request = HopRequest {
            deadline: request.deadline + Duration::from_nanos(held),
            ..request.clone()
        };
        let mut outcome = self.exchange_now(&request).await?;
        match &mut outcome {
            Ok(answer) => answer.times.held = held,
            Err(failure) => failure.times.held = held,
        }
        Ok(outcome)
    }

    async fn run_with_timer(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        now: Nanos,
        left: Duration,
    ) -> Result<HopOutcome, Cut> {
        let mut timer = pin!(tokio::time::sleep(left));
        let mut work = pin!(self.run(watch, request, now));
        let mut has_rung = false;
        poll_fn(|cx| {
            if !has_rung && timer.as_mut().poll(cx).is_ready() {
                has_rung = true;
                watch.expire();
            }
            work.as_mut().poll(cx)
        })
        .await
    }

    #[inline]
    async fn run(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        now: Nanos,
    ) -> Result<HopOutcome, Cut> {
        let mut asked = now;
        let mut turned_away = TurnedAway::default();
        loop {
            let kept = poll_fn(|cx| Poll::Ready(self.pool.take(cx, &request.origin, asked))).await;
            let begun = Begun {
                asked,
                got: asked,
                ..Begun::default()
            };
            let attempt = match kept {
                Kept::Http1(connection) => self.over_http1(watch, request, begun, connection).await,
                Kept::Http2(connection) => {
                    Box::pin(self.over_http2(watch, request, begun, connection)).await
                }
                Kept::Nothing => Box::pin(self.over_new(watch, request, asked)).await,
            };
            match attempt {
                Attempt::Ended(outcome) => return Ok(outcome),
                Attempt::Cut => return Err(Cut),
                Attempt::Again => {}
                Attempt::Later(failure) => match Box::pin(turned_away.wait(watch)).await {
                    Ok(true) => {}
                    Ok(false) => return Ok(Err(*failure)),
                    Err(Stop::Cut) => return Err(Cut),
                    Err(Stop::TimedOut) => {
                        return Ok(Err(self.not_begun(request, begun, &timed_out())));
                    }
                },
            }
            asked = self.settings.clock.now();
        }
    }

    #[inline]
    async fn over_http1(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        begun: Begun,
        mut kept: Http1,
    ) -> Attempt {
        let mut buffer = self.buffer.take();
        if let Err(failure) = message::write(&mut buffer, request, self.additions(request)) {
            return Attempt::Ended(Err(self.not_begun(request, begun, &failure)));
        }
        let mut received = Received::new(self.body_max(request), passing(request));
        let mut instants = Instants::default();
        let message = Message {
            kind: RequestKind::of(&request.method),
            head: &buffer,
            body: Body::Bytes(rest_of_body(request)),
        };
        let connection = &mut kept.connection;
        let outcome = connection
            .exchange(&self.around(watch), message, &mut received, &mut instants)
            .await;
        if buffer.capacity() <= BUFFER_KEPT_MAX {
            self.buffer.replace(buffer);
        }
        let (remote, tls) = (connection.address(), kept.tls);
        let is_kept = connection.was_kept();
        match outcome {
            Ok(()) => {
                if !asks_to_close(request) {
                    self.pool.put(&request.origin, kept, instants.done);
                }
                let times = begun.times(&instants, instants.done);
                Attempt::Ended(Ok(answer(received, remote, tls, times, &instants)))
            }
            Err(Broken::Stopped(Stop::Cut)) => Attempt::Cut,
            Err(Broken::Stopped(Stop::TimedOut)) => {
                let failure = timed_out();
                self.failed(request, begun, &instants, &failure, remote, received)
            }
            Err(Broken::Failed(failure)) if is_kept && may_go_again(&failure, request) => {
                Attempt::Again
            }
            Err(Broken::Failed(failure)) => {
                self.failed(request, begun, &instants, &failure, remote, received)
            }
        }
    }

    async fn over_http2(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        begun: Begun,
        kept: Http2,
    ) -> Attempt {
        // As in Go, even if the request is not fit to be sent.
        if asks_to_close(request) {
            kept.connection.retire();
        }
        let message = match message::for_http2(request) {
            Ok(message) => message,
            Err(failure) => return Attempt::Ended(Err(self.not_begun(request, begun, &failure))),
        };
        let Http2 {
            mut connection,
            tls,
        } = kept;
        let remote = connection.address;
        let mut received = Received::new(self.body_max(request), passing(request));
        let mut instants = Instants::default();
        let around = self.around(watch);
        let outcome = match connection.reserve(&around).await {
            Ok(place) => {
                let instants = &mut instants;
                connection
                    .exchange(place, &around, message, &mut received, instants)
                    .await
            }
            Err(broken) => Err(broken),
        };
        match outcome {
            Ok(()) => {
                let times = begun.times(&instants, instants.done);
                Attempt::Ended(Ok(answer(received, remote, tls, times, &instants)))
            }
            Err(Broken::Stopped(Stop::Cut)) => Attempt::Cut,
            Err(Broken::Stopped(Stop::TimedOut)) => {
                let failure = timed_out();
                self.failed(request, begun, &instants, &failure, remote, received)
            }
            Err(Broken::Failed(failure)) => {
                let failed = self.failure(request, begun, &instants, &failure, remote, received);
                match failure.is_turned_away() {
                    true => Attempt::Later(Box::new(failed)),
                    false => Attempt::Ended(Err(failed)),
                }
            }
        }
    }

    async fn over_new(&self, watch: &Watch<'_>, request: &HopRequest, asked: Nanos) -> Attempt {
        let mut begun = Begun {
            asked,
            got: asked,
            ..Begun::default()
        };
        if let Err(failure) = message::check(request) {
            return Attempt::Ended(Err(self.not_begun(request, begun, &failure)));
        }
        let connected = match self.connect(watch, request, &mut begun).await {
            Ok(connected) => connected,
            Err(Some(failure)) => {
                return Attempt::Ended(Err(self.not_begun(request, begun, &failure)));
            }
            Err(None) => return Attempt::Cut,
        };
        begun.got = self.settings.clock.now();
        let tls = connected.tls.as_ref().and_then(agreed);
        let Connected {
            stream,
            address: remote,
            http2,
            ..
        } = connected;
        if !http2 {
            let kept = Http1 {
                connection: Box::new(Http1Connection::new(stream, remote, LIMITS, begun.got)),
                tls,
                seen: Rc::clone(&self.settings.connections),
            };
            return self.over_http1(watch, request, begun, kept).await;
        }
        let seen = Rc::clone(&self.settings.connections);
        // Another request may already have made a connection that all share.
        let connection = match self.pool.shared(&request.origin) {
            Some(shared) => shared,
            None => match Http2Connection::open(stream, remote, STREAM_WINDOW, seen).await {
                Ok(connection) => {
                    let connection = Http2 { connection, tls };
                    if self.settings.plan.keep_alive() {
                        self.pool.share(&request.origin, connection.clone());
                    }
                    connection
                }
                Err(failure) => {
                    return Attempt::Ended(Err(self.not_begun(request, begun, &failure)));
                }
            },
        };
        self.over_http2(watch, request, begun, connection).await
    }

    /// Makes a connection, and records how long that took; `Err(None)` if the iteration was interrupted.
    async fn connect(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        begun: &mut Begun,
    ) -> Result<Connected, Option<Failure>> {
        let outcome = self.try_connect(watch, request, begun).await;
        match &outcome {
            Ok(connected) => self.settings.connections.made(connected),
            Err(_) => self.settings.connections.failed(),
        }
        outcome
    }

    async fn try_connect(
        &self,
        watch: &Watch<'_>,
        request: &HopRequest,
        begun: &mut Begun,
    ) -> Result<Connected, Option<Failure>> {
        let route = self.settings.plan.route(&request.origin);
        let connector = &self.settings.connector;
        let deadline = self.settings.dial_deadline(request.deadline);
        watch.set_deadline(deadline);
        let opened = match watch.guard(connector.open(&route, &self.owner)).await {
            Ok(opened) => opened?,
            Err(Stop::Cut) => return Err(None),
            Err(Stop::TimedOut) if deadline < request.deadline => {
                return Err(Some(not_connected_in_time(&route.origin.host_port())));
            }
            Err(Stop::TimedOut) => return Err(Some(timed_out())),
        };
        watch.set_deadline(request.deadline);
        begun.connecting_ns = opened.connect_ns;
        match watch.guard(connector.prepare(opened, &route)).await {
            Ok(Ok(connected)) => {
                begun.handshaking_ns = connected.tls_ns().unwrap_or(0);
                Ok(connected)
            }
            Ok(Err(failure)) => Err(Some(failure)),
            Err(Stop::Cut) => Err(None),
            Err(Stop::TimedOut) => Err(Some(timed_out())),
        }
    }

    fn around<'a>(&'a self, watch: &'a Watch<'a>) -> Around<'a, Watch<'a>> {
        Around {
            clock: &self.settings.clock,
            stop: watch,
            scratch: &self.settings.scratch,
        }
    }

    /// Bytes of a response's body that are kept; `None`: it is not needed.
    fn body_max(&self, request: &HopRequest) -> Option<u64> {
        request.keep_body.then_some(self.settings.plan.body_max)
    }

    fn additions(&self, request: &HopRequest) -> Additions<'_> {
        let proxy = match request.origin.scheme {
            Scheme::Http => self.settings.plan.proxy(&request.origin),
            Scheme::Https => None,
        };
        Additions {
            close: !self.settings.plan.keep_alive(),
            via_proxy: proxy.is_some(),
            proxy_authorization: proxy.and_then(|proxy| proxy.authorization.as_deref()),
        }
    }

    /// The result of a hop that had a connection.
    #[cold]
    fn failed(
        &self,
        request: &HopRequest,
        begun: Begun,
        instants: &Instants,
        failure: &Failure,
        remote: Option<SocketAddr>,
        received: Received,
    ) -> Attempt {
        Attempt::Ended(Err(
            self.failure(request, begun, instants, failure, remote, received)
        ))
    }

    fn failure(
        &self,
        request: &HopRequest,
        begun: Begun,
        instants: &Instants,
        failure: &Failure,
        remote: Option<SocketAddr>,
        received: Received,
    ) -> HopFailure {
        let told = self.told(request, failure);
        HopFailure {
            remote,
            times: begun.times(instants, told.done_at),
            partial_body: received.into_partial_body(),
            ..told
        }
    }

    /// The result of a hop without a connection: k6 only reports its connecting time.
    #[cold]
    fn not_begun(&self, request: &HopRequest, begun: Begun, failure: &Failure) -> HopFailure {
        HopFailure {
            times: HopTimes {
                connecting: begun.connecting_ns,
                ..HopTimes::default()
            },
            ..self.told(request, failure)
        }
    }

    /// A failure in k6's terms.
    fn told(&self, request: &HopRequest, failure: &Failure) -> HopFailure {
        let occasion = Occasion {
            host: &request.origin.host,
            unix_s: self.settings.unix_s(),
            is_proxied: self.settings.plan.proxy(&request.origin).is_some(),
        };
        let trouble = Trouble::of(failure, occasion);
        HopFailure {
            class: failure.class,
            code: trouble.code,
            tag: trouble.tag,
            detail: trouble.detail,
            protocol: None,
            remote: None,
            tls: None,
            times: HopTimes::default(),
            done_at: self.settings.clock.now(),
            partial_body: None,
        }
    }
}

/// Whether a request that failed on a kept connection is retried: Go's rule. As in k6, only as much of a followed
/// redirect is read as keeps the connection.
fn passing(request: &HopRequest) -> Passing {
    match request.leads_on {
        true => Passing::as_go(),
        false => Passing::default(),
    }
}

fn may_go_again(failure: &Failure, request: &HopRequest) -> bool {
    match failure.reach {
        Reach::Unsent => true,
        Reach::Unanswered => is_replayable(request),
        Reach::Begun => false,
    }
}

fn timed_out() -> Failure {
    Failure::timeout("no complete response within the timeout")
}

fn not_connected_in_time(host_port: &str) -> Failure {
    let why = "no connection within the connect timeout";
    let host_port = host_port.to_owned();
    Failure::new(ErrorClass::ConnectTimeout, why).because(Cause::ConnectTimeout { host_port })
}

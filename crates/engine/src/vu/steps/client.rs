//! The HTTP client of one thread of steps: one exchange over its own connections, as JMeter's client keeps them.
//!
//! Must not know samplers. Invariant: an exchange that started records exactly one outcome, even if it is
//! interrupted.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use loadline_metric::HttpTimes;
use loadline_model::client::ProxyPlan;
use loadline_model::url::{Origin, Scheme};
use loadline_model::{ErrorClass, Nanos, is_good_status};
use loadline_steps::http::{HttpAnswer, HttpAsk, HttpClient, HttpFault, HttpReply};
use loadline_wire::{Codings, Head, Limits, RequestKind, ResponseSink};

use super::java_words::{closed, java_fault, nothing_of_gzip, unfit};
use crate::client::{
    Around, Body, Broken, Http1Connection, IdleConnections, Instants, KeepRules, Message, Passing,
    Receiver, Stop, Wish,
};
use crate::clock::Clock;
use crate::exchange::{Answer, AnswerReceiver, Wants, begins_as_gzip, is_gzip};
use crate::net::{Failure, KnownRoute, Wanted};
use crate::record::Life;
use crate::slot::{VuSlot, Watch};
use crate::vu::beginning::Beginning;
use crate::vu::client::{FateGuard, Held};
use crate::vu::follow::note_phases;
use crate::vu::shared::Shared;

/// Concurrent futures, by their numbers.
pub(super) type UnderWay<'a, T> = Vec<(usize, Pin<Box<dyn Future<Output = T> + 'a>>)>;

/// Waits for the first of several to end; returns its number.
pub(super) async fn first_of<T>(under_way: &mut UnderWay<'_, T>) -> (usize, T) {
    poll_fn(|cx| {
        let mut all = under_way.iter_mut().enumerate();
        let ended = all.find_map(|(place, (_, one))| match one.as_mut().poll(cx) {
            Poll::Ready(outcome) => Some((place, outcome)),
            Poll::Pending => None,
        });
        let Some((place, outcome)) = ended else {
            return Poll::Pending;
        };
        let (number, _) = under_way.remove(place);
        Poll::Ready((number, outcome))
    })
    .await
}

/// JMeter's client uses the last transfer coding.
const LIMITS: Limits = Limits {
    codings: Codings::ByTheLast,
    ..Limits::DEFAULT
};

/// JMeter's rules: `httpclient4.time_to_live`, and the idle time after which its client looks whether a peer has
/// closed.
fn keep_rules() -> KeepRules {
    KeepRules {
        lifetime: Some(Duration::from_secs(60)),
        look_after: Duration::from_millis(4_900),
        ..KeepRules::default()
    }
}

/// The HTTP client of one thread.
pub(super) struct StepsClient {
    shared: Rc<Shared>,
    slot: Rc<VuSlot>,
    /// Those of the thread; a branch of it adds its own, which end with it.
    idle: Vec<Rc<Idle>>,
    /// Buffers that finished exchanges leave for later ones; several exchanges may be in flight.
    spare: Rc<RefCell<Vec<Desk>>>,
    wants: Wants,
    /// How long exchanges took since the last query.
    times: Rc<Cell<HttpTimes>>,
    /// How much later than planned the next exchange is; `None` in a closed model.
    late_ns: Rc<Cell<Option<u64>>>,
}

/// Kept connections, by the route's index and the client that made them: clients share none.
type Idle = RefCell<IdleConnections<(usize, HttpClient), Held>>;

fn no_connections() -> Rc<Idle> {
    Rc::new(RefCell::new(IdleConnections::new(Rc::new(keep_rules()))))
}

/// The state of one exchange.
#[derive(Default)]
struct Desk {
    head: Vec<u8>,
    answer: Answer,
}

/// A response being read, and what only this front end needs of it.
struct StepsReceiver<'a> {
    inner: AnswerReceiver<'a>,
    reason: String,
    is_http_1_0: bool,
    header_bytes: u64,
    silence: &'a Silence<'a>,
}

/// Bytes of a head as JMeter's client reads them.
fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// How long the target may be silent.
struct Silence<'a> {
    clock: &'a Clock,
    watch: &'a Watch<'a>,
    /// `None`: no limit.
    limit: Option<Duration>,
}

impl Silence<'_> {
    /// Counted from now.
    fn begin(&self) {
        let limit = self.limit;
        self.watch
            .set_deadline(limit.map_or(Nanos::MAX, |limit| self.clock.now() + limit));
    }
}

impl ResponseSink for StepsReceiver<'_> {
    fn head(&mut self, head: &Head<'_>) {
        let reason = latin_1(head.reason().unwrap_or_default());
        reason.trim().clone_into(&mut self.reason);
        self.is_http_1_0 = head.minor_version() == 0;
        self.header_bytes = head.wire_len() as u64;
        self.inner.head(head);
    }

    fn body(&mut self, piece: &[u8]) {
        self.inner.body(piece);
    }
}

impl Receiver for StepsReceiver<'_> {
    fn http2_head(&mut self, head: &http::response::Parts) {
        self.inner.http2_head(head);
    }

    fn wish(&self) -> Result<Wish, Failure> {
        if self.silence.limit.is_some() {
            self.silence.begin();
        }
        self.inner.wish()
    }
}

/// The outcome of an exchange that got a response.
struct Got {
    peer: Option<usize>,
    reason: String,
    is_http_1_0: bool,
    header_bytes: u64,
}

impl StepsClient {
    pub(super) fn new(shared: Rc<Shared>, slot: Rc<VuSlot>) -> StepsClient {
        let wants = Wants {
            headers: true,
            body_max: shared.client.body_kept_max,
            ..Wants::default()
        };
        StepsClient {
            shared,
            slot,
            idle: vec![no_connections()],
            spare: Rc::default(),
            wants,
            times: Rc::default(),
            late_ns: Rc::default(),
        }
    }

    /// The client of a branch of the thread, with its own connections.
    pub(super) fn of_branch(&self) -> StepsClient {
        let mut idle = self.idle.clone();
        idle.push(no_connections());
        StepsClient {
            shared: Rc::clone(&self.shared),
            slot: Rc::clone(&self.slot),
            idle,
            spare: Rc::clone(&self.spare),
            wants: self.wants.clone(),
            times: Rc::clone(&self.times),
            late_ns: Rc::clone(&self.late_ns),
        }
    }

    /// The connections that it uses.
    fn idle(&self) -> &Idle {
        self.idle.last().expect("there is always one")
    }

    /// Records how late an iteration starts. Its first exchange was due that much earlier; pauses of the plan are
    /// intended.
    pub(super) fn begin_iteration(&self, beginning: &Beginning) {
        let started = beginning.started;
        let late_ns = beginning.intended.map(|due| started.since(due));
        self.late_ns.set(late_ns);
    }

    /// The scheduled start of an exchange that starts now; `None` in a closed model.
    fn intended(&self, started: Nanos) -> Option<Nanos> {
        let late_ns = self.late_ns.get()?;
        self.late_ns.set(Some(0));
        Some(Nanos(started.0.saturating_sub(late_ns)))
    }

    /// How long exchanges took since the last call.
    pub(super) fn take_times(&self) -> HttpTimes {
        self.times.take()
    }

    fn note_times(&self, life: &Life) {
        let mut times = self.times.get();
        times.blocked += life.blocked_ns;
        times.connecting += life.connect_ns;
        times.sending += life.sending_ns;
        times.waiting += life.waiting_ns;
        times.receiving += life.receiving_ns;
        self.times.set(times);
    }

    /// Performs an exchange.
    ///
    /// # Errors
    /// The thread was interrupted.
    pub(super) async fn exchange(&self, ask: &HttpAsk) -> Result<HttpAnswer, Stop> {
        if ask.anew {
            self.idle.iter().for_each(|idle| idle.borrow_mut().close());
        }
        let spare = self.spare.borrow_mut().pop();
        let mut desk = spare.unwrap_or_default();
        let shared = Rc::clone(&self.shared);
        let started = shared.clock.now();
        let mut fate = FateGuard {
            shared: &shared,
            life: Life::begin(self.intended(started), started),
            known: false,
        };
        shared.recorder.borrow_mut().started(&fate.life);
        let mut instants = Instants::default();
        let outcome = self
            .send(ask, &mut desk, &mut fate.life, &mut instants)
            .await;
        let failure = match outcome {
            Ok(got) => {
                fate.known = true;
                let answer = self.answered(ask, &fate.life, &instants, &desk.answer, got);
                self.spare.borrow_mut().push(desk);
                return Ok(answer);
            }
            Err(Broken::Stopped(Stop::Cut)) => return Err(Stop::Cut),
            Err(Broken::Stopped(Stop::TimedOut)) => match instants.sent {
                Nanos::ZERO => {
                    let why = "no connection within the connect timeout";
                    Failure::new(ErrorClass::ConnectTimeout, why)
                }
                _ => Failure::timeout("no response within the response timeout"),
            },
            Err(Broken::Failed(failure)) => failure,
        };
        fate.known = true;
        Ok(self.failed(ask, &mut fate.life, &instants, &failure).await)
    }

    async fn send(
        &self,
        ask: &HttpAsk,
        desk: &mut Desk,
        life: &mut Life,
        instants: &mut Instants,
    ) -> Result<Got, Broken> {
        let watch = self.slot.watch(Nanos::MAX);
        let origin = Origin {
            scheme: match ask.scheme.as_str() {
                "https" => Scheme::Https,
                _ => Scheme::Http,
            },
            host: ask.host.clone(),
            port: ask.port,
        };
        let route = self.route(&origin, ask);
        let mut held = match self.take((route.index, ask.client)).await {
            Some(held) => held,
            None => self.connect(ask, &route, &watch, life).await?,
        };
        let silence = Silence {
            clock: &self.shared.clock,
            watch: &watch,
            limit: ask.response_timeout_ms.map(Duration::from_millis),
        };
        silence.begin();
        write_head(&mut desk.head, ask);
        desk.answer.clear();
        let mut receiver = StepsReceiver {
            inner: AnswerReceiver {
                answer: &mut desk.answer,
                wants: &self.wants,
                body_read_max: self.shared.client.body_read_max,
                // As in JMeter, each hop is a sample with everything that it received.
                passing: Passing::default(),
            },
            reason: String::new(),
            is_http_1_0: false,
            header_bytes: 0,
            silence: &silence,
        };
        let around = Around {
            clock: &self.shared.clock,
            stop: &watch,
            scratch: &self.shared.scratch,
        };
        let message = Message {
            kind: kind_of(&ask.method),
            head: &desk.head,
            body: Body::Bytes(&ask.body),
        };
        let exchanged = held
            .connection
            .exchange(&around, message, &mut receiver, instants);
        exchanged.await?;
        let got = Got {
            peer: held.peer,
            reason: receiver.reason,
            is_http_1_0: receiver.is_http_1_0,
            header_bytes: receiver.header_bytes,
        };
        if ask.keep_alive {
            let mut idle = self.idle().borrow_mut();
            idle.put((route.index, ask.client), held, instants.done);
        }
        Ok(got)
    }

    /// The route to an origin.
    fn route(&self, origin: &Origin, ask: &HttpAsk) -> Rc<KnownRoute> {
        let (routes, plan) = (&self.shared.routes, &self.shared.client);
        let Some(way) = &ask.way else {
            return routes.to(origin, plan);
        };
        let proxy = way.proxy.as_ref().map(|proxy| ProxyPlan {
            host: proxy.host.clone(),
            port: proxy.port,
            authorization: proxy.authorization.clone(),
            except: Vec::new(),
            for_http: true,
            for_https: true,
        });
        let wanted = Wanted {
            addresses: way.addresses.clone(),
            name: way.name.clone(),
            source: way.source,
            proxy,
        };
        routes.wanted(origin, plan, &wanted)
    }

    /// A reusable kept connection of a route.
    async fn take(&self, route: (usize, HttpClient)) -> Option<Held> {
        let now = self.shared.clock.now();
        poll_fn(|cx| Poll::Ready(self.idle().borrow_mut().take(&route, now, cx))).await
    }

    async fn connect(
        &self,
        ask: &HttpAsk,
        route: &KnownRoute,
        watch: &Watch<'_>,
        life: &mut Life,
    ) -> Result<Held, Broken> {
        let begun = self.shared.clock.now();
        let limit = ask.connect_timeout_ms.map(Duration::from_millis);
        watch.set_deadline(limit.map_or(Nanos::MAX, |limit| begun + limit));
        let connecting = self.shared.connect(watch, self.slot.global, &route.route);
        let (connected, peer) = connecting.await?;
        let now = self.shared.clock.now();
        life.blocked_ns += now.since(begun);
        life.dns_ns += connected.dns_ns.unwrap_or(0);
        life.connect_ns += connected.total_ns();
        let connection = Http1Connection::new(connected.stream, connected.address, LIMITS, now);
        Ok(Held {
            connection: Box::new(connection),
            peer,
            shared: Rc::clone(&self.shared),
        })
    }

    fn answered(
        &self,
        ask: &HttpAsk,
        life: &Life,
        instants: &Instants,
        answer: &Answer,
        got: Got,
    ) -> HttpAnswer {
        let mut life = *life;
        let begun = life.started + Duration::from_nanos(life.blocked_ns);
        note_phases(&mut life, begun, instants);
        self.note_times(&life);
        let body = self.plain_body(ask, answer);
        let is_good = is_good_status(answer.status) && body.is_ok();
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.answered(&life, answer, is_good, got.peer);
        self.shared.last_done.set(life.done);
        if self.shared.takes_body() {
            let body = body.as_deref().unwrap_or(&answer.body);
            recorder.sample_body(answer, body);
        }
        let fields = answer.headers.iter();
        HttpAnswer {
            start_ms: self.unix_ms(life.started),
            elapsed_ms: whole_ms(life.done.since(life.started)),
            latency_ms: whole_ms(instants.first_byte.since(life.started)),
            connect_ms: whole_ms(life.connect_ns),
            sent_bytes: instants.sent_bytes,
            reply: body.map(|body| HttpReply {
                status: answer.status,
                is_http_1_0: got.is_http_1_0,
                reason: got.reason,
                headers: fields
                    .map(|(name, value)| (latin_1(name), latin_1(value)))
                    .collect(),
                header_bytes: got.header_bytes,
                body_bytes: match body.is_empty() && !answer.body.is_empty() {
                    true => 0,
                    false => instants.received_bytes.saturating_sub(got.header_bytes),
                },
                body: body.into_owned(),
            }),
        }
    }

    /// The body with its content coding decoded. Java's own client only knows gzip, and yields nothing for
    /// invalid data.
    fn plain_body<'a>(
        &self,
        ask: &HttpAsk,
        answer: &'a Answer,
    ) -> Result<Cow<'a, [u8]>, HttpFault> {
        let coding = answer.content_coding.as_deref();
        let body = &answer.body;
        if ask.client == HttpClient::Java && !body.is_empty() {
            match coding.is_some_and(is_gzip) {
                true if begins_as_gzip(body) => {}
                true => return Ok(Cow::Borrowed(&[])),
                false => return Ok(Cow::Borrowed(body)),
            }
        }
        if ask.client == HttpClient::Apache && lacks_its_gzip(&ask.method, answer) {
            return Err(nothing_of_gzip());
        }
        let plain = answer.plain_body(self.shared.client.body_kept_max);
        plain.map_err(|error| unfit(&error, coding, body))
    }

    async fn failed(
        &self,
        ask: &HttpAsk,
        life: &mut Life,
        instants: &Instants,
        failure: &Failure,
    ) -> HttpAnswer {
        life.done = self.shared.clock.now();
        let label = format!("{} {}", ask.method, ask.target);
        self.shared
            .recorder
            .borrow_mut()
            .failed(life, &label, failure);
        self.shared.last_done.set(life.done);
        let now = self.shared.clock.now();
        let failures = &self.shared.failures;
        let watch = self.slot.watch(Nanos::MAX);
        failures.hold_up(failure.class, now, &watch).await;
        HttpAnswer {
            start_ms: self.unix_ms(life.started),
            elapsed_ms: whole_ms(life.done.since(life.started)),
            latency_ms: 0,
            connect_ms: whole_ms(life.connect_ns),
            sent_bytes: instants.sent_bytes,
            reply: Err(java_fault(failure, ask)),
        }
    }

    /// The result of an exchange that was interrupted.
    pub(super) fn closed_since(&self, begun: Nanos) -> HttpAnswer {
        HttpAnswer {
            start_ms: self.unix_ms(begun),
            elapsed_ms: whole_ms(self.shared.clock.now().since(begun)),
            latency_ms: 0,
            connect_ms: 0,
            sent_bytes: 0,
            reply: Err(closed()),
        }
    }

    fn unix_ms(&self, at: Nanos) -> i64 {
        let ns = self.shared.clock.started_unix_ns() + at.0;
        i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
    }
}

/// How a method affects its response; JMeter's client does not treat CONNECT specially.
fn kind_of(method: &str) -> RequestKind {
    match method {
        "CONNECT" => RequestKind::of("POST"),
        method => RequestKind::of(method),
    }
}

/// Whole milliseconds, as JMeter counts them.
fn whole_ms(ns: u64) -> u64 {
    ns / 1_000_000
}

/// Writes the head of a request.
fn write_head(buffer: &mut Vec<u8>, ask: &HttpAsk) {
    buffer.clear();
    for part in [
        ask.method.as_str(),
        " ",
        ask.target.as_str(),
        " HTTP/1.1\r\n",
    ] {
        buffer.extend_from_slice(part.as_bytes());
    }
    for (name, value) in &ask.headers {
        push_within_line(buffer, name, b'?');
        buffer.extend_from_slice(b": ");
        push_within_line(buffer, value, b' ');
        buffer.extend_from_slice(b"\r\n");
    }
    buffer.extend_from_slice(b"\r\n");
}

/// Writes a value that must not add a line to the head: as in JMeter's client, one byte per character, `?` for
/// characters without one and for line ends.
fn push_within_line(buffer: &mut Vec<u8>, text: &str, line_end: u8) {
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
    if text.as_bytes().iter().all(is_plain) {
        return buffer.extend_from_slice(text.as_bytes());
    }
    let byte_of = |c: char| match c {
        '\r' | '\n' | '\u{b}' | '\u{c}' => line_end,
        '\t' | ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        _ => b'?',
    };
    buffer.extend(text.chars().map(byte_of));
}

/// Whether a body that may not be empty, being gzip, is: Apache's client begins to decode whatever is not announced as
/// nothing.
fn lacks_its_gzip(method: &str, answer: &Answer) -> bool {
    let is_nothing = |(name, value): &(Vec<u8>, Vec<u8>)| {
        name.eq_ignore_ascii_case(b"content-length") && value.as_slice() == b"0"
    };
    answer.body_bytes == 0
        && answer.content_coding.as_deref().is_some_and(is_gzip)
        && method != "HEAD"
        && !matches!(answer.status, 204 | 304)
        && !answer.headers.iter().any(is_nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_gzip_unless_it_is_announced() {
        let mut answer = Answer::default();
        answer.status = 200;
        answer.content_coding = Some("gzip".to_owned());
        assert!(lacks_its_gzip("GET", &answer) && !lacks_its_gzip("HEAD", &answer));
        let length = (b"Content-Length".to_vec(), b"0".to_vec());
        answer.headers.push(length);
        assert!(!lacks_its_gzip("GET", &answer));
    }
}

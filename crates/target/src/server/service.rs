//! From a request to its response: the fast path, the body, the endpoint, the wait, the fault, the record.
//!
//! It must not know how connections are driven. Invariant: every request that reaches a handler is recorded
//! once, with the status that the client should see (0 if it should see none).

use super::body::AnswerBody;
use super::connection::{Busy, Connection};
use super::worker::Worker;
use crate::duration::as_ns;
use crate::endpoints::{self, Endpoint, EndpointContext};
use crate::faults::{self, Fault};
use crate::metrics::PathId;
use crate::reply::{Reply, ReplyBody};
use crate::request::{Request, parse_query};
use crate::testbed::Outcome;
use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::service::Service;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

/// The path of the quick answer.
const QUICK_PATH: &str = "/ok";
/// The body of the quick answer.
const QUICK_BODY: &[u8] = b"ok";

/// Answers the requests of one connection.
pub(crate) struct Handler {
    worker: Arc<Worker>,
    connection: Arc<Connection>,
    peer: IpAddr,
    secure: bool,
    http2: bool,
}

/// The request has no regular answer: the stream or connection ends instead.
#[derive(Debug)]
pub(crate) struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no regular response, as asked")
    }
}

impl std::error::Error for NoAnswer {}

/// An answer that is ready, or one in the making.
pub(crate) enum Answering {
    /// Ready; `None` once taken.
    Ready(Option<Response<AnswerBody>>),
    /// In the making.
    Working(Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, NoAnswer>> + Send>>),
}

impl Future for Answering {
    type Output = Result<Response<AnswerBody>, NoAnswer>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Ready(response) => Poll::Ready(response.take().ok_or(NoAnswer)),
            Self::Working(future) => future.as_mut().poll(cx),
        }
    }
}

impl Service<http::Request<Incoming>> for Handler {
    type Response = Response<AnswerBody>;
    type Error = NoAnswer;
    type Future = Answering;

    fn call(&self, request: http::Request<Incoming>) -> Answering {
        let start_ns = self.worker.timer.now_ns();
        let number = self.connection.count_request(start_ns);
        let limit = self.worker.shared.config.max_requests_per_connection;
        let last = limit.is_some_and(|limit| number >= limit.get());
        if last && self.http2 {
            self.connection.ask_to_finish();
        }
        let close = last && !self.http2;
        if self.is_quick(&request) {
            return Answering::Ready(Some(self.quick(start_ns, close)));
        }
        let exchange = Exchange {
            worker: Arc::clone(&self.worker),
            connection: Arc::clone(&self.connection),
            peer: self.peer,
            secure: self.secure,
            http2: self.http2,
            close,
            start_ns,
        };
        Answering::Working(Box::pin(exchange.run(request)))
    }
}

impl Handler {
    /// A handler for one connection.
    pub(crate) fn new(
        worker: Arc<Worker>,
        connection: Arc<Connection>,
        peer: IpAddr,
        secure: bool,
        http2: bool,
    ) -> Self {
        Self {
            worker,
            connection,
            peer,
            secure,
            http2,
        }
    }

    fn is_quick(&self, request: &http::Request<Incoming>) -> bool {
        request.uri().path() == QUICK_PATH
            && request.method() == Method::GET
            && request.uri().query().is_none()
            && request.body().is_end_stream()
            && self.worker.shared.routes.is_empty()
            && self.worker.shared.part.is_none()
    }

    fn quick(&self, start_ns: u64, close: bool) -> Response<AnswerBody> {
        let mut response = Response::new(AnswerBody::full(Bytes::from_static(QUICK_BODY)));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        if close {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let elapsed_ns = self.worker.timer.now_ns().saturating_sub(start_ns);
        let path = PathId::endpoint(Endpoint::Ok);
        self.worker
            .recorder
            .record(path, &Method::GET, 200, elapsed_ns);
        response
    }
}

/// One request and its answer.
struct Exchange {
    worker: Arc<Worker>,
    connection: Arc<Connection>,
    peer: IpAddr,
    secure: bool,
    http2: bool,
    close: bool,
    start_ns: u64,
}

impl Exchange {
    async fn run(
        mut self,
        request: http::Request<Incoming>,
    ) -> Result<Response<AnswerBody>, NoAnswer> {
        let busy = Busy::new(Arc::clone(&self.connection));
        let (request, refusal) = self.receive(request).await;
        let part = self.worker.shared.part.as_ref();
        let visit = part.map(|part| part.enter(&request));
        let (path, fault, reply) = match refusal {
            Some(reply) => (Some(PathId::endpoint(Endpoint::NotFound)), None, reply),
            None => self.respond(&request).await,
        };
        if let Some(instant_ns) = reply.not_before_ns {
            self.worker.timer.sleep_until(instant_ns).await;
        }
        let answer = self.disturb(fault, reply, &request.method).await;
        let status = answer.as_ref().map_or(0, |reply| reply.status.as_u16());
        let elapsed_ns = self.worker.timer.now_ns().saturating_sub(self.start_ns);
        if let Some(path) = path {
            self.worker
                .recorder
                .record(path, &request.method, status, elapsed_ns);
        }
        if let (Some(part), Some(visit)) = (part, visit) {
            visit.answered(status);
            part.log(&self.worker, &request, status, elapsed_ns);
        }
        let mut reply = answer.ok_or(NoAnswer)?;
        if let Some(part) = part {
            part.sign(&mut reply);
        }
        Ok(self.response(reply, busy))
    }

    /// Takes the request in; the second value is the answer to one that breaks a limit.
    async fn receive(&mut self, request: http::Request<Incoming>) -> (Request, Option<Reply>) {
        let (mut parts, body) = request.into_parts();
        if let Some(authority) = parts.uri.authority()
            && let Ok(host) = HeaderValue::from_str(authority.as_str())
        {
            parts.headers.entry(HOST).or_insert(host);
        }
        let limits = &self.worker.shared.config.limits;
        let received = if body.is_end_stream() {
            Ok(Bytes::new())
        } else {
            let whole = collect(body, limits.body_bytes);
            let timely = tokio::time::timeout(limits.body_time, whole).await;
            timely.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
        };
        let (body, refusal) = match received {
            Ok(body) => (body, None),
            Err(status) => {
                self.close = !self.http2;
                (
                    Bytes::new(),
                    Some(Reply::error(status, "the request body broke a limit")),
                )
            }
        };
        let request = Request {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query_text: parts.uri.query().map(str::to_owned),
            query: parts.uri.query().map(parse_query).unwrap_or_default(),
            headers: parts.headers,
            body,
            peer: self.peer,
            secure: self.secure,
        };
        (request, refusal)
    }

    /// As [`Exchange::answer`]; a part of a testbed comes first, and may answer what no endpoint counts.
    async fn respond(&self, request: &Request) -> (Option<PathId>, Option<Fault>, Reply) {
        let outcome = match &self.worker.shared.part {
            None => Outcome::Endpoint,
            Some(part) => part.answer(&self.worker, request, self.start_ns).await,
        };
        match outcome {
            Outcome::Own(reply) => (None, None, reply),
            Outcome::Instead(reply) => (Some(self.path_id(request)), None, reply),
            Outcome::Endpoint => {
                let (path, fault, reply) = self.answer(request);
                (Some(path), fault, reply)
            }
        }
    }

    fn path_id(&self, request: &Request) -> PathId {
        let mut dice = self.worker.dice();
        let context = EndpointContext {
            shared: &self.worker.shared,
            dice: &mut dice,
        };
        endpoints::find(&context, request).path_id()
    }

    /// The endpoint's answer, what it is counted under, and the fault that it will meet.
    fn answer(&self, request: &Request) -> (PathId, Option<Fault>, Reply) {
        let shared = &self.worker.shared;
        let mut dice = self.worker.dice();
        let fault = match &request.query[..] {
            [] => Ok(None),
            _ => faults::choose(request, shared.config.limits.delay, &mut dice),
        };
        let mut context = EndpointContext {
            shared,
            dice: &mut dice,
        };
        let found = endpoints::find(&context, request);
        let path = found.path_id();
        match fault {
            Err(reason) => (path, None, Reply::bad_request(reason)),
            Ok(Some(fault)) if fault.replaces_answer() => {
                let status = match fault {
                    Fault::Fail(status) => status,
                    _ => StatusCode::OK,
                };
                (path, Some(fault), Reply::error(status, "failed as asked"))
            }
            Ok(fault) => (path, fault, endpoints::answer(&mut context, found, request)),
        }
    }

    /// Applies the fault; `None` means that there is no regular answer.
    async fn disturb(&self, fault: Option<Fault>, reply: Reply, method: &Method) -> Option<Reply> {
        match fault {
            None | Some(Fault::Fail(_)) => Some(reply),
            Some(Fault::SlowBody(time)) => Some(faults::slow_body(time, reply)),
            Some(Fault::Stall) => {
                let longest_ns = as_ns(self.worker.shared.config.limits.delay);
                self.worker
                    .timer
                    .sleep_until(self.start_ns.saturating_add(longest_ns))
                    .await;
                None
            }
            Some(fault) if self.http2 => {
                let reply = fault.on_stream(reply, self.worker.timer.now_ns())?;
                if let Some(instant_ns) = reply.not_before_ns {
                    self.worker.timer.sleep_until(instant_ns).await;
                }
                Some(reply)
            }
            Some(fault) => {
                self.connection
                    .leave_wire_answer(fault.on_wire(reply, method));
                None
            }
        }
    }

    fn response(&self, reply: Reply, busy: Busy) -> Response<AnswerBody> {
        let Reply {
            status,
            headers,
            body,
            ..
        } = reply;
        let length = match &body {
            ReplyBody::Chunks { length, .. } => *length,
            ReplyBody::Full(_) => None,
        };
        let mut response = Response::new(AnswerBody::new(body, &self.worker.timer, busy));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        let headers = response.headers_mut();
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The whole body.
///
/// # Errors
/// 413 when it is too long, 400 when it breaks off.
pub(crate) async fn collect(body: Incoming, limit: usize) -> Result<Bytes, StatusCode> {
    let mut body = pin!(body);
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    loop {
        let frame = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() else {
            continue;
        };
        if all.len() + first.as_ref().map_or(0, Bytes::len) + data.len() > limit {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        match first.take() {
            None if all.is_empty() => first = Some(data),
            None => all.extend_from_slice(&data),
            Some(earlier) => {
                all.extend_from_slice(&earlier);
                all.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| all.freeze()))
}

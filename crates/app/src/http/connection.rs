//! One connection: requests in, responses out.
//!
//! Must not know routes. Invariants: a client refused by the guard gets its response before its body is read;
//! data from clients takes bounded memory, and an idle client is disconnected.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

use super::guard::Guard;
use super::{Answer, Asked, Service, Work};

/// Maximum bytes of all bodies being read together; the data of `setup()` is the longest body.
const BODIES_MAX: usize = 64 << 20;
/// Maximum bytes of a request's head.
const HEAD_MAX: usize = 64 << 10;
/// How long a client may take to send the head of a request: it occupies a connection slot.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to send a body, and to read its response.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service behind its guard.
pub(super) struct Guarded<S> {
    guard: Guard,
    service: Arc<S>,
    /// Bytes of bodies being read.
    bodies: AtomicUsize,
}

impl<S: Service> Guarded<S> {
    pub(super) fn new(guard: Guard, service: Arc<S>) -> Guarded<S> {
        Guarded {
            guard,
            service,
            bodies: AtomicUsize::new(0),
        }
    }
}

/// A connection as others see it.
#[derive(Default)]
pub(super) struct Seat {
    /// Whether the guard has accepted a request on it.
    has_asked: Cell<bool>,
    /// Cuts the connection when notified.
    cut: Arc<Notify>,
}

impl Seat {
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.get()
    }

    pub(super) fn cut(&self) {
        self.cut.notify_one();
    }
}

/// Serves until the client or the test ends, or the connection is cut.
pub(super) async fn serve(
    stream: TcpStream,
    seat: Rc<Seat>,
    guarded: Arc<Guarded<impl Service>>,
    mut stopped: watch::Receiver<bool>,
) {
    give_up_when_unread(&stream);
    let answering = service_fn(|request| {
        let (guarded, seat) = (Arc::clone(&guarded), Rc::clone(&seat));
        async move { Ok::<_, Infallible>(respond(request, &guarded, &seat).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), answering);
    let mut served = pin!(served);
    tokio::select! {
        // Errors of the client's connection do not matter to anyone else.
        _ = served.as_mut() => return,
        () = seat.cut.notified() => return,
        _ = stopped.changed() => served.as_mut().graceful_shutdown(),
    }
    drop(served.await);
}

/// Lets the system close a connection whose client does not read its response.
fn give_up_when_unread(stream: &TcpStream) {
    // If the option is unavailable, the connection only occupies its slot longer.
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(PATIENCE));
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

async fn respond(
    request: Request<Incoming>,
    guarded: &Arc<Guarded<impl Service>>,
    seat: &Seat,
) -> Response<Content> {
    let service = &guarded.service;
    let (head, body) = request.into_parts();
    let query = head.uri.query().unwrap_or_default();
    if let Err(why) = guarded.guard.check(&head.method, query, &head.headers) {
        return whole(service.refused(why));
    }
    seat.has_asked.set(true);
    let mut room = Room::in_(&guarded.bodies);
    let body = match timeout(PATIENCE, read(body, &mut room)).await {
        Ok(Ok(body)) => body,
        Ok(Err(TooMuch)) => return whole(service.too_large()),
        Err(_) => return whole(service.too_slow()),
    };
    let asked = Asked {
        method: &head.method,
        path: head.uri.path(),
        body: &body,
        cut: &seat.cut,
    };
    match service.answer(&asked) {
        Work::Done(answer) => whole(answer),
        Work::Stream(answer, channel) => response(answer, Content::Stream(channel)),
        Work::Later(work) => {
            let (done, answer) = tokio::sync::oneshot::channel();
            let work = move || {
                // The client may have disconnected.
                drop(done.send(work()));
            };
            match std::thread::Builder::new()
                .name("later".to_owned())
                .spawn(work)
            {
                Ok(_) => whole(answer.await.unwrap_or_else(|_| service.broken())),
                Err(_) => whole(service.broken()),
            }
        }
    }
}

/// The body is longer than the available room, or was cut off.
struct TooMuch;

/// The part of the shared room that one body takes; released when this is dropped.
struct Room<'a> {
    of_all: &'a AtomicUsize,
    own: usize,
}

impl<'a> Room<'a> {
    fn in_(of_all: &'a AtomicUsize) -> Room<'a> {
        Room { of_all, own: 0 }
    }

    fn take(&mut self, more: usize) -> Result<(), TooMuch> {
        self.own += more;
        let before = self.of_all.fetch_add(more, Ordering::Relaxed);
        match before + more > BODIES_MAX {
            true => Err(TooMuch),
            false => Ok(()),
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.of_all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

async fn read(mut body: Incoming, room: &mut Room<'_>) -> Result<Vec<u8>, TooMuch> {
    let mut whole = Vec::new();
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let Some(frame) = frame else {
            return Ok(whole);
        };
        let frame = frame.map_err(|_| TooMuch)?;
        if let Some(data) = frame.data_ref() {
            room.take(data.len())?;
            whole.extend_from_slice(data);
        }
    }
}

fn whole(mut answer: Answer) -> Response<Content> {
    let body = std::mem::take(&mut answer.body);
    response(answer, Content::Whole(Some(Bytes::from(body))))
}

fn response(answer: Answer, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(kind) = answer.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in answer.headers {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The body of a response.
enum Content {
    /// Complete from the start.
    Whole(Option<Bytes>),
    /// Sent as it is produced.
    Stream(mpsc::Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Content::Whole(data) => {
                let data = data.take().filter(|data| !data.is_empty());
                Poll::Ready(data.map(|data| Ok(Frame::data(data))))
            }
            Content::Stream(channel) => {
                let next = channel.poll_recv(cx);
                next.map(|data| data.map(|data| Ok(Frame::data(data))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Content::Whole(data) => data.as_ref().is_none_or(Bytes::is_empty),
            Content::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(data) => {
                SizeHint::with_exact(data.as_ref().map_or(0, |data| data.len() as u64))
            }
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

//! One connection: requests in, answers out.
//!
//! Must not know routes. Invariant: a body beyond the limit is refused, and a client that says nothing
//! is given up.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
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

use super::{Answer, Asked, Service, Work};

/// Most bytes of a body; data of `setup()` is the longest that there is.
const BODY_MAX: usize = 64 << 20;
/// How long a client may take until the head of a request is there: a place is kept for it.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take for a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers until the client or the test ends, or the connection is cut.
pub(super) async fn serve(
    stream: TcpStream,
    service: Arc<impl Service>,
    mut stopped: watch::Receiver<bool>,
) {
    let cut = Arc::new(Notify::new());
    let answering = service_fn(|request| {
        let (service, cut) = (Arc::clone(&service), Arc::clone(&cut));
        async move { Ok::<_, Infallible>(respond(request, &service, &cut).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .serve_connection(TokioIo::new(stream), answering);
    let mut served = pin!(served);
    tokio::select! {
        // What a client did to its connection concerns nobody else.
        _ = served.as_mut() => return,
        () = cut.notified() => return,
        _ = stopped.changed() => served.as_mut().graceful_shutdown(),
    }
    drop(served.await);
}

async fn respond(
    request: Request<Incoming>,
    service: &Arc<impl Service>,
    cut: &Arc<Notify>,
) -> Response<Content> {
    let (head, body) = request.into_parts();
    let body = match timeout(PATIENCE, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(TooMuch)) => return whole(service.too_large()),
        Err(_) => return whole(service.too_slow()),
    };
    let asked = Asked {
        method: &head.method,
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body: &body,
        cut,
    };
    match service.answer(&asked) {
        Work::Done(answer) => whole(answer),
        Work::Stream(answer, channel) => response(answer, Content::Stream(channel)),
        Work::Later(work) => {
            let (done, answer) = tokio::sync::oneshot::channel();
            let work = move || {
                // The client may have gone away.
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

/// The body is longer than may be, or broke off.
struct TooMuch;

async fn read(mut body: Incoming) -> Result<Vec<u8>, TooMuch> {
    let mut whole = Vec::new();
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let Some(frame) = frame else {
            return Ok(whole);
        };
        let frame = frame.map_err(|_| TooMuch)?;
        if let Some(data) = frame.data_ref() {
            if whole.len() + data.len() > BODY_MAX {
                return Err(TooMuch);
            }
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

/// The body of an answer.
enum Content {
    /// It is there from the start.
    Whole(Option<Bytes>),
    /// It comes as it comes.
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

//! One connection of the REST API: requests in, answers out.
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
use tokio::sync::watch;
use tokio::time::timeout;

use super::routes::{Answer, Api, Work};

/// Most bytes of a body; data of `setup()` is the longest that there is.
const BODY_MAX: usize = 64 << 20;
/// How long a client may take until the head of a request is there: a place is kept for it.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take for a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers until the client or the test ends.
pub(super) async fn serve(stream: TcpStream, api: Arc<Api>, mut stopped: watch::Receiver<bool>) {
    let service = service_fn(|request| {
        let api = Arc::clone(&api);
        async move { Ok::<_, Infallible>(respond(request, &api).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    tokio::select! {
        // What a client did to its connection concerns nobody else.
        _ = served.as_mut() => return,
        _ = stopped.changed() => served.as_mut().graceful_shutdown(),
    }
    drop(served.await);
}

async fn respond(request: Request<Incoming>, api: &Arc<Api>) -> Response<Whole> {
    let (head, body) = request.into_parts();
    let body = match timeout(PATIENCE, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(TooMuch)) => return response(Answer::too_large()),
        Err(_) => return response(Answer::too_slow()),
    };
    let answer = match api.answer(&head.method, head.uri.path(), &body) {
        Work::Done(answer) => answer,
        Work::Script(work) => {
            let (done, answer) = tokio::sync::oneshot::channel();
            let work = move || {
                // The client may have gone away.
                drop(done.send(work()));
            };
            match std::thread::Builder::new()
                .name("rest-script".to_owned())
                .spawn(work)
            {
                Ok(_) => answer.await.unwrap_or_else(|_| Answer::broken()),
                Err(_) => Answer::broken(),
            }
        }
    };
    response(answer)
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

fn response(answer: Answer) -> Response<Whole> {
    let mut response = Response::new(Whole(Some(Bytes::from(answer.body))));
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

/// A body that is there from the start.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = self.0.take().filter(|data| !data.is_empty());
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |data| data.len() as u64))
    }
}

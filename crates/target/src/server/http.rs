//! Drives one connection: TLS, the choice between HTTP/1.1 and HTTP/2, and responses that are not HTTP.
//!
//! It must not know endpoints. Invariant: whatever the client sends, the task ends, at the latest when the
//! sweep requests it.

use super::connection::{Connection, Wish};
use super::service::Handler;
use super::transport::{Stream, Transport};
use super::worker::Worker;
use crate::duration::as_ns;
use crate::faults::{WireAnswer, WireEnd};
use crate::reply::Chunk;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How an HTTP/2 connection with prior knowledge begins (RFC 9113 §3.4); no HTTP/1 method starts so.
const PREFACE_START: &[u8; 3] = b"PRI";
/// The pause before a connection that sent one or two bytes of the preface is looked at again.
const SNIFF_PAUSE: Duration = Duration::from_millis(1);
/// How long a connection lingers after an answer whose length was wrong.
const LINGER: Duration = Duration::from_secs(5);
/// How often a silent HTTP/2 peer is asked whether it is alive.
const PING: Duration = Duration::from_secs(30);
/// Flow-control window of one HTTP/2 stream and of the connection: request bodies need not wait for it.
const WINDOW: u32 = 1024 * 1024;

/// Serves a connection until it ends.
pub(super) async fn drive(
    worker: &Arc<Worker>,
    connection: &Arc<Connection>,
    tcp: TcpStream,
    peer: SocketAddr,
    tls: bool,
) {
    let served = async {
        let opened = unless_stopping(connection, open(worker, tcp, tls)).await;
        let Some((stream, http2)) = opened else {
            return;
        };
        let tally = worker.tally().cloned();
        let transport = Transport::new(stream, Arc::clone(connection), tally);
        let handler = Handler::new(
            Arc::clone(worker),
            Arc::clone(connection),
            peer.ip(),
            tls,
            http2,
        );
        if http2 {
            serve_http2(worker, connection, transport, handler).await;
        } else {
            serve_http1(worker, connection, transport, handler).await;
        }
    };
    until_aborted(connection, served).await;
}

/// Performs the handshake and returns whether the client uses HTTP/2; `None` if it failed or left.
async fn open(worker: &Worker, tcp: TcpStream, tls: bool) -> Option<(Stream, bool)> {
    match (&worker.tls, tls) {
        (Some(acceptor), true) => {
            let stream = acceptor.accept(tcp).await.ok()?;
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            Some((Stream::Tls(Box::new(stream)), http2))
        }
        _ => {
            let http2 = speaks_http2(&tcp).await?;
            Some((Stream::Plain(tcp), http2))
        }
    }
}

/// Runs a future that has not served a request yet; a stop of the server ends it immediately.
async fn unless_stopping<T>(
    connection: &Connection,
    future: impl Future<Output = Option<T>>,
) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match connection.wish() {
        Wish::Continue => future.as_mut().poll(cx),
        Wish::Finish | Wish::Abort => Poll::Ready(None),
    })
    .await
}

/// Runs the future, but ends when the connection is aborted.
async fn until_aborted(connection: &Connection, future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut registered = false;
    poll_fn(|cx| {
        if !std::mem::replace(&mut registered, true) {
            connection.register(cx);
        }
        if connection.wish() == Wish::Abort {
            return Poll::Ready(());
        }
        future.as_mut().poll(cx)
    })
    .await;
}

/// Looks at the first bytes without taking them; `None` when the client left.
async fn speaks_http2(tcp: &TcpStream) -> Option<bool> {
    let mut start = [0; PREFACE_START.len()];
    loop {
        let seen = tcp.peek(&mut start).await.ok().filter(|seen| *seen > 0)?;
        if start[..seen] != PREFACE_START[..seen] {
            return Some(false);
        }
        if seen == start.len() {
            return Some(true);
        }
        tokio::time::sleep(SNIFF_PAUSE).await;
    }
}

async fn serve_http1(
    worker: &Arc<Worker>,
    connection: &Connection,
    transport: Transport,
    handler: Handler,
) {
    let config = &worker.shared.config;
    let mut http = http1::Builder::new()
        .keep_alive(config.keep_alive)
        .title_case_headers(true)
        .max_headers(config.limits.headers)
        .max_buf_size(config.limits.head_bytes.max(8_192))
        .max_header_size(config.limits.head_bytes)
        .serve_connection(TokioIo::new(transport), handler);
    let mut finishing = false;
    let ended = poll_fn(|cx| {
        if connection.wish() == Wish::Finish && !std::mem::replace(&mut finishing, true) {
            Pin::new(&mut http).graceful_shutdown();
        }
        http.poll_without_shutdown(cx)
    })
    .await;
    // An error has told the client what it could be told, or is what a wire answer replaces.
    drop(ended);
    let mut transport = http.into_parts().io.into_inner();
    match connection.take_wire_answer() {
        Some(answer) => write_wire(worker, transport, answer).await,
        // While the server stops nobody is waited for.
        None if connection.wish() == Wish::Finish => drop(transport.shutdown().await),
        None => close_gently(&mut transport).await,
    }
}

async fn serve_http2(
    worker: &Arc<Worker>,
    connection: &Connection,
    transport: Transport,
    handler: Handler,
) {
    let limits = &worker.shared.config.limits;
    let http = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .keep_alive_interval(PING)
        .serve_connection(TokioIo::new(transport), handler);
    let mut http = pin!(http);
    let mut finishing = false;
    let ended = poll_fn(|cx| {
        if connection.wish() == Wish::Finish && !std::mem::replace(&mut finishing, true) {
            http.as_mut().graceful_shutdown();
        }
        let polled = http.as_mut().poll(cx);
        // The last request that this connection may carry can arrive in the poll itself.
        if polled.is_pending() && !finishing && connection.wish() == Wish::Finish {
            cx.waker().wake_by_ref();
        }
        polled
    });
    // The client sees how its connection ended; there is nobody else to tell.
    drop(ended.await);
}

/// Writes bytes that are no regular answer, then ends the connection as the fault asks.
async fn write_wire(worker: &Arc<Worker>, mut transport: Transport, answer: WireAnswer) {
    for chunk in answer.chunks {
        let Chunk::Data { pause, bytes } = chunk else {
            break;
        };
        if !pause.is_zero() {
            worker
                .timer
                .sleep_until(worker.timer.now_ns() + as_ns(pause))
                .await;
        }
        if transport.write_all(&bytes).await.is_err() {
            return;
        }
    }
    if transport.flush().await.is_err() {
        return;
    }
    match answer.end {
        WireEnd::Reset => transport.reset_on_close(),
        WireEnd::Linger => {
            let _ = tokio::time::timeout(LINGER, transport.read_u8()).await;
        }
        WireEnd::Close => close_gently(&mut transport).await,
    }
}

/// Closes so that the client can read all that was written: unread input would turn the close into a reset.
async fn close_gently(transport: &mut Transport) {
    if transport.shutdown().await.is_err() {
        return;
    }
    let mut unread = [0; 4_096];
    let drained = async { while matches!(transport.read(&mut unread).await, Ok(1..)) {} };
    let _ = tokio::time::timeout(LINGER, drained).await;
}

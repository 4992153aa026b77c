//! Accepts incoming connections, as long as the system has file descriptors.
//!
//! Must not know what is sent over them. Invariants: if file descriptors are exhausted, accepting is retried at
//! intervals; if that lasts, whoever waits for agents is notified.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use loadline_engine::platform;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::server::Shared;

/// Maximum connections waiting to be handled.
const WAITING_MAX: usize = 16;
/// Time until accepting is retried after a failure.
const PAUSE: Duration = Duration::from_millis(100);
/// How long accepting may fail before it is reported: file descriptors may become free.
const PATIENCE: Duration = Duration::from_secs(2);

/// The incoming connections of a listener, as long as they are handled.
pub(super) fn connections(
    listener: TcpListener,
    shared: Arc<Shared>,
) -> ReceiverStream<io::Result<TcpStream>> {
    let (taker, taken) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        tokio::select! {
            () = let_in(&listener, &taker, &shared) => {}
            () = taker.closed() => {}
        }
    });
    ReceiverStream::new(taken)
}

async fn let_in(
    listener: &TcpListener,
    taker: &mpsc::Sender<io::Result<TcpStream>>,
    shared: &Shared,
) {
    let mut refused_since = None;
    loop {
        let error = match listener.accept().await {
            Ok((stream, _)) => {
                refused_since = None;
                if taker.send(Ok(stream)).await.is_err() {
                    return;
                }
                continue;
            }
            Err(error) => error,
        };
        let now = platform::monotonic_ns();
        let since = *refused_since.get_or_insert(now);
        if now.saturating_sub(since) > PATIENCE.as_nanos() as u64 {
            let why = format!("{error}; raise the system's limits, such as ulimit -n 1024");
            shared.decide(|roster| {
                roster.nobody_can_join(&why);
                Vec::new()
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

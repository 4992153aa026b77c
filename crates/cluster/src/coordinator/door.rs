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

/// Connections that wait until somebody takes them.
const WAITING_MAX: usize = 16;
/// Until it is tried again where the system let nobody in.
const PAUSE: Duration = Duration::from_millis(100);
/// For how long it may let nobody in before that is told: others may give something back.
const PATIENCE: Duration = Duration::from_secs(2);

/// The connections that come in at a listener, until nobody takes them any more.
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

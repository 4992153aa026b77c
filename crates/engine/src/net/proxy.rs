//! Asking a proxy for a tunnel (CONNECT).
//!
//! Must not know what travels through the tunnel. Invariant: not one byte that follows the proxy's
//! answer is swallowed; a proxy that sends bytes before we do is refused.

use loadline_model::ErrorClass;
use loadline_wire::{
    Discard, Limits, RequestHead, RequestKind, RequestTarget, ResponseParser, State,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::failure::{Failure, Stage};
use super::socket::Socket;

/// Makes a tunnel to `host_port` through the proxy at the other end of `socket`.
pub(crate) async fn open_tunnel(
    socket: &mut Socket,
    host_port: &str,
    authorization: Option<&str>,
) -> Result<(), Failure> {
    let mut head = RequestHead::new("CONNECT", RequestTarget::Authority(host_port)).host(host_port);
    if let Some(credentials) = authorization {
        head = head.header("Proxy-Authorization", credentials);
    }
    let bytes = head
        .finish()
        .map_err(|error| Failure::new(ErrorClass::Proxy, error.to_string()))?;
    socket
        .write_all(&bytes)
        .await
        .map_err(|error| Failure::io(Stage::Sending, &error))?;

    let mut parser = ResponseParser::new(Limits::default());
    parser.start(RequestKind::of("CONNECT"));
    let mut sink = Discard::default();
    let mut buffer = [0_u8; 1_024];
    loop {
        let length = socket
            .read(&mut buffer)
            .await
            .map_err(|error| Failure::io(Stage::Reading, &error))?;
        if length == 0 {
            return Err(Failure::new(
                ErrorClass::Proxy,
                "the proxy closed instead of answering",
            ));
        }
        let progress = parser
            .feed(&buffer[..length], &mut sink)
            .map_err(|error| Failure::new(ErrorClass::Proxy, error.to_string()))?;
        if sink
            .status
            .is_some_and(|status| !(200..300).contains(&status))
        {
            let status = sink.status.unwrap_or_default();
            return Err(Failure::new(
                ErrorClass::Proxy,
                format!("the proxy answered CONNECT with status {status}"),
            ));
        }
        if matches!(progress.state, State::Done { .. }) {
            if progress.consumed < length {
                let why = "the proxy sent bytes before the tunnel was used";
                return Err(Failure::new(ErrorClass::Proxy, why));
            }
            return Ok(());
        }
    }
}

//! Requests a tunnel from a proxy (CONNECT).
//!
//! Must not know the tunnel's traffic. Invariant: no byte after the proxy's response is lost; a proxy that
//! sends bytes before the client does is refused.

use std::fmt;

use loadline_model::ErrorClass;
use loadline_wire::{
    Head, Limits, RequestHead, RequestKind, RequestTarget, ResponseParser, ResponseSink, State,
    WireError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::failure::{Cause, Failure, Stage};
use super::socket::Socket;

/// Characters of a reason that are kept, at most.
const REASON_MAX: usize = 100;

/// Why a proxy opened no tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProxyFault {
    /// It closed before its response was complete.
    Closed,
    /// Its response cannot be parsed.
    Wire(WireError),
    /// It refused, with the reason phrase after the status.
    Refused { status: u16, reason: Option<String> },
    /// It sent bytes that belong to no response.
    Early,
}

impl fmt::Display for ProxyFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProxyFault::Closed => out.write_str("the proxy closed instead of answering"),
            ProxyFault::Wire(error) => {
                // The response reader assumes that the sender is the target.
                let why = error.to_string().replacen("the target", "the proxy", 1);
                write!(out, "in the response to CONNECT: {why}")
            }
            ProxyFault::Refused { status, reason } => {
                write!(out, "the proxy answered CONNECT with status {status}")?;
                match reason.as_deref().filter(|reason| !reason.is_empty()) {
                    Some(reason) => write!(out, " {reason}"),
                    None => Ok(()),
                }
            }
            ProxyFault::Early => out.write_str("the proxy sent bytes before the tunnel was used"),
        }
    }
}

impl From<ProxyFault> for Failure {
    fn from(fault: ProxyFault) -> Failure {
        Failure::new(ErrorClass::Proxy, fault.to_string()).because(Cause::Proxy(fault))
    }
}

/// The relevant parts of a proxy's response.
#[derive(Default)]
struct Reply {
    status: Option<u16>,
    reason: Option<String>,
}

impl Reply {
    /// Why there is no tunnel, as soon as it is known.
    fn refusal(&self) -> Option<ProxyFault> {
        let status = self.status.filter(|status| !(200..300).contains(status))?;
        Some(ProxyFault::Refused {
            status,
            reason: self.reason.clone(),
        })
    }
}

impl ResponseSink for Reply {
    fn head(&mut self, head: &Head<'_>) {
        self.status = Some(head.status());
        self.reason = head.reason().map(|reason| {
            let text = String::from_utf8_lossy(reason);
            text.chars().take(REASON_MAX).collect()
        });
    }

    fn body(&mut self, _piece: &[u8]) {}
}

/// Opens a tunnel to `host_port` through the proxy at the other end of `socket`.
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
    let mut reply = Reply::default();
    let mut buffer = [0_u8; 1_024];
    loop {
        let length = socket
            .read(&mut buffer)
            .await
            .map_err(|error| Failure::io(Stage::Reading, &error))?;
        if length == 0 {
            return Err(ProxyFault::Closed.into());
        }
        let progress = parser
            .feed(&buffer[..length], &mut reply)
            .map_err(|error| Failure::from(ProxyFault::Wire(error)))?;
        if let Some(refusal) = reply.refusal() {
            return Err(refusal.into());
        }
        if matches!(progress.state, State::Done { .. }) {
            return match progress.consumed < length {
                true => Err(ProxyFault::Early.into()),
                false => Ok(()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_with_the_reason_of_the_proxy() {
        let told = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            let status = 407;
            ProxyFault::Refused { status, reason }.to_string()
        };
        let bare = "the proxy answered CONNECT with status 407";
        assert_eq!(told(None), bare);
        assert_eq!(told(Some("")), bare);
        let reason = "Proxy Authentication Required";
        assert_eq!(told(Some(reason)), format!("{bare} {reason}"));
    }

    #[test]
    fn only_success_makes_a_tunnel() {
        for (status, is_refused) in [(200, false), (204, false), (101, true), (407, true)] {
            let reply = Reply {
                status: Some(status),
                reason: None,
            };
            assert_eq!(reply.refusal().is_some(), is_refused, "{status}");
        }
    }
}

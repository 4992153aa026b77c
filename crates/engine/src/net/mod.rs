//! Making connections: names, detours, sockets, proxies, TLS.
//!
//! Must not know HTTP beyond a proxy's CONNECT, nor virtual users. Invariant: whatever goes wrong
//! is a [`Failure`] with a class.

mod connect;
mod dns;
mod failure;
mod proxy;
mod route;
mod socket;
mod tls;

pub(crate) use connect::{Connected, Connector, connect_deadline};
pub(crate) use dns::Resolver;
pub(crate) use failure::{Cause, Failure, Http2Fault, Reach, Stage};
pub(crate) use proxy::open_tunnel;
pub(crate) use route::{Route, Routes, Via, proxy_serves};
pub(crate) use socket::{Socket, Stream, WireBytes};
pub use tls::TlsError;
pub(crate) use tls::{LazyTls, handshake_failure, make_verifier};

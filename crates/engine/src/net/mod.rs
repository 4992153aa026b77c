//! Making connections: names, redirected connections, sockets, proxies, TLS.
//!
//! Must not know HTTP beyond a proxy's CONNECT, nor virtual users. Invariant: every error is a [`Failure`] with
//! a class.

mod addresses;
mod alert;
mod cipher_suites;
mod connect;
mod der;
mod dns;
mod encrypted_key;
mod failure;
mod handshake;
mod http2_fault;
mod identities;
mod issuer;
mod proxy;
mod route;
mod socket;
mod tls;
mod verifier;

pub(crate) use addresses::{AddressRules, Addresses};
pub(crate) use alert::{alert, in_words, is_tls_record, likely_cause};
pub(crate) use cipher_suites::suite_name;
pub(crate) use connect::{Connected, Connector, Owner, connect_deadline};
#[cfg(test)]
pub(crate) use dns::LookupFault;
pub(crate) use dns::{Kept, Resolver};
pub(crate) use failure::{Cause, Failure, Reach, Stage};
pub(crate) use handshake::Handshake;
pub(crate) use http2_fault::{Http2Fault, http2_code};
pub(crate) use proxy::ProxyFault;
pub(crate) use route::{KnownRoute, Route, Routes, Via, Wanted, proxy_for};
pub(crate) use socket::{Stream, WireBytes};
pub use tls::TlsError;
pub(crate) use tls::{TlsSettings, WorkerTls};
pub(crate) use verifier::is_unknown_authority;

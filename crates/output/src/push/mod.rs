//! What sinks for network services share: the thread that encodes values, the pool that delivers them, retries,
//! HTTP, and datagrams.
//!
//! Must not know a protocol. Invariant: memory is bounded by the pool's queue. When it is full the thread
//! waits, then its channel fills, and then the producer is blocked, which it measures.

mod datagrams;
mod ending;
mod http;
mod pack;
mod pool;
mod retry;
mod signed;
#[cfg(test)]
mod tests;
mod thread;

pub use datagrams::DatagramAddress;
pub(crate) use datagrams::Datagrams;
pub(crate) use ending::Ending;
pub(crate) use http::{HttpClient, verdict};
pub use loadline_http::TlsSettings;
pub(crate) use pack::Limits;
pub(crate) use pool::{Pool, Post, Refusal};
pub(crate) use retry::Retry;
pub(crate) use signed::signed;
pub use thread::PushSink;
pub(crate) use thread::Pushing;

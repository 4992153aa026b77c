//! What sinks share that send values to a service: the thread that makes bodies of values, the pool
//! that delivers them, patience, and HTTP.
//!
//! Must not know a protocol. Invariant: memory is bounded by the pool's queue; when it is full the
//! thread waits, then its channel fills, and then the producer is held up, which it measures.

mod ending;
mod http;
mod pool;
mod retry;
mod signed;
#[cfg(test)]
mod tests;
mod thread;

pub(crate) use ending::Ending;
pub(crate) use http::{HttpClient, verdict};
pub use loadline_http::TlsSettings;
pub(crate) use pool::{Pool, Post, Refusal};
pub(crate) use retry::Retry;
pub(crate) use signed::signed;
pub use thread::PushSink;
pub(crate) use thread::{Carrier, Piece, Pushing};

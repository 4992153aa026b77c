//! From parsed options to a test plan.
//!
//! Must not know argument syntax. Invariant: the plan is valid: what cannot be run is refused here, with the
//! option or file at fault and the next step.

pub mod addresses;
mod bench;
mod body;
mod client;
pub(crate) mod headers;
mod load;
mod multipart;
mod proxy;
mod requests;
mod templates;
mod tls;

pub use bench::bench;
pub(crate) use proxy::parse_proxy;
pub(crate) use tls::identity;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tests_support;

//! Virtual users: what one does, the connections it holds, how the worker starts and stops it.
//!
//! The seam for behaviours is [`behaviour::VuBehaviour`]: a closed set, each with one `iterate`
//! that waits through [`StopSign::guard`](crate::client::StopSign::guard) alone. Must not know when iterations are due; that
//! is the worker's dispatch. Invariant: a virtual user runs one iteration at a time.

pub(crate) mod beginning;
pub(crate) mod behaviour;
mod client;
mod cookies;
mod follow;
mod http2_pool;
mod redirect;
mod requests;
pub(crate) mod script;
pub(crate) mod script_client;
#[cfg(test)]
mod seam_tests;
pub(crate) mod shared;
pub(crate) mod steps;

pub(crate) use client::Judging;
pub(crate) use http2_pool::Http2Pool;
pub(crate) use requests::RequestsPlan;

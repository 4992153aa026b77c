//! Virtual users: what one does, its connections, how the worker starts and stops it.
//!
//! Behaviours plug in at [`behaviour::VuBehaviour`]: a closed set, each with an `iterate` that only waits
//! through [`StopSign::guard`](crate::client::StopSign::guard). Must not know when iterations are due; the
//! worker's dispatch does. Invariant: a virtual user runs one iteration at a time.

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

//! The behaviour of a thread of a JMeter plan, as steps that the caller executes.
//!
//! A [`program`] is data read from a plan; a thread walks it, evaluates its variables, and asks for requests
//! and pauses, whose outcome it then gets. Must not know sockets, clocks, files and the XML of plans:
//! everything external comes from the [`host::Host`]. Invariant: a constructed program contains nothing that
//! cannot run.

pub mod action;
pub mod apply_to;
pub mod assertion;
mod commons;
pub mod compiled;
pub mod csv;
mod deck;
#[cfg(test)]
mod elements;
pub mod embedded;
pub mod expression;
pub mod extract;
pub mod field;
mod functions;
pub mod host;
pub mod http;
pub mod jmes_path;
pub(crate) mod json;
pub mod json_path;
pub mod listener;
mod natural_order;
pub mod profile;
pub mod program;
pub mod sample;
pub mod scope;
pub mod script;
#[cfg(test)]
mod testing;
pub mod text;
pub mod thread;
mod thrown;
pub(crate) mod timers;
pub mod variables;
pub mod world;
pub mod xpath;

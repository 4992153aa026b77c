//! What a thread of a JMeter plan does, as steps that somebody else carries out.
//!
//! A [`program`] is data that was read from a plan; a thread walks it, evaluates what has variables in it, and asks for
//! requests and pauses, whose outcome it is told. Must not know sockets, clocks, files and the XML of plans: whatever it
//! needs from outside it asks of the [`host::Host`]. Invariant: a program that was made holds nothing that cannot run.

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

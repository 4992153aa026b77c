//! JMeter plans read into programs of steps.
//!
//! Must not know how steps are carried out, nor where a plan's bytes came from. Invariant: what is not supported is in
//! the list of what could not be read, with its path in the tree and its line.

mod controls;
pub mod edits;
pub mod fragments;
mod lower;
pub mod open_schedule;
pub mod parts;
mod references;
mod refusals;
pub mod tree;

pub use lower::{Origin, Reading, RequestOrigins, Unsupported};

/// Reads a plan.
///
/// # Errors
/// The text is no plan.
pub fn read(text: &str) -> Result<Reading, tree::TreeFault> {
    tree::read(text).map(|elements| lowered(&elements))
}

/// Reads a plan whose tree was read, and perhaps changed.
#[must_use]
pub fn lowered(elements: &[tree::Element]) -> Reading {
    lower::lower(elements, false)
}

/// The same, told where the values of its requests come from.
#[must_use]
pub fn explained(elements: &[tree::Element]) -> Reading {
    lower::lower(elements, true)
}

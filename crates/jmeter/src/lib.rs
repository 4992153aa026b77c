//! Converts JMeter plans to programs of steps.
//!
//! Must not know how steps are executed, nor where a plan's bytes came from. Invariant: unsupported constructs
//! are listed with their path in the tree and their line.

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
/// The text is not a plan.
pub fn read(text: &str) -> Result<Reading, tree::TreeFault> {
    tree::read(text).map(|elements| lowered(&elements))
}

/// Converts a plan from its tree, which may have been changed.
#[must_use]
pub fn lowered(elements: &[tree::Element]) -> Reading {
    lower::lower(elements, false)
}

/// The same, with the origins of its requests' values.
#[must_use]
pub fn explained(elements: &[tree::Element]) -> Reading {
    lower::lower(elements, true)
}

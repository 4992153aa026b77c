//! JMeter plans read into programs of steps.
//!
//! Must not know how steps are carried out, nor where a plan's bytes came from. Invariant: what is not supported is in
//! the list of what could not be read, with its path in the tree and its line.

mod lower;
pub mod tree;

pub use lower::{Reading, Unsupported};

/// Reads a plan.
///
/// # Errors
/// The text is no plan.
pub fn read(text: &str) -> Result<Reading, tree::TreeFault> {
    tree::read(text).map(|elements| lower::lower(&elements))
}

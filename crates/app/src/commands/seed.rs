//! Seeds of runs without a given seed.
//!
//! Must not know what a seed is for. Invariant: the result of a run contains its seed, so that it can be
//! repeated.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A seed that differs from run to run.
pub(super) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ() {
        assert_ne!(fresh_seed(), fresh_seed());
    }
}

//! Failures of requests by their class, as reports list them.
//!
//! Must not know layouts. Invariant: every class that is listed has a failure.

use loadline_model::ErrorClass;
use loadline_model::snapshot::Counts;

/// Classes with the number of their failures, the commonest first.
pub(crate) fn by_class(counts: &Counts) -> Vec<(ErrorClass, u64)> {
    let classes = ErrorClass::ALL.iter().copied().zip(counts.failed);
    let mut classes: Vec<(ErrorClass, u64)> = classes.filter(|(_, number)| *number > 0).collect();
    classes.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    classes
}

//! Constant virtual users: each starts again as soon as its iteration ends.
//!
//! Must not know the end of the scenario; the closed model handles it. Invariant: always a start.

use loadline_model::segment::Share;

use crate::next::{Next, Numbering};

#[derive(Debug)]
pub(crate) struct ConstantVus {
    numbering: Numbering,
}

impl ConstantVus {
    pub(crate) fn new(share: &Share) -> ConstantVus {
        ConstantVus {
            numbering: Numbering::new(share),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Next {
        self.numbering.start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_number_iterations_apart() {
        let mut second = ConstantVus::new(&Share::whole(1, 2));
        assert_eq!(second.next(), Next::Start { iteration: 1 });
        assert_eq!(second.next(), Next::Start { iteration: 3 });
    }
}

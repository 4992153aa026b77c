//! Locks of critical sections: one thread at a time, for all controllers with the same lock name.
//!
//! Must not know controllers. Invariant: a thread outside of a section does not hold its lock.

use super::Thread;
use crate::program::NodeId;

impl Thread {
    /// Acquires a named lock for a controller; `false`: another thread holds it.
    pub(super) fn take_lock(&mut self, node: NodeId, name: String) -> bool {
        let is_own = self.strand.locks.iter().any(|(_, held)| *held == name);
        if !is_own && !self.commons.take_lock(&name) {
            return false;
        }
        self.strand.locks.push((node, name));
        true
    }

    /// Releases the locks of controllers that the thread has left.
    pub(super) fn free_locks(&mut self) {
        let (held, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.strand.locks)
            .into_iter()
            .partition(|(node, _)| self.is_in(*node));
        for (_, name) in left {
            if !held.iter().any(|(_, other)| *other == name) {
                self.commons.free_lock(&name);
            }
        }
        self.strand.locks = held;
    }

    /// Releases all locks of the active strand.
    pub(super) fn free_all_locks(&mut self) {
        for (_, name) in std::mem::take(&mut self.strand.locks) {
            self.commons.free_lock(&name);
        }
    }
}

impl Drop for Thread {
    /// Releases the locks, so that waiting threads can continue.
    fn drop(&mut self) {
        self.free_all_locks();
        for branch in 0..self.branches() {
            self.change_strand(branch);
            self.free_all_locks();
        }
    }
}

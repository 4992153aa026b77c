//! Locks of critical sections: one thread at a time, whatever controllers have the name.
//!
//! Must not know controllers. Invariant: a thread that is no more in a section holds no lock of it.

use super::Thread;
use crate::program::NodeId;

impl Thread {
    /// Takes the lock of a name for a controller; `false`: another thread has it.
    pub(super) fn take_lock(&mut self, node: NodeId, name: String) -> bool {
        let is_own = self.locks.iter().any(|(_, held)| *held == name);
        if !is_own && !self.commons.take_lock(&name) {
            return false;
        }
        self.locks.push((node, name));
        true
    }

    /// Frees the locks of controllers that the thread has left.
    pub(super) fn free_locks(&mut self) {
        let (held, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.locks)
            .into_iter()
            .partition(|(node, _)| self.is_in(*node));
        for (_, name) in left {
            if !held.iter().any(|(_, other)| *other == name) {
                self.commons.free_lock(&name);
            }
        }
        self.locks = held;
    }
}

impl Drop for Thread {
    /// Whoever waits for a thread that is gone goes on.
    fn drop(&mut self) {
        for (_, name) in std::mem::take(&mut self.locks) {
            self.commons.free_lock(&name);
        }
    }
}

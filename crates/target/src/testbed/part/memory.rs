//! Memory that a process really holds, and its limit.
//!
//! It must not know requests. Invariant: every held byte has been written to, so it counts as resident; a
//! process above the limit ends within [`LOOK_EVERY`].

use crate::metrics::resident_bytes;
use crate::testbed::plan::MemoryPlan;
use crate::testbed::tally::{CounterSlot, Tally};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the resident memory is compared with the cap.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Written to all memory; zeros could be pages that exist only once.
const FILL: u8 = 0xa5;

/// What a process holds.
pub(super) struct Memory {
    plan: MemoryPlan,
    _base: Vec<u8>,
    kept: Mutex<Vec<Box<[u8]>>>,
}

impl Memory {
    /// Allocates the initial memory, and watches the limit on a separate thread.
    ///
    /// # Errors
    /// The system cannot start more threads.
    pub(super) fn start(plan: &MemoryPlan, tally: &Arc<Tally>) -> io::Result<Self> {
        if let Some(cap) = plan.cap {
            let tally = Arc::clone(tally);
            std::thread::Builder::new()
                .name("memory-cap".to_owned())
                .spawn(move || watch(cap, &tally))?;
        }
        Ok(Self {
            _base: filled(plan.base),
            kept: Mutex::default(),
            plan: plan.clone(),
        })
    }

    /// Takes what one request costs; what it does not leak is given back when the value is dropped.
    pub(super) fn take(&self) -> Vec<u8> {
        if self.plan.leak > 0 {
            let leaked = filled(self.plan.leak).into_boxed_slice();
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(leaked);
        }
        filled(self.plan.per_request)
    }
}

fn filled(bytes: u64) -> Vec<u8> {
    vec![FILL; usize::try_from(bytes).unwrap_or(usize::MAX)]
}

fn watch(cap: u64, tally: &Tally) {
    loop {
        if resident_bytes().is_some_and(|resident| resident > cap) {
            tally.add(CounterSlot::Ooms, 1);
            kill_myself();
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

/// Ends the process as the kernel does it: `SIGKILL`, which shells and Kubernetes show as exit code 137.
#[cfg(unix)]
fn kill_myself() {
    // SAFETY: neither call touches memory.
    unsafe {
        libc::kill(libc::getpid(), libc::SIGKILL);
    }
}

#[cfg(not(unix))]
fn kill_myself() {
    std::process::abort();
}

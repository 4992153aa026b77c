//! Programs that observers started, and their common end.
//!
//! Must not know what they print. Invariants: only the group of a child that was not waited for is killed; once they
//! were ended, none is started any more.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The running programs.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    have_ended: bool,
    /// The process identifiers of children that were not waited for; each leads a group.
    running: BTreeSet<u32>,
}

impl Programs {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// It cannot be started, or the programs were ended.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Child> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut state = self.lock();
        if state.have_ended {
            return Err(io::Error::other("the run has ended"));
        }
        let child = command.spawn()?;
        state.running.insert(child.id());
        Ok(child)
    }

    /// The status of a program that has exited; `None`: it runs.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn status(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let mut state = self.lock();
        let status = child.try_wait()?;
        if status.is_some() {
            state.running.remove(&child.id());
        }
        Ok(status)
    }

    /// Kills a program with its process group, and waits for its exit.
    pub(crate) fn end(&self, child: &mut Child) {
        let mut state = self.lock();
        if state.running.remove(&child.id()) {
            kill_group(child.id());
        }
        drop(state);
        // It may have exited meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Kills all of them: nobody waits for them any more.
    pub(crate) fn end_all(&self) {
        let mut state = self.lock();
        state.have_ended = true;
        state.running.iter().copied().for_each(kill_group);
    }

    /// Whether all were ended.
    pub(crate) fn have_ended(&self) -> bool {
        self.lock().have_ended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a single step: a thread that panicked left nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kills the processes of a group that a child leads.
fn kill_group(child: u32) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child) {
        // SAFETY: kill takes no pointers; the group is that of a child that was not waited for, so it is ours.
        unsafe {
            libc::kill(-group, libc::SIGKILL);
        }
    }
    #[cfg(not(unix))]
    let _ = child;
}

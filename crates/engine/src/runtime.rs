//! Creates runtimes: the one place for their settings.
//!
//! Must not know what runs in them. Invariant: a failure of the system is an error here, not a panic of tokio.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::platform;

/// The settings of a runtime on this thread, with sockets and timers.
///
/// # Errors
/// The system has no file descriptors left for it.
pub fn builder() -> io::Result<Builder> {
    make_shared_sockets()?;
    let mut builder = Builder::new_current_thread();
    builder.enable_io().enable_time();
    Ok(builder)
}

/// A runtime for this thread.
///
/// # Errors
/// The system lacks the resources.
pub fn local() -> io::Result<LocalRuntime> {
    builder()?.build_local(LocalOptions::default())
}

/// Lets tokio make the sockets that all runtimes of the process share, one thread at a time: where there are no descriptors
/// for them it panics, and for all else of a runtime it does not.
fn make_shared_sockets() -> io::Result<()> {
    static ARE_MADE: Mutex<bool> = Mutex::new(false);
    let mut are_made = ARE_MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*are_made {
        platform::try_descriptors()?;
        drop(Builder::new_current_thread().enable_io().build()?);
        *are_made = true;
    }
    Ok(())
}

//! Making runtimes: one home for what they are made of.
//!
//! Must not know what runs in them. Invariant: what the system refuses is an error here, and no panic of tokio's.

use std::io;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::platform;

/// The settings of a runtime on this thread, with sockets and timers.
///
/// # Errors
/// The system has no file descriptors left for one.
pub fn builder() -> io::Result<Builder> {
    platform::try_socket_pair()?;
    let mut builder = Builder::new_current_thread();
    builder.enable_io().enable_time();
    Ok(builder)
}

/// A runtime of this thread.
///
/// # Errors
/// The system refuses what it takes.
pub fn local() -> io::Result<LocalRuntime> {
    builder()?.build_local(LocalOptions::default())
}

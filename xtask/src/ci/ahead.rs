//! The release build beside the steps that compile in the development profile.
//!
//! Must not know those steps. Invariant: it ends with CI at the latest. Its result is not looked at here: the step
//! `release` waits for it, as cargo locks the folder, and reports what failed.

use std::process::{Child, Stdio};

use crate::workspace;

/// A build that runs; dropping it stops it.
pub(super) struct ReleaseBuild(Child);

impl ReleaseBuild {
    /// Starts the build. `None`: it could not start, and the step `release` does all of it.
    pub(super) fn begin() -> Option<Self> {
        let mut command = workspace::release_build();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        println!("the release build runs in the background");
        command.stdin(Stdio::null()).spawn().ok().map(Self)
    }
}

impl Drop for ReleaseBuild {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

//! What can be asked of a running test from outside.
//!
//! Must not know who asks: a signal, a page, a controller. Invariant: commands are idempotent.

/// An order to a running test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Start nothing new, let running iterations end, report.
    StopGracefully,
    /// Whoever runs the test wants nothing more of it: interrupt what runs, report.
    Interrupt,
    /// Stop at once; what was measured is still reported.
    StopNow,
    /// Somebody asks through the REST API or the live page that it stop at once.
    StopRemotely,
    /// Begin a test that waits for it, or go on with a scenario that was paused.
    Resume,
    /// Let running iterations end and begin no others until told to; heeded by scenarios that are
    /// controlled from outside.
    Pause,
    /// Change the virtual users of scenarios that are controlled from outside.
    Scale {
        /// At work from now on.
        vus: u32,
        /// At most.
        max_vus: u32,
    },
}

impl RunCommand {
    /// Whether it ends the test.
    #[must_use]
    pub fn is_stop(self) -> bool {
        matches!(
            self,
            RunCommand::StopGracefully
                | RunCommand::Interrupt
                | RunCommand::StopRemotely
                | RunCommand::StopNow
        )
    }
}

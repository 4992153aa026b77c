//! Commands to a running test from outside.
//!
//! Must not know who sends them: a signal, a page, a controller. Invariant: commands are idempotent.

/// A command to a running test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Start nothing new, let running iterations finish, report.
    StopGracefully,
    /// The person running the test wants it to end: interrupt what is running, report.
    Interrupt,
    /// Stop at once; what was measured is still reported.
    StopNow,
    /// Stop at once, requested through the REST API or the live page.
    StopRemotely,
    /// Start a test that was started paused, or resume a paused scenario.
    Resume,
    /// Let running iterations finish and start no others until `Resume`; only externally controlled scenarios
    /// support it.
    Pause,
    /// Change the virtual users of externally controlled scenarios.
    Scale {
        /// Active from now on.
        vus: u32,
        /// Maximum.
        max_vus: u32,
    },
}

impl RunCommand {
    /// Whether the command ends the test.
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

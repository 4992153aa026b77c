//! What can be asked of a running test from outside.
//!
//! Must not know who asks: a signal, a page, a controller. Invariant: commands are idempotent.

/// An order to a running test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Start nothing new, let running iterations end, report.
    StopGracefully,
    /// Stop at once; what was measured is still reported.
    StopNow,
    /// Somebody asks through the REST API that it stop at once.
    StopRemotely,
    /// Begin a test that waits for it.
    Resume,
}

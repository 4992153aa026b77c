//! Orders to a run: which of them end it, and those that come before it has begun.
//!
//! Must not know how a run is conducted. Invariant: no order is lost, however early it comes.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_model::RunCommand;
use loadline_model::result::StopReason;

use crate::load::Load;

/// Waits until the virtual users are made, and passes orders on meanwhile, every `tick`; gives the first that ends
/// the test: what is not made by then is not waited for.
pub(crate) fn until_ready(
    load: &dyn Load,
    commands: &Receiver<RunCommand>,
    tick: Duration,
) -> Option<RunCommand> {
    let mut stopped = None;
    while !load.is_ready_within(tick) {
        for order in commands.try_iter() {
            load.command(order);
            stopped = stopped.or(order.is_stop().then_some(order));
        }
    }
    stopped
}

/// Why a test ended that such an order ends; `None`: it does not.
pub(crate) fn reason_of(command: RunCommand) -> Option<StopReason> {
    match command {
        RunCommand::StopGracefully => Some(StopReason::Interrupted),
        RunCommand::StopNow => Some(StopReason::Aborted),
        RunCommand::StopRemotely => Some(StopReason::Remote),
        RunCommand::Resume | RunCommand::Pause | RunCommand::Scale { .. } => None,
    }
}

//! Orders to a run: which of them end it, and those that come before it has begun.
//!
//! Must not know how a run is conducted. Invariant: no order is lost, however early it comes.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_model::RunCommand;
use loadline_model::result::StopReason;

use crate::load::Load;

/// Waits until the virtual users are made, and passes orders on meanwhile, every `tick`, the `early` one that came before they
/// were begun first; gives the first that ends the test: what is not made by then is not waited for.
pub(crate) fn until_ready(
    load: &dyn Load,
    commands: &Receiver<RunCommand>,
    early: Option<RunCommand>,
    tick: Duration,
) -> Option<RunCommand> {
    let mut stopped = None;
    let mut pass = |order: RunCommand| {
        load.command(order);
        stopped = stopped.or(order.is_stop().then_some(order));
    };
    early.into_iter().for_each(&mut pass);
    while !load.is_ready_within(tick) {
        commands.try_iter().for_each(&mut pass);
    }
    // What came while the last of them were made ends the test as well.
    commands.try_iter().for_each(&mut pass);
    stopped
}

/// Why a test ended that such an order ends; `None`: it does not.
pub(crate) fn reason_of(command: RunCommand) -> Option<StopReason> {
    match command {
        RunCommand::StopGracefully | RunCommand::Interrupt => Some(StopReason::Interrupted),
        RunCommand::StopNow => Some(StopReason::Aborted),
        RunCommand::StopRemotely => Some(StopReason::Remote),
        RunCommand::Resume | RunCommand::Pause | RunCommand::Scale { .. } => None,
    }
}

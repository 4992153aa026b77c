//! Orders to a run: which of them end it, and orders received before it has started.
//!
//! Must not know how a run is conducted. Invariant: no order is lost, however early it arrives.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_model::RunCommand;
use loadline_model::result::StopReason;

use crate::load::Load;

/// Waits until the virtual users have been created, and meanwhile passes orders on, every `tick`, starting with
/// the `early` one that came before their creation. Returns the first order that ends the test: the rest of the
/// creation is then not awaited.
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
    // An order received while the last virtual user was created ends the test too.
    commands.try_iter().for_each(&mut pass);
    stopped
}

/// The stop reason for an order; `None`: it does not end the test.
pub(crate) fn reason_of(command: RunCommand) -> Option<StopReason> {
    match command {
        RunCommand::StopGracefully | RunCommand::Interrupt => Some(StopReason::Interrupted),
        RunCommand::StopNow => Some(StopReason::Aborted),
        RunCommand::StopRemotely => Some(StopReason::Remote),
        RunCommand::Resume | RunCommand::Pause | RunCommand::Scale { .. } => None,
    }
}

//! Orders to a run: which of them end it, and those received before it has started.
//!
//! Must not know how a run is conducted. Invariant: an order received before the start counts as one received at it,
//! however early it came: a stop ends the test, a resume starts a paused one, the rest reaches the load.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_model::RunCommand;
use loadline_model::result::StopReason;

use crate::load::Load;

/// The orders received before the start of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlyOrders {
    /// The first one that ends the test.
    pub(crate) stop: Option<RunCommand>,
    /// Whether a test that waits for the order to start has received it, and no order to pause since.
    pub(crate) is_resumed: bool,
    /// Those that the load is still to receive: there is none yet.
    held: Vec<RunCommand>,
}

impl EarlyOrders {
    /// Waits for `span`, before there is a load; an order that ends the test ends the wait.
    pub(crate) fn wait(&mut self, commands: &Receiver<RunCommand>, span: Duration) {
        let clock = Clock::start();
        while self.stop.is_none() {
            let left = span.saturating_sub(clock.now().into());
            match commands.recv_timeout(left) {
                Ok(order) => {
                    self.note(order);
                    self.held.push(order);
                }
                Err(RecvTimeoutError::Timeout) => return,
                // Orders are impossible: this is only a wait.
                Err(RecvTimeoutError::Disconnected) if left.is_zero() => return,
                Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(left),
            }
        }
    }

    /// Waits until the virtual users have been created, and meanwhile passes orders on, every `tick`, starting with
    /// those that came before. After an order that ends the test, the rest of the creation is cut short by the load.
    pub(crate) fn until_ready(
        &mut self,
        load: &dyn Load,
        commands: &Receiver<RunCommand>,
        tick: Duration,
    ) {
        for order in std::mem::take(&mut self.held) {
            load.command(order);
        }
        let mut pass = || {
            for order in commands.try_iter() {
                self.note(order);
                load.command(order);
            }
        };
        while !load.is_ready_within(tick) {
            pass();
        }
        // An order received while the last virtual user was created counts too.
        pass();
    }

    fn note(&mut self, order: RunCommand) {
        match order {
            RunCommand::Resume => self.is_resumed = true,
            RunCommand::Pause => self.is_resumed = false,
            RunCommand::Scale { .. } => {}
            RunCommand::StopGracefully
            | RunCommand::Interrupt
            | RunCommand::StopRemotely
            | RunCommand::StopNow => self.stop = self.stop.or(Some(order)),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn waited(orders: &[RunCommand], span: Duration) -> EarlyOrders {
        let (to, commands) = channel();
        for order in orders {
            to.send(*order).expect("it is listened to");
        }
        let mut early = EarlyOrders::default();
        early.wait(&commands, span);
        early
    }

    #[test]
    fn only_an_order_that_ends_the_test_ends_the_wait() {
        let scale = RunCommand::Scale { vus: 1, max_vus: 2 };
        let orders = [RunCommand::Resume, scale, RunCommand::Interrupt];
        let early = waited(&orders, HOUR);
        assert_eq!(early.stop, Some(RunCommand::Interrupt));
        assert_eq!(early.held, orders, "the load receives all of them");
        let span = Duration::from_millis(30);
        let clock = Clock::start();
        let early = waited(&[RunCommand::Resume], span);
        assert!(Duration::from(clock.now()) >= span, "it was waited for");
        assert_eq!((early.stop, early.is_resumed), (None, true));
    }

    #[test]
    fn the_last_of_resume_and_pause_decides() {
        let orders = [RunCommand::Resume, RunCommand::Pause, RunCommand::StopNow];
        assert!(!waited(&orders, HOUR).is_resumed);
        let orders = [RunCommand::Pause, RunCommand::Resume, RunCommand::StopNow];
        assert!(waited(&orders, HOUR).is_resumed);
    }
}

//! Ctrl-C and SIGTERM as orders to the run.
//!
//! Must not know what a run is. Invariant: the first signal asks for a graceful stop, every later one
//! for a stop at once, and that nothing is waited for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};

use loadline_model::{ExitCode, RunCommand};

use super::print;
use crate::Ending;

/// Whether SIGTERM came.
static TERMINATED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether any signal came, for who waits for one.
static CAME: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Whether a second signal came.
static IMPATIENT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Both ends of the orders to a run.
type Orders = (Sender<RunCommand>, Receiver<RunCommand>);

/// What is said when a run is asked to stop.
pub(crate) const RUN_STOPS: &str = "\nstopping: running requests may end; again to stop at once\n";

/// The orders that signals give from now on, and by which others can give some; `notice` is said at
/// the first, if it says anything. To be called once in a process.
///
/// # Errors
/// When the signals cannot be caught.
pub(crate) fn orders(notice: &'static str) -> Result<Orders, Ending> {
    let (sender, receiver) = mpsc::channel();
    let others = sender.clone();
    let mut asked = false;
    let handler = move || {
        let order = next_order(&mut asked);
        if order == RunCommand::StopGracefully {
            print::to_stderr(notice);
        } else {
            IMPATIENT.store(true, Ordering::Relaxed);
        }
        // The run may have ended already; then there is nothing to stop.
        let _ = sender.send(order);
        let (came, changed) = &CAME;
        *came.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    };
    let refused =
        |why: String| Ending::refusal(ExitCode::Other, &format!("cannot catch signals: {why}"));
    ctrlc::set_handler(handler).map_err(|error| refused(error.to_string()))?;
    // Beside the handler, which is not told which signal came.
    let termination = signal_hook::consts::SIGTERM;
    signal_hook::flag::register(termination, Arc::clone(&TERMINATED))
        .map_err(|error| refused(error.to_string()))?;
    Ok((others, receiver))
}

/// Set when a second signal came: whoever waits for the end is to give up.
pub(crate) fn impatience() -> Arc<AtomicBool> {
    Arc::clone(&IMPATIENT)
}

/// Waits until a signal comes, or not at all where one came already.
pub(crate) fn wait() {
    let (came, changed) = &CAME;
    let guard = came.lock().unwrap_or_else(PoisonError::into_inner);
    drop(changed.wait_while(guard, |came| !*came));
}

/// What Go calls the signal that came: `terminated` after SIGTERM, else `interrupt`.
pub(crate) fn name() -> &'static str {
    if TERMINATED.load(Ordering::Relaxed) {
        "terminated"
    } else {
        "interrupt"
    }
}

fn next_order(asked: &mut bool) -> RunCommand {
    if std::mem::replace(asked, true) {
        RunCommand::StopNow
    } else {
        RunCommand::StopGracefully
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_is_the_gentle_one() {
        let mut asked = false;
        let orders = [(); 3].map(|()| next_order(&mut asked));
        assert_eq!(
            orders,
            [
                RunCommand::StopGracefully,
                RunCommand::StopNow,
                RunCommand::StopNow
            ]
        );
    }
}

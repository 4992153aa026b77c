//! Ctrl-C and SIGTERM as orders to the run.
//!
//! Must not know what a run is. Invariant: the first signal asks for a graceful stop, every later one
//! for a stop at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, LazyLock};

use loadline_model::{ExitCode, RunCommand};

use super::print;
use crate::Ending;

/// Whether SIGTERM came.
static TERMINATED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What is said when a run is asked to stop.
pub(crate) const RUN_STOPS: &str = "\nstopping: running requests may end; again to stop at once\n";

/// The orders that signals give from now on; `notice` is said at the first, if it says anything. To be called once in a
/// process.
///
/// # Errors
/// When the signals cannot be caught.
pub(crate) fn orders(notice: &'static str) -> Result<Receiver<RunCommand>, Ending> {
    let (sender, receiver) = mpsc::channel();
    let mut asked = false;
    let handler = move || {
        let order = next_order(&mut asked);
        if order == RunCommand::StopGracefully {
            print::to_stderr(notice);
        }
        // The run may have ended already; then there is nothing to stop.
        let _ = sender.send(order);
    };
    let refused = |why: String| {
        Ending::refusal(ExitCode::Other, &format!("cannot catch signals: {why}"))
    };
    ctrlc::set_handler(handler).map_err(|error| refused(error.to_string()))?;
    // Beside the handler, which is not told which signal came.
    let termination = signal_hook::consts::SIGTERM;
    signal_hook::flag::register(termination, Arc::clone(&TERMINATED))
        .map_err(|error| refused(error.to_string()))?;
    Ok(receiver)
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

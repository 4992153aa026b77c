//! Ctrl-C and SIGTERM as orders to the run.
//!
//! Must not know what a run is. Invariants: the first signal requests a stop; every later one, and the first
//! after the load, requests that nothing is waited for; no other thread can prevent such a signal from ending
//! the process; a process that was started with SIGHUP ignored ignores it.

use std::fmt::Display;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_model::{ExitCode, RunCommand};

use super::{print, tui};
use crate::Ending;

/// Whether SIGTERM was received.
static TERMINATED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether SIGHUP was received.
static HUNG_UP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether the run was stopped because nobody reads its output any more.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Whether any signal was received, for waiting threads.
static CAME: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Whether the load is over, so that a signal can only mean that nothing is waited for.
static LOAD_IS_OVER: AtomicBool = AtomicBool::new(false);

/// Whether a second signal was received, or one after the load.
static IMPATIENT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// How long writing the measurements may take after the second signal.
const LAST_WRITES: Duration = Duration::from_millis(800);
/// How long restoring the terminal may take after that.
const LAST_FRAME: Duration = Duration::from_millis(100);

/// The effect of the second signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondSignal {
    /// Ends the process in less than a second, whatever it is doing.
    Ends,
    /// Is another order, for a command that has to clean up.
    Orders,
}

/// Signals that other programs use as notifications and that a run ignores: they do not end it.
const WITHOUT_MEANING: [i32; 2] = [signal_hook::consts::SIGUSR1, signal_hook::consts::SIGUSR2];

/// Both ends of the orders to a run.
type Orders = (Sender<RunCommand>, Receiver<RunCommand>);

/// The effect of the first signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstSignal {
    order: RunCommand,
    /// The message printed then; empty: none.
    notice: &'static str,
}

impl FirstSignal {
    /// Interrupts the run, with a message.
    pub(crate) const fn interrupts(notice: &'static str) -> FirstSignal {
        FirstSignal {
            order: RunCommand::Interrupt,
            notice,
        }
    }

    /// Ends a run at once.
    pub(crate) const ENDS_RUN: FirstSignal = FirstSignal::interrupts(
        "\nstopping: requests in flight are interrupted; press Ctrl-C again to exit at once\n",
    );

    /// Lets the requests of a run end, as in the tool whose command line it is.
    pub(crate) const WAITS: FirstSignal = FirstSignal {
        order: RunCommand::StopGracefully,
        notice: "\nstopping: waiting for requests in flight; press Ctrl-C again to stop at once\n",
    };
}

/// Starts to turn signals into orders; returns both ends of their channel, so that others can give orders too.
/// Must be called once per process.
///
/// Nothing in the handler waits for another thread: a stalled reader of a stream must not delay the handling of
/// the next signal.
///
/// # Errors
/// The signals cannot be caught.
pub(crate) fn orders(first: FirstSignal, second: SecondSignal) -> Result<Orders, Ending> {
    let (sender, receiver) = mpsc::channel();
    let others = sender.clone();
    let mut asked = false;
    let handler = move || {
        asked |= LOAD_IS_OVER.load(Ordering::Relaxed);
        let order = next_order(first.order, &mut asked);
        let is_first = order != RunCommand::StopNow;
        // The run may have ended already; then there is nothing to stop.
        let _ = sender.send(order);
        match (is_first, second) {
            (true, _) => drop(aside(move || print::to_stderr(first.notice))),
            (false, SecondSignal::Ends) => lose_patience(),
            (false, SecondSignal::Orders) => IMPATIENT.store(true, Ordering::Relaxed),
        }
        let (came, changed) = &CAME;
        *came.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    };
    // The handler runs on a separate thread, and its library does not report if the thread cannot be created.
    aside(|| ()).map_err(|error| {
        refused(format!(
            "cannot start a thread: {error}; raise its limits, such as ulimit -u"
        ))
    })?;
    let outlives_terminal = is_ignored(libc::SIGHUP);
    ctrlc::set_handler(handler).map_err(refused)?;
    // In addition to the handler, which does not know which signal was received.
    let mut told_apart = vec![(signal_hook::consts::SIGTERM, &TERMINATED)];
    match outlives_terminal {
        true => ignore(libc::SIGHUP),
        false => told_apart.push((signal_hook::consts::SIGHUP, &HUNG_UP)),
    }
    for (signal, came) in told_apart {
        signal_hook::flag::register(signal, Arc::clone(came)).map_err(refused)?;
    }
    // Caught instead of ignored: child processes would inherit an ignored signal.
    for signal in WITHOUT_MEANING {
        signal_hook::flag::register(signal, Arc::default()).map_err(refused)?;
    }
    Ok((others, receiver))
}

/// Lets the write to a file that reaches the file size limit fail, which is reported, instead of ending the process.
pub(crate) fn survive_file_limit() {
    // Caught instead of ignored, as above. Where it cannot be caught, such a file ends the process.
    drop(signal_hook::flag::register(libc::SIGXFSZ, Arc::default()));
}

/// Whether the process was started with a signal ignored, as by `nohup` to survive the end of the terminal.
fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call writes the present one into the room that it is given, and nothing else.
    let is_told = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } == 0;
    // SAFETY: the call has written it where it says so.
    is_told && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// Makes the process ignore a signal again.
fn ignore(signal: libc::c_int) {
    // SAFETY: no code of the process is called for a signal that is ignored.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Set when SIGTERM or SIGINT is received, for a command that then ends by itself; a second signal ends the
/// process at once.
///
/// # Errors
/// The signals cannot be caught.
pub(crate) fn leave() -> Result<Arc<AtomicBool>, Ending> {
    let came = Arc::<AtomicBool>::default();
    for (signal, code) in [
        (signal_hook::consts::SIGTERM, ExitCode::Terminated.code()),
        (signal_hook::consts::SIGINT, ExitCode::Interrupted.code()),
    ] {
        // The order matters: the first signal must find the flag unset.
        signal_hook::flag::register_conditional_shutdown(signal, code.into(), Arc::clone(&came))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&came)))
            .map_err(refused)?;
    }
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&TERMINATED))
        .map_err(refused)?;
    Ok(came)
}

fn refused(why: impl Display) -> Ending {
    Ending::refusal(ExitCode::Other, &format!("cannot catch signals: {why}"))
}

/// Ends the process in less than a second, whatever it is doing: the user has asked twice.
pub(crate) fn lose_patience() {
    IMPATIENT.store(true, Ordering::Relaxed);
    drop(aside(end_soon).map_err(|_| end_now()));
}

/// Runs a closure on a separate thread that nobody waits for.
fn aside(act: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().spawn(act)
}

/// Ends the process after the time for its last writes.
#[expect(
    clippy::disallowed_methods,
    reason = "it waits by itself: nothing else of the process can be relied on"
)]
fn end_soon() {
    thread::sleep(LAST_WRITES);
    drop(aside(tui::give_back));
    thread::sleep(LAST_FRAME);
    end_now();
}

fn end_now() {
    signal_hook::low_level::exit(ExitCode::ExternalAbort.code().into());
}

/// Marks the end of the load: from now on the first signal already means that nothing is waited for.
pub(crate) fn note_end_of_load() {
    LOAD_IS_OVER.store(true, Ordering::Relaxed);
}

/// Set by a second signal, or one after the load: whoever waits for the end must give up.
pub(crate) fn impatience() -> Arc<AtomicBool> {
    Arc::clone(&IMPATIENT)
}

/// Waits for a signal; returns at once if one was received before.
pub(crate) fn wait() {
    let (came, changed) = &CAME;
    let guard = came.lock().unwrap_or_else(PoisonError::into_inner);
    drop(changed.wait_while(guard, |came| !*came));
}

/// Notes that a run is stopped because the reader of its output went away.
pub(crate) fn note_broken_pipe() {
    UNHEARD.store(true, Ordering::Relaxed);
}

/// Go's name of the received signal: `terminated` for SIGTERM, `hangup` for SIGHUP, `broken pipe` for output that
/// nobody reads, otherwise `interrupt`.
pub(crate) fn name() -> &'static str {
    if TERMINATED.load(Ordering::Relaxed) {
        "terminated"
    } else if HUNG_UP.load(Ordering::Relaxed) {
        "hangup"
    } else if UNHEARD.load(Ordering::Relaxed) {
        "broken pipe"
    } else {
        "interrupt"
    }
}

/// The exit code that a shell reports for the received signal.
pub(crate) fn code_of_shell() -> ExitCode {
    code_of(
        TERMINATED.load(Ordering::Relaxed),
        HUNG_UP.load(Ordering::Relaxed),
    )
}

fn code_of(is_terminated: bool, is_hung_up: bool) -> ExitCode {
    match (is_terminated, is_hung_up) {
        (true, _) => ExitCode::Terminated,
        (false, true) => ExitCode::HungUp,
        (false, false) => ExitCode::Interrupted,
    }
}

fn next_order(first: RunCommand, asked: &mut bool) -> RunCommand {
    if std::mem::replace(asked, true) {
        RunCommand::StopNow
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_has_the_code_of_the_shell() {
        let codes = [(false, false), (false, true), (true, false)];
        let codes = codes.map(|(term, hup)| code_of(term, hup).code());
        assert_eq!(codes, [130, 129, 143]);
    }

    #[test]
    fn the_first_signal_is_the_gentle_one() {
        let mut asked = false;
        let orders = [(); 3].map(|()| next_order(RunCommand::Interrupt, &mut asked));
        assert_eq!(
            orders,
            [
                RunCommand::Interrupt,
                RunCommand::StopNow,
                RunCommand::StopNow
            ]
        );
    }
}

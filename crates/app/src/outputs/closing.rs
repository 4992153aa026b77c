//! Waits for outputs to end, all at once, for as long as the user waits.
//!
//! Must not know sinks. Invariant: once a signal says that nothing is waited for, no output delays the end of
//! the command, and the outputs that were not waited for are named.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Interval for checking whether the user still waits.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time for outputs after that: enough to write buffered data.
const LAST_WRITES: Duration = Duration::from_millis(200);
/// How long outputs are waited for silently.
const QUIET: Duration = Duration::from_secs(3);

/// Ends an output, and may take long.
pub(super) type End<T> = Box<dyn FnOnce() -> T + Send>;

/// Ends all; returns the outcome of each, `None` for those that were not waited for. `on_long_wait` is called
/// once, with the indices of those that take long.
pub(super) fn end_all<T: Send + 'static>(
    ends: Vec<End<T>>,
    impatience: &Arc<AtomicBool>,
    on_long_wait: impl FnOnce(&[usize]),
) -> Vec<Option<T>> {
    let mut ended: Vec<Option<T>> = ends.iter().map(|_| None).collect();
    let (told, came) = channel();
    for (index, end) in ends.into_iter().enumerate() {
        let told = told.clone();
        let act = move || {
            // If nobody waits any more, nobody needs the result.
            drop(told.send((index, end())));
        };
        // An output for whose end no thread could be started ends with the process.
        drop(thread::Builder::new().name("closing".to_owned()).spawn(act));
    }
    drop(told);
    let (mut left, mut quiet) = (LAST_WRITES, QUIET);
    let mut on_long_wait = Some(on_long_wait);
    loop {
        match came.recv_timeout(LOOK_EVERY) {
            Ok((index, end)) => ended[index] = Some(end),
            Err(RecvTimeoutError::Disconnected) => return ended,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return ended,
            Err(RecvTimeoutError::Timeout) if impatience.load(Ordering::Relaxed) => {
                left = left.saturating_sub(LOOK_EVERY);
            }
            Err(RecvTimeoutError::Timeout) => quiet = quiet.saturating_sub(LOOK_EVERY),
        }
        if quiet.is_zero()
            && let Some(tell) = on_long_wait.take()
        {
            let waits = |index: &usize| ended[*index].is_none();
            let slow: Vec<usize> = (0..ended.len()).filter(waits).collect();
            tell(&slow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_waited_for_while_the_user_waits() {
        let ends: Vec<End<u32>> = vec![Box::new(|| 1), Box::new(|| 2)];
        let ended = end_all(ends, &Arc::default(), |slow| panic!("{slow:?}"));
        assert_eq!(ended, [Some(1), Some(2)]);
    }

    #[test]
    fn an_output_that_stands_still_is_left_to_itself() {
        let (stop, stands_still) = channel::<()>();
        let ends: Vec<End<u32>> = vec![
            Box::new(|| 1),
            Box::new(move || {
                let _ = stands_still.recv();
                2
            }),
        ];
        let impatience = Arc::new(AtomicBool::new(true));
        assert_eq!(end_all(ends, &impatience, |_| ()), [Some(1), None]);
        drop(stop);
    }

    #[test]
    fn who_takes_long_is_named_once() {
        let (go_on, goes_on) = channel::<()>();
        let ends: Vec<End<u32>> = vec![
            Box::new(|| 1),
            Box::new(move || {
                let _ = goes_on.recv();
                2
            }),
        ];
        let mut named = Vec::new();
        let ended = end_all(ends, &Arc::default(), |slow| {
            named.extend_from_slice(slow);
            drop(go_on);
        });
        assert_eq!((ended, named), (vec![Some(1), Some(2)], vec![1]));
    }
}

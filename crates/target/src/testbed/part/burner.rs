//! Threads that really use CPU, and wait, like a server's workers.
//!
//! It must not know requests. Invariants: a job uses the requested CPU time of its thread, however busy the
//! machine is, and overshoots by less than a few microseconds; jobs start in order of arrival; at most `room`
//! of them wait.

use crate::duration::as_ns;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;

/// Spins between two looks at the clock, well below a microsecond together.
const SPINS: u32 = 16;

/// The threads.
pub(super) struct Burner {
    jobs: mpsc::Sender<Job>,
    waiting: Arc<AtomicUsize>,
    room: usize,
}

struct Job {
    cpu: Duration,
    wait: Duration,
    done: oneshot::Sender<()>,
}

/// No place to wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Burner {
    /// Starts the threads; they end with the value.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub(super) fn start(workers: u32, room: u32) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        let waiting = Arc::new(AtomicUsize::new(0));
        for index in 0..workers {
            let (queue, waiting) = (Arc::clone(&queue), Arc::clone(&waiting));
            std::thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || work(&queue, &waiting))?;
        }
        // A worker that is free takes a job before it counts as waiting for long.
        let room = room as usize + workers as usize;
        Ok(Self {
            jobs,
            waiting,
            room,
        })
    }

    /// Waits for a worker, lets it burn `cpu` and then wait, and completes when it is done. If the caller gives
    /// up, its job stays in the queue.
    ///
    /// # Errors
    /// The waiting room is full.
    pub(super) async fn work(&self, cpu: Duration, wait: Duration) -> Result<(), Full> {
        if self.waiting.fetch_add(1, Relaxed) >= self.room {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(Full);
        }
        let (done, finished) = oneshot::channel();
        let job = Job { cpu, wait, done };
        self.jobs.send(job).map_err(|_| Full)?;
        finished.await.map_err(|_| Full)
    }
}

fn work(queue: &Mutex<mpsc::Receiver<Job>>, waiting: &AtomicUsize) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        burn(job.cpu);
        pause(job.wait);
        waiting.fetch_sub(1, Relaxed);
        // Nobody listens where the client left.
        let _ = job.done.send(());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a worker of this server really is busy that long; nothing else runs on its thread"
)]
fn pause(wait: Duration) {
    if !wait.is_zero() {
        std::thread::sleep(wait);
    }
}

/// Uses CPU time of this thread.
pub(super) fn burn(cpu: Duration) {
    let wanted_ns = as_ns(cpu);
    let start_ns = thread_cpu_ns();
    while wanted_ns > 0 && thread_cpu_ns().saturating_sub(start_ns) < wanted_ns {
        (0..SPINS).for_each(|_| std::hint::spin_loop());
    }
}

/// CPU time that this thread has used.
#[cfg(unix)]
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists (POSIX 2001) and the value lives through the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    debug_assert_eq!(result, 0, "the clock of the calling thread always exists");
    let whole = u64::try_from(time.tv_sec).unwrap_or(0);
    whole * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Elsewhere no testbed is started.
#[cfg(not(unix))]
fn thread_cpu_ns() -> u64 {
    u64::MAX
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn burns_what_it_is_told_and_hardly_more() {
        let mut over: Vec<u64> = (0..20)
            .map(|_| {
                let start = thread_cpu_ns();
                burn(Duration::from_micros(500));
                thread_cpu_ns() - start
            })
            .map(|burnt| burnt.checked_sub(500_000).expect("never less"))
            .collect();
        over.sort_unstable();
        assert!(over[10] < 25_000, "median overshoot {} ns", over[10]);
    }

    #[test]
    fn a_full_room_refuses() {
        let burner = Burner::start(1, 0).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let first = burner.work(Duration::ZERO, Duration::from_millis(50));
            let mut first = std::pin::pin!(first);
            std::future::poll_fn(|cx| {
                assert!(first.as_mut().poll(cx).is_pending());
                std::task::Poll::Ready(())
            })
            .await;
            let second = burner.work(Duration::ZERO, Duration::ZERO).await;
            assert_eq!(second, Err(Full));
            assert_eq!(first.await, Ok(()));
            assert_eq!(burner.work(Duration::ZERO, Duration::ZERO).await, Ok(()));
        });
    }
}

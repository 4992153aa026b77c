//! Precise waits: one alarm per worker, so that a simulated service time is accurate to microseconds.
//!
//! It must not know the purpose of a wait. Tokio's own timer counts whole milliseconds; on Linux the alarm is
//! a timerfd instead, elsewhere Tokio's timer. Invariants: a sleeper is never woken before its instant, and
//! a dropped sleeper leaves nothing behind.

use crate::clock::Clock;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The sleepers of one worker.
pub(crate) struct Timer {
    clock: Arc<Clock>,
    sleepers: Mutex<Sleepers>,
    alarm: alarm::Alarm,
}

#[derive(Default)]
struct Sleepers {
    /// Ordered by instant, then by age.
    due: BTreeMap<(u64, u64), Waker>,
    next_id: u64,
    /// The instant for which the alarm is set.
    armed_ns: Option<u64>,
}

impl Timer {
    /// A timer; must be called inside of the runtime that will drive it.
    ///
    /// # Errors
    /// When the system has no more timers or file descriptors.
    pub(crate) fn new(clock: Arc<Clock>) -> io::Result<Self> {
        Ok(Self {
            clock,
            sleepers: Mutex::default(),
            alarm: alarm::Alarm::new()?,
        })
    }

    /// A future that completes at `instant_ns` of the server's clock.
    pub(crate) fn sleep_until(self: &Arc<Self>, instant_ns: u64) -> Sleep {
        Sleep {
            timer: Arc::clone(self),
            instant_ns,
            id: None,
        }
    }

    /// Now, by the server's clock.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Wakes sleepers for ever; runs as one task of the worker.
    pub(crate) async fn drive(self: Arc<Self>) {
        loop {
            self.alarm.rings().await;
            let wakers = self.take_due();
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    fn take_due(&self) -> Vec<Waker> {
        let mut sleepers = self.lock();
        let later = sleepers.due.split_off(&(self.clock.now_ns() + 1, 0));
        let due = std::mem::replace(&mut sleepers.due, later);
        sleepers.armed_ns = None;
        self.arm(&mut sleepers);
        due.into_values().collect()
    }

    /// Sets the alarm to the earliest sleeper when it is not set to that or an earlier instant.
    fn arm(&self, sleepers: &mut Sleepers) {
        let Some((&(first_ns, _), _)) = sleepers.due.first_key_value() else {
            return;
        };
        if sleepers.armed_ns.is_none_or(|armed| first_ns < armed) {
            sleepers.armed_ns = Some(first_ns);
            self.alarm.set(first_ns.saturating_sub(self.clock.now_ns()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for one instant.
pub(crate) struct Sleep {
    timer: Arc<Timer>,
    instant_ns: u64,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.timer.now_ns() >= self.instant_ns {
            return Poll::Ready(());
        }
        let timer = Arc::clone(&self.timer);
        let mut sleepers = timer.lock();
        let id = *self.id.get_or_insert_with(|| {
            sleepers.next_id += 1;
            sleepers.next_id
        });
        sleepers
            .due
            .insert((self.instant_ns, id), cx.waker().clone());
        timer.arm(&mut sleepers);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.timer.lock().due.remove(&(self.instant_ns, id));
        }
    }
}

#[cfg(target_os = "linux")]
mod alarm {
    //! A timerfd in the worker's epoll set. Edge-triggered readiness makes reading it unnecessary: setting
    //! it again clears the old expiration.

    use std::io;
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    pub(super) struct Alarm(AsyncFd<OwnedFd>);

    impl Alarm {
        pub(super) fn new() -> io::Result<Self> {
            // SAFETY: timerfd_create takes no pointers; the result is checked before use.
            let fd = unsafe {
                libc::timerfd_create(
                    libc::CLOCK_MONOTONIC,
                    libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
                )
            };
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor was just made and has no other owner.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            // SAFETY: an `OwnedFd` always gives the same open descriptor, and is closed only when the
            // registration is dropped with it.
            let registered = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
            registered.map(Self).map_err(io::Error::from)
        }

        /// Rings once after `delay_ns`, and at once for 0; replaces an earlier setting.
        pub(super) fn set(&self, delay_ns: u64) {
            // A zero value would disarm the timer.
            let delay_ns = delay_ns.max(1);
            let spec = libc::itimerspec {
                it_interval: libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                },
                it_value: libc::timespec {
                    tv_sec: (delay_ns / 1_000_000_000) as libc::time_t,
                    tv_nsec: (delay_ns % 1_000_000_000) as libc::c_long,
                },
            };
            let fd = self.0.get_ref().as_raw_fd();
            // SAFETY: the descriptor is open, `spec` lives through the call, and no old value is asked for.
            let result = unsafe { libc::timerfd_settime(fd, 0, &spec, std::ptr::null_mut()) };
            debug_assert_eq!(result, 0, "the descriptor and the value are valid");
        }

        /// Completes when the alarm has rung since the last call.
        pub(super) async fn rings(&self) {
            if let Ok(mut guard) = self.0.readable().await {
                guard.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod alarm {
    //! Tokio's timer, precise to a millisecond.

    use std::io;
    use std::sync::Mutex;
    use std::sync::PoisonError;
    use std::time::Duration;
    use tokio::sync::Notify;

    #[derive(Default)]
    pub(super) struct Alarm {
        delay: Mutex<Option<Duration>>,
        changed: Notify,
    }

    impl Alarm {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self::default())
        }

        pub(super) fn set(&self, delay_ns: u64) {
            let mut delay = self.delay.lock().unwrap_or_else(PoisonError::into_inner);
            *delay = Some(Duration::from_nanos(delay_ns));
            self.changed.notify_one();
        }

        pub(super) async fn rings(&self) {
            let mut delay = None;
            loop {
                let changed = self.changed.notified();
                match delay {
                    None => changed.await,
                    Some(delay) if tokio::time::timeout(delay, changed).await.is_err() => return,
                    Some(_) => {}
                }
                delay = self
                    .delay
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn with_timer<F: Future<Output = ()>>(test: impl FnOnce(Arc<Timer>) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let timer = Arc::new(Timer::new(Arc::new(Clock::start())).unwrap());
            tokio::spawn(Arc::clone(&timer).drive());
            test(timer).await;
        });
    }

    #[test]
    fn never_early_and_rarely_late() {
        with_timer(|timer| async move {
            let mut late = Vec::new();
            for i in 0..50 {
                let instant = timer.now_ns() + 500_000 + i * 10_000;
                timer.sleep_until(instant).await;
                let now = timer.now_ns();
                assert!(now >= instant);
                late.push(now - instant);
            }
            late.sort_unstable();
            // Tokio's own timer is late by 0.5 ms in the median; a busy machine may disturb single values.
            assert!(late[25] < 300_000, "median lateness {} ns", late[25]);
        });
    }

    #[test]
    fn sleepers_end_in_the_order_of_their_instants() {
        with_timer(|timer| async move {
            let order = Arc::new(Mutex::new(Vec::new()));
            let start = timer.now_ns();
            let tasks: Vec<_> = [3_u64, 1, 2]
                .into_iter()
                .map(|i| {
                    let (sleep, order) =
                        (timer.sleep_until(start + i * 2_000_000), Arc::clone(&order));
                    tokio::spawn(async move {
                        sleep.await;
                        order.lock().unwrap().push(i);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
        });
    }

    #[test]
    fn a_dropped_sleeper_leaves_nothing() {
        with_timer(|timer| async move {
            let sleep = timer.sleep_until(timer.now_ns() + 60_000_000_000);
            let task = tokio::spawn(sleep);
            tokio::task::yield_now().await;
            assert_eq!(timer.lock().due.len(), 1);
            task.abort();
            assert!(task.await.is_err());
            assert!(timer.lock().due.is_empty());
        });
    }
}

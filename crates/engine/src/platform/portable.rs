//! Systems other than Linux: what is portable, `None` for the rest.
//!
//! Must not know what the numbers are for. Invariant: an unavailable number is `None`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::{RunQueue, TcpFacts};

/// An alarm that can be set to an absolute instant of the monotonic clock.
pub struct Alarm {
    sleep: Mutex<Pin<Box<tokio::time::Sleep>>>,
}

impl Alarm {
    /// A new alarm, not set.
    ///
    /// # Errors
    /// Never here.
    pub fn new() -> io::Result<Alarm> {
        let far = Duration::from_secs(86_400 * 365);
        Ok(Alarm {
            sleep: Mutex::new(Box::pin(tokio::time::sleep(far))),
        })
    }

    /// Sets the alarm to `monotonic_ns`; an instant that has passed fires at once.
    pub fn set(&self, monotonic_ns: u64) {
        let at = origin() + Duration::from_nanos(monotonic_ns);
        if let Ok(mut sleep) = self.sleep.lock() {
            sleep.as_mut().reset(tokio::time::Instant::from_std(at));
        }
    }

    /// Ready once the alarm has fired since it was last set.
    pub fn poll_fired(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.sleep.lock() {
            Ok(mut sleep) => sleep.as_mut().poll(cx),
            Err(_) => Poll::Pending,
        }
    }
}

fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is where the clock is read"
    )]
    *ORIGIN.get_or_init(Instant::now)
}

/// The monotonic clock, on the scale of [`Alarm::set`].
#[must_use]
pub fn monotonic_ns() -> u64 {
    let since = origin().elapsed();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time of the calling thread in nanoseconds: unknown here.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    0
}

/// CPU time of the whole process in nanoseconds: unknown here.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    0
}

/// How long the calling thread waited for a CPU: unknown here.
#[must_use]
pub fn thread_run_queue() -> Option<RunQueue> {
    None
}

/// Resident memory of the process: not known here.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    None
}

/// Peak resident memory of the process: unknown here.
#[must_use]
pub fn resident_bytes_max() -> Option<u64> {
    None
}

/// The limit of open files is left as it is here.
#[must_use]
pub fn raise_open_files() -> Option<u64> {
    None
}

/// CPUs that the process may use, at least one.
#[must_use]
pub fn affinity_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Control groups are Linux's.
#[must_use]
pub fn cpu_quota_cores() -> Option<f64> {
    None
}

/// Control groups are Linux's.
#[must_use]
pub fn throttled_ns() -> Option<u64> {
    None
}

/// Control groups are Linux's.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    None
}

/// Local ports for outgoing connections: not known here.
#[must_use]
pub fn ephemeral_ports() -> Option<u64> {
    None
}

/// Operating system.
#[must_use]
pub fn system_name() -> String {
    std::env::consts::OS.to_owned()
}

/// Host name: not known here.
#[must_use]
pub fn host_name() -> String {
    String::new()
}

/// Identifies this machine: unknown here.
pub(super) fn machine() -> String {
    String::new()
}

/// CPU model: unknown here.
#[must_use]
pub fn processor_name() -> String {
    String::new()
}

/// Memory of the machine: not known here.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    None
}

/// TCP connections cannot be queried here.
#[must_use]
pub fn tcp_facts<S>(_socket: &S) -> Option<TcpFacts> {
    None
}

/// There are no timestamps here.
pub fn stamp_arrivals<S>(_socket: &S) {}

/// Reads like `poll_read` of `stream`; the arrival time is unknown here.
///
/// # Errors
/// Those of the system.
pub fn poll_read_stamped(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<Option<u64>>> {
    let outcome = Pin::new(stream).poll_read(cx, buffer);
    outcome.map(|read| read.map(|()| None))
}

/// The local port is chosen when binding here.
pub fn bind_address_without_port<S>(_socket: &S) {}

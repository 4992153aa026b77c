//! Linux: timer file descriptors, resource limits, resource use of the process and its threads.
//!
//! Must not know what the numbers are for. Invariant: a failing call returns an error or `None`, never a
//! made-up number.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::task::{Context, Poll, ready};

use loadline_model::snapshot::Connections;
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};
use tokio::net::TcpStream;

use super::{RunQueue, TcpFacts};

/// An alarm that can be set to an absolute instant of the monotonic clock.
pub struct Alarm {
    descriptor: AsyncFd<OwnedFd>,
}

impl Alarm {
    /// A new alarm, not set.
    ///
    /// # Errors
    /// The process has no file descriptors left.
    pub fn new() -> io::Result<Alarm> {
        // SAFETY: timerfd_create takes no pointers.
        let raw = unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and nobody else owns it.
        let owned = unsafe { OwnedFd::from_raw_fd(raw) };
        // SAFETY: an `OwnedFd` gives the same open descriptor for its whole life.
        let descriptor = unsafe { AsyncFd::register_with_interest(owned, Interest::READABLE)? };
        Ok(Alarm { descriptor })
    }

    /// Sets the alarm to `monotonic_ns`; an instant that has passed fires at once.
    pub fn set(&self, monotonic_ns: u64) {
        let at = monotonic_ns.max(1);
        let spec = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (at / 1_000_000_000) as libc::time_t,
                tv_nsec: (at % 1_000_000_000) as libc::c_long,
            },
        };
        // SAFETY: the descriptor is open and `spec` outlives the call; the old value is not asked
        // for. The call fails for invalid values alone, which the construction rules out.
        unsafe {
            libc::timerfd_settime(
                self.descriptor.get_ref().as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const spec,
                std::ptr::null_mut(),
            );
        }
    }

    /// Ready once the alarm has fired since it was last set.
    ///
    /// Expirations are never read: setting the alarm again resets them, and the edge-triggered registration
    /// reports the next one.
    pub fn poll_fired(&self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.descriptor.poll_read_ready(cx)) {
            Ok(mut ready) => ready.clear_ready(),
            Err(_) => return Poll::Pending,
        }
        Poll::Ready(())
    }
}

/// The monotonic clock, on the scale of [`Alarm::set`].
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of the whole process in nanoseconds.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

#[inline]
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut at = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `at` is valid for writing; these clocks always exist on Linux.
    unsafe { libc::clock_gettime(clock, &raw mut at) };
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// How long and how often the calling thread waited for a CPU so far; `None` if the kernel does not report it.
#[must_use]
pub fn thread_run_queue() -> Option<RunQueue> {
    // Documentation/scheduler/sched-stats.rst: time on the processor, time in the queue, times that it was run.
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().skip(1);
    let mut next = || numbers.next()?.parse().ok();
    Some(RunQueue {
        waited_ns: next()?,
        turns: next()?,
    })
}

/// Resident memory of the process in bytes; `None` if the kernel does not report it.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: sysconf takes no pointers.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

/// Peak resident memory of the process so far, in bytes: `VmHWM` of proc(5). `ru_maxrss` of getrusage(2) would
/// start at the value of the process that started this one.
#[must_use]
pub fn resident_bytes_max() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Raises the limit on open files to the hard limit and returns the limit now in force.
#[must_use]
pub fn raise_open_files() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return None;
    }
    if limit.rlim_cur < limit.rlim_max {
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            rlim_max: limit.rlim_max,
        };
        // SAFETY: `raised` outlives the call.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
            limit.rlim_cur = limit.rlim_max;
        }
    }
    Some(limit.rlim_cur)
}

/// CPUs in the affinity mask of the process, at least one.
#[must_use]
pub fn affinity_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Local ports for outgoing connections; `None` if the kernel does not report it.
#[must_use]
pub fn ephemeral_ports() -> Option<u64> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = text.split_whitespace().map(str::parse::<u64>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    Some(high.saturating_sub(low) + 1)
}

/// Operating system and kernel release.
#[must_use]
pub fn system_name() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

/// Host name; empty when unknown.
#[must_use]
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Identifies this machine and its current boot; empty if unknown.
pub(super) fn machine() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.unwrap_or_default().trim().to_owned()
}

/// Processor model; empty when unknown.
#[must_use]
pub fn processor_name() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .find_map(|line| {
            line.strip_prefix("model name")?
                .split_once(':')
                .map(|(_, name)| name)
        })
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Memory of the machine in bytes; `None` when unknown.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

/// Queries the kernel about a TCP connection; `None` if it does not report anything.
#[must_use]
pub fn tcp_facts(socket: &impl AsRawFd) -> Option<TcpFacts> {
    // Offsets in `struct tcp_info` (linux/tcp.h): tcpi_retransmits, timeouts in a row without an acknowledgment, at 2, a
    // byte; tcpi_rtt at 68, tcpi_total_retrans at 100, tcpi_bytes_received at 128, tcpi_min_rtt at 148; in microseconds
    // tcpi_busy_time, in which something was to be sent, at 168, and tcpi_rwnd_limited, how much of it the receiver's window
    // was full, at 176; tcpi_dsack_dups, segments that the other side got twice, at 216; tcpi_rcv_ooopack, segments that came
    // behind a gap, at 224.
    const RETRANSMITS: usize = 2;
    const RTT: usize = 68;
    const RECEIVED: std::ops::Range<usize> = 128..136;
    const TOTAL_RETRANS: usize = 100;
    const MIN_RTT: usize = 148;
    const BUSY: usize = 168;
    const WINDOW_FULL: usize = 176;
    const GOT_TWICE: usize = 216;
    const OUT_OF_ORDER: usize = 224;
    let mut info = [0_u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: `info` and `length` are valid for writing and agree on the size.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome != 0 || (length as usize) < MIN_RTT + 4 {
        return None;
    }
    let word = |offset: usize| {
        let bytes: [u8; 4] = info[offset..offset + 4].try_into().ok()?;
        Some(u64::from(u32::from_ne_bytes(bytes)))
    };
    let long = |offset: usize| {
        let bytes: [u8; 8] = info[offset..offset + 8].try_into().ok()?;
        Some(u64::from_ne_bytes(bytes))
    };
    let (min_rtt_us, rtt_us) = (word(MIN_RTT)?, word(RTT)?);
    // Older kernels leave zeros there.
    let (busy_us, full_us) = (long(BUSY)?, long(WINDOW_FULL)?);
    let is_full = full_us.saturating_mul(2) > busy_us;
    let is_repeating = info[RETRANSMITS] > 0;
    let has_received = info[RECEIVED].iter().any(|byte| *byte > 0);
    // A link with a long queue fills windows too.
    let probes = is_full && rtt_us < min_rtt_us + Connections::QUEUED_NS / 1_000;
    let again = if probes { 0 } else { word(TOTAL_RETRANS)? };
    let needless = word(GOT_TWICE)?.min(again);
    (min_rtt_us != u64::from(u32::MAX)).then_some(TcpFacts {
        min_rtt_ns: min_rtt_us * 1_000,
        rtt_ns: rtt_us * 1_000,
        retransmits: again - needless,
        needless,
        is_unacknowledged: is_repeating && has_received,
        is_untaken: is_repeating && !has_received,
        out_of_order: word(OUT_OF_ORDER)?,
        in_flight_ns: busy_us.saturating_sub(full_us).saturating_mul(1_000),
    })
}

/// Enables kernel timestamps for data that arrives on `socket`, for [`poll_read_stamped`].
pub fn stamp_arrivals(socket: &impl AsRawFd) {
    turn_on(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS);
}

/// Reads like `poll_read` of `stream`, and returns how long the last of the data had waited in the kernel, in
/// nanoseconds; `None` without a timestamp.
///
/// # Errors
/// Those of recvmsg(2).
pub fn poll_read_stamped(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<Option<u64>>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        // SAFETY: the kernel only writes into it.
        let room = unsafe { buffer.unfilled_mut() };
        let mut received = None;
        let outcome = stream.try_io(Interest::READABLE, || {
            let (length, delay) = receive(&*stream, room)?;
            received = Some((length, delay));
            // A short read took everything: the next one waits for an event, without a system call that finds nothing.
            match (1..room.len()).contains(&length) {
                true => Err(io::ErrorKind::WouldBlock.into()),
                false => Ok(()),
            }
        });
        if let Some((length, delay)) = received {
            // SAFETY: the kernel wrote as many bytes.
            unsafe { buffer.assume_init(length) };
            buffer.advance(length);
            return Poll::Ready(Ok(delay));
        }
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                return Poll::Ready(Err(error));
            }
            _ => {}
        }
    }
}

/// Receives into `buffer`; returns the number of bytes, and how long the last of them had waited in the kernel.
fn receive(
    socket: &impl AsRawFd,
    buffer: &mut [MaybeUninit<u8>],
) -> io::Result<(usize, Option<u64>)> {
    const STAMP_ROOM: usize = 64;
    /// Aligned as the kernel's headers of control messages are.
    #[repr(C, align(8))]
    struct Control([u8; STAMP_ROOM]);

    let mut control = Control([0; STAMP_ROOM]);
    let mut piece = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: a message header of zeros is valid; what is set points to memory that outlives the calls, with its length.
    let (length, stamp) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = STAMP_ROOM as _;
        let length = libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0);
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        (length, arrival_stamp(&message))
    };
    Ok((length, stamp.and_then(since)))
}

/// When the last received data arrived.
///
/// # Safety
/// `message` was filled in by recvmsg(2), and its control messages still are where it says.
unsafe fn arrival_stamp(message: &libc::msghdr) -> Option<libc::timespec> {
    // SAFETY: the kernel wrote the control messages and their lengths.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message).as_ref()?;
        let is_stamp =
            header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPNS;
        let room = libc::CMSG_LEN(size_of::<libc::timespec>() as u32) as usize;
        (is_stamp && header.cmsg_len as usize >= room).then(|| {
            libc::CMSG_DATA(header)
                .cast::<libc::timespec>()
                .read_unaligned()
        })
    }
}

/// Wall time elapsed since then, in nanoseconds; `None` if the clock was set in between.
fn since(then: libc::timespec) -> Option<u64> {
    let mut now = then;
    // SAFETY: `now` is valid for writing.
    if unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) } != 0 {
        return None;
    }
    let ns = |at: libc::timespec| i128::from(at.tv_sec) * 1_000_000_000 + i128::from(at.tv_nsec);
    u64::try_from(ns(now) - ns(then)).ok()
}

/// Makes the kernel choose the local port only when connecting, so that one source address can have many
/// connections to different peers.
pub fn bind_address_without_port(socket: &impl AsRawFd) {
    turn_on(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
}

/// Turns a socket option on; an option that the kernel does not know stays off.
fn turn_on(socket: &impl AsRawFd, level: libc::c_int, option: libc::c_int) {
    let on: libc::c_int = 1;
    // SAFETY: the value outlives the call and has the size that is passed.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_answers() {
        assert!(affinity_cores() >= 1);
        assert!(resident_bytes().expect("statm is there") > 100_000);
        assert!(resident_bytes_max().expect("status is there") > 100_000);
        assert!(monotonic_ns() > 0);
        assert!(system_name().starts_with("Linux "));
        assert!(ephemeral_ports().expect("the range is there") > 1);
    }
}

//! The counters of one process, in memory shared with the supervisor.
//!
//! It must not know what is counted. Invariant: counts survive any end of the process, including `SIGKILL`,
//! because the supervisor maps the same memory.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where each counter is; the statuses lie behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterSlot {
    /// Requests whose head arrived, without those for `/metrics`.
    Requests,
    /// Requests for `/metrics`.
    Scrapes,
    BytesIn,
    BytesOut,
    Connections,
    /// Messages that a consumer has done.
    Acknowledged,
    /// Requests or connections without room or without a replica.
    Refused,
    /// Connections that were reset on purpose.
    Resets,
    /// 1 when the process ended because it held too much memory.
    Ooms,
    /// CPU time burnt as the plan says, nanoseconds.
    BurntNs,
    /// From here on gauges: requests that are there.
    InFlight,
    /// Of these, those that wait for a first replica.
    Waiting,
    /// Messages that no consumer has done.
    Backlog,
}

/// The first of the gauges, which are not added up.
const FIRST_GAUGE: usize = CounterSlot::InFlight as usize;
/// The last slot that is no status.
const LAST_SLOT: usize = CounterSlot::Backlog as usize;
/// Where status 0, no answer on purpose, is counted; status `n` is `n` further.
const FIRST_STATUS: usize = 16;
/// Statuses counted separately: 0 to 599.
const STATUSES: usize = 600;
/// All counters.
const SLOTS: usize = FIRST_STATUS + STATUSES;
const _: () = assert!(
    LAST_SLOT < FIRST_STATUS,
    "slots and statuses do not overlap"
);
const BYTES: usize = SLOTS * size_of::<AtomicU64>();

/// The counters.
#[derive(Debug)]
pub(crate) struct Tally {
    slots: NonNull<AtomicU64>,
}

// SAFETY: the memory is only ever touched through atomics, and lives as long as the value.
unsafe impl Send for Tally {}
// SAFETY: as above.
unsafe impl Sync for Tally {}

impl Tally {
    /// Makes a new file of zeros and shares its memory.
    ///
    /// # Errors
    /// When the file exists or cannot be made, or memory cannot be shared on this system.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // The folder for temporary files is everybody's.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        file.set_len(BYTES as u64)?;
        Self::of(&file)
    }

    /// Maps the memory of a file created by [`Tally::create`], and removes the file: no other process needs it.
    ///
    /// # Errors
    /// The file is missing or invalid.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() != BYTES as u64 {
            return Err(io::Error::other("not a file of counters"));
        }
        let tally = Self::of(&file)?;
        // A file that stays is a few pages of garbage in the folder for temporary files.
        drop(std::fs::remove_file(path));
        Ok(tally)
    }

    #[cfg(unix)]
    fn of(file: &std::fs::File) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;
        // SAFETY: the address is the kernel's choice, the length is that of the file, the descriptor is
        // open, and the result is checked.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let slots = NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { slots })
    }

    #[cfg(not(unix))]
    fn of(_file: &std::fs::File) -> io::Result<Self> {
        Err(io::Error::other("a testbed needs a Unix system"))
    }

    fn at(&self, index: usize) -> &AtomicU64 {
        assert!(index < SLOTS, "a counter lies inside of the memory");
        // SAFETY: the memory holds SLOTS aligned values (pages are aligned), zero is a valid one, and it
        // stays mapped as long as `self`.
        unsafe { self.slots.add(index).as_ref() }
    }

    /// Counts.
    pub(crate) fn add(&self, slot: CounterSlot, count: u64) {
        self.at(slot as usize).fetch_add(count, Relaxed);
    }

    /// Takes back from a gauge.
    pub(crate) fn subtract(&self, slot: CounterSlot, count: u64) {
        self.at(slot as usize).fetch_sub(count, Relaxed);
    }

    /// The value now.
    pub(crate) fn get(&self, slot: CounterSlot) -> u64 {
        self.at(slot as usize).load(Relaxed)
    }

    /// Counts a response; 0 means a deliberately missing one.
    pub(crate) fn count_status(&self, status: u16) {
        let status = usize::from(status).min(STATUSES - 1);
        self.at(FIRST_STATUS + status).fetch_add(1, Relaxed);
    }

    /// All values as they are now.
    pub(crate) fn read(&self) -> Totals {
        Totals((0..SLOTS).map(|i| self.at(i).load(Relaxed)).collect())
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and nothing refers to it any more.
        #[cfg(unix)]
        unsafe {
            libc::munmap(self.slots.as_ptr().cast(), BYTES);
        }
    }
}

/// Values of counters, added up over processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Totals(Vec<u64>);

impl Default for Totals {
    fn default() -> Self {
        Self(vec![0; SLOTS])
    }
}

impl Totals {
    /// Adds everything, gauges too: both processes are there.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// The same without gauges: the process is gone.
    pub(crate) fn ended(mut self) -> Self {
        self.0[FIRST_GAUGE..=LAST_SLOT].fill(0);
        self
    }

    /// One value.
    pub(crate) fn get(&self, slot: CounterSlot) -> u64 {
        self.0[slot as usize]
    }

    /// The statuses that were answered and how often, ascending; without 0.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let counted = (0_u16..).zip(&self.0[FIRST_STATUS..]).skip(1);
        counted.filter(|(_, n)| **n > 0).map(|(code, n)| (code, *n))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn two_holders_see_the_same_counts_and_the_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tally");
        let mine = Tally::create(&path).unwrap();
        let theirs = Tally::open(&path).unwrap();
        assert!(!path.exists());
        theirs.add(CounterSlot::Requests, 3);
        theirs.add(CounterSlot::Backlog, 2);
        theirs.count_status(200);
        theirs.count_status(u16::MAX);
        drop(theirs);
        assert_eq!(mine.get(CounterSlot::Requests), 3);
        let seen: Vec<_> = mine.read().statuses().collect();
        assert_eq!(seen, [(200, 1), (599, 1)]);
        let mut sum = mine.read().ended();
        sum.add(&mine.read());
        assert_eq!(
            (
                sum.get(CounterSlot::Requests),
                sum.get(CounterSlot::Backlog)
            ),
            (6, 2)
        );
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        std::fs::write(&path, "x").unwrap();
        assert!(Tally::open(&path).is_err());
        assert!(Tally::create(&path).is_err());
        assert!(path.exists());
    }
}

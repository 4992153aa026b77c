//! Room to recurse: a separate stack for work whose depth depends on the input.
//!
//! Address space is reserved, and memory is only used as deep as the work goes, so a large room costs only the
//! part used. Must not know the work. Invariant: the end of a room is guarded; work that overflows it ends the
//! process, and never writes elsewhere.

use std::io;
use std::ptr;

use corosensei::on_stack;
use corosensei::stack::{Stack, StackPointer};

/// Inaccessible bytes at a room's end: more than any single frame skips.
const GUARD_BYTES: usize = 1 << 20;
/// Rooms consist of whole pages of this size, the largest in use on any system.
const PAGE_BYTES: usize = 64 * 1024;

/// Runs work on a stack of this many bytes. The work must not suspend a virtual user.
///
/// # Errors
/// The system has no address space for it; then the work does not run.
pub(crate) fn with_room<T>(bytes: usize, work: impl FnOnce() -> T) -> io::Result<T> {
    Room::new(bytes).map(|room| on_stack(room, work))
}

/// Like [`with_room`], on a stack as close to `most` bytes as address space permits.
///
/// # Errors
/// Fewer than `least` bytes are available; then the work does not run.
pub(crate) fn with_room_up_to<T>(
    least: usize,
    most: usize,
    work: impl FnOnce() -> T,
) -> io::Result<T> {
    Room::new_up_to(least, most).map(|room| on_stack(room, work))
}

/// A reserved stack.
pub(crate) struct Room {
    base: StackPointer,
    limit: StackPointer,
}

impl Room {
    /// A stack as close to `most` bytes as address space permits.
    ///
    /// # Errors
    /// Fewer than `least` bytes are available.
    pub(crate) fn new_up_to(least: usize, most: usize) -> io::Result<Room> {
        let mut bytes = most.max(least);
        loop {
            match Room::new(bytes) {
                Err(_) if bytes > least => bytes = (bytes / 2).max(least),
                made => return made,
            }
        }
    }

    /// Usable bytes.
    pub(crate) fn usable(&self) -> usize {
        self.base.get() - self.limit.get() - GUARD_BYTES
    }

    /// Makes the system use small pages: most of a huge page would be unused.
    pub(crate) fn take_small_pages(&self) {
        #[cfg(target_os = "linux")]
        self.beyond(0).advise(libc::MADV_NOHUGEPAGE);
    }

    /// The part beyond the first `kept` bytes.
    pub(crate) fn beyond(&self, kept: usize) -> Beyond {
        let kept = kept.next_multiple_of(PAGE_BYTES);
        Beyond {
            start: self.limit.get() + GUARD_BYTES,
            bytes: self.usable().saturating_sub(kept),
        }
    }

    fn new(bytes: usize) -> io::Result<Room> {
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let usable = bytes
            .checked_next_multiple_of(PAGE_BYTES)
            .ok_or_else(too_large)?
            .max(PAGE_BYTES);
        let length = usable.checked_add(GUARD_BYTES).ok_or_else(too_large)?;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address chosen by the system.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let pointer = |at: usize| StackPointer::new(at).expect("no mapping begins at zero");
        let room = Room {
            base: pointer(start as usize + length),
            limit: pointer(start as usize),
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range is in the mapping, which is not shared yet.
        let opened = unsafe { libc::mprotect(start.byte_add(GUARD_BYTES), usable, access) };
        if opened != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(room)
    }
}

/// The far part of a room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beyond {
    start: usize,
    bytes: usize,
}

impl Beyond {
    /// Returns its memory to the system.
    ///
    /// # Safety
    /// The room still exists, and nothing in this part is read again before it is written.
    pub(crate) unsafe fn give_back(self) {
        self.advise(libc::MADV_DONTNEED);
    }

    fn advise(self, advice: libc::c_int) {
        // SAFETY: the range is part of a mapping; the caller guarantees that its content is unused.
        let advised = unsafe { libc::madvise(self.start as *mut _, self.bytes, advice) };
        // If it fails, more memory is held: users can do nothing about that.
        let _ = advised;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let length = self.base.get() - self.limit.get();
        // SAFETY: the mapping belongs to this room, and the work on it has ended.
        let unmapped = unsafe { libc::munmap(self.limit.get() as *mut _, length) };
        debug_assert_eq!(unmapped, 0, "a whole mapping can be given back");
    }
}

// SAFETY: the memory from `limit` to `base` is a mapping that exists until the drop; its low end is
// inaccessible.
unsafe impl Stack for Room {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(left: usize) -> usize {
        let frame = std::hint::black_box([left; 64]);
        if left == 0 {
            0
        } else {
            depth(left - 1) + frame[1].min(1)
        }
    }

    #[test]
    fn work_may_go_as_deep_as_the_room_is_and_gives_back_what_it_found() {
        assert_eq!(with_room(1 << 30, || depth(100_000)).ok(), Some(100_000));
        let nested = with_room(1 << 20, || with_room(1 << 20, || depth(100)).ok()).ok();
        assert_eq!(nested, Some(Some(100)));
    }

    #[test]
    fn what_is_given_back_is_empty_again_and_what_is_kept_stays() {
        let room = Room::new_up_to(1 << 20, 8 << 20).expect("there is address space");
        assert_eq!(room.usable(), 8 << 20);
        room.take_small_pages();
        let near = (room.base.get() - 1) as *mut u8;
        let far = (room.limit.get() + GUARD_BYTES) as *mut u8;
        // SAFETY: both are in the room, which nobody else uses; the far one is written before it is read.
        let kept = unsafe {
            near.write(7);
            far.write(7);
            room.beyond(1 << 20).give_back();
            (near.read(), far.read())
        };
        assert_eq!(kept.0, 7);
        if cfg!(target_os = "linux") {
            assert_eq!(kept.1, 0);
        }
    }

    #[test]
    fn a_room_that_no_system_has_is_an_error() {
        assert!(with_room(usize::MAX, || ()).is_err());
        assert!(with_room(1 << 62, || ()).is_err());
        assert!(with_room_up_to(1 << 62, usize::MAX, || ()).is_err());
        assert_eq!(
            with_room_up_to(1 << 20, 1 << 62, || depth(100)).ok(),
            Some(100)
        );
    }
}

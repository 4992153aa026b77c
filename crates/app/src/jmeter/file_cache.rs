//! The bytes of files that a plan has read.
//!
//! Must not know disks. Invariants: bytes are returned only while the file has the time and the length that it had
//! when they were read; what is kept without being in use has a limit.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Maximum number of bytes that are kept while nobody uses them; a single file may have more. Large enough for the
/// data and the uploads of most plans.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// Maximum number of such files.
const KEPT_FILES_MAX: usize = 1000;
/// A file that changed less than this before it was read, in milliseconds, may change again without a new time: the
/// clocks of file systems are coarse.
const UNSETTLED_MS: i64 = 100;

/// What tells a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Nanoseconds since 1970.
    pub(super) changed_ns: i128,
    /// In bytes.
    pub(super) length: u64,
}

/// The bytes of files by their places.
#[derive(Debug, Default)]
pub(super) struct FileCache {
    known: HashMap<PathBuf, (Stamp, Weak<[u8]>)>,
    /// The bytes that stay although nobody uses them, the oldest first.
    kept: VecDeque<(PathBuf, Arc<[u8]>)>,
    kept_bytes: usize,
    /// What cannot be read again: files of another machine, and pipes.
    fixed: HashMap<PathBuf, Arc<[u8]>>,
}

impl FileCache {
    /// The bytes of a place that cannot be read again.
    pub(super) fn fixed(&self, place: &Path) -> Option<Arc<[u8]>> {
        self.fixed.get(place).cloned()
    }

    /// Keeps what cannot be read again.
    pub(super) fn fix(&mut self, place: PathBuf, bytes: Arc<[u8]>) {
        self.fixed.insert(place, bytes);
    }

    /// The bytes of a place that has this stamp now; `None`: they have to be read.
    pub(super) fn find(&self, place: &Path, now: Stamp) -> Option<Arc<[u8]>> {
        let (then, bytes) = self.known.get(place)?;
        bytes.upgrade().filter(|_| *then == now)
    }

    /// Keeps bytes that were read after a look at the stamp, at an instant in milliseconds since 1970.
    pub(super) fn keep(&mut self, place: &Path, stamp: Stamp, bytes: &Arc<[u8]>, read_ms: i64) {
        self.drop_kept(place);
        if stamp.changed_ns > i128::from(read_ms - UNSETTLED_MS) * 1_000_000 {
            self.known.remove(place);
            return;
        }
        self.kept_bytes += bytes.len();
        self.kept.push_back((place.to_owned(), Arc::clone(bytes)));
        let known = (stamp, Arc::downgrade(bytes));
        self.known.insert(place.to_owned(), known);
        while self.kept.len() > KEPT_FILES_MAX
            || (self.kept_bytes > KEPT_BYTES_MAX && self.kept.len() > 1)
        {
            let Some((_, oldest)) = self.kept.pop_front() else {
                break;
            };
            self.kept_bytes -= oldest.len();
        }
        if self.known.len() > 2 * KEPT_FILES_MAX {
            self.known.retain(|_, (_, bytes)| bytes.strong_count() > 0);
        }
    }

    /// Forgets a place that has been written.
    pub(super) fn forget(&mut self, place: &Path) {
        self.fixed.remove(place);
        if self.known.remove(place).is_some() {
            self.drop_kept(place);
        }
    }

    fn drop_kept(&mut self, place: &Path) {
        let bytes = &mut self.kept_bytes;
        self.kept.retain(|(known, kept)| {
            let stays = known != place;
            *bytes -= if stays { 0 } else { kept.len() };
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_000_000;

    fn stamp(changed_ms: i64, length: u64) -> Stamp {
        Stamp {
            changed_ns: i128::from(changed_ms) * 1_000_000,
            length,
        }
    }

    #[test]
    fn bytes_are_those_of_a_time_and_a_length() {
        let mut cache = FileCache::default();
        let place = Path::new("/a");
        cache.keep(place, stamp(5, 3), &Arc::from(*b"old"), NOW_MS);
        let found =
            |cache: &FileCache, at: Stamp| cache.find(place, at).map(|bytes| bytes.to_vec());
        assert_eq!(found(&cache, stamp(5, 3)), Some(b"old".to_vec()));
        assert_eq!(found(&cache, stamp(6, 3)), None);
        assert_eq!(found(&cache, stamp(5, 4)), None);
        cache.keep(place, stamp(NOW_MS - 1, 3), &Arc::from(*b"new"), NOW_MS);
        assert_eq!(found(&cache, stamp(NOW_MS - 1, 3)), None, "it may change");
        assert_eq!(cache.kept_bytes, 0);
        cache.keep(place, stamp(7, 3), &Arc::from(*b"one"), NOW_MS);
        cache.forget(place);
        assert_eq!(found(&cache, stamp(7, 3)), None);
        assert_eq!(cache.kept_bytes, 0);
    }

    #[test]
    fn only_what_is_in_use_goes_beyond_the_limits() {
        let mut cache = FileCache::default();
        let large: Arc<[u8]> = vec![0; KEPT_BYTES_MAX].into();
        cache.keep(Path::new("/large"), stamp(5, 1), &large, NOW_MS);
        for number in 0..3 * KEPT_FILES_MAX {
            let place = PathBuf::from(format!("/{number}"));
            cache.keep(&place, stamp(5, 1), &Arc::from(*b"x"), NOW_MS);
        }
        assert_eq!(
            (cache.kept.len(), cache.kept_bytes),
            (KEPT_FILES_MAX, KEPT_FILES_MAX)
        );
        assert!(cache.known.len() <= 2 * KEPT_FILES_MAX + 1);
        assert!(cache.find(Path::new("/large"), stamp(5, 1)).is_some());
        drop(large);
        assert!(cache.find(Path::new("/large"), stamp(5, 1)).is_none());
    }
}

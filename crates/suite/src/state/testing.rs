//! An in-memory disk that fails after a number of operations, like a killed process or a machine without power.
//!
//! Must not know its content. Invariant: after the failure every operation fails until it is restarted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Disk;

/// What is lost when the disk dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Only the current operation: it is half done.
    Process,
    /// What was not synced, too: files keep half of what they had.
    Power,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    synced: bool,
}

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<PathBuf, Kept>,
    folders: std::collections::BTreeSet<PathBuf>,
    operations: u64,
    dies_at: Option<u64>,
    loss: Option<Loss>,
    dead: bool,
}

/// The disk.
#[derive(Debug, Default)]
pub(crate) struct MemoryDisk(Mutex<Inner>);

impl MemoryDisk {
    /// Lets it die with the operation of this number, from one on.
    pub(crate) fn die_at(&self, operation: u64, loss: Loss) {
        let mut inner = self
            .0
            .lock()
            .expect("no test panics while it holds the disk");
        inner.dies_at = Some(inner.operations + operation);
        inner.loss = Some(loss);
    }

    pub(crate) fn operations(&self) -> u64 {
        self.0
            .lock()
            .expect("no test panics while it holds the disk")
            .operations
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.0
            .lock()
            .expect("no test panics while it holds the disk")
            .dead
    }

    /// Starts it again, with what it kept.
    pub(crate) fn start_again(&self) {
        let mut inner = self
            .0
            .lock()
            .expect("no test panics while it holds the disk");
        if inner.loss == Some(Loss::Power) {
            for kept in inner.files.values_mut().filter(|kept| !kept.synced) {
                let half = kept.bytes.len() / 2;
                kept.bytes.truncate(half);
                kept.synced = true;
            }
        }
        inner.dead = false;
        inner.dies_at = None;
        inner.loss = None;
    }

    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let inner = self
            .0
            .lock()
            .expect("no test panics while it holds the disk");
        inner
            .files
            .iter()
            .map(|(path, kept)| (path.clone(), kept.bytes.clone()))
            .collect()
    }

    /// Does an operation that changes something; the one that the disk dies with is done in half or not at all.
    fn change(
        &self,
        half: impl FnOnce(&mut Inner),
        whole: impl FnOnce(&mut Inner) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut inner = self
            .0
            .lock()
            .expect("no test panics while it holds the disk");
        if inner.dead {
            return Err(io::Error::other("the disk is dead"));
        }
        inner.operations += 1;
        if inner.dies_at == Some(inner.operations) {
            inner.dead = true;
            half(&mut inner);
            return Err(io::Error::other("the disk died"));
        }
        whole(&mut inner)
    }

    fn look<T>(&self, at: impl FnOnce(&Inner) -> io::Result<T>) -> io::Result<T> {
        let inner = self
            .0
            .lock()
            .expect("no test panics while it holds the disk");
        if inner.dead {
            return Err(io::Error::other("the disk is dead"));
        }
        at(&inner)
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

impl Disk for MemoryDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.look(|inner| {
            let kept = inner.files.get(path).ok_or_else(not_found)?;
            Ok(kept.bytes.clone())
        })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let put = |inner: &mut Inner, bytes: &[u8]| {
            let kept = Kept {
                bytes: bytes.to_vec(),
                synced: false,
            };
            inner.files.insert(path.to_owned(), kept);
        };
        self.change(
            |inner| put(inner, &bytes[..bytes.len() / 2]),
            |inner| {
                let parent = path.parent().unwrap_or(Path::new(""));
                if !inner.folders.contains(parent) {
                    return Err(not_found());
                }
                put(inner, bytes);
                Ok(())
            },
        )
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.change(
            |_| {},
            |inner| {
                inner.files.get_mut(path).ok_or_else(not_found)?.synced = true;
                Ok(())
            },
        )
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(
            |_| {},
            |inner| {
                if let Some(kept) = inner.files.remove(from) {
                    inner.files.insert(to.to_owned(), kept);
                    return Ok(());
                }
                if !inner.folders.contains(from) {
                    return Err(not_found());
                }
                let moved = |path: &PathBuf| Some(to.join(path.strip_prefix(from).ok()?));
                let files: Vec<PathBuf> = inner
                    .files
                    .keys()
                    .filter(|path| path.starts_with(from))
                    .cloned()
                    .collect();
                for path in files {
                    if let (Some(kept), Some(new)) = (inner.files.remove(&path), moved(&path)) {
                        inner.files.insert(new, kept);
                    }
                }
                let folders: Vec<PathBuf> = inner
                    .folders
                    .iter()
                    .filter(|path| path.starts_with(from))
                    .cloned()
                    .collect();
                for path in folders {
                    inner.folders.remove(&path);
                    inner.folders.extend(moved(&path));
                }
                Ok(())
            },
        )
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        self.change(|_| {}, |_| Ok(()))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.change(
            |_| {},
            |inner| {
                inner.folders.extend(path.ancestors().map(Path::to_owned));
                Ok(())
            },
        )
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(
            |_| {},
            |inner| inner.files.remove(path).map(drop).ok_or_else(not_found),
        )
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.look(|inner| {
            if !inner.folders.contains(path) {
                return Err(not_found());
            }
            let within = inner.files.keys().chain(inner.folders.iter());
            let names = within.filter(|known| known.parent() == Some(path));
            Ok(names
                .filter_map(|known| known.file_name()?.to_str().map(str::to_owned))
                .collect())
        })
    }

    fn exists(&self, path: &Path) -> bool {
        self.look(|inner| Ok(inner.files.contains_key(path) || inner.folders.contains(path)))
            .unwrap_or_default()
    }
}

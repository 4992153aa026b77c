//! Sources of lines: a file, standard input, pods.
//!
//! Must not know which lines count, nor how a file is followed. Invariant: a read takes a bounded number of bytes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadline_kubernetes::LogFollower;

use crate::follower::FileFollower;
use crate::parse::lines::LineBuffer;
use crate::readings::Gap;
use crate::sources::{Tick, pods};
use crate::spec::LogSettings;

/// Bytes per system call.
const CHUNK_BYTES: usize = 64 << 10;
/// Bytes of standard input that are kept for the next read.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// A source of lines.
pub(super) enum Feed {
    File(FileFollower),
    Input {
        arrived: Arc<Mutex<Arrived>>,
        buffer: LineBuffer,
    },
    Pods {
        settings: LogSettings,
        kubeconfig: Option<PathBuf>,
        follower: Option<LogFollower>,
    },
}

impl Feed {
    pub(super) fn new(settings: &LogSettings, kubeconfig: Option<&Path>) -> Result<Feed, String> {
        Ok(match settings.path.as_deref() {
            Some("-") => Feed::Input {
                arrived: standard_input()?,
                buffer: LineBuffer::default(),
            },
            Some(path) => Feed::File(FileFollower::new(Path::new(path), settings.from_start)),
            None => Feed::Pods {
                settings: settings.clone(),
                kubeconfig: kubeconfig.map(Path::to_owned),
                follower: None,
            },
        })
    }

    /// Passes on the lines since the last read; returns possible losses, in words.
    pub(super) fn read(
        &mut self,
        tick: &Tick<'_>,
        line: &mut dyn FnMut(&str),
    ) -> Result<Vec<String>, Gap> {
        match self {
            Feed::File(file) => file.read(line).map_err(Gap),
            Feed::Input { arrived, buffer } => Ok(take(arrived).read(buffer, line)),
            Feed::Pods {
                settings,
                kubeconfig,
                follower,
            } => {
                let following = match follower {
                    Some(following) => following,
                    None => {
                        let now = tick.clock.unix_ns();
                        follower.insert(pods::follow_logs(settings, kubeconfig.as_deref(), now)?)
                    }
                };
                let batch = following.take();
                for one in &batch.lines {
                    line(&one.text);
                }
                Ok(batch.notes)
            }
        }
    }
}

/// What arrived on standard input since the last read.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    bytes: Vec<u8>,
    /// Bytes for which there was no room.
    skipped: u64,
    /// Whether standard input is closed.
    is_over: bool,
}

impl Arrived {
    fn add(&mut self, chunk: &[u8]) {
        // The writer is never made to wait: it may be the service under test.
        match self.bytes.len() + chunk.len() <= KEPT_BYTES_MAX {
            true => self.bytes.extend_from_slice(chunk),
            false => self.skipped += chunk.len() as u64,
        }
    }

    fn read(self, buffer: &mut LineBuffer, line: &mut dyn FnMut(&str)) -> Vec<String> {
        buffer.feed(&self.bytes, &mut *line);
        if self.is_over {
            buffer.finish(&mut *line);
        }
        let skipped = self.skipped;
        let lost = format!("{skipped} bytes of standard input were skipped: they came too fast");
        (skipped > 0).then_some(lost).into_iter().collect()
    }
}

fn take(arrived: &Mutex<Arrived>) -> Arrived {
    let mut arrived = lock(arrived);
    let is_over = arrived.is_over;
    let taken = std::mem::take(&mut *arrived);
    arrived.is_over = is_over;
    taken
}

fn lock(arrived: &Mutex<Arrived>) -> MutexGuard<'_, Arrived> {
    arrived.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads standard input on its own thread, which ends with the process: nothing can wake it.
fn standard_input() -> Result<Arc<Mutex<Arrived>>, String> {
    let arrived = Arc::new(Mutex::new(Arrived::default()));
    let kept = Arc::clone(&arrived);
    let read = move || {
        let mut input = io::stdin().lock();
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(length @ 1..) = input.read(&mut chunk) {
            lock(&kept).add(&chunk[..length]);
        }
        lock(&kept).is_over = true;
    };
    let thread = std::thread::Builder::new().name("observe-stdin".to_owned());
    let started = thread.spawn(read).map(|_| arrived);
    started.map_err(|error| format!("cannot start a thread for standard input: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_read_once_and_what_does_not_fit_is_told() {
        let arrived = Mutex::new(Arrived::default());
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        let mut read = |arrived: &Mutex<Arrived>| {
            take(arrived).read(&mut buffer, &mut |line| lines.push(line.to_owned()))
        };
        arrived.lock().unwrap().add(b"one\ntw");
        assert_eq!(read(&arrived), Vec::<String>::new());
        arrived.lock().unwrap().add(b"o\nthree");
        assert_eq!(read(&arrived), Vec::<String>::new());
        arrived.lock().unwrap().is_over = true;
        assert_eq!(read(&arrived), Vec::<String>::new());
        let full = vec![b'\n'; KEPT_BYTES_MAX];
        arrived.lock().unwrap().add(&full);
        arrived.lock().unwrap().add(b"more");
        assert!(read(&arrived)[0].starts_with("4 bytes"));
        assert_eq!(lines[..3], ["one", "two", "three"]);
    }
}

//! Sources of lines: a file, standard input, pods.
//!
//! Must not know which lines count, nor how a file is followed. Invariant: a read takes a bounded number of bytes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use loadline_kubernetes::LogFollower;

use crate::follower::FileFollower;
use crate::parse::lines::LineBuffer;
use crate::readings::Gap;
use crate::sources::{Tick, pods};
use crate::spec::LogSettings;

/// Bytes per system call.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks of standard input that are queued for the next read.
const CHUNKS_MAX: usize = 256;

/// A source of lines.
pub(super) enum Feed {
    File(FileFollower),
    Input {
        chunks: Receiver<Vec<u8>>,
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
                chunks: standard_input()?,
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
            Feed::Input { chunks, buffer } => {
                // Not until there is none: a fast writer fills the channel as fast as it is read.
                for _ in 0..CHUNKS_MAX {
                    match chunks.try_recv() {
                        Ok(chunk) => buffer.feed(&chunk, &mut *line),
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Disconnected) => {
                            buffer.finish(&mut *line);
                            break;
                        }
                    }
                }
                Ok(Vec::new())
            }
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

/// Reads standard input on its own thread, which ends with the process: nothing can wake it.
fn standard_input() -> Result<Receiver<Vec<u8>>, String> {
    let (sender, receiver) = sync_channel(CHUNKS_MAX);
    let read = move || {
        let mut input = io::stdin().lock();
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(length @ 1..) = input.read(&mut chunk) {
            if sender.send(chunk[..length].to_vec()).is_err() {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("observe-stdin".to_owned());
    let started = thread.spawn(read).map(|_| receiver);
    started.map_err(|error| format!("cannot start a thread for standard input: {error}"))
}

//! Sources of lines: a file that may be rotated or truncated, standard input, pods.
//!
//! Must not know which lines count. Invariants: a read takes a bounded number of bytes; what was written before
//! a rotation is read to its end.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use loadline_kubernetes::LogFollower;

use crate::parse::lines::LineBuffer;
use crate::readings::Gap;
use crate::sources::{Tick, pods};
use crate::spec::LogSettings;

/// Maximum bytes per read; the rest follows at the next one.
const LOOK_BYTES_MAX: usize = 64 << 20;
/// Bytes per system call.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks of standard input that are queued for the next read.
const CHUNKS_MAX: usize = 256;

/// A source of lines.
pub(super) enum Feed {
    File(FileFeed),
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
            Some(path) => Feed::File(FileFeed::new(Path::new(path), settings.from_start)),
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
            Feed::File(file) => file.read(line),
            Feed::Input { chunks, buffer } => {
                for chunk in chunks.try_iter() {
                    buffer.feed(&chunk, &mut *line);
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

/// Follows a growing file.
pub(super) struct FileFeed {
    path: PathBuf,
    open: Option<OpenFile>,
    buffer: LineBuffer,
    /// Whether the content that exists when the file is opened counts.
    from_start: bool,
}

struct OpenFile {
    file: File,
    identity: Identity,
    position: u64,
}

/// Distinguishes a file from another one with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(u64, u64);

impl FileFeed {
    pub(super) fn new(path: &Path, from_start: bool) -> FileFeed {
        FileFeed {
            path: path.to_owned(),
            open: None,
            buffer: LineBuffer::default(),
            from_start,
        }
    }

    fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<Vec<String>, Gap> {
        let mut lost = Vec::new();
        if self.open.is_none() {
            let opened = self.open_file(self.from_start);
            // A file that does not exist yet counts from its start once it appears.
            self.from_start = true;
            self.open = Some(opened?);
        }
        let mut room = LOOK_BYTES_MAX;
        loop {
            self.read_open(&mut room, line)
                .map_err(|error| self.refused(&error))?;
            if room == 0 {
                lost.push(format!(
                    "more than {} MiB came between two readings; it lags behind",
                    LOOK_BYTES_MAX >> 20
                ));
                return Ok(lost);
            }
            match self.change() {
                Change::None => return Ok(lost),
                Change::Cut => {
                    self.buffer.clear();
                    if let Some(open) = &mut self.open {
                        open.position = 0;
                    }
                    lost.push(
                        "the file was cut; lines that came just before may be lost".to_owned(),
                    );
                }
                Change::Replaced => {
                    self.buffer.finish(&mut *line);
                    self.open = Some(self.open_file(true)?);
                }
            }
        }
    }

    fn open_file(&self, from_start: bool) -> Result<OpenFile, Gap> {
        let refused = |error| self.refused(&error);
        let metadata = fs::metadata(&self.path).map_err(refused)?;
        if !metadata.is_file() {
            return Err(Gap(format!("{} is not a file", self.path.display())));
        }
        let file = File::open(&self.path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        Ok(OpenFile {
            identity: identity(&metadata),
            position: if from_start { 0 } else { metadata.len() },
            file,
        })
    }

    /// Reads to the end of the open file, or as far as the limit allows.
    fn read_open(&mut self, room: &mut usize, line: &mut dyn FnMut(&str)) -> io::Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.file.seek(SeekFrom::Start(open.position))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        while *room > 0 {
            let most = CHUNK_BYTES.min(*room);
            let length = open.file.read(&mut chunk[..most])?;
            if length == 0 {
                break;
            }
            open.position += length as u64;
            *room -= length;
            self.buffer.feed(&chunk[..length], &mut *line);
        }
        Ok(())
    }

    /// What happened to the file meanwhile. If it is missing, only the open one is left.
    fn change(&self) -> Change {
        let Some((open, now)) = self.open.as_ref().zip(fs::metadata(&self.path).ok()) else {
            return Change::None;
        };
        match identity(&now) == open.identity {
            false => Change::Replaced,
            true if now.len() < open.position => Change::Cut,
            true => Change::None,
        }
    }

    fn refused(&self, error: &io::Error) -> Gap {
        Gap(format!("{}: {error}", self.path.display()))
    }
}

enum Change {
    None,
    Cut,
    Replaced,
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity(metadata.dev(), metadata.ino())
}

/// Where files have no inode, the creation time is used.
#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> Identity {
    let made = metadata.created().ok();
    let since = made.and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    Identity(0, since.map_or(0, crate::clock::nanoseconds))
}

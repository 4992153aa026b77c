//! Follows a file of lines that may be rotated or truncated.
//!
//! Must not know which lines count, nor when they are read. Invariants: a read takes a bounded number of bytes; what
//! was written before a rotation is read to its end; bytes that are no text do not move the place of reading.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::parse::lines::LineBuffer;

/// Maximum bytes per read; the rest follows at the next one.
const LOOK_BYTES_MAX: usize = 64 << 20;
/// Bytes per system call.
const CHUNK_BYTES: usize = 64 << 10;

/// Follows a growing file.
#[derive(Debug)]
pub struct FileFollower {
    path: PathBuf,
    open: Option<OpenFile>,
    buffer: LineBuffer,
    /// Whether the content that exists when the file is opened counts.
    from_start: bool,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    identity: Identity,
    position: u64,
}

/// Distinguishes a file from another one with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(u64, u64);

impl FileFollower {
    /// Follows the file of this name, which need not exist yet. `from_start`: whether the content that exists when the
    /// file is opened, at the first read, counts.
    #[must_use]
    pub fn new(path: &Path, from_start: bool) -> FileFollower {
        FileFollower {
            path: path.to_owned(),
            open: None,
            buffer: LineBuffer::default(),
            from_start,
        }
    }

    /// Passes on the lines since the last read, 64 MiB of them at most; returns possible losses, in words.
    ///
    /// # Errors
    /// The file cannot be opened or read; the text names it.
    pub fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<Vec<String>, String> {
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

    fn open_file(&self, from_start: bool) -> Result<OpenFile, String> {
        let refused = |error| self.refused(&error);
        let metadata = fs::metadata(&self.path).map_err(refused)?;
        if !metadata.is_file() {
            return Err(format!("{} is not a file", self.path.display()));
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

    fn refused(&self, error: &io::Error) -> String {
        format!("{}: {error}", self.path.display())
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

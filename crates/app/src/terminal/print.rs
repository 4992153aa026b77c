//! Writes to the two standard streams.
//!
//! Must not know what is written. Invariant: a closed stream is an error to be handled, never a panic.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of bytes per stream that are held while a full-screen view owns the terminal.
const HELD_MAX: usize = 1 << 20;

/// Output written while a full-screen view owned the terminal.
#[derive(Default)]
struct Held {
    out: Vec<u8>,
    err: Vec<u8>,
    /// Number of discarded bytes beyond the limit.
    lost: usize,
}

/// `None`: the streams are written to at once.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// Maximum number of copied bytes.
const OVERHEARD_MAX: usize = 1 << 20;

/// A copy of the output of both streams since [`overhear`]; `None`: no copy is made.
static OVERHEARD: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Whether the reader of one of the streams has gone away.
static READER_LEFT: AtomicBool = AtomicBool::new(false);

/// Whether a write found that the reader of one of the streams has gone away (`| head`).
pub(crate) fn has_lost_reader() -> bool {
    READER_LEFT.load(Ordering::Relaxed)
}

fn noting_lost_reader(written: io::Result<()>) -> io::Result<()> {
    if matches!(&written, Err(error) if error.kind() == ErrorKind::BrokenPipe) {
        READER_LEFT.store(true, Ordering::Relaxed);
    }
    written
}

/// Starts to keep a copy of all output.
pub(crate) fn overhear() {
    *overheard() = Some(Vec::new());
}

/// The output since [`overhear`].
pub(crate) fn take_overheard() -> String {
    let bytes = overheard().take().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn overheard() -> MutexGuard<'static, Option<Vec<u8>>> {
    OVERHEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(bytes: &[u8]) {
    if let Some(copied) = overheard().as_mut() {
        let room = OVERHEARD_MAX.saturating_sub(copied.len());
        copied.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// A block of lines at the bottom of the terminal, below everything else that is written.
struct Foot {
    text: String,
    lines: usize,
}

impl Foot {
    /// What takes the block off the screen.
    fn erasure(&self) -> String {
        format!("\r\x1b[{}A\x1b[J", self.lines)
    }
}

/// The block that is on the screen.
static FOOT: Mutex<Option<Foot>> = Mutex::new(None);

fn foot() -> MutexGuard<'static, Option<Foot>> {
    FOOT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a block of whole lines in the place of the one before; until [`leave_foot`] what else is written
/// stands above it. Only for a standard output that is a terminal.
pub(crate) fn show_foot(text: String, lines: usize) {
    copy(text.as_bytes());
    if keep(text.as_bytes(), |held| &mut held.out) {
        return;
    }
    let mut foot = foot();
    let before = foot.as_ref().map(Foot::erasure).unwrap_or_default();
    // A reader that went away has seen all that it wanted.
    let _ = stream_to_stdout(|stream| write!(stream, "{before}{text}"));
    *foot = Some(Foot { text, lines });
}

/// Leaves the block where it stands: what follows is written after it.
pub(crate) fn leave_foot() {
    *foot() = None;
}

/// Takes the block off the screen.
pub(crate) fn clear_foot() {
    if let Some(shown) = foot().take() {
        let _ = stream_to_stdout(|stream| stream.write_all(shown.erasure().as_bytes()));
    }
}

/// Lets `write` write to the terminal above the block, if there is one.
fn above_foot<T>(is_on_screen: impl FnOnce() -> bool, write: impl FnOnce() -> T) -> T {
    let foot = foot();
    let Some(shown) = foot.as_ref().filter(|_| is_on_screen()) else {
        return write();
    };
    let _ = stream_to_stdout(|stream| stream.write_all(shown.erasure().as_bytes()));
    let written = write();
    let _ = stream_to_stdout(|stream| stream.write_all(shown.text.as_bytes()));
    written
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds all output until [`release`].
pub(crate) fn hold() {
    held().get_or_insert_default();
}

/// Writes the held output, and from now on writes at once.
pub(crate) fn release() {
    let Some(kept) = held().take() else {
        return;
    };
    // If this fails, there is nobody left to notify.
    let _ = stream_to_stdout(|stream| stream.write_all(&kept.out));
    let _ = write_to_stderr(&kept.err);
    if kept.lost > 0 {
        to_stderr(&format!(
            "loadline: {} bytes of output during the full-screen view are left out\n",
            kept.lost
        ));
    }
}

/// Holds bytes for later; returns whether they are held.
fn keep(bytes: &[u8], stream: fn(&mut Held) -> &mut Vec<u8>) -> bool {
    let mut held = held();
    let Some(kept) = held.as_mut() else {
        return false;
    };
    let room = HELD_MAX.saturating_sub(stream(kept).len());
    let taken = bytes.len().min(room);
    stream(kept).extend_from_slice(&bytes[..taken]);
    kept.lost += bytes.len() - taken;
    true
}

/// Writes text to standard output.
///
/// # Errors
/// Those of the stream; a reader that closed it (`| head`) is not an error: it has what it wanted.
pub(crate) fn to_stdout(text: &str) -> io::Result<()> {
    bytes_to_stdout(text.as_bytes())
}

/// Writes bytes to standard output.
///
/// # Errors
/// As [`to_stdout`].
pub(crate) fn bytes_to_stdout(bytes: &[u8]) -> io::Result<()> {
    copy(bytes);
    if keep(bytes, |held| &mut held.out) {
        return Ok(());
    }
    above_foot(
        || true,
        || stream_to_stdout(|stream| stream.write_all(bytes)),
    )
}

/// Lets `write` write to standard output, even if a full-screen view owns the terminal.
///
/// # Errors
/// As [`to_stdout`].
pub(crate) fn stream_to_stdout(
    write: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>,
) -> io::Result<()> {
    let mut stream = io::stdout().lock();
    match noting_lost_reader(write(&mut stream).and_then(|()| stream.flush())) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes text to standard error; if this fails, there is nobody left to notify.
pub(crate) fn to_stderr(text: &str) {
    let _ = bytes_to_stderr(text.as_bytes());
}

/// Writes bytes to standard error.
///
/// # Errors
/// Those of the stream.
pub(crate) fn bytes_to_stderr(bytes: &[u8]) -> io::Result<()> {
    copy(bytes);
    if keep(bytes, |held| &mut held.err) {
        return Ok(());
    }
    above_foot(|| io::stderr().is_terminal(), || write_to_stderr(bytes))
}

fn write_to_stderr(bytes: &[u8]) -> io::Result<()> {
    let mut stream = io::stderr().lock();
    noting_lost_reader(stream.write_all(bytes).and_then(|()| stream.flush()))
}

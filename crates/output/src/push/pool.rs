//! Threads that deliver bodies, with a limited number of retries each.
//!
//! Must not know the content of a body. Invariants: written + lost = values received; a server that was given
//! up on gets a single attempt per body until it responds again, so an unavailable server costs the run the
//! retries of one body, not of each.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::ending::Ending;
use super::retry::Retry;
use super::thread::{Carrier, Piece};
use crate::report::{GiveUp, OnTrouble, SinkReport};

/// Maximum queued bodies; with those of [`PIECE_BYTES`] this bounds a sink's memory at 64 MiB.
const QUEUE: usize = 64;
/// Size at which a body is sent without waiting for more: some 5,000 lines.
const PIECE_BYTES: usize = 1 << 20;
/// A piece of less than this that cannot be cut is small for any server: one that calls it too large means
/// something else, and would refuse the rest of the body as well.
const SMALL_BYTES: usize = 4 << 10;
/// Waits left once the run has ended, so that the command does not take all retries to end.
const WAITS_AT_END: u32 = 3;

/// Why a body was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It may be accepted later.
    NotNow {
        /// Why, in words.
        why: String,
        /// How long the server wants clients to wait; `None`: it did not say.
        wait: Option<Duration>,
    },
    /// It will never be accepted.
    Never(String),
    /// It has too many bytes; parts of it may be accepted. Why, in words.
    TooLarge(String),
    /// All but some values were accepted.
    Partly {
        /// Why, in words.
        why: String,
        /// How many were not.
        lost: u64,
    },
}

impl Refusal {
    /// Why, in words.
    pub(crate) fn into_why(self) -> String {
        match self {
            Refusal::NotNow { why, .. }
            | Refusal::Partly { why, .. }
            | Refusal::TooLarge(why)
            | Refusal::Never(why) => why,
        }
    }
}

/// Sends one body.
pub(crate) trait Post: Send + Sync + 'static {
    /// Sends it.
    ///
    /// # Errors
    /// It was not accepted.
    fn post(&self, body: &[u8]) -> Result<(), Refusal>;

    /// Where a body that is too large is cut: the bytes and the values of its first part. `None`: it cannot be.
    fn cut(&self, _body: &[u8]) -> Option<(usize, u64)> {
        None
    }
}

/// Running threads.
pub(crate) struct Pool {
    queue: SyncSender<Piece>,
    threads: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Pool {
    /// Starts `threads` threads, at least one.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(
        name: &str,
        threads: usize,
        post: impl Post,
        (retry, ending): (Retry, Arc<Ending>),
        (on_trouble, give_up): (OnTrouble, GiveUp),
    ) -> io::Result<Pool> {
        let (queue, receiver) = sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let shared = Arc::new(Shared {
            retry,
            on_trouble,
            give_up,
            is_told: AtomicBool::new(false),
            has_given_up: AtomicBool::new(false),
            too_large: AtomicUsize::new(usize::MAX),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            error: Mutex::new(None),
            ending,
        });
        let post = Arc::new(post);
        let start_one = |_| {
            let (shared, post) = (Arc::clone(&shared), Arc::clone(&post));
            let receiver = Arc::clone(&receiver);
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || shared.work(&receiver, &*post))
        };
        let threads = (0..threads.max(1)).map(start_one);
        Ok(Pool {
            queue,
            threads: threads.collect::<io::Result<_>>()?,
            shared,
        })
    }
}

impl Carrier for Pool {
    fn piece_bytes(&self) -> usize {
        PIECE_BYTES
    }

    fn carry(&mut self, piece: Piece) {
        let values = piece.values;
        if self.queue.send(piece).is_err() {
            let why = "the threads that deliver failed; this is a defect of loadline";
            self.shared.lose(values, why);
        }
    }

    fn finish(self) -> SinkReport {
        let Pool {
            queue,
            threads,
            shared,
        } = self;
        drop(queue);
        shared.ending.come();
        for thread in threads {
            if thread.join().is_err() {
                return SinkReport::of_a_defect();
            }
        }
        let error = shared.error.lock().unwrap_or_else(PoisonError::into_inner);
        SinkReport {
            written: shared.written.load(Relaxed),
            lost: shared.lost.load(Relaxed),
            error: error.as_deref().map(io::Error::other),
        }
    }
}

struct Shared {
    retry: Retry,
    on_trouble: OnTrouble,
    give_up: GiveUp,
    is_told: AtomicBool,
    /// Whether a body was lost because the server did not respond, and none was accepted since.
    has_given_up: AtomicBool,
    /// The size of the smallest body that was too large and could be cut.
    too_large: AtomicUsize,
    written: AtomicU64,
    lost: AtomicU64,
    /// The first error that lost values.
    error: Mutex<Option<String>>,
    ending: Arc<Ending>,
}

impl Shared {
    fn work(&self, queue: &Mutex<Receiver<Piece>>, post: &impl Post) {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(piece) = next else { return };
            self.deliver(piece, post);
        }
    }

    /// Delivers a piece, in parts if the server takes no body of its size.
    fn deliver(&self, piece: Piece, post: &impl Post) {
        let mut waiting = vec![piece];
        while let Some(piece) = waiting.pop() {
            let is_too_large = piece.bytes.len() >= self.too_large.load(Relaxed);
            let why = match is_too_large && post.cut(&piece.bytes).is_some() {
                true => Err(None),
                false => self.deliver_whole(&piece, post).map_err(Some),
            };
            let Err(why) = why else { continue };
            let size = piece.bytes.len();
            match halves(piece, post) {
                Ok(halves) => {
                    self.too_large.fetch_min(size, Relaxed);
                    waiting.extend(halves);
                }
                Err(piece) => {
                    let why = why.unwrap_or_default();
                    self.lose(piece.values, &why);
                    if size < SMALL_BYTES {
                        let rest = waiting.drain(..).map(|piece| piece.values);
                        self.lose(rest.sum(), &why);
                    }
                }
            }
        }
    }

    /// Delivers a piece, or loses it.
    ///
    /// # Errors
    /// It is too large, in words; it is neither delivered nor lost.
    fn deliver_whole(&self, piece: &Piece, post: &impl Post) -> Result<(), String> {
        if self.is_over() {
            self.lose(piece.values, "the server was given up on");
            return Ok(());
        }
        let mut failures = 0;
        loop {
            let (why, asked) = match post.post(&piece.bytes) {
                Ok(()) => {
                    self.taken(piece.values);
                    return Ok(());
                }
                Err(Refusal::TooLarge(why)) => return Err(why),
                Err(Refusal::Never(why)) => {
                    self.lose(piece.values, &why);
                    return Ok(());
                }
                Err(Refusal::Partly { why, lost }) => {
                    let lost = lost.min(piece.values);
                    self.taken(piece.values - lost);
                    self.lose(lost, &why);
                    return Ok(());
                }
                Err(Refusal::NotNow { why, wait }) => (why, wait),
            };
            failures += 1;
            if self.ending.has_come() {
                failures = failures.max((self.retry.waits + 1).saturating_sub(WAITS_AT_END));
            }
            self.tell(&why);
            let wait = self.retry.wait(failures);
            let is_tried_again =
                !(self.has_given_up.load(Relaxed) || self.is_over() || self.ending.is_over());
            match wait.filter(|_| is_tried_again) {
                Some(wait) => self.wait(wait.max(asked.unwrap_or_default())),
                None => {
                    self.has_given_up.store(true, Relaxed);
                    self.lose(piece.values, &why);
                    return Ok(());
                }
            }
        }
    }

    /// Whether the rest is no longer sent.
    fn is_over(&self) -> bool {
        let has_no_hope = self.has_given_up.load(Relaxed) || self.give_up.load(Relaxed);
        self.ending.has_come() && has_no_hope
    }

    fn taken(&self, values: u64) {
        self.written.fetch_add(values, Relaxed);
        self.ending.is_heeded();
        self.has_given_up.store(false, Relaxed);
    }

    fn lose(&self, values: u64, why: &str) {
        self.tell(why);
        self.lost.fetch_add(values, Relaxed);
        let mut error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.get_or_insert_with(|| why.to_owned());
    }

    /// Reports the first problem.
    fn tell(&self, why: &str) {
        if !self.is_told.swap(true, Relaxed) {
            (self.on_trouble)(why);
        }
    }

    fn wait(&self, wait: Duration) {
        self.ending.wait(wait.min(self.retry.longest));
    }
}

/// Both parts of a piece, the later one first.
///
/// # Errors
/// It cannot be cut; the piece.
fn halves(mut piece: Piece, post: &impl Post) -> Result<[Piece; 2], Piece> {
    let Some((bytes, values)) = post.cut(&piece.bytes) else {
        return Err(piece);
    };
    let later = Piece {
        bytes: piece.bytes.split_off(bytes),
        values: piece.values.saturating_sub(values),
    };
    piece.values -= later.values;
    Ok([later, piece])
}

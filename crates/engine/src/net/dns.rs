//! Names to addresses: the system's resolver on a separate thread, behind a cache with a time to live, shared
//! by all workers.
//!
//! Must not know what the addresses are for. Invariant: there is only one look-up of a name at a time, however
//! many connections ask, and no worker thread ever blocks in the resolver.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use loadline_model::Nanos;
use tokio::sync::oneshot;

use crate::clock::Clock;

/// Most names kept; more are looked up every time. A plan names few hosts; redirects could name
/// any number.
const CACHE_MAX: usize = 1_024;

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupFault {
    /// The resolver's message.
    pub(crate) why: String,
    /// Whether it is shared: it was cached, or another connection asked for the name at the same time.
    pub(crate) is_old: bool,
}

impl LookupFault {
    fn new(why: impl Into<String>) -> LookupFault {
        LookupFault {
            why: why.into(),
            is_old: false,
        }
    }

    fn again(&self) -> LookupFault {
        LookupFault {
            why: self.why.clone(),
            is_old: true,
        }
    }
}

/// How long results are cached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Addresses; `None`: for the whole run.
    pub(crate) found: Option<Duration>,
    /// Failures; zero: they are not cached.
    pub(crate) failed: Duration,
}

impl Kept {
    /// Only caches addresses.
    pub(crate) fn found(found: Option<Duration>) -> Kept {
        Kept {
            found,
            failed: Duration::ZERO,
        }
    }
}

type Answer = Result<Arc<[IpAddr]>, LookupFault>;

struct Question {
    host: String,
    reply: oneshot::Sender<Answer>,
}

struct Known {
    answer: Answer,
    until: Nanos,
}

/// The shared resolver.
pub(crate) struct Resolver {
    clock: Clock,
    kept: Kept,
    cache: Mutex<HashMap<String, Known>>,
    questions: mpsc::Sender<Question>,
}

impl Resolver {
    /// Starts the resolver's thread, which ends when the resolver is dropped.
    pub(crate) fn start(clock: Clock, kept: Kept) -> io::Result<Arc<Resolver>> {
        let (questions, asked) = mpsc::channel::<Question>();
        thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(move || answer_all(&asked))?;
        Ok(Arc::new(Resolver {
            clock,
            kept,
            cache: Mutex::new(HashMap::new()),
            questions,
        }))
    }

    /// The addresses of a host, and whether they came from the cache.
    pub(crate) async fn resolve(&self, host: &str) -> Result<(Arc<[IpAddr]>, bool), LookupFault> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok((Arc::from([address]), true));
        }
        if let Some(known) = self.cached(host) {
            return known.map(|addresses| (addresses, true));
        }
        let (reply, answer) = oneshot::channel();
        let question = Question {
            host: host.to_owned(),
            reply,
        };
        let ended = || LookupFault::new("the resolver has ended");
        self.questions.send(question).map_err(|_| ended())?;
        let answer = answer.await.map_err(|_| ended())?;
        self.remember(host, &answer);
        answer.map(|addresses| (addresses, false))
    }

    fn cached(&self, host: &str) -> Option<Answer> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache
            .get(host)
            .filter(|known| self.clock.now() < known.until)?;
        Some(known.answer.clone())
    }

    fn remember(&self, host: &str, answer: &Answer) {
        let (answer, ttl) = match answer {
            Ok(addresses) => (Ok(Arc::clone(addresses)), self.kept.found),
            // Who asked at the same time as another does not make it last longer.
            Err(fault) if fault.is_old || self.kept.failed.is_zero() => return,
            Err(fault) => (Err(fault.again()), Some(self.kept.failed)),
        };
        let until = ttl.map_or(Nanos::MAX, |ttl| self.clock.now() + ttl);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() < CACHE_MAX || cache.contains_key(host) {
            cache.insert(host.to_owned(), Known { answer, until });
        }
    }
}

/// Looks up names, each once for all connections that wait for it at the time.
fn answer_all(asked: &mpsc::Receiver<Question>) {
    while let Ok(first) = asked.recv() {
        let mut waiting: HashMap<String, Vec<oneshot::Sender<Answer>>> = HashMap::new();
        for question in std::iter::once(first).chain(asked.try_iter()) {
            waiting
                .entry(question.host)
                .or_default()
                .push(question.reply);
        }
        for (host, replies) in waiting {
            let mut answer = look_up(&host);
            for reply in replies {
                // A receiver that no longer waits was interrupted.
                drop(reply.send(answer.clone()));
                answer = answer.map_err(|fault| fault.again());
            }
        }
    }
}

fn look_up(host: &str) -> Answer {
    let found = (host, 0)
        .to_socket_addrs()
        .map_err(|error| LookupFault::new(plain_message(&error)))?;
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    if addresses.is_empty() {
        Err(LookupFault::new("has no address"))
    } else {
        Ok(addresses.into())
    }
}

/// The resolver's own message, without the prefix of the standard library.
fn plain_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix("failed to lookup address information: ") {
        Some(plain) => plain.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No resolver sends this name to the network.
    const NO_NAME: &str = "two..dots";

    fn faults(kept: Kept) -> [LookupFault; 2] {
        let resolver = Resolver::start(Clock::start(), kept).expect("a thread can be made");
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(async {
            let first = resolver.resolve(NO_NAME).await;
            let second = resolver.resolve(NO_NAME).await;
            [first, second].map(|answer| answer.expect_err("a name without an address"))
        })
    }

    #[test]
    fn a_failure_that_is_kept_is_told_again_as_such() {
        let [first, second] = faults(Kept {
            found: None,
            failed: Duration::from_secs(3_600),
        });
        assert!(!first.is_old);
        assert_eq!(second, first.again());
    }

    #[test]
    fn a_failure_that_is_not_kept_is_found_anew() {
        let [first, second] = faults(Kept::found(None));
        assert_eq!((first.is_old, second.is_old), (false, false));
    }
}

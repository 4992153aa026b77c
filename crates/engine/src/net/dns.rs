//! Names to addresses: the system's resolver on threads of its own, behind a cache with a time to live, shared
//! by all workers.
//!
//! Must not know what the addresses are for. Invariant: there is only one look-up of a name at a time, however
//! many connections ask, no name waits for a slow look-up of another, and no worker thread ever blocks in the
//! resolver.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use loadline_model::Nanos;
use tokio::sync::oneshot;

use crate::clock::Clock;

/// Most names kept; more are looked up every time. A plan names few hosts; redirects could name
/// any number.
const CACHE_MAX: usize = 1_024;

/// Most names looked up at a time, each by a thread that waits for the system.
const LOOK_UPS_MAX: usize = 32;

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupFault {
    /// The resolver's message.
    pub(crate) why: String,
    /// Whether it is shared: it was cached, or another connection asked for the name at the same time.
    pub(crate) is_old: bool,
}

impl LookupFault {
    /// The system's answer for a name that there is not.
    pub(super) fn no_such_name() -> LookupFault {
        LookupFault::new("Name or service not known")
    }

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

type LookUp = fn(&str) -> Answer;

type Reply = oneshot::Sender<Answer>;

/// The names that are asked for, and the threads that look them up.
struct Desk {
    look_up: LookUp,
    questions: Mutex<Questions>,
    asked: Condvar,
}

#[derive(Default)]
struct Questions {
    /// Who waits for a name, from the first query to the result.
    waiting: HashMap<String, Vec<Reply>>,
    /// Names that no thread looks up yet.
    queue: VecDeque<String>,
    threads: usize,
    idle: usize,
    is_over: bool,
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
    desk: Arc<Desk>,
}

impl Drop for Resolver {
    fn drop(&mut self) {
        let mut questions = self.desk.lock();
        questions.is_over = true;
        questions.waiting.clear();
        self.desk.asked.notify_all();
    }
}

impl Resolver {
    /// Starts the resolver's first thread; others follow as names are asked for at the same time. They end
    /// when the resolver is dropped.
    pub(crate) fn start(clock: Clock, kept: Kept) -> io::Result<Arc<Resolver>> {
        Resolver::with(clock, kept, look_up)
    }

    fn with(clock: Clock, kept: Kept, look_up: LookUp) -> io::Result<Arc<Resolver>> {
        let desk = Arc::new(Desk {
            look_up,
            questions: Mutex::default(),
            asked: Condvar::new(),
        });
        desk.add_thread(&mut desk.lock())?;
        Ok(Arc::new(Resolver {
            clock,
            kept,
            cache: Mutex::new(HashMap::new()),
            desk,
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
        self.desk.ask(host, reply);
        let ended = |_| LookupFault::new("the resolver has ended");
        let answer = answer.await.map_err(ended)?;
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
            // A concurrent query for the same name does not extend its lifetime.
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

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a name, together with all who wait for it already.
    fn ask(self: &Arc<Desk>, host: &str, reply: Reply) {
        let mut questions = self.lock();
        if let Some(replies) = questions.waiting.get_mut(host) {
            replies.push(reply);
            return;
        }
        questions.waiting.insert(host.to_owned(), vec![reply]);
        questions.queue.push_back(host.to_owned());
        if questions.idle < questions.queue.len() && questions.threads < LOOK_UPS_MAX {
            // If the system refuses another thread, the existing ones do the work.
            drop(self.add_thread(&mut questions));
        }
        self.asked.notify_one();
    }

    fn add_thread(self: &Arc<Desk>, questions: &mut Questions) -> io::Result<()> {
        let desk = Arc::clone(self);
        thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(move || desk.answer_all())?;
        questions.threads += 1;
        Ok(())
    }

    fn answer_all(&self) {
        while let Some(host) = self.next() {
            let mut answer = (self.look_up)(&host);
            let replies = self.lock().waiting.remove(&host).unwrap_or_default();
            for reply in replies {
                // A receiver that no longer waits was interrupted.
                drop(reply.send(answer.clone()));
                answer = answer.map_err(|fault| fault.again());
            }
        }
    }

    /// The next name to look up; `None`: the resolver has ended.
    fn next(&self) -> Option<String> {
        let mut questions = self.lock();
        while !questions.is_over {
            if let Some(host) = questions.queue.pop_front() {
                return Some(host);
            }
            questions.idle += 1;
            let woken = self.asked.wait(questions);
            questions = woken.unwrap_or_else(PoisonError::into_inner);
            questions.idle -= 1;
        }
        None
    }
}

/// Whether the system's resolver takes a name for an IPv4 address in short, hexadecimal or octal form (`127.1`),
/// as C libraries do and Go does not.
pub(super) fn is_short_ipv4(host: &str) -> bool {
    let is_number = |part: &str| match part.strip_prefix("0x").or(part.strip_prefix("0X")) {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
    };
    host.split('.').count() <= 4 && host.split('.').all(is_number)
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
    fn short_addresses_are_told_from_names() {
        for short in [
            "127.1",
            "0x7f.1",
            "2130706433",
            "0177.0.0.1",
            "10.1.5",
            "0X7F000001",
        ] {
            assert!(is_short_ipv4(short), "{short}");
        }
        for name in ["0x7f.com", "127.1.", "1.2.3.4.5", "face", "a.1", ""] {
            assert!(!is_short_ipv4(name), "{name}");
        }
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

    /// Returns once two names are being looked up at the same time.
    fn when_two_meet(_: &str) -> Answer {
        static MET: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());
        let mut met = MET.0.lock().expect("nobody panics");
        *met += 1;
        MET.1.notify_all();
        let patience = Duration::from_secs(10);
        let waited = MET.1.wait_timeout_while(met, patience, |met| *met < 2);
        match waited.expect("nobody panics").1.timed_out() {
            true => Err(LookupFault::new("alone")),
            false => Ok(Arc::from([IpAddr::from([127, 0, 0, 1])])),
        }
    }

    #[test]
    fn no_name_waits_for_the_look_up_of_another() {
        let resolver = Resolver::with(Clock::start(), Kept::found(None), when_two_meet);
        let resolver = resolver.expect("a thread can be made");
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(async {
            let beside = Arc::clone(&resolver);
            let other = tokio::spawn(async move { beside.resolve("other").await });
            let (one, other) = (resolver.resolve("one").await, other.await);
            assert!(one.is_ok() && matches!(other, Ok(Ok(_))), "{one:?}");
        });
    }

    #[test]
    fn a_failure_that_is_not_kept_is_found_anew() {
        let [first, second] = faults(Kept::found(None));
        assert_eq!((first.is_old, second.is_old), (false, false));
    }
}

//! Names to addresses: the system's resolver on one thread of its own, behind a cache with a time
//! to live, shared by all workers.
//!
//! Must not know what the addresses are for. Invariant: a name is looked up once at a time however
//! many connections ask, and no worker thread ever waits in the resolver.

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

type Answer = Result<Arc<[IpAddr]>, String>;

struct Question {
    host: String,
    reply: oneshot::Sender<Answer>,
}

struct Known {
    addresses: Arc<[IpAddr]>,
    until: Nanos,
}

/// The shared resolver.
pub(crate) struct Resolver {
    clock: Clock,
    /// How long an answer is kept; `None`: for the whole run.
    ttl: Option<Duration>,
    cache: Mutex<HashMap<String, Known>>,
    questions: mpsc::Sender<Question>,
}

impl Resolver {
    /// Starts the resolver's thread, which ends when the resolver is dropped.
    pub(crate) fn start(clock: Clock, ttl: Option<Duration>) -> io::Result<Arc<Resolver>> {
        let (questions, asked) = mpsc::channel::<Question>();
        thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(move || answer_all(&asked))?;
        Ok(Arc::new(Resolver {
            clock,
            ttl,
            cache: Mutex::new(HashMap::new()),
            questions,
        }))
    }

    /// The addresses of a host, and whether they came from the cache.
    pub(crate) async fn resolve(&self, host: &str) -> Result<(Arc<[IpAddr]>, bool), String> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok((Arc::from([address]), true));
        }
        if let Some(known) = self.cached(host) {
            return Ok((known, true));
        }
        let (reply, answer) = oneshot::channel();
        let question = Question {
            host: host.to_owned(),
            reply,
        };
        self.questions
            .send(question)
            .map_err(|_| "the resolver has ended".to_owned())?;
        let addresses = answer
            .await
            .map_err(|_| "the resolver has ended".to_owned())??;
        self.remember(host, &addresses);
        Ok((addresses, false))
    }

    fn cached(&self, host: &str) -> Option<Arc<[IpAddr]>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache
            .get(host)
            .filter(|known| self.clock.now() < known.until)?;
        Some(Arc::clone(&known.addresses))
    }

    fn remember(&self, host: &str, addresses: &Arc<[IpAddr]>) {
        let until = self.ttl.map_or(Nanos::MAX, |ttl| self.clock.now() + ttl);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() < CACHE_MAX || cache.contains_key(host) {
            cache.insert(
                host.to_owned(),
                Known {
                    addresses: Arc::clone(addresses),
                    until,
                },
            );
        }
    }
}

/// Looks names up, each once for all who wait for it at the time.
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
            let answer = look_up(&host);
            for reply in replies {
                // Who no longer waits was interrupted; there is nobody to tell.
                drop(reply.send(answer.clone()));
            }
        }
    }
}

fn look_up(host: &str) -> Answer {
    let found = (host, 0)
        .to_socket_addrs()
        .map_err(|error| plain_message(&error))?;
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    if addresses.is_empty() {
        Err("has no address".to_owned())
    } else {
        Ok(addresses.into())
    }
}

/// The resolver's own words, without the prefix that the standard library puts before them.
fn plain_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix("failed to lookup address information: ") {
        Some(plain) => plain.to_owned(),
        None => text,
    }
}

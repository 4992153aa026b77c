//! An M/G/k queue in virtual time: k servers, one waiting room, first come first served.
//!
//! It must not know clocks, sockets or how a wait is performed: it is told when a request arrives and says
//! when it starts and ends. Because service times are drawn on arrival, both are known at once, so a late
//! wake-up of one request never delays another. Invariants: at most `servers` requests are in service and
//! at most `room` wait at any instant; starts never go back.
//!
//! A request whose client went away keeps its place, as in a server that does not notice.

use crate::random::{Dice, RandomDuration};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// The most servers a queue may have; each costs 8 bytes.
pub(crate) const SERVERS_MAX: u32 = 100_000;
/// The largest waiting room; each place costs 8 bytes.
pub(crate) const ROOM_MAX: u32 = 1_000_000;

/// What makes two requests share a queue.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueueSpec {
    /// Law of the service time.
    pub(crate) service: RandomDuration,
    /// Number of servers, at least 1.
    pub(crate) servers: u32,
    /// Places for those who wait; 0 turns away everybody who cannot start at once.
    pub(crate) room: u32,
}

/// What happens to one arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Served: instants and spans in nanoseconds.
    Served {
        /// Arrival to start of service.
        queue_ns: u64,
        /// Start to end of service.
        service_ns: u64,
        /// The instant at which the service ends.
        finish_ns: u64,
    },
    /// Turned away: the waiting room is full.
    Refused {
        /// How many were waiting.
        waiting: usize,
    },
}

/// One queue and its randomness.
#[derive(Debug)]
pub(crate) struct ServiceQueue {
    spec: QueueSpec,
    dice: Dice,
    /// When each busy server becomes free; a server that never worked is absent.
    free_at: BinaryHeap<Reverse<u64>>,
    /// Starts of those who still wait, in order.
    waiting: VecDeque<u64>,
    last_arrival_ns: u64,
}

impl ServiceQueue {
    /// An empty queue.
    pub(crate) fn new(spec: QueueSpec, seed: u64) -> Self {
        Self {
            spec,
            dice: Dice::seeded(seed),
            free_at: BinaryHeap::new(),
            waiting: VecDeque::new(),
            last_arrival_ns: 0,
        }
    }

    /// Takes one arrival at `now_ns`; arrivals that come out of order count as simultaneous with the latest.
    pub(crate) fn arrive(&mut self, now_ns: u64) -> Admission {
        self.arrive_slowed(now_ns, 1.0)
    }

    /// The same with a service time that is multiplied by `factor`.
    pub(crate) fn arrive_slowed(&mut self, now_ns: u64, factor: f64) -> Admission {
        let now_ns = self.advance(now_ns);
        let start_ns = self.next_start(now_ns);
        if start_ns > now_ns && self.waiting.len() >= self.spec.room as usize {
            return Admission::Refused {
                waiting: self.waiting.len(),
            };
        }
        if self.free_at.len() >= self.spec.servers as usize {
            self.free_at.pop();
        }
        if start_ns > now_ns {
            self.waiting.push_back(start_ns);
        }
        let drawn_ns = self.spec.service.draw_ns(&mut self.dice);
        let service_ns = (drawn_ns as f64 * factor) as u64;
        let finish_ns = start_ns.saturating_add(service_ns);
        self.free_at.push(Reverse(finish_ns));
        Admission::Served {
            queue_ns: start_ns - now_ns,
            service_ns,
            finish_ns,
        }
    }

    /// Whether no request is in service or waiting.
    pub(crate) fn is_idle(&self, now_ns: u64) -> bool {
        self.free_at.iter().all(|Reverse(free)| *free <= now_ns)
    }

    /// How many wait at `now_ns`.
    pub(crate) fn waiting(&self, now_ns: u64) -> usize {
        self.waiting.iter().filter(|start| **start > now_ns).count()
    }

    fn advance(&mut self, now_ns: u64) -> u64 {
        let now_ns = now_ns.max(self.last_arrival_ns);
        self.last_arrival_ns = now_ns;
        while self.waiting.front().is_some_and(|start| *start <= now_ns) {
            self.waiting.pop_front();
        }
        now_ns
    }

    fn next_start(&self, now_ns: u64) -> u64 {
        if self.free_at.len() < self.spec.servers as usize {
            return now_ns;
        }
        self.free_at
            .peek()
            .map_or(now_ns, |Reverse(free)| now_ns.max(*free))
    }
}

/// All queues of one server, by key.
#[derive(Debug)]
pub(crate) struct QueueRegistry {
    queues: Mutex<HashMap<String, Arc<Mutex<ServiceQueue>>>>,
    limit: usize,
    seed: u64,
}

impl QueueRegistry {
    /// An empty registry for at most `limit` queues; each queue's seed mixes `seed` and its key.
    pub(crate) fn new(limit: usize, seed: u64) -> Self {
        Self {
            queues: Mutex::new(HashMap::new()),
            limit,
            seed,
        }
    }

    /// The queue under `key`, made from `spec` on first use. When the registry is full, idle queues are
    /// forgotten first.
    ///
    /// # Errors
    /// Says that every queue is busy and how many there may be.
    pub(crate) fn queue(
        &self,
        key: &str,
        spec: &QueueSpec,
        now_ns: u64,
    ) -> Result<Arc<Mutex<ServiceQueue>>, String> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(key) {
            return Ok(Arc::clone(queue));
        }
        if queues.len() >= self.limit {
            queues.retain(|_, queue| !lock(queue).is_idle(now_ns));
        }
        if queues.len() >= self.limit {
            return Err(format!("all {} service queues are in use", self.limit));
        }
        let queue = ServiceQueue::new(spec.clone(), self.seed ^ fnv1a(key.as_bytes()));
        let queue = Arc::new(Mutex::new(queue));
        queues.insert(key.to_owned(), Arc::clone(&queue));
        Ok(queue)
    }

    /// The number waiting in all queues together.
    pub(crate) fn waiting(&self, now_ns: u64) -> usize {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues
            .values()
            .map(|queue| lock(queue).waiting(now_ns))
            .sum()
    }
}

/// Locks a queue; a panic elsewhere cannot leave it half changed in a way that matters.
pub(crate) fn lock(queue: &Mutex<ServiceQueue>) -> std::sync::MutexGuard<'_, ServiceQueue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The 64-bit FNV-1a hash (draft-eastlake-fnv): stable between runs and releases.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn spec(law: &str, mean: Duration, servers: u32, room: u32) -> QueueSpec {
        QueueSpec {
            service: RandomDuration::new(mean, law, None).unwrap(),
            servers,
            room,
        }
    }

    /// Mean wait of M/M/k by Erlang's C formula.
    fn erlang_c_wait(servers: u32, load: f64, mean_service: f64) -> f64 {
        let offered = load * f64::from(servers);
        let mut term = 1.0;
        let mut sum = 1.0;
        for i in 1..servers {
            term *= offered / f64::from(i);
            sum += term;
        }
        let last = term * offered / f64::from(servers) / (1.0 - load);
        last / (sum + last) * mean_service / (f64::from(servers) * (1.0 - load))
    }

    /// Mean wait in ns over `n` Poisson arrivals at the given load.
    fn simulated_wait(law: &str, servers: u32, load: f64, n: u32) -> f64 {
        let mean = 1e7;
        let mut queue =
            ServiceQueue::new(spec(law, Duration::from_millis(10), servers, ROOM_MAX), 11);
        let mut dice = Dice::seeded(12);
        let (mut now, mut waited) = (0.0, 0.0);
        for _ in 0..n {
            now += -mean / (load * f64::from(servers)) * dice.unit().ln();
            match queue.arrive(now as u64) {
                Admission::Served { queue_ns, .. } => waited += queue_ns as f64,
                Admission::Refused { waiting } => panic!("refused with {waiting} waiting"),
            }
        }
        waited / f64::from(n)
    }

    #[test]
    fn mean_wait_follows_erlang_c() {
        for (servers, load) in [(1, 0.5), (4, 0.7), (16, 0.9)] {
            let theory = erlang_c_wait(servers, load, 1e7);
            let seen = simulated_wait("exp", servers, load, 1_000_000);
            assert!(
                (seen / theory - 1.0).abs() < 0.05,
                "{servers}: {seen} for {theory}"
            );
        }
    }

    #[test]
    fn constant_service_waits_half_as_long() {
        // Pollaczek and Khinchine: M/D/1 waits half of M/M/1.
        let ratio = simulated_wait("const", 1, 0.7, 1_000_000) / erlang_c_wait(1, 0.7, 1e7);
        assert!((ratio - 0.5).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn a_full_room_refuses_and_recovers() {
        let mut queue = ServiceQueue::new(spec("const", Duration::from_nanos(100), 2, 1), 1);
        let served = |queue_ns, finish_ns| Admission::Served {
            queue_ns,
            service_ns: 100,
            finish_ns,
        };
        assert_eq!(queue.arrive(0), served(0, 100));
        assert_eq!(queue.arrive(10), served(0, 110));
        assert_eq!(queue.arrive(20), served(80, 200));
        assert_eq!(queue.arrive(30), Admission::Refused { waiting: 1 });
        assert_eq!(queue.arrive(100), served(10, 210));
        assert!(!queue.is_idle(209));
        assert!(queue.is_idle(210));
    }

    #[test]
    fn the_registry_is_bounded_and_reuses_idle_places() {
        let registry = QueueRegistry::new(2, 0);
        let spec = spec("const", Duration::from_nanos(100), 1, 9);
        for key in ["a", "b"] {
            lock(&registry.queue(key, &spec, 0).unwrap()).arrive(0);
        }
        assert!(registry.queue("c", &spec, 50).unwrap_err().contains('2'));
        assert!(registry.queue("a", &spec, 50).is_ok());
        assert!(registry.queue("c", &spec, 100).is_ok());
    }

    proptest! {
        #[test]
        fn never_more_in_service_than_servers(
            gaps in prop::collection::vec(0_u64..50, 1..200), servers in 1_u32..5, room in 0_u32..6,
        ) {
            let mut queue =
                ServiceQueue::new(spec("exp", Duration::from_nanos(60), servers, room), 4);
            let mut spans: Vec<(u64, u64, u64)> = Vec::new();
            let mut now = 0;
            for gap in gaps {
                now += gap;
                if let Admission::Served { queue_ns, service_ns, finish_ns } = queue.arrive(now) {
                    prop_assert_eq!(now + queue_ns + service_ns, finish_ns);
                    spans.push((now, now + queue_ns, finish_ns));
                }
            }
            prop_assert!(spans.is_sorted_by_key(|(_, start, _)| *start));
            for (arrived, start, _) in &spans {
                let busy = spans.iter().filter(|(_, s, f)| s <= start && start < f).count();
                prop_assert!(busy <= servers as usize);
                let waiting = spans.iter().filter(|(a, s, _)| a <= arrived && arrived < s).count();
                prop_assert!(waiting <= room as usize);
            }
        }
    }
}

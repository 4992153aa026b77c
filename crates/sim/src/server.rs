//! A server with some servers, one queue in order of arrival, and a law of service times.
//!
//! Must not know who sends. Invariant: requests are handed in by rising instant; the answer to one
//! follows from those before it, so it is known at once, and no events are needed.
//!
//! A freeze is a span in which nothing is served: work goes on after it where it stood. So the
//! server computes in *working time*, which stands still during the freeze.

use std::collections::VecDeque;

use loadline_model::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::free_times::FreeTimes;
use crate::law::Law;

/// The span `[from, to)` in which nothing is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// Its start.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
}

/// What a server is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerPlan {
    /// How long a request is served.
    pub law: Law,
    /// Requests served at once; at least one.
    pub servers: u32,
    /// Requests that may wait; one more is rejected. `None`: no limit.
    pub queue: Option<u32>,
    /// When nothing is served; `None`: never.
    pub freeze: Option<Freeze>,
    /// How long it takes to reject a request, in nanoseconds; at least one.
    pub rejection_ns: u64,
    /// Seed of the service times.
    pub seed: u64,
}

impl ServerPlan {
    /// A server that never freezes and never rejects.
    #[must_use]
    pub fn new(law: Law, servers: u32, seed: u64) -> ServerPlan {
        ServerPlan {
            law,
            servers,
            queue: None,
            freeze: None,
            rejection_ns: 1,
            seed,
        }
    }
}

/// When and how a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The instant of the answer.
    pub at: Nanos,
    /// Whether it was served, and not rejected.
    pub served: bool,
}

/// A simulated server.
#[derive(Clone, Debug)]
pub struct Server {
    plan: ServerPlan,
    random: Xoshiro256PlusPlus,
    /// In working time.
    free: FreeTimes,
    /// When those that wait will be served, in working time; kept only for a limited queue.
    waiting: VecDeque<u64>,
    last: Nanos,
}

impl Server {
    /// An idle server.
    ///
    /// # Panics
    /// When it serves no request at once.
    #[must_use]
    pub fn new(plan: ServerPlan) -> Server {
        Server {
            random: Xoshiro256PlusPlus::seed_from_u64(plan.seed),
            free: FreeTimes::new(plan.servers),
            waiting: VecDeque::new(),
            last: Nanos::ZERO,
            plan,
        }
    }

    /// Hands in a request at `at`.
    ///
    /// # Panics
    /// When `at` is before the request handed in last.
    pub fn submit(&mut self, at: Nanos) -> Answer {
        assert!(at >= self.last, "requests are handed in by rising instant");
        self.last = at;
        let arrived = self.working(at);
        let begin = arrived.max(self.free.earliest());
        if let Some(limit) = self.plan.queue {
            while self.waiting.front().is_some_and(|begin| *begin <= arrived) {
                self.waiting.pop_front();
            }
            if begin > arrived && self.waiting.len() >= limit as usize {
                return Answer {
                    at: Nanos(at.0 + self.plan.rejection_ns.max(1)),
                    served: false,
                };
            }
            self.waiting.push_back(begin);
        }
        let end = begin + self.plan.law.draw(&mut self.random);
        self.free.occupy_earliest(end);
        Answer {
            at: self.real(end),
            served: true,
        }
    }

    /// Time that the server has had to work until `at`.
    fn working(&self, at: Nanos) -> u64 {
        match self.plan.freeze {
            Some(freeze) => at.0.min(freeze.from.0) + at.since(freeze.to.max(freeze.from)),
            None => at.0,
        }
    }

    /// The instant at which it has had so much time to work; the earliest one.
    fn real(&self, worked: u64) -> Nanos {
        match self.plan.freeze {
            Some(freeze) if worked > freeze.from.0 => Nanos(worked + freeze.to.since(freeze.from)),
            _ => Nanos(worked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(servers: u32) -> ServerPlan {
        ServerPlan::new(Law::Constant { ns: 10 }, servers, 1)
    }

    fn answers(plan: ServerPlan, at: &[u64]) -> Vec<(u64, bool)> {
        let mut server = Server::new(plan);
        at.iter()
            .map(|at| server.submit(Nanos(*at)))
            .map(|a| (a.at.0, a.served))
            .collect()
    }

    #[test]
    fn requests_wait_in_order_of_arrival() {
        assert_eq!(
            answers(constant(1), &[0, 1, 30]),
            [(10, true), (20, true), (40, true)]
        );
        assert_eq!(
            answers(constant(2), &[0, 1, 2]),
            [(10, true), (11, true), (20, true)]
        );
    }

    #[test]
    fn a_full_queue_rejects() {
        let plan = ServerPlan {
            queue: Some(1),
            rejection_ns: 3,
            ..constant(1)
        };
        let expected = [
            (10, true),
            (20, true),
            (5, false),
            (30, true),
            (14, false),
            (40, true),
        ];
        assert_eq!(answers(plan, &[0, 1, 2, 10, 11, 25]), expected);
        let none = ServerPlan {
            queue: Some(0),
            ..constant(1)
        };
        assert_eq!(
            answers(none, &[0, 9, 10]),
            [(10, true), (10, false), (20, true)]
        );
    }

    #[test]
    fn nothing_is_served_while_frozen() {
        let freeze = Some(Freeze {
            from: Nanos(5),
            to: Nanos(105),
        });
        let plan = ServerPlan {
            freeze,
            ..constant(1)
        };
        assert_eq!(
            answers(plan, &[0, 50, 200]),
            [(110, true), (120, true), (210, true)]
        );
        let edge = Some(Freeze {
            from: Nanos(10),
            to: Nanos(110),
        });
        let plan = ServerPlan {
            freeze: edge,
            ..constant(1)
        };
        assert_eq!(
            answers(plan, &[0, 10, 115]),
            [(10, true), (120, true), (130, true)]
        );
    }
}

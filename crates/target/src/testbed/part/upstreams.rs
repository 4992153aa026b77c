//! The replicas available to a proxy, and the choice of the next one.
//!
//! It must not know how requests are forwarded. Invariants: only replicas of the newest list are chosen, and a
//! replica's count of open requests survives a new list.

use crate::random::Dice;
use crate::testbed::message::Upstream;
use crate::testbed::plan::Policy;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The replicas of one component.
pub(super) struct Upstreams {
    list: watch::Sender<Arc<Vec<Place>>>,
    policy: Policy,
    turn: AtomicUsize,
    dice: Mutex<Dice>,
}

/// A replica and what is open to it.
struct Place {
    upstream: Upstream,
    open: Arc<AtomicUsize>,
}

/// A replica that was picked; counts as open while it lives.
pub(super) struct Picked {
    pub(super) address: SocketAddr,
    open: Arc<AtomicUsize>,
}

impl Drop for Picked {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Relaxed);
    }
}

impl Upstreams {
    /// Nobody yet.
    pub(super) fn new(policy: Policy, seed: u64) -> Self {
        Self {
            list: watch::Sender::new(Arc::default()),
            policy,
            turn: AtomicUsize::new(0),
            dice: Mutex::new(Dice::seeded(seed)),
        }
    }

    /// Replaces the list.
    pub(super) fn replace(&self, upstreams: &[Upstream]) {
        let old = Arc::clone(&self.list.borrow());
        let place = |upstream: &Upstream| {
            let known = old.iter().find(|place| place.upstream == *upstream);
            let open = known.map(|place| Arc::clone(&place.open));
            Place {
                upstream: *upstream,
                open: open.unwrap_or_default(),
            }
        };
        let new = upstreams.iter().map(place).collect();
        self.list.send_replace(Arc::new(new));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.borrow().len()
    }

    /// Completes when there is a replica.
    pub(super) async fn somebody(&self) {
        // The sender is this value, so it is never gone.
        let _ = self
            .list
            .subscribe()
            .wait_for(|list| !list.is_empty())
            .await;
    }

    /// The next one according to the policy; `None` if there is none.
    pub(super) fn pick(&self) -> Option<Picked> {
        let list = Arc::clone(&self.list.borrow());
        if list.is_empty() {
            return None;
        }
        let next = |count: usize| self.turn.fetch_add(1, Relaxed) % count;
        let index = match &self.policy {
            Policy::RoundRobin => next(list.len()),
            Policy::LeastConnections => fewest(&list, next(list.len())),
            Policy::Pinned(pattern) if pattern.is_empty() => self.draw(list.len()),
            Policy::Pinned(pattern) => {
                let wanted = pattern[next(pattern.len())];
                let found = list
                    .iter()
                    .position(|place| place.upstream.replica == wanted);
                found.unwrap_or(wanted as usize % list.len())
            }
        };
        let place = &list[index];
        place.open.fetch_add(1, Relaxed);
        Some(Picked {
            address: place.upstream.address,
            open: Arc::clone(&place.open),
        })
    }

    fn draw(&self, count: usize) -> usize {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        usize::try_from(dice.between(0, count as i64 - 1)).unwrap_or(0)
    }
}

/// The one with the fewest open, the first of them from `start` on, so that ties are spread.
fn fewest(list: &[Place], start: usize) -> usize {
    (0..list.len())
        .map(|i| (start + i) % list.len())
        .min_by_key(|i| list[*i].open.load(Relaxed))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstreams(policy: Policy, count: u32) -> Upstreams {
        let upstreams = Upstreams::new(policy, 1);
        let list: Vec<Upstream> = (0..count).map(upstream).collect();
        upstreams.replace(&list);
        upstreams
    }

    fn upstream(replica: u32) -> Upstream {
        let port = 1_000 + u16::try_from(replica).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Upstream { replica, address }
    }

    fn picks(upstreams: &Upstreams, count: usize) -> Vec<(u16, Picked)> {
        let pick = |_| {
            upstreams
                .pick()
                .map(|picked| (picked.address.port() - 1_000, picked))
        };
        (0..count).filter_map(pick).collect()
    }

    fn replicas(picks: &[(u16, Picked)]) -> Vec<u16> {
        picks.iter().map(|(replica, _)| *replica).collect()
    }

    #[test]
    fn each_in_turn() {
        let all = upstreams(Policy::RoundRobin, 3);
        assert_eq!(replicas(&picks(&all, 5)), [0, 1, 2, 0, 1]);
        assert!(upstreams(Policy::RoundRobin, 0).pick().is_none());
    }

    #[test]
    fn the_fewest_open_is_next_and_counts_survive_a_new_list() {
        let all = upstreams(Policy::LeastConnections, 3);
        let mut held = picks(&all, 6);
        let mut seen = replicas(&held);
        seen.sort_unstable();
        assert_eq!(seen, [0, 0, 1, 1, 2, 2]);
        held.retain(|(replica, _)| *replica != 1);
        all.replace(&[upstream(0), upstream(1), upstream(2), upstream(3)]);
        let next = replicas(&picks(&all, 2));
        assert!(next.contains(&1) || next.contains(&3), "{next:?}");
        assert!(!next.contains(&0) && !next.contains(&2), "{next:?}");
    }

    #[test]
    fn a_pattern_leaves_a_replica_idle() {
        let all = upstreams(Policy::Pinned(vec![1, 2]), 3);
        assert_eq!(replicas(&picks(&all, 4)), [1, 2, 1, 2]);
        let drawn = upstreams(Policy::Pinned(Vec::new()), 3);
        let mut seen = replicas(&picks(&drawn, 100));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 1, 2]);
    }
}

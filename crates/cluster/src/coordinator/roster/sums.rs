//! What agents count, used and did, by share and together.
//!
//! Must not know how they are spoken to. Invariant: what is told of all is the sum of what each has told.

use std::collections::BTreeSet;

use loadline_engine::live::LiveTotals;
use loadline_engine::platform::GeneratorTotals;
use loadline_model::AgentShare;

use super::seat::Seat;
use super::{Roster, by_name};

impl Roster {
    /// What each share counts, by its number, whoever made it.
    pub(in crate::coordinator) fn live(&self) -> Vec<LiveTotals> {
        let mut sums = vec![LiveTotals::default(); self.expected.wanted as usize];
        for seat in &self.seats {
            if let Some(sum) = sums.get_mut(seat.share as usize) {
                sum.merge(&seat.live);
            }
        }
        sums
    }

    /// What all agents have used, beside what is used here. Agents that share cores have them once.
    pub(in crate::coordinator) fn used(&self, here: &GeneratorTotals) -> GeneratorTotals {
        let mut owners = BTreeSet::new();
        let mut sum = GeneratorTotals {
            cores: 0.0,
            ..here.clone()
        };
        for seat in self.seats.iter().filter(|seat| !seat.workers.is_empty()) {
            sum.cpu_ns = sum.cpu_ns.saturating_add(seat.used.cpu_ns);
            if seat.is_former {
                continue;
            }
            sum.rss_bytes = sum.rss_bytes.saturating_add(seat.used.rss_bytes);
            sum.rss_max_bytes = sum.rss_max_bytes.saturating_add(seat.used.rss_max_bytes);
            if let Some(throttled) = seat.used.throttled_ns {
                let before = sum.throttled_ns.unwrap_or(0);
                sum.throttled_ns = Some(before.saturating_add(throttled));
            }
            if seat.cores_owner.is_empty() || owners.insert(&seat.cores_owner) {
                sum.cores += seat.used.cores;
            }
        }
        sum
    }

    /// What each agent that has a part did, by name.
    pub(in crate::coordinator) fn shares(&self) -> Vec<AgentShare> {
        let seats = self.seats.iter();
        let mut seats: Vec<&Seat> = seats.filter(|seat| !seat.workers.is_empty()).collect();
        seats.sort_by(|one, other| by_name(&one.name, &other.name));
        seats.into_iter().map(Seat::share).collect()
    }
}

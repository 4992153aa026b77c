//! Counts, resource use and results of agents, by share and in total.
//!
//! Must not know how agents are reached. Invariants: totals are the sum over all agents; the resource use of a
//! process counts once, however many shares it runs.

use std::collections::{BTreeMap, BTreeSet};

use loadline_engine::live::LiveTotals;
use loadline_engine::platform::GeneratorTotals;
use loadline_model::AgentShare;

use super::Roster;
use super::seat::Seat;

/// The resource use of a process, as reported by its agents.
#[derive(Default)]
struct Process<'a> {
    used: GeneratorTotals,
    cores_owner: &'a str,
    /// Whether other agents have all of its shares.
    is_former: bool,
}

impl Roster {
    /// The counts of a share, whichever agent ran it.
    pub(in crate::coordinator) fn live_of(&self, share: u32) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for number in self.by_share.get(&share).into_iter().flatten() {
            sum.merge(&self.seats[*number].live);
        }
        sum
    }

    /// The resource use of all agents, besides that of this process. Shared cores count once; while one agent was
    /// throttled, the generator was.
    pub(in crate::coordinator) fn used(&self, here: &GeneratorTotals) -> GeneratorTotals {
        let mut owners = BTreeSet::new();
        let mut sum = GeneratorTotals {
            cores: 0.0,
            ..here.clone()
        };
        for process in self.processes().values() {
            let used = &process.used;
            sum.cpu_ns = sum.cpu_ns.saturating_add(used.cpu_ns);
            if process.is_former {
                continue;
            }
            sum.rss_bytes = sum.rss_bytes.saturating_add(used.rss_bytes);
            sum.rss_max_bytes = sum.rss_max_bytes.saturating_add(used.rss_max_bytes);
            sum.throttled_ns = sum.throttled_ns.max(used.throttled_ns);
            if process.cores_owner.is_empty() || owners.insert(process.cores_owner) {
                sum.cores += used.cores;
            }
        }
        sum
    }

    /// What each agent with a part did, by name. The resource use of a process is in its first row.
    pub(in crate::coordinator) fn shares(&self) -> Vec<AgentShare> {
        let mut processes = self.processes();
        let mut seats: Vec<&Seat> = self.seats_with_part().collect();
        seats.sort_by(|one, other| one.before(other));
        let row = |seat: &Seat| {
            let process = processes.remove(seat.process.as_str());
            seat.share(&process.unwrap_or_default().used)
        };
        seats.into_iter().map(row).collect()
    }

    /// Each process that runs or ran a share: it reports the same over each of its connections, and the latest report
    /// is the largest.
    fn processes(&self) -> BTreeMap<&str, Process<'_>> {
        let mut processes = BTreeMap::new();
        for seat in self.seats_with_part() {
            let first = Process {
                is_former: true,
                ..Process::default()
            };
            let process = processes.entry(seat.process.as_str()).or_insert(first);
            let (all, used) = (&mut process.used, &seat.used);
            all.cpu_ns = all.cpu_ns.max(used.cpu_ns);
            all.throttled_ns = all.throttled_ns.max(used.throttled_ns);
            all.rss_bytes = all.rss_bytes.max(used.rss_bytes);
            all.rss_max_bytes = all.rss_max_bytes.max(used.rss_max_bytes);
            all.cores = all.cores.max(used.cores);
            process.is_former &= seat.is_former;
            process.cores_owner = &seat.cores_owner;
        }
        processes
    }

    fn seats_with_part(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| !seat.workers.is_empty())
    }
}

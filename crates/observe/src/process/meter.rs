//! The processor time of a group of processes, of which some come and some go.
//!
//! Must not know where the figures come from. Invariant: time that a group used is counted once: that of a child that
//! ended is found in the time that its parent has from children.

use std::collections::HashMap;

use crate::parse::proc::ProcessStat;

/// What was known of each process at the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuMeter {
    known: HashMap<u32, Known>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    start_ticks: u64,
    cpu_ticks: u64,
    children_ticks: u64,
}

impl CpuMeter {
    /// The clock ticks that the group used since the last look. `is_new` says whether a process that was not there then
    /// has started since; what was there unseen counts from now on. With `with_children`, time of children that were
    /// waited for counts too.
    pub(crate) fn advance(
        &mut self,
        members: &[ProcessStat],
        with_children: bool,
        is_new: impl Fn(&ProcessStat) -> bool,
    ) -> u64 {
        let mut known = HashMap::with_capacity(members.len());
        let (mut live, mut reaped) = (0, 0);
        for stat in members {
            let before = self.known.remove(&stat.pid);
            let before = before.filter(|before| before.start_ticks == stat.start_ticks);
            let now = Known {
                start_ticks: stat.start_ticks,
                cpu_ticks: stat.cpu_ticks,
                children_ticks: stat.children_ticks,
            };
            let unseen = Known {
                cpu_ticks: 0,
                children_ticks: 0,
                ..now
            };
            let before = before.unwrap_or(if is_new(stat) { unseen } else { now });
            live += now.cpu_ticks.saturating_sub(before.cpu_ticks);
            reaped += now.children_ticks.saturating_sub(before.children_ticks);
            known.insert(stat.pid, now);
        }
        // What is left is gone; the time that it had then is a part of what its parent has from it now.
        let gone = self.known.values();
        let gone: u64 = gone.map(|gone| gone.cpu_ticks + gone.children_ticks).sum();
        self.known = known;
        match with_children {
            true => live + reaped.saturating_sub(gone),
            false => live,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, cpu: u64, children: u64) -> ProcessStat {
        ProcessStat {
            pid,
            name: "x".to_owned(),
            state: 'S',
            parent: 1,
            cpu_ticks: cpu,
            children_ticks: children,
            threads: 1,
            start_ticks: u64::from(pid),
            resident_pages: 1,
        }
    }

    fn never(_: &ProcessStat) -> bool {
        false
    }

    #[test]
    fn a_child_that_ended_is_counted_once() {
        let mut meter = CpuMeter::default();
        assert_eq!(
            meter.advance(&[stat(1, 100, 50), stat(2, 40, 0)], true, never),
            0
        );
        // The child used 5 more before it ended with 45, which the parent now has.
        assert_eq!(meter.advance(&[stat(1, 103, 95)], true, never), 8);
    }

    #[test]
    fn a_child_that_came_and_went_between_looks_is_counted() {
        let mut meter = CpuMeter::default();
        meter.advance(&[stat(1, 100, 0)], true, never);
        assert_eq!(meter.advance(&[stat(1, 100, 7)], true, never), 7);
        assert_eq!(meter.advance(&[stat(1, 100, 9)], false, never), 0);
    }

    #[test]
    fn a_child_that_nobody_waits_for_takes_nothing_away() {
        let mut meter = CpuMeter::default();
        meter.advance(&[stat(1, 100, 0), stat(2, 40, 0)], true, never);
        assert_eq!(meter.advance(&[stat(1, 104, 0)], true, never), 4);
    }

    #[test]
    fn all_time_of_a_new_process_counts_and_none_of_an_old_one() {
        let mut meter = CpuMeter::default();
        meter.advance(&[stat(1, 0, 0)], true, never);
        let members = [stat(1, 0, 0), stat(2, 30, 0)];
        assert_eq!(meter.advance(&members, true, |stat| stat.pid == 2), 30);
        let members = [stat(1, 0, 0), stat(2, 30, 0), stat(3, 70, 0)];
        assert_eq!(meter.advance(&members, true, never), 0);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let mut meter = CpuMeter::default();
        meter.advance(&[stat(1, 500, 0)], true, never);
        let mut other = stat(1, 3, 0);
        other.start_ticks = 99;
        assert_eq!(meter.advance(&[other], true, |_| true), 3);
    }
}

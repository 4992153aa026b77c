//! Tests of the accounting for a group of processes: by hand, and against a simulated machine with known usage.
//!
//! Must not know the machine's own processes. Invariant: the truth is what the simulated processes used.

use proptest::prelude::*;

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

const TICK_NS: u64 = 10_000_000;

fn meter() -> CpuMeter {
    CpuMeter::new(2, TICK_NS)
}

/// Everything is read at one instant.
fn at(unix_ns: u64) -> ReadSpan {
    ReadSpan {
        from_unix_ns: unix_ns,
        to_unix_ns: unix_ns,
    }
}

/// Counts from now on.
fn was_there(_: &ProcessStat) -> u64 {
    u64::MAX
}

fn is_new(_: &ProcessStat) -> u64 {
    0
}

fn ticks(meter: &mut CpuMeter, members: &[ProcessStat]) -> u64 {
    meter.advance(members, true, at(0), is_new).ticks
}

#[test]
fn a_child_that_ended_is_counted_once() {
    let mut meter = meter();
    let before = [stat(1, 100, 50), stat(2, 40, 0)];
    assert_eq!(meter.advance(&before, true, at(0), was_there).ticks, 0);
    // The child used 5 more before it ended with 45, which the parent has now.
    assert_eq!(ticks(&mut meter, &[stat(1, 103, 95)]), 8);
}

#[test]
fn a_child_that_nobody_has_waited_for_yet_is_counted_once() {
    let mut meter = meter();
    ticks(&mut meter, &[stat(1, 0, 0), stat(2, 40, 0)]);
    let mut ended = stat(2, 45, 0);
    ended.state = 'Z';
    assert_eq!(ticks(&mut meter, &[stat(1, 0, 0), ended.clone()]), 5);
    assert_eq!(ticks(&mut meter, &[stat(1, 0, 0), ended]), 0);
    assert_eq!(ticks(&mut meter, &[stat(1, 0, 45)]), 0);
}

#[test]
fn a_child_that_came_and_went_between_looks_is_counted_where_children_count() {
    let mut meter = meter();
    meter.advance(&[stat(1, 100, 0)], true, at(0), was_there);
    assert_eq!(ticks(&mut meter, &[stat(1, 100, 7)]), 7);
    let mut alone = CpuMeter::new(2, TICK_NS);
    alone.advance(&[stat(1, 100, 0)], false, at(0), was_there);
    assert_eq!(
        alone
            .advance(&[stat(1, 101, 7)], false, at(0), is_new)
            .ticks,
        1
    );
}

#[test]
fn files_that_are_read_at_different_instants_count_nothing_twice() {
    // The parent was read before it waited for the child; the child was gone when it was read.
    let mut late = meter();
    ticks(&mut late, &[stat(1, 0, 0), stat(2, 40, 0)]);
    assert_eq!(ticks(&mut late, &[stat(1, 0, 0)]), 0);
    assert_eq!(ticks(&mut late, &[stat(1, 0, 43)]), 3);
    assert_eq!(ticks(&mut late, &[stat(1, 0, 43)]), 0);
    // The child was read before its end, and the parent after it.
    let mut early = meter();
    ticks(&mut early, &[stat(1, 0, 0), stat(2, 40, 0)]);
    let twice = ticks(&mut early, &[stat(1, 0, 42), stat(2, 41, 0)]);
    assert_eq!(twice, 43, "nothing tells yet that the child is gone");
    assert_eq!(ticks(&mut early, &[stat(1, 50, 42)]), 9);
    assert_eq!(ticks(&mut early, &[stat(1, 50, 44)]), 2);
}

#[test]
fn what_nobody_waited_for_stays_counted_and_is_told() {
    let mut meter = meter();
    let two = [stat(1, 100, 0), stat(2, 40, 0)];
    meter.advance(&two, true, at(1_000), is_new);
    let advance = meter.advance(&[stat(1, 104, 0)], true, at(1_700), is_new);
    assert_eq!((advance.ticks, advance.unread_ns), (4, 700));
    assert_eq!(advance.without_gain, [1]);
}

#[test]
fn what_an_orphan_used_since_its_file_was_read_and_what_the_file_rounds_away_may_be_missing() {
    let mut meter = meter();
    let slow = |from_unix_ns, to_unix_ns| ReadSpan {
        from_unix_ns,
        to_unix_ns,
    };
    // The file was read at some instant of the first span; the end was noticed at some instant of the second.
    meter.advance(&[stat(1, 100, 0)], true, slow(1_000, 1_400), is_new);
    let advance = meter.advance(&[], true, slow(2_000, 2_500), is_new);
    assert_eq!((advance.ticks, advance.unread_ns), (0, 1_500 + 2 * TICK_NS));
}

#[test]
fn all_time_of_a_new_process_counts_and_none_of_an_old_one() {
    let mut meter = meter();
    ticks(&mut meter, &[stat(1, 0, 0)]);
    let members = [stat(1, 0, 0), stat(2, 30, 4)];
    assert_eq!(ticks(&mut meter, &members), 34);
    let members = [stat(1, 0, 0), stat(2, 30, 4), stat(3, 70, 0)];
    assert_eq!(meter.advance(&members, true, at(0), was_there).ticks, 0);
    assert_eq!(meter.counted(3, 3), Some(70));
    assert_eq!(meter.counted(3, 4), None);
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    let mut meter = meter();
    meter.advance(&[stat(1, 500, 0)], true, at(0), was_there);
    let mut other = stat(1, 3, 0);
    other.start_ticks = 99;
    assert_eq!(ticks(&mut meter, &[other]), 3);
}

#[test]
fn a_grandchild_goes_to_who_is_left() {
    let mut meter = meter();
    let child = |parent, of: ProcessStat| ProcessStat { parent, ..of };
    let all = [
        stat(1, 0, 0),
        child(1, stat(2, 10, 0)),
        child(2, stat(3, 20, 0)),
    ];
    ticks(&mut meter, &all);
    assert_eq!(ticks(&mut meter, &[stat(1, 0, 33)]), 3);
}

/// A process of the simulated machine.
#[derive(Clone, Debug)]
struct Simulated {
    stat: ProcessStat,
    waits: bool,
}

/// A machine of one family.
#[derive(Debug, Default)]
struct Machine {
    all: Vec<Simulated>,
    born: u32,
    truth: u64,
}

impl Machine {
    fn new() -> Machine {
        let mut machine = Machine::default();
        machine.born(1, true);
        machine
    }

    fn born(&mut self, parent: u32, waits: bool) {
        self.born += 1;
        // Ids are reused soon.
        let free = (1..).find(|pid| self.all.iter().all(|one| one.stat.pid != *pid));
        let mut stat = stat(free.expect("numbers are many"), 0, 0);
        stat.parent = parent;
        stat.start_ticks = u64::from(self.born);
        self.all.push(Simulated { stat, waits });
    }

    fn act(&mut self, what: u8, who: usize, how: u8) {
        let at = who % self.all.len();
        let (pid, is_alive) = (self.all[at].stat.pid, !self.all[at].stat.has_ended());
        match what % 4 {
            0 if is_alive && self.all.len() < 12 => self.born(pid, !how.is_multiple_of(3)),
            1 if is_alive => {
                self.all[at].stat.cpu_ticks += u64::from(how);
                self.truth += u64::from(how);
            }
            2 if at > 0 && is_alive && !self.has_children(pid) => self.all[at].stat.state = 'Z',
            3 => self.wait_for_children_of(at),
            _ => {}
        }
    }

    fn has_children(&self, pid: u32) -> bool {
        self.all
            .iter()
            .any(|one| one.stat.parent == pid && one.stat.pid != pid)
    }

    fn wait_for_children_of(&mut self, at: usize) {
        let (pid, waits) = (self.all[at].stat.pid, self.all[at].waits);
        let is_left =
            |one: &Simulated| one.stat.has_ended() && one.stat.parent == pid && one.stat.pid != pid;
        let gone = self.all.iter().filter(|one| is_left(one));
        let ticks: u64 = gone
            .map(|one| one.stat.cpu_ticks + one.stat.children_ticks)
            .sum();
        if waits {
            self.all[at].stat.children_ticks += ticks;
        }
        self.all.retain(|one| !is_left(one));
    }

    fn read(&self) -> Vec<ProcessStat> {
        self.all.iter().map(|one| one.stat.clone()).collect()
    }
}

proptest! {
    /// Each process is read at its last tick, as if it ended while watched: then the accounting is exact, whichever
    /// process waits for which.
    #[test]
    fn the_sum_is_what_all_processes_used(
        acts in prop::collection::vec((any::<u8>(), any::<usize>(), any::<u8>()), 1..200),
    ) {
        let (mut machine, mut meter) = (Machine::new(), meter());
        let mut told = ticks(&mut meter, &machine.read());
        for (what, who, how) in acts {
            machine.act(what, who, how);
            told += ticks(&mut meter, &machine.read());
        }
        prop_assert_eq!(told, machine.truth);
    }

    /// Reads are rare and every parent waits: processes that started and ended in between are in the account of
    /// their parent.
    #[test]
    fn rare_looks_miss_nothing_of_those_that_are_waited_for(
        acts in prop::collection::vec((any::<u8>(), any::<usize>(), any::<u8>(), any::<bool>()), 1..200),
    ) {
        let (mut machine, mut meter) = (Machine::new(), meter());
        let mut told = ticks(&mut meter, &machine.read());
        for (what, who, how, looks) in acts {
            // `how` 1 and 2 of 3: a process that waits.
            machine.act(what, who, how.min(250) / 3 * 3 + 1);
            if looks {
                told += ticks(&mut meter, &machine.read());
            }
        }
        told += ticks(&mut meter, &machine.read());
        prop_assert_eq!(told, machine.truth);
    }
}

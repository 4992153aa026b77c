//! Tests of the process table on trees of files: starts, ends, reused ids, budgets.
//!
//! Must not know the machine's own processes. Invariant: time and cost are set by the test.

use std::fs;
use std::sync::atomic::Ordering::Relaxed;

use tempfile::TempDir;

use super::*;
use crate::clock::tests::TestClock;

struct Machine {
    folder: TempDir,
    clock: TestClock,
    table: ProcessTable,
}

impl Machine {
    fn new() -> Machine {
        let folder = TempDir::new().unwrap();
        Machine {
            table: ProcessTable::new(folder.path()),
            clock: TestClock::default(),
            folder,
        }
    }

    fn born(&self, pid: u32, parent: u32, name: &str, start: u64) {
        let folder = self.folder.path().join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let stat = format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 1 0 0 0 20 0 1 0 {start} 0 10 0\n"
        );
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("cmdline"), "/usr/bin/program\0").unwrap();
    }

    /// It execs another program that differs only in its first argument.
    fn runs(&self, pid: u32, program: &str) {
        let file = self.folder.path().join(pid.to_string()).join("cmdline");
        fs::write(file, format!("{program}\0")).unwrap();
    }

    fn dies(&self, pid: u32) {
        fs::remove_dir_all(self.folder.path().join(pid.to_string())).unwrap();
    }

    fn walk_at(&mut self, seconds: f64) {
        self.clock.set_seconds(seconds);
        self.table.refresh(&self.clock, false);
    }

    fn family(&self, pid: u32) -> Vec<u32> {
        let mut family = self.table.family(pid);
        family.sort_unstable();
        family
    }
}

#[test]
fn births_and_deaths_are_found_at_the_next_walk() {
    let mut machine = Machine::new();
    machine.born(10, 1, "api", 5);
    machine.walk_at(1.0);
    assert_eq!(machine.family(10), [10]);
    machine.born(11, 10, "api", 6);
    machine.born(12, 11, "api", 6);
    machine.walk_at(1.2);
    assert_eq!(machine.family(10), [10, 11, 12]);
    assert_eq!(machine.table.children(10), [11]);
    machine.dies(12);
    machine.walk_at(1.4);
    assert_eq!(machine.family(10), [10, 11]);
    assert_eq!(machine.table.walks(), 3);
}

#[test]
fn who_was_there_is_known_by_number_and_start() {
    let mut machine = Machine::new();
    machine.born(10, 1, "api", 5);
    machine.walk_at(1.0);
    let old = machine.table.stat(10).cloned().unwrap();
    machine.born(11, 1, "api", 6);
    machine.walk_at(1.2);
    let new = machine.table.stat(11).cloned().unwrap();
    assert!(machine.table.was_there(&old, 1));
    assert!(!machine.table.was_there(&new, 1) && machine.table.was_there(&new, 2));
    // The id is reused by another program.
    machine.dies(10);
    machine.born(10, 1, "other", 9);
    machine.walk_at(1.4);
    assert!(!machine.table.was_there(&old, 3));
    let again = machine.table.stat(10).cloned().unwrap();
    assert!(!machine.table.was_there(&again, 2));
    assert_eq!(machine.table.called("api", 0), [11]);
    assert_eq!(machine.table.called("other", 0), [10]);
}

#[test]
fn what_a_newborn_runs_is_asked_again() {
    let mut machine = Machine::new();
    machine.walk_at(1.0);
    machine.born(10, 1, "bash", 5);
    machine.walk_at(1.2);
    assert_eq!(machine.table.called("server", 0), Vec::<u32>::new());
    machine.runs(10, "server");
    machine.walk_at(1.4);
    assert_eq!(machine.table.called("server", 0), [10]);
}

#[test]
fn a_walk_that_costs_much_is_rare_unless_it_is_urgent() {
    let mut machine = Machine::new();
    machine.born(10, 1, "api", 5);
    machine.walk_at(1.0);
    // Each check of the thread's CPU time finds 20 ms more: the first walk is not counted, the second is.
    machine.clock.cpu_step_ns.store(20_000_000, Relaxed);
    machine.walk_at(1.1);
    assert_eq!(machine.table.walks(), 2);
    machine.walk_at(2.5);
    assert_eq!(machine.table.walks(), 2);
    for step in 0..20 {
        machine.clock.set_seconds(2.5 + f64::from(step) * 0.1);
        machine.table.refresh(&machine.clock, true);
    }
    // Ten immediately, and one more per second.
    assert_eq!(machine.table.walks(), 2 + 11);
    machine.walk_at(5.4);
    assert_eq!(machine.table.walks(), 13);
    machine.walk_at(5.7);
    assert_eq!(machine.table.walks(), 14);
}

#[test]
fn beyond_the_budget_births_are_found_and_others_are_read_in_turn() {
    let mut machine = Machine::new();
    for pid in 1..=200 {
        machine.born(pid, 0, "old", 5);
    }
    machine.walk_at(1.0);
    for pid in 1..=200 {
        machine.born(pid, 0, "changed", 5);
    }
    machine.born(300, 0, "new", 900);
    // No process is young any more, and the budget is zero.
    machine.clock.cpu_step_ns.store(1_000_000_000, Relaxed);
    machine.walk_at(11.0);
    assert_eq!(machine.table.called("new", 0), [300]);
    let first = machine.table.called("changed", 0).len();
    assert_eq!(first, READ_AGAIN_MIN);
    machine.clock.set_seconds(12.0);
    machine.table.refresh(&machine.clock, true);
    assert_eq!(machine.table.called("changed", 0).len(), 2 * first);
}

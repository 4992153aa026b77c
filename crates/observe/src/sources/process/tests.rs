//! Tests of process observers on trees of files.
//!
//! Must not know the machine's own processes. Invariant: time is set by the test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::clock::tests::TestClock;
use crate::conduct::Roots;
use crate::readings::MISSING_NOTE;

/// A machine of files.
struct Machine {
    folder: TempDir,
    clock: TestClock,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine {
            folder: TempDir::new().unwrap(),
            clock: TestClock::default(),
        };
        machine.at(100.0);
        machine
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn at(&self, seconds: f64) {
        self.clock.set_seconds(seconds);
        fs::write(self.root().join("uptime"), format!("{seconds} 1\n")).unwrap();
    }

    /// Writes a process: `cpu` and `children` in ticks, `start` in ticks.
    fn process(&self, pid: u32, parent: u32, name: &str, cpu: u64, children: u64, start: u64) {
        let folder = self.root().join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        let stat = format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {cpu} 0 {children} 0 20 0 2 0 {start} 0 10 0\n"
        );
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("cmdline"), format!("/usr/bin/{name}\0-x\0")).unwrap();
        let limits = "Max open files            64                   64                   files\n";
        fs::write(folder.join("limits"), limits).unwrap();
    }

    fn ends(&self, pid: u32) {
        fs::remove_dir_all(self.root().join(pid.to_string())).unwrap();
    }

    fn source(&self, settings: &ProcessSettings) -> ProcessSource {
        let roots = Roots {
            proc: self.root().to_owned(),
            cgroup: self.root().join("groups"),
        };
        let surroundings = Surroundings {
            table: Arc::new(Mutex::new(ProcessTable::new(&roots.proc))),
            roots,
            own_pid: 999,
            kubeconfig: None,
            programs: Arc::default(),
        };
        ProcessSource::new(settings, &surroundings)
    }

    fn look(&self, source: &mut ProcessSource) -> (Readings, Result<(), Gap>) {
        let mut readings = Readings::new(&Arc::from("api"), 0);
        let tick = Tick {
            clock: &self.clock,
            load_ended_unix_ns: None,
        };
        let result = source.read(&tick, &mut readings);
        (readings, result)
    }
}

impl Machine {
    /// Reads what may be gone at the next look.
    fn peek(&self, source: &mut ProcessSource) {
        source.peek(&self.clock);
    }

    /// What is said at the end.
    fn concludes(&self, source: &mut ProcessSource) -> Readings {
        let mut readings = Readings::new(&Arc::from("api"), 0);
        let window = RunWindow {
            start_unix_ns: 1,
            end_unix_ns: 2,
            steady_unix_ns: None,
        };
        source.conclude(&window, &mut readings).unwrap();
        readings
    }

    /// Says that a process ignores the end of its children.
    fn ignores_children(&self, pid: u32) {
        let file = self.root().join(pid.to_string()).join("status");
        fs::write(file, "SigIgn:\t0000000000010000\n").unwrap();
    }
}

fn by_name(name: &str) -> ProcessSettings {
    ProcessSettings {
        pid: None,
        name: Some(name.to_owned()),
        port: None,
        children: true,
        workers: false,
        pss: false,
    }
}

fn ticks(seconds: f64) -> u64 {
    (seconds * ProcessFiles::new(Path::new("/")).ticks_per_second).round() as u64
}

#[test]
fn children_are_a_part_of_their_process() {
    let machine = Machine::new();
    machine.process(10, 1, "nginx", ticks(1.0), 0, 0);
    machine.process(11, 10, "nginx", ticks(5.0), 0, 0);
    machine.process(12, 1, "other", ticks(5.0), 0, 0);
    let mut source = machine.source(&by_name("nginx"));
    let (first, result) = machine.look(&mut source);
    assert_eq!(result, Ok(()));
    assert_eq!(first.value("api", "cpu_cores"), None);
    machine.at(102.0);
    machine.process(10, 1, "nginx", ticks(1.5), 0, 0);
    machine.process(11, 10, "nginx", ticks(7.0), 0, 0);
    let (second, _) = machine.look(&mut source);
    let cores = second.value("api", "cpu_cores").unwrap();
    assert!((cores - 1.25).abs() < 1e-6, "{cores}");
    let page = ProcessFiles::new(Path::new("/")).page_bytes;
    assert_eq!(second.value("api", "memory_bytes"), Some(20.0 * page));
    assert_eq!(second.value("api", "threads"), Some(4.0));
    assert_eq!(second.value("api", "open_files_limit"), Some(64.0));
    assert_eq!(second.value(TOTAL_COMPONENT, "cpu_cores"), None);
}

#[test]
fn a_restart_keeps_the_series_and_is_told() {
    let machine = Machine::new();
    machine.process(10, 1, "nginx", ticks(9.0), 0, 0);
    let mut source = machine.source(&by_name("nginx"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.ends(10);
    let (gone, result) = machine.look(&mut source);
    assert_eq!(result, Err(Gap::new("there is no process called nginx")));
    assert_eq!(gone.remarks(GAP_NOTE), ["process 10 has ended"]);
    machine.at(102.0);
    machine.process(20, 1, "nginx", ticks(0.5), 0, ticks(101.5));
    let (back, result) = machine.look(&mut source);
    assert_eq!(result, Ok(()));
    assert_eq!(back.remarks(RESTART_NOTE).len(), 1);
    assert_eq!(back.value("api", "restarts"), Some(1.0));
    machine.at(103.0);
    machine.process(20, 1, "nginx", ticks(1.25), 0, ticks(101.5));
    let (later, _) = machine.look(&mut source);
    let cores = later.value("api", "cpu_cores").unwrap();
    assert!((cores - 0.75).abs() < 1e-6, "{cores}");
}

#[test]
fn several_processes_are_numbered_components_with_a_total() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 1, "api", 0, 0, 0);
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.process(10, 1, "api", ticks(0.25), 0, 0);
    machine.process(11, 1, "api", ticks(0.5), 0, 0);
    let (look, _) = machine.look(&mut source);
    assert_eq!(look.value("api[1]", "cpu_cores"), Some(0.25));
    assert_eq!(look.value("api[2]", "cpu_cores"), Some(0.5));
    assert_eq!(look.value(TOTAL_COMPONENT, "cpu_cores"), Some(0.75));
}

#[test]
fn own_process_is_not_found_by_name() {
    let machine = Machine::new();
    machine.process(999, 1, "api", 0, 0, 0);
    let mut source = machine.source(&by_name("api"));
    assert!(machine.look(&mut source).1.is_err());
}

#[cfg(unix)]
#[test]
fn who_listens_on_a_port_is_found() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 10, "api", 0, 0, 0);
    fs::create_dir_all(machine.root().join("net")).unwrap();
    let tcp = "  sl  local_address\n 0: 00000000:1F90 00000000:0000 0A 0:0 0:0 0 0 0 77 1\n";
    fs::write(machine.root().join("net/tcp"), tcp).unwrap();
    for pid in [10, 11] {
        let link = machine.root().join(format!("{pid}/fd/3"));
        std::os::unix::fs::symlink("socket:[77]", link).unwrap();
    }
    let port = |port| ProcessSettings {
        pid: None,
        name: None,
        port: Some(port),
        children: true,
        workers: false,
        pss: false,
    };
    let mut source = machine.source(&port(8080));
    let (look, result) = machine.look(&mut source);
    assert_eq!(result, Ok(()));
    assert_eq!(look.value("api", "threads"), Some(4.0));
    let mut other = machine.source(&port(8081));
    let (_, result) = machine.look(&mut other);
    assert!(result.unwrap_err().0.contains("8081"));
}

fn cores(readings: &Readings, component: &str) -> f64 {
    readings.value(component, "cpu_cores").unwrap()
}

#[track_caller]
fn assert_close(told: f64, truth: f64) {
    assert!((told - truth).abs() < 1e-6, "told {told}, true is {truth}");
}

#[test]
fn a_child_that_comes_later_counts_from_its_birth() {
    let machine = Machine::new();
    machine.process(10, 1, "api", ticks(5.0), 0, 0);
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.process(11, 10, "worker", ticks(0.75), 0, ticks(100.2));
    let (look, _) = machine.look(&mut source);
    assert_close(cores(&look, "api"), 0.75);
    assert_eq!(look.value("api", "processes"), Some(2.0));
}

#[test]
fn a_restart_between_two_looks_loses_and_invents_nothing() {
    let machine = Machine::new();
    machine.process(10, 1, "api", ticks(50.0), ticks(3.0), 0);
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(100.2);
    machine.process(10, 1, "api", ticks(50.2), ticks(3.0), 0);
    machine.peek(&mut source);
    machine.at(100.25);
    machine.ends(10);
    machine.peek(&mut source);
    machine.process(20, 1, "api", ticks(0.25), 0, ticks(100.3));
    machine.at(101.0);
    let (look, result) = machine.look(&mut source);
    assert_eq!(result, Ok(()));
    assert_close(cores(&look, "api"), 0.45);
    assert_eq!(look.remarks(RESTART_NOTE).len(), 1);
    assert!(look.remarks(GAP_NOTE).is_empty(), "the restart says it");
    // From its last reading to its end it may have used what two threads can, and its two times were rounded down.
    let said = machine.concludes(&mut source);
    let said = said.remarks(MISSING_NOTE);
    let files = ProcessFiles::new(Path::new("/"));
    let may_miss = 0.05 * files.processors.min(2) as f64 + 2.0 * files.tick_ns() as f64 / 1e9;
    assert!(
        said[0].contains(&format!("at most {may_miss:.2} s are missing")),
        "{said:?}"
    );
}

#[test]
fn what_works_on_after_its_parent_stays_a_part() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 10, "daemon", 0, 0, 0);
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.ends(10);
    machine.process(11, 1, "daemon", ticks(0.5), 0, 0);
    machine.look(&mut source).1.unwrap_err();
    machine.at(102.0);
    machine.process(11, 1, "daemon", ticks(1.25), 0, 0);
    machine.process(20, 1, "api", ticks(0.25), 0, ticks(101.5));
    let (look, _) = machine.look(&mut source);
    // Over two seconds, because the previous reading had nothing to compare with.
    assert_close(cores(&look, "api") * 2.0, 1.5);
}

#[test]
fn a_process_that_becomes_a_component_of_its_own_is_counted_once() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 10, "api", 0, 0, 0);
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.process(11, 10, "api", ticks(0.5), 0, 0);
    assert_close(cores(&machine.look(&mut source).0, "api"), 0.5);
    machine.at(102.0);
    machine.ends(10);
    machine.process(11, 1, "api", ticks(0.75), 0, 0);
    let (look, _) = machine.look(&mut source);
    assert_close(cores(&look, "api"), 0.25);
}

#[test]
fn children_whose_end_is_ignored_are_told_as_missing() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 10, "api", ticks(0.1), 0, 0);
    machine.ignores_children(10);
    fs::write(
        machine.root().join("stat"),
        "cpu  100 0 0 0 0 0 0 0\ncpu0 1\nprocs_running 1\n",
    )
    .unwrap();
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.ends(11);
    machine.process(10, 1, "api", ticks(0.5), 0, 0);
    let used = format!(
        "cpu  {} 0 0 0 0 0 0 0\ncpu0 1\nprocs_running 1\n",
        100 + ticks(2.5)
    );
    fs::write(machine.root().join("stat"), used).unwrap();
    machine.look(&mut source).1.unwrap();
    let said = machine.concludes(&mut source);
    let said = said.remarks(MISSING_NOTE);
    assert!(
        said[0].contains("SIGCHLD") && said[0].contains("at most 2.0 s"),
        "{said:?}"
    );
}

fn workers_of(name: &str) -> ProcessSettings {
    ProcessSettings {
        workers: true,
        ..by_name(name)
    }
}

#[test]
fn workers_are_components_without_their_supervisor() {
    let machine = Machine::new();
    machine.process(9, 1, "sh", 0, 0, 0);
    machine.process(10, 9, "gunicorn", 0, 0, 0);
    for pid in [11, 12, 13] {
        machine.process(pid, 10, "gunicorn", 0, 0, 0);
    }
    machine.process(14, 10, "tracker", 0, 0, 0);
    machine.process(15, 12, "convert", 0, 0, 0);
    let settings = ProcessSettings {
        pid: Some(9),
        name: None,
        ..workers_of("")
    };
    let mut source = machine.source(&settings);
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.process(10, 9, "gunicorn", ticks(0.9), 0, 0);
    machine.process(11, 10, "gunicorn", ticks(0.5), 0, 0);
    machine.process(12, 10, "gunicorn", ticks(0.25), 0, 0);
    machine.process(15, 12, "convert", ticks(0.1), 0, 0);
    let (look, _) = machine.look(&mut source);
    assert_close(cores(&look, "api[1]"), 0.5);
    assert_close(cores(&look, "api[2]"), 0.35);
    assert_close(
        look.value("api[2]", "cpu_busiest_process_cores").unwrap(),
        0.25,
    );
    assert_close(cores(&look, "api[3]"), 0.0);
    assert_eq!(look.value("api[4]", "cpu_cores"), None);
    assert_close(cores(&look, TOTAL_COMPONENT), 0.85);
    // One worker ends with 0.6, another takes its place; the supervisor was waiting.
    machine.at(102.0);
    machine.ends(11);
    machine.process(10, 9, "gunicorn", ticks(0.95), ticks(0.6), 0);
    machine.process(16, 10, "gunicorn", ticks(0.2), 0, ticks(101.5));
    let (look, _) = machine.look(&mut source);
    assert_close(cores(&look, "api[1]"), 0.2);
    assert_close(cores(&look, TOTAL_COMPONENT), 0.3);
    assert_eq!(look.remarks(RESTART_NOTE).len(), 1);
}

#[test]
fn a_supervisor_that_was_alone_is_left_out_when_its_workers_come() {
    let machine = Machine::new();
    machine.process(10, 1, "php-fpm", 0, 0, 0);
    let mut source = machine.source(&workers_of("php-fpm"));
    machine.look(&mut source).1.unwrap();
    machine.at(101.0);
    machine.process(10, 1, "php-fpm", 0, ticks(0.3), 0);
    machine.process(11, 10, "php-fpm", ticks(0.5), 0, ticks(100.5));
    let (look, _) = machine.look(&mut source);
    assert_close(cores(&look, "api[1]"), 0.5);
    assert_eq!(look.value("api[1]", "processes"), Some(1.0));
}

#[test]
fn a_server_without_workers_is_its_own() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    let mut source = machine.source(&workers_of("api"));
    let (look, result) = machine.look(&mut source);
    assert_eq!(result, Ok(()));
    assert_eq!(look.value("api[1]", "threads"), Some(2.0));
}

#[test]
fn among_processes_alone_supervisors_say_how_many_work_for_them() {
    let machine = Machine::new();
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(11, 10, "api", 0, 0, 0);
    machine.process(12, 10, "api", 0, 0, 0);
    let settings = ProcessSettings {
        children: false,
        ..by_name("api")
    };
    let mut source = machine.source(&settings);
    let (look, _) = machine.look(&mut source);
    assert_eq!(look.value("api[1]", "supervised_workers"), Some(2.0));
    assert_eq!(look.value("api[2]", "supervised_workers"), None);
}

#[test]
fn a_control_group_of_its_own_has_what_no_file_of_a_process_has() {
    let machine = Machine::new();
    let group = machine.root().join("groups/api.service");
    fs::create_dir_all(&group).unwrap();
    fs::write(machine.root().join("groups/cgroup.controllers"), "cpu\n").unwrap();
    let group_says = |micro: u64, pids: &str| {
        fs::write(group.join("cpu.stat"), format!("usage_usec {micro}\n")).unwrap();
        fs::write(group.join("cgroup.procs"), pids).unwrap();
    };
    machine.process(10, 1, "api", 0, 0, 0);
    machine.process(12, 1, "stranger", 0, 0, 0);
    fs::write(machine.root().join("10/cgroup"), "0::/api.service\n").unwrap();
    group_says(5_000_000, "10\n");
    let mut source = machine.source(&by_name("api"));
    machine.look(&mut source).1.unwrap();
    // A child that is not known yet, and what others of its kind left behind.
    machine.at(101.0);
    machine.process(10, 1, "api", ticks(0.1), 0, 0);
    group_says(5_750_000, "10\n11\n");
    assert_close(cores(&machine.look(&mut source).0, "api"), 0.75);
    // A stranger comes and goes: its time is not the service's, before and after.
    for (second, pids) in [(102.0, "10\n12\n"), (103.0, "10\n")] {
        machine.at(second);
        machine.process(10, 1, "api", ticks(0.1 * (second - 100.0)), 0, 0);
        group_says(9_000_000, pids);
        assert_close(cores(&machine.look(&mut source).0, "api"), 0.1);
    }
    machine.at(104.0);
    group_says(9_250_000, "10\n");
    assert_close(cores(&machine.look(&mut source).0, "api"), 0.25);
}

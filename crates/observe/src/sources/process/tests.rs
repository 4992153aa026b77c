//! Tests of process observers on trees of files.
//!
//! Must not know the machine's own processes. Invariant: time is set by the test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::clock::tests::TestClock;
use crate::conduct::Roots;

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
            ..Roots::default()
        };
        let surroundings = Surroundings {
            table: Arc::new(Mutex::new(ProcessTable::new(&roots.proc))),
            roots,
            own_pid: 999,
            kubeconfig: None,
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

fn by_name(name: &str) -> ProcessSettings {
    ProcessSettings {
        pid: None,
        name: Some(name.to_owned()),
        port: None,
        children: true,
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

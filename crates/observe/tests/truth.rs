//! Compares what `process` observers report about real processes with the kernel's own accounting.
//!
//! Must not know how observers read. Invariants: the truth is what the kernel reports when a process is waited
//! for (`wait4`), including all its descendants; every wait is bounded.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use loadline_model::observation::{Observed, RESTART_NOTE, Reading, RunWindow};
use loadline_observe::{MISSING_NOTE, ObserverSetup, ObserverSpec, Observers};

/// Allowed relative error of the reported time.
const TOLERANCE: f64 = 0.02;
/// Time limit for observers to settle.
const SETTLE: Duration = Duration::from_secs(30);

/// Busy loop up to a number of rounds.
const BURN: &str = "burn() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; }; ";

/// A shell that runs a script, and ends when released.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// CPU seconds used before it was watched.
    unwatched: f64,
}

impl Server {
    fn start(name: &str, script: &str) -> Server {
        let mut command = Command::new("sh");
        command.arg0(name).args(["-c", &format!("{BURN}{script}")]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("there is a shell");
        Server {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("it is a pipe")),
            child,
            unwatched: 0.0,
        }
    }

    /// Waits until it is up, and excludes the CPU time for that, which nobody watches.
    fn ready(&mut self) {
        self.line();
        let path = format!("/proc/{}/schedstat", self.pid());
        let told = std::fs::read_to_string(path).expect("it runs");
        let ns = told.split(' ').next().expect("it has fields");
        self.unwatched = ns.parse::<f64>().expect("a number") / 1e9;
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets the next `read` of the script go on.
    fn go(&mut self) {
        let input = self.input.as_mut().expect("it was not let go");
        input.write_all(b"\n").expect("it reads");
    }

    /// Waits for a line of the script.
    fn line(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        assert!(!line.is_empty(), "it has not ended yet");
    }

    /// Kills it if it does not exit; returns the CPU time of it and all that it waited for, in seconds.
    fn used(mut self, by_force: bool) -> f64 {
        if by_force {
            self.child.kill().expect("it runs");
        }
        drop(self.input.take());
        let pid = libc::pid_t::try_from(self.child.id()).expect("it is a process");
        let mut status = 0;
        // SAFETY: both pointers are to locals that outlive the call; a zeroed rusage is a valid one.
        let (waited, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &raw mut status, 0, &raw mut usage), usage)
        };
        assert_eq!(waited, pid);
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime) - self.unwatched
    }
}

/// Running observers, and everything that they reported.
struct Watched {
    observers: Observers,
    told: Receiver<Observed>,
    said: Vec<Observed>,
}

impl Watched {
    /// Starts an observer called `o`, and waits for its first look.
    fn start(kind: &str) -> Watched {
        let (sender, told) = sync_channel(100_000);
        let setup = ObserverSetup::of_this_process(Duration::ZERO);
        let text = format!("o={kind};interval=200ms");
        let specs = ObserverSpec::parse(&text).expect("it is well written");
        let observers = Observers::start(&specs, &setup, &sender).expect("none is required");
        let first = told.recv_timeout(SETTLE).expect("it looks at once");
        Watched {
            observers,
            told,
            said: vec![first],
        }
    }

    fn end(mut self) -> Vec<Observed> {
        self.observers.load_ended();
        let mut looks = 0;
        while !self.observers.is_drained() && looks < 6_000 {
            std::thread::park_timeout(Duration::from_millis(5));
            looks += 1;
        }
        let window = RunWindow {
            start_unix_ns: 0,
            end_unix_ns: u64::MAX / 2,
            steady_unix_ns: None,
        };
        let last = self.observers.conclude(window);
        self.said.extend(self.told.try_iter().chain(last));
        self.said
    }
}

/// CPU time from the first reading of a component to the last; each reading is the mean since the previous one,
/// and those of the first read have none.
fn cpu_seconds(said: &[Observed], component: &str) -> f64 {
    let of = |metric: &str, component: Option<&str>| -> Vec<&Reading> {
        let readings = said.iter().filter_map(|item| match item {
            Observed::Reading(reading) => Some(reading),
            _ => None,
        });
        let is_it = |reading: &&Reading| {
            component.is_none_or(|component| &*reading.series.component == component)
                && &*reading.series.metric == metric
        };
        readings.filter(is_it).collect()
    };
    let times: Vec<u64> = of("memory_bytes", None)
        .iter()
        .map(|one| one.at_unix_ns)
        .collect();
    let cores = of("cpu_cores", Some(component));
    let used = cores.iter().map(|reading| {
        let before = times.iter().rev().find(|at| **at < reading.at_unix_ns);
        let since = before.copied().unwrap_or(reading.at_unix_ns);
        reading.value * (reading.at_unix_ns - since) as f64 / 1e9
    });
    used.sum()
}

fn notes<'s>(said: &'s [Observed], kind: &str) -> Vec<&'s str> {
    let notes = said.iter().filter_map(|item| match item {
        Observed::Remark(remark) if remark.kind == kind => Some(remark.text.as_str()),
        _ => None,
    });
    notes.collect()
}

/// Seconds that notes say may be missing.
fn may_miss(said: &[Observed]) -> f64 {
    let notes = notes(said, MISSING_NOTE).into_iter();
    let seconds = notes.filter_map(|text| {
        let (_, rest) = text.split_once("at most ")?;
        rest.split(' ').next()?.parse::<f64>().ok()
    });
    seconds.sum::<f64>().max(0.0)
}

#[track_caller]
fn assert_true(told: f64, truth: f64, said: &[Observed]) {
    let missing = may_miss(said);
    assert!(
        told <= truth * (1.0 + TOLERANCE) && told + missing >= truth * (1.0 - TOLERANCE),
        "told {told:.3} s and at most {missing:.3} s missing, true are {truth:.3} s"
    );
}

#[test]
fn a_server_that_forks_for_each_request_is_counted_whole() {
    let script = "echo up; read go; n=0; while [ $n -lt 40 ]; do (burn 40000); n=$((n+1)); done; echo done; read go";
    let mut server = Server::start("truth-forking", script);
    server.ready();
    let watched = Watched::start(&format!("process:pid:{}", server.pid()));
    server.go();
    server.line();
    let said = watched.end();
    server.go();
    let truth = server.used(false);
    assert_true(cpu_seconds(&said, "o"), truth, &said);
    assert!(
        may_miss(&said) <= TOLERANCE * truth,
        "everybody was waited for"
    );
}

#[test]
fn workers_that_come_later_are_counted_without_their_supervisor() {
    let script =
        "echo up; read go; burn 400000 & burn 400000 & burn 800000 & wait; echo done; read go";
    let mut server = Server::start("truth-forking-first", script);
    server.ready();
    let watched = Watched::start(&format!("process:pid:{};workers=true", server.pid()));
    let whole = Watched::start(&format!("process:pid:{}", server.pid()));
    server.go();
    server.line();
    let (said, of_all) = (watched.end(), whole.end());
    server.go();
    let truth = server.used(false);
    assert_true(cpu_seconds(&said, "total"), truth, &said);
    assert_true(cpu_seconds(&of_all, "o"), truth, &of_all);
    let workers = ["o[1]", "o[2]", "o[3]"].map(|name| cpu_seconds(&said, name));
    assert!(
        workers.iter().all(|used| *used > truth / 8.0),
        "{workers:?} of {truth}"
    );
}

#[test]
fn a_server_that_is_killed_and_started_anew_is_counted_whole() {
    let name = format!("truth-restarted-{}", std::process::id());
    let works = "echo up; read go; burn 1000000; echo done;";
    let start = |then: &str| {
        let mut server = Server::start(&name, &format!("{works} {then}"));
        server.line();
        server
    };
    let works_on = "burn 100000000";
    // It is there at the first look: readings without one before them span nothing.
    let mut server = start(works_on);
    let watched = Watched::start(&format!("process:name:{name}"));
    let mut truth = 0.0;
    for then in [works_on, "read go"] {
        server.go();
        server.line();
        truth += server.used(true);
        server = start(then);
    }
    server.go();
    server.line();
    let said = watched.end();
    truth += server.used(false);
    let told: f64 = cpu_seconds(&said, "o");
    assert_true(told, truth, &said);
    assert!(may_miss(&said) > 0.0, "nobody waited inside the component");
    assert_eq!(notes(&said, RESTART_NOTE).len(), 2, "{said:?}");
}

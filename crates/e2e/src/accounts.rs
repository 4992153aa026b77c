//! Cumulative counters of the kernel, read repeatedly during a test.
//!
//! Must not know what is tested. Invariant: each value has the time at which it was read, so that other
//! readings can be compared at the same times, however busy the machine is.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock;

/// Interval of readings.
const READ_EVERY: Duration = Duration::from_millis(10);
/// Maximum number of readings kept: enough for minutes.
const READINGS_MAX: usize = 30_000;
/// Number of readings between two searches for new processes.
const SEARCH_EVERY: u32 = 10;

/// Reads one number, in any unit; `None` if it does not exist.
pub type Account = Box<dyn Fn() -> Option<f64> + Send>;

/// Times in seconds since 1970, each with its reading.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Vec<(f64, f64)>);

/// Counters that are being read.
pub struct Accountant {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Timeline>>>,
}

impl Accountant {
    /// Starts reading.
    ///
    /// # Panics
    /// No thread can be started.
    #[must_use]
    pub fn start(accounts: Vec<Account>) -> Accountant {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let read = move || {
            let mut timelines = vec![Timeline::default(); accounts.len()];
            while !told.load(Ordering::Relaxed) {
                for (account, timeline) in accounts.iter().zip(&mut timelines) {
                    timeline.read(account);
                }
                clock::pause(READ_EVERY);
            }
            timelines
        };
        Accountant {
            stop,
            thread: Some(std::thread::spawn(read)),
        }
    }

    /// Stops, and returns the readings of each counter.
    ///
    /// # Panics
    /// Reading panicked.
    #[must_use]
    pub fn end(mut self) -> Vec<Timeline> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it has not ended yet");
        thread.join().expect("it reads")
    }
}

impl Drop for Accountant {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Timeline {
    fn read(&mut self, account: &Account) {
        let before = clock::unix_s();
        let value = account();
        let at = f64::midpoint(before, clock::unix_s());
        if self.0.len() < READINGS_MAX {
            self.0.extend(value.map(|value| (at, value)));
        }
    }

    /// The value at a time, interpolated between the readings around it.
    ///
    /// # Panics
    /// There is no reading on each side of it.
    #[must_use]
    pub fn at(&self, unix_s: f64) -> f64 {
        let next = self.0.partition_point(|(at, _)| *at < unix_s);
        let pair = next
            .checked_sub(1)
            .and_then(|before| self.0.get(before..=next));
        let Some([(from, before), (to, after)]) = pair else {
            let reach = (self.0.first(), self.0.last());
            panic!("{unix_s} does not lie between {reach:?}");
        };
        before + (after - before) * (unix_s - from) / (to - from)
    }

    /// The first and the last time.
    ///
    /// # Panics
    /// Nothing was read.
    #[must_use]
    pub fn reach(&self) -> (f64, f64) {
        let ends = self.0.first().zip(self.0.last());
        let (first, last) = ends.expect("something was read");
        (first.0, last.0)
    }

    /// Its growth between two times.
    ///
    /// # Panics
    /// As [`Timeline::at`].
    #[must_use]
    pub fn grown(&self, from_unix_s: f64, to_unix_s: f64) -> f64 {
        self.at(to_unix_s) - self.at(from_unix_s)
    }

    /// The least and the greatest reading around a time.
    #[must_use]
    pub fn around(&self, unix_s: f64, within_s: f64) -> (f64, f64) {
        let near = self
            .0
            .iter()
            .filter(|(at, _)| (at - unix_s).abs() <= within_s);
        near.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), (_, value)| (least.min(*value), most.max(*value)),
        )
    }
}

/// The readings of one process.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Its PID.
    pub pid: u32,
    /// Its CPU time in seconds.
    pub cpu: Timeline,
    /// Its resident memory in bytes.
    pub memory: Timeline,
}

/// Processes of one name, including those that start during the watch.
pub struct ProcessWatch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Watched>>>,
}

impl ProcessWatch {
    /// Starts to read the processes whose command name has this prefix.
    #[must_use]
    pub fn start(prefix: &'static str) -> ProcessWatch {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let read = move || {
            let mut watched: Vec<(Watched, Account, Account)> = Vec::new();
            let mut looks = 0_u32;
            while !told.load(Ordering::Relaxed) {
                if looks.is_multiple_of(SEARCH_EVERY) {
                    for pid in named(prefix) {
                        if watched.iter().all(|(known, _, _)| known.pid != pid) {
                            let (cpu, memory) = (Timeline::default(), Timeline::default());
                            let one = Watched { pid, cpu, memory };
                            watched.push((one, of_process(pid), memory_of_process(pid)));
                        }
                    }
                }
                looks += 1;
                for (one, cpu, memory) in &mut watched {
                    one.cpu.read(cpu);
                    one.memory.read(memory);
                }
                clock::pause(READ_EVERY);
            }
            watched.into_iter().map(|(one, _, _)| one).collect()
        };
        ProcessWatch {
            stop,
            thread: Some(std::thread::spawn(read)),
        }
    }

    /// Stops, and returns the readings of each process, ordered by PID.
    ///
    /// # Panics
    /// Reading panicked.
    #[must_use]
    pub fn end(mut self) -> Vec<Watched> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it has not ended yet");
        let mut watched = thread.join().expect("it reads");
        watched.sort_by_key(|one| one.pid);
        watched
    }
}

impl Drop for ProcessWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The processes whose command name has this prefix.
fn named(prefix: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_named = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.starts_with(prefix))
    };
    pids.filter(is_named).collect()
}

/// CPU time of a process in seconds, without its children.
#[must_use]
pub fn of_process(pid: u32) -> Account {
    Box::new(move || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: Vec<f64> = ticks.filter_map(|ticks| ticks.parse().ok()).collect();
        Some((ticks.first()? + ticks.get(1)?) / 100.0)
    })
}

/// Resident memory of a process in bytes.
#[must_use]
pub fn memory_of_process(pid: u32) -> Account {
    Box::new(move || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib * 1024.0)
    })
}

/// CPU time of the whole machine in seconds.
#[must_use]
pub fn of_machine() -> Account {
    Box::new(|| {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let line = stat.lines().next()?;
        let ticks = line.split_whitespace().skip(1);
        let ticks: Vec<f64> = ticks.filter_map(|ticks| ticks.parse().ok()).collect();
        // user nice system, irq softirq steal; not idle and iowait.
        let busy = [0, 1, 2, 5, 6, 7].iter().filter_map(|at| ticks.get(*at));
        Some(busy.sum::<f64>() / 100.0)
    })
}

/// Bytes that an interface received.
#[must_use]
pub fn received_by(interface: &'static str) -> Account {
    Box::new(move || {
        let text = fs::read_to_string("/proc/net/dev").ok()?;
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, counters) = lines.find(|(name, _)| name.trim() == interface)?;
        counters.split_whitespace().next()?.parse().ok()
    })
}

/// A control group for the test, of either version.
pub struct ControlGroup {
    path: PathBuf,
    /// The file with its CPU time, and the number of its units per second.
    account: (PathBuf, f64),
}

/// A process that is killed together with all its descendants.
pub struct Busy(Child);

impl ControlGroup {
    /// Creates one.
    ///
    /// # Errors
    /// Why it cannot be created here, for [`crate::skip`].
    pub fn make() -> Result<ControlGroup, String> {
        let name = format!("loadline-e2e-{}", std::process::id());
        let roots = ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup"].map(PathBuf::from);
        let mut why = "there are no control groups".to_owned();
        for root in roots
            .iter()
            .filter(|root| root.join("cgroup.procs").exists())
        {
            let path = root.join(&name);
            if let Err(error) = fs::create_dir(&path) {
                why = format!("{}: {error}", path.display());
                continue;
            }
            let accounts = [("cpuacct.usage", 1e9), ("cpu.stat", 1e6)];
            let mut accounts = accounts
                .map(|(file, units)| (path.join(file), units))
                .into_iter();
            match accounts.find(|(file, _)| file.exists()) {
                Some(account) => return Ok(ControlGroup { path, account }),
                // It is empty.
                None => drop(fs::remove_dir(&path)),
            }
        }
        Err(why)
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a shell script in it.
    ///
    /// # Panics
    /// There is no shell.
    #[must_use]
    pub fn run(&self, script: &str) -> Busy {
        let procs = self.path.join("cgroup.procs");
        let script = format!("echo $$ > {} || exit; {script}", procs.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).process_group(0);
        Busy(command.spawn().expect("there is a shell"))
    }

    /// Its CPU time in seconds.
    #[must_use]
    pub fn cpu_seconds(&self) -> Account {
        let (file, units) = self.account.clone();
        Box::new(move || {
            let text = fs::read_to_string(&file).ok()?;
            let words = text.split_whitespace();
            let number = words.filter_map(|word| word.parse::<f64>().ok()).next()?;
            Some(number / units)
        })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Its processes may take a moment to end; a group that stays is empty.
        let removed = || fs::remove_dir(&self.path).ok();
        clock::wait_for(Duration::from_secs(5), removed);
    }
}

impl Busy {
    /// Its PID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Ok(group) = i32::try_from(self.0.id()) {
            // SAFETY: kill takes no pointers; the group is that of a child that was not waited for, so it is
            // ours.
            unsafe {
                libc::kill(-group, libc::SIGKILL);
            }
        }
        // It was killed: its status does not matter.
        let _ = self.0.wait();
    }
}

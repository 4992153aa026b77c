//! `cgroup`: usage and throttling of a control group, both versions.
//!
//! Must not know which processes are in it. Invariant: a missing file only removes its own values.

use std::fs;
use std::path::{Path, PathBuf};

use loadline_model::control_group;
use loadline_model::observation::OOM_NOTE;

use super::{Source, Tick};
use crate::clock::seconds_between;
use crate::conduct::Roots;
use crate::parse::proc;
use crate::readings::{Gap, Readings};
use crate::spec::CgroupSettings;

/// Reads a control group.
pub(super) struct CgroupSource {
    roots: Roots,
    settings: CgroupSettings,
    group: Option<GroupFiles>,
    before: Option<Usage>,
    /// Since the first look.
    throttled_seconds: f64,
    oom_kills: u64,
}

/// Where the files of a group are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GroupFiles {
    /// Version 2: one folder.
    Unified(PathBuf),
    /// Version 1: one folder per controller; `None`: the controller is not mounted, or has no such group.
    PerController {
        cpu: Option<PathBuf>,
        accounting: Option<PathBuf>,
        memory: Option<PathBuf>,
    },
}

/// The values of one read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Usage {
    at_unix_ns: u64,
    cpu_seconds: Option<f64>,
    cpu_limit_cores: Option<f64>,
    periods: Option<u64>,
    throttled_periods: Option<u64>,
    throttled_seconds: Option<f64>,
    memory_bytes: Option<u64>,
    memory_peak_bytes: Option<u64>,
    memory_limit_bytes: Option<u64>,
    oom_kills: Option<u64>,
    cpu_pressure: Option<f64>,
    memory_pressure: Option<f64>,
    io_pressure: Option<f64>,
}

impl Usage {
    /// Whether no file of the group was read.
    fn is_empty(&self) -> bool {
        self.cpu_seconds.is_none() && self.memory_bytes.is_none() && self.periods.is_none()
    }
}

impl CgroupSource {
    pub(super) fn new(settings: &CgroupSettings, roots: &Roots) -> CgroupSource {
        CgroupSource {
            roots: roots.clone(),
            settings: settings.clone(),
            group: None,
            before: None,
            throttled_seconds: 0.0,
            oom_kills: 0,
        }
    }

    fn find(&self) -> Result<GroupFiles, Gap> {
        let root = &self.roots.cgroup;
        match (&self.settings.path, self.settings.pid) {
            (Some(path), _) => {
                group_at(root, path).ok_or_else(|| Gap(format!("there is no control group {path}")))
            }
            (None, pid) => {
                let pid = pid.unwrap_or_default();
                let file = self.roots.proc.join(pid.to_string()).join("cgroup");
                let text = fs::read_to_string(file)
                    .map_err(|_| Gap(format!("there is no process {pid}")))?;
                group_of(root, &text).ok_or_else(|| {
                    Gap(format!(
                        "the control group of process {pid} is not mounted here"
                    ))
                })
            }
        }
    }

    /// Reports the values computed from two reads.
    fn tell(&mut self, now: &Usage, readings: &mut Readings) {
        if let Some(before) = self.before {
            let elapsed = seconds_between(before.at_unix_ns, now.at_unix_ns);
            let used = rise(before.cpu_seconds, now.cpu_seconds);
            if elapsed > 0.0 {
                readings.own_if("cpu_cores", used.map(|seconds| seconds / elapsed));
            }
            let count = |n: Option<u64>| n.map(|n| n as f64);
            let periods = rise(count(before.periods), count(now.periods));
            let throttled = rise(
                count(before.throttled_periods),
                count(now.throttled_periods),
            );
            let ratio = throttled
                .zip(periods)
                .map(|(throttled, periods)| match periods > 0.0 {
                    true => throttled / periods,
                    // Nothing wanted to run, so nothing was held back.
                    false => 0.0,
                });
            readings.own_if("throttled_ratio", ratio);
            if let Some(seconds) = rise(before.throttled_seconds, now.throttled_seconds) {
                self.throttled_seconds += seconds;
                readings.own("throttled_seconds", self.throttled_seconds);
            }
            self.tell_kills(&before, now, readings);
        }
        readings.own_if("cpu_limit_cores", now.cpu_limit_cores);
        for (metric, bytes) in [
            ("memory_bytes", now.memory_bytes),
            ("memory_peak_bytes", now.memory_peak_bytes),
            ("memory_limit_bytes", now.memory_limit_bytes),
        ] {
            readings.own_if(metric, bytes.map(|bytes| bytes as f64));
        }
        readings.own_if("cpu_pressure_ratio", now.cpu_pressure);
        readings.own_if("memory_pressure_ratio", now.memory_pressure);
        readings.own_if("io_pressure_ratio", now.io_pressure);
    }

    fn tell_kills(&mut self, before: &Usage, now: &Usage, readings: &mut Readings) {
        let Some((before, now)) = before.oom_kills.zip(now.oom_kills) else {
            return;
        };
        let killed = now.saturating_sub(before);
        self.oom_kills += killed;
        readings.own("oom_kills", self.oom_kills as f64);
        if killed > 0 {
            let observer = readings.observer();
            let text = format!("the kernel killed {killed} of its processes: out of memory");
            readings.remark(&observer, OOM_NOTE, text);
        }
    }
}

impl Source for CgroupSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let group = match self.group.clone() {
            Some(group) => group,
            None => self.find()?,
        };
        let usage = group.read(tick.clock.unix_ns());
        if usage.is_empty() {
            // It may be recreated, for a process under another path.
            self.group = None;
            self.before = None;
            return Err(Gap::new("the files of the control group cannot be read"));
        }
        if usage.cpu_seconds.is_none() {
            readings.missing(&readings.observer(), "CPU accounting is off for this group");
        }
        if usage.memory_bytes.is_none() {
            readings.missing(
                &readings.observer(),
                "the group has no accounting of memory here",
            );
        }
        self.group = Some(group);
        readings.read_at(usage.at_unix_ns);
        self.tell(&usage, readings);
        self.before = Some(usage);
        Ok(())
    }
}

impl GroupFiles {
    fn read(&self, at_unix_ns: u64) -> Usage {
        let usage = Usage {
            at_unix_ns,
            ..Usage::default()
        };
        match self {
            GroupFiles::Unified(folder) => read_unified(usage, folder),
            GroupFiles::PerController {
                cpu,
                accounting,
                memory,
            } => {
                let usage = read_accounting(usage, cpu.as_deref(), accounting.as_deref());
                read_memory(usage, memory.as_deref())
            }
        }
    }
}

fn read_unified(usage: Usage, folder: &Path) -> Usage {
    let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let stat = text("cpu.stat").unwrap_or_default();
    let seconds = |name: &str| control_group::field(&stat, name).map(|micro| micro as f64 / 1e6);
    let inactive =
        text("memory.stat").and_then(|text| control_group::field(&text, "inactive_file"));
    let current = text("memory.current").and_then(|text| control_group::number(&text));
    let pressure = |file: &str| text(file).and_then(|text| proc::pressure(&text));
    Usage {
        cpu_seconds: seconds("usage_usec"),
        cpu_limit_cores: text("cpu.max").and_then(|text| control_group::cpu_max_cores(&text)),
        periods: control_group::field(&stat, "nr_periods"),
        throttled_periods: control_group::field(&stat, "nr_throttled"),
        throttled_seconds: seconds("throttled_usec"),
        memory_bytes: working_set(current, inactive),
        memory_peak_bytes: text("memory.peak").and_then(|text| control_group::number(&text)),
        memory_limit_bytes: text("memory.max").and_then(|text| control_group::limit_bytes(&text)),
        oom_kills: text("memory.events").and_then(|text| control_group::field(&text, "oom_kill")),
        cpu_pressure: pressure("cpu.pressure"),
        memory_pressure: pressure("memory.pressure"),
        io_pressure: pressure("io.pressure"),
        ..usage
    }
}

fn read_accounting(usage: Usage, cpu: Option<&Path>, accounting: Option<&Path>) -> Usage {
    let text = |file: &str| fs::read_to_string(cpu?.join(file)).ok();
    let stat = text("cpu.stat").unwrap_or_default();
    let used = accounting.and_then(|folder| fs::read_to_string(folder.join("cpuacct.usage")).ok());
    let quota = text("cpu.cfs_quota_us").zip(text("cpu.cfs_period_us"));
    let nanoseconds = |n: u64| n as f64 / 1e9;
    Usage {
        cpu_seconds: used
            .and_then(|text| control_group::number(&text))
            .map(nanoseconds),
        cpu_limit_cores: quota
            .and_then(|(quota, period)| control_group::quota_cores(&quota, &period)),
        periods: control_group::field(&stat, "nr_periods"),
        throttled_periods: control_group::field(&stat, "nr_throttled"),
        throttled_seconds: control_group::field(&stat, "throttled_time").map(nanoseconds),
        ..usage
    }
}

fn read_memory(usage: Usage, memory: Option<&Path>) -> Usage {
    let text = |file: &str| fs::read_to_string(memory?.join(file)).ok();
    let number = |file: &str| text(file).and_then(|text| control_group::number(&text));
    let inactive =
        text("memory.stat").and_then(|text| control_group::field(&text, "total_inactive_file"));
    Usage {
        memory_bytes: working_set(number("memory.usage_in_bytes"), inactive),
        memory_peak_bytes: number("memory.max_usage_in_bytes"),
        memory_limit_bytes: text("memory.limit_in_bytes")
            .and_then(|text| control_group::limit_bytes(&text)),
        oom_kills: text("memory.oom_control")
            .and_then(|text| control_group::field(&text, "oom_kill")),
        ..usage
    }
}

/// Memory without the file cache that the kernel reclaims first: what Kubernetes calls the working set.
fn working_set(used: Option<u64>, inactive_file: Option<u64>) -> Option<u64> {
    Some(used?.saturating_sub(inactive_file.unwrap_or_default()))
}

/// The increase of a counter; `None` also after a reset.
fn rise(before: Option<f64>, now: Option<f64>) -> Option<f64> {
    let rise = now? - before?;
    (rise >= 0.0).then_some(rise)
}

/// The group of a path: a folder, or a path below the mount.
fn group_at(root: &Path, path: &str) -> Option<GroupFiles> {
    let inside = Path::new(path).strip_prefix(root).ok().map(Path::to_owned);
    let relative = || PathBuf::from(path.trim_start_matches('/'));
    let is_unified = root.join("cgroup.controllers").exists();
    let inside = match (inside, is_unified) {
        (Some(inside), true) => return existing(root.join(inside)).map(GroupFiles::Unified),
        (None, true) => return existing(root.join(relative())).map(GroupFiles::Unified),
        // The first part below the mount is the controller.
        (Some(inside), false) => {
            let mut parts = inside.components();
            let controller = parts.next()?;
            if controller.as_os_str() == "unified" {
                return existing(root.join(&inside)).map(GroupFiles::Unified);
            }
            parts.as_path().to_owned()
        }
        (None, false) => relative(),
    };
    per_controller(root, |_| Some(inside.clone()))
        .or_else(|| existing(PathBuf::from(path)).map(GroupFiles::Unified))
}

/// The group of a process from its list of groups.
fn group_of(root: &Path, text: &str) -> Option<GroupFiles> {
    let below = |path: &str| PathBuf::from(path.trim_start_matches('/'));
    if root.join("cgroup.controllers").exists() {
        let path = control_group::path_of(text, "")?;
        return existing(root.join(below(path))).map(GroupFiles::Unified);
    }
    per_controller(root, |controller| {
        control_group::path_of(text, controller).map(below)
    })
    .or_else(|| {
        let path = control_group::path_of(text, "")?;
        existing(root.join("unified").join(below(path))).map(GroupFiles::Unified)
    })
}

/// The folder with the CPU accounting of a process's group; `None` if it is unknown, or that of the root group.
pub(super) fn accounting_of(roots: &Roots, pid: u32) -> Option<PathBuf> {
    let file = roots.proc.join(pid.to_string()).join("cgroup");
    let text = fs::read_to_string(file).ok()?;
    let (folder, controller) = match group_of(&roots.cgroup, &text)? {
        GroupFiles::Unified(folder) => (folder, ""),
        GroupFiles::PerController { accounting, .. } => (accounting?, "cpuacct"),
    };
    (control_group::path_of(&text, controller)? != "/").then_some(folder)
}

/// CPU time used by a group, in seconds.
pub(super) fn used_seconds(folder: &Path) -> Option<f64> {
    let at_unix_ns = 0;
    let unified = GroupFiles::Unified(folder.to_owned());
    let accounting = GroupFiles::PerController {
        cpu: None,
        accounting: Some(folder.to_owned()),
        memory: None,
    };
    let of = |group: &GroupFiles| group.read(at_unix_ns).cpu_seconds;
    of(&accounting).or_else(|| of(&unified))
}

fn per_controller(root: &Path, path: impl Fn(&str) -> Option<PathBuf>) -> Option<GroupFiles> {
    // The two are often mounted as one.
    let folder = |controller: &str| {
        let path = path(controller)?;
        let mounts = match controller {
            "memory" => ["memory", "memory", "memory"],
            other => [other, "cpu,cpuacct", "cpuacct,cpu"],
        };
        let mut folders = mounts.iter().map(|mount| root.join(mount).join(&path));
        folders.find_map(existing)
    };
    let (cpu, accounting, memory) = (folder("cpu"), folder("cpuacct"), folder("memory"));
    let is_there = cpu.is_some() || accounting.is_some() || memory.is_some();
    is_there.then_some(GroupFiles::PerController {
        cpu,
        accounting,
        memory,
    })
}

fn existing(folder: PathBuf) -> Option<PathBuf> {
    folder.is_dir().then_some(folder)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::*;
    use crate::clock::tests::TestClock;

    struct Mount {
        folder: TempDir,
        clock: TestClock,
    }

    impl Mount {
        fn new() -> Mount {
            Mount {
                folder: TempDir::new().unwrap(),
                clock: TestClock::default(),
            }
        }

        fn write(&self, files: &[(&str, &str)]) {
            for (file, text) in files {
                let path = self.folder.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }

        fn source(&self, path: Option<&str>, pid: Option<u32>) -> CgroupSource {
            let roots = Roots {
                proc: self.folder.path().join("proc"),
                cgroup: self.folder.path().join("cg"),
            };
            let settings = CgroupSettings {
                path: path.map(str::to_owned),
                pid,
            };
            CgroupSource::new(&settings, &roots)
        }

        fn look(&self, source: &mut CgroupSource, seconds: f64) -> (Readings, Result<(), Gap>) {
            self.clock.set_seconds(seconds);
            let mut readings = Readings::new(&Arc::from("g"), 0);
            let tick = Tick {
                clock: &self.clock,
                load_ended_unix_ns: None,
            };
            let result = source.read(&tick, &mut readings);
            (readings, result)
        }
    }

    #[test]
    fn a_group_that_only_has_a_quota_shows_how_often_it_is_throttled() {
        let mount = Mount::new();
        let stat =
            |throttled: u32| format!("nr_periods {}\nnr_throttled {throttled}\n", 10 + throttled);
        mount.write(&[
            ("cg/cpu/a/cpu.stat", stat(0).as_str()),
            ("cg/cpu/a/cpu.cfs_quota_us", "20000\n"),
            ("cg/cpu/a/cpu.cfs_period_us", "100000\n"),
        ]);
        let mut source = mount.source(Some("/a"), None);
        let (first, result) = mount.look(&mut source, 1.0);
        assert_eq!(result, Ok(()));
        assert_eq!(first.value("g", "cpu_limit_cores"), Some(0.2));
        mount.write(&[("cg/cpu/a/cpu.stat", stat(8).as_str())]);
        let (second, _) = mount.look(&mut source, 2.0);
        assert_eq!(second.value("g", "throttled_ratio"), Some(1.0));
    }

    #[test]
    fn version_two_is_read() {
        let mount = Mount::new();
        mount.write(&[
            ("cg/cgroup.controllers", "cpu memory"),
            (
                "cg/a/cpu.stat",
                "usage_usec 1000000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 500000\n",
            ),
            ("cg/a/cpu.max", "50000 100000\n"),
            ("cg/a/memory.current", "1000\n"),
            ("cg/a/memory.stat", "anon 5\ninactive_file 300\n"),
            ("cg/a/memory.max", "max\n"),
            ("cg/a/memory.peak", "2000\n"),
            ("cg/a/memory.events", "low 0\noom 1\noom_kill 1\n"),
            (
                "cg/a/cpu.pressure",
                "some avg10=25.00 avg60=0 avg300=0 total=1\n",
            ),
        ]);
        let mut source = mount.source(Some("a"), None);
        let (first, result) = mount.look(&mut source, 10.0);
        assert_eq!(result, Ok(()));
        assert_eq!(first.value("g", "memory_bytes"), Some(700.0));
        assert_eq!(first.value("g", "memory_limit_bytes"), None);
        assert_eq!(first.value("g", "memory_peak_bytes"), Some(2_000.0));
        assert_eq!(first.value("g", "cpu_limit_cores"), Some(0.5));
        assert_eq!(first.value("g", "cpu_pressure_ratio"), Some(0.25));
        assert_eq!(first.value("g", "cpu_cores"), None);
        mount.write(&[
            (
                "cg/a/cpu.stat",
                "usage_usec 1800000\nnr_periods 30\nnr_throttled 7\nthrottled_usec 800000\n",
            ),
            ("cg/a/memory.events", "low 0\noom 1\noom_kill 3\n"),
        ]);
        let (second, _) = mount.look(&mut source, 12.0);
        let value = |metric| second.value("g", metric).unwrap();
        assert!((value("cpu_cores") - 0.4).abs() < 1e-9);
        assert!((value("throttled_ratio") - 0.25).abs() < 1e-9);
        assert!((value("throttled_seconds") - 0.3).abs() < 1e-9);
        assert!((value("oom_kills") - 2.0).abs() < 1e-9);
        assert_eq!(second.remarks(OOM_NOTE).len(), 1);
    }

    #[test]
    fn version_one_is_read_by_process() {
        let mount = Mount::new();
        mount.write(&[
            ("proc/7/cgroup", "3:memory:/m\n2:cpu,cpuacct:/c\n"),
            (
                "cg/cpu,cpuacct/c/cpu.stat",
                "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n",
            ),
            ("cg/cpu,cpuacct/c/cpuacct.usage", "1000000000\n"),
            ("cg/cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n"),
            ("cg/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"),
            ("cg/memory/m/memory.usage_in_bytes", "500\n"),
            ("cg/memory/m/memory.stat", "total_inactive_file 100\n"),
            ("cg/memory/m/memory.limit_in_bytes", "4096\n"),
            ("cg/memory/m/memory.max_usage_in_bytes", "600\n"),
            (
                "cg/memory/m/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
            ),
        ]);
        let mut source = mount.source(None, Some(7));
        mount.look(&mut source, 1.0).1.unwrap();
        mount.write(&[("cg/cpu,cpuacct/c/cpuacct.usage", "2500000000\n")]);
        let (look, _) = mount.look(&mut source, 2.0);
        assert_eq!(look.value("g", "cpu_cores"), Some(1.5));
        assert_eq!(look.value("g", "cpu_limit_cores"), None);
        assert_eq!(look.value("g", "memory_bytes"), Some(400.0));
        assert_eq!(look.value("g", "memory_limit_bytes"), Some(4_096.0));
        assert_eq!(look.value("g", "oom_kills"), Some(0.0));
    }

    #[test]
    fn a_folder_of_one_controller_stands_for_the_group_in_all() {
        let mount = Mount::new();
        mount.write(&[
            ("cg/cpuacct/x/y/cpuacct.usage", "1\n"),
            ("cg/memory/x/y/memory.usage_in_bytes", "5\n"),
        ]);
        let folder = mount.folder.path().join("cg/memory/x/y");
        let mut source = mount.source(folder.to_str(), None);
        let (look, result) = mount.look(&mut source, 1.0);
        assert_eq!(result, Ok(()));
        assert_eq!(look.value("g", "memory_bytes"), Some(5.0));
    }

    #[test]
    fn a_group_that_is_not_there_is_a_gap() {
        let mount = Mount::new();
        mount.write(&[("cg/cgroup.controllers", "")]);
        assert!(
            mount
                .look(&mut mount.source(Some("a"), None), 1.0)
                .1
                .is_err()
        );
        assert!(mount.look(&mut mount.source(None, Some(7)), 1.0).1.is_err());
        mount.write(&[("cg/a/cpu.stat", "usage_usec 1\n")]);
        let mut source = mount.source(Some("a"), None);
        let (look, result) = mount.look(&mut source, 1.0);
        assert_eq!(result, Ok(()));
        assert_eq!(look.remarks(crate::readings::MISSING_NOTE).len(), 1);
        fs::remove_file(mount.folder.path().join("cg/a/cpu.stat")).unwrap();
        assert!(mount.look(&mut source, 2.0).1.is_err());
    }
}

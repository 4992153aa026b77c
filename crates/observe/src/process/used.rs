//! CPU time of this machine and its processes, read once.
//!
//! Must not know the purpose. Invariants: the folder with the kernel's files is an argument; unreadable data is
//! `None`, never a zero.

use std::path::Path;

use super::ProcessFiles;
use crate::parse::proc::is_called;

/// Busy time of the machine's CPUs in seconds since boot; `None` if the kernel does not report it.
#[must_use]
pub fn machine_cpu_seconds(proc: &Path) -> Option<f64> {
    ProcessFiles::new(proc).machine_seconds()
}

/// User and system time of a process in seconds; `None` if it does not exist.
#[must_use]
pub fn process_cpu_seconds(proc: &Path, pid: u32) -> Option<f64> {
    ProcessFiles::new(proc).cpu_seconds(pid)
}

/// User and system time in seconds of all current processes with this name, matched as process observers do;
/// `None` if there are none.
#[must_use]
pub fn named_cpu_seconds(proc: &Path, name: &str) -> Option<f64> {
    let files = ProcessFiles::new(proc);
    let is_meant = |pid: &u32| {
        let command_line = files.command_line(*pid).unwrap_or_default();
        let stat = files.stat(*pid);
        stat.is_some_and(|stat| is_called(name, &stat.name, &command_line))
    };
    // A process that has ended since does not count.
    let pids = files.pids().into_iter().filter(is_meant);
    pids.filter_map(|pid| files.cpu_seconds(pid))
        .reduce(|sum, seconds| sum + seconds)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder like `/proc` with a process for each name, which used three seconds.
    fn processes(of: &[(u32, &[u8], &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let ticks = ProcessFiles::new(folder.path()).ticks_per_second as u64;
        let (user, system) = (ticks * 2, ticks);
        for (pid, name, command_line) in of {
            let place = folder.path().join(pid.to_string());
            fs::create_dir(&place).expect("there is room");
            let mut stat = format!("{pid} (").into_bytes();
            stat.extend_from_slice(name);
            let rest = format!(
                ") S 1 1 1 0 -1 4194304 100 0 0 0 {user} {system} 0 0 20 0 1 0 100 1000 1 0"
            );
            stat.extend_from_slice(rest.as_bytes());
            fs::write(place.join("stat"), stat).expect("there is room");
            fs::write(place.join("cmdline"), command_line).expect("there is room");
        }
        folder
    }

    #[test]
    fn processes_are_found_as_observers_find_them() {
        let folder = processes(&[
            (10, b"python3", "/usr/bin/python3\0server.py\0"),
            (11, b"a-name-that-is-", "a-name-that-is-cut\0"),
            (12, b"worker \xff) x", "worker\0"),
            (13, b"other", "other\0server.py\0"),
        ]);
        let used = |name| named_cpu_seconds(folder.path(), name);
        assert_eq!(used("server.py"), Some(3.0), "an interpreter's script");
        assert_eq!(used("python3"), Some(3.0));
        assert_eq!(
            used("a-name-that-is-cut"),
            Some(3.0),
            "the kernel keeps 15 bytes"
        );
        assert_eq!(used("worker"), Some(3.0), "its name is no text");
        assert_eq!(used("*er*"), Some(9.0));
        assert_eq!(used("nobody"), None);
    }

    #[test]
    fn what_is_not_there_is_no_zero() {
        let folder = processes(&[(10, b"a", "a\0")]);
        assert_eq!(process_cpu_seconds(folder.path(), 10), Some(3.0));
        assert_eq!(process_cpu_seconds(folder.path(), 11), None);
        assert_eq!(machine_cpu_seconds(folder.path()), None);
    }
}

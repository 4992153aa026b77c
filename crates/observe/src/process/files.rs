//! The files of a process below `/proc`.
//!
//! Must not know which process is of interest. Invariant: missing or forbidden data is `None`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::parse::proc::{self, ProcessStat};

/// Reads files of processes.
#[derive(Clone, Debug)]
pub(crate) struct ProcessFiles {
    root: PathBuf,
    /// Clock ticks per second.
    pub(crate) ticks_per_second: f64,
    /// Bytes of a page.
    pub(crate) page_bytes: f64,
    /// Online CPUs.
    pub(crate) processors: u64,
}

impl ProcessFiles {
    pub(crate) fn new(root: &Path) -> ProcessFiles {
        let (ticks_per_second, page_bytes, processors) = system_units();
        ProcessFiles {
            root: root.to_owned(),
            ticks_per_second,
            page_bytes,
            processors,
        }
    }

    /// The length of a clock tick in nanoseconds.
    pub(crate) fn tick_ns(&self) -> u64 {
        (1e9 / self.ticks_per_second) as u64
    }

    /// Ids of all processes.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        names.collect()
    }

    pub(crate) fn stat(&self, pid: u32) -> Option<ProcessStat> {
        proc::process_stat(&self.text(pid, "stat")?)
    }

    /// The arguments of the command line, separated by NUL bytes.
    pub(crate) fn command_line(&self, pid: u32) -> Option<String> {
        self.text(pid, "cmdline")
    }

    /// The number of open files; newer kernels report it as the size of the folder (6.2 and later).
    pub(crate) fn open_files(&self, pid: u32) -> Option<u64> {
        let folder = self.path(pid, "fd");
        let size = fs::metadata(&folder).ok()?.len();
        if size > 0 {
            return Some(size);
        }
        Some(fs::read_dir(folder).ok()?.count() as u64)
    }

    /// The limit on open files; `None`: unlimited.
    pub(crate) fn open_files_limit(&self, pid: u32) -> Option<u64> {
        proc::open_files_limit(&self.text(pid, "limits")?)
    }

    pub(crate) fn proportional_bytes(&self, pid: u32) -> Option<u64> {
        proc::proportional_bytes(&self.text(pid, "smaps_rollup")?)
    }

    /// Whether it has one of these sockets open.
    pub(crate) fn holds_socket(&self, pid: u32, inodes: &[u64]) -> bool {
        let Ok(entries) = fs::read_dir(self.path(pid, "fd")) else {
            return false;
        };
        entries.filter_map(Result::ok).any(|entry| {
            let link = fs::read_link(entry.path()).ok();
            let inode = link.and_then(|link| proc::socket_inode(link.to_str()?));
            inode.is_some_and(|inode| inodes.contains(&inode))
        })
    }

    /// The sockets that listen on a TCP port.
    pub(crate) fn listening_inodes(&self, port: u16) -> Vec<u64> {
        let tables = ["net/tcp", "net/tcp6"].iter();
        let texts = tables.filter_map(|table| fs::read_to_string(self.root.join(table)).ok());
        texts
            .flat_map(|text| proc::listening_inodes(&text, port))
            .collect()
    }

    /// Resident memory; `None` if only `stat` has it.
    pub(crate) fn resident_bytes(&self, pid: u32) -> Option<u64> {
        proc::resident_bytes(&self.text(pid, "status")?)
    }

    /// Whether it ignores SIGCHLD; `None` if that cannot be read.
    pub(crate) fn ignores_children(&self, pid: u32) -> Option<bool> {
        proc::ignores_children(&self.text(pid, "status")?)
    }

    /// User and system time in seconds.
    pub(crate) fn cpu_seconds(&self, pid: u32) -> Option<f64> {
        Some(self.stat(pid)?.cpu_ticks as f64 / self.ticks_per_second)
    }

    /// Busy time of the machine's CPUs in seconds.
    pub(crate) fn machine_seconds(&self) -> Option<f64> {
        let text = fs::read_to_string(self.root.join("stat")).ok()?;
        let stat = proc::machine_stat(&text)?;
        Some(stat.busy_ticks as f64 / self.ticks_per_second)
    }

    fn text(&self, pid: u32, file: &str) -> Option<String> {
        let bytes = fs::read(self.path(pid, file)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn path(&self, pid: u32, file: &str) -> PathBuf {
        let mut path = self.root.join(pid.to_string());
        path.push(file);
        path
    }
}

/// Clock ticks per second, page size in bytes, and CPUs.
#[cfg(unix)]
fn system_units() -> (f64, f64, u64) {
    // SAFETY: sysconf takes no pointers.
    let (ticks, page, processors) = unsafe {
        (
            libc::sysconf(libc::_SC_CLK_TCK),
            libc::sysconf(libc::_SC_PAGESIZE),
            libc::sysconf(libc::_SC_NPROCESSORS_ONLN),
        )
    };
    let processors = u64::try_from(processors).unwrap_or(1);
    (ticks.max(1) as f64, page.max(1) as f64, processors.max(1))
}

#[cfg(not(unix))]
fn system_units() -> (f64, f64, u64) {
    (100.0, 4096.0, 1)
}

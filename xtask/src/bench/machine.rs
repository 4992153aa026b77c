//! The machine on which the table is measured: its cores, its limits, its facts.
//!
//! Must not know clients or rows. Invariant: client and server never share a core if there are two.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Result, exec};

/// The core to which each side is pinned; `None` on a machine with one core, or without `taskset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cores {
    pub(super) server: Option<usize>,
    pub(super) client: Option<usize>,
}

impl Cores {
    pub(super) fn choose() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores < 2 || exec::find("taskset").is_none() {
            println!("NOTE: one core, or no taskset: nothing is pinned, ratios mean less");
            return Self {
                server: None,
                client: None,
            };
        }
        Self {
            server: Some(0),
            client: Some(1),
        }
    }
}

/// A command that runs `program` on `core`.
pub(super) fn pinned(core: Option<usize>, program: &Path) -> Command {
    let Some(core) = core else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// Raises the limit of open files: ten thousand connections need as many descriptors, here and in child
/// processes.
///
/// # Errors
/// The limit could not be read or set.
pub(super) fn raise_file_limit() -> Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` lives through the call, which fills it.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err("the limit of open files could not be read".to_owned());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` lives through the call, which reads it; soft = hard is always allowed.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
        return Err("the limit of open files could not be raised".to_owned());
    }
    Ok(())
}

/// Lines that describe the machine.
pub(super) fn facts(cores: Cores) -> Vec<String> {
    let pinning = match (cores.server, cores.client) {
        (Some(server), Some(client)) => format!("server on core {server}, client on core {client}"),
        _ => "nothing pinned".to_owned(),
    };
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        format!("{count} cores, {}; {pinning}", cpu_model()),
        format!("load average when the table was made: {}", load_average()),
        format!("Linux {}", first_line("/proc/sys/kernel/osrelease")),
        exec::capture(Command::new("rustc").arg("--version"))
            .unwrap_or_default()
            .trim()
            .to_owned(),
    ]
}

/// The load average of the last minute; the benchmark itself causes about 2.
fn load_average() -> String {
    let line = first_line("/proc/loadavg");
    line.split(' ').next().unwrap_or_default().to_owned()
}

fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    line.map_or("unknown CPU", |value| {
        value.trim_start_matches([' ', '\t', ':'])
    })
    .to_owned()
}

fn first_line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

//! Processes that listen on a port, for callers that need them before anything is observed.
//!
//! Must not know the purpose. Invariant: of related processes only the topmost listening one is returned.

use std::path::Path;

use super::ProcessTable;
use crate::clock::Clock;

/// A process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its id.
    pub pid: u32,
    /// The name of its command, truncated by the kernel to 15 bytes.
    pub name: String,
}

/// The processes that listen on a TCP port of this machine, by id, except those not visible from here. `proc`
/// is the kernel's folder with processes.
#[must_use]
pub fn listeners(proc: &Path, port: u16, clock: &dyn Clock) -> Vec<Listener> {
    let mut table = ProcessTable::new(proc);
    table.refresh(clock, true);
    let found = table.listening(port, clock);
    let eldest = table.topmost(&found).into_iter();
    let named = eldest.filter_map(|pid| {
        let name = table.files.stat(pid)?.name;
        Some(Listener { pid, name })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::SystemClock;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_its_port_and_no_port_by_nobody() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = socket.local_addr().expect("it is bound").port();
        let here = listeners(Path::new("/proc"), port, &SystemClock::start());
        let pids: Vec<u32> = here.iter().map(|found| found.pid).collect();
        assert_eq!(pids, [std::process::id()]);
        assert!(!here[0].name.is_empty());
        let nowhere = tempfile::tempdir().expect("a folder");
        assert_eq!(listeners(nowhere.path(), port, &SystemClock::start()), []);
    }
}

//! Files of `/proc` (proc(5)).
//!
//! Must not know where the folder is. Invariant: a file in another format gives `None`, never a zero.

use loadline_model::wildcard::fits;

/// The content of `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The process's id.
    pub pid: u32,
    /// The program's name, 15 bytes at most.
    pub name: String,
    /// The state as a letter; `Z` is a zombie.
    pub state: char,
    /// The parent's id.
    pub parent: u32,
    /// User and system time in clock ticks.
    pub cpu_ticks: u64,
    /// User and system time of children that were waited for, in clock ticks.
    pub children_ticks: u64,
    /// Threads.
    pub threads: u64,
    /// Start time, in clock ticks since boot.
    pub start_ticks: u64,
    /// Resident memory in pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Whether it has ended and is only waiting to be reaped by its parent.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Reads `/proc/PID/stat`.
#[must_use]
pub fn process_stat(text: &str) -> Option<ProcessStat> {
    // The name is in parentheses and may itself contain spaces and parentheses.
    let (head, tail) = text.trim_end().rsplit_once(')')?;
    let (pid, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // The first field after the name is number 3 in the manual page.
    let number = |field: usize| -> Option<u64> { fields.get(field - 3)?.parse().ok() };
    let sum = |a: usize, b: usize| number(a)?.checked_add(number(b)?);
    Some(ProcessStat {
        pid: pid.trim().parse().ok()?,
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(number(4)?).ok()?,
        cpu_ticks: sum(14, 15)?,
        children_ticks: sum(16, 17)?,
        threads: number(20)?,
        start_ticks: number(22)?,
        resident_pages: number(24)?,
    })
}

/// The soft limit of open files in `/proc/PID/limits`; `None` also if there is no limit.
#[must_use]
pub fn open_files_limit(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether a process ignores SIGCHLD, according to `/proc/PID/status`: then the CPU time of its children is
/// lost. `None` if the file does not say so.
#[must_use]
pub fn ignores_children(text: &str) -> Option<bool> {
    /// Signal 17, `SIGCHLD`, counted from bit 0 (signal(7), for all but Alpha, MIPS and PA-RISC).
    const SIGCHLD_BIT: u32 = 16;
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> SIGCHLD_BIT & 1 == 1)
}

/// The proportional set size in bytes from `/proc/PID/smaps_rollup`.
#[must_use]
pub fn proportional_bytes(text: &str) -> Option<u64> {
    kibibytes(text, "Pss:")
}

/// The resident memory in bytes from `/proc/PID/status`. It is exact, unlike that in `stat`, which may be off
/// by some hundred pages (proc(5)).
#[must_use]
pub fn resident_bytes(text: &str) -> Option<u64> {
    kibibytes(text, "VmRSS:")
}

/// A field `NAME   n kB` in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// The inodes of sockets that listen on a TCP port, from `/proc/net/tcp` or `tcp6`.
#[must_use]
pub fn listening_inodes(text: &str, port: u16) -> Vec<u64> {
    const LISTEN: &str = "0A";
    let sockets = text.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let local = fields.nth(1)?;
        let state = fields.nth(1)?;
        let (_, hex) = local.rsplit_once(':')?;
        let is_it = state == LISTEN && u16::from_str_radix(hex, 16).ok()? == port;
        // The inode is field 10 of the line, six behind the state.
        is_it.then(|| fields.nth(5)?.parse().ok())?
    });
    sockets.collect()
}

/// The inode in a link `socket:[123]` of `/proc/PID/fd`.
#[must_use]
pub fn socket_inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// The content of `/proc/stat` about the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineStat {
    /// Busy time of the CPUs, in clock ticks.
    pub busy_ticks: u64,
    /// Time that the hypervisor gave to other machines (steal), in clock ticks; included in `busy_ticks`.
    pub stolen_ticks: u64,
    /// CPUs.
    pub processors: u64,
    /// Runnable tasks.
    pub runnable: u64,
}

/// Reads `/proc/stat`.
#[must_use]
pub fn machine_stat(text: &str) -> Option<MachineStat> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guest time is already included in user and nice.
    let busy = |fields: &[usize]| {
        let ticks = fields.iter().filter_map(|at| ticks.get(*at));
        ticks.fold(0_u64, |sum, ticks| sum.saturating_add(*ticks))
    };
    let processors = text.lines().filter(|line| {
        let number = line.strip_prefix("cpu").unwrap_or_default();
        number.starts_with(|c: char| c.is_ascii_digit())
    });
    let running = text
        .lines()
        .find_map(|line| line.strip_prefix("procs_running "))?;
    (ticks.len() >= 4).then_some(MachineStat {
        busy_ticks: busy(&[0, 1, 2, 5, 6, 7]),
        stolen_ticks: busy(&[7]),
        processors: processors.count() as u64,
        runnable: running.trim().parse().ok()?,
    })
}

/// The load average over one minute, from `/proc/loadavg`.
#[must_use]
pub fn load_of_a_minute(text: &str) -> Option<f64> {
    super::finite(text.split_ascii_whitespace().next()?)
}

/// Total and available memory in bytes, from `/proc/meminfo`.
#[must_use]
pub fn memory(text: &str) -> Option<(u64, u64)> {
    Some((
        kibibytes(text, "MemTotal:")?,
        kibibytes(text, "MemAvailable:")?,
    ))
}

/// Bytes received and sent by an interface since it came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceBytes {
    /// Its name.
    pub name: String,
    /// Received.
    pub received: u64,
    /// Sent.
    pub sent: u64,
}

/// Reads `/proc/net/dev`.
#[must_use]
pub fn interfaces(text: &str) -> Vec<InterfaceBytes> {
    let rows = text.lines().filter_map(|line| {
        let (name, counters) = line.split_once(':')?;
        let mut counters = counters.split_ascii_whitespace();
        Some(InterfaceBytes {
            name: name.trim().to_owned(),
            received: counters.next()?.parse().ok()?,
            sent: counters.nth(7)?.parse().ok()?,
        })
    });
    rows.collect()
}

/// A counter in `/proc/net/snmp` or `/proc/net/netstat`: a line of names followed by a line of values, both
/// prefixed with the protocol.
#[must_use]
pub fn protocol_counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut rows = text.lines().filter_map(|line| {
        let (head, rest) = line.split_once(':')?;
        (head == protocol).then_some(rest)
    });
    let (names, values) = (rows.next()?, rows.next()?);
    let place = names
        .split_ascii_whitespace()
        .position(|known| known == name)?;
    values.split_ascii_whitespace().nth(place)?.parse().ok()
}

/// The share of the last ten seconds during which some task waited, from 0 to 1 (pressure stall information).
#[must_use]
pub fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = some
        .split(' ')
        .find_map(|word| word.strip_prefix("avg10="))?;
    Some(super::finite(percent)? / 100.0)
}

/// The first argument in `/proc/PID/cmdline`, whose arguments are separated by NUL bytes.
#[must_use]
pub fn first_argument(text: &str) -> &str {
    text.split('\0').next().unwrap_or_default()
}

/// Programs that run another program: people name such a process after its script. Shells are not included:
/// they start the intended program.
const INTERPRETERS: [&str; 9] = [
    "python", "pypy", "node", "bun", "java", "ruby", "perl", "php", "lua",
];

/// Whether a process has this name: its own name, its first argument, or the last path component of that; for
/// an interpreter also its script. A `*` in the name matches anything.
#[must_use]
pub fn is_called(name: &str, stat_name: &str, command_line: &str) -> bool {
    let first = first_argument(command_line);
    // A program that changed its title wrote a whole sentence there.
    let program = first.split(' ').next().unwrap_or_default();
    let last = last_part(program);
    let script = script(command_line, last).unwrap_or(first);
    [
        stat_name,
        first,
        program,
        last,
        last.trim_end_matches(':'),
        script,
        last_part(script),
    ]
    .iter()
    .any(|called| fits(name, called))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The script, module or archive that an interpreter runs: its first argument that is not an option.
fn script<'a>(command_line: &'a str, program: &str) -> Option<&'a str> {
    let version = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let mut known = INTERPRETERS.iter();
    known.find(|known| program.strip_prefix(**known).is_some_and(version))?;
    let mut arguments = command_line.split('\0').skip(1);
    arguments.find(|argument| !argument.is_empty() && !argument.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_an_awkward_name_is_read() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 5 6 20 0 3 0 99 1000 12 0\n";
        let stat = process_stat(text).unwrap();
        assert_eq!(
            (stat.pid, stat.name.as_str(), stat.parent),
            (7, "a) b (c", 1)
        );
        assert_eq!((stat.cpu_ticks, stat.children_ticks), (200, 11));
        assert_eq!(
            (stat.threads, stat.start_ticks, stat.resident_pages),
            (3, 99, 12)
        );
        assert_eq!(stat.state, 'S');
        for other in ["", "7 (a) S", "7 a S 1", "x (a) S 1 7"] {
            assert_eq!(process_stat(other), None);
        }
    }

    #[test]
    fn listeners_of_a_port_are_found() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n\
            1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0\n\
            2: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0\n";
        assert_eq!(listening_inodes(text, 8080), [4711]);
        assert_eq!(listening_inodes("", 8080), Vec::<u64>::new());
        assert_eq!(socket_inode("socket:[4711]"), Some(4711));
        assert_eq!(socket_inode("pipe:[4711]"), None);
    }

    #[test]
    fn the_machine_is_read() {
        let text =
            "cpu  10 1 5 100 7 2 3 4 9 9\ncpu0 5 0 0 0\ncpu1 5 0 0 0\nintr 5\nprocs_running 3\n";
        let stat = machine_stat(text).unwrap();
        assert_eq!((stat.busy_ticks, stat.stolen_ticks), (25, 4));
        assert_eq!((stat.processors, stat.runnable), (2, 3));
        assert_eq!(machine_stat("cpu 1 2\nprocs_running 3\n"), None);
        let most = format!("cpu {0} {0} 0 0\nprocs_running 3\n", u64::MAX);
        assert_eq!(machine_stat(&most).unwrap().busy_ticks, u64::MAX);
        assert_eq!(load_of_a_minute("0.50 1 2 3/4 5\n"), Some(0.5));
        let text = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n";
        assert_eq!(memory(text), Some((1_024_000, 409_600)));
    }

    #[test]
    fn counters_of_the_network_are_read() {
        let text = "Inter-|   Receive\n face |bytes\n  lo: 10 1 0 0 0 0 0 0 20 1 0\neth0:30 1 0 0 0 0 0 0 40 1\n";
        let all = interfaces(text);
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[1].name.as_str(), all[1].received, all[1].sent),
            ("eth0", 30, 40)
        );
        let text = "Ip: A B\nIp: 1 2\nTcp: X RetransSegs\nTcp: 5 7\n";
        assert_eq!(protocol_counter(text, "Tcp", "RetransSegs"), Some(7));
        assert_eq!(protocol_counter(text, "Udp", "RetransSegs"), None);
    }

    #[test]
    fn pressure_is_a_ratio() {
        let text =
            "some avg10=12.50 avg60=1 avg300=0 total=9\nfull avg10=0.00 avg60=0 avg300=0 total=0\n";
        assert_eq!(pressure(text), Some(0.125));
        assert_eq!(pressure("full avg10=1"), None);
    }

    #[test]
    fn scripts_are_known_by_their_name() {
        for (line, name, is) in [
            (
                "/usr/bin/python3.12\0-u\0/srv/flaskapp.py\0--port\080\0",
                "flaskapp.py",
                true,
            ),
            ("python3\0-m\0flask\0run\0", "flask", true),
            ("/usr/bin/node\0server.js\0", "server.js", true),
            ("java\0-Xmx1g\0-jar\0/opt/gateway.jar\0", "gateway*", true),
            ("python3\0/srv/flaskapp.py\0", "python3", true),
            ("python3\0/srv/flaskapp.py\0", "flaskapp", false),
            // Another program's argument is no name of it.
            ("/usr/bin/vim\0/srv/flaskapp.py\0", "flaskapp.py", false),
            ("python3\0", "", false),
        ] {
            assert_eq!(is_called(name, "x", line), is, "{line} {name}");
        }
    }

    #[test]
    fn programs_are_known_by_name_and_by_first_argument() {
        assert!(is_called("nginx", "nginx", "nginx: worker process\0"));
        assert!(is_called(
            "api-server",
            "api-server-long",
            "/opt/api-server\0--x\0"
        ));
        assert!(is_called(
            "nginx",
            "other",
            "nginx: master process nginx -c x"
        ));
        assert!(!is_called("nginx", "bash", "bash\0nginx\0"));
    }

    #[test]
    fn limits_and_shares_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max open files            1024                 4096                 files\n";
        assert_eq!(open_files_limit(text), Some(1024));
        assert_eq!(
            open_files_limit("Max open files unlimited unlimited files"),
            None
        );
        assert_eq!(resident_bytes("VmHWM: 9 kB\nVmRSS:\t  2 kB\n"), Some(2_048));
        assert_eq!(
            proportional_bytes("Rss: 9 kB\nPss:     3 kB\n"),
            Some(3_072)
        );
    }

    #[test]
    fn who_ignores_the_end_of_children_is_known() {
        let status = |mask: &str| format!("Name:\tx\nSigIgn:\t{mask}\nSigCgt:\t0\n");
        assert_eq!(ignores_children(&status("0000000000010000")), Some(true));
        assert_eq!(ignores_children(&status("0000000000001000")), Some(false));
        assert_eq!(ignores_children(&status("x")), None);
        assert_eq!(ignores_children("Name: x\n"), None);
    }
}

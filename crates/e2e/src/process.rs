//! Starts the binary under test, sends it signals, and reads its streams to the end.
//!
//! Must not know what the binary does. Invariant: a child never outlives the test, and one that hangs fails it
//! instead of blocking it.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock;

/// Timeout of a command: far more than any of them needs, so that only a hang reaches it.
pub const TIME_MAX: Duration = Duration::from_secs(60);

/// A command that starts the binary under test, in a neutral environment: no proxies, no colours.
///
/// # Panics
/// `LOADLINE_BIN` is not set. `cargo xtask ci --only e2e` builds the release binary and sets it.
#[must_use]
pub fn loadline() -> Command {
    neutral(Command::new(binary()))
}

/// The same, started by a shell script that ends in `exec "$0" "$@"`: for limits and namespaces.
///
/// # Panics
/// As [`loadline`].
#[must_use]
pub fn loadline_under(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(binary());
    neutral(command)
}

/// Runs the binary to its end and returns both streams and the exit code.
///
/// # Panics
/// The binary could not be started, or does not end.
pub fn run<I, S>(arguments: I) -> Output
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = loadline();
    command.args(arguments);
    run_to_end(command)
}

/// Runs a command to its end, within [`TIME_MAX`].
///
/// # Panics
/// The command could not be started, or does not end.
#[must_use]
pub fn run_to_end(command: Command) -> Output {
    Running::start(command).finish()
}

/// The path of the binary under test.
///
/// # Panics
/// `LOADLINE_BIN` is not set.
#[must_use]
pub fn binary() -> std::ffi::OsString {
    std::env::var_os("LOADLINE_BIN").expect("LOADLINE_BIN names the binary under test")
}

/// The command in a neutral environment: no settings of loadline or k6, no proxies, no colours.
#[must_use]
pub fn neutral(mut command: Command) -> Command {
    command.env("NO_COLOR", "1");
    // Leftovers of a killed run must not be in the home of the user who runs the tests.
    command.env(
        "XDG_STATE_HOME",
        std::env::temp_dir().join("loadline-e2e-state"),
    );
    for (name, _) in std::env::vars_os() {
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(b"K6_") || bytes.starts_with(b"LOADLINE_") {
            command.env_remove(&name);
        }
    }
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(proxy).env_remove(proxy.to_uppercase());
    }
    command
}

/// Whether a program can be started, searching `PATH` and the folders of system programs.
#[must_use]
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .any(|folder| folder.join(name).is_file())
}

/// A process whose streams are read while it runs.
pub struct Running {
    child: Child,
    out: Option<Stream>,
    err: Option<Stream>,
}

/// The bytes read from a stream so far, and the reading thread.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Starts a command with no standard input.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn start(mut command: Command) -> Running {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|why| panic!("{command:?} can be started: {why}"));
        let out = child.stdout.take().map(reader);
        let err = child.stderr.take().map(reader);
        Running { child, out, err }
    }

    /// Sends a signal, such as `libc::SIGINT`.
    pub fn signal(&self, signal: i32) {
        send(self.child.id(), signal);
    }

    /// The PIDs of its running children, oldest first.
    #[must_use]
    pub fn children(&self) -> Vec<u32> {
        let parent = self.child.id().to_string();
        let is_child = |process: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // After the name, which may contain anything: state, parent.
            let mut behind = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            behind.next() != Some("Z") && behind.next() == Some(&*parent)
        };
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut children: Vec<u32> = numbers.filter(is_child).collect();
        children.sort_unstable();
        children
    }

    /// What it has written to standard error so far.
    #[must_use]
    pub fn errors_so_far(&self) -> String {
        text_so_far(self.err.as_ref())
    }

    /// What it has written to standard output so far.
    #[must_use]
    pub fn output_so_far(&self) -> String {
        text_so_far(self.out.as_ref())
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// It does not end within [`TIME_MAX`].
    #[must_use]
    pub fn finish(self) -> Output {
        self.finish_measured().0
    }

    /// Waits for the end; returns also the maximum memory of the process in bytes.
    ///
    /// # Panics
    /// It does not end within [`TIME_MAX`].
    #[must_use]
    pub fn finish_measured(mut self) -> (Output, u64) {
        let rss_max = self.wait_measured();
        let status = self.wait();
        let text = |stream: Option<Stream>| {
            stream.map_or_else(Vec::new, |stream| {
                stream.thread.join().expect("a reader ends");
                std::mem::take(&mut *lock(&stream.bytes))
            })
        };
        let output = Output {
            status,
            stdout: text(self.out.take()),
            stderr: text(self.err.take()),
        };
        (output, rss_max)
    }

    /// Waits for the end without reaping the process.
    fn wait_measured(&self) -> u64 {
        clock::wait_for(TIME_MAX, || rss_max_of_ended(self.child.id()))
            .unwrap_or_else(|| panic!("it hangs: not ended after {TIME_MAX:?}"))
    }

    fn wait(&mut self) -> ExitStatus {
        let child = &mut self.child;
        let ended = clock::wait_for(TIME_MAX, || child.try_wait().expect("a child can be asked"));
        ended.unwrap_or_else(|| panic!("it hangs: not ended after {TIME_MAX:?}"))
    }
}

fn text_so_far(stream: Option<&Stream>) -> String {
    let bytes = stream.map(|stream| lock(&stream.bytes).clone());
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

/// The maximum memory of a child in bytes; `None` while it runs.
fn rss_max_of_ended(process: u32) -> Option<u64> {
    // SAFETY: both consist of plain numbers, for which zeros are valid.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: both pointers are valid for the call, which the library's own function makes without the last of
    // them.
    let asked = unsafe {
        let (info, usage) = (&raw mut info, &raw mut usage);
        libc::syscall(libc::SYS_waitid, libc::P_PID, process, info, how, usage)
    };
    // SAFETY: the call has filled it in, with zeros while the child runs.
    let has_ended = asked == 0 && unsafe { info.si_pid() } != 0;
    has_ended.then(|| u64::try_from(usage.ru_maxrss).unwrap_or_default() << 10)
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a child that may have ended already.
pub(crate) fn end(child: &mut Child) {
    // Both only fail if the child has ended, which is the goal.
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends a signal to a process that the caller started and has not waited for.
///
/// # Panics
/// The process has ended.
pub fn send(process: u32, signal: i32) {
    let process = i32::try_from(process).expect("a process number fits");
    // SAFETY: kill takes two numbers and touches no memory of ours.
    let outcome = unsafe { libc::kill(process, signal) };
    assert_eq!(outcome, 0, "signal {signal} reaches process {process}");
}

fn reader(mut stream: impl Read + Send + 'static) -> Stream {
    let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
    let all = Arc::clone(&bytes);
    let thread = std::thread::spawn(move || {
        let mut part = [0; 8192];
        // If a stream fails, the bytes before that are kept.
        while let Ok(read @ 1..) = stream.read(&mut part) {
            lock(&all).extend_from_slice(&part[..read]);
        }
    });
    Stream { bytes, thread }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().expect("nothing panics under it")
}

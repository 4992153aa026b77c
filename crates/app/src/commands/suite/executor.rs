//! Runs of a suite as processes of this same binary.
//!
//! Must not know suites. Invariants: a process ends with the suite, however that dies; a signal is passed on
//! once, because the process has its own group and does not get the terminal's signals.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_model::audit::AUDITS_VARIABLE;
use loadline_suite::runner::{Beat, ExecuteError, Executor, RunFiles, RunOrder};

use super::wish::Wish;
use crate::environment::RESULT_FILE;
use crate::observers;

/// Interval for checking whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Interval of heartbeats.
const BEAT: Duration = Duration::from_secs(1);
/// How long a process may take to end after a request before it is killed.
const GRACE: Duration = Duration::from_secs(60);
/// Bytes at the end of a log that are searched for the last line.
const LAST_LINE: u64 = 4_096;
/// Number of stop requests after which a process is not asked any more.
const PATIENCE: u32 = 3;
/// The variable with the location of a process's journal.
const JOURNAL: &str = "LOADLINE_JOURNAL";

/// Starts processes.
pub(super) struct Processes {
    /// This binary.
    pub(super) binary: PathBuf,
    /// The suite file's folder.
    pub(super) folder: PathBuf,
    pub(super) wish: Arc<Wish>,
    pub(super) clock: Clock,
}

impl Executor for Processes {
    fn run(
        &mut self,
        order: &RunOrder,
        beat: &mut dyn FnMut(Beat),
    ) -> Result<RunFiles, ExecuteError> {
        let failed = |what: &Path, error: &io::Error| ExecuteError {
            why: format!("{}: {error}", what.display()),
        };
        let log = File::create(&order.log).map_err(|error| failed(&order.log, &error))?;
        let mut child = self
            .command(order, log)
            .and_then(|mut command| command.spawn())
            .map_err(|error| failed(&self.binary, &error))?;
        let watched = self.watch(&mut child, order, beat);
        watched.map_err(|error| failed(&self.binary, &error))
    }

    fn should_stop(&self) -> bool {
        self.wish.times() > 0
    }
}

impl Processes {
    fn command(&self, order: &RunOrder, log: File) -> io::Result<Command> {
        let mut command = Command::new(&self.binary);
        command
            .args(&order.command)
            .envs(&order.env)
            .env(RESULT_FILE, &order.result)
            .env(JOURNAL, &order.journal)
            .env(AUDITS_VARIABLE, &order.audits)
            .env_remove(observers::FILE)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        if let Some(observe) = &order.observe {
            command.env(observers::FILE, observe);
        }
        if let Some(tail) = order.tail {
            command.env(observers::TAIL, format!("{}ms", tail.as_millis()));
        }
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        end_with_parent(&mut command);
        Ok(command)
    }

    /// Waits for the end, passes stop requests on, and emits heartbeats.
    fn watch(
        &self,
        child: &mut Child,
        order: &RunOrder,
        beat: &mut dyn FnMut(Beat),
    ) -> io::Result<RunFiles> {
        let start = self.clock.now();
        let mut next_beat = BEAT;
        let mut handed_on = 0;
        let mut timed_out_at: Option<Duration> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(RunFiles {
                    exit_code: status.code(),
                    timed_out: timed_out_at.is_some(),
                });
            }
            let elapsed = Duration::from_nanos(self.clock.now().0.saturating_sub(start.0));
            while handed_on < self.wish.times() {
                handed_on += 1;
                let signal = if handed_on < PATIENCE {
                    libc::SIGINT
                } else {
                    libc::SIGKILL
                };
                send(child, signal);
            }
            match (order.time_limit, timed_out_at) {
                (Some(limit), None) if elapsed >= limit => {
                    timed_out_at = Some(elapsed);
                    send(child, libc::SIGINT);
                }
                (_, Some(at)) if elapsed >= at + GRACE => send(child, libc::SIGKILL),
                _ => {}
            }
            if elapsed >= next_beat {
                next_beat = elapsed + BEAT;
                beat(Beat {
                    elapsed,
                    line: last_line(&order.log),
                });
            }
            self.wish.wait(LOOK);
        }
    }
}

/// Makes the system kill the process when the thread that started it is gone: a killed suite leaves no load
/// behind.
fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only async-signal-safe calls are allowed: prctl and getppid are plain
    // system calls, and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The suite may have died before that.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
}

fn send(child: &Child, signal: libc::c_int) {
    if let Ok(pid) = libc::pid_t::try_from(child.id()) {
        // SAFETY: kill only takes numbers; the child was not waited for, so its number is still its own.
        unsafe { libc::kill(pid, signal) };
    }
}

/// The last non-empty line of a log; progress lines end with carriage returns.
fn last_line(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_LINE)))
        .ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.split(['\n', '\r']);
    let last = lines.rfind(|line| !line.trim().is_empty())?;
    Some(last.trim().to_owned())
}

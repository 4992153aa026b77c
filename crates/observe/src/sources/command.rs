//! `command`: a number printed by a program.
//!
//! Must not know what the program does. Invariants: no shell unless requested; a program that takes too long, or that
//! nobody waits for any more, is killed with its whole process group.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Counter, Source, Tick, only};
use crate::clock::{Clock, nanoseconds};
use crate::parse::{finite, shown};
use crate::programs::Programs;
use crate::readings::{Gap, Readings};
use crate::spec::CommandSettings;

/// Bytes kept of a program's output; the last ones.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Polling interval while waiting for the exit of a program that closed its output.
const EXIT_POLL: Duration = Duration::from_millis(5);

/// Runs a program.
pub(super) struct CommandSource {
    words: Vec<String>,
    metric: String,
    timeout: Duration,
    programs: Arc<Programs>,
}

/// What a program printed.
struct Printed {
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl CommandSource {
    pub(super) fn new(
        settings: &CommandSettings,
        timeout: Duration,
        programs: &Arc<Programs>,
    ) -> Result<CommandSource, String> {
        Ok(CommandSource {
            words: settings.words()?,
            metric: settings.metric.clone(),
            timeout,
            programs: Arc::clone(programs),
        })
    }

    fn number(&self, clock: &dyn Clock) -> Result<f64, Gap> {
        let program = &self.words[0];
        let mut child = self
            .start()
            .map_err(|error| Gap(format!("{program} cannot be run: {error}")))?;
        let printed = match listen(&mut child) {
            Ok(printed) => printed,
            Err(error) => {
                self.programs.end(&mut child);
                return Err(Gap(format!(
                    "the output of {program} cannot be read: no thread for it: {error}; raise the limits of processes, such as ulimit -u"
                )));
            }
        };
        let begun = clock.unix_ns();
        let printed = match printed.recv_timeout(self.timeout) {
            Ok(printed) => printed,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.programs.end(&mut child);
                let timeout = self.timeout;
                return Err(Gap(format!(
                    "{program} took longer than {timeout:?} and was killed"
                )));
            }
        };
        let deadline = begun.saturating_add(nanoseconds(self.timeout));
        let status = self.status(&mut child, clock, deadline)?;
        if self.programs.have_ended() && !status.success() {
            return Err(Gap(format!("the run ended before {program} did")));
        }
        if !status.success() {
            let errors = String::from_utf8_lossy(&printed.errors);
            return Err(Gap(format!(
                "{program} ended with {status}: {}",
                shown(&errors)
            )));
        }
        let text = String::from_utf8_lossy(&printed.output);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.and_then(finite)
            .ok_or_else(|| Gap(format!("{program} printed no number: {}", shown(&text))))
    }

    fn start(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.programs.start(&mut command)
    }

    /// Waits for the exit of a program that has closed its output.
    fn status(
        &self,
        child: &mut Child,
        clock: &dyn Clock,
        deadline_unix_ns: u64,
    ) -> Result<ExitStatus, Gap> {
        loop {
            match self.programs.status(child) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if clock.unix_ns() < deadline_unix_ns => {
                    std::thread::park_timeout(EXIT_POLL);
                }
                Ok(None) | Err(_) => {
                    self.programs.end(child);
                    return Err(Gap(format!("{} did not end and was killed", self.words[0])));
                }
            }
        }
    }
}

/// Reads a program's output on threads that end with it.
///
/// # Errors
/// The system has no threads for it.
fn listen(child: &mut Child) -> std::io::Result<Receiver<Printed>> {
    let (sender, receiver) = sync_channel(1);
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    // Both at once: a program that prints a lot on one stream must not block on the other.
    let errors = on_thread(move || errors.map(last_bytes).unwrap_or_default())?;
    on_thread(move || {
        let printed = Printed {
            output: output.map(last_bytes).unwrap_or_default(),
            errors: errors.join().unwrap_or_default(),
        };
        // Nobody is listening any more if it took too long.
        let _ = sender.send(printed);
    })?;
    Ok(receiver)
}

fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<JoinHandle<T>> {
    let thread = std::thread::Builder::new().name("observe-command".to_owned());
    thread.spawn(work)
}

/// Reads a stream to its end and keeps the last part. Output before a failure is used as it is.
fn last_bytes(mut pipe: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    while let Ok(1..) = pipe
        .by_ref()
        .take(KEPT_BYTES_MAX as u64)
        .read_to_end(&mut kept)
    {
        let surplus = kept.len().saturating_sub(KEPT_BYTES_MAX);
        kept.drain(..surplus);
    }
    kept
}

impl Source for CommandSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let number = self.number(tick.clock)?;
        readings.read_at(tick.clock.unix_ns());
        readings.own(&self.metric, number);
        Ok(())
    }
}

impl Counter for CommandSource {
    fn totals(&mut self, tick: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
        self.number(tick.clock).map(only)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::clock::SystemClock;

    fn number(run: &str, shell: bool, timeout: Duration) -> Result<f64, Gap> {
        let source = source(run, shell, timeout, &Arc::default());
        source.number(&SystemClock::start())
    }

    fn source(
        run: &str,
        shell: bool,
        timeout: Duration,
        programs: &Arc<Programs>,
    ) -> CommandSource {
        let settings = CommandSettings {
            run: vec![run.to_owned()],
            shell,
            metric: "value".to_owned(),
        };
        CommandSource::new(&settings, timeout, programs).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_last_line_is_the_number() {
        assert_eq!(number("printf 'a\\n 7.5 \\n\\n'", false, LONG), Ok(7.5));
        assert_eq!(number("echo $((3 * 4))", true, LONG), Ok(12.0));
    }

    #[test]
    fn much_that_is_printed_before_the_number_is_read_and_left_out() {
        let much = "yes 7 | head -n 200000";
        assert_eq!(number(&format!("{much}; echo 8"), true, LONG), Ok(8.0));
        assert_eq!(number(&format!("{much} >&2; echo 9"), true, LONG), Ok(9.0));
    }

    #[test]
    fn without_a_shell_nothing_is_expanded() {
        let gap = number("echo $HOME", false, LONG).unwrap_err().0;
        assert!(gap.contains("$HOME"), "{gap}");
    }

    #[test]
    fn failures_are_gaps() {
        let gap = number("echo no >&2; exit 3", true, LONG).unwrap_err().0;
        assert!(gap.contains('3') && gap.contains("no"), "{gap}");
        let gap = number("no-such-program-here", false, LONG).unwrap_err().0;
        assert!(gap.contains("cannot be run"), "{gap}");
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pid");
        let run = format!("sleep 60 & echo $! > {}; wait", file.display());
        let gap = number(&run, true, Duration::from_millis(300))
            .unwrap_err()
            .0;
        assert!(gap.contains("was killed"), "{gap}");
        assert!(is_gone(&file));
    }

    #[test]
    fn a_program_that_nobody_waits_for_is_killed_with_its_children_and_none_follows() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pid");
        let run = format!("sleep 60 & echo $! > {}; wait", file.display());
        let programs = Arc::default();
        let source = source(&run, true, LONG, &programs);
        let gap = std::thread::scope(|scope| {
            let reading = scope.spawn(|| source.number(&SystemClock::start()));
            while !std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')) {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            programs.end_all();
            reading.join().unwrap().unwrap_err().0
        });
        assert_eq!(gap, "the run ended before /bin/sh did");
        assert!(is_gone(&file));
        let gap = source.number(&SystemClock::start()).unwrap_err().0;
        assert_eq!(gap, "/bin/sh cannot be run: the run has ended");
    }

    /// Whether the process whose identifier a file holds ends within a moment.
    fn is_gone(file: &Path) -> bool {
        let pid = std::fs::read_to_string(file).unwrap();
        let stat = Path::new("/proc").join(pid.trim()).join("stat");
        let gone = || match std::fs::read_to_string(&stat) {
            Ok(text) => text.contains(") Z "),
            Err(_) => true,
        };
        let deadline = 2_000;
        (0..deadline).any(|_| {
            std::thread::park_timeout(Duration::from_millis(1));
            gone()
        })
    }
}

//! One child process: start, messages, output, end.
//!
//! It must not know what the process does. Invariant: the child is always reaped, by the thread that reads its
//! output; dropping the value closes the child's input, which ends it.

use crate::testbed::message::{Order, Said, line};
use crate::testbed::plan::PartPlan;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// How the program is started again as one process of the testbed.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// Which process something is about: of a component by number, and of all that were ever started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) component: usize,
    pub(super) replica: usize,
    pub(super) generation: u64,
}

/// What happened to a process.
pub(super) enum Event {
    Said(Who, Said),
    Gone(Who, io::Result<ExitStatus>),
}

/// A running child.
pub(super) struct Process {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    pub(super) id: u32,
}

impl Process {
    /// Starts a process; what it says comes as events.
    ///
    /// # Errors
    /// When the system gives no more processes.
    pub(super) fn start(
        launch: &Launch,
        plan: &PartPlan,
        who: Who,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .arg(format!("{}/{}", plan.component, plan.replica))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Ctrl-C is for the supervisor, which stops the others in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        let theirs = Arc::clone(&child);
        std::thread::Builder::new()
            .name(format!("reads-{id}"))
            .spawn(move || listen(output, &theirs, who, &events))?;
        let mut process = Self { child, input, id };
        process.write(&line(plan));
        Ok(process)
    }

    /// Sends a command. If that fails, it is not needed: the process is gone.
    pub(super) fn tell(&mut self, order: &Order) {
        self.write(&line(order));
    }

    fn write(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            drop(input.write_all(line.as_bytes()));
        }
    }

    /// Ends the process at once.
    pub(super) fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // It fails only for a child that is gone.
        drop(child.kill());
    }
}

fn listen(output: Option<ChildStdout>, child: &Mutex<Child>, who: Who, events: &Sender<Event>) {
    let lines = output
        .into_iter()
        .flat_map(|output| BufReader::new(output).lines());
    for line in lines.map_while(Result::ok) {
        if let Ok(said) = serde_json::from_str(&line) {
            // Nobody listens when the testbed is over.
            drop(events.send(Event::Said(who, said)));
        }
    }
    let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
    drop(events.send(Event::Gone(who, status)));
}

/// How a process ended, in words.
pub(super) fn in_words(status: &io::Result<ExitStatus>, out_of_memory: bool) -> String {
    if out_of_memory {
        return "out of memory: killed, exit code 137".to_owned();
    }
    match status {
        Err(error) => format!("unknown: {error}"),
        Ok(status) => match (status.code(), signal(*status)) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "unknown".to_owned(),
        },
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

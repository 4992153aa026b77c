//! What a thread needs from outside: time, chance, files, properties, the log.
//!
//! Must not know who provides it. Invariant: nothing in here waits.

use std::sync::Arc;

use crate::sample::Sample;
use crate::variables::Variables;

/// How grave a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// For whoever looks for a fault.
    Debug,
    /// What is done.
    Info,
    /// Something is odd, and the thread goes on.
    Warn,
    /// Something failed.
    Error,
}

/// What a script sees and changes of a thread.
pub struct ScriptBindings<'a> {
    /// The thread's variables.
    pub variables: &'a mut Variables,
    /// The thread's name.
    pub thread_name: &'a str,
    /// The thread's number within its group, from 1.
    pub thread_number: u32,
    /// The sample that came last; `None` before the first.
    pub previous: Option<&'a Sample>,
    /// The name of the sampler that is being made ready, or was just run.
    pub sampler: &'a str,
}

/// What a thread needs from outside.
pub trait Host {
    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&self) -> i64;

    /// Seconds that the local time zone is ahead of UTC at an instant (milliseconds since 1970).
    fn utc_offset_s(&self, unix_ms: i64) -> i32;

    /// A random number, all 64 bits of which are random.
    fn random(&self) -> u64;

    /// All properties, by name.
    fn properties(&self) -> Vec<(String, String)>;

    /// Threads that are at work: of a group, by its place in the program, and of all.
    fn threads_at_work(&self, group: usize) -> (u32, u32);

    /// The value of a property (of JMeter, not of the system); `None`: there is none.
    fn property(&self, name: &str) -> Option<String>;

    /// Sets a property for all threads; gives what it was.
    fn set_property(&self, name: &str, value: &str) -> Option<String>;

    /// The bytes of a file; names that are not absolute are looked for in the working directory, then beside
    /// the plan. The same bytes are given out again for as long as the run lasts.
    ///
    /// # Errors
    /// Why it cannot be read, in words for the user.
    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, String>;

    /// Writes or appends to a file.
    ///
    /// # Errors
    /// Why it cannot be written, in words for the user.
    fn write_file(&self, name: &str, bytes: &[u8], append: bool) -> Result<(), String>;

    /// A variable of the environment; `None`: there is none.
    fn environment(&self, name: &str) -> Option<String>;

    /// The folder that the plan lies in.
    fn plan_folder(&self) -> String {
        ".".to_owned()
    }

    /// Runs a script of JavaScript, and gives the text of its value.
    ///
    /// # Errors
    /// The exception that it throws, in words for the log.
    fn javascript(&self, source: &str, bindings: ScriptBindings<'_>) -> Result<String, String> {
        let _ = (source, bindings);
        Err("JavaScript is not available here".to_owned())
    }

    /// Name and address of this machine.
    fn machine(&self) -> (String, String);

    /// Writes a line to the log, under the name of the class that JMeter would log it under.
    fn log(&self, level: LogLevel, class: &str, message: &str);
}

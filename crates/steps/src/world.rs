//! The machine that threads run on: files, properties, the environment, the log.
//!
//! Must not know who provides it. Invariant: nothing in here waits.

use std::sync::Arc;

pub use loadline_groovy::host::FileFacts;

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

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The system's words, such as `Is a directory`.
    pub why: String,
    /// The same with the file's name and what to do, for the user.
    pub told: String,
}

impl From<FileFault> for String {
    fn from(fault: FileFault) -> String {
        fault.told
    }
}

/// The machine that threads run on, the same for all of them.
pub trait World {
    /// Seconds that the local time zone is ahead of UTC at an instant (milliseconds since 1970).
    fn utc_offset_s(&self, unix_ms: i64) -> i32;

    /// All properties, by name.
    fn properties(&self) -> Vec<(String, String)>;

    /// The value of a property, of JMeter or else of Java; `None`: there is none.
    fn property(&self, name: &str) -> Option<String>;

    /// The value of a property of JMeter alone, as scripts see it in `props`.
    fn own_property(&self, name: &str) -> Option<String> {
        self.property(name)
    }

    /// Sets a property for all threads; gives what it was.
    fn set_property(&self, name: &str, value: &str) -> Option<String>;

    /// The bytes of a file; names that are not absolute are looked for in the working directory, then beside
    /// the plan. The same bytes are given out again for as long as the run lasts.
    ///
    /// # Errors
    /// Why it cannot be read, in words for the user.
    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, FileFault>;

    /// Writes or appends to a file; folders above it are made.
    ///
    /// # Errors
    /// Why it cannot be written, in words for the user.
    fn write_file(&self, name: &str, bytes: &[u8], append: bool) -> Result<(), String>;

    /// Removes a property; gives what it was.
    fn remove_property(&self, name: &str) -> Option<String> {
        self.set_property(name, "")
    }

    /// What a file is; `None`: there is none.
    fn file_facts(&self, _: &str) -> Option<FileFacts> {
        None
    }

    /// The names in a folder, sorted; `None`: there is no such folder.
    fn folder(&self, _: &str) -> Option<Vec<String>> {
        None
    }

    /// Makes a folder and those above it; whether it was made.
    fn make_folder(&self, _: &str) -> bool {
        false
    }

    /// Removes a file or an empty folder; whether it was removed.
    fn remove_file(&self, _: &str) -> bool {
        false
    }

    /// Gives a file another name; whether it has it.
    fn rename_file(&self, _: &str, _: &str) -> bool {
        false
    }

    /// A variable of the environment; `None`: there is none.
    fn environment(&self, name: &str) -> Option<String>;

    /// The folder that the plan lies in.
    fn plan_folder(&self) -> String;

    /// Name and address of this machine.
    fn machine(&self) -> (String, String);

    /// Writes a line to the log, under the name of the class that JMeter would log it under.
    fn log(&self, level: LogLevel, class: &str, message: &str);

    /// Prints a text as it is, as on standard output; where that is not the plan's, it becomes a line of the log.
    fn print(&self, class: &str, text: &str) {
        let line = text.strip_suffix('\n').unwrap_or(text);
        self.log(LogLevel::Info, class, line);
    }
}

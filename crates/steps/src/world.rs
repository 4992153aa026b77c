//! The machine that threads run on: files, properties, the environment, the log.
//!
//! Must not know who provides it. Invariant: nothing in here blocks.

use std::sync::Arc;

pub use loadline_groovy::host::{FileFacts, WriteMode};

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For debugging.
    Debug,
    /// Informational.
    Info,
    /// Something is odd, but the thread continues.
    Warn,
    /// Something failed.
    Error,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The system's error, such as `Is a directory`.
    pub why: String,
    /// The same for the user, with the file's name and the next step.
    pub told: String,
}

impl From<FileFault> for String {
    fn from(fault: FileFault) -> String {
        fault.told
    }
}

/// The machine that threads run on, the same for all of them.
pub trait World {
    /// The local time zone's offset from UTC in seconds at an instant (milliseconds since 1970); positive:
    /// ahead.
    fn utc_offset_s(&self, unix_ms: i64) -> i32;

    /// All properties, by name.
    fn properties(&self) -> Vec<(String, String)>;

    /// The value of a property of JMeter, or otherwise of Java; `None`: not set.
    fn property(&self, name: &str) -> Option<String>;

    /// The value of a property of only JMeter, as scripts see it in `props`.
    fn own_property(&self, name: &str) -> Option<String> {
        self.property(name)
    }

    /// Sets a property for all threads; returns the previous value.
    fn set_property(&self, name: &str, value: &str) -> Option<String>;

    /// The current bytes of a file; relative names are searched in the working directory, then in the plan's folder.
    ///
    /// # Errors
    /// It cannot be read; in words for the user.
    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, FileFault>;

    /// Writes to a file; it and missing parent folders are created.
    ///
    /// # Errors
    /// It cannot be written; in words for the user.
    fn write_file(&self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String>;

    /// Removes a property; returns its previous value.
    fn remove_property(&self, name: &str) -> Option<String> {
        self.set_property(name, "")
    }

    /// The type and attributes of a file; `None`: it does not exist.
    fn file_facts(&self, _: &str) -> Option<FileFacts> {
        None
    }

    /// The names in a folder, sorted; `None`: it does not exist.
    fn folder(&self, _: &str) -> Option<Vec<String>> {
        None
    }

    /// Creates a folder with its parents; returns whether it was created.
    fn make_folder(&self, _: &str) -> bool {
        false
    }

    /// Removes a file or an empty folder; returns whether it was removed.
    fn remove_file(&self, _: &str) -> bool {
        false
    }

    /// Renames a file; returns whether it succeeded.
    fn rename_file(&self, _: &str, _: &str) -> bool {
        false
    }

    /// An environment variable; `None`: not set.
    fn environment(&self, name: &str) -> Option<String>;

    /// The folder of the plan.
    fn plan_folder(&self) -> String;

    /// Name and address of this machine.
    fn machine(&self) -> (String, String);

    /// Writes a line to the log, with the logger class that JMeter would use.
    fn log(&self, level: LogLevel, class: &str, message: &str);

    /// Prints a text unchanged, as on standard output; if that is not available to the plan, it becomes a line
    /// of the log.
    fn print(&self, class: &str, text: &str) {
        let line = text.strip_suffix('\n').unwrap_or(text);
        self.log(LogLevel::Info, class, line);
    }
}

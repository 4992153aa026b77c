//! The environment of a script.
//!
//! Must not know who provides it. Invariant: nothing in here blocks the operating system's thread.

use std::sync::Arc;

/// The type and attributes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its length in bytes.
    pub bytes: u64,
    /// Modification time in milliseconds since 1970.
    pub changed_ms: i64,
}

/// What becomes of the content of a file that is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// It is replaced.
    Replace,
    /// It is kept, and followed by what is written.
    Append,
}

impl WriteMode {
    /// From a script's wish.
    #[must_use]
    pub fn appending(appends: bool) -> WriteMode {
        match appends {
            true => WriteMode::Append,
            false => WriteMode::Replace,
        }
    }
}

/// The environment of a script.
pub trait Host {
    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&mut self) -> i64;

    /// A random number, all 64 bits of which are random.
    fn random(&mut self) -> u64;

    /// The local time zone's offset from UTC in seconds at an instant (milliseconds since 1970); positive:
    /// ahead.
    fn utc_offset_s(&mut self, unix_ms: i64) -> i32;

    /// Why the script must end now; `None`: it may continue.
    fn must_end(&mut self) -> Option<String>;

    /// Sleeps; what is at work elsewhere goes on meanwhile, if the host can let it.
    fn sleep(&mut self, ms: u64);

    /// Prints a text, as on standard output.
    fn print(&mut self, text: &str);

    /// The current bytes of a file.
    ///
    /// # Errors
    /// The system's error, such as `No such file or directory`.
    fn read_file(&mut self, name: &str) -> Result<Arc<[u8]>, String>;

    /// Writes to a file, which is made if it does not exist.
    ///
    /// # Errors
    /// The system's error.
    fn write_file(&mut self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String>;

    /// The type and attributes of a file; `None`: it does not exist.
    fn file_facts(&mut self, name: &str) -> Option<FileFacts>;

    /// The names in a folder, sorted; `None`: it does not exist.
    fn folder(&mut self, name: &str) -> Option<Vec<String>>;

    /// Creates a folder with its parents; returns whether it was created.
    fn make_folder(&mut self, name: &str) -> bool;

    /// Removes a file or an empty folder; returns whether it was removed.
    fn remove_file(&mut self, name: &str) -> bool;

    /// Renames a file; returns whether it succeeded.
    fn rename_file(&mut self, from: &str, to: &str) -> bool;

    /// An environment variable; `None`: not set.
    fn environment(&mut self, name: &str) -> Option<String>;

    /// A property of Java or JMeter; `None`: not set.
    fn property(&mut self, name: &str) -> Option<String>;

    /// Sets a property of Java or JMeter; returns the previous value. `None` as the value removes it.
    fn set_property(&mut self, name: &str, value: Option<&str>) -> Option<String>;

    /// The folder of the plan.
    fn plan_folder(&mut self) -> String;

    /// Name and address of this machine.
    fn machine(&mut self) -> (String, String);

    /// Number of active threads.
    fn threads_at_work(&mut self) -> u32;

    /// The name of the thread that runs the script.
    fn thread_name(&mut self) -> String;
}

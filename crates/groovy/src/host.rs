//! What a script has from outside.
//!
//! Must not know who provides it. Invariant: nothing in here waits.

use std::sync::Arc;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was changed, in milliseconds since 1970.
    pub changed_ms: i64,
}

/// What a script has from outside.
pub trait Host {
    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&mut self) -> i64;

    /// A random number, all 64 bits of which are random.
    fn random(&mut self) -> u64;

    /// Seconds that the local time zone is ahead of UTC at an instant (milliseconds since 1970).
    fn utc_offset_s(&mut self, unix_ms: i64) -> i32;

    /// Why the script must end now; `None`: it may go on.
    fn must_end(&mut self) -> Option<String>;

    /// Lets time pass.
    fn sleep(&mut self, ms: u64);

    /// Prints a text, as on standard output.
    fn print(&mut self, text: &str);

    /// The bytes of a file, as it is now.
    ///
    /// # Errors
    /// The system's words, such as `No such file or directory`.
    fn read_file(&mut self, name: &str) -> Result<Arc<[u8]>, String>;

    /// Writes or appends to a file.
    ///
    /// # Errors
    /// The system's words.
    fn write_file(&mut self, name: &str, bytes: &[u8], appends: bool) -> Result<(), String>;

    /// What a file is; `None`: there is none.
    fn file_facts(&mut self, name: &str) -> Option<FileFacts>;

    /// The names in a folder, sorted; `None`: there is no such folder.
    fn folder(&mut self, name: &str) -> Option<Vec<String>>;

    /// Makes a folder and those above it; whether it was made.
    fn make_folder(&mut self, name: &str) -> bool;

    /// Removes a file or an empty folder; whether it was removed.
    fn remove_file(&mut self, name: &str) -> bool;

    /// Gives a file another name; whether it has it.
    fn rename_file(&mut self, from: &str, to: &str) -> bool;

    /// A variable of the environment; `None`: there is none.
    fn environment(&mut self, name: &str) -> Option<String>;

    /// A property of Java's or JMeter's; `None`: there is none.
    fn property(&mut self, name: &str) -> Option<String>;

    /// Sets a property of Java's or JMeter's; what it was. `None` as the value removes it.
    fn set_property(&mut self, name: &str, value: Option<&str>) -> Option<String>;

    /// The folder of the plan.
    fn plan_folder(&mut self) -> String;

    /// Name and address of this machine.
    fn machine(&mut self) -> (String, String);

    /// How many threads are at work.
    fn threads_at_work(&mut self) -> u32;

    /// The name of the thread that runs the script.
    fn thread_name(&mut self) -> String;
}

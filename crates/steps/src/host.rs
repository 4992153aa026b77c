//! What a thread needs from outside: time, chance, files, properties, the log.
//!
//! Must not know who provides it. Invariant: nothing in here waits.

use std::sync::Arc;

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

/// The machine that threads run on, the same for all of them.
pub trait World {
    /// Seconds that the local time zone is ahead of UTC at an instant (milliseconds since 1970).
    fn utc_offset_s(&self, unix_ms: i64) -> i32;

    /// All properties, by name.
    fn properties(&self) -> Vec<(String, String)>;

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
    fn plan_folder(&self) -> String;

    /// Name and address of this machine.
    fn machine(&self) -> (String, String);

    /// Writes a line to the log, under the name of the class that JMeter would log it under.
    fn log(&self, level: LogLevel, class: &str, message: &str);
}

/// What a thread needs from outside.
pub trait Host {
    /// The machine.
    fn world(&self) -> &dyn World;

    /// Milliseconds since 1970, in UTC.
    fn unix_ms(&self) -> i64;

    /// A random number, all 64 bits of which are random.
    fn random(&self) -> u64;

    /// Threads that are at work: of a group, by its place in the program, and of all.
    fn threads_at_work(&self, group: usize) -> (u32, u32);

    /// A number below `count` by chance; 0 where that is 0.
    fn random_below(&self, count: u64) -> u64 {
        let product = u128::from(self.random()) * u128::from(count);
        u64::try_from(product >> 64).expect("the upper half of a product of two words is a word")
    }
}

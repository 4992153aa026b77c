//! What delays a sample, as a plan says it in texts.
//!
//! Must not know clocks. Invariant: nothing here is evaluated yet.

use crate::script::ScriptElement;
use crate::text::Text;

/// How long to wait before a sample.
#[derive(Debug)]
pub enum Timer {
    /// The same time always, in milliseconds.
    Constant(Text),
    /// Evenly spread.
    Uniform {
        /// Least, in milliseconds.
        offset: Text,
        /// Width of the spread, in milliseconds.
        range: Text,
    },
    /// By the normal distribution.
    Gaussian {
        /// Mean, in milliseconds.
        offset: Text,
        /// Standard deviation, in milliseconds.
        deviation: Text,
    },
    /// By the Poisson distribution.
    Poisson {
        /// Least, in milliseconds.
        offset: Text,
        /// Mean beyond it, in milliseconds.
        lambda: Text,
    },
    /// So many samples a minute.
    ConstantThroughput {
        /// Its number within the program.
        id: usize,
        /// Samples a minute.
        per_minute: Text,
        /// Over whom.
        mode: ThroughputMode,
    },
    /// As many milliseconds as a script says.
    Script(ScriptElement),
    /// At instants that were drawn beforehand.
    Precise(Box<PreciseTiming>),
    /// With others, when there are enough.
    Synchronizing {
        /// Its number within the program.
        id: usize,
        /// How many; 0: as many as its group has threads, below: it does not wait.
        size: Text,
        /// How long at most, in milliseconds; 0: no limit.
        timeout_ms: Text,
    },
    /// By a profile of load.
    Shaping(Box<ShapingTiming>),
}

/// A Precise Throughput Timer.
#[derive(Debug)]
pub struct PreciseTiming {
    /// Samples a period.
    pub per_period: Text,
    /// The period, in seconds.
    pub period_s: Text,
    /// How long instants are drawn for at a time, in seconds.
    pub duration_s: Text,
    /// Samples that start together.
    pub batch: Text,
    /// The seed; 0: by chance.
    pub seed: Text,
}

/// A Throughput Shaping Timer.
#[derive(Debug)]
pub struct ShapingTiming {
    /// Its number within the program.
    pub id: usize,
    /// Its name, which properties are called by.
    pub name: Text,
    /// Rows: samples a second at the start and at the end, and seconds.
    pub rows: Vec<Vec<Text>>,
}

/// Over whom a constant throughput is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughputMode {
    /// Each thread alone.
    ThisThread,
    /// All threads that are at work, each the same part.
    AllThreads,
    /// The threads of the group that are at work, each the same part.
    Group,
    /// All threads, one after another.
    AllShared,
    /// The threads of the group, one after another.
    GroupShared,
}

//! Pauses before a sample, as texts of the plan.
//!
//! Must not know clocks. Invariant: nothing here is evaluated yet.

use crate::script::ScriptElement;
use crate::text::Text;

/// A pause before a sample.
#[derive(Debug)]
pub enum Timer {
    /// Constant, in milliseconds.
    Constant(Text),
    /// Uniformly distributed.
    Uniform {
        /// Minimum, in milliseconds.
        offset: Text,
        /// Width of the range, in milliseconds.
        range: Text,
    },
    /// Normally distributed.
    Gaussian {
        /// Mean, in milliseconds.
        offset: Text,
        /// Standard deviation, in milliseconds.
        deviation: Text,
    },
    /// Poisson distributed.
    Poisson {
        /// Minimum, in milliseconds.
        offset: Text,
        /// Mean in addition to the minimum, in milliseconds.
        lambda: Text,
    },
    /// A constant number of samples per minute.
    ConstantThroughput {
        /// Its number within the program.
        id: usize,
        /// Samples per minute.
        per_minute: Text,
        /// The threads that are counted together.
        mode: ThroughputMode,
    },
    /// Milliseconds returned by a script.
    Script(ScriptElement),
    /// At instants drawn in advance.
    Precise(Box<PreciseTiming>),
    /// Together with other threads, when there are enough.
    Synchronizing {
        /// Its number within the program.
        id: usize,
        /// How many; 0: as many as its group has threads, negative: it does not wait.
        size: Text,
        /// Maximum wait, in milliseconds; 0: no limit.
        timeout_ms: Text,
    },
    /// According to a load profile.
    Shaping(Box<ShapingTiming>),
}

/// A Precise Throughput Timer.
#[derive(Debug)]
pub struct PreciseTiming {
    /// Samples per period.
    pub per_period: Text,
    /// The period, in seconds.
    pub period_s: Text,
    /// Duration for which instants are drawn at a time, in seconds.
    pub duration_s: Text,
    /// Samples that start together.
    pub batch: Text,
    /// The seed; 0: random.
    pub seed: Text,
}

/// A Throughput Shaping Timer.
#[derive(Debug)]
pub struct ShapingTiming {
    /// Its number within the program.
    pub id: usize,
    /// Its name, which is part of property names.
    pub name: Text,
    /// Rows: samples per second at the start and at the end, and duration in seconds.
    pub rows: Vec<Vec<Text>>,
}

/// The threads over which a constant throughput is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughputMode {
    /// Each thread separately.
    ThisThread,
    /// All active threads, with equal shares.
    AllThreads,
    /// The active threads of the group, with equal shares.
    Group,
    /// All threads, taking turns.
    AllShared,
    /// The threads of the group, taking turns.
    GroupShared,
}

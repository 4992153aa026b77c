//! The generator watching itself: what the process used since the last look.
//!
//! Must not judge what it sees. Invariant: uses are differences, so that nothing from before the
//! run is counted.

use std::time::Duration;

use loadline_engine::platform;
use loadline_model::result::GeneratorUse;

/// The process's counters at the last look.
pub(crate) struct SelfWatch {
    first_cpu_ns: u64,
    first_throttled_ns: Option<u64>,
    cpu_ns: u64,
    throttled_ns: Option<u64>,
}

impl SelfWatch {
    pub(crate) fn begin() -> SelfWatch {
        let cpu_ns = platform::process_cpu_ns();
        let throttled_ns = platform::throttled_ns();
        SelfWatch {
            first_cpu_ns: cpu_ns,
            first_throttled_ns: throttled_ns,
            cpu_ns,
            throttled_ns,
        }
    }

    /// What was used in the `span` since the last look; the workers' part is the caller's to add.
    pub(crate) fn look(&mut self, span: Duration) -> GeneratorUse {
        let cpu_ns = platform::process_cpu_ns();
        let throttled_ns = platform::throttled_ns();
        let spent = Duration::from_nanos(cpu_ns.saturating_sub(self.cpu_ns));
        let generator = GeneratorUse {
            cpu_cores: spent.as_secs_f64() / span.as_secs_f64().max(1e-9),
            busiest_worker: 0.0,
            rss_bytes: platform::resident_bytes().unwrap_or(0),
            throttled_ns: difference(throttled_ns, self.throttled_ns),
            run_queue_ns: 0,
        };
        self.cpu_ns = cpu_ns;
        self.throttled_ns = throttled_ns;
        generator
    }

    /// Processor time since the beginning, in nanoseconds.
    pub(crate) fn cpu_ns(&self) -> u64 {
        platform::process_cpu_ns().saturating_sub(self.first_cpu_ns)
    }

    /// Throttled time since the beginning, in nanoseconds.
    pub(crate) fn throttled_ns(&self) -> Option<u64> {
        difference(platform::throttled_ns(), self.first_throttled_ns)
    }
}

fn difference(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

//! The generator's self-monitoring: its resource use since the last reading.
//!
//! Must not judge the figures. Invariant: uses are differences, so that nothing from before the run is counted.

use std::time::Duration;

use loadline_engine::platform::GeneratorTotals;
use loadline_model::result::GeneratorUse;

/// Returns the resources that all generators have used so far.
pub(crate) type AskTotals = Box<dyn Fn() -> GeneratorTotals + Send>;

/// The counters at the last reading.
pub(crate) struct SelfWatch {
    ask: AskTotals,
    first: GeneratorTotals,
    last: GeneratorTotals,
}

impl SelfWatch {
    pub(crate) fn begin(ask: AskTotals) -> SelfWatch {
        let first = ask();
        SelfWatch {
            ask,
            last: first.clone(),
            first,
        }
    }

    /// Use in the `span` since the last reading; the caller adds the workers' part.
    pub(crate) fn look(&mut self, span: Duration) -> GeneratorUse {
        let now = (self.ask)();
        let spent = Duration::from_nanos(now.cpu_ns.saturating_sub(self.last.cpu_ns));
        let generator = GeneratorUse {
            cpu_cores: spent.as_secs_f64() / span.as_secs_f64().max(1e-9),
            busiest_worker: 0.0,
            rss_bytes: now.rss_bytes,
            throttled_ns: difference(now.throttled_ns, self.last.throttled_ns),
            run_queue_ns: 0,
            stalled_ns: 0,
        };
        self.last = now;
        generator
    }

    /// Use since the start: CPU time and throttled time are differences.
    pub(crate) fn used(&self) -> GeneratorTotals {
        let now = (self.ask)();
        GeneratorTotals {
            cpu_ns: now.cpu_ns.saturating_sub(self.first.cpu_ns),
            throttled_ns: difference(now.throttled_ns, self.first.throttled_ns),
            ..now
        }
    }
}

fn difference(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

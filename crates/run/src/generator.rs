//! The generator watching itself: what those who make the load used since the last look.
//!
//! Must not judge what it sees. Invariant: uses are differences, so that nothing from before the
//! run is counted.

use std::time::Duration;

use loadline_engine::platform::GeneratorTotals;
use loadline_model::result::GeneratorUse;

/// Asks those who make the load what they have used so far.
pub(crate) type AskTotals = Box<dyn Fn() -> GeneratorTotals + Send>;

/// The counters at the last look.
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

    /// What was used in the `span` since the last look; the workers' part is the caller's to add.
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

    /// What was used since the beginning: processor time and throttled time are differences.
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

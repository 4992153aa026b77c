//! The generator's self-monitoring: its resource use since the last reading.
//!
//! Must not judge the figures. Invariant: uses are differences, so that nothing from before the run is counted.

use std::time::Duration;

use loadline_engine::platform::GeneratorTotals;
use loadline_model::result::GeneratorUse;

/// Returns the resources that all generators have used so far.
pub(crate) type AskTotals = Box<dyn Fn() -> GeneratorTotals + Send>;

/// How much later than due a thread that waits runs again: there is no other sign that a process was stopped.
#[derive(Default)]
pub(crate) struct StallWatch {
    longest_ns: u64,
    all_ns: u64,
    /// Time that the thread has waited for a CPU so far, which is counted for the workers.
    waited_ns: u64,
}

impl StallWatch {
    /// Shorter ones are the kernel's granularity.
    const NOTED_NS: u64 = 10_000_000;

    /// Notes a time from which the thread looked again later than it should.
    pub(crate) fn looked_later(&mut self, beyond_ns: u64) {
        self.longest_ns = self.longest_ns.max(beyond_ns);
    }

    /// Notes that the thread ran again this long after its wait was to end; `waited_ns`: how long it has waited for a CPU
    /// so far.
    pub(crate) fn ran_later(&mut self, beyond_ns: u64, waited_ns: u64) {
        let waited = waited_ns.saturating_sub(self.waited_ns);
        self.waited_ns = waited_ns;
        let stopped = beyond_ns.saturating_sub(waited);
        if stopped >= Self::NOTED_NS {
            self.all_ns += stopped;
        }
    }

    /// Writes the stalls since the last call.
    pub(crate) fn write_to(&mut self, generator: &mut GeneratorUse) {
        generator.stalled_ns = std::mem::take(&mut self.longest_ns);
        generator.stalls_ns = std::mem::take(&mut self.all_ns);
    }
}

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
            stalls_ns: 0,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_added_up_without_waits_for_a_cpu() {
        let mut watch = StallWatch::default();
        let ms = |ms: u64| ms * 1_000_000;
        watch.looked_later(ms(80));
        watch.looked_later(ms(75));
        watch.ran_later(ms(75), ms(3));
        watch.ran_later(ms(75), ms(3));
        // The thread was ready all the time.
        watch.ran_later(ms(40), ms(42));
        watch.ran_later(ms(9), ms(42));
        let mut generator = GeneratorUse::default();
        watch.write_to(&mut generator);
        assert_eq!(
            (generator.stalled_ns, generator.stalls_ns),
            (ms(80), ms(147))
        );
        watch.write_to(&mut generator);
        assert_eq!((generator.stalled_ns, generator.stalls_ns), (0, 0));
    }
}

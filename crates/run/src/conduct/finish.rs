//! Makes the result of everything that a conductor collected.
//!
//! Must not wait for anything. Invariant: the emitted seconds plus the rest are the total.

use std::time::Duration;

use loadline_model::rates::{measured_ns, rates};
use loadline_model::result::{Environment, RunResult, StopReason, Totals};
use loadline_model::{Nanos, Observations, RunEvent};

use super::Conductor;
use crate::outcome::{ScriptOutcome, judged};

impl Conductor {
    /// Makes the result of everything collected.
    pub(super) fn finish(
        mut self,
        environment: &Environment,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> RunResult {
        let elapsed = self.elapsed();
        let until = elapsed.max(self.told_until);
        if self.silent > 0 {
            let begun = self.load.live().started;
            let untold = begun.saturating_sub(self.total.whole().started);
            self.collector.book_unreported(untold);
        }
        if let Some(rest) = self.collector.tell_rest(self.told_until, until) {
            self.tell(rest, on_event);
        }
        if self.stop == StopReason::Defect || self.silent > 0 {
            self.book_lost();
        }
        let script = self.finish_script(until, on_event);
        let observations = self.finish_observers(elapsed, on_event);
        let planned = self.plan.is_open().then(|| self.collector.planned());
        let series = std::mem::take(&mut self.rows).finish();
        let done = self.total.counts.outcomes().done();
        let used = self.collector.watch().used();
        let totals = Totals {
            started_unix_ms: self.load.started_unix_ms(),
            elapsed_ns: elapsed.0,
            measured_ns: measured_ns(&self.plan, elapsed.0),
            stop: self.stop,
            asked: planned.or_else(|| self.plan.planned_iterations()),
            never_started: self.collector.never_started,
            due_while_away: self.collector.due_while_away,
            rates: rates(&self.plan, &self.total, &series, planned, elapsed.0),
            seen: self.total,
            active_vus_max: self.active_vus_max,
            cpu_ns: used.cpu_ns,
            rss_max_bytes: used.rss_max_bytes,
            throttled_ns: used.throttled_ns,
            window_rates: self
                .windows
                .map(|windows| windows.finish(elapsed, done))
                .unwrap_or_default(),
        };
        let result = RunResult {
            series,
            events: self.events,
            observations,
            agents: self.load.agents(),
            ..RunResult::bare(self.plan.redacted(), environment.clone(), totals)
        };
        judged(result, script)
    }

    /// The requests of a worker that panicked are booked as lost: they have no other end.
    fn book_lost(&mut self) {
        for counts in [&mut self.total.counts, &mut self.total.warm_up] {
            counts.lost += counts.unended();
        }
    }

    fn finish_observers(
        &mut self,
        elapsed: Nanos,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Observations {
        let Some(observing) = self.observing.take() else {
            return Observations::default();
        };
        let (observations, mark) = observing.finish(&self.plan, elapsed, on_event);
        if let Some(mark) = mark {
            self.mark(mark, on_event);
        }
        observations
    }

    /// Makes the summary of a script run from the measurements of all workers, which are removed from the
    /// totals.
    fn finish_script(
        &mut self,
        until: Nanos,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Option<ScriptOutcome> {
        let mut script = self.script.take()?;
        if let Some(warning) = script.dropped(&self.total, until.0) {
            self.mark(warning, on_event);
        }
        let seen = self.total.script.take().unwrap_or_default();
        let length = Duration::from(self.load.clock().since_test_began());
        Some(script.finish(&seen, length))
    }

    /// From the start to the last response, or to the end of the planned duration.
    fn elapsed(&self) -> Nanos {
        let last_done = self.collector.last_done;
        if let Some(stopped_at) = self.stopped_at {
            return last_done.max(stopped_at);
        }
        let filled = self.plan.time_filled().map_or(Nanos::ZERO, Nanos::from);
        last_done.max(filled).max(Nanos(1))
    }
}

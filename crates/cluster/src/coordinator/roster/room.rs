//! How busy an agent is, according to its CPU reports.
//!
//! Must not know shares. Invariant: the value covers the last seconds, not the whole run.

use std::time::Duration;

use loadline_engine::platform::GeneratorTotals;

use super::nanos;

/// The span over which CPU use is measured.
const SPAN: Duration = Duration::from_secs(2);
/// Share of throttled time from which a quota is too small for the current load.
const THROTTLED: f64 = 0.05;

/// The resource use of an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// When the span began, and the resources used by then.
    begun: Option<(u64, GeneratorTotals)>,
    /// Cores in use, in the last whole span.
    busy_cores: f64,
    /// Share of it in which the agent's control group was throttled.
    throttled: f64,
}

impl Room {
    /// Adds a reading of the resources used so far.
    #[expect(clippy::cast_precision_loss, reason = "shares of a few seconds")]
    pub(super) fn note(&mut self, now_ns: u64, used: &GeneratorTotals) {
        let Some((begun_ns, before)) = &self.begun else {
            self.begun = Some((now_ns, used.clone()));
            return;
        };
        let span = now_ns.saturating_sub(*begun_ns);
        if span < nanos(SPAN) {
            return;
        }
        let throttled_ns = |used: &GeneratorTotals| used.throttled_ns.unwrap_or(0);
        let cpu = used.cpu_ns.saturating_sub(before.cpu_ns);
        let throttled = throttled_ns(used).saturating_sub(throttled_ns(before));
        self.busy_cores = cpu as f64 / span as f64;
        self.throttled = throttled as f64 / span as f64;
        self.begun = Some((now_ns, used.clone()));
    }

    /// Cores in use.
    pub(super) fn busy_cores(&self) -> f64 {
        self.busy_cores
    }

    /// Whether its quota is too small for its current load.
    pub(super) fn is_throttled(&self) -> bool {
        self.throttled >= THROTTLED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn used(cpu_ns: u64, throttled_ns: Option<u64>) -> GeneratorTotals {
        GeneratorTotals {
            cpu_ns,
            throttled_ns,
            ..GeneratorTotals::default()
        }
    }

    #[test]
    fn the_last_seconds_count_and_not_the_whole_run() {
        let mut room = Room::default();
        room.note(0, &used(50_000 * MS, None));
        assert!(room.busy_cores().abs() < f64::EPSILON);
        room.note(1_000 * MS, &used(52_000 * MS, None));
        assert!(room.busy_cores().abs() < f64::EPSILON, "a second is short");
        room.note(2_000 * MS, &used(53_000 * MS, None));
        assert!((room.busy_cores() - 1.5).abs() < 1e-9);
        room.note(4_000 * MS, &used(53_200 * MS, None));
        assert!((room.busy_cores() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn who_is_throttled_says_so() {
        let mut room = Room::default();
        room.note(0, &used(0, Some(9_000 * MS)));
        room.note(2_000 * MS, &used(0, Some(9_050 * MS)));
        assert!(!room.is_throttled());
        room.note(4_000 * MS, &used(0, Some(9_250 * MS)));
        assert!(room.is_throttled());
    }
}

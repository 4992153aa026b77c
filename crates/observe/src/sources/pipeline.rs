//! `pipeline`: compares what goes in with what comes out, until everything has come out.
//!
//! Must not know what passes. Invariants: sinks are read before the ingest, so that a backlog is never
//! underestimated; drained means that two consecutive reads found no backlog.

use std::time::Duration;

use loadline_model::observation::RunWindow;

use super::counters::{Odometers, RateMeter};
use super::{Counter, Source, Surroundings, Tick};
use crate::clock::{nanoseconds, seconds_between};
use crate::readings::{Gap, Readings};
use crate::spec::PipelineSettings;

/// The kind of a note that work was left in a pipeline.
const NOT_DRAINED_NOTE: &str = "not_drained";

/// Watches a pipeline.
pub(super) struct PipelineSource {
    /// The ingest first.
    stages: Vec<StageMeter>,
    limit_ns: u64,
    state: PipelineState,
}

/// Its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipelineState {
    /// The load is running, or has just ended.
    Running,
    Drained,
    /// The limit was reached.
    GivenUp,
}

/// One counter.
struct StageMeter {
    name: String,
    counter: Box<dyn Counter>,
    odometers: Odometers,
    rate: RateMeter,
    /// What was counted from the first to the last read; `None`: not read yet.
    total: Option<f64>,
    /// When its backlog was first empty after the load, and the number of consecutive reads that found it
    /// empty.
    empty: Option<(u64, u32)>,
}

impl PipelineSource {
    pub(super) fn new(
        settings: &PipelineSettings,
        timeout: Duration,
        surroundings: &Surroundings,
    ) -> Result<PipelineSource, String> {
        let stages = settings.stages().into_iter().map(|(name, kind)| {
            let counter = super::counter(kind, timeout, surroundings);
            let counter = counter.map_err(|error| format!("stage {name}: {error}"))?;
            Ok(StageMeter {
                name,
                counter,
                odometers: Odometers::default(),
                rate: RateMeter::default(),
                total: None,
                empty: None,
            })
        });
        Ok(PipelineSource {
            stages: stages.collect::<Result<_, String>>()?,
            limit_ns: nanoseconds(settings.limit),
            state: PipelineState::Running,
        })
    }

    fn backlog(&self, stage: usize) -> Option<f64> {
        let ingested = self.stages[0].total?;
        Some((ingested - self.stages[stage].total?).max(0.0))
    }

    fn tell(&self, readings: &mut Readings) {
        let ingested = self.stages[0].total;
        for (index, stage) in self.stages.iter().enumerate() {
            let Some(total) = stage.total else {
                continue;
            };
            readings.put(&stage.name, "count", total);
            if index == 0 {
                continue;
            }
            if let Some(ingested) = ingested.filter(|ingested| *ingested > 0.0) {
                readings.put(&stage.name, "ratio", total / ingested);
            }
            if let Some(backlog) = self.backlog(index) {
                readings.put(&stage.name, "backlog", backlog);
            }
        }
    }

    /// After the load: checks which sinks have no backlog any more.
    fn judge(&mut self, ended_unix_ns: u64, now_unix_ns: u64, readings: &mut Readings) {
        let mut is_drained = true;
        for index in 1..self.stages.len() {
            let is_empty = self.backlog(index).is_some_and(|backlog| backlog <= 0.0);
            let stage = &mut self.stages[index];
            stage.empty = match (stage.empty, is_empty) {
                (_, false) => None,
                (None, true) => Some((now_unix_ns, 1)),
                (Some((since, looks)), true) => Some((since, looks + 1)),
            };
            if let Some((since, 2)) = stage.empty {
                let seconds = seconds_between(ended_unix_ns, since);
                readings.put_at(since, &stage.name, "drain_seconds", seconds);
            }
            is_drained &= stage.empty.is_some_and(|(_, looks)| looks >= 2);
        }
        if is_drained {
            self.state = PipelineState::Drained;
        }
    }

    fn tell_left(&self, after: &str, readings: &mut Readings) {
        for index in 1..self.stages.len() {
            let stage = &self.stages[index];
            if stage.empty.is_some_and(|(_, looks)| looks >= 2) {
                continue;
            }
            let left = match self.backlog(index) {
                Some(backlog) => format!("{backlog} of what went in had not come out {after}"),
                None => format!("what came out is not known {after}"),
            };
            readings.remark(&stage.name, NOT_DRAINED_NOTE, left);
        }
    }
}

impl StageMeter {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let totals = self.counter.totals(tick);
        let total = totals.and_then(|totals| {
            let total = self.odometers.advance(totals);
            total.ok_or_else(|| Gap(self.counter.absent()))
        });
        match total {
            Ok(total) => {
                self.total = Some(total);
                let now = tick.clock.unix_ns();
                readings.read_at(now);
                if let Some(rate) = self.rate.advance(now, total) {
                    readings.put(&self.name, "rate_per_s", rate);
                }
                Ok(())
            }
            Err(Gap(text)) => {
                // The rate over a gap would be spread over it.
                self.rate.forget();
                Err(Gap(format!("stage {}: {text}", self.name)))
            }
        }
    }
}

impl Source for PipelineSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let mut failed = None;
        // What comes out last is read first, so that nothing seems to come out before it went in.
        for stage in self.stages.iter_mut().rev() {
            if let Err(gap) = stage.read(tick, readings) {
                failed.get_or_insert(gap);
            }
        }
        let now = tick.clock.unix_ns();
        if failed.is_none() {
            self.tell(readings);
        }
        if let (Some(ended), PipelineState::Running) = (tick.load_ended_unix_ns, self.state) {
            if failed.is_none() {
                self.judge(ended, now, readings);
            }
            if self.state == PipelineState::Running && now >= ended.saturating_add(self.limit_ns) {
                self.state = PipelineState::GivenUp;
                let seconds = seconds_between(ended, now);
                self.tell_left(&format!("{seconds:.0} s after the load"), readings);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn is_drained(&self) -> bool {
        self.state != PipelineState::Running
    }

    fn conclude(&mut self, _: &RunWindow, readings: &mut Readings) -> Result<(), Gap> {
        if self.state == PipelineState::Running {
            self.tell_left("when the observer was stopped", readings);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::*;
    use crate::clock::tests::TestClock;
    use crate::sources::only;

    /// Returns totals in turn; `None` is a failure.
    struct Script(VecDeque<Option<f64>>);

    impl Counter for Script {
        fn totals(&mut self, _: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
            let next = self.0.pop_front().expect("the script is long enough");
            next.map(only).ok_or_else(|| Gap::new("away"))
        }
    }

    fn pipeline(ingest: &[Option<f64>], sink: &[Option<f64>], limit_s: u64) -> PipelineSource {
        let stage = |name: &str, totals: &[Option<f64>]| StageMeter {
            name: name.to_owned(),
            counter: Box::new(Script(totals.iter().copied().collect())),
            odometers: Odometers::default(),
            rate: RateMeter::default(),
            total: None,
            empty: None,
        };
        PipelineSource {
            stages: vec![stage("ingest", ingest), stage("sink", sink)],
            limit_ns: limit_s * 1_000_000_000,
            state: PipelineState::Running,
        }
    }

    fn looks(source: &mut PipelineSource, seconds: u32, ended_s: Option<u64>) -> Vec<Readings> {
        let clock = TestClock::default();
        let look = |second: u32| {
            clock.set_seconds(f64::from(second));
            let ended = ended_s.map(|s| s * 1_000_000_000);
            let tick = Tick {
                clock: &clock,
                load_ended_unix_ns: ended
                    .filter(|ended| *ended <= u64::from(second) * 1_000_000_000),
            };
            let mut readings = Readings::new(&Arc::from("p"), 0);
            // A failing look has its own assertion.
            let _ = source.read(&tick, &mut readings);
            readings
        };
        (0..seconds).map(look).collect()
    }

    #[test]
    fn what_is_left_is_watched_until_it_is_gone() {
        let ingest = [100.0, 110.0, 120.0, 120.0, 120.0, 120.0].map(Some);
        let sink = [40.0, 45.0, 50.0, 55.0, 60.0, 60.0].map(Some);
        let mut source = pipeline(&ingest, &sink, 60);
        let all = looks(&mut source, 6, Some(2));
        assert_eq!(all[0].value("sink", "backlog"), Some(0.0));
        assert_eq!(all[1].value("ingest", "rate_per_s"), Some(10.0));
        assert_eq!(all[2].value("sink", "ratio"), Some(0.5));
        assert_eq!(all[2].value("sink", "backlog"), Some(10.0));
        assert_eq!(all[3].value("sink", "backlog"), Some(5.0));
        assert_eq!(all[5].value("sink", "drain_seconds"), Some(2.0));
        assert!(source.is_drained());
    }

    #[test]
    fn it_is_given_up_at_the_limit() {
        let ingest = [0.0, 10.0, 10.0, 10.0].map(Some);
        let sink = [0.0, 3.0, 3.0, 3.0].map(Some);
        let mut source = pipeline(&ingest, &sink, 2);
        let all = looks(&mut source, 3, Some(1));
        assert!(!source.is_drained());
        assert!(
            all.iter()
                .all(|look| look.remarks(NOT_DRAINED_NOTE).is_empty())
        );
        let mut source = pipeline(&ingest, &sink, 2);
        let all = looks(&mut source, 4, Some(1));
        assert!(source.is_drained());
        assert!(all[3].remarks(NOT_DRAINED_NOTE)[0].starts_with("7 of what went in"));
    }

    #[test]
    fn a_gap_neither_drains_nor_makes_a_jump() {
        let ingest = [Some(0.0), Some(10.0), Some(10.0), Some(10.0), Some(10.0)];
        let sink = [Some(0.0), Some(10.0), None, Some(10.0), Some(10.0)];
        let mut source = pipeline(&ingest, &sink, 60);
        let all = looks(&mut source, 5, Some(0));
        assert_eq!(all[2].value("sink", "backlog"), None);
        assert_eq!(all[3].value("sink", "rate_per_s"), None);
        assert_eq!(all[4].value("sink", "rate_per_s"), Some(0.0));
        assert!(source.is_drained());
    }
}

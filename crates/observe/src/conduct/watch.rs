//! A running observer: when it reads, how it reports gaps, when it has ended.
//!
//! Must not know threads or what is read. Invariant: a gap is reported once when it starts and once when it
//! ends.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use loadline_model::observation::{GAP_NOTE, Observed, Remark, RunWindow};

use super::Source;
use super::outbox::Outbox;
use crate::clock::{Clock, nanoseconds, seconds_between};
use crate::readings::{Gap, MISSING_NOTE, Readings};
use crate::sources::Tick;
use crate::spec::ObserverSpec;

/// Consecutive failed reads after which a required observer is lost: a single one is a hiccup.
const FAILURES_MAX: u32 = 3;
/// Messages about unreadable data that are remembered, so that each is reported once.
const SAID_MAX: usize = 100;

/// A running observer.
pub(super) struct Watch {
    name: Arc<str>,
    source: Box<dyn Source>,
    outbox: Outbox,
    interval_ns: u64,
    required: bool,
    last_look_unix_ns: Option<u64>,
    /// When data that may be gone at the next read is read; `None`: normal reads suffice.
    next_peek_unix_ns: Option<u64>,
    gap: Option<OpenGap>,
    said: HashSet<String>,
    has_ended: bool,
}

/// A gap that has not ended.
struct OpenGap {
    since_unix_ns: u64,
    failures: u32,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Watch {
    pub(super) fn new(
        spec: &ObserverSpec,
        source: Box<dyn Source>,
        sender: SyncSender<Observed>,
    ) -> Watch {
        let name: Arc<str> = Arc::from(spec.name.as_str());
        Watch {
            outbox: Outbox::new(&name, sender),
            name,
            source,
            interval_ns: nanoseconds(spec.interval),
            required: spec.required,
            last_look_unix_ns: None,
            next_peek_unix_ns: None,
            gap: None,
            said: HashSet::new(),
            has_ended: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// When it reads next; `None`: never again. At the end of the load it reads once more, immediately.
    pub(super) fn due(&self, load_ended_unix_ns: Option<u64>) -> Option<u64> {
        if self.has_ended {
            return None;
        }
        let Some(last) = self.last_look_unix_ns else {
            return Some(0);
        };
        let regular = next_look(last, self.interval_ns);
        let at_end = load_ended_unix_ns
            .filter(|ended| last < *ended)
            .map(|ended| ended.max(last + self.interval_ns / 2));
        Some(at_end.map_or(regular, |at_end| at_end.min(regular)))
    }

    /// When it has to act: a read or, before that, a peek; `None`: never again.
    pub(super) fn next(&self, load_ended_unix_ns: Option<u64>) -> Option<u64> {
        let due = self.due(load_ended_unix_ns)?;
        Some(self.next_peek_unix_ns.map_or(due, |peek| peek.min(due)))
    }

    /// Peeks, if that is due.
    pub(super) fn peek(&mut self, clock: &dyn Clock) {
        let now = clock.unix_ns();
        if !self.has_ended && self.next_peek_unix_ns.is_some_and(|peek| peek <= now) {
            self.source.peek(clock);
            self.plan_peek(clock);
        }
    }

    fn plan_peek(&mut self, clock: &dyn Clock) {
        let span = self.source.peek_span_ns();
        self.next_peek_unix_ns = span.map(|span| clock.unix_ns().saturating_add(span));
    }

    /// Reads once. Returns the result of the first read, and nothing for later ones.
    pub(super) fn look(
        &mut self,
        clock: &dyn Clock,
        load_ended_unix_ns: Option<u64>,
    ) -> Option<Result<(), String>> {
        let now = clock.unix_ns();
        let is_first = self.last_look_unix_ns.replace(now).is_none();
        let mut readings = Readings::new(&self.name, now);
        let tick = Tick {
            clock,
            load_ended_unix_ns,
        };
        let result = self.source.read(&tick, &mut readings);
        self.plan_peek(clock);
        for item in readings.into_items() {
            if self.is_news(&item) {
                self.outbox.send(item, now);
            }
        }
        let first = result.clone().map_err(|gap| gap.0);
        match result {
            Ok(()) => self.gap_ends(now),
            Err(gap) => self.gap_goes_on(&gap, now, is_first),
        }
        is_first.then_some(first)
    }

    /// Ends it when the tail is over, it has read since the end of the load, and there is nothing left to
    /// drain.
    pub(super) fn end_where_done(&mut self, ended: Option<u64>, tail_ends: Option<u64>) {
        let Some((ended, tail_ends)) = ended.zip(tail_ends) else {
            return;
        };
        let looked = self.last_look_unix_ns.unwrap_or_default();
        self.has_ended = looked >= ended.max(tail_ends) && self.source.is_drained();
    }

    /// Sends what had no room so far.
    pub(super) fn flush(&mut self, now_unix_ns: u64) {
        self.outbox.flush(now_unix_ns);
    }

    /// Runs queries that are only possible after the run.
    pub(super) fn conclude(
        &mut self,
        window: &RunWindow,
        clock: &dyn Clock,
        said: &mut Vec<Observed>,
    ) {
        let now = clock.unix_ns();
        let mut readings = Readings::new(&self.name, now);
        let result = self.source.conclude(window, &mut readings);
        said.extend(
            readings
                .into_items()
                .into_iter()
                .filter(|item| self.is_news(item)),
        );
        if let Err(Gap(text)) = result {
            said.push(self.gap_remark(now, text));
        }
    }

    /// What is still waiting when no more reads happen.
    pub(super) fn leftover(&mut self, now: u64) -> Vec<Observed> {
        self.outbox.leftover(now)
    }

    fn gap_goes_on(&mut self, gap: &Gap, now: u64, is_first: bool) {
        let open = self.gap.get_or_insert(OpenGap {
            since_unix_ns: now,
            failures: 0,
        });
        open.failures += 1;
        let failures = open.failures;
        if failures == 1 {
            let remark = self.gap_remark(now, format!("cannot be read: {}", gap.0));
            self.outbox.send(remark, now);
        }
        // An observer whose first read fails is refused at startup.
        if self.required && failures == FAILURES_MAX && !is_first {
            let text = format!(
                "it is required and could not be read {FAILURES_MAX} times in a row: {}; fix it, or remove required",
                gap.0
            );
            self.outbox.insist(
                Observed::Lost {
                    observer: Arc::clone(&self.name),
                    text,
                },
                now,
            );
        }
    }

    fn gap_ends(&mut self, now: u64) {
        if let Some(open) = self.gap.take() {
            let seconds = seconds_between(open.since_unix_ns, now);
            let remark = self.gap_remark(now, format!("can be read again after {seconds:.1} s"));
            self.outbox.send(remark, now);
        }
    }

    fn gap_remark(&self, at_unix_ns: u64, text: String) -> Observed {
        Observed::Remark(Remark {
            observer: Arc::clone(&self.name),
            component: Arc::clone(&self.name),
            at_unix_ns,
            kind: GAP_NOTE.to_owned(),
            text,
        })
    }

    /// Whether this was not reported before; only notes about permanently unreadable data are remembered.
    fn is_news(&mut self, item: &Observed) -> bool {
        let Observed::Remark(remark) = item else {
            return true;
        };
        if remark.kind != MISSING_NOTE {
            return true;
        }
        self.said.len() < SAID_MAX
            && self
                .said
                .insert(format!("{} {}", remark.component, remark.text))
    }
}

/// The first whole multiple of the interval that is at least half an interval away.
fn next_look(last_unix_ns: u64, interval_ns: u64) -> u64 {
    let earliest = last_unix_ns.saturating_add(interval_ns / 2);
    earliest.div_ceil(interval_ns).saturating_mul(interval_ns)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use proptest::prelude::*;

    use super::*;
    use crate::clock::tests::TestClock;
    use crate::spec::{ObserverKind, SelfSettings};

    /// A source that fails at given reads.
    struct Moody {
        looks: u32,
        fails: Vec<u32>,
    }

    impl Source for Moody {
        fn read(&mut self, _: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
            self.looks += 1;
            readings.missing("o", "no such file");
            if self.fails.contains(&self.looks) {
                return Err(Gap::new("it hides"));
            }
            readings.own("value", f64::from(self.looks));
            Ok(())
        }

        fn peek(&mut self, _: &dyn Clock) {
            self.looks += 100;
        }

        fn peek_span_ns(&self) -> Option<u64> {
            Some(300_000_000)
        }
    }

    fn watch(fails: &[u32], required: bool) -> (Watch, Receiver<Observed>) {
        let (sender, receiver) = sync_channel(100);
        let mut spec = ObserverSpec::new(ObserverKind::SelfProcess(SelfSettings::default()));
        spec.required = required;
        let source = Moody {
            looks: 0,
            fails: fails.to_vec(),
        };
        (Watch::new(&spec, Box::new(source), sender), receiver)
    }

    fn look_for_seconds(watch: &mut Watch, seconds: u32) {
        let clock = TestClock::default();
        for second in 1..=seconds {
            clock.set_seconds(f64::from(second));
            watch.look(&clock, None);
        }
    }

    fn gaps(receiver: &Receiver<Observed>) -> Vec<(u64, String)> {
        let items = receiver.try_iter().filter_map(|item| match item {
            Observed::Remark(remark) if remark.kind == GAP_NOTE => {
                Some((remark.at_unix_ns / 1_000_000_000, remark.text))
            }
            _ => None,
        });
        items.collect()
    }

    #[test]
    fn a_gap_is_told_at_its_begin_and_at_its_end() {
        let (mut watch, receiver) = watch(&[3, 4], false);
        look_for_seconds(&mut watch, 7);
        let told = gaps(&receiver);
        assert_eq!(
            told,
            [
                (3, "cannot be read: it hides".to_owned()),
                (5, "can be read again after 2.0 s".to_owned())
            ]
        );
    }

    #[test]
    fn what_is_missing_is_said_once() {
        let (mut watch, receiver) = watch(&[], false);
        look_for_seconds(&mut watch, 4);
        let items: Vec<Observed> = receiver.try_iter().collect();
        let remarks = items
            .iter()
            .filter(|item| matches!(item, Observed::Remark(_)));
        assert_eq!((items.len(), remarks.count()), (5, 1));
    }

    #[test]
    fn a_required_observer_is_lost_after_three_failures_and_once() {
        let (mut hiccup, receiver) = watch(&[2, 3, 5, 6], true);
        look_for_seconds(&mut hiccup, 8);
        assert!(
            !receiver
                .try_iter()
                .any(|item| matches!(item, Observed::Lost { .. }))
        );
        let (mut lost, receiver) = watch(&[2, 3, 4, 5, 6], true);
        look_for_seconds(&mut lost, 6);
        let items = receiver.try_iter();
        assert_eq!(
            items
                .filter(|item| matches!(item, Observed::Lost { .. }))
                .count(),
            1
        );
    }

    #[test]
    fn between_two_looks_it_peeks() {
        let (mut watch, receiver) = watch(&[], false);
        let clock = TestClock::default();
        clock.set_seconds(1.0);
        watch.look(&clock, None);
        for (second, next) in [(1.2, 1.3), (1.3, 1.6), (1.95, 2.0)] {
            clock.set_seconds(second);
            watch.peek(&clock);
            assert_eq!(watch.next(None), Some((next * 1e9) as u64), "{second}");
        }
        clock.set_seconds(2.0);
        watch.look(&clock, None);
        let values = receiver.try_iter().filter_map(|item| match item {
            Observed::Reading(reading) => Some(reading.value),
            _ => None,
        });
        assert_eq!(values.collect::<Vec<_>>(), [1.0, 202.0]);
    }

    #[test]
    fn it_looks_at_the_end_of_the_load_and_ends_after_the_tail() {
        let (mut watch, _receiver) = watch(&[], false);
        let clock = TestClock::default();
        let second = 1_000_000_000;
        assert_eq!(watch.due(None), Some(0));
        clock.set_seconds(10.0);
        watch.look(&clock, None);
        assert_eq!(watch.due(None), Some(11 * second));
        let ended = Some(10_700_000_000);
        assert_eq!(watch.due(ended), ended);
        // At the earliest half an interval after the last read.
        assert_eq!(watch.due(Some(10_100_000_000)), Some(10_500_000_000));
        clock.set_seconds(10.7);
        watch.look(&clock, ended);
        watch.end_where_done(ended, Some(13 * second));
        assert_eq!(watch.due(ended), Some(12 * second));
        clock.set_seconds(13.0);
        watch.look(&clock, ended);
        watch.end_where_done(ended, Some(13 * second));
        assert_eq!(watch.due(ended), None);
    }

    proptest! {
        #[test]
        fn looks_are_multiples_and_not_too_close(last in 0..u64::MAX / 4, interval in 1_000..1_000_000_000_u64) {
            let next = next_look(last, interval);
            prop_assert_eq!(next % interval, 0);
            prop_assert!(next - last >= interval / 2);
            prop_assert!(next - last <= interval + interval / 2 + 1);
        }
    }
}

//! The metrics of one HTTP exchange, recorded together, and their table by one tag.
//!
//! Must not know connections. Invariant: an exchange records one value of each time, one request and, if it was
//! judged, one value of the failure rate.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delta::{ByTagDelta, MeasurementsDelta};
use super::reasons::{Reasons, reason_of};
use super::values::{Accumulator, Accumulators};
use super::{Measurements, SeriesPlan, is_same};
use crate::{BuiltIn, Explosion, MetricRegistry, Tagged};

/// Where the time of one HTTP exchange went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpTimes {
    /// Time that a limit of requests per second held the request back before it started; part of none of k6's
    /// times.
    pub held: u64,
    /// From asking for a connection to getting one.
    pub blocked: u64,
    /// TCP handshake; zero on a reused connection.
    pub connecting: u64,
    /// TLS handshake; zero on a reused connection.
    pub tls_handshaking: u64,
    /// Sending the request.
    pub sending: u64,
    /// From the last byte sent to the first received.
    pub waiting: u64,
    /// From the first byte received to the last.
    pub receiving: u64,
}

impl HttpTimes {
    /// What k6 calls the duration: sending + waiting + receiving.
    #[must_use]
    pub fn duration(&self) -> u64 {
        self.sending
            .saturating_add(self.waiting)
            .saturating_add(self.receiving)
    }

    /// Every time with its metric, in the order in which k6 reports them.
    #[must_use]
    pub fn each(&self) -> [(BuiltIn, u64); 7] {
        [
            (BuiltIn::HttpReqDuration, self.duration()),
            (BuiltIn::HttpReqBlocked, self.blocked),
            (BuiltIn::HttpReqConnecting, self.connecting),
            (BuiltIn::HttpReqTlsHandshaking, self.tls_handshaking),
            (BuiltIn::HttpReqSending, self.sending),
            (BuiltIn::HttpReqWaiting, self.waiting),
            (BuiltIn::HttpReqReceiving, self.receiving),
        ]
    }
}

impl Measurements {
    /// Records all [`BuiltIn`] metrics of one HTTP exchange. `failed` is `None` when nothing judged the
    /// response.
    pub fn record_http(
        &mut self,
        times: &HttpTimes,
        failed: Option<bool>,
        at_ns: u64,
        tags: &dyn Tagged,
    ) {
        let part = self.part_of(tags, at_ns);
        record_all(&mut self.parts[part].values, times, failed, &self.registry);
        if let Some(series) = &mut self.by_all_tags {
            let values = series.of(BuiltIn::HttpReqs.id(), tags, &self.registry);
            record_all(values, times, failed, &self.registry);
        }
        if let Some(counter) = &mut self.counter {
            counter.saw_http(failed.is_some(), tags);
        }
        if !self.submetrics.is_empty() {
            self.record_http_submetrics(times, failed, tags);
        }
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.record(times, failed, tags, &self.registry);
        }
    }

    fn record_http_submetrics(
        &mut self,
        times: &HttpTimes,
        failed: Option<bool>,
        tags: &dyn Tagged,
    ) {
        let mut each = |metric: BuiltIn, record: &dyn Fn(&mut Accumulator)| {
            let Some(places) = self.submetrics_of.get(metric.id().0 as usize) else {
                return;
            };
            for place in places {
                let submetric = &mut self.submetrics[*place];
                if tags.has_all(&submetric.tags) {
                    record(&mut submetric.values);
                }
            }
        };
        each(BuiltIn::HttpReqs, &|values| values.record_one(true));
        if let Some(failed) = failed {
            each(BuiltIn::HttpReqFailed, &|values| values.record_one(failed));
        }
        for (metric, ns) in times.each() {
            each(metric, &|values| values.record_ns(ns));
        }
    }
}

#[inline]
fn record_all(
    values: &mut Accumulators,
    times: &HttpTimes,
    failed: Option<bool>,
    registry: &MetricRegistry,
) {
    values.of(BuiltIn::HttpReqs.id(), registry).record_one(true);
    if let Some(failed) = failed {
        values
            .of(BuiltIn::HttpReqFailed.id(), registry)
            .record_one(failed);
    }
    for (metric, ns) in times.each() {
        values.of(metric.id(), registry).record_ns(ns);
    }
}

/// The requests with one value of the tag.
#[derive(Debug)]
struct Row {
    value: Arc<str>,
    values: Accumulators,
    /// Failed requests by reason.
    reasons: Reasons,
}

/// Requests by the value of one tag: count, failure rate, failure reasons and duration, which is what a table
/// shows.
#[derive(Debug)]
pub(super) struct ByTag {
    tag: String,
    cap: usize,
    /// Whether to report that the rows did not suffice.
    was_asked_for: bool,
    rows: Vec<Row>,
    places: BTreeMap<Arc<str>, usize>,
    last: usize,
    rest: Accumulators,
    overflowed: u64,
    explosion: Option<Explosion>,
}

impl ByTag {
    /// The table that a plan requests.
    pub(super) fn of(plan: &SeriesPlan) -> Option<ByTag> {
        plan.by_tag.clone().map(|tag| ByTag {
            tag,
            cap: plan.by_tag_max.unwrap_or(plan.series_cap),
            was_asked_for: plan.by_tag_max.is_none(),
            rows: Vec::new(),
            places: BTreeMap::new(),
            last: 0,
            rest: Accumulators::default(),
            overflowed: 0,
            explosion: None,
        })
    }

    fn record(
        &mut self,
        times: &HttpTimes,
        failed: Option<bool>,
        tags: &dyn Tagged,
        registry: &MetricRegistry,
    ) {
        let value = tags.tag(&self.tag).unwrap_or_default();
        let values = match self.place_of(value) {
            Some(place) => {
                let row = &mut self.rows[place];
                if failed == Some(true) {
                    row.reasons.add(&reason_of(tags), 1);
                }
                &mut row.values
            }
            None => {
                self.overflowed += 1;
                &mut self.rest
            }
        };
        values.of(BuiltIn::HttpReqs.id(), registry).record_one(true);
        if let Some(failed) = failed {
            values
                .of(BuiltIn::HttpReqFailed.id(), registry)
                .record_one(failed);
        }
        values
            .of(BuiltIn::HttpReqDuration.id(), registry)
            .record_ns(times.duration());
    }

    /// The row for a value; `None` when the table is full.
    fn place_of(&mut self, value: &str) -> Option<usize> {
        if let Some(row) = self.rows.get(self.last)
            && is_same(&row.value, value)
        {
            return Some(self.last);
        }
        let place = match self.places.get(value) {
            Some(place) => *place,
            None => self.make_row(value)?,
        };
        self.last = place;
        Some(place)
    }

    fn make_row(&mut self, value: &str) -> Option<usize> {
        if self.rows.len() >= self.cap {
            if self.was_asked_for {
                self.explosion.get_or_insert_with(|| Explosion {
                    metric: BuiltIn::HttpReqs.name().into(),
                    tag: Some(self.tag.as_str().into()),
                    values: self.rows.len(),
                });
            }
            return None;
        }
        let value: Arc<str> = value.into();
        self.places.insert(Arc::clone(&value), self.rows.len());
        self.rows.push(Row {
            value,
            values: Accumulators::default(),
            reasons: Reasons::default(),
        });
        Some(self.rows.len() - 1)
    }

    pub(super) fn take_into(&mut self, delta: &mut MeasurementsDelta) {
        let mut told = ByTagDelta {
            rest: self.rest.take(),
            overflowed: std::mem::take(&mut self.overflowed),
            ..ByTagDelta::default()
        };
        for row in &mut self.rows {
            let values = row.values.take();
            if !values.is_empty() {
                told.rows.insert(Arc::clone(&row.value), values);
            }
            let reasons = std::mem::take(&mut row.reasons);
            if !reasons.is_empty() {
                told.reasons.insert(Arc::clone(&row.value), reasons);
            }
        }
        if told != ByTagDelta::default() {
            delta.by_tag = Some(told);
        }
        delta.explosion = self.explosion.clone();
    }
}

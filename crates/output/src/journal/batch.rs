//! Events since the last record, collected until the writer's thread takes them.
//!
//! Must not know files or threads. Invariant: its size is bounded however long it waits, and merging to stay
//! within the bound loses no count.

use std::sync::Arc;

use loadline_model::event::{Mark, RunEvent};
use loadline_model::observation::{ObserverNote, ResourceSample};
use loadline_model::result::{Row, RunResult};
use loadline_model::snapshot::Snapshot;

use super::encode::{Part, Start};
use loadline_model::rows::{ROWS_MAX, halve};

/// Snapshots kept unmerged. Merging costs time of the run's thread, so it only happens if the disk is slower
/// than this many seconds.
const DELTAS_MAX: usize = 8;
/// Maximum marks and resource samples that are kept; further ones are only counted.
pub(super) const EXTRAS_MAX: usize = 100_000;

/// Events waiting to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub(super) start: Option<Start>,
    deltas: Vec<Arc<Snapshot>>,
    rows: Vec<Row>,
    marks: Vec<Mark>,
    resources: Vec<ResourceSample>,
    notes: Vec<ObserverNote>,
    left_out: u64,
    pub(super) end: Option<Arc<RunResult>>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.start.is_none() && self.end.is_none() && !self.has_part()
    }

    fn has_part(&self) -> bool {
        !self.rows.is_empty()
            || !self.deltas.is_empty()
            || !self.marks.is_empty()
            || !self.resources.is_empty()
            || !self.notes.is_empty()
            || self.left_out > 0
    }

    /// Adds one event.
    pub(super) fn add(&mut self, event: &RunEvent) {
        match event {
            // Nothing yet that a crash could lose; and series by all tags are stored elsewhere.
            RunEvent::Before(_) | RunEvent::TearingDown { .. } | RunEvent::Series(_) => {}
            RunEvent::Started {
                plan,
                environment,
                started_unix_ms,
            } => {
                self.start = Some(Start {
                    plan: plan.as_ref().clone(),
                    environment: environment.as_ref().clone(),
                    started_unix_ms: *started_unix_ms,
                });
            }
            RunEvent::Second { row, delta } => {
                self.rows.push(row.clone());
                self.deltas.push(Arc::clone(delta));
                self.keep_within_limits();
            }
            RunEvent::Around(delta) => {
                self.deltas.push(Arc::clone(delta));
                self.keep_within_limits();
            }
            RunEvent::Mark(mark) => self.left_out += keep(&mut self.marks, [mark.clone()]),
            RunEvent::Resource(sample) => {
                self.left_out += keep(&mut self.resources, [sample.clone()]);
            }
            RunEvent::Observer(note) => self.left_out += keep(&mut self.notes, [note.clone()]),
            RunEvent::Finished(result) => self.end = Some(Arc::clone(result)),
        }
    }

    /// Adds a later batch.
    pub(super) fn absorb(&mut self, later: Batch) {
        self.start = self.start.take().or(later.start);
        self.end = later.end.or(self.end.take());
        self.rows.extend(later.rows);
        self.deltas.extend(later.deltas);
        self.left_out += later.left_out;
        self.left_out += keep(&mut self.marks, later.marks);
        self.left_out += keep(&mut self.resources, later.resources);
        self.left_out += keep(&mut self.notes, later.notes);
        self.keep_within_limits();
    }

    fn keep_within_limits(&mut self) {
        if self.deltas.len() > DELTAS_MAX {
            self.deltas = vec![Arc::new(self.merged())];
        }
        while self.rows.len() > ROWS_MAX {
            halve(&mut self.rows);
        }
    }

    fn merged(&self) -> Snapshot {
        let mut sum = Snapshot::default();
        for delta in &self.deltas {
            sum.merge(delta.as_ref().clone());
        }
        sum
    }

    /// Everything between start and end as one record; `None` if there is nothing.
    pub(super) fn part(&self) -> Option<Part> {
        self.has_part().then(|| Part {
            seen: self.merged(),
            rows: self.rows.clone(),
            marks: self.marks.clone(),
            resources: self.resources.clone(),
            notes: self.notes.clone(),
            left_out: self.left_out,
        })
    }
}

/// Appends what fits; returns how many did not.
pub(super) fn keep<T>(kept: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> u64 {
    let mut left_out = 0;
    for item in more {
        if kept.len() < EXTRAS_MAX {
            kept.push(item);
        } else {
            left_out += 1;
        }
    }
    left_out
}

//! Transactions: samples that are told together.
//!
//! Must not know how samples are made. Invariant: a transaction that was begun is told once, also where the thread
//! leaves it before its end.

use std::sync::Arc;

use super::{Thread, Walker};
use crate::program::{ControllerRule, NodeId};
use crate::sample::Sample;

/// A transaction under way.
#[derive(Debug)]
pub(super) struct OpenTransaction {
    name: String,
    start_ms: i64,
    /// When the last sample in it ended.
    last_end_ms: i64,
    /// Time between samples, where pauses do not count.
    pause_ms: u64,
    calls: u32,
    failing: u32,
    /// The sums over its samples.
    sum: Sample,
    /// Its samples, where they are told below it.
    children: Vec<Sample>,
}

impl OpenTransaction {
    fn add(&mut self, sample: &Sample, include_timers: bool) {
        if sample.is_transaction {
            return;
        }
        self.calls += 1;
        self.failing += u32::from(!sample.success);
        self.sum.bytes += sample.bytes;
        self.sum.sent_bytes += sample.sent_bytes;
        self.sum.latency_ms += sample.latency_ms;
        self.sum.connect_ms += sample.connect_ms;
        self.pass_to(sample.start_ms, include_timers);
        self.last_end_ms = end_of(sample);
    }

    /// Notes that nothing was sampled until an instant.
    fn pass_to(&mut self, unix_ms: i64, include_timers: bool) {
        if !include_timers {
            self.pause_ms += unix_ms
                .saturating_sub(self.last_end_ms)
                .max(0)
                .unsigned_abs();
        }
    }
}

fn end_of(sample: &Sample) -> i64 {
    let length_ms = sample.elapsed_ms + sample.idle_ms;
    sample.start_ms + i64::try_from(length_ms).unwrap_or(i64::MAX)
}

impl Thread {
    pub(super) fn begin_transaction(&mut self, walker: &Walker<'_>, node: NodeId) {
        let name = self.text(walker, &walker.node(node).name).into_owned();
        let now_ms = walker.host.unix_ms();
        self.transactions[node] = Some(OpenTransaction {
            name,
            start_ms: now_ms,
            last_end_ms: now_ms,
            pause_ms: 0,
            calls: 0,
            failing: 0,
            sum: Sample::default(),
            children: Vec::new(),
        });
    }

    /// Counts a sample in the transactions around it; gives it back unless one of them tells it below itself.
    pub(super) fn count_in_transactions(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        sample: Arc<Sample>,
    ) -> Option<Arc<Sample>> {
        for above in walker.above(node) {
            let ControllerRule::Transaction {
                is_parent,
                include_timers,
            } = walker.controller(above).rule
            else {
                continue;
            };
            let Some(open) = self.transactions[above].as_mut() else {
                continue;
            };
            open.add(&sample, include_timers);
            if is_parent {
                open.children.push(Arc::unwrap_or_clone(sample));
                return None;
            }
        }
        Some(sample)
    }

    /// Ends a transaction that is under way, and tells it.
    pub(super) fn end_transaction(&mut self, walker: &Walker<'_>, node: NodeId) {
        let controller = walker.controller(node);
        let ControllerRule::Transaction {
            is_parent,
            include_timers,
        } = controller.rule
        else {
            return;
        };
        let Some(mut open) = self.transactions[node].take() else {
            return;
        };
        let is_empty = open.calls == 0;
        let now_ms = walker.host.unix_ms();
        open.pass_to(now_ms, include_timers);
        let mut sample = told(open, is_parent, now_ms);
        self.sign(walker, &mut sample);
        if is_empty {
            // As in JMeter, which takes the name from the last sample.
            sample.thread_name.clear();
        }
        if is_parent {
            let name = sample.label.clone();
            for assertion in &controller.applies.assertions {
                assertion.check(&mut sample, &mut self.scope_of(walker, &name));
            }
        }
        self.note_variables(&mut sample);
        self.hand_over(walker, node, Arc::new(sample));
    }

    /// Ends the transactions that are under way at or below a node, the innermost first.
    pub(super) fn end_open_transactions(&mut self, walker: &Walker<'_>, node: NodeId) {
        for &child in &walker.controller(node).children {
            if !walker.is_sampler(child) {
                self.end_open_transactions(walker, child);
            }
        }
        self.end_transaction(walker, node);
    }
}

/// The sample of a transaction that ended.
fn told(open: OpenTransaction, is_parent: bool, now_ms: i64) -> Sample {
    let is_good = open.failing == 0;
    let span_ms = now_ms.saturating_sub(open.start_ms).max(0).unsigned_abs();
    let code = match (is_good, is_parent) {
        (true, _) => "200".to_owned(),
        (false, false) => String::new(),
        (false, true) => {
            let failed = open.children.iter().find(|child| !child.success);
            failed.map_or_else(String::new, |child| child.code.clone())
        }
    };
    Sample {
        label: open.name,
        code,
        message: format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            open.calls, open.failing
        ),
        success: is_good,
        start_ms: open.start_ms,
        elapsed_ms: span_ms.saturating_sub(open.pause_ms),
        idle_ms: open.pause_ms,
        children: open.children,
        is_transaction: true,
        ..open.sum
    }
}

//! Transactions: samples that are reported together.
//!
//! Must not know how samples are made. A parent transaction has a parent sample with its samples as
//! sub-samples. Invariant: a started transaction is reported once, even if the thread leaves it before its end;
//! if the thread ends in it, only a parent transaction is reported. As in JMeter, a parent transaction is
//! reported again after an action that continues inside it.

use std::sync::Arc;

use super::hearing::Hearers;
use super::{Ask, End, LAST_SAMPLE_OK, Thread, Walker};
use crate::host::LogLevel;
use crate::listener::{Heard, Standing};
use crate::program::{ControllerRule, NodeId, NodeKind, OnError};
use crate::sample::Sample;

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    /// All its samplers have run.
    AtEnd,
    /// It does not: an action continues inside it.
    Not,
    /// The thread continues elsewhere.
    Left,
    /// The thread ends.
    Stopped,
}

/// An open transaction.
#[derive(Clone, Debug)]
pub(super) struct OpenTransaction {
    name: String,
    is_parent: bool,
    include_timers: bool,
    start_ms: i64,
    /// When the last sample in it ended.
    last_end_ms: i64,
    /// Time between samples, if pauses do not count; time with several concurrent samples counts for each of
    /// them.
    pause_ms: i64,
    /// The number of samples that it reports.
    calls: usize,
    failing: u32,
    /// The sums over its samples, and the thread of the last one.
    sum: Sample,
    /// Its samples, for a parent transaction.
    children: Vec<Sample>,
    /// How many of these were reported before its end; `None`: it was not.
    told: Option<usize>,
}

impl OpenTransaction {
    fn add(&mut self, sample: &Sample, include_timers: bool) {
        self.sum.thread_name.clone_from(&sample.thread_name);
        self.sum.group_threads = sample.group_threads;
        self.sum.all_threads = sample.all_threads;
        self.failing += u32::from(!sample.success);
        self.sum.bytes += sample.bytes;
        self.sum.sent_bytes += sample.sent_bytes;
        self.sum.latency_ms += sample.latency_ms;
        self.sum.connect_ms += sample.connect_ms;
        let elapsed_ms = i64::try_from(sample.elapsed_ms).unwrap_or(i64::MAX);
        self.pass_to(end_of(sample).saturating_sub(elapsed_ms), include_timers);
        self.last_end_ms = end_of(sample);
    }

    /// Records that nothing was sampled until an instant.
    fn pass_to(&mut self, unix_ms: i64, include_timers: bool) {
        if !include_timers {
            self.pause_ms += unix_ms.saturating_sub(self.last_end_ms);
        }
    }
}

fn end_of(sample: &Sample) -> i64 {
    let elapsed_ms = i64::try_from(sample.elapsed_ms).unwrap_or(i64::MAX);
    (sample.start_ms + sample.idle_ms).saturating_add(elapsed_ms)
}

impl Thread {
    /// JMeter evaluates the name of each transaction when a thread starts, which matters if a function in it
    /// counts.
    pub(super) fn read_names_of_transactions(&mut self, walker: &Walker<'_>) {
        for node in &walker.group.nodes {
            if let NodeKind::Controller(controller) = &node.kind
                && matches!(controller.rule, ControllerRule::Transaction { .. })
            {
                self.text(walker, &node.name);
            }
        }
    }

    pub(super) fn begin_transaction(&mut self, walker: &Walker<'_>, node: NodeId) {
        let name = self.text(walker, &walker.node(node).name).into_owned();
        let now_ms = walker.host.unix_ms();
        let ControllerRule::Transaction {
            is_parent,
            include_timers,
        } = walker.controller(node).rule
        else {
            return;
        };
        if !self.open.contains(&node) {
            self.open.push(node);
        }
        self.transactions[node] = Some(OpenTransaction {
            name,
            is_parent,
            include_timers,
            start_ms: now_ms,
            last_end_ms: now_ms,
            pause_ms: 0,
            calls: 0,
            failing: 0,
            sum: Sample::default(),
            children: Vec::new(),
            told: None,
        });
    }

    /// Counts what was selected in a transaction without a parent sample, a sampler or the end of a transaction
    /// with one, and, as in JMeter, each of the transaction's own controllers that ended just before.
    pub(super) fn count_given(&mut self, node: NodeId, ended: usize) {
        if let Some(open) = self.transactions[node]
            .as_mut()
            .filter(|open| !open.is_parent)
        {
            open.calls += 1 + ended;
        }
    }

    /// Counts a sample in the open transactions around it; returns it unless it becomes a sub-sample of one of
    /// them.
    ///
    /// As in JMeter, an open transaction beside a sample or beside what is around it counts it too: a turn may
    /// have left one midway. One directly below a parent transaction receives none of its samples, and
    /// nothing between two parent transactions receives the sample of the inner one.
    pub(super) fn count_in_transactions(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        sample: Arc<Sample>,
        below: Option<NodeId>,
    ) -> Option<Arc<Sample>> {
        let mut around = walker.above(node);
        if !walker.is_sampler(node) {
            around.insert(0, node);
        }
        let reach = around.iter().position(|at| below == Some(*at));
        let is_heard = walker.is_sampler(node) || below.is_none();
        let heard_by = &around[..reach.unwrap_or(around.len())];
        self.open.retain(|at| self.transactions[*at].is_some());
        for at in self.open.iter().filter(|_| is_heard) {
            if let Some(open) = self.transactions[*at].as_mut()
                && !open.is_parent
                && heard_by.contains(&walker.node(*at).parent)
            {
                open.add(&sample, open.include_timers);
            }
        }
        if let Some(above) = below.filter(|_| reach.is_some())
            && let Some(open) = self.transactions[above].as_mut()
        {
            open.calls += 1;
            open.add(&sample, open.include_timers);
            open.children.push(Arc::unwrap_or_clone(sample));
            return None;
        }
        self.count_around_branches(walker, node, &sample);
        Some(sample)
    }

    /// Counts a sample of a branch in the transactions around all branches; parent transactions do not receive
    /// it.
    fn count_around_branches(&mut self, walker: &Walker<'_>, node: NodeId, sample: &Sample) {
        let Some(parallel) = walker.parallel_above(node) else {
            return;
        };
        if walker.is_told_below(node) {
            return;
        }
        for above in walker.above(parallel) {
            if let Some(open) = self.transactions[above].as_mut()
                && !open.is_parent
            {
                open.add(sample, open.include_timers);
            }
        }
    }

    /// The names of the open transactions around a node, the outermost first, each after `::`.
    pub(super) fn transactions_above(&self, walker: &Walker<'_>, node: NodeId) -> String {
        let mut path = String::new();
        let mut at = node;
        while walker.node(at).parent != at {
            at = walker.node(at).parent;
            if let Some(open) = &self.transactions[at] {
                path.insert_str(0, &open.name);
                path.insert_str(0, "::");
            }
        }
        path
    }

    /// Whether a controller is a parent transaction.
    pub(super) fn is_telling(&self, walker: &Walker<'_>, node: NodeId) -> bool {
        let rule = &walker.controller(node).rule;
        matches!(
            rule,
            ControllerRule::Transaction {
                is_parent: true,
                ..
            }
        )
    }

    /// The last of these that is an open parent transaction.
    pub(super) fn outermost_telling(
        &self,
        walker: &Walker<'_>,
        around: &[NodeId],
    ) -> Option<NodeId> {
        let mut open = around.iter().rev().copied();
        open.find(|at| self.transactions[*at].is_some() && self.is_telling(walker, *at))
    }

    /// Ends a parent transaction, which is a step of its own. As in JMeter, a thread that goes on with its next
    /// iteration after an error ends by one of a transaction alone.
    pub(super) fn end_parent_transaction(&mut self, walker: &Walker<'_>, node: NodeId) -> Ask {
        self.strand.fruitless_since_ms = None;
        self.end_transaction(walker, node);
        if walker.group.on_error == OnError::NextIteration && !self.last_was_good() {
            let name = walker.node(node).name.source();
            let message = format!("Test failed! The transaction {name} failed behind its samplers");
            let world = walker.host.world();
            world.log(LogLevel::Error, "o.a.j.t.JMeterThread", &message);
            self.strand.ending.get_or_insert(End::Thread);
        }
        if self.is_late(walker.host.unix_ms()) {
            self.strand.walks_on = true;
            self.strand.ending.get_or_insert(End::Thread);
        }
        Ask::Turn
    }

    /// Drops all open transactions with their samples.
    pub(super) fn lose_transactions(&mut self) {
        for node in 0..self.transactions.len() {
            self.lose_transaction(node);
        }
    }

    /// Ends an open transaction, and reports it.
    pub(super) fn end_transaction(&mut self, walker: &Walker<'_>, node: NodeId) {
        self.close_transaction(walker, node, Close::AtEnd);
    }

    /// Drops an open transaction with its samples.
    pub(super) fn lose_transaction(&mut self, node: NodeId) {
        let Some(open) = self.transactions[node].take() else {
            return;
        };
        let known = open.told.unwrap_or(0);
        let lost = open.children.into_iter().skip(known);
        self.done.extend(lost.map(|sample| Heard {
            sample: Arc::new(sample),
            listeners: Arc::default(),
            standing: Standing::Lost,
        }));
    }

    /// Ends a transaction that the thread leaves before its end, and reports it. Without a parent sample its
    /// code is blank, and its success is that of the last sample.
    pub(super) fn leave_transaction(&mut self, walker: &Walker<'_>, node: NodeId) {
        self.close_transaction(walker, node, Close::Left);
    }

    /// Reports an unfinished parent transaction: as in JMeter, it is reported by an action of a loop inside it,
    /// and further samples in it are taken nevertheless.
    pub(super) fn tell_unfinished(&mut self, walker: &Walker<'_>, node: NodeId) {
        let open = self.transactions[node].clone();
        self.close_transaction(walker, node, Close::Not);
        self.transactions[node] = open.map(|mut open| {
            open.told = Some(open.children.len());
            open
        });
    }

    fn close_transaction(&mut self, walker: &Walker<'_>, node: NodeId, close: Close) {
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
        let standing = open.told.map_or(Standing::Result, Standing::Again);
        let now_ms = walker.host.unix_ms();
        let is_left = close == Close::Left && !is_parent;
        if !is_left {
            open.pass_to(now_ms, include_timers);
        }
        let mut sample = told(open, is_parent, now_ms);
        if is_left {
            sample.code.clear();
            sample.success = self.variables.get(LAST_SAMPLE_OK) == Some("true");
        }
        if matches!(close, Close::Stopped | Close::Not) {
            sample.message.clear();
            sample.code = code_of(&sample.children);
        }
        sample.transactions = self.transactions_above(walker, node);
        sample.transactions.push_str("::");
        sample.transactions.push_str(&sample.label);
        // As in JMeter, which takes these from the samples that it receives.
        if is_parent {
            self.sign(walker, &mut sample);
            let name = sample.label.clone();
            for assertion in &controller.applies.assertions {
                self.lend_http(walker, &name, |scope, http| {
                    assertion.check(&mut sample, scope, http);
                });
            }
            self.note_success(sample.success);
        }
        self.note_variables(&mut sample);
        self.tell_transaction(walker, node, sample, is_parent.then_some(standing));
    }

    /// Reports the sample of a transaction: a parent transaction to the listeners in its scope, another to
    /// those of the last sampler, wherever that is; before the first sampler there are none, and a sub-sample
    /// of the sample of its branches is not reported itself.
    fn tell_transaction(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        mut sample: Sample,
        as_parent: Option<Standing>,
    ) {
        if let Some(standing) = as_parent {
            let below = self.telling_transaction(walker, node);
            let is_silent = walker.is_told_below(node);
            let applies = &walker.controller(node).applies;
            let listeners = match below.is_none() && !is_silent {
                true => Arc::clone(&applies.listeners),
                false => Arc::default(),
            };
            if below.is_none() && !is_silent {
                self.tell_scripts(walker, &applies.script_listeners, &mut sample);
            }
            self.save_answers(walker, &mut sample, &listeners);
            let hearers = Hearers {
                listeners,
                below,
                is_silent,
            };
            self.hand_over_as(walker, node, Arc::new(sample), hearers, standing);
        } else if let Some(last) = self
            .last_sampler
            .filter(|last| !walker.is_told_below(*last))
        {
            let applies = &walker.sampler(last).applies;
            let listeners = Arc::clone(&applies.listeners);
            self.tell_scripts(walker, &applies.script_listeners, &mut sample);
            self.save_answers(walker, &mut sample, &listeners);
            self.done.push(Heard {
                sample: Arc::new(sample),
                listeners,
                standing: Standing::Result,
            });
        }
    }

    /// The thread ends inside the open parent transactions around its last sampler, at or below a node: they are
    /// reported, the innermost first, without a count.
    pub(super) fn stop_parent_transactions(&mut self, walker: &Walker<'_>, node: NodeId) {
        for &child in &walker.controller(node).children {
            if !walker.is_sampler(child) {
                self.stop_parent_transactions(walker, child);
            }
        }
        let last = self.last_sampler.filter(|_| !self.is_branch());
        let is_around = last.is_none_or(|last| walker.above(last).contains(&node));
        if is_around && self.is_telling(walker, node) {
            self.close_transaction(walker, node, Close::Stopped);
        }
    }

    /// The thread ends inside the open transactions at or below a node: parent transactions around its last sampler
    /// are reported, the others are dropped.
    pub(super) fn stop_open_transactions(&mut self, walker: &Walker<'_>, node: NodeId) {
        self.stop_parent_transactions(walker, node);
        let mut below = vec![node];
        while let Some(node) = below.pop() {
            self.lose_transaction(node);
            let children = walker.controller(node).children.iter();
            below.extend(children.filter(|child| !walker.is_sampler(**child)));
        }
    }
}

/// The code of the first failed sample, otherwise of the last; blank: there is none.
fn code_of(samples: &[Sample]) -> String {
    let failed = samples.iter().find(|sample| !sample.success);
    let decisive = failed.or(samples.last());
    decisive.map_or_else(String::new, |sample| sample.code.clone())
}

/// The sample of a transaction that ended.
fn told(open: OpenTransaction, is_parent: bool, now_ms: i64) -> Sample {
    let is_good = open.failing == 0;
    let span_ms = now_ms.saturating_sub(open.start_ms).max(0);
    let code = match (is_good, is_parent) {
        (true, _) => "200".to_owned(),
        (false, false) => String::new(),
        (false, true) => code_of(&open.children),
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
        elapsed_ms: span_ms.saturating_sub(open.pause_ms).max(0).unsigned_abs(),
        idle_ms: open.pause_ms,
        children: open.children,
        is_transaction: true,
        ..open.sum
    }
}

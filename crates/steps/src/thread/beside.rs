//! Concurrent branches, as in the Parallel Controller plugin.
//!
//! The driver of the thread executes the requests of each branch as if it were a separate thread. Must not know
//! how samples are made. Invariant: the sampler that owns the branches ends after all of them.

use super::strand::Strand;
use super::{Ask, Doing, End, LAST_SAMPLE_OK, Outcome, SAME_USER, Thread, Walker};
use crate::host::Host;
use crate::program::{Action, NodeId, NodeKind, OnError, Parallel, SamplerAction};
use crate::sample::{DataType, Sample};
use crate::scope::ThreadIdentity;

/// Concurrent branches.
pub(super) struct Beside {
    /// One strand per branch; the place of the active one holds that of the thread itself.
    strands: Vec<Strand>,
    /// The parent sample of theirs; `None`: theirs are separate.
    sample: Option<Box<Sample>>,
    /// Branches that have started and not ended.
    running: u32,
    /// How the thread must end after them.
    end: Option<End>,
    /// Whether the thread must start its next iteration after them.
    skips_rest: bool,
}

impl Walker<'_> {
    /// The branches of a sampler, if it has any.
    fn parallel(&self, node: NodeId) -> Option<&Parallel> {
        match &self.node(node).kind {
            NodeKind::Sampler(sampler) => match &sampler.action {
                SamplerAction::Parallel(parallel) => Some(parallel),
                _ => None,
            },
            NodeKind::Controller(_) => None,
        }
    }

    /// The sampler whose branch contains a node.
    pub(super) fn parallel_above(&self, node: NodeId) -> Option<NodeId> {
        let top = self.above(node).last().copied().unwrap_or(node);
        let parent = self.node(top).parent;
        (parent != top).then_some(parent)
    }

    /// Whether a node is in a branch whose samples are sub-samples of its sampler's.
    pub(super) fn is_told_below(&self, node: NodeId) -> bool {
        let parallel = self.parallel_above(node).and_then(|at| self.parallel(at));
        parallel.is_some_and(|parallel| parallel.is_parent)
    }
}

impl Thread {
    /// Runs a sampler with branches.
    pub(super) fn begin_branches(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        name: &str,
        parallel: &Parallel,
    ) -> Option<Ask> {
        let at_a_time = match &parallel.at_a_time {
            Some(number) => usize::try_from(self.number(walker, number))
                .unwrap_or(0)
                .max(1),
            None => usize::MAX,
        };
        let sample = parallel
            .is_parent
            .then(|| Box::new(self.sample_of_branches(walker, name, parallel)));
        let strands = parallel.branches.iter();
        let strands = strands.map(|root| self.strand_of(*root, name)).collect();
        self.beside = Some(Box::new(Beside {
            strands,
            sample,
            running: 0,
            end: None,
            skips_rest: false,
        }));
        self.strand.doing = Doing::Awaiting(node);
        Some(Ask::Branches {
            count: parallel.branches.len(),
            at_a_time,
        })
    }

    fn sample_of_branches(
        &mut self,
        walker: &Walker<'_>,
        name: &str,
        parallel: &Parallel,
    ) -> Sample {
        let mut items = "Parallel items:\n".to_owned();
        for &root in &parallel.branches {
            for &branch in &walker.controller(root).children {
                items.push_str(&self.text(walker, &walker.node(branch).name));
                items.push('\n');
            }
        }
        Sample {
            label: name.to_owned(),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            data_type: DataType::Unset,
            sampler_data: Some(items),
            start_ms: walker.host.unix_ms(),
            ..Sample::default()
        }
    }

    /// The strand of a branch: in JMeter it only has the name of its controller.
    fn strand_of(&mut self, root: NodeId, name: &str) -> Strand {
        let (memory, pauses) = self.rested.remove(&root).unwrap_or_default();
        let own = &self.strand.identity;
        Strand {
            root,
            identity: ThreadIdentity {
                number: own.number,
                group: String::new(),
                group_threads: own.group_threads.clone(),
                name: format!("parallel {name}"),
                plan: own.plan.clone(),
            },
            memory,
            pauses,
            ..Strand::default()
        }
    }

    /// Starts a branch: everything in it is in its initial state.
    pub fn begin_branch(&mut self, branch: usize) {
        let program = std::sync::Arc::clone(&self.program);
        let Some(beside) = &mut self.beside else {
            return;
        };
        beside.running += 1;
        self.branches_begun += 1;
        let root = beside.strands[branch].root;
        self.variables.put(LAST_SAMPLE_OK, "true");
        // The plugin's threads do not know their group.
        self.variables.put(SAME_USER, "false");
        let nodes = &program.groups[self.group].nodes;
        let mut below = vec![root];
        while let Some(node) = below.pop() {
            if let NodeKind::Controller(controller) = &nodes[node].kind {
                self.states[node].begin_life();
                below.extend(&controller.children);
            }
        }
    }

    /// Continues a branch until it has to wait.
    pub fn advance_branch(&mut self, branch: usize, host: &dyn Host, outcome: Outcome) -> Ask {
        self.change_strand(branch);
        let ask = self.advance(host, outcome);
        self.change_strand(branch);
        ask
    }

    /// Ends a branch; `end`: what else ends with it.
    pub fn end_branch(&mut self, branch: usize, end: Option<End>) {
        self.change_strand(branch);
        self.free_all_locks();
        self.change_strand(branch);
        if let Some(beside) = &mut self.beside {
            let strand = &mut beside.strands[branch];
            let memory = std::mem::take(&mut strand.memory);
            let pauses = std::mem::take(&mut strand.pauses);
            self.rested.insert(strand.root, (memory, pauses));
            beside.running = beside.running.saturating_sub(1);
            beside.end = beside.end.max(end);
        }
    }

    /// The number of concurrent branches.
    pub(super) fn branches(&self) -> usize {
        self.beside
            .as_ref()
            .map_or(0, |beside| beside.strands.len())
    }

    /// Switches to the strand of a branch, or, the second time, back.
    pub(super) fn change_strand(&mut self, branch: usize) {
        let Some(beside) = &mut self.beside else {
            return;
        };
        let other = &mut beside.strands[branch];
        self.http.change_sampler(&mut self.strand.http);
        std::mem::swap(&mut self.strand, other);
        // Objects belong to the variables, which all strands share.
        std::mem::swap(&mut self.strand.memory.kept, &mut other.memory.kept);
        self.http.change_sampler(&mut self.strand.http);
    }

    /// All branches have ended.
    pub(super) fn end_branches(&mut self, walker: &Walker<'_>, node: NodeId) -> Option<Ask> {
        let beside = self.beside.take()?;
        let sample = beside.sample.map(|mut sample| {
            // A transaction's sub-samples are also direct children of the sample, and get the same data.
            for transaction in sample.children.iter_mut().filter(|one| one.is_transaction) {
                self.sign(walker, transaction);
            }
            if sample.children.is_empty() {
                let spent_ms = walker.host.unix_ms().saturating_sub(sample.start_ms);
                sample.elapsed_ms = spent_ms.max(0).unsigned_abs();
            }
            sample
        });
        let is_without = sample.is_none();
        let ask = self.finish(walker, node, sample);
        let is_next_wanted =
            is_without && !self.last_was_good() && walker.group.on_error == OnError::NextIteration;
        if (beside.skips_rest || is_next_wanted) && !self.strand.skips_rest {
            self.act(walker, node, Action::NextThreadIteration);
        }
        if let Some(end) = beside.end {
            self.end_after_walk(end);
        }
        ask
    }

    /// Aborts running branches when the thread does not continue.
    pub(super) fn break_off_branches(&mut self, walker: &Walker<'_>) {
        for branch in 0..self.branches() {
            self.change_strand(branch);
            self.stop_open_transactions(walker, self.strand.root);
            self.free_all_locks();
            self.change_strand(branch);
        }
        if let Doing::Awaiting(node) = self.strand.doing {
            self.end_branches(walker, node);
        }
    }

    /// The number of running branches, while a branch is active.
    pub(super) fn branches_at_work(&self) -> Option<u32> {
        let beside = self.beside.as_ref().filter(|_| self.is_branch());
        beside.map(|beside| beside.running)
    }

    /// Whether a branch is active.
    pub(super) fn is_branch(&self) -> bool {
        self.strand.root != 0
    }

    /// While a branch is active, makes the thread start its next iteration after the branches.
    pub(super) fn skip_rest_behind_branches(&mut self) {
        let is_branch = self.is_branch();
        if let Some(beside) = self.beside.as_mut().filter(|_| is_branch) {
            beside.skips_rest = true;
        }
    }

    /// Adds a sample of a branch to the parent sample; `false`: there is none.
    pub(super) fn tell_below_branches(&mut self, sample: &Sample) -> bool {
        let is_branch = self.is_branch();
        let beside = self.beside.as_mut().filter(|_| is_branch);
        let Some(above) = beside.and_then(|beside| beside.sample.as_mut()) else {
            return false;
        };
        above.success &= sample.success;
        above.add_named_below(sample.clone());
        true
    }
}

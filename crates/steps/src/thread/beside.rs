//! Branches that run beside one another, as the Parallel Controller of a plugin runs them.
//!
//! Whoever drives the thread carries out what each branch asks for, as if it were a thread of its own. Must not know how
//! samples are made. Invariant: the sampler that they are branches of ends once all of them have.

use super::strand::Strand;
use super::{Ask, Doing, End, LAST_SAMPLE_OK, Outcome, SAME_USER, Thread, Walker};
use crate::host::Host;
use crate::program::{Action, NodeId, NodeKind, OnError, Parallel, SamplerAction};
use crate::sample::{DataType, Sample};
use crate::scope::ThreadIdentity;

/// Branches that run beside one another.
pub(super) struct Beside {
    /// A strand for each; in the place of the one at work is that of the thread itself.
    strands: Vec<Strand>,
    /// The sample that theirs are told below; `None`: theirs stand alone.
    sample: Option<Box<Sample>>,
    /// Branches that have begun and not ended.
    running: u32,
    /// How the thread is to end with them.
    end: Option<End>,
    /// Whether the thread is to begin its next iteration after them.
    skips_rest: bool,
}

impl Walker<'_> {
    /// The branches of a sampler that has some.
    fn parallel(&self, node: NodeId) -> Option<&Parallel> {
        match &self.node(node).kind {
            NodeKind::Sampler(sampler) => match &sampler.action {
                SamplerAction::Parallel(parallel) => Some(parallel),
                _ => None,
            },
            NodeKind::Controller(_) => None,
        }
    }

    /// The sampler whose branch a node is in.
    pub(super) fn parallel_above(&self, node: NodeId) -> Option<NodeId> {
        let top = self.above(node).last().copied().unwrap_or(node);
        let parent = self.node(top).parent;
        (parent != top).then_some(parent)
    }

    /// Whether a node is in a branch whose samples are told below that of its sampler.
    pub(super) fn is_told_below(&self, node: NodeId) -> bool {
        let parallel = self.parallel_above(node).and_then(|at| self.parallel(at));
        parallel.is_some_and(|parallel| parallel.is_parent)
    }
}

impl Thread {
    /// Runs a sampler that has branches.
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
            sampler_data: items,
            start_ms: walker.host.unix_ms(),
            ..Sample::default()
        }
    }

    /// The strand of a branch: JMeter knows it by the name of its controller alone.
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

    /// Begins a branch: all that is below it is as it was before its first pass.
    pub fn begin_branch(&mut self, branch: usize) {
        let program = std::sync::Arc::clone(&self.program);
        let Some(beside) = &mut self.beside else {
            return;
        };
        beside.running += 1;
        self.branches_begun += 1;
        let root = beside.strands[branch].root;
        self.variables.put(LAST_SAMPLE_OK, "true");
        // The plugin's threads know nothing of their group.
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

    /// Goes on in a branch until something has to be waited for.
    pub fn advance_branch(&mut self, branch: usize, host: &dyn Host, outcome: Outcome) -> Ask {
        self.change_strand(branch);
        let ask = self.advance(host, outcome);
        self.change_strand(branch);
        ask
    }

    /// Ends a branch; `end`: what it ends with it.
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

    /// Branches that run beside one another.
    pub(super) fn branches(&self) -> usize {
        self.beside
            .as_ref()
            .map_or(0, |beside| beside.strands.len())
    }

    /// Lets the strand of a branch be at work, or, after that, the one before again.
    pub(super) fn change_strand(&mut self, branch: usize) {
        let Some(beside) = &mut self.beside else {
            return;
        };
        let other = &mut beside.strands[branch];
        self.http.change_sampler(&mut self.strand.http);
        std::mem::swap(&mut self.strand, other);
        // Objects are among the variables, which all strands share.
        std::mem::swap(&mut self.strand.memory.kept, &mut other.memory.kept);
        self.http.change_sampler(&mut self.strand.http);
    }

    /// All branches have ended.
    pub(super) fn end_branches(&mut self, walker: &Walker<'_>, node: NodeId) -> Option<Ask> {
        let beside = self.beside.take()?;
        let sample = beside.sample.map(|mut sample| {
            // Those below a transaction stand beside it too, and are told alike.
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

    /// Ends branches that are under way where the thread goes on no more.
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

    /// How many branches run, where a branch is at work.
    pub(super) fn branches_at_work(&self) -> Option<u32> {
        let beside = self.beside.as_ref().filter(|_| self.is_branch());
        beside.map(|beside| beside.running)
    }

    /// Whether a branch is at work.
    pub(super) fn is_branch(&self) -> bool {
        self.strand.root != 0
    }

    /// After the branches the thread is to begin its next iteration, where a branch is at work.
    pub(super) fn skip_rest_behind_branches(&mut self) {
        let is_branch = self.is_branch();
        if let Some(beside) = self.beside.as_mut().filter(|_| is_branch) {
            beside.skips_rest = true;
        }
    }

    /// Adds a sample of a branch to the one that it is told below; `false`: it stands alone.
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

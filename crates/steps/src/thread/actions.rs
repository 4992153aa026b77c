//! What ends or redirects a thread: actions of the plan, failed samples, exhausted data.
//!
//! Must not know how samples are made. Invariant: only this code, or the clock, ends a thread before its loops
//! do.

use super::{End, EndedEarly, LAST_SAMPLE_OK, Thread, Walker};
use crate::action::Action;
use crate::program::{Applicable, NodeId, OnError, PostProcessor};

impl Thread {
    /// Why the thread ended prematurely; `None`: it did not, or an action of the plan ended it.
    #[must_use]
    pub fn ended_early(&self) -> Option<EndedEarly> {
        self.ended_early
    }

    /// Ends the thread prematurely, unless it is already ending.
    pub(super) fn end_early(&mut self, early: EndedEarly) {
        if self.strand.ending.is_none() {
            self.strand.ending = Some(End::Thread);
            self.ended_early = Some(early);
        }
    }

    /// Ends the thread after the current sampler.
    pub(super) fn end_after_walk(&mut self, end: End) {
        self.strand.ending = Some(end);
        self.strand.walks_on = true;
    }

    /// Handles a failed sample: performs an action that ends the thread or the test, and returns one that moves
    /// the thread on. The handlers' actions come first, then the requested one, then the group's; the last one
    /// applies. Handlers around a parent transaction of the sample do not see it, and a branch ignores its
    /// group's action.
    pub(super) fn on_error(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        applies: &Applicable,
        ordered: Option<Action>,
    ) -> Option<Action> {
        let handlers = |applies: &Applicable| -> Vec<Action> {
            let after = applies.after.iter();
            let handlers = after.filter_map(|after| match after {
                PostProcessor::OnFailure(action) => Some(*action),
                _ => None,
            });
            handlers.collect()
        };
        let deaf = self.telling_transaction(walker, node);
        let deaf = deaf.map_or(0, |above| handlers(&walker.controller(above).applies).len());
        let of_group = match walker.group.on_error {
            _ if self.is_branch() => Action::Continue,
            OnError::Continue => Action::Continue,
            OnError::NextIteration => Action::NextThreadIteration,
            OnError::StopThread => Action::StopThread,
            OnError::StopTest => Action::StopTest,
            OnError::StopTestNow => Action::StopTestNow,
        };
        let of_handlers = handlers(applies).into_iter().skip(deaf);
        let of_handlers = of_handlers.filter(|_| !walker.is_told_below(node));
        let mut goes_on = None;
        for action in of_handlers.chain(ordered).chain([of_group]) {
            match action {
                Action::Continue => {}
                Action::StopThread | Action::StopTest | Action::StopTestNow => {
                    self.ended_early = Some(EndedEarly::Failed);
                    self.act(walker, node, action);
                }
                Action::NextThreadIteration | Action::NextLoopIteration | Action::BreakLoop => {
                    goes_on = Some(action);
                }
            }
        }
        goes_on
    }

    /// Performs an action in the context of a node.
    pub(super) fn act(&mut self, walker: &Walker<'_>, node: NodeId, action: Action) {
        match action {
            Action::Continue => {}
            Action::StopThread => self.end_after_walk(End::Thread),
            Action::StopTest => self.end_after_walk(End::Test),
            Action::StopTestNow => self.end_after_walk(End::TestNow),
            Action::NextThreadIteration => {
                self.cut_passes(walker, node, &walker.above(node));
                self.strand.skips_rest = true;
                self.skip_rest_behind_branches();
            }
            Action::NextLoopIteration => self.go_to_loop(walker, node, false),
            Action::BreakLoop => self.go_to_loop(walker, node, true),
        }
        let goes_on = matches!(
            action,
            Action::NextThreadIteration | Action::NextLoopIteration | Action::BreakLoop
        );
        if goes_on {
            self.variables.put(LAST_SAMPLE_OK, "true");
        }
    }

    /// Leaves all controllers up to the loop around a node, which starts its next iteration or ends.
    fn go_to_loop(&mut self, walker: &Walker<'_>, node: NodeId, ends: bool) {
        let above = walker.above(node);
        let is_group = |at: &NodeId| walker.node(*at).parent == *at;
        let mut loops = above.iter();
        let place = loops.position(|at| walker.controller(*at).is_loop() && !is_group(at));
        let Some(place) = place else {
            self.cut_passes(walker, node, &above);
            match ends {
                true => self.strand.ending = Some(End::Thread),
                false => self.strand.skips_rest = true,
            }
            return;
        };
        let telling = self.outermost_telling(walker, &above[place..]);
        if telling.is_some() {
            self.forget_telling(walker, &above[..place]);
        }
        self.cut_passes(walker, node, &above[..place]);
        match ends {
            true => self.break_loop(walker, above[place]),
            false => self.begin_next_round(walker, above[place]),
        }
        if let Some(telling) = telling {
            self.tell_unfinished(walker, telling);
        }
    }
}

//! The start of a controller's pass, and the state that is reset when a pass is cut short or restarted.
//!
//! Must not know which child is next. Invariant: state that is renewed with a pass is renewed even if the pass
//! does not reach it.

use loadline_java::numbers::{parse_double, parse_int};

use super::super::{Thread, Walker};
use crate::program::{Controller, ControllerRule, NodeId, NodeKind};

impl Thread {
    /// Whether all children of a controller are controllers that have ended for good, or contain only such
    /// ones: JMeter removes them, and does not enter an empty controller.
    pub(super) fn has_only_ended(&self, walker: &Walker<'_>, controller: &Controller) -> bool {
        let mut children = controller.children.iter();
        !controller.children.is_empty() && children.all(|&child| self.has_ended(walker, child))
    }

    /// Whether a child has ended for good.
    pub(super) fn has_ended(&self, walker: &Walker<'_>, child: NodeId) -> bool {
        let NodeKind::Controller(below) = &walker.node(child).kind else {
            return false;
        };
        match below.rule {
            ControllerRule::Loop { ends_for_good, .. } => {
                ends_for_good && self.states[child].is_spent
            }
            ControllerRule::ForEach(_)
            | ControllerRule::Runtime(_)
            | ControllerRule::Throughput { .. } => self.states[child].is_spent,
            _ => self.has_only_ended(walker, below),
        }
    }

    /// Starts a pass unless one is in progress: then data sources provide their next values.
    pub(super) fn enter_pass(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> bool {
        if self.states[node].under_way {
            return false;
        }
        let is_first_round = self.states[node].round.unwrap_or(0) == 0;
        let is_loop = self.states[node].round.is_some();
        let state = &mut self.states[node];
        state.under_way = true;
        state.has_given = false;
        // JMeter sends no notification of the first iteration of loops over variables.
        if is_loop && is_first_round && !matches!(controller.rule, ControllerRule::ForEach(_)) {
            self.renew_once_only(walker, controller);
        }
        self.renew_loops(walker, controller);
        if !walker.is_sampler(walker.node(node).parent) {
            self.renew_shares(walker, controller);
        }
        if matches!(controller.rule, ControllerRule::RandomOrder) {
            self.shuffle(walker, node, controller.children.len());
        }
        self.draw_data(walker, &controller.at_pass);
        true
    }

    /// Loops restart with each pass of the enclosing controller, even if the last one left them midway.
    fn renew_loops(&mut self, walker: &Walker<'_>, controller: &Controller) {
        for &child in &controller.children {
            if let NodeKind::Controller(below) = &walker.node(child).kind
                && matches!(
                    below.rule,
                    ControllerRule::Loop { .. }
                        | ControllerRule::While(_)
                        | ControllerRule::ForEach(_)
                )
            {
                self.states[child].leave();
            }
        }
    }

    /// Controllers that run a share of their entries decide with each pass of the enclosing controller, whether
    /// it reaches them or not. Those that are a branch are not notified of passes, and run no entry.
    fn renew_shares(&mut self, walker: &Walker<'_>, controller: &Controller) {
        for &child in &controller.children {
            if let NodeKind::Controller(below) = &walker.node(child).kind
                && let ControllerRule::Throughput {
                    amount,
                    is_percent,
                    per_thread,
                } = &below.rule
            {
                let amount = share(&self.text(walker, amount), *is_percent);
                self.decide_share(child, amount, *is_percent, *per_thread);
            }
        }
    }

    fn decide_share(&mut self, node: NodeId, amount: f64, is_percent: bool, per_thread: bool) {
        let decide = |(entries, runs): &mut (u64, u64)| {
            let is_run = match is_percent {
                true => (100.0 * *runs as f64 + 50.0) / (*entries as f64 + 1.0) < amount,
                false => (*runs as f64) < amount.trunc(),
            };
            *entries += 1;
            *runs += u64::from(is_run);
            (is_run, !is_percent && *runs as f64 >= amount.trunc())
        };
        let (is_run, is_exhausted) = match per_thread {
            true => {
                let state = &mut self.states[node];
                let mut counts = (state.entries, state.runs);
                let decided = decide(&mut counts);
                (state.entries, state.runs) = counts;
                decided
            }
            false => self.commons.share(self.group, node, decide),
        };
        let state = &mut self.states[node];
        state.runs_now = is_run;
        state.is_exhausted = is_exhausted;
    }

    /// A Once Only controller runs again with each entry of the enclosing loop.
    fn renew_once_only(&mut self, walker: &Walker<'_>, controller: &Controller) {
        for &child in &controller.children {
            if let NodeKind::Controller(below) = &walker.node(child).kind
                && matches!(below.rule, ControllerRule::OnceOnly)
            {
                self.states[child].is_spent = false;
            }
        }
    }

    fn shuffle(&mut self, walker: &Walker<'_>, node: NodeId, count: usize) {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, walker.chance(last + 1));
        }
        self.states[node].order = order;
    }

    /// Resets a controller's pass, and all state of those inside it: Once Only controllers run again, and those
    /// that take turns start with the first child.
    pub(super) fn begin_anew(&mut self, walker: &Walker<'_>, node: NodeId) {
        let state = &mut self.states[node];
        let given = (state.has_given, state.is_spent);
        state.leave();
        match &walker.controller(node).rule {
            ControllerRule::OnceOnly => state.is_spent = false,
            // Turns that were taken stay taken.
            ControllerRule::Interleave { .. } | ControllerRule::Random { .. } => {
                (state.has_given, state.is_spent) = given;
            }
            _ => {}
        }
        for &child in &walker.controller(node).children {
            if !walker.is_sampler(child) {
                self.begin_anew(walker, child);
            }
        }
    }

    /// Cuts short the passes of controllers around a node, the innermost first. The outermost parent transaction
    /// is reported last.
    pub(in super::super) fn cut_passes(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        around: &[NodeId],
    ) {
        let telling = self.outermost_telling(walker, &walker.above(node));
        for &above in around {
            if telling != Some(above) {
                self.leave_transaction(walker, above);
            }
            self.cut_pass(walker, above);
        }
        if let Some(telling) = telling.filter(|telling| around.contains(telling)) {
            self.leave_transaction(walker, telling);
        }
    }

    /// Drops the open ones of these that are parent transactions: their samples are lost.
    pub(in super::super) fn forget_telling(&mut self, walker: &Walker<'_>, around: &[NodeId]) {
        for &at in around {
            if self.is_telling(walker, at) {
                self.lose_transaction(at);
            }
        }
    }

    /// Ends a controller's pass from inside, for an action that continues further out. Then a While also
    /// evaluates its condition, and an If restarts with everything inside it.
    pub(in super::super) fn cut_pass(&mut self, walker: &Walker<'_>, node: NodeId) {
        let position = self.states[node].position;
        self.leave(node);
        match &walker.controller(node).rule {
            ControllerRule::Interleave { .. } => {
                self.states[node].position = position;
                self.states[node].is_spent = false;
            }
            ControllerRule::If { .. } => self.begin_anew(walker, node),
            ControllerRule::While(condition) => {
                self.while_is_over(walker, node, condition, true);
            }
            _ => {}
        }
    }
}

/// The percentage or number of entries that a Throughput Controller runs; an invalid number is JMeter's
/// default.
fn share(amount: &str, is_percent: bool) -> f64 {
    match is_percent {
        true => parse_double(amount).unwrap_or(100.0),
        false => parse_int(amount).map_or(1.0, f64::from),
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_that_is_no_number_is_the_default() {
        let of = |texts: [&str; 4], is_percent| texts.map(|text| share(text, is_percent));
        assert_eq!(
            of(["", "abc", "33.3", "0"], true),
            [100.0, 100.0, 33.3, 0.0]
        );
        assert_eq!(of(["", "abc", "2.5", "3"], false), [1.0, 1.0, 1.0, 3.0]);
    }
}

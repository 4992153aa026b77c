//! The start and the end of a controller's pass, and the state that is reset with them.
//!
//! Must not know which child is next. Invariant: state that is renewed with a pass is renewed even if the pass
//! does not reach it.

use loadline_java::numbers::{parse_double, parse_int};

use super::super::{Thread, Walker};
use crate::program::{Controller, ControllerRule, NodeId, NodeKind};

impl Thread {
    /// Starts a pass unless one is in progress: then data sources provide their next values.
    pub(super) fn begin_pass(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) {
        if std::mem::replace(&mut self.states[node].under_way, true) {
            return;
        }
        // As in JMeter, loops over variables and for a time have no first pass.
        let is_counted = !matches!(
            controller.rule,
            ControllerRule::ForEach(_) | ControllerRule::Runtime(_)
        );
        if is_counted && self.states[node].round == 0 {
            self.renew_once_only(walker, controller);
        }
        self.renew_loops(walker, controller);
        if !walker.is_sampler(walker.node(node).parent) {
            self.renew_shares(walker, controller);
        }
        self.draw_data(walker, &controller.at_pass);
    }

    /// Goes to the next child.
    pub(super) fn move_on(&mut self, walker: &Walker<'_>, node: NodeId) {
        let controller = walker.controller(node);
        let state = &mut self.states[node];
        match &controller.rule {
            ControllerRule::Switch(_) | ControllerRule::Weighted { .. } => state.place = usize::MAX,
            ControllerRule::Interleave { .. } | ControllerRule::Random { .. } => {
                state.is_turn_over |= state.has_given;
                state.has_moved = true;
                state.place += 1;
            }
            _ => state.place += 1,
        }
        if let ControllerRule::Random { .. } = controller.rule {
            self.go_to_first(walker, node);
        }
    }

    /// Goes to the first child, or to any one if chance decides.
    pub(super) fn go_to_first(&mut self, walker: &Walker<'_>, node: NodeId) {
        let controller = walker.controller(node);
        let count = self.states[node].left(controller).len();
        self.states[node].place = match controller.rule {
            ControllerRule::Random { .. } if count > 0 => walker.chance(count),
            _ => 0,
        };
    }

    /// Ends a pass: the next one begins with the first child; of controllers that take turns, with the next.
    pub(super) fn restart(&mut self, walker: &Walker<'_>, node: NodeId) {
        let state = &mut self.states[node];
        state.under_way = false;
        state.round += 1;
        match walker.controller(node).rule {
            ControllerRule::Interleave { .. } | ControllerRule::Random { .. } => {
                state.is_turn_over = false;
                state.first_of_turn = None;
                state.has_given = false;
                state.has_moved = false;
            }
            ControllerRule::RandomOrder => {
                state.place = 0;
                self.shuffle(walker, node);
            }
            _ => state.place = 0,
        }
    }

    /// Whether a controller has ended for good: its parent leaves it out.
    pub(super) fn is_over(&mut self, walker: &Walker<'_>, node: NodeId) -> bool {
        let NodeKind::Controller(controller) = &walker.node(node).kind else {
            return false;
        };
        match &controller.rule {
            ControllerRule::If { .. } => false,
            ControllerRule::ForEach(rule) => self.for_each_is_over(walker, node, rule),
            ControllerRule::Runtime(seconds) => {
                let is_empty = self.states[node].left(controller).is_empty();
                is_empty || self.seconds_to_run(walker, seconds) <= 0 || self.states[node].is_done
            }
            ControllerRule::Throughput {
                amount,
                is_percent,
                per_thread,
            } => {
                let amount = share(&self.text(walker, amount), *is_percent);
                self.share_is_over(node, controller, amount, *is_percent, *per_thread)
            }
            _ => self.states[node].is_done,
        }
    }

    fn share_is_over(
        &mut self,
        node: NodeId,
        controller: &Controller,
        amount: f64,
        is_percent: bool,
        per_thread: bool,
    ) -> bool {
        let state = &self.states[node];
        let left = state.left(controller).len();
        if left == 0 || amount == 0.0 {
            return true;
        }
        let is_at_end = state.place >= left;
        let runs = match per_thread {
            true => state.runs,
            false => self.commons.share(self.group, node, |(_, runs)| *runs),
        };
        !is_percent && is_at_end && runs as f64 >= amount.trunc()
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
                self.restart(walker, child);
                self.begin_rounds(walker, child);
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
            is_run
        };
        let is_run = match per_thread {
            true => {
                let state = &mut self.states[node];
                let mut counts = (state.entries, state.runs);
                let decided = decide(&mut counts);
                (state.entries, state.runs) = counts;
                decided
            }
            false => self.commons.share(self.group, node, decide),
        };
        self.states[node].runs_now = is_run;
    }

    /// A Once Only controller runs again with each entry of the enclosing loop.
    fn renew_once_only(&mut self, walker: &Walker<'_>, controller: &Controller) {
        for &child in &controller.children {
            if let NodeKind::Controller(below) = &walker.node(child).kind
                && matches!(below.rule, ControllerRule::OnceOnly)
            {
                self.restart(walker, child);
            }
        }
    }

    fn shuffle(&mut self, walker: &Walker<'_>, node: NodeId) {
        let state = &mut self.states[node];
        let mut order = state.left(walker.controller(node)).to_vec();
        for last in (1..order.len()).rev() {
            order.swap(last, walker.chance(last + 1));
        }
        state.left = Some(order);
    }

    /// Prepares a controller and those inside it, as when a thread begins: Once Only controllers run again, and
    /// those that take turns begin with the first child. A turn in progress stays so, and so does the number of
    /// a loop's round.
    pub(in super::super) fn initialize(&mut self, walker: &Walker<'_>, node: NodeId) {
        let controller = walker.controller(node);
        // JMeter counts threads from zero here.
        let number = self.strand.identity.number.saturating_sub(1) as usize;
        let state = &mut self.states[node];
        state.under_way = false;
        state.is_done = false;
        state.place = 0;
        let count = state.left(controller).len();
        match &controller.rule {
            ControllerRule::Loop { .. } | ControllerRule::Runtime(_) => {}
            ControllerRule::ForEach(rule) => {
                self.states[node].round = self.number(walker, &rule.start);
            }
            ControllerRule::RandomOrder => {
                state.round = 0;
                self.shuffle(walker, node);
            }
            ControllerRule::Interleave {
                across_threads: true,
                ..
            } if count > 0 => {
                state.round = 0;
                state.place = number % count;
            }
            ControllerRule::Random { .. } => {
                state.round = 0;
                self.go_to_first(walker, node);
            }
            _ => state.round = 0,
        }
        self.initialize_below(walker, node);
    }

    /// Prepares the controllers inside a controller.
    pub(super) fn initialize_below(&mut self, walker: &Walker<'_>, node: NodeId) {
        for child in self.states[node].left(walker.controller(node)).to_vec() {
            if !walker.is_sampler(child) {
                self.initialize(walker, child);
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
    /// evaluates its condition, and an If prepares everything inside it.
    pub(in super::super) fn cut_pass(&mut self, walker: &Walker<'_>, node: NodeId) {
        let rule = &walker.controller(node).rule;
        if matches!(rule, ControllerRule::If { .. }) {
            self.initialize_below(walker, node);
        }
        self.restart(walker, node);
        if let ControllerRule::While(condition) = rule {
            self.while_is_over(walker, node, condition, true);
        }
        let is_loop = matches!(
            rule,
            ControllerRule::Loop { .. }
                | ControllerRule::While(_)
                | ControllerRule::ForEach(_)
                | ControllerRule::Runtime(_)
        );
        if is_loop {
            self.begin_rounds(walker, node);
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

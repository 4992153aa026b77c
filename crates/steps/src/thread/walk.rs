//! Which sampler comes next: the rules of the controllers over the state that one thread keeps of each.
//!
//! A pass of a controller is one walk over its children; its end is told as [`Next::End`], after which the next call
//! begins a new pass. Must not know samples. Invariant: whatever a controller's children give, a call ends: a pass
//! without a sampler that would be repeated is told as [`Next::Spin`].

use super::{Thread, Walker};
use crate::program::{Controller, ControllerRule, NodeId, NodeKind};
use crate::text::Text;

/// What a walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A sampler is to be run.
    Sampler(NodeId),
    /// The pass is over.
    End,
    /// A loop went round without a sampler and would go on.
    Spin,
}

/// What a thread keeps of a controller.
#[derive(Clone, Debug, Default)]
pub(super) struct ControllerState {
    /// The child that is next.
    position: usize,
    /// Whether a pass is under way.
    under_way: bool,
    /// Whether the pass has given a sampler.
    has_given: bool,
    /// Passes of the loop since it was entered; `None`: it is not entered.
    round: Option<i64>,
    /// Rounds at most; negative: no limit.
    rounds_max: i64,
    /// Whether the loop is to end.
    is_broken: bool,
    /// Whether what runs once has run.
    is_spent: bool,
    /// The order of the children, where it is by chance.
    order: Vec<usize>,
    /// When it was entered.
    entered_ms: i64,
    /// Entries so far, and those that ran.
    entries: u64,
    runs: u64,
}

impl ControllerState {
    /// Forgets the pass, and for a loop its rounds.
    fn leave(&mut self) {
        self.position = 0;
        self.under_way = false;
        self.has_given = false;
        self.round = None;
        self.is_broken = false;
    }

    /// Forgets the pass alone.
    fn end_pass(&mut self) {
        self.position = 0;
        self.under_way = false;
    }
}

impl Thread {
    /// The next sampler below a controller.
    pub(super) fn next(&mut self, walker: &Walker<'_>, node: NodeId) -> Next {
        let controller = walker.controller(node);
        match &controller.rule {
            ControllerRule::Simple => self.next_in_order(walker, node, controller),
            ControllerRule::Loop(times) => self.next_of_loop(walker, node, controller, times),
            ControllerRule::OnceOnly => self.next_of_once(walker, node, controller),
            ControllerRule::If {
                condition,
                every_child,
            } => self.next_of_if(walker, node, controller, condition, *every_child),
            ControllerRule::While(condition) => {
                self.next_of_while(walker, node, controller, condition)
            }
            ControllerRule::ForEach(_) => self.next_of_for_each(walker, node, controller),
            ControllerRule::Transaction { .. } => {
                self.next_of_transaction(walker, node, controller)
            }
            ControllerRule::RandomOrder => self.next_in_order(walker, node, controller),
            ControllerRule::Random | ControllerRule::Interleave { .. } => {
                self.next_in_turn(walker, node, controller)
            }
            ControllerRule::Throughput {
                amount,
                is_percent,
                per_thread,
            } => {
                let share = (amount, *is_percent, *per_thread);
                self.next_of_share(walker, node, controller, share)
            }
            ControllerRule::Switch(value) => self.next_of_switch(walker, node, controller, value),
            ControllerRule::Runtime(seconds) => {
                self.next_of_runtime(walker, node, controller, seconds)
            }
        }
    }

    /// Ends whatever is under way in a controller, without a trace.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.states[node].leave();
    }

    /// Forgets the pass of a loop that begins its next round.
    pub(super) fn begin_next_round(&mut self, node: NodeId) {
        let state = &mut self.states[node];
        state.end_pass();
        state.round = state.round.map(|round| round + 1);
    }

    /// Orders a loop to end.
    pub(super) fn break_loop(&mut self, node: NodeId) {
        self.states[node].end_pass();
        self.states[node].is_broken = true;
    }

    /// Begins a pass unless one is under way: that is when data sources give what is next.
    fn enter_pass(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> bool {
        if self.states[node].under_way {
            return false;
        }
        let is_first_round = self.states[node].round.unwrap_or(0) == 0;
        let is_loop = self.states[node].round.is_some();
        let state = &mut self.states[node];
        state.under_way = true;
        state.has_given = false;
        if is_loop && is_first_round {
            self.renew_once_only(walker, controller);
        }
        if matches!(controller.rule, ControllerRule::RandomOrder) {
            self.shuffle(walker, node, controller.children.len());
        }
        self.draw_data(walker, &controller.at_pass);
        true
    }

    /// What runs once runs again with each entry of the loop around it.
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

    /// All children, one after another.
    pub(super) fn next_in_order(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        self.enter_pass(walker, node, controller);
        if self.is_leaving() {
            return Next::End;
        }
        loop {
            let state = &self.states[node];
            let position = state.order.get(state.position).copied();
            let position = position.unwrap_or(state.position);
            let Some(&child) = controller.children.get(position) else {
                self.states[node].end_pass();
                return Next::End;
            };
            if walker.is_sampler(child) {
                self.states[node].position += 1;
                self.states[node].has_given = true;
                return Next::Sampler(child);
            }
            match self.next(walker, child) {
                Next::End => self.states[node].position += 1,
                Next::Spin => return Next::Spin,
                given @ Next::Sampler(_) => {
                    self.states[node].has_given = true;
                    return given;
                }
            }
            if self.is_leaving() {
                return Next::End;
            }
        }
    }

    fn next_of_loop(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        times: &Text,
    ) -> Next {
        if self.states[node].round.is_none() {
            let rounds_max = self.number(walker, times);
            let state = &mut self.states[node];
            state.round = Some(0);
            state.rounds_max = rounds_max;
        }
        loop {
            let state = &self.states[node];
            let round = state.round.unwrap_or(0);
            let is_over = state.rounds_max >= 0 && round >= state.rounds_max;
            if state.is_broken || is_over && !state.under_way {
                self.states[node].leave();
                return Next::End;
            }
            self.tell_round(walker, node, round);
            match self.next_in_order(walker, node, controller) {
                Next::End => {}
                other => return other,
            }
            let state = &mut self.states[node];
            state.round = Some(round + 1);
            if !state.has_given && (state.rounds_max < 0 || round + 1 < state.rounds_max) {
                return Next::Spin;
            }
        }
    }

    /// Sets the variable that says which round of a loop it is.
    pub(super) fn tell_round(&mut self, walker: &Walker<'_>, node: NodeId, round: i64) {
        let name = self.text(walker, &walker.node(node).name);
        let name = format!("__jm__{name}__idx");
        self.variables.put(name, round.to_string());
    }

    fn next_of_once(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Next {
        if self.states[node].is_spent {
            return Next::End;
        }
        let next = self.next_in_order(walker, node, controller);
        if next == Next::End {
            self.states[node].is_spent = true;
        }
        next
    }

    fn next_of_if(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        condition: &Text,
        every_child: bool,
    ) -> Next {
        let is_asked = every_child || !self.states[node].under_way;
        if is_asked
            && !self
                .text(walker, condition)
                .trim()
                .eq_ignore_ascii_case("true")
        {
            self.leave_below(walker, node);
            self.states[node].leave();
            return Next::End;
        }
        self.next_in_order(walker, node, controller)
    }

    /// Forgets whatever is under way below a controller.
    pub(super) fn leave_below(&mut self, walker: &Walker<'_>, node: NodeId) {
        for &child in &walker.controller(node).children {
            if !walker.is_sampler(child) && self.states[child].under_way {
                self.leave_below(walker, child);
                self.states[child].leave();
            }
        }
    }

    fn next_of_while(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        condition: &Text,
    ) -> Next {
        loop {
            let round = self.states[node].round.unwrap_or(0);
            self.tell_round(walker, node, round);
            if !self.states[node].under_way && self.while_is_over(walker, node, condition, false) {
                self.states[node].leave();
                return Next::End;
            }
            self.states[node].round = Some(round);
            match self.next_in_order(walker, node, controller) {
                Next::End => {}
                other => return other,
            }
            if self.while_is_over(walker, node, condition, true) {
                self.states[node].leave();
                return Next::End;
            }
            let state = &mut self.states[node];
            state.round = Some(round + 1);
            if !state.has_given {
                return Next::Spin;
            }
        }
    }

    /// Whether a While loop is over, at the end of a round or before one.
    fn while_is_over(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        condition: &Text,
        at_end: bool,
    ) -> bool {
        if self.states[node].is_broken {
            return true;
        }
        let condition = self.text(walker, condition);
        let condition = condition.trim();
        if condition.is_empty() {
            return at_end && !self.last_was_good();
        }
        match condition.eq_ignore_ascii_case("last") {
            true => !self.last_was_good(),
            false => condition.eq_ignore_ascii_case("false"),
        }
    }

    fn next_of_for_each(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        let ControllerRule::ForEach(rule) = &controller.rule else {
            return Next::End;
        };
        if self.states[node].round.is_none() {
            let start = self.number(walker, &rule.start);
            self.states[node].round = Some(start);
        }
        loop {
            let round = self.states[node].round.unwrap_or(0);
            if !self.states[node].under_way {
                let Some(value) = self.value_of_round(walker, rule, round) else {
                    self.states[node].leave();
                    return Next::End;
                };
                if self.states[node].is_broken {
                    self.states[node].leave();
                    return Next::End;
                }
                let output = self.text(walker, &rule.output);
                self.variables.put(output, value);
            }
            self.tell_round(walker, node, round);
            match self.next_in_order(walker, node, controller) {
                Next::End => self.states[node].round = Some(round + 1),
                other => return other,
            }
        }
    }

    /// The value of a round of a ForEach loop; `None`: there is none, and the loop is over.
    fn value_of_round(
        &mut self,
        walker: &Walker<'_>,
        rule: &crate::program::ForEach,
        round: i64,
    ) -> Option<String> {
        if let Some(end) = &rule.end
            && round >= self.number(walker, end)
        {
            return None;
        }
        let separator = if rule.separator { "_" } else { "" };
        let input = self.text(walker, &rule.input);
        let name = format!("{input}{separator}{}", round + 1);
        self.variables.get(&name).map(str::to_owned)
    }

    /// One child an entry; a controller gives one sampler, or all of its own.
    fn next_in_turn(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Next {
        let (whole, across_threads) = match controller.rule {
            ControllerRule::Interleave {
                whole_controllers,
                across_threads,
            } => (whole_controllers, across_threads),
            _ => (false, false),
        };
        let count = controller.children.len();
        if self.states[node].has_given && !self.states[node].is_spent {
            self.states[node].has_given = false;
            self.states[node].under_way = false;
            return Next::End;
        }
        if self.enter_pass(walker, node, controller) && count > 0 {
            let is_random = matches!(controller.rule, ControllerRule::Random);
            let state = &mut self.states[node];
            if is_random {
                state.position = walker.chance(count);
            } else if across_threads && state.entries == 0 {
                state.position = self.identity.number as usize % count;
            }
            self.states[node].entries += 1;
        }
        for _ in 0..count {
            let position = self.states[node].position % count;
            let child = controller.children[position];
            let next = match walker.is_sampler(child) {
                true => Next::Sampler(child),
                false => self.next(walker, child),
            };
            // While a controller gives all of its samplers, it is spent only with the last.
            let is_in_child = whole && !walker.is_sampler(child);
            let was_in_child = std::mem::take(&mut self.states[node].is_spent);
            match next {
                Next::Sampler(_) => {
                    let state = &mut self.states[node];
                    state.has_given = true;
                    state.is_spent = is_in_child;
                    if !is_in_child {
                        state.position = (position + 1) % count;
                    }
                    return next;
                }
                Next::Spin => return Next::Spin,
                Next::End => {
                    self.states[node].position = (position + 1) % count;
                    if was_in_child {
                        break;
                    }
                }
            }
        }
        self.states[node].has_given = false;
        self.states[node].under_way = false;
        Next::End
    }

    fn next_of_share(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        (amount, is_percent, per_thread): (&Text, bool, bool),
    ) -> Next {
        if self.states[node].under_way {
            return self.next_in_order(walker, node, controller);
        }
        let amount = self.decimal(walker, amount);
        let decide = |(entries, runs): &mut (u64, u64)| {
            let is_run = match is_percent {
                true => (100.0 * *runs as f64 + 50.0) / (*entries as f64 + 1.0) < amount,
                false => (*runs as f64) < amount.trunc(),
            };
            *entries += 1;
            *runs += u64::from(is_run);
            is_run
        };
        let is_run = if per_thread {
            let state = &mut self.states[node];
            let mut counts = (state.entries, state.runs);
            let is_run = decide(&mut counts);
            (state.entries, state.runs) = counts;
            is_run
        } else {
            self.commons.share(self.group, node, decide)
        };
        match is_run {
            true => self.next_in_order(walker, node, controller),
            false => Next::End,
        }
    }

    fn next_of_switch(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        value: &Text,
    ) -> Next {
        if !self.states[node].under_way {
            self.enter_pass(walker, node, controller);
            let chosen = self.chosen_child(walker, controller, value);
            self.states[node].position = chosen.unwrap_or(controller.children.len());
        }
        let position = self.states[node].position;
        let next = match controller.children.get(position) {
            None => Next::End,
            Some(&child) if walker.is_sampler(child) => {
                self.states[node].position = controller.children.len();
                Next::Sampler(child)
            }
            Some(&child) => self.next(walker, child),
        };
        if next == Next::End {
            self.states[node].end_pass();
        }
        next
    }

    /// The child that a Switch names by number or name; `None`: none.
    fn chosen_child(
        &mut self,
        walker: &Walker<'_>,
        controller: &Controller,
        value: &Text,
    ) -> Option<usize> {
        let value = self.text(walker, value);
        let count = controller.children.len();
        if value.trim().is_empty() {
            return (count > 0).then_some(0);
        }
        if let Ok(number) = value.trim().parse::<i32>() {
            let number = usize::try_from(number).unwrap_or(0);
            let number = if number < count { number } else { 0 };
            return (count > 0).then_some(number);
        }
        let mut of_name = |name: &str| {
            let mut children = controller.children.iter();
            children.position(|&child| self.text(walker, &walker.node(child).name) == name)
        };
        of_name(value.trim()).or_else(|| of_name("default"))
    }

    fn next_of_runtime(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        seconds: &Text,
    ) -> Next {
        if self.states[node].round.is_none() {
            self.states[node].round = Some(0);
            self.states[node].entered_ms = walker.host.unix_ms();
        }
        let limit_ms = self.number(walker, seconds).saturating_mul(1000);
        loop {
            let spent_ms = walker.host.unix_ms() - self.states[node].entered_ms;
            if spent_ms >= limit_ms || self.states[node].is_broken {
                self.leave_below(walker, node);
                self.states[node].leave();
                return Next::End;
            }
            match self.next_in_order(walker, node, controller) {
                Next::End if !self.states[node].has_given => return Next::Spin,
                Next::End => {}
                other => return other,
            }
        }
    }

    fn next_of_transaction(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        if !self.states[node].under_way {
            self.begin_transaction(walker, node);
        }
        let next = self.next_in_order(walker, node, controller);
        if next == Next::End {
            self.end_transaction(walker, node);
        }
        next
    }
}

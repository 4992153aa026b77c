//! Selection of the next sampler: the rules of the controllers, with the state that one thread keeps of each.
//!
//! A pass of a controller is one walk over its children; its end is reported as [`Next::End`], after which the
//! next call starts a new pass. Must not know samples. Invariant: a call always terminates: a pass without a
//! sampler that would be repeated is reported as [`Next::Spin`].

mod loops;
mod passes;

use std::borrow::Cow;

use super::{Thread, Walker};
use crate::host::LogLevel;
use crate::program::{Controller, ControllerRule, NodeId};
use crate::script::run_condition;
use crate::text::Text;

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The sampler to run.
    Sampler(NodeId),
    /// The pass is over.
    End,
    /// A loop iteration had no sampler, and the loop would continue.
    Spin,
    /// Another thread holds the lock that this one needs.
    Blocked,
}

/// A thread's state of a controller.
#[derive(Clone, Debug, Default)]
pub(super) struct ControllerState {
    /// The next child.
    position: usize,
    /// Whether a pass is in progress.
    under_way: bool,
    /// Whether the pass has had a sampler.
    has_given: bool,
    /// Completed iterations of the loop since it was entered; `None`: not entered.
    round: Option<i64>,
    /// Maximum iterations; negative: no limit.
    rounds_max: i64,
    /// Whether the loop must end.
    is_broken: bool,
    /// Whether its single run is over.
    is_spent: bool,
    /// The order of the children, if it is random.
    order: Vec<usize>,
    /// When it was entered.
    entered_ms: i64,
    /// Entries so far, and those that ran.
    entries: u64,
    runs: u64,
    /// Whether a controller that runs a share of its entries runs this one.
    runs_now: bool,
    /// Whether it runs no further ones.
    is_exhausted: bool,
    /// Turns of each child, if they are weighted.
    turns: Vec<u64>,
}

impl ControllerState {
    /// Resets the pass, and for a loop its iterations.
    fn leave(&mut self) {
        self.position = 0;
        self.under_way = false;
        self.has_given = false;
        self.round = None;
        self.is_broken = false;
    }

    /// Resets everything except the counts that decide which share of the entries runs.
    pub(super) fn begin_life(&mut self) {
        *self = ControllerState {
            entries: self.entries,
            runs: self.runs,
            ..ControllerState::default()
        };
    }

    /// Resets only the pass.
    fn end_pass(&mut self) {
        self.position = 0;
        self.under_way = false;
    }
}

impl Thread {
    /// The next sampler inside a controller.
    pub(super) fn next(&mut self, walker: &Walker<'_>, node: NodeId) -> Next {
        let controller = walker.controller(node);
        if !self.states[node].under_way && self.has_only_ended(walker, controller) {
            return Next::End;
        }
        match &controller.rule {
            ControllerRule::Simple => self.next_in_order(walker, node, controller),
            ControllerRule::Loop {
                times,
                ends_for_good,
            } => {
                let next = self.next_of_loop(walker, node, controller, times, *ends_for_good);
                self.states[node].is_spent |= *ends_for_good && matches!(next, Next::End);
                next
            }
            ControllerRule::Parameterized(variables) => {
                self.set_variables(walker, variables);
                self.next_in_order(walker, node, controller)
            }
            ControllerRule::OnceOnly => self.next_of_once(walker, node, controller),
            ControllerRule::If { .. } => self.next_of_if(walker, node, controller),
            ControllerRule::While(condition) => {
                self.next_of_while(walker, node, controller, condition)
            }
            ControllerRule::ForEach(_) => self.next_of_for_each(walker, node, controller),
            ControllerRule::Transaction { .. } => {
                self.next_of_transaction(walker, node, controller)
            }
            ControllerRule::RandomOrder => self.next_in_order(walker, node, controller),
            ControllerRule::Random { .. } | ControllerRule::Interleave { .. } => {
                self.next_in_turn(walker, node, controller)
            }
            ControllerRule::Throughput { .. } => self.next_of_share(walker, node, controller),
            ControllerRule::Switch(_) | ControllerRule::Weighted { .. } => {
                self.next_of_chosen(walker, node, controller)
            }
            ControllerRule::Runtime(seconds) => {
                self.next_of_runtime(walker, node, controller, seconds)
            }
            ControllerRule::Critical(lock) => self.next_of_critical(walker, node, controller, lock),
        }
    }

    /// Whether a pass of a controller is in progress.
    pub(super) fn is_in(&self, node: NodeId) -> bool {
        self.states[node].under_way
    }

    /// Ends everything in progress in a controller, without a trace.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.states[node].leave();
    }

    /// Resets the pass of a loop that starts its next iteration.
    pub(super) fn begin_next_round(&mut self, node: NodeId) {
        let state = &mut self.states[node];
        state.end_pass();
        state.round = state.round.map(|round| round + 1);
    }

    /// Makes a loop end.
    pub(super) fn break_loop(&mut self, node: NodeId) {
        self.states[node].end_pass();
        self.states[node].is_broken = true;
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
                Next::End => {
                    self.states[node].position += 1;
                    // It is evaluated again, and so sets its variables again.
                    if let ControllerRule::Parameterized(variables) = &controller.rule {
                        self.set_variables(walker, variables);
                    }
                    if asks_each_time(controller) {
                        return self.next_of_if(walker, node, controller);
                    }
                }
                waiting @ (Next::Spin | Next::Blocked) => return waiting,
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

    /// Sets the variable with the iteration number of a loop.
    pub(super) fn tell_round(&mut self, walker: &Walker<'_>, node: NodeId, round: i64) {
        let name = match node == 0 && !walker.group.has_named_loop {
            true => Cow::default(),
            false => self.text(walker, &walker.node(node).name),
        };
        let name = format!("__jm__{name}__idx");
        self.variables.put(name, round.to_string());
        self.told_round_of = node;
    }

    /// The same, after inner loops have set theirs: of loops with the same name the outer one's iteration
    /// counts.
    pub(super) fn tell_round_again(&mut self, walker: &Walker<'_>, node: NodeId, round: i64) {
        if self.told_round_of != node {
            self.tell_round(walker, node, round);
        }
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

    fn next_of_if(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Next {
        let ControllerRule::If {
            condition,
            every_child,
            is_script,
        } = &controller.rule
        else {
            return Next::End;
        };
        let is_asked = *every_child || !self.states[node].under_way;
        if is_asked && !self.holds(walker, node, condition, *is_script) {
            self.begin_anew(walker, node);
            return Next::End;
        }
        self.next_in_order(walker, node, controller)
    }

    /// Whether a condition is true. A JavaScript condition that throws, or is neither true nor false, is false,
    /// which is logged.
    fn holds(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        condition: &Text,
        is_script: bool,
    ) -> bool {
        let value = self.text(walker, condition).into_owned();
        if !is_script || matches!(value.trim(), "true" | "false") {
            return value.trim().eq_ignore_ascii_case("true");
        }
        let outcome = run_condition(&value, &mut self.scope_of(walker, ""));
        let fault = match outcome.as_deref() {
            Ok("true") => return true,
            Ok("false") => return false,
            Ok(_) => format!(" BAD CONDITION :: {value} :: expected true or false"),
            Err(thrown) => thrown.to_owned(),
        };
        let name = walker.node(node).name.source();
        let message = format!("{name}: error while processing [{value}]: {fault}");
        let world = walker.host.world();
        world.log(LogLevel::Error, "o.a.j.c.IfController", &message);
        false
    }

    /// Resets everything in progress inside a controller.
    pub(super) fn leave_below(&mut self, walker: &Walker<'_>, node: NodeId) {
        for &child in &walker.controller(node).children {
            if !walker.is_sampler(child) && self.states[child].under_way {
                self.leave_below(walker, child);
                self.states[child].leave();
            }
        }
    }

    /// One child per entry; a controller runs one of its samplers, or all.
    fn next_in_turn(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Next {
        let (whole, across_threads, is_random) = match controller.rule {
            ControllerRule::Interleave {
                whole_controllers,
                across_threads,
            } => (whole_controllers, across_threads, false),
            ControllerRule::Random { whole_controllers } => (whole_controllers, false, true),
            _ => (false, false, false),
        };
        let count = controller.children.len();
        if self.states[node].has_given && !self.states[node].is_spent {
            self.states[node].has_given = false;
            self.states[node].under_way = false;
            return Next::End;
        }
        if self.enter_pass(walker, node, controller) && count > 0 {
            let state = &mut self.states[node];
            if is_random {
                state.position = walker.chance(count);
            } else if across_threads && state.entries == 0 {
                state.position = self.strand.identity.number as usize % count;
            }
            self.states[node].entries += 1;
        }
        let mut is_again = false;
        let tries = if whole { count } else { 2 * count };
        for _ in 0..tries {
            let position = self.states[node].position % count;
            let child = controller.children[position];
            let next = match walker.is_sampler(child) {
                true => Next::Sampler(child),
                false => self.next(walker, child),
            };
            // A controller that runs all of its samplers is spent only after the last one.
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
                Next::Spin | Next::Blocked => return next,
                Next::End if !whole && !is_again => {
                    // A controller at its end restarts in the same turn.
                    is_again = true;
                    continue;
                }
                Next::End => {
                    is_again = false;
                    self.states[node].position = (position + 1) % count;
                    if was_in_child && !self.has_ended(walker, child) {
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
    ) -> Next {
        let next = match self.states[node].runs_now {
            true => self.next_in_order(walker, node, controller),
            false => Next::End,
        };
        let state = &mut self.states[node];
        state.is_spent = state.is_exhausted && next == Next::End;
        next
    }

    fn next_of_chosen(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        if !self.states[node].under_way {
            self.enter_pass(walker, node, controller);
            let chosen = match &controller.rule {
                ControllerRule::Switch(value) => self.chosen_child(walker, controller, value),
                ControllerRule::Weighted { weights, is_random } => {
                    self.weighted_child(walker, node, weights, *is_random)
                }
                _ => None,
            };
            self.states[node].position = chosen.unwrap_or(controller.children.len());
        }
        let next = loop {
            let position = self.states[node].position;
            let Some(&child) = controller.children.get(position) else {
                break Next::End;
            };
            if walker.is_sampler(child) {
                self.states[node].position = controller.children.len();
                break Next::Sampler(child);
            }
            match self.next(walker, child) {
                // It is removed, and the next one takes its place.
                Next::End if self.has_ended(walker, child) => self.states[node].position += 1,
                next => break next,
            }
        };
        if next == Next::End {
            self.states[node].end_pass();
        }
        next
    }

    /// Sets variables; all values are evaluated before the first is set.
    fn set_variables(&mut self, walker: &Walker<'_>, variables: &[(Text, Text)]) {
        let mut values = Vec::with_capacity(variables.len());
        for (name, value) in variables {
            let name = self.text(walker, name).into_owned();
            values.push((name, self.text(walker, value).into_owned()));
        }
        for (name, value) in values {
            self.variables.put(name, value);
        }
    }

    /// The child whose share of the turns so far is furthest below its share of the weights, the first of
    /// several; or a random one. `None`: there is no weight.
    fn weighted_child(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        weights: &[Text],
        is_random: bool,
    ) -> Option<usize> {
        let whole = |text: Cow<'_, str>| text.parse().unwrap_or(0_i64).max(0);
        let weights: Vec<i64> = (weights.iter())
            .map(|weight| whole(self.text(walker, weight)))
            .collect();
        let sum: i64 = weights.iter().sum();
        if is_random {
            let mut left = walker.chance(usize::try_from(sum).unwrap_or(0).max(1));
            return weights.iter().position(|&weight| {
                let weight = usize::try_from(weight).unwrap_or(0);
                let is_it = left < weight;
                left = left.saturating_sub(weight);
                is_it
            });
        }
        let turns = &mut self.states[node].turns;
        turns.resize(weights.len(), 0);
        let all: u64 = turns.iter().sum();
        let share = |weight: i64| weight as f64 / sum as f64;
        let mut furthest: Option<(usize, f64)> = None;
        for (place, &weight) in weights.iter().enumerate() {
            let had = if all > 0 {
                turns[place] as f64 / all as f64
            } else {
                0.0
            };
            let behind = share(weight) - had;
            if behind > furthest.map_or(0.0, |(_, most)| most) {
                furthest = Some((place, behind));
            }
        }
        // If each has had its share, the heaviest is next.
        let heaviest = || (0..weights.len()).rev().max_by_key(|&place| weights[place]);
        let place = furthest.map(|(place, _)| place).or_else(heaviest)?;
        turns[place] += 1;
        Some(place)
    }

    /// The child selected by a Switch, by number or name, among the remaining ones, or otherwise the default;
    /// `None`: none.
    fn chosen_child(
        &mut self,
        walker: &Walker<'_>,
        controller: &Controller,
        value: &Text,
    ) -> Option<usize> {
        let value = self.text(walker, value);
        let children = controller.children.iter().enumerate();
        let left = children.filter(|(_, child)| !self.has_ended(walker, **child));
        let left: Vec<(usize, NodeId)> = left.map(|(place, &child)| (place, child)).collect();
        let place_of = |number: usize| left.get(number).or(left.first()).map(|(place, _)| *place);
        if value.trim().is_empty() {
            return place_of(0);
        }
        // A number with a sign is a name. Of several children named `default`, in any case, the last one is
        // used.
        let is_number = value.trim().bytes().all(|byte| byte.is_ascii_digit());
        if let (true, Ok(number)) = (is_number, value.trim().parse::<i32>()) {
            return place_of(usize::try_from(number).unwrap_or(0));
        }
        let wanted = value.trim();
        let mut default = None;
        for (place, child) in left {
            let name = self.text(walker, &walker.node(child).name);
            if name == wanted {
                return Some(place);
            }
            if name.eq_ignore_ascii_case("default") {
                default = Some(place);
            }
        }
        default
    }

    /// The controller's children, unless another thread is in one with the same lock.
    fn next_of_critical(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        lock: &Text,
    ) -> Next {
        if !self.states[node].under_way {
            let name = self.text(walker, lock).into_owned();
            if !self.take_lock(node, name) {
                return Next::Blocked;
            }
        }
        let next = self.next_in_order(walker, node, controller);
        if next == Next::End {
            self.free_locks();
        }
        next
    }

    fn next_of_transaction(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        // As in JMeter, an empty controller is removed after its first turn.
        let is_gone = controller.children.is_empty()
            && std::mem::replace(&mut self.states[node].is_spent, true);
        if is_gone || std::mem::take(&mut self.states[node].is_broken) {
            return Next::End;
        }
        let is_too_late = self.strand.is_last_walk && self.is_telling(walker, node);
        if !self.states[node].under_way && !is_too_late {
            self.begin_transaction(walker, node);
        }
        let before = self.states[node].position;
        let next = self.next_in_order(walker, node, controller);
        match next {
            // JMeter's thread has got the transaction itself there, and ends.
            _ if is_too_late => return Next::Spin,
            Next::End => self.end_transaction(walker, node),
            Next::Sampler(sampler) => {
                let is_own = walker.node(sampler).parent == node;
                let passed = self.states[node].position - before;
                self.count_given(node, passed - usize::from(is_own));
            }
            Next::Spin | Next::Blocked => {}
        }
        next
    }
}

/// Whether an If evaluates its condition before each of its children.
fn asks_each_time(controller: &Controller) -> bool {
    matches!(
        controller.rule,
        ControllerRule::If {
            every_child: true,
            ..
        }
    )
}

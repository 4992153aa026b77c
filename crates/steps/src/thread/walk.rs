//! Selection of the next sampler: the rules of the controllers, with the state that one thread keeps of each.
//!
//! A controller is asked for one sampler after another. When it has none, its pass is over, and the next question
//! begins another one. Must not know samples. Invariant: a call always terminates: rounds without a sampler that
//! would be repeated without end are reported as [`Next::Spin`].

mod loops;
mod passes;
mod turns;

use std::borrow::Cow;

use super::{Thread, Walker};
use crate::host::LogLevel;
use crate::program::{Controller, ControllerRule, NodeId};
use crate::script::run_condition;
use crate::text::Text;

/// Rounds without a sampler that a loop may make in one walk.
const FRUITLESS_ROUNDS_MAX: u32 = 100;

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The sampler to run.
    Sampler(NodeId),
    /// The end of a parent transaction, which is a step of its own.
    Transaction(NodeId),
    /// The pass is over.
    End,
    /// A loop made many rounds without a sampler, and would continue.
    Spin,
    /// Another thread holds the lock that this one needs.
    Blocked,
    /// The thread ends here: its data ended, or a function threw an exception.
    Leaving,
}

/// The result of one step of a walk.
enum Step {
    /// The walk is over.
    Given(Next),
    /// All children have had their turn.
    AllGiven,
    /// A child was left behind: the controller is asked again.
    Again,
    /// A loop begins another round.
    Round,
}

/// A thread's state of a controller.
#[derive(Clone, Debug, Default)]
pub(super) struct ControllerState {
    /// The place of the next child among those that are left.
    place: usize,
    /// Whether a pass is in progress.
    under_way: bool,
    /// Whether it has ended for good: its parent leaves it out from then on.
    is_done: bool,
    /// The children that are left, in the order in which they run; `None`: all of them as in the plan.
    left: Option<Vec<NodeId>>,
    /// Completed passes; of loops, since the loop was entered; of a loop over variables, the number of the last.
    round: i64,
    /// Maximum rounds of a loop, once evaluated; negative: no limit.
    rounds_max: Option<i64>,
    /// Whether the loop must end.
    is_broken: bool,
    /// When a controller that runs for a time was entered.
    entered_ms: Option<i64>,
    /// Whether a turn is over, of controllers that run one child per entry.
    is_turn_over: bool,
    /// The child with which the turn began.
    first_of_turn: Option<NodeId>,
    /// Whether a controller has given a sampler in this turn.
    has_given: bool,
    /// Whether the turn has gone past a child.
    has_moved: bool,
    /// Entries so far, and those that ran.
    entries: u64,
    runs: u64,
    /// Whether a controller that runs a share of its entries runs this one.
    runs_now: bool,
    /// Whether a parent transaction has given its end.
    is_told: bool,
    /// Turns of each child, if they are weighted.
    turns: Vec<u64>,
}

impl ControllerState {
    /// Resets everything except the counts that decide which share of the entries runs.
    pub(super) fn begin_life(&mut self) {
        *self = ControllerState {
            entries: self.entries,
            runs: self.runs,
            ..ControllerState::default()
        };
    }

    /// The children that are left.
    fn left<'s>(&'s self, controller: &'s Controller) -> &'s [NodeId] {
        self.left.as_deref().unwrap_or(&controller.children)
    }

    /// It has ended for good.
    fn end_for_good(&mut self) {
        self.is_done = true;
        self.is_broken = false;
        self.rounds_max = None;
    }
}

impl Thread {
    /// The next sampler inside a controller.
    pub(super) fn next(&mut self, walker: &Walker<'_>, node: NodeId) -> Next {
        let controller = walker.controller(node);
        let mut rounds = 0;
        let mut passed = 0;
        loop {
            match self.step(walker, node, controller) {
                _ if self.has_thrown() => return Next::Leaving,
                Step::Given(next) => {
                    if matches!(next, Next::Sampler(_) | Next::Transaction(_)) {
                        self.count_given(node, passed);
                    }
                    return next;
                }
                Step::AllGiven => {
                    self.restart(walker, node);
                    return Next::End;
                }
                Step::Again => passed += 1,
                Step::Round if rounds >= FRUITLESS_ROUNDS_MAX => return Next::Spin,
                Step::Round => rounds += 1,
            }
        }
    }

    fn step(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Step {
        match &controller.rule {
            ControllerRule::Simple | ControllerRule::RandomOrder => {
                self.in_order(walker, node, controller)
            }
            ControllerRule::Loop {
                times,
                ends_for_good,
            } => self.step_of_loop(walker, node, controller, times, *ends_for_good),
            ControllerRule::While(condition) => {
                self.step_of_while(walker, node, controller, condition)
            }
            ControllerRule::ForEach(rule) => self.step_of_for_each(walker, node, controller, rule),
            ControllerRule::Runtime(seconds) => {
                self.step_of_runtime(walker, node, controller, seconds)
            }
            ControllerRule::OnceOnly => match self.in_order(walker, node, controller) {
                // Its pass stays over.
                Step::AllGiven => Step::Given(Next::End),
                step => step,
            },
            ControllerRule::If {
                condition,
                every_child,
                is_script,
            } => self.step_of_if(
                walker,
                node,
                controller,
                (condition, *every_child, *is_script),
            ),
            ControllerRule::Transaction { is_parent, .. } => {
                self.step_of_transaction(walker, node, controller, *is_parent)
            }
            ControllerRule::Random { .. } | ControllerRule::Interleave { .. } => {
                self.step_in_turn(walker, node, controller)
            }
            ControllerRule::Throughput { .. } if !self.states[node].runs_now => {
                Step::Given(Next::End)
            }
            ControllerRule::Throughput { .. } => self.in_order(walker, node, controller),
            ControllerRule::Switch(_) | ControllerRule::Weighted { .. } => {
                self.step_of_chosen(walker, node, controller)
            }
            ControllerRule::Critical(lock) => self.step_of_critical(walker, node, controller, lock),
            ControllerRule::Parameterized(variables) => {
                self.set_variables(walker, variables);
                self.in_order(walker, node, controller)
            }
        }
    }

    /// One child after another.
    fn in_order(&mut self, walker: &Walker<'_>, node: NodeId, controller: &Controller) -> Step {
        let child = match self.child(walker, node, controller) {
            Ok(child) => child,
            Err(step) => return step,
        };
        if walker.is_sampler(child) {
            self.move_on(walker, node);
            return Step::Given(Next::Sampler(child));
        }
        match self.next(walker, child) {
            Next::End => {
                if self.is_over(walker, child) {
                    self.remove(node, controller);
                } else {
                    self.move_on(walker, node);
                }
                Step::Again
            }
            given => Step::Given(given),
        }
    }

    /// The child whose turn it is; otherwise how the walk goes on.
    fn child(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Result<NodeId, Step> {
        self.begin_pass(walker, node, controller);
        if self.is_leaving() {
            return Err(Step::Given(Next::Leaving));
        }
        if self.is_over(walker, node) {
            return Err(Step::Given(Next::End));
        }
        let state = &mut self.states[node];
        match state.left(controller).get(state.place) {
            Some(child) => Ok(*child),
            None if state.left(controller).is_empty() => {
                state.end_for_good();
                Err(Step::Given(Next::End))
            }
            None => Err(Step::AllGiven),
        }
    }

    /// Leaves out the child whose turn it is from now on: the one behind it takes its place.
    fn remove(&mut self, node: NodeId, controller: &Controller) {
        let state = &mut self.states[node];
        let left = state
            .left
            .get_or_insert_with(|| controller.children.clone());
        left.remove(state.place);
    }

    /// Whether a pass of a controller is in progress.
    pub(super) fn is_in(&self, node: NodeId) -> bool {
        self.states[node].under_way
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

    /// The same after a step that began in a round: inner loops with the same name have set theirs.
    fn tell_round_behind(&mut self, walker: &Walker<'_>, node: NodeId, began_in: i64) {
        let round = self.states[node].round;
        if round == began_in {
            self.tell_round_again(walker, node, round);
        } else {
            self.tell_round(walker, node, round);
        }
    }

    /// The same, after inner loops have set theirs: of loops with the same name the outer one's iteration
    /// counts.
    pub(super) fn tell_round_again(&mut self, walker: &Walker<'_>, node: NodeId, round: i64) {
        if self.told_round_of != node {
            self.tell_round(walker, node, round);
        }
    }

    fn step_of_if(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        (condition, every_child, is_script): (&Text, bool, bool),
    ) -> Step {
        let is_asked = every_child || !self.states[node].under_way;
        if is_asked && !self.holds(walker, node, condition, is_script) {
            self.initialize_below(walker, node);
            return Step::AllGiven;
        }
        self.in_order(walker, node, controller)
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
        if self.has_thrown() {
            return false;
        }
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

    /// The controller's children, unless another thread is in one with the same lock. A lock without a name
    /// locks nothing.
    fn step_of_critical(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        lock: &Text,
    ) -> Step {
        if !self.states[node].under_way {
            let name = self.text(walker, lock).into_owned();
            if !name.is_empty() && !self.take_lock(node, name) {
                return Step::Given(Next::Blocked);
            }
        }
        let step = self.in_order(walker, node, controller);
        if matches!(step, Step::AllGiven) {
            self.restart(walker, node);
            self.free_locks();
            return Step::Given(Next::End);
        }
        step
    }

    fn step_of_transaction(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        is_parent: bool,
    ) -> Step {
        if std::mem::take(&mut self.states[node].is_told) {
            return Step::Given(Next::End);
        }
        // In the walk at its end, a thread begins no parent transaction.
        let goes_on = self.states[node].under_way || is_parent && self.strand.is_last_walk;
        if !goes_on {
            self.begin_transaction(walker, node);
        }
        let is_at_end = self.states[node].place == self.states[node].left(controller).len();
        let step = self.in_order(walker, node, controller);
        let is_over = matches!(step, Step::AllGiven | Step::Given(Next::End));
        if matches!(step, Step::AllGiven) {
            self.restart(walker, node);
        }
        if is_over && is_parent {
            self.states[node].is_told = true;
            return Step::Given(Next::Transaction(node));
        }
        if is_over && is_at_end {
            self.end_transaction(walker, node);
        }
        match is_over {
            true => Step::Given(Next::End),
            false => step,
        }
    }
}

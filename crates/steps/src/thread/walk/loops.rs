//! Loops: by number, by condition, over a sequence of variables, for a time.
//!
//! Must not know controllers other than loops. Invariant: a loop that begins another round says so, whether the
//! last one had a sampler or not.

use loadline_java::numbers::long_or_zero;

use super::super::{Thread, Walker};
use super::{Next, Step};
use crate::program::{Controller, ControllerRule, ForEach, NodeId};
use crate::text::Text;

impl Thread {
    pub(super) fn step_of_loop(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        times: &Text,
        ends_for_good: bool,
    ) -> Step {
        let round = self.states[node].round;
        self.tell_round(walker, node, round);
        let step = match self.has_had_its_rounds(walker, node, times) {
            true => {
                self.states[node].is_broken = false;
                Step::Given(Next::End)
            }
            false => self.in_order(walker, node, controller),
        };
        let is_at_end = matches!(step, Step::AllGiven);
        if is_at_end {
            self.restart(walker, node);
        }
        let is_over = match is_at_end {
            true => self.has_had_its_rounds(walker, node, times),
            false => matches!(step, Step::Given(Next::End)),
        };
        if is_over && ends_for_good {
            self.states[node].end_for_good();
        } else if is_over && is_at_end {
            self.states[node].round = 0;
            self.states[node].rounds_max = None;
        }
        self.tell_round_behind(walker, node, round);
        match (is_over, is_at_end) {
            (true, _) => Step::Given(Next::End),
            (false, true) => Step::Round,
            (false, false) => step,
        }
    }

    /// Whether a loop has had its number of rounds, which is evaluated once; again while it is none or without
    /// end.
    fn has_had_its_rounds(&mut self, walker: &Walker<'_>, node: NodeId, times: &Text) -> bool {
        let known = self.states[node].rounds_max;
        let rounds_max = match known.filter(|known| !matches!(known, 0 | -1)) {
            Some(known) => known,
            // A number with surrounding blanks is invalid.
            None => {
                let rounds_max = long_or_zero(&self.text(walker, times));
                self.forgive_no_number();
                rounds_max
            }
        };
        let state = &mut self.states[node];
        state.rounds_max = Some(rounds_max);
        state.is_broken || rounds_max >= 0 && state.round >= rounds_max
    }

    pub(super) fn step_of_while(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        condition: &Text,
    ) -> Step {
        let round = self.states[node].round;
        self.tell_round(walker, node, round);
        let is_first = !self.states[node].under_way;
        let mut is_over = is_first && self.while_is_over(walker, node, condition, false);
        let step = match is_over {
            true => Step::Given(Next::End),
            false => self.in_order(walker, node, controller),
        };
        let is_at_end = matches!(step, Step::AllGiven);
        if is_at_end {
            self.restart(walker, node);
            is_over = self.while_is_over(walker, node, condition, true);
        }
        if is_over {
            self.states[node].is_broken = false;
            self.states[node].round = 0;
        }
        self.tell_round_behind(walker, node, round);
        match (is_over, is_at_end) {
            (true, _) => Step::Given(Next::End),
            (false, true) => Step::Round,
            (false, false) => step,
        }
    }

    /// Whether a While loop is over, at the end of a round or before one.
    pub(super) fn while_is_over(
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

    pub(super) fn step_of_for_each(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        rule: &ForEach,
    ) -> Step {
        let round = self.states[node].round;
        self.tell_round(walker, node, round);
        let mut is_over = self.states[node].is_broken || self.value(walker, node, rule).is_none();
        let step = match is_over {
            true => Step::AllGiven,
            false => self.in_order(walker, node, controller),
        };
        let is_at_end = matches!(step, Step::AllGiven);
        if is_at_end {
            self.restart(walker, node);
            is_over = is_over
                || self.value(walker, node, rule).is_none()
                || self.is_at_last(walker, node, rule);
        }
        if is_over {
            self.states[node].is_broken = false;
            self.states[node].round = self.number(walker, &rule.start);
        }
        self.tell_round_behind(walker, node, round);
        match (is_over, is_at_end) {
            (true, _) => Step::Given(Next::End),
            (false, true) => Step::Round,
            (false, false) => step,
        }
    }

    /// Whether a ForEach loop has ended for good: it is at its last number. As JMeter asks this before each step,
    /// it also sets the loop's variable to the value of the round.
    pub(super) fn for_each_is_over(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        rule: &ForEach,
    ) -> bool {
        if self.is_at_last(walker, node, rule) {
            return true;
        }
        let Some(value) = self.value(walker, node, rule) else {
            return self.states[node].is_done;
        };
        let output = self.text(walker, &rule.output).into_owned();
        self.variables.put(output, value);
        false
    }

    fn is_at_last(&mut self, walker: &Walker<'_>, node: NodeId, rule: &ForEach) -> bool {
        let last = rule.end.as_ref().map(|last| self.number(walker, last));
        last.is_some_and(|last| self.states[node].round >= last)
    }

    /// The value for a round of a ForEach loop; `None`: there is no such variable.
    fn value(&mut self, walker: &Walker<'_>, node: NodeId, rule: &ForEach) -> Option<String> {
        let separator = if rule.separator { "_" } else { "" };
        let input = self.text(walker, &rule.input);
        let name = format!("{input}{separator}{}", self.states[node].round + 1);
        self.variables.get(&name).map(str::to_owned)
    }

    pub(super) fn step_of_runtime(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        seconds: &Text,
    ) -> Step {
        let mut is_over = self.has_had_its_time(walker, node, seconds);
        let step = match is_over {
            true => Step::AllGiven,
            false => self.in_order(walker, node, controller),
        };
        let is_at_end = matches!(step, Step::AllGiven);
        if is_at_end {
            self.restart(walker, node);
            is_over = is_over || self.has_had_its_time(walker, node, seconds);
        }
        if is_over {
            self.states[node].entered_ms = None;
        }
        match (is_over, is_at_end) {
            (true, _) => Step::Given(Next::End),
            (false, true) => Step::Round,
            (false, false) => step,
        }
    }

    fn has_had_its_time(&mut self, walker: &Walker<'_>, node: NodeId, seconds: &Text) -> bool {
        let now_ms = walker.host.unix_ms();
        let entered_ms = *self.states[node].entered_ms.get_or_insert(now_ms);
        (now_ms - entered_ms) / 1000 >= self.seconds_to_run(walker, seconds)
    }

    /// How long a controller runs for that runs for a time.
    pub(super) fn seconds_to_run(&mut self, walker: &Walker<'_>, seconds: &Text) -> i64 {
        let seconds = self.number(walker, seconds);
        self.forgive_no_number();
        seconds
    }

    /// Drops an exception for a text that is no number: as in JMeter, what is counted by it is counted as zero.
    pub(in super::super) fn forgive_no_number(&mut self) {
        let exception = &mut self.strand.memory.exception;
        exception.take_if(|thrown| thrown.is_no_number());
    }

    /// Starts the next round of a loop, for an action inside it.
    pub(in super::super) fn begin_next_round(&mut self, walker: &Walker<'_>, node: NodeId) {
        self.restart(walker, node);
    }

    /// Makes a loop end, for an action inside it.
    pub(in super::super) fn break_loop(&mut self, walker: &Walker<'_>, node: NodeId) {
        let state = &mut self.states[node];
        state.is_broken = true;
        state.under_way = false;
        state.place = 0;
        self.begin_rounds(walker, node);
    }

    /// Sets a loop to its first round.
    pub(super) fn begin_rounds(&mut self, walker: &Walker<'_>, node: NodeId) {
        self.states[node].round = match &walker.controller(node).rule {
            ControllerRule::ForEach(rule) => self.number(walker, &rule.start),
            _ => 0,
        };
        self.states[node].rounds_max = None;
        self.states[node].entered_ms = None;
    }
}

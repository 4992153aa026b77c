//! Loops: by number, by condition, over a sequence of variables, for a time.
//!
//! Must not know controllers other than loops. Invariant: an iteration without a sampler that would be repeated
//! is reported as [`Next::Spin`].

use loadline_java::numbers::long_or_zero;

use super::super::{Thread, Walker};
use super::Next;
use crate::program::{Controller, ControllerRule, NodeId};
use crate::text::Text;

impl Thread {
    pub(super) fn next_of_loop(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        times: &Text,
        ends_for_good: bool,
    ) -> Next {
        if self.states[node].is_spent {
            return Next::End;
        }
        if self.states[node].round.is_none() {
            // A number with surrounding blanks is invalid.
            let rounds_max = long_or_zero(&self.text(walker, times));
            let state = &mut self.states[node];
            state.round = Some(0);
            state.rounds_max = rounds_max;
        }
        let mut has_ended_round = false;
        loop {
            let state = &self.states[node];
            let round = state.round.unwrap_or(0);
            let is_over = state.rounds_max >= 0 && round >= state.rounds_max;
            if state.is_broken || is_over && !state.under_way {
                // The count is kept if the last iteration was cut short, or if the loop never restarts.
                let begins_anew = has_ended_round && !ends_for_good;
                let last = if state.is_broken || begins_anew {
                    0
                } else {
                    round
                };
                return self.end_loop(walker, node, last);
            }
            self.tell_round(walker, node, round);
            match self.next_in_order(walker, node, controller) {
                Next::End => has_ended_round = true,
                other => return self.given(walker, node, round, other),
            }
            let state = &mut self.states[node];
            state.round = Some(round + 1);
            if !state.has_given && (state.rounds_max < 0 || round + 1 < state.rounds_max) {
                return Next::Spin;
            }
        }
    }

    pub(super) fn next_of_while(
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
                return self.end_loop(walker, node, 0);
            }
            self.states[node].round = Some(round);
            match self.next_in_order(walker, node, controller) {
                Next::End => {}
                other => return self.given(walker, node, round, other),
            }
            if self.while_is_over(walker, node, condition, true) {
                return self.end_loop(walker, node, 0);
            }
            let state = &mut self.states[node];
            state.round = Some(round + 1);
            if !state.has_given {
                return Next::Spin;
            }
        }
    }

    /// Ends a loop, and leaves a number in its iteration variable.
    fn end_loop(&mut self, walker: &Walker<'_>, node: NodeId, last: i64) -> Next {
        self.states[node].leave();
        self.tell_round(walker, node, last);
        Next::End
    }

    /// The result of a loop iteration, with that iteration's number.
    fn given(&mut self, walker: &Walker<'_>, node: NodeId, round: i64, next: Next) -> Next {
        if matches!(next, Next::Sampler(_)) {
            self.tell_round_again(walker, node, round);
        }
        next
    }

    /// Whether a While loop is over, at the end of an iteration or before one.
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

    pub(super) fn next_of_for_each(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Next {
        let ControllerRule::ForEach(rule) = &controller.rule else {
            return Next::End;
        };
        if self.states[node].is_spent {
            return Next::End;
        }
        let mut was_cut = self.states[node].round.is_some();
        if !was_cut {
            let start = self.number(walker, &rule.start);
            self.states[node].round = Some(start);
        }
        loop {
            let round = self.states[node].round.unwrap_or(0);
            if !self.states[node].under_way {
                let value = self.value_of_round(walker, rule, round);
                // As in JMeter, a loop is removed if it was moved on to its end index while there are more
                // variables.
                let is_gone = was_cut && value.is_none() && !self.states[node].is_broken;
                if is_gone && self.variable_of_round(walker, rule, round).is_some() {
                    self.states[node].leave();
                    self.states[node].is_spent = true;
                    return Next::End;
                }
                let Some(value) = value.filter(|_| !self.states[node].is_broken) else {
                    let start = self.number(walker, &rule.start);
                    let end = rule.end.as_ref().map(|end| self.number(walker, end));
                    // JMeter checks whether there is a next iteration, and so leaves the first value behind.
                    if let Some(first) = self.value_of_round(walker, rule, start) {
                        let output = self.text(walker, &rule.output);
                        self.variables.put(output, first);
                    }
                    self.states[node].is_spent = end.is_some_and(|end| start >= end);
                    return self.end_loop(walker, node, start);
                };
                let output = self.text(walker, &rule.output);
                self.variables.put(output, value);
            }
            self.tell_round(walker, node, round);
            was_cut = false;
            match self.next_in_order(walker, node, controller) {
                Next::End => self.states[node].round = Some(round + 1),
                other => return self.given(walker, node, round, other),
            }
        }
    }

    /// The value for an iteration of a ForEach loop; `None`: there is none, and the loop is over.
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
        self.variable_of_round(walker, rule, round)
    }

    /// The variable for an iteration of a ForEach loop, even if the loop does not reach it.
    fn variable_of_round(
        &mut self,
        walker: &Walker<'_>,
        rule: &crate::program::ForEach,
        round: i64,
    ) -> Option<String> {
        let separator = if rule.separator { "_" } else { "" };
        let input = self.text(walker, &rule.input);
        let name = format!("{input}{separator}{}", round + 1);
        self.variables.get(&name).map(str::to_owned)
    }

    pub(super) fn next_of_runtime(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        seconds: &Text,
    ) -> Next {
        if self.states[node].is_spent {
            return Next::End;
        }
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
                self.states[node].is_spent = limit_ms <= 0;
                return Next::End;
            }
            match self.next_in_order(walker, node, controller) {
                Next::End if !self.states[node].has_given => return Next::Spin,
                Next::End => {}
                other => return other,
            }
        }
    }
}

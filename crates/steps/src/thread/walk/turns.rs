//! Controllers that run one of their children per entry, or a share of the entries.
//!
//! Must not know loops. Invariant: a turn ends, even if no child has a sampler.

use std::borrow::Cow;

use super::super::{Thread, Walker};
use super::{Next, Step};
use crate::program::{Controller, ControllerRule, NodeId};
use crate::text::Text;

impl Thread {
    /// One child per entry; a controller runs one of its samplers, or all.
    pub(super) fn step_in_turn(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Step {
        let is_whole = matches!(
            controller.rule,
            ControllerRule::Interleave {
                whole_controllers: true,
                ..
            } | ControllerRule::Random {
                whole_controllers: true
            }
        );
        let mut stuck_at = None;
        // As many as there can be, for children without samplers.
        for _ in 0..=2 * controller.children.len() + 1 {
            if self.states[node].is_turn_over {
                return Step::AllGiven;
            }
            let child = match self.child(walker, node, controller) {
                Ok(child) => child,
                Err(Step::AllGiven) => {
                    self.go_to_first(walker, node);
                    continue;
                }
                Err(step) => return step,
            };
            let state = &mut self.states[node];
            if state.first_of_turn == Some(child) && state.has_moved {
                return Step::AllGiven;
            }
            state.first_of_turn.get_or_insert(child);
            if walker.is_sampler(child) {
                state.is_turn_over = true;
                self.move_on(walker, node);
                return Step::Given(Next::Sampler(child));
            }
            match self.next(walker, child) {
                Next::End if self.is_over(walker, child) => self.remove(node, controller),
                // A controller at its end restarts in the same turn, in JMeter without end.
                Next::End if is_whole || stuck_at == Some(child) => self.move_on(walker, node),
                Next::End => stuck_at = Some(child),
                given @ (Next::Sampler(_) | Next::Transaction(_)) => {
                    self.states[node].has_given = true;
                    if is_whole {
                        self.states[node].first_of_turn = None;
                    } else {
                        self.move_on(walker, node);
                    }
                    return Step::Given(given);
                }
                other => return Step::Given(other),
            }
        }
        Step::AllGiven
    }

    /// The selected child.
    pub(super) fn step_of_chosen(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
    ) -> Step {
        if !self.states[node].under_way {
            let chosen = match &controller.rule {
                ControllerRule::Switch(value) => self.chosen_child(walker, node, controller, value),
                ControllerRule::Weighted { weights, is_random } => {
                    self.weighted_child(walker, node, weights, *is_random)
                }
                _ => None,
            };
            self.states[node].place = chosen.unwrap_or(usize::MAX);
        }
        self.in_order(walker, node, controller)
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

    /// The place of the child selected by a Switch, by number or name, among the remaining ones, or otherwise of
    /// the default; `None`: none.
    fn chosen_child(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        controller: &Controller,
        value: &Text,
    ) -> Option<usize> {
        let value = self.text(walker, value);
        let left = self.states[node].left(controller).to_vec();
        let wanted = value.trim();
        if wanted.is_empty() {
            return Some(0);
        }
        // A number with a sign is a name. Of several children named `default`, in any case, the last one is
        // used.
        let is_number = wanted.bytes().all(|byte| byte.is_ascii_digit());
        if let (true, Ok(number)) = (is_number, wanted.parse::<i32>()) {
            let place = usize::try_from(number).ok();
            return place.filter(|place| *place < left.len()).or(Some(0));
        }
        let mut default = None;
        for (place, child) in left.into_iter().enumerate() {
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
}

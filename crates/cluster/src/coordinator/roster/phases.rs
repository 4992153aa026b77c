//! Phases of a plan of steps, which end when they have ended on all agents.
//!
//! Must not know what happens in them. Invariant: the end of each is announced once, in order, and no one waits
//! for a lost agent.

use super::seat::{Seat, State};
use super::{Act, Roster};
use crate::generated::to_agent::What;
use crate::generated::{Phase, Stop};

impl Roster {
    /// A phase has ended at an agent; anything out of order is ignored.
    pub(super) fn phase_ended(&mut self, number: usize, phase: Phase) -> Vec<Act> {
        let seat = &mut self.seats[number];
        if !is_at_work(seat) || phase.number != seat.phases_ended {
            return Vec::new();
        }
        seat.phases_ended += 1;
        self.properties.extend(phase.properties);
        self.end_phases()
    }

    /// A thread of an agent wants the test to end: the others are notified.
    pub(super) fn stop_wanted(&self, number: usize, stop: Stop) -> Vec<Act> {
        let others = self.seats.iter().enumerate();
        let others = others.filter(|(other, seat)| *other != number && is_at_work(seat));
        others
            .map(|(_, seat)| Act::Say(seat.link, What::Stop(stop)))
            .collect()
    }

    /// Tells the running agents which phases have ended on all of them.
    pub(super) fn end_phases(&mut self) -> Vec<Act> {
        let mut acts = Vec::new();
        loop {
            let at_work = || self.seats.iter().filter(|seat| is_at_work(seat));
            let ended = at_work().map(|seat| seat.phases_ended).min();
            if ended.is_none_or(|ended| ended <= self.phases_over) {
                return acts;
            }
            let phase = Phase {
                number: self.phases_over,
                properties: self.properties.clone(),
            };
            acts.extend(at_work().map(|seat| Act::Say(seat.link, What::Phase(phase.clone()))));
            self.properties.clear();
            self.phases_over += 1;
        }
    }
}

/// Whether it has workers that have not ended.
fn is_at_work(seat: &Seat) -> bool {
    seat.state != State::Gone && !seat.has_ended()
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::{Phase, Stop};
    use crate::generated::Ready;

    /// Two started agents with a worker each.
    fn started() -> Roster {
        let mut roster = Roster::new(Expected {
            wanted: 2,
            idle: 0,
            version: "1.0.0".to_owned(),
            is_replaceable: false,
            end: None,
            is_resumable: false,
            awaited_for: Duration::from_secs(30),
            run: "this run".to_owned(),
            test: "this test".to_owned(),
        });
        for link in 0..2 {
            let hello = Hello {
                version: "1.0.0".to_owned(),
                ..Hello::default()
            };
            roster.heard(0, link, Said::Hello(hello));
            let ready = Ready {
                workers: 1,
                ..Ready::default()
            };
            roster.heard(0, link, Said::Ready(ready));
        }
        roster.close();
        roster.start(0, None);
        roster
    }

    fn ended(number: u32, name: &str) -> Said {
        let property = Property {
            name: name.to_owned(),
            value: "v".to_owned(),
        };
        Said::Phase(Phase {
            number,
            properties: vec![property],
        })
    }

    /// Which agents are notified of which phase and properties.
    fn told(acts: &[Act]) -> Vec<(Link, u32, Vec<&str>)> {
        let mut told = Vec::new();
        for act in acts {
            if let Act::Say(link, What::Phase(phase)) = act {
                let names = phase.properties.iter().map(|one| one.name.as_str());
                told.push((*link, phase.number, names.collect()));
            }
        }
        told
    }

    #[test]
    fn a_phase_is_over_when_it_has_ended_everywhere() {
        let mut roster = started();
        assert!(told(&roster.heard(1, 0, ended(0, "a"))).is_empty());
        assert!(told(&roster.heard(1, 0, ended(5, "x"))).is_empty());
        let acts = roster.heard(1, 1, ended(0, "b"));
        let names = vec!["a", "b"];
        assert_eq!(told(&acts), [(0, 0, names.clone()), (1, 0, names)]);
        assert!(told(&roster.heard(1, 1, ended(1, "c"))).is_empty());
        let acts = roster.heard(1, 0, ended(1, "d"));
        let names = vec!["c", "d"];
        assert_eq!(told(&acts), [(0, 1, names.clone()), (1, 1, names)]);
    }

    #[test]
    fn the_others_hear_that_the_test_is_to_end() {
        let mut roster = started();
        let acts = roster.heard(1, 1, Said::Stop(Stop { at_once: true }));
        let [Act::Say(0, What::Stop(stop))] = acts[..] else {
            panic!("{acts:?}");
        };
        assert!(stop.at_once);
    }

    #[test]
    fn nobody_waits_for_an_agent_that_is_gone() {
        let mut roster = started();
        assert!(told(&roster.heard(1, 0, ended(0, "a"))).is_empty());
        let acts = roster.closed(2, 1);
        assert_eq!(told(&acts), [(0, 0, vec!["a"])]);
        assert!(told(&roster.heard(3, 1, ended(0, "b"))).is_empty());
    }
}

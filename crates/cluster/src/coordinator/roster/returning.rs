//! Agents that are unreachable for a while and come back.
//!
//! Must not know what a connection is. Invariants: while an agent may come back, none of its started requests
//! count as lost; one that comes back continues with the first report that has not arrived; one whose share was
//! reassigned is stopped, and its results are counted.

use std::time::Duration;

use loadline_engine::WorkerReport;
use loadline_model::RunCommand;

use super::seat::{Awaited, Away, State};
use super::{Act, Hello, Link, Lost, Order, Return, Roster, SILENCE_MAX, What, nanos};
use crate::generated::Part;

/// How long the seconds of the whole test wait for an unreachable agent.
const HELD_UP_MAX: Duration = Duration::from_secs(5);

impl Roster {
    /// An agent became unreachable: it is lost, unless its load continues and it may come back.
    pub(super) fn cut_off(&mut self, now_ns: u64, number: usize, why: &str) -> Vec<Act> {
        let may_return = self.expected.is_resumable && self.ending.is_none();
        let is_started = self.started_ns.is_some();
        let seat = &mut self.seats[number];
        let is_ready = matches!(seat.state, State::Ready(_));
        let is_at_work = is_ready && is_started && seat.awaited.is_none();
        // An agent whose share was reassigned, and that has reported everything, waits for the end of the test.
        let is_waiting = seat.is_former && seat.state == State::Idle;
        if !may_return || !(is_at_work || is_waiting) || seat.grace_ns == 0 {
            return self.lose(now_ns, number, why);
        }
        self.by_link.remove(&seat.link);
        seat.away = Some(Away {
            since_ns: now_ns,
            why: why.to_owned(),
            is_told: false,
        });
        seat.question = None;
        let mut acts = vec![Act::Close(seat.link)];
        if !seat.has_ended() {
            acts.push(Act::Note(format!(
                "{} is unreachable: {why}; its load continues, and it has {} s to come back",
                seat.label(),
                seat.grace_ns / nanos(Duration::from_secs(1))
            )));
        }
        acts
    }

    /// An agent is still unreachable: after a while nothing waits for its reports, and finally it is lost.
    pub(super) fn still_away(&mut self, now_ns: u64, number: usize) -> Vec<Act> {
        let seat = &mut self.seats[number];
        let Some(away) = &mut seat.away else {
            return Vec::new();
        };
        let since = now_ns.saturating_sub(away.since_ns);
        if since > seat.grace_ns.saturating_add(nanos(SILENCE_MAX)) {
            let seconds = since / nanos(Duration::from_secs(1));
            let why = format!("{}, and it did not come back in {seconds} s", away.why);
            return self.lose(now_ns, number, &why);
        }
        if away.is_told || since <= nanos(HELD_UP_MAX) || seat.is_former {
            return Vec::new();
        }
        away.is_told = true;
        let (why, workers) = (away.why.clone(), seat.workers.clone());
        if self.has_spare(now_ns) && self.may_be_replaced(now_ns, number) {
            let why = format!("{why}, and another has nothing to do");
            return self.lose(now_ns, number, &why);
        }
        vec![Act::Tell(WorkerReport::Away { workers })]
    }

    /// An agent that runs its part already has rejoined.
    ///
    /// # Errors
    /// It does not belong to this test, or is not awaited any more; in words for its user.
    pub(super) fn joined_again(
        &mut self,
        now_ns: u64,
        link: Link,
        hello: &Hello,
    ) -> Result<Vec<Act>, String> {
        let Some(part) = &hello.part else {
            return Err("it has no part".to_owned());
        };
        if part.test != self.expected.test {
            let why = "it belongs to another test than this coordinator, which was started with another command line, script or number of agents";
            return Err(why.to_owned());
        }
        let is_it = |seat: &super::Seat| {
            (seat.share, seat.generation) == (part.number, part.generation)
                && seat.state != State::Gone
        };
        let is_known = self.expected.run == part.run;
        match self.seats.iter().position(is_it) {
            Some(number) if is_known => Ok(self.back(now_ns, link, number, part)),
            _ => self.adopt(now_ns, link, (part, hello)),
        }
    }

    /// An agent that was here before is back.
    fn back(&mut self, now_ns: u64, link: Link, number: usize, part: &Part) -> Vec<Act> {
        let seat = &mut self.seats[number];
        let mut acts = Vec::new();
        if self.by_link.remove(&seat.link).is_some() {
            acts.push(Act::Close(seat.link));
        }
        self.by_link.insert(link, number);
        seat.link = link;
        seat.heard_ns = now_ns;
        let away = seat.away.take();
        let back = Return {
            next_report: seat.next_report,
            is_anew: false,
        };
        let is_at_work = matches!(seat.state, State::Ready(_)) && !seat.has_ended();
        let since_ns = away.map_or(now_ns, |away| away.since_ns);
        let gap = Duration::from_nanos(now_ns.saturating_sub(since_ns)).as_secs_f64();
        let (name, workers) = (seat.label(), seat.workers.clone());
        let is_former = seat.is_former;
        let ask = seat.ask(now_ns);
        acts.push(self.welcome_of(&self.seats[number], Some(back)));
        acts.push(ask);
        if is_former {
            let order = Order::from(RunCommand::StopNow);
            acts.push(Act::Say(link, What::Order(order)));
            if is_at_work {
                let what = format!(
                    "{name} was back after {gap:.1} s, when another had its share: it was stopped"
                );
                acts.push(Act::Note(what.clone()));
                acts.push(Act::Tell(WorkerReport::Returned { workers, what }));
            }
            return acts;
        }
        let heard = usize::try_from(part.orders).unwrap_or(usize::MAX);
        let missed = self.orders.iter().skip(heard);
        acts.extend(missed.map(|order| Act::Say(link, What::Order(Order::from(*order)))));
        if is_at_work {
            let what = format!("{name} was unreachable for {gap:.1} s; its load continued");
            acts.push(Act::Note(format!("{name} is back after {gap:.1} s")));
            acts.push(Act::Tell(WorkerReport::Returned { workers, what }));
        }
        if let Some(ending) = &self.ending {
            acts.push(Act::Say(link, What::Ending(ending.clone())));
        }
        acts
    }

    /// Another agent takes the share of an unreachable one: that one is lost, and what it has started is
    /// counted as lost once it cannot report any more.
    pub(super) fn supersede_if_away(&mut self, number: usize) -> Vec<Act> {
        let Some(away) = self.seats[number].away.clone() else {
            return Vec::new();
        };
        if self.seats[number].state == State::Gone {
            return Vec::new();
        }
        let lost = Lost {
            is_unsettled: true,
            ..self.lost_of(number, &away.why)
        };
        let seat = &mut self.seats[number];
        let awaited_for = self.expected.awaited_for;
        let awaited = Awaited::new(away.since_ns, awaited_for, seat.workers.start);
        seat.awaited = Some(awaited);
        vec![Act::Lose(seat.share, lost)]
    }

    /// Settles what an agent without a share had started, once it has reported everything.
    pub(super) fn settle_if_ended(&mut self, number: usize) -> Option<Act> {
        let seat = &mut self.seats[number];
        if !seat.is_former || !seat.has_ended() {
            return None;
        }
        // It waits for the end of the test.
        seat.state = State::Idle;
        Some(seat.settled())
    }

    /// Settles what agents without a share had started: the test is over without them.
    pub(super) fn settle_all(&mut self) -> Vec<Act> {
        let seats = self.seats.iter_mut();
        let open = seats.filter(|seat| seat.is_former && matches!(seat.state, State::Ready(_)));
        let settle = |seat: &mut super::Seat| {
            seat.state = State::Idle;
            seat.settled()
        };
        open.map(settle).collect()
    }
}

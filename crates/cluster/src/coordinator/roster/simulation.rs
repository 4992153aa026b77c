//! Coordinators and agents in virtual time: broken connections, lost or repeated messages, killed agents and
//! coordinators.
//!
//! Must not own a clock. Invariant: whatever happens, the reports sum to what was done, or say what is lost.

mod a_day;
mod standing_in;

use std::collections::VecDeque;

use loadline_model::Snapshot;
use proptest::prelude::*;

use super::*;
use crate::agent::Outbox;
use crate::generated::{ClockAnswer, HandOver, Live, Part, Start};

const TICK: u64 = 200_000_000;
const S: u64 = 1_000_000_000;
/// Seconds of load, unless a test needs more.
const SECONDS: u64 = 12;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    started: u64,
    completed: u64,
    interrupted: u64,
    lost: u64,
}

impl Sum {
    fn add(&mut self, seen: &Snapshot) {
        self.started += seen.counts.started;
        self.completed += seen.counts.completed;
        self.interrupted += seen.counts.interrupted;
    }
}

/// An agent over successive connections; several may belong to one process.
#[derive(Default)]
struct Agent {
    process: usize,
    /// The agent for which it stands in.
    stands_in: Option<StandIn>,
    /// The agent for which its process is asked to stand in.
    asked: Vec<StandIn>,
    /// The last second with load.
    until: u64,
    link: Option<Link>,
    welcome: Option<Welcome>,
    start: Option<Start>,
    outbox: Outbox,
    is_waiting: bool,
    is_stopped: bool,
    has_ended: bool,
    is_killed: bool,
    cut_at: u64,
    seconds: u64,
    done: Sum,
    said: VecDeque<Said>,
    told: VecDeque<What>,
}

impl Agent {
    fn hello(&self) -> Said {
        let part = self.welcome.as_ref().map(|welcome| Part {
            run: welcome.run.clone(),
            test: welcome.test.clone(),
            number: welcome.number,
            generation: welcome.generation,
            orders: 0,
        });
        Said::Hello(Hello {
            version: "1.5.0".to_owned(),
            grace_ms: 30_000,
            part,
            process: format!("process {}", self.process),
            can_stand_in: self.stands_in.is_none(),
            stands_in: self.stands_in.clone(),
            ..Hello::default()
        })
    }

    fn say(&mut self, said: Said) {
        if self.link.is_some() {
            self.said.push_back(said);
        }
    }

    fn send(&mut self, reports: Vec<Report>) {
        if !self.is_waiting {
            reports.into_iter().for_each(|report| {
                if report.end.is_some() {
                    self.say(self.live());
                }
                self.say(Said::Report(report));
            });
        }
    }

    fn live(&self) -> Said {
        Said::Live(Live {
            started: self.done.started,
            completed: self.done.completed,
            interrupted: self.done.interrupted,
            cpu_ns: self.used(),
            ..Live::default()
        })
    }

    /// The resource use of its process.
    fn used(&self) -> u64 {
        1_000 + self.process as u64
    }

    /// A second of load, or the rest at the end.
    fn work(&mut self, dice: &mut Dice) {
        if self.start.is_none() || self.has_ended || self.is_killed {
            return;
        }
        let under_way = self.done.started - self.done.completed;
        let mut seen = Snapshot::default();
        seen.counts.completed = dice.below(under_way + 1);
        let is_last = self.is_stopped || self.seconds >= self.until;
        if is_last {
            seen.counts.interrupted = under_way - seen.counts.completed;
        } else {
            seen.counts.started = dice.below(50);
        }
        self.done.add(&seen);
        let (worker, interval, seen, planned) = (0, self.seconds, Box::new(seen), 0);
        let report = match is_last {
            true => WorkerReport::Ended {
                worker,
                interval,
                seen,
                planned,
                never_started: 0,
                last_done: Nanos::ZERO,
            },
            false => WorkerReport::Interval {
                worker,
                interval,
                seen,
                waiting: 0,
                planned,
            },
        };
        self.has_ended = is_last;
        self.seconds += 1;
        let older = self.outbox.take(report).expect("written");
        self.send(older);
        let reports = self.outbox.ready().expect("written");
        self.send(reports);
    }

    fn heed(&mut self, what: What, now: u64) {
        match what {
            What::Welcome(welcome) => {
                let back = welcome.back;
                self.welcome = Some(welcome);
                self.is_waiting = false;
                match back {
                    Some(Return { is_anew: true, .. }) => {
                        self.is_waiting = true;
                        let seconds_in_one = self.outbox.hand_over().expect("written");
                        self.say(Said::HandOver(HandOver {
                            at_ns: self.start.as_ref().expect("it began").at_ns,
                            ready: Some(Ready {
                                workers: 1,
                                ..Ready::default()
                            }),
                            seconds_in_one,
                            ..HandOver::default()
                        }));
                    }
                    Some(back) => {
                        let reports = self.outbox.go_on_from(back.next_report);
                        self.send(reports.expect("written"));
                    }
                    None => {}
                }
            }
            What::Clock(question) => self.say(Said::Clock(ClockAnswer {
                number: question.number,
                at_ns: now,
            })),
            What::Start(_) if self.is_waiting => {
                self.is_waiting = false;
                let reports = self.outbox.go_on_from(0).expect("written");
                self.send(reports);
            }
            What::Start(start) => {
                self.seconds = start.from_ns / S;
                self.start = Some(start);
            }
            What::StandIn(asked) => self.asked.push(asked),
            // A stand-in tries once.
            What::Refusal(_) if self.stands_in.is_some() => self.is_killed = true,
            What::Received(received) if !self.is_waiting => {
                let reports = self.outbox.received(received.number);
                self.send(reports.expect("written"));
            }
            What::Order(_) => self.is_stopped = true,
            What::Refusal(_) if self.start.is_none() => {
                self.link = None;
                self.cut_at = now;
            }
            What::Refusal(refusal) => panic!("refused: {}", refusal.why),
            _ => {}
        }
    }
}

struct World {
    now: u64,
    dice: Dice,
    agents: Vec<Agent>,
    roster: Roster,
    is_there: bool,
    next_link: Link,
    next_run: u64,
    seconds: u64,
    tick_ns: u64,
    sum: Sum,
}

impl World {
    fn new(agents: u32, seed: u64) -> World {
        World::lasting(SECONDS, agents, seed)
    }

    /// One whose load lasts this long.
    fn lasting(seconds: u64, agents: u32, seed: u64) -> World {
        let mut world = World {
            now: S,
            dice: Dice(seed | 1),
            agents: Vec::new(),
            roster: World::coordinator(agents, 0, seconds),
            is_there: true,
            next_link: 0,
            next_run: 1,
            seconds,
            tick_ns: TICK,
            sum: Sum::default(),
        };
        for _ in 0..agents {
            world.add();
        }
        world
    }

    /// Another process, which has not joined yet.
    fn add(&mut self) {
        self.agents.push(Agent {
            process: self.agents.len(),
            until: self.seconds,
            ..Agent::default()
        });
    }

    fn coordinator(wanted: u32, run: u64, seconds: u64) -> Roster {
        Roster::new(Expected {
            wanted,
            idle: 0,
            version: "1.5.0".to_owned(),
            is_replaceable: true,
            end: Some(Nanos(seconds * S)),
            is_resumable: true,
            awaited_for: Duration::from_secs(30),
            run: format!("run {run}"),
            test: "the test".to_owned(),
        })
    }

    fn carry_out(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Say(link, what) => {
                    let agent = self.agents.iter_mut();
                    let mut agent = agent.filter(|agent| agent.link == Some(link));
                    match (agent.next(), what) {
                        // It arrives although the link is closed after it.
                        (Some(agent), What::Refusal(refusal)) => {
                            agent.heed(What::Refusal(refusal), self.now);
                        }
                        (Some(agent), what) => agent.told.push_back(what),
                        (None, _) => {}
                    }
                }
                Act::Employ(link, _) => {
                    let agent = self.agents.iter_mut();
                    let mut agent = agent.filter(|agent| agent.link == Some(link));
                    if let Some(agent) = agent.next() {
                        agent.say(Said::Ready(Ready {
                            workers: 1,
                            ..Ready::default()
                        }));
                    }
                }
                Act::Close(link) => self.hang_up(link),
                Act::Tell(
                    WorkerReport::Interval { seen, .. } | WorkerReport::Ended { seen, .. },
                ) => self.sum.add(&seen),
                Act::Tell(WorkerReport::Settled { begun, unended, .. }) => {
                    self.sum.started += begun;
                    self.sum.lost += unended;
                }
                Act::Lose(_, lost) => {
                    self.sum.started += lost.begun;
                    self.sum.lost += lost.unended;
                }
                Act::Tell(_) | Act::Log(_) | Act::Note(_) => {}
            }
        }
    }

    /// Messages in flight on a link are lost.
    fn hang_up(&mut self, link: Link) {
        for agent in &mut self.agents {
            if agent.link == Some(link) {
                agent.link = None;
                agent.cut_at = self.now;
                agent.said.clear();
                agent.told.clear();
                // An agent that has not started to stand in does not try again.
                agent.is_killed |= agent.stands_in.is_some() && agent.start.is_none();
            }
        }
    }

    fn join(&mut self, number: usize) {
        let link = self.next_link;
        self.next_link += 1;
        let agent = &mut self.agents[number];
        agent.link = Some(link);
        // No report is sent over a link before the coordinator has said from which on.
        agent.is_waiting = agent.start.is_some();
        let hello = agent.hello();
        agent.say(hello);
    }

    /// Cuts a link; the coordinator may see it at once, or not.
    fn cut(&mut self, number: usize) {
        let Some(link) = self.agents[number].link else {
            return;
        };
        self.hang_up(link);
        if self.dice.below(2) == 0 && self.is_there {
            let acts = self.roster.closed(self.now, link);
            self.carry_out(acts);
        }
    }

    fn kill_coordinator(&mut self) {
        self.is_there = false;
        for number in 0..self.agents.len() {
            if let Some(link) = self.agents[number].link {
                self.hang_up(link);
            }
        }
    }

    fn start_coordinator(&mut self) {
        self.is_there = true;
        let wanted = self.roster.expected.wanted;
        self.roster = World::coordinator(wanted, self.next_run, self.seconds);
        self.next_run += 1;
        self.sum = Sum::default();
    }

    /// Most messages arrive, and reports sometimes twice.
    fn deliver(&mut self) {
        for number in 0..self.agents.len() {
            let late = self.dice.below(10) == 0;
            while let Some(link) = self.agents[number].link.filter(|_| !late && self.is_there)
                && let Some(said) = self.agents[number].said.pop_front()
            {
                let twice = matches!(said, Said::Report(_)) && self.dice.below(5) == 0;
                let again = twice.then(|| said.clone());
                for said in std::iter::once(said).chain(again) {
                    let acts = self.roster.heard(self.now, link, said);
                    self.carry_out(acts);
                }
            }
            while self.agents[number].link.is_some()
                && let Some(what) = self.agents[number].told.pop_front()
            {
                let now = self.now;
                self.agents[number].heed(what, now);
            }
            for asked in std::mem::take(&mut self.agents[number].asked) {
                self.stand_in(number, &asked);
            }
        }
    }

    fn tick(&mut self) {
        self.now += self.tick_ns;
        let is_second = (self.now / self.tick_ns).is_multiple_of(S / self.tick_ns);
        for number in 0..self.agents.len() {
            if is_second {
                self.agents[number].work(&mut self.dice);
            }
            let live = self.agents[number].live();
            self.agents[number].say(live);
        }
        self.deliver();
        if !self.is_there {
            return;
        }
        let acts = self.roster.tick(self.now);
        self.carry_out(acts);
        if self.roster.is_ready() && !self.roster.is_closed {
            let (_, acts) = self.roster.close();
            self.carry_out(acts);
            let (_, acts) = self.roster.start(self.now, None);
            self.carry_out(acts);
        }
    }

    /// Whether an agent may join again, and does.
    fn rejoin_some(&mut self) {
        for number in 0..self.agents.len() {
            let agent = &self.agents[number];
            let is_cut = agent.link.is_none() && !agent.is_killed;
            let since = self.now - agent.cut_at;
            if is_cut && self.is_there && (since > 5 * S || self.dice.below(4) == 0) {
                self.join(number);
            }
        }
    }

    fn all_told(&self) -> bool {
        if !self.is_there || !self.roster.is_closed {
            return false;
        }
        let all = self.agents.iter();
        let mut all = all.filter(|agent| !agent.is_killed && agent.start.is_some());
        all.all(|agent| {
            let is_heard = agent.link.is_some() && !agent.is_waiting;
            agent.has_ended && is_heard && agent.outbox.is_empty()
        })
    }

    /// Runs the test to its end, with broken connections, and other events at each tick.
    fn run(&mut self, cuts: u64, mut happens: impl FnMut(&mut World, u64)) {
        for number in 0..self.agents.len() {
            self.join(number);
        }
        for tick in 0..2_000 + self.seconds * S / self.tick_ns {
            self.tick();
            let begun = self
                .agents
                .iter()
                .all(|agent| agent.start.is_some() || agent.is_killed);
            if begun {
                happens(self, tick);
                if self.roster.is_closed && self.dice.below(100) < cuts {
                    let number = self.dice.below(self.agents.len() as u64) as usize;
                    self.cut(number);
                }
            }
            self.rejoin_some();
            if tick > 100 && self.all_told() {
                break;
            }
        }
        assert!(self.all_told(), "all agents have told all");
        // Whatever is unsettled is settled once nobody can come back any more.
        for _ in 0..200 {
            self.tick();
        }
    }

    fn done(&self) -> Sum {
        let mut done = Sum::default();
        for agent in &self.agents {
            done.started += agent.done.started;
            done.completed += agent.done.completed;
            done.interrupted += agent.done.interrupted;
        }
        done
    }
}

fn agents() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1_u32, 2, 3, 10, 50])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_agents_did_is_counted_once_however_often_connections_break(agents in agents(), seed in any::<u64>()) {
        let mut world = World::new(agents, seed);
        world.run(30, |_, _| {});
        prop_assert_eq!(world.sum, world.done());
    }

    #[test]
    fn another_coordinator_counts_all_that_was_done_before(
        agents in agents(),
        seed in any::<u64>(),
        at in 5_u64..70,
        down in 1_u64..40,
        twice in any::<bool>(),
    ) {
        let mut world = World::new(agents, seed);
        let mut killed = Vec::new();
        let kills = 1 + usize::from(twice);
        world.run(10, |world, tick| {
            let is_due = killed.last().is_none_or(|last| *last + down + 60 < tick);
            if killed.len() < kills && tick >= at && is_due {
                world.kill_coordinator();
                killed.push(tick);
            } else if !world.is_there && killed.last().is_some_and(|last| last + down <= tick) {
                world.start_coordinator();
            }
        });
        prop_assert!(world.is_there);
        prop_assert_eq!(world.sum, world.done());
    }

    #[test]
    fn of_killed_agents_the_rest_is_lost_and_others_take_over(
        agents in agents(),
        seed in any::<u64>(),
        kill_at in 5_u64..50,
        replace_after in 0_u64..30,
    ) {
        let mut world = World::new(agents, seed);
        let mut killed = None;
        let mut is_replaced = false;
        world.run(10, |world, tick| {
            if killed.is_none() && tick >= kill_at {
                killed = Some(tick);
                world.agents[0].is_killed = true;
                world.cut(0);
            } else if !is_replaced && killed.is_some_and(|at| at + replace_after < tick) {
                is_replaced = true;
                world.add();
            }
        });
        let (sum, done) = (world.sum, world.done());
        prop_assert_eq!(sum.started, sum.completed + sum.interrupted + sum.lost);
        prop_assert!(sum.started <= done.started && sum.completed <= done.completed);
        let alive = world.agents.iter().filter(|agent| !agent.is_killed);
        let completed: u64 = alive.map(|agent| agent.done.completed).sum();
        prop_assert!(sum.completed >= completed, "what the others did is counted");
    }

    #[test]
    fn who_comes_back_too_late_is_told_to_end_and_counted(agents in agents(), seed in any::<u64>(), cut_at in 5_u64..40) {
        let mut world = World::new(agents, seed);
        let mut cut = None;
        world.run(0, |world, tick| {
            if cut.is_none() && tick >= cut_at {
                cut = Some(tick);
                let link = world.agents[0].link.expect("it is there");
                world.hang_up(link);
                let acts = world.roster.closed(world.now, link);
                world.carry_out(acts);
                // A replacement joins before it.
                world.add();
                let another = world.agents.len() - 1;
                world.join(another);
                let (link, hello) = (world.agents[another].link, world.agents[another].said.pop_front());
                let (link, hello) = (link.expect("it joined"), hello.expect("its first word"));
                let acts = world.roster.heard(world.now, link, hello);
                world.carry_out(acts);
            }
        });
        prop_assert!(world.agents[0].is_stopped, "it was stopped");
        prop_assert_eq!(world.sum, world.done());
    }
}

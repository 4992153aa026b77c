//! Agents lost for good in virtual time, and others that stand in for them.
//!
//! Must not own a clock. Invariant: whoever runs a share, the reports sum to what was done, or say what is
//! lost.

use std::collections::BTreeSet;

use super::*;

/// When its share runs again: the silence after which a loss is noticed, the agent's grace period and another
/// silence, and a tick for each message with which another agent gets ready.
const BACK_WITHIN: u64 = 3 * S + 33 * S + 6 * S;

impl World {
    /// A process starts to stand in as requested; sometimes the request arrives twice.
    pub(super) fn stand_in(&mut self, host: usize, asked: &StandIn) {
        let times = 1 + u64::from(self.dice.below(5) == 0);
        for _ in 0..times {
            self.agents.push(Agent {
                process: self.agents[host].process,
                stands_in: Some(asked.clone()),
                until: self.seconds,
                ..Agent::default()
            });
            self.join(self.agents.len() - 1);
        }
    }

    /// A process is killed, with all its shares.
    fn kill(&mut self, process: usize) {
        for number in 0..self.agents.len() {
            if self.agents[number].process == process {
                self.agents[number].is_killed = true;
                self.cut(number);
            }
        }
    }

    /// Live agents that have started to stand in.
    fn stand_ins(&self) -> Vec<&Agent> {
        let agents = self.agents.iter();
        let at_work = |agent: &&Agent| {
            let has_begun = agent.stands_in.is_some() && agent.start.is_some();
            has_begun && !agent.is_killed
        };
        agents.filter(at_work).collect()
    }

    /// Shares of live agents, by their numbers.
    fn shares_made(&self) -> BTreeSet<u32> {
        let alive = self.agents.iter().filter(|agent| !agent.is_killed);
        let begun = alive.filter(|agent| agent.start.is_some());
        let welcome = begun.filter_map(|agent| agent.welcome.as_ref());
        welcome.map(|welcome| welcome.number).collect()
    }

    /// Compares what was reported with what was done.
    fn check(&self) -> Result<(), TestCaseError> {
        let (sum, done) = (self.sum, self.done());
        prop_assert_eq!(sum.started, sum.completed + sum.interrupted + sum.lost);
        prop_assert!(sum.started <= done.started && sum.completed <= done.completed);
        let alive = self.agents.iter().filter(|agent| !agent.is_killed);
        let completed: u64 = alive.map(|agent| agent.done.completed).sum();
        prop_assert!(
            sum.completed >= completed,
            "what those did that are alive is counted"
        );
        Ok(())
    }

    /// The resource use of processes that ran a share: each counts once.
    fn used(&self) -> u64 {
        let mut processes = BTreeSet::new();
        let begun = self.agents.iter().filter(|agent| agent.start.is_some());
        let first = begun.filter(|agent| processes.insert(agent.process));
        first.map(Agent::used).sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_share_of_an_agent_that_is_lost_for_good_is_made_by_one_that_is_there(
        agents in prop::sample::select(vec![2_u32, 3, 10]),
        seed in any::<u64>(),
        kill_at in 5_u64..150,
    ) {
        let mut world = World::lasting(90, agents, seed);
        let mut killed = None;
        world.run(0, |world, tick| {
            if killed.is_none() && tick >= kill_at {
                killed = Some(world.now);
                world.kill(0);
            }
        });
        world.check()?;
        let killed = killed.expect("it was killed");
        let stand_ins = world.stand_ins();
        prop_assert_eq!(stand_ins.len(), 1);
        let (stand_in, start) = (stand_ins[0], stand_ins[0].start.as_ref().expect("it began"));
        prop_assert!(start.at_ns + start.from_ns <= killed + BACK_WITHIN);
        prop_assert!(start.at_ns + start.from_ns > killed + 30 * S, "others have time to come");
        prop_assert_eq!(stand_in.welcome.as_ref().map(|welcome| welcome.generation), Some(1));
        prop_assert!(stand_in.done.started > 0 && stand_in.has_ended);
        prop_assert_eq!(world.shares_made(), (0..agents).collect());
        let used = world.roster.used(&GeneratorTotals::default());
        prop_assert_eq!(used.cpu_ns, world.used());
        let rows: u64 = world.roster.shares().iter().map(|share| share.cpu_ns).sum();
        prop_assert_eq!(rows, world.used());
        let counted: u64 = world.roster.shares().iter().map(|share| share.counts.started).sum();
        prop_assert_eq!(counted, world.sum.started);
    }

    #[test]
    fn where_the_one_that_stands_in_is_lost_too_others_make_both_of_its_shares(
        agents in prop::sample::select(vec![3_u32, 6]),
        seed in any::<u64>(),
        kill_at in 5_u64..50,
        again_after in 1_u64..50,
    ) {
        let mut world = World::lasting(110, agents, seed);
        let mut killed = None;
        let mut again = None;
        world.run(0, |world, tick| {
            if killed.is_none() && tick >= kill_at {
                killed = Some(tick);
                world.kill(0);
            }
            let host = world.stand_ins().first().map(|agent| agent.process);
            if let (None, Some(host)) = (again, host)
                && tick >= killed.unwrap_or(tick) + 175 + again_after
            {
                again = Some(host);
                world.kill(host);
            }
        });
        world.check()?;
        prop_assert!(again.is_some());
        prop_assert_eq!(world.stand_ins().len(), 2);
        prop_assert_eq!(world.shares_made(), (0..agents).collect());
        prop_assert_eq!(world.roster.used(&GeneratorTotals::default()).cpu_ns, world.used());
    }

    #[test]
    fn counts_are_conserved_whatever_breaks_and_whoever_stands_in(
        agents in prop::sample::select(vec![2_u32, 3, 10]),
        seed in any::<u64>(),
        kill_at in 5_u64..100,
        cuts in 1_u64..20,
        coordinator_at in prop::option::of(5_u64..350),
    ) {
        let mut world = World::lasting(80, agents, seed);
        let mut is_killed = false;
        let mut down_since = None;
        world.run(cuts, |world, tick| {
            if !is_killed && tick >= kill_at && world.is_there {
                is_killed = true;
                world.kill(0);
            } else if down_since.is_none() && coordinator_at.is_some_and(|at| tick >= at) {
                down_since = Some(tick);
                world.kill_coordinator();
            } else if !world.is_there && down_since.is_some_and(|since| since + 10 < tick) {
                world.start_coordinator();
            }
        });
        prop_assert!(world.is_there);
        world.check()?;
    }
}

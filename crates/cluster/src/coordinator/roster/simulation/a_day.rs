//! A day of load in virtual time, on ten agents, with fifty losses.
//!
//! Must not own a clock. Invariant: after each loss, and at the end, the reports sum to what was done, or say
//! what is lost.

use super::*;

const DAY: u64 = 86_400;
const AGENTS: u32 = 10;
const LOSSES: usize = 50;
/// Seconds from a loss to the agent that takes over.
const AWAY: u64 = 11;

#[test]
fn ten_minutes_with_losses_are_counted_to_the_request() {
    count(600, 5);
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn a_day_with_fifty_losses_is_counted_to_the_request() {
    count(DAY, LOSSES);
}

fn count(seconds: u64, losses: usize) {
    let mut world = World::lasting(seconds, AGENTS, 86_400);
    world.tick_ns = S;
    let every = seconds / (losses as u64 + 1);
    let mut lost = 0;
    let mut back_at = None;
    world.run(1, |world, tick| {
        if back_at == Some(tick) {
            world.add();
            back_at = None;
        }
        if lost < losses && tick == every * (lost as u64 + 1) {
            lost += 1;
            back_at = Some(tick + AWAY);
            let alive = world.agents.iter().position(|agent| !agent.is_killed);
            let eldest = alive.expect("ten are there");
            world.agents[eldest].is_killed = true;
            world.cut(eldest);
            // The dead are asked nothing more.
            world.agents[eldest].outbox = Outbox::default();
        }
    });
    assert_eq!(lost, losses);
    let (sum, done) = (world.sum, world.done());
    assert_eq!(sum.started, sum.completed + sum.interrupted + sum.lost);
    assert!(sum.started <= done.started && sum.completed <= done.completed);
    let alive = world.agents.iter().filter(|agent| !agent.is_killed);
    assert_eq!(alive.clone().count(), AGENTS as usize);
    let by_the_living: u64 = alive.map(|agent| agent.done.completed).sum();
    assert!(sum.completed >= by_the_living);
    // Each loss costs the seconds not reported yet, and no more.
    let untold = done.completed - sum.completed;
    assert!(
        untold <= losses as u64 * 50 * 5,
        "{untold} of {}",
        done.completed
    );
}

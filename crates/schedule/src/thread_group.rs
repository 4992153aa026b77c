//! Thread groups of JMeter plans: when each thread starts and ends.
//!
//! Must not know what a thread does. Invariant: each thread slot of the group belongs to one worker, so the
//! workers' threads together are those of the group.
//!
//! Sources: the behaviour of JMeter 5.6.3 and of its custom thread groups plugin 2.10.

use loadline_model::Nanos;
use loadline_model::segment::Share;
use loadline_model::thread_group::{
    ArrivalCourse, Concurrency, ThreadGroup, ThreadRow, ThreadSteps,
};

use crate::global_vu;
use crate::next::{Next, Numbering};

/// When a thread starts and ends, in milliseconds from the start of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadLife {
    /// The start.
    pub start_ms: u64,
    /// No sample starts at or after this; `None`: no limit.
    pub end_ms: Option<u64>,
}

/// The life of thread number `thread`, from 0; if ended threads are replaced, that of the first in this slot.
/// `None`: the group has no such thread, or starts follow arrivals.
#[must_use]
pub fn life_of(group: &ThreadGroup, thread: u64) -> Option<ThreadLife> {
    if thread >= u64::from(group.threads_max()) {
        return None;
    }
    match group {
        ThreadGroup::Ramp {
            delay_ms,
            step_ms,
            lasts_ms,
            leaves_out_late,
            ..
        } => {
            let start_ms = delay_ms.saturating_add(step_ms.saturating_mul(thread));
            let end_ms = lasts_ms.map(|lasts| delay_ms.saturating_add(lasts));
            let is_left_out = *leaves_out_late && end_ms.is_some_and(|end_ms| start_ms >= end_ms);
            (!is_left_out).then_some(ThreadLife { start_ms, end_ms })
        }
        ThreadGroup::Rows { rows } => life_in_rows(rows, thread),
        ThreadGroup::Steps(steps) => Some(life_in_steps(steps, thread)),
        ThreadGroup::Concurrency(concurrency) => Some(ThreadLife {
            start_ms: first_start_ms(concurrency, thread),
            end_ms: Some(end_of(concurrency)),
        }),
        ThreadGroup::Arrivals(_) => None,
    }
}

/// How long arrivals may come, in milliseconds from the start of the group.
#[must_use]
pub fn end_of_arrivals(course: &ArrivalCourse) -> u64 {
    match course {
        ArrivalCourse::Rising { ramp_s, hold_s, .. } => ms(ramp_s.saturating_add(*hold_s)),
        ArrivalCourse::FreeForm { legs } | ArrivalCourse::Counted { legs, .. } => legs
            .iter()
            .fold(0, |sum, leg| u64::saturating_add(sum, leg.lasts_ms)),
    }
}

fn ms(seconds: u64) -> u64 {
    seconds.saturating_mul(1000)
}

/// Threads of a row count down: the first one starts last.
fn life_in_rows(rows: &[ThreadRow], thread: u64) -> Option<ThreadLife> {
    let mut before = 0;
    for row in rows {
        let threads = u64::from(row.threads);
        if thread < before + threads {
            let left = threads - (thread - before);
            let part = |seconds: u64| u128::from(ms(seconds)) * u128::from(left);
            let part =
                |seconds| u64::try_from(part(seconds) / u128::from(threads)).unwrap_or(u64::MAX);
            let first_ms = ms(row.delay_s);
            let descent_ms = first_ms
                .saturating_add(ms(row.startup_s))
                .saturating_add(ms(row.hold_s));
            return Some(ThreadLife {
                start_ms: first_ms.saturating_add(part(row.startup_s)),
                end_ms: Some(descent_ms.saturating_add(part(row.shutdown_s))),
            });
        }
        before += threads;
    }
    None
}

fn life_in_steps(steps: &ThreadSteps, thread: u64) -> ThreadLife {
    let all = u64::from(steps.threads).max(1);
    let or_all = |count: u32| match count {
        0 => all,
        count => u64::from(count),
    };
    let bunch = or_all(steps.bunch);
    let first_bunch = match u64::from(steps.first_bunch).min(all) {
        0 => bunch,
        first => first,
    };
    let (number, size, place) = match thread.checked_sub(first_bunch) {
        None => (0, first_bunch, thread),
        Some(later) => (1 + later / bunch, bunch, later % bunch),
    };
    let ramp_ms = ms(steps.ramp_s);
    let bunch_ms = ms(steps.period_s).saturating_add(ramp_ms);
    let later = all.saturating_sub(first_bunch);
    let bunches = match all < first_bunch {
        true => 1,
        false => later.div_ceil(bunch),
    };
    let last_size = match later % bunch {
        0 => bunch,
        rest => rest,
    };
    let first_ms = ms(steps.delay_s);
    let descent_ms = first_ms
        .saturating_add(bunches.saturating_mul(bunch_ms))
        .saturating_add((ramp_ms / bunch).saturating_mul(last_size))
        .saturating_add(ms(steps.hold_s));
    let behind_ms = ms(steps.stop_period_s).saturating_mul(thread / or_all(steps.stop_bunch));
    ThreadLife {
        start_ms: first_ms
            .saturating_add(number.saturating_mul(bunch_ms))
            .saturating_add((ramp_ms / size).saturating_mul(place)),
        end_ms: Some(descent_ms.saturating_add(behind_ms)),
    }
}

fn end_of(concurrency: &Concurrency) -> u64 {
    ms(concurrency.ramp_s.saturating_add(concurrency.hold_s))
}

/// When the wanted number of threads, rounded to the nearest integer, first exceeds `place`.
fn first_start_ms(concurrency: &Concurrency, place: u64) -> u64 {
    if concurrency.ramp_s == 0 || concurrency.target == 0 {
        return 0;
    }
    let ramp_ms = ms(concurrency.ramp_s) as f64;
    let wanted = place as f64 + 0.5;
    let start_ms = match concurrency.steps {
        0 => wanted * ramp_ms / f64::from(concurrency.target),
        steps => {
            let height = f64::from(concurrency.target) / f64::from(steps);
            let step = ((wanted / height).ceil() - 1.0).max(0.0);
            (step * ramp_ms / f64::from(steps)).min(ramp_ms)
        }
    };
    start_ms.ceil() as u64
}

/// The threads of a group on one worker.
#[derive(Debug)]
pub(crate) struct Threads {
    group: ThreadGroup,
    share: Share,
    /// Whether each has started, if each starts only once.
    started: Vec<bool>,
    numbering: Numbering,
}

impl Threads {
    pub(crate) fn new(share: &Share, vus: u32, group: &ThreadGroup) -> Threads {
        Threads {
            group: group.clone(),
            share: share.clone(),
            started: vec![false; vus as usize],
            numbering: Numbering::new(share),
        }
    }

    /// Sets how many threads to keep running, if the group does that.
    pub(crate) fn keep_up(&mut self, threads: u32) {
        if let ThreadGroup::Concurrency(concurrency) = &mut self.group {
            concurrency.target = threads;
        }
    }

    pub(crate) fn next(&mut self, vu: u32, now: Nanos) -> Next {
        let place = u64::from(global_vu(&self.share, vu));
        let life = life_of(&self.group, place);
        let at = |ms: u64| Nanos(ms.saturating_mul(1_000_000));
        let start = life.map(|life| at(life.start_ms));
        if let ThreadGroup::Concurrency(concurrency) = &self.group {
            let end = at(end_of(concurrency));
            return match start {
                _ if now >= end => Next::Finished,
                Some(start) if now >= start => self.numbering.start(),
                // A thread that is not wanted now may be wanted before the end.
                start => Next::Wait {
                    until: start.map_or(end, |start| start.min(end)),
                },
            };
        }
        let Some(start) = start else {
            return Next::Finished;
        };
        if now < start {
            return Next::Wait { until: start };
        }
        let started = &mut self.started[vu as usize];
        match std::mem::replace(started, true) {
            true => Next::Finished,
            false => Next::Start { iteration: place },
        }
    }

    /// Threads that have not started yet.
    pub(crate) fn unstarted(&self) -> u64 {
        match self.group.planned_starts() {
            Some(_) => self.started.iter().filter(|started| !**started).count() as u64,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests;

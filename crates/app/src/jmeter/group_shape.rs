//! From the texts of a thread group to the times when its threads run.
//!
//! Must not know the elements in a group. Invariant: invalid numbers are zero, as in JMeter, and times are limited to ten years.

use loadline_java::numbers::{double_or_zero, long_or_zero};
use loadline_jmeter::open_schedule;
use loadline_model::ThreadGroup;
use loadline_model::thread_group::{
    ArrivalCourse, ArrivalLeg, Arrivals, Concurrency, RATE_UNITS, ThreadRow, ThreadSteps,
};
use loadline_run::steps::GroupTimes;
use loadline_steps::host::LogLevel;
use loadline_steps::profile;
use loadline_steps::program::{Group, GroupSchedule, LevelSchedule, Lifetime, SteppingSchedule};
use loadline_steps::scope::Scope;
use loadline_steps::text::Text;

/// Maximum time, in seconds.
const TIME_MAX_S: u64 = 315_360_000;

/// Threads of a group of arrivals without a limit in the plan: far more than JMeter can start.
const THREADS_MAX: u32 = 20_000;

/// Maximum threads of any group: more than an operating system gives one process.
const THREADS_ALLOWED: i64 = 1_000_000;

/// When the threads of a group run; the phase is not known yet.
pub(super) fn times_of(group: &Group, scope: &mut Scope<'_>) -> GroupTimes {
    let (shape, loops) = match &group.schedule {
        GroupSchedule::Ramp { loops, .. } => (ramp(&group.schedule, scope), loops_of(loops, scope)),
        GroupSchedule::Rows { rows, loops } => {
            let rows = rows_of(rows, scope);
            (ThreadGroup::Rows { rows }, loops_of(loops, scope))
        }
        GroupSchedule::Steps(steps) => {
            let shape = ThreadGroup::Steps(steps_of(steps, scope));
            (shape, loops_of(&steps.loops, scope))
        }
        GroupSchedule::Concurrency(level) => {
            let shape = ThreadGroup::Concurrency(concurrency(level, scope));
            (shape, limit(&level.loops, scope))
        }
        GroupSchedule::Arrivals { level, threads_max } => {
            let course = rising(level, scope);
            let shape = arrivals(course, threads_max, scope);
            (shape, limit(&level.loops, scope))
        }
        GroupSchedule::FreeForm {
            legs,
            unit,
            loops,
            threads_max,
        } => {
            let course = free_form(legs, unit, scope);
            (arrivals(course, threads_max, scope), limit(loops, scope))
        }
        GroupSchedule::Open { schedule, seed } => (open(group, (schedule, seed), scope), None),
    };
    GroupTimes {
        shape,
        loops,
        asks_loops: (group.schedule.loops()).is_some_and(|loops| loops.constant().is_none()),
        stage: 0,
    }
}

/// Whether a group's scheduler is on but has no duration.
pub(super) fn is_without_duration(group: &Group, scope: &mut Scope<'_>) -> bool {
    match &group.schedule {
        GroupSchedule::Ramp { lifetime, .. } => {
            is_on(lifetime, scope) && seconds(&lifetime.duration_s, scope) == 0
        }
        _ => false,
    }
}

/// Whether a scheduler is on; the setting may be a function.
fn is_on(lifetime: &Lifetime, scope: &mut Scope<'_>) -> bool {
    let is_on = lifetime.is_on.evaluate(scope);
    is_on.eq_ignore_ascii_case("true")
}

fn number(text: &Text, scope: &mut Scope<'_>) -> i64 {
    long_or_zero(&text.evaluate(scope))
}

fn seconds(text: &Text, scope: &mut Scope<'_>) -> u64 {
    u64::try_from(number(text, scope)).map_or(0, |seconds| seconds.min(TIME_MAX_S))
}

fn threads(text: &Text, scope: &mut Scope<'_>) -> u32 {
    u32::try_from(number(text, scope).min(THREADS_ALLOWED)).unwrap_or(0)
}

/// Iterations of a loop controller; `None`: no limit.
fn loops_of(text: &Text, scope: &mut Scope<'_>) -> Option<u64> {
    u64::try_from(number(text, scope)).ok()
}

/// A limit, where zero means no limit.
fn limit(text: &Text, scope: &mut Scope<'_>) -> Option<u64> {
    loops_of(text, scope).filter(|limit| *limit > 0)
}

fn ramp(schedule: &GroupSchedule, scope: &mut Scope<'_>) -> ThreadGroup {
    let GroupSchedule::Ramp {
        threads: count,
        ramp_s,
        lifetime,
        is_delayed,
        ..
    } = schedule
    else {
        return ThreadGroup::Rows { rows: Vec::new() };
    };
    let mut threads = threads(count, scope);
    let ramp_ms = seconds(ramp_s, scope) * 1000;
    let of = u64::from(threads.max(1));
    let (mut delay_ms, mut lasts_ms) = (0, None);
    if is_on(lifetime, scope) {
        let lasts_s = seconds(&lifetime.duration_s, scope);
        delay_ms = seconds(&lifetime.delay_s, scope) * 1000;
        lasts_ms = Some(lasts_s * 1000);
        if lasts_s == 0 {
            threads = 0;
        }
    }
    ThreadGroup::Ramp {
        threads,
        delay_ms,
        step_ms: (ramp_ms + of / 2) / of,
        lasts_ms,
        leaves_out_late: *is_delayed,
    }
}

/// The rows of an Ultimate group, or those of the property that replaces them.
fn rows_of(rows: &[Vec<Text>], scope: &mut Scope<'_>) -> Vec<ThreadRow> {
    let property = scope.host.world().property("threads_schedule");
    if let Some(property) = property.filter(|property| !property.is_empty()) {
        return profile::parts(&property).filter_map(spawned).collect();
    }
    let rows = rows.iter().map(|row| {
        let mut second = |index: usize| row.get(index).map_or(0, |text| seconds(text, scope));
        let [delay_s, startup_s, hold_s, shutdown_s] = [1, 2, 3, 4].map(&mut second);
        ThreadRow {
            threads: row.first().map_or(0, |text| threads(text, scope)),
            delay_s,
            startup_s,
            hold_s,
            shutdown_s,
        }
    });
    rows.collect()
}

/// `spawn(2,1s,3s,1m,2s)`.
fn spawned((word, values): (&str, Vec<&str>)) -> Option<ThreadRow> {
    let second = |index: usize| {
        let found = profile::seconds(values.get(index)?)?;
        Some(found.min(TIME_MAX_S))
    };
    if !word.eq_ignore_ascii_case("spawn") {
        return None;
    }
    let threads = values.first()?.parse::<i64>().ok()?;
    Some(ThreadRow {
        threads: u32::try_from(threads.min(THREADS_ALLOWED)).ok()?,
        delay_s: second(1)?,
        startup_s: second(2)?,
        hold_s: second(3)?,
        shutdown_s: second(4)?,
    })
}

fn steps_of(steps: &SteppingSchedule, scope: &mut Scope<'_>) -> ThreadSteps {
    ThreadSteps {
        threads: threads(&steps.threads, scope),
        delay_s: seconds(&steps.delay_s, scope),
        first_bunch: threads(&steps.first_bunch, scope),
        bunch: threads(&steps.bunch, scope),
        period_s: seconds(&steps.period_s, scope),
        ramp_s: seconds(&steps.ramp_s, scope),
        hold_s: seconds(&steps.hold_s, scope),
        stop_bunch: threads(&steps.stop_bunch, scope),
        stop_period_s: seconds(&steps.stop_period_s, scope),
    }
}

/// The length of a unit in seconds.
fn unit_s(unit: &Text, scope: &mut Scope<'_>) -> f64 {
    match unit.evaluate(scope).as_ref() {
        "M" => 60.0,
        _ => 1.0,
    }
}

fn units(text: &Text, unit_s: f64, scope: &mut Scope<'_>) -> u64 {
    let count = double_or_zero(&text.evaluate(scope));
    ((count * unit_s).round().max(0.0) as u64).min(TIME_MAX_S)
}

fn concurrency(level: &LevelSchedule, scope: &mut Scope<'_>) -> Concurrency {
    let unit_s = unit_s(&level.unit, scope);
    Concurrency {
        target: threads(&level.target, scope),
        ramp_s: units(&level.ramp, unit_s, scope),
        steps: threads(&level.steps, scope),
        hold_s: units(&level.hold, unit_s, scope),
    }
}

fn rate(per_unit: f64, unit_s: f64) -> u64 {
    (per_unit / unit_s * RATE_UNITS).round().max(0.0) as u64
}

fn rising(level: &LevelSchedule, scope: &mut Scope<'_>) -> ArrivalCourse {
    let unit_s = unit_s(&level.unit, scope);
    ArrivalCourse::Rising {
        target: rate(number(&level.target, scope) as f64, unit_s),
        ramp_s: units(&level.ramp, unit_s, scope),
        steps: threads(&level.steps, scope),
        hold_s: units(&level.hold, unit_s, scope),
    }
}

fn free_form(legs: &[Vec<Text>], unit: &Text, scope: &mut Scope<'_>) -> ArrivalCourse {
    let unit_s = unit_s(unit, scope);
    let legs = legs.iter().map(|leg| {
        let mut value = |index: usize| {
            let text = leg.get(index).map(|text| text.evaluate(scope).into_owned());
            double_or_zero(&text.unwrap_or_default())
        };
        let lasts_s = (value(2) * unit_s).clamp(0.0, TIME_MAX_S as f64);
        ArrivalLeg {
            from: rate(value(0), unit_s),
            to: rate(value(1), unit_s),
            lasts_ms: (lasts_s * 1000.0) as u64,
            by_chance: false,
        }
    });
    ArrivalCourse::FreeForm {
        legs: legs.collect(),
    }
}

fn arrivals(course: ArrivalCourse, threads_max: &Text, scope: &mut Scope<'_>) -> ThreadGroup {
    let threads_max = threads(threads_max, scope);
    ThreadGroup::Arrivals(Arrivals {
        course,
        limit: None,
        threads_max: match threads_max {
            0 => THREADS_MAX,
            limit => limit,
        },
        reuses_threads: true,
    })
}

/// The arrivals of a textual schedule. An invalid schedule has none, and is reported.
fn open(group: &Group, (schedule, seed): (&Text, &Text), scope: &mut Scope<'_>) -> ThreadGroup {
    let schedule = schedule.evaluate(scope).into_owned();
    let seed = match number(seed, scope) {
        0 => scope.host.random().cast_signed(),
        seed => seed,
    };
    let legs = open_schedule::read(schedule.trim()).unwrap_or_else(|why| {
        let message = format!("{}: the schedule cannot be read: {why}", group.name);
        let class = "o.a.j.t.o.OpenModelThreadGroup";
        scope.host.world().log(LogLevel::Error, class, &message);
        Vec::new()
    });
    let is_empty = legs.is_empty();
    let legs = legs.iter().map(|leg| ArrivalLeg {
        from: rate(leg.from_per_s, 1.0),
        to: rate(leg.to_per_s, 1.0),
        lasts_ms: (leg.lasts_s * 1000.0).round() as u64,
        by_chance: leg.by_chance,
    });
    ThreadGroup::Arrivals(Arrivals {
        course: ArrivalCourse::Counted {
            legs: legs.collect(),
            seed,
        },
        limit: None,
        threads_max: if is_empty { 0 } else { THREADS_MAX },
        reuses_threads: false,
    })
}

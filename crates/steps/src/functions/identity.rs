//! Functions that identify a call: thread, group, sampler, machine, plan, iteration.
//!
//! Must not know how threads are started. Invariant: counters are separate for each call site.

use std::fmt::Write as _;

use super::{Call, Outcome};
use crate::scope::Scope;
use crate::text::Text;

/// `__threadNum()`: the number within the group, from 1, at the end of the thread's name; the name of a branch
/// has none.
pub(super) fn thread_number(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = scope.thread.name.as_str();
    if name.is_empty() {
        return append(out, "1");
    }
    append(
        out,
        name.rsplit_once('-').map_or(name, |(_, number)| number),
    )
}

/// `__threadGroupName()`.
pub(super) fn group_name(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    append(out, &scope.thread.group)
}

/// `__samplerName([variable])`: the current name, with variables and functions evaluated.
pub(super) fn sampler_name(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = std::mem::take(&mut scope.sampler);
    match Text::parse(name) {
        Ok(text) => text.evaluate_into(scope, out),
        Err(_) => out.push_str(name),
    }
    scope.sampler = name;
    Ok(())
}

/// `__machineName([variable])`.
pub(super) fn machine_name(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    append(out, scope.host.world().machine().0)
}

/// `__machineIP([variable])`.
pub(super) fn machine_address(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    append(out, scope.host.world().machine().1)
}

/// `__TestPlanName()`: the file name of the plan.
pub(super) fn plan_name(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    append(out, &scope.thread.plan)
}

/// `__iterationNum()`: the iteration of the group's loop, from 1.
pub(super) fn iteration(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    append(out, scope.iteration)
}

/// `__counter(TRUE|FALSE[,variable])`: counts the evaluations of this call, per thread or over all threads.
pub(super) fn counter(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let by_thread = call.argument(0, scope).eq_ignore_ascii_case("true");
    let count = match by_thread {
        true => advance(scope.memory.counters.entry(call.site).or_default()),
        false => scope.commons.advance(call.site),
    };
    append(out, count)
}

fn advance(count: &mut u64) -> u64 {
    *count += 1;
    *count
}

fn append(out: &mut String, value: impl std::fmt::Display) -> Outcome {
    // Writing to a String does not fail.
    let _ = write!(out, "{value}");
    Ok(())
}

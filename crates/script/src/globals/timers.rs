//! `setTimeout` and its kin; also the module `k6/timers`.
//!
//! Must not read a clock but the host's. Invariant: delays below zero, and those that are no
//! number, count as zero.

use loadline_model::Nanos;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Function, Object, Persistent, Result, Value};

use crate::natives::refuse;
use crate::vu::{Timer, state};

/// Milliseconds beyond which a delay means never: a hundred years.
const DELAY_MAX_MS: f64 = 3.2e12;

pub(super) fn install<'js>(ctx: &Ctx<'js>, globals: &Object<'js>) -> Result<()> {
    let natives = natives(ctx)?;
    for name in ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] {
        globals.set(name, natives.get::<_, Function<'js>>(name)?)?;
    }
    Ok(())
}

/// The functions, as an object.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let timeout = |ctx: Ctx<'js>, callback, delay, arguments| {
        set(&ctx, "setTimeout", callback, delay, arguments, false)
    };
    let interval = |ctx: Ctx<'js>, callback, delay, arguments| {
        set(&ctx, "setInterval", callback, delay, arguments, true)
    };
    natives.set("setTimeout", Function::new(ctx.clone(), timeout)?.with_name("setTimeout")?)?;
    natives.set("setInterval", Function::new(ctx.clone(), interval)?.with_name("setInterval")?)?;
    for name in ["clearTimeout", "clearInterval"] {
        natives.set(name, Function::new(ctx.clone(), clear)?.with_name(name)?)?;
    }
    Ok(natives)
}

fn set<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    callback: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
    repeats: bool,
) -> Result<u32> {
    let Some(callback) = callback.0.as_ref().and_then(Value::as_function) else {
        let message = format!("{name}'s callback isn't a callable function");
        return Err(refuse(ctx, &message));
    };
    let delay_ns = nanoseconds(delay.0.map_or(0.0, |delay| delay.0));
    let state = state(ctx);
    let id = state.event_loop.new_timer_id();
    let timer = Timer {
        id,
        every_ns: repeats.then_some(delay_ns.max(1_000_000)),
        callback: Persistent::save(ctx, callback.clone()),
        arguments: arguments
            .0
            .into_iter()
            .map(|argument| Persistent::save(ctx, argument))
            .collect(),
    };
    let due = Nanos(state.host.now().0.saturating_add(delay_ns));
    state.event_loop.set_timer(due, timer);
    Ok(id)
}

fn nanoseconds(milliseconds: f64) -> u64 {
    if milliseconds > 0.0 {
        (milliseconds.min(DELAY_MAX_MS) * 1e6) as u64
    } else {
        0
    }
}

fn clear(ctx: Ctx<'_>, id: Opt<Coerced<f64>>) {
    if let Some(id) = id.0 {
        state(&ctx).event_loop.clear_timer(id.0 as u32);
    }
}

/// Calls a timer's function, and sets an interval again.
pub(super) fn fire(ctx: &Ctx<'_>, due: Nanos, timer: Timer) -> Result<()> {
    let callback = timer.callback.clone().restore(ctx)?;
    let arguments = timer
        .arguments
        .iter()
        .map(|argument| argument.clone().restore(ctx))
        .collect::<Result<Vec<_>>>()?;
    if let Some(every_ns) = timer.every_ns {
        let next = Nanos(due.0.saturating_add(every_ns));
        state(ctx).event_loop.set_timer(next, timer);
    }
    callback.call::<_, Value<'_>>((Rest(arguments),))?;
    Ok(())
}

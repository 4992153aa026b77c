//! `setTimeout` and related functions; also the module `k6/timers`.
//!
//! Must not read any clock but the host's. Invariant: delays that are negative or not numbers count as zero.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use loadline_model::Nanos;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Exception, Persistent, Result, Value};

use crate::go_error::refuse;
use crate::lazy::{Lazy, go_name, native};
use crate::vu::{Timer, state};

/// Delay in milliseconds beyond which a timer never fires: a hundred years.
const DELAY_MAX_MS: f64 = 3.2e12;

/// The functions: globals, and the module `k6/timers`.
pub(crate) const TIMERS: &[Lazy] = &[
    Lazy::new("setTimeout", |ctx, _, name| {
        setter(
            ctx,
            name,
            go_name!("internal/js/tc55/timers", "(*timers).setTimeout-fm"),
            false,
        )
    }),
    Lazy::new("clearTimeout", |ctx, _, _| {
        native(
            ctx,
            go_name!("internal/js/tc55/timers", "(*timers).clearTimeout-fm"),
            clear,
        )
    }),
    Lazy::new("setInterval", |ctx, _, name| {
        setter(
            ctx,
            name,
            go_name!("internal/js/tc55/timers", "(*timers).setInterval-fm"),
            true,
        )
    }),
    Lazy::new("clearInterval", |ctx, _, _| {
        native(
            ctx,
            go_name!("internal/js/tc55/timers", "(*timers).clearInterval-fm"),
            clear,
        )
    }),
];

fn setter<'js>(
    ctx: &Ctx<'js>,
    name: &'static str,
    go_name: &str,
    repeats: bool,
) -> Result<Value<'js>> {
    let set = move |ctx: Ctx<'js>, callback, delay, arguments| {
        set(&ctx, name, callback, delay, arguments, repeats)
    };
    native(ctx, go_name, set)
}

fn set<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    callback: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
    repeats: bool,
) -> Result<u32> {
    if let Some(other) = callback.0.as_ref()
        && !(other.is_function() || other.is_null() || other.is_undefined())
    {
        let shown = other.get::<Coerced<String>>()?.0;
        let message = format!(
            "could not convert function call parameter 0: could not convert {shown} to sobek.Callable"
        );
        return Err(Exception::throw_type(ctx, &message));
    }
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

/// Calls a timer's function, and restarts it if it is an interval: the next call is counted from the end of this one.
pub(super) fn fire(ctx: &Ctx<'_>, timer: Timer) -> Result<()> {
    let callback = timer.callback.clone().restore(ctx)?;
    let arguments = timer
        .arguments
        .iter()
        .map(|argument| argument.clone().restore(ctx))
        .collect::<Result<Vec<_>>>()?;
    let state = state(ctx);
    let next = timer.every_ns.map(|every_ns| (timer.id, every_ns));
    let due_after = |every_ns: u64| Nanos(state.host.now().0.saturating_add(every_ns));
    if let Some((_, every_ns)) = next {
        state.event_loop.set_timer(due_after(every_ns), timer);
    }
    let called = callback.call::<_, Value<'_>>((Rest(arguments),));
    if let Some((id, every_ns)) = next {
        state.event_loop.move_timer(id, due_after(every_ns));
    }
    called.map(drop)
}

//! The global scope of every script.
//!
//! All but variables are created on first access. Must not know the internals of modules. Invariant: what a
//! script never mentions costs at most a property.

mod builtin;
mod console;
mod env;
mod loading;
mod timers;

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};

use crate::lazy::{self, Seen};
use crate::modules::LAZY_GLOBALS;
use crate::vu::{Timer, state};

/// Installs the global scope; called once per virtual user.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    if !state(ctx).program.settings.lacks_global {
        globals.set("global", globals.clone())?;
    }
    globals.set("__VU", state(ctx).ids.shown)?;
    renew_env(ctx)?;
    lazy::define(&globals, console::CONSOLE, Seen::Yes)?;
    lazy::define(&globals, TIMERS, Seen::Yes)?;
    lazy::define(&globals, loading::GLOBALS, Seen::No)?;
    lazy::define(&globals, LAZY_GLOBALS, Seen::No)
}

/// Prepares the global scope for an iteration.
pub(crate) fn begin_iteration(ctx: &Ctx<'_>, number: u64) -> Result<()> {
    ctx.globals().set("__ITER", number)
}

/// Calls a timer's function.
pub(crate) fn fire_timer(ctx: &Ctx<'_>, timer: Timer) -> Result<()> {
    timers::fire(ctx, timer)
}

/// Puts everything in this task into the group with this path.
pub(crate) fn enter_group(ctx: &Ctx<'_>, path: &str) {
    *state(ctx).group.borrow_mut() = Rc::from(path);
}

/// Resets the state that a failed task left behind.
pub(crate) fn after_task(ctx: &Ctx<'_>) {
    let state = state(ctx);
    state.forget_async_groups();
    if !state.group.borrow().is_empty() {
        *state.group.borrow_mut() = Rc::from("");
    }
}

pub(crate) use builtin::builtin_namespace;
pub(crate) use env::renew_env;
pub(crate) use timers::TIMERS;

/// Fills `import.meta` of a script's own file.
pub(crate) fn describe_file(meta: &Object<'_>, name: &str) -> Result<()> {
    meta.set("url", name)?;
    lazy::define(meta, loading::FILE, Seen::Yes)?;
    lazy::define(meta, loading::FILE_UNSEEN, Seen::No)
}

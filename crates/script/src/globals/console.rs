//! `console`: values as text, lines to the log.
//!
//! Must not know where lines go. Invariant: formatting ends for every value, cyclic and deep ones
//! included.

mod format;

use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::host::LogLevel;
use crate::vu::state;

const METHODS: [(&str, LogLevel); 5] = [
    ("log", LogLevel::Info),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("warn", LogLevel::Warning),
    ("error", LogLevel::Error),
];

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in METHODS {
        console.set(name, method(ctx, name, level)?)?;
    }
    ctx.globals().set("console", console)
}

fn method<'js>(ctx: &Ctx<'js>, name: &str, level: LogLevel) -> Result<Function<'js>> {
    let write = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| write(&ctx, level, &values.0);
    Function::new(ctx.clone(), write)?.with_name(name)
}

fn write<'js>(ctx: &Ctx<'js>, level: LogLevel, values: &[Value<'js>]) -> Result<()> {
    let texts = values
        .iter()
        .map(|value| format::text(ctx, value))
        .collect::<Result<Vec<String>>>()?;
    state(ctx).log(level, &texts.join(" "), &[("source", "console")]);
    Ok(())
}

//! `console`: values as text, lines to the log.
//!
//! Must not know the destination of lines. Invariant: formatting terminates for every value, including cyclic
//! and deep ones.

mod format;

use rquickjs::function::Rest;
use rquickjs::{Ctx, Object, Result, Value};

use crate::host::LogLevel;
use crate::lazy::{self, GO_METHOD, Lazy, native};
use crate::vu::state;

/// The object `console`.
pub(super) const CONSOLE: &[Lazy] = &[Lazy::new("console", |ctx, _, _| {
    lazy::object(ctx, METHODS).map(Object::into_value)
})];

const METHODS: &[Lazy] = &[
    Lazy::new("log", |ctx, _, _| method(ctx, LogLevel::Info)),
    Lazy::new("info", |ctx, _, _| method(ctx, LogLevel::Info)),
    Lazy::new("debug", |ctx, _, _| method(ctx, LogLevel::Debug)),
    Lazy::new("warn", |ctx, _, _| method(ctx, LogLevel::Warning)),
    Lazy::new("error", |ctx, _, _| method(ctx, LogLevel::Error)),
];

fn method<'js>(ctx: &Ctx<'js>, level: LogLevel) -> Result<Value<'js>> {
    let write = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| write(&ctx, level, &values.0);
    native(ctx, GO_METHOD, write)
}

fn write<'js>(ctx: &Ctx<'js>, level: LogLevel, values: &[Value<'js>]) -> Result<()> {
    let texts = values
        .iter()
        .map(|value| format::text(ctx, value))
        .collect::<Result<Vec<String>>>()?;
    state(ctx).log(level, &texts.join(" "), &[("source", "console")]);
    Ok(())
}

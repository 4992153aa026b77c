//! Globals that are made when a script first looks at them.
//!
//! Each is an export of a built-in module that scripts cannot import by themselves. Must not know
//! what they do. Invariant: once made, such a global is a plain property, and one that a script
//! sets by itself stays what the script made it.

use rquickjs::object::Accessor;
use rquickjs::{Ctx, Module, Object, Result, Value};

use crate::modules::LAZY_GLOBALS;
use crate::natives::load_module;

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    for (name, module) in LAZY_GLOBALS {
        add(&globals, name, module)?;
    }
    Ok(())
}

fn add<'js>(
    globals: &Object<'js>,
    name: &'static str,
    module: &'static str,
) -> Result<()> {
    let get = move |ctx: Ctx<'js>| make(&ctx, name, module);
    let set = move |ctx: Ctx<'js>, value: Value<'js>| keep(&ctx, name, value);
    let accessor = Accessor::from(get).set(set).configurable();
    globals.prop(name, accessor)
}

fn make<'js>(ctx: &Ctx<'js>, name: &str, module: &str) -> Result<Value<'js>> {
    let namespace = builtin_namespace(ctx, module)?;
    let value: Value<'js> = namespace.get(name)?;
    keep(ctx, name, value.clone())?;
    Ok(value)
}

fn keep<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<()> {
    let property = rquickjs::object::Property::from(value)
        .writable()
        .configurable();
    ctx.globals().prop(name, property)
}

/// What a built-in module exports; its code is run at the first call.
pub(crate) fn builtin_namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let (module, promise) = load_module(ctx, name)?.eval()?;
    if let Some(Err(error)) = promise.result::<Value<'js>>() {
        return Err(error);
    }
    Module::namespace(&module)
}

//! Globals that are made when a script first looks at them.
//!
//! Each is an export of a built-in module that scripts cannot import by themselves. Must not know
//! what they do. Invariant: once made, such a global is a plain property, and one that a script
//! sets by itself stays what the script made it.

use std::cell::RefCell;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Function, Module, Object, Persistent, Result, Value};

use crate::modules::LAZY_GLOBALS;
use crate::vu::state;

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    let define: Function<'_> = globals
        .get::<_, Object<'_>>("Object")?
        .get("defineProperty")?;
    for (name, module) in LAZY_GLOBALS {
        let descriptor = Object::new(ctx.clone())?;
        let access = access(ctx, name, module)?;
        descriptor.set("get", access.clone())?;
        descriptor.set("set", access)?;
        descriptor.set("configurable", true)?;
        define.call::<_, ()>((globals.clone(), *name, descriptor))?;
    }
    Ok(())
}

/// What is both read and written through: a function of its own for each would take twice the
/// memory in every virtual user. Only a setter is handed an argument.
fn access<'js>(ctx: &Ctx<'js>, name: &'static str, module: &'static str) -> Result<Function<'js>> {
    Function::new(
        ctx.clone(),
        move |ctx: Ctx<'js>, value: Opt<Value<'js>>| match value.0 {
            None => make(&ctx, name, module),
            Some(value) => {
                keep(&ctx, name, value)?;
                Ok(Value::new_undefined(ctx))
            }
        },
    )
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

/// What built-in modules export, as far as that was asked for.
#[derive(Default)]
struct Namespaces(RefCell<Vec<(String, Persistent<Object<'static>>)>>);

/// What a built-in module exports. It is the one that scripts import under that name, and its code
/// is run once.
pub(crate) fn builtin_namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let namespaces = state(ctx).slot(Namespaces::default);
    let is_it = |(known, _): &&(String, Persistent<Object<'static>>)| known == name;
    let known = namespaces
        .0
        .borrow()
        .iter()
        .find(is_it)
        .map(|(_, namespace)| namespace.clone());
    if let Some(namespace) = known {
        return namespace.restore(ctx);
    }
    let namespace = imported(ctx, name)?;
    let kept = Persistent::save(ctx, namespace.clone());
    namespaces.0.borrow_mut().push((name.to_owned(), kept));
    Ok(namespace)
}

/// Imports a module as a script would: a module that is loaded by hand would be another one.
fn imported<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let code = format!("import * as it from {name:?};import.meta.it=it;");
    let link = Module::declare(ctx.clone(), format!("loadline:link/{name}"), code)?;
    let meta = link.meta()?;
    let (_, promise) = link.eval()?;
    if let Some(Err(error)) = promise.result::<Value<'js>>() {
        return Err(error);
    }
    meta.get("it")
}

//! Exports of built-in modules, for globals and natives.
//!
//! Must not know what they do. Invariant: it is the same module that scripts import under that name, and its
//! code runs once.

use std::cell::RefCell;

use rquickjs::{Ctx, Module, Object, Persistent, Result, Value};

use crate::vu::state;

/// Exports of the built-in modules requested so far.
#[derive(Default)]
struct Namespaces(RefCell<Vec<(String, Persistent<Object<'static>>)>>);

/// The exports of a built-in module. It is the same module that scripts import under that name, and its code
/// runs once.
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

/// Imports a module as a script would: loading it directly would create a second instance.
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

//! What built-in modules export, for globals and natives.
//!
//! Must not know what they do. Invariant: it is the module that scripts import under that name, and
//! its code is run once.

use std::cell::RefCell;

use rquickjs::{Ctx, Module, Object, Persistent, Result, Value};

use crate::vu::state;

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

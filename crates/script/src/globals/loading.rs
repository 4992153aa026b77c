//! `require` and `open`: modules and files by name.
//!
//! Must not know where they come from. Invariant: files are opened while module code runs alone.

use std::cell::RefCell;
use std::collections::HashMap;

use rquickjs::function::Opt;
use rquickjs::{
    ArrayBuffer, Ctx, Exception, Function, IntoJs, Module, Object, Persistent, Result, Value,
};

use crate::modules;
use crate::natives::load_module;
use crate::vu::{Stage, state};

const OPEN_TOO_LATE: &str = "the \"open\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle for more information";

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    globals.set("open", Function::new(ctx.clone(), open)?.with_name("open")?)?;
    let entry = state(ctx).program.entry.clone();
    globals.set("require", require_of(ctx, &entry)?)
}

/// `require` as the module of this name sees it.
pub(crate) fn require_of<'js>(ctx: &Ctx<'js>, base: &str) -> Result<Function<'js>> {
    let base = base.to_owned();
    let require = move |ctx: Ctx<'js>, name: String| require(&ctx, &base, &name);
    Function::new(ctx.clone(), require)?.with_name("require")
}

/// What was required so far, by full name.
#[derive(Default)]
struct Required {
    exports: RefCell<HashMap<String, Persistent<Value<'static>>>>,
}

fn require<'js>(ctx: &Ctx<'js>, base: &str, name: &str) -> Result<Value<'js>> {
    let throw = |message: &str| Exception::throw_message(ctx, message);
    let full_name = if modules::find(name).is_some() {
        name.to_owned()
    } else if let Some(why) = modules::refusal(name) {
        return Err(throw(&why));
    } else {
        let resolved = state(ctx).program.sources().resolve(base, name);
        resolved.map_err(|error| throw(&error.message))?
    };
    let required = state(ctx).slot(Required::default);
    let known = required.exports.borrow().get(&full_name).cloned();
    if let Some(known) = known {
        return known.restore(ctx);
    }
    let (module, promise) = load_module(ctx, &full_name)?.eval()?;
    if let Some(Err(error)) = promise.result::<Value<'js>>() {
        return Err(error);
    }
    let exports = exports_of(&Module::namespace(&module)?)?;
    let kept = Persistent::save(ctx, exports.clone());
    required.exports.borrow_mut().insert(full_name, kept);
    Ok(exports)
}

/// What `require` gives of a module: `module.exports`, the default export of a built-in, or all
/// exports.
fn exports_of<'js>(namespace: &Object<'js>) -> Result<Value<'js>> {
    let is_common_js: bool = namespace.get::<_, Option<bool>>("__cjs")?.unwrap_or(false);
    if is_common_js {
        return namespace.get("default");
    }
    Ok(namespace.clone().into_value())
}

fn open<'js>(ctx: Ctx<'js>, path: Value<'js>, mode: Opt<String>) -> Result<Value<'js>> {
    let throw = |message: &str| Exception::throw_message(&ctx, message);
    if state(&ctx).stage.get() != Stage::Init {
        return Err(throw(OPEN_TOO_LATE));
    }
    let path: String = match path.as_string() {
        Some(path) => path.to_string()?,
        None => String::new(),
    };
    if path.is_empty() {
        return Err(throw("open() can't be used with an empty filename"));
    }
    let bytes = state(&ctx)
        .program
        .sources()
        .open(&path)
        .map_err(|error| throw(&error.message))?;
    if mode.0.as_deref() == Some("b") {
        return ArrayBuffer::new_copy(ctx.clone(), &bytes).map(ArrayBuffer::into_value);
    }
    String::from_utf8_lossy(&bytes).as_ref().into_js(&ctx)
}

/// Adds `import.meta.resolve`.
pub(super) fn add_resolve<'js>(ctx: &Ctx<'js>, meta: &Object<'js>, base: &str) -> Result<()> {
    let base = base.to_owned();
    let resolve = move |ctx: Ctx<'js>, name: String| {
        let resolved = state(&ctx).program.sources().resolve(&base, &name);
        resolved.map_err(|error| Exception::throw_message(&ctx, &error.message))
    };
    meta.set("resolve", Function::new(ctx.clone(), resolve)?)
}

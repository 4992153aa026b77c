//! `require` and `open`: modules and files by name.
//!
//! Must not know where they come from. Invariant: files are only opened while module code runs.

use std::cell::RefCell;
use std::collections::HashMap;

use rquickjs::function::{Opt, This};
use rquickjs::object::Accessor;
use rquickjs::promise::PromiseState;
use rquickjs::{
    ArrayBuffer, Coerced, Ctx, Error, Function, Module, Object, Persistent, Result, Undefined,
    Value,
};

use crate::go_error::{self, GoValue, refuse};
use crate::host::LogLevel;
use crate::lazy::{Lazy, go_name, native};
use crate::loading::WHOLE;
use crate::modules;
use crate::vu::{Stage, state};

const OPEN_TOO_LATE: &str = "the \"open\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information";
const REQUIRE_TOO_LATE: &str = "the \"require\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information";

/// Maximum call depth searched for the module whose code is running.
const DEPTH_MAX: isize = 64;

/// What k6 names `require`.
const REQUIRE: &str = go_name!("internal/js", "(*requireImpl).require-fm");

/// `open`, `require`, and the errors for `module` and `exports` in a file that is not CommonJS.
pub(super) const GLOBALS: &[Lazy] = &[
    Lazy::new("open", |ctx, _, _| {
        native(
            ctx,
            go_name!("internal/js", "(*Bundle).setInitGlobals.func3"),
            open,
        )
    }),
    Lazy::new("require", |ctx, _, _| {
        native(ctx, REQUIRE, require_from_caller)
    }),
    Lazy::new("module", guard_common_js),
    Lazy::new("exports", guard_common_js),
];

/// Replaces `module` or `exports` by a getter and a setter that throw. As in k6, code that copies all
/// descriptors of the global object, as bundles do, finds these accessors and must not get the error.
fn guard_common_js<'js>(
    ctx: &Ctx<'js>,
    globals: &Object<'js>,
    name: &'static str,
) -> Result<Value<'js>> {
    let get = move |ctx: Ctx<'js>| Err::<(), Error>(no_common_js(&ctx, name));
    let set = move |ctx: Ctx<'js>, _: Value<'js>| Err::<(), Error>(no_common_js(&ctx, name));
    globals.remove(name)?;
    globals.prop(name, Accessor::new(get, set))?;
    Ok(Value::new_undefined(ctx.clone()))
}

/// The error for using `module` or `exports` in a file that is not CommonJS.
fn no_common_js(ctx: &Ctx<'_>, name: &str) -> Error {
    refuse(
        ctx,
        &format!(
            "you are trying to access identifier \"{name}\", this likely is due to mixing \
             ECMAScript Modules (ESM) and CommonJS syntax. This isn't supported in the \
             JavaScript standard, please use only one or the other"
        ),
    )
}

/// Members of `import.meta` in a script's own file.
pub(super) const FILE: &[Lazy] = &[Lazy::new("resolve", |ctx, meta, name| {
    let base: String = meta.get("url")?;
    let resolve = move |ctx: Ctx<'_>, name: String| {
        let resolved = state(&ctx).program.sources().resolve(&base, &name);
        resolved.map_err(|error| refuse(&ctx, &error.message))
    };
    native(ctx, name, resolve)
})];

/// Further members that are not enumerable.
pub(super) const FILE_UNSEEN: &[Lazy] = &[
    Lazy::new("require", file_require),
    Lazy::new("module", file_module),
];

fn file_require<'js>(ctx: &Ctx<'js>, meta: &Object<'js>, _: &str) -> Result<Value<'js>> {
    let base: String = meta.get("url")?;
    native(ctx, REQUIRE, move |ctx: Ctx<'js>, name: Opt<Value<'js>>| {
        require(&ctx, &base, name.0.as_ref())
    })
}

fn file_module<'js>(ctx: &Ctx<'js>, meta: &Object<'js>, name: &str) -> Result<Value<'js>> {
    let file: String = meta.get("url")?;
    native(ctx, name, move |ctx: Ctx<'js>| begin_common_js(&ctx, &file))
}

/// Modules loaded through CommonJS.
#[derive(Default)]
struct CommonJs {
    /// The `module` objects of files whose code has started, by full name.
    begun: RefCell<HashMap<String, Persistent<Object<'static>>>>,
    /// Results of `require` for other modules, by full name.
    required: RefCell<HashMap<String, Persistent<Value<'static>>>>,
    /// Full names of modules that are being required, innermost last.
    under_way: RefCell<Vec<String>>,
}

/// The `module` object of a CommonJS file whose code starts.
fn begin_common_js<'js>(ctx: &Ctx<'js>, file: &str) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("exports", Object::new(ctx.clone())?)?;
    let kept = Persistent::save(ctx, module.clone());
    let common_js = state(ctx).slot(CommonJs::default);
    common_js.begun.borrow_mut().insert(file.to_owned(), kept);
    Ok(module)
}

/// `require` for ECMAScript modules: names are resolved from the calling file.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine hands arguments over"
)]
fn require_from_caller<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>) -> Result<Value<'js>> {
    let base = caller(&ctx).unwrap_or_else(|| state(&ctx).program.entry.clone());
    require(&ctx, &base, name.0.as_ref())
}

/// An argument converted to text, as in k6 for any value; empty if missing.
fn text_of_argument(argument: Option<&Value<'_>>) -> Result<String> {
    match argument {
        Some(value) if !value.is_null() && !value.is_undefined() => {
            Ok(value.get::<Coerced<String>>()?.0)
        }
        _ => Ok(String::new()),
    }
}

fn require<'js>(ctx: &Ctx<'js>, base: &str, name: Option<&Value<'js>>) -> Result<Value<'js>> {
    let name = text_of_argument(name)?;
    if state(ctx).stage.get() != Stage::Init {
        return Err(refuse(ctx, REQUIRE_TOO_LATE));
    }
    if name.is_empty() {
        return Err(refuse(
            ctx,
            "require() can't be used with an empty specifier",
        ));
    }
    let full_name = if modules::find(&name).is_some() {
        name
    } else if let Some(why) = modules::refusal(&name) {
        return Err(refuse(ctx, &why));
    } else {
        let resolved = state(ctx).program.sources().resolve(base, &name);
        resolved.map_err(|error| refuse(ctx, &error.message))?
    };
    let common_js = state(ctx).slot(CommonJs::default);
    let begun = common_js.begun.borrow().get(&full_name).cloned();
    if let Some(module) = begun {
        return module.restore(ctx)?.get("exports");
    }
    let known = common_js.required.borrow().get(&full_name).cloned();
    if let Some(known) = known {
        return known.restore(ctx);
    }
    common_js.under_way.borrow_mut().push(full_name.clone());
    let exports = evaluated(ctx, &full_name);
    common_js.under_way.borrow_mut().pop();
    if exports.is_err() {
        // A second `require` fails in the same way, and never gets a half-initialized module.
        common_js.begun.borrow_mut().remove(&full_name);
    }
    let exports = exports?;
    let kept = Persistent::save(ctx, exports.clone());
    common_js.required.borrow_mut().insert(full_name, kept);
    Ok(exports)
}

/// The result of `require` for a module, which runs if it has not yet. It is imported through a module created
/// for this purpose, so that the engine finds an existing instance.
fn evaluated<'js>(ctx: &Ctx<'js>, full_name: &str) -> Result<Value<'js>> {
    let quoted = serde_json::Value::from(full_name).to_string();
    let is_builtin = modules::find(full_name).is_some();
    let bridge = Module::declare(
        ctx.clone(),
        format!("loadline:require {full_name}"),
        match is_builtin {
            true => format!(
                "export * as required from {quoted};export {{default as whole}} from {quoted}"
            ),
            false => format!("export * as required from {quoted}"),
        },
    )?;
    let (bridge, promise) = bridge.eval()?;
    if promise.state() == PromiseState::Rejected {
        // The caller gets the error by exception: the unawaited promise must not be reported as another error.
        let deaf = Function::new(ctx.clone(), || ())?;
        let then: Function<'js> = promise.get("then")?;
        then.call::<_, Value<'js>>((This(promise.clone()), Undefined, deaf))?;
    }
    if let Some(Err(error)) = promise.result::<Value<'js>>() {
        return Err(error);
    }
    exports_of(&bridge.namespace()?)
}

/// The value that `require` returns for a module: `module.exports`, or all exports.
fn exports_of<'js>(bridge: &Object<'js>) -> Result<Value<'js>> {
    let namespace: Object<'js> = bridge.get("required")?;
    if namespace.contains_key(WHOLE)? {
        return namespace.get(WHOLE);
    }
    // A built-in module that exports a single object under several names is that object.
    if let Some(whole) = bridge.get::<_, Value<'js>>("whole")?.into_object()
        && namespace
            .keys::<String>()
            .all(|name| name.is_ok_and(|name| whole.contains_key(name).unwrap_or(false)))
    {
        return Ok(whole.into_value());
    }
    Ok(namespace.into_value())
}

/// The module of the caller this many levels up; the calling native itself does not count.
fn module_name(ctx: &Ctx<'_>, level: isize) -> Option<String> {
    ctx.script_or_module_name(level)?.to_string().ok()
}

/// The module of the innermost call.
fn caller(ctx: &Ctx<'_>) -> Option<String> {
    (0..DEPTH_MAX).find_map(|level| module_name(ctx, level))
}

/// The module whose code is running: the one being required, otherwise that of the outermost call.
fn module_under_way(ctx: &Ctx<'_>) -> Option<String> {
    let common_js = state(ctx).slot(CommonJs::default);
    let required = common_js.under_way.borrow().last().cloned();
    required.or_else(|| {
        (0..DEPTH_MAX)
            .rev()
            .find_map(|level| module_name(ctx, level))
    })
}

/// Warns in k6's words of a path that is not relative to the module that opens it.
fn warn_of_folder(ctx: &Ctx<'_>, base: Option<&str>, path: &str) {
    let Some(asking) = caller(ctx) else {
        return;
    };
    let sources = state(ctx).program.sources();
    let Some(folder) = sources.foreign_folder(base, &asking, path) else {
        return;
    };
    let message = format!(
        "open() was used and is currently relative to '{folder}', but in the future it will be aligned with how `require` and imports work and will be relative to '{asking}'. This means that in the future open will open relative path relative to the module/file it is written in. You can future proof this by using `import.meta.resolve()` to get relative paths to the file it is written in the current k6 version."
    );
    state(ctx).log(LogLevel::Warning, &message, &[]);
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine hands arguments over"
)]
fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>, mode: Opt<Value<'js>>) -> Result<Value<'js>> {
    let throw = |message: &str| refuse(&ctx, message);
    if state(&ctx).stage.get() != Stage::Init {
        return Err(throw(OPEN_TOO_LATE));
    }
    let path = text_of_argument(path.0.as_ref())?;
    if path.is_empty() {
        return Err(throw("open() can't be used with an empty filename"));
    }
    let base = module_under_way(&ctx);
    warn_of_folder(&ctx, base.as_deref(), &path);
    let sources = state(&ctx).program.sources();
    let opened = sources.open(base.as_deref(), &path);
    let bytes = opened
        .map_err(|error| go_error::throw(&ctx, &GoValue::read(&error.to_string())))?
        .bytes;
    if text_of_argument(mode.0.as_ref())? == "b" {
        return ArrayBuffer::new_copy(ctx.clone(), &bytes).map(ArrayBuffer::into_value);
    }
    modules::bytes::text_of(&ctx, bytes)
}

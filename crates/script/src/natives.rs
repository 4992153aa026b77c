//! Built-in modules: their names, resolution and loading.
//!
//! A built-in module is JavaScript as well: one line that exports a native object's members, or a longer text
//! that accesses its natives as `import.meta.native`. Must not know what the modules do. Invariant: a module
//! that no script imports costs nothing.

use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module, Object, Result, WriteOptions, qjs};

use crate::go_error::refuse;
use crate::host::LogLevel;
use crate::lazy::{self, Lazy};
use crate::modules;
use crate::vu::{frames_of, state};

/// Maximum steps for resolving the names of a module: a second or two.
const COMPILE_STEPS_MAX: u64 = 500_000_000;
/// Minimum of the memory limit for compiling a module.
const COMPILE_BYTES_MIN: usize = 64 << 20;
/// Additional bytes per byte of source: code full of functions takes 20.
const COMPILE_BYTES_PER_BYTE: usize = 40;

/// A built-in module.
pub(crate) struct Builtin {
    /// The name in imports.
    pub(crate) name: &'static str,
    /// The source of its exports.
    pub(crate) body: Body,
}

/// The source of a built-in module's exports.
pub(crate) enum Body {
    /// These properties; an object with all of them is the default export.
    Natives(&'static [Lazy]),
    /// JavaScript.
    Script {
        /// The module's code, which accesses the natives as `import.meta.native`.
        text: &'static str,
        /// Makes the natives; called once per virtual user that imports the module.
        natives: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
    },
}

/// Resolves imports.
pub(crate) struct ScriptResolver;

impl Resolver for ScriptResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if modules::find(name).is_some() {
            return Ok(name.to_owned());
        }
        if let Some(why) = modules::refusal(name) {
            return Err(Exception::throw_message(ctx, &why));
        }
        state(ctx)
            .program
            .sources()
            .resolve(base, name)
            .map_err(|error| refuse(ctx, &error.message))
    }
}

/// Loads resolved modules.
pub(crate) struct ScriptLoader;

impl Loader for ScriptLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        load_module(ctx, name)
    }
}

/// Declares a module by its full name; it has not run yet.
pub(crate) fn load_module<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
    match modules::find(name).map(|builtin| &builtin.body) {
        // SAFETY: the declaring function follows the rules for the function of a C module.
        Some(Body::Natives(_)) => unsafe {
            Module::from_load_fn(ctx.clone(), name, declare_natives)
        },
        Some(Body::Script { text, natives }) => {
            let module = compiled(ctx, name, || Ok((*text).into()))?;
            module.meta()?.set("native", natives(ctx)?)?;
            Ok(module)
        }
        None => {
            let module = compiled(ctx, name, || {
                let state = state(ctx);
                let sources = state.program.sources();
                let loaded = sources.load(name);
                if let Some(why) = sources.take_map_fault(name) {
                    let message = format!("Couldn't load source map for {name}");
                    state.log(LogLevel::Warning, &message, &[("error", &why)]);
                }
                loaded.map_err(|error| refuse(ctx, &error.message))
            })?;
            modules::describe_file(&module.meta()?, name)?;
            Ok(module)
        }
    }
}

/// Declares a module of natives, whose values are created on import.
unsafe extern "C" fn declare_natives(
    ctx: *mut qjs::JSContext,
    name: *const c_char,
) -> *mut qjs::JSModuleDef {
    let context = NonNull::new(ctx).expect("modules are declared in a context");
    // SAFETY: the context lives during the call, and is not used afterwards.
    let context = unsafe { Ctx::from_raw(context) };
    // SAFETY: the engine lends a zero-terminated string.
    let found = unsafe { CStr::from_ptr(name) }
        .to_str()
        .ok()
        .and_then(modules::find);
    let Some(Body::Natives(rows)) = found.map(|builtin| &builtin.body) else {
        return ptr::null_mut();
    };
    match lazy::object(&context, rows) {
        // SAFETY: the engine takes over the copy's reference.
        Ok(natives) => unsafe {
            let natives = qjs::JS_DupValue(ctx, natives.as_value().as_raw());
            qjs::JS_NewLazyModule(ctx, name, natives)
        },
        Err(_) => ptr::null_mut(),
    }
}

/// The module for a text, compiled by the first virtual user that needs it.
fn compiled<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    text: impl FnOnce() -> Result<Arc<str>>,
) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = state(ctx).program.bytecode(name) {
        // SAFETY: this process wrote the bytecode, with the same engine; the program keeps it, and the virtual
        // user's state, which is dropped after the runtime, keeps the program.
        return unsafe { Module::load(ctx.clone(), &bytecode) };
    }
    let text = without_zeros(text()?);
    let (module, bytecode) = within_limits(ctx, name, text.len(), || {
        let module = Module::declare(ctx.clone(), name, text.as_bytes())?;
        // Each virtual user has its own copy; nobody reads the source of a built-in function.
        let bytecode = module.write(WriteOptions {
            strip_source: modules::find(name).is_some(),
            ..WriteOptions::default()
        })?;
        Ok((module, bytecode))
    })?;
    state(ctx).program.keep_bytecode(name, bytecode);
    Ok(module)
}

/// The text with zeros as escapes, which mean the same wherever a zero is allowed: the engine's texts are
/// zero-terminated.
fn without_zeros(text: Arc<str>) -> Arc<str> {
    if !text.contains('\0') {
        return text;
    }
    let mut written = String::with_capacity(text.len());
    let mut is_escaped = false;
    for letter in text.chars() {
        match letter {
            '\0' if is_escaped => written.push_str("x00"),
            '\0' => written.push_str("\\x00"),
            _ => written.push(letter),
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    written.into()
}

/// Limits the time and memory for compiling a module of this many bytes to what real code needs.
fn within_limits<T>(
    ctx: &Ctx<'_>,
    name: &str,
    bytes: usize,
    compile: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let memory = bytes.saturating_mul(COMPILE_BYTES_PER_BYTE);
    let memory = memory.saturating_add(COMPILE_BYTES_MIN);
    // SAFETY: the context is alive, and so is its runtime.
    let runtime = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
    // SAFETY: as above; no script code runs until the end.
    unsafe { qjs::JS_BeginCompile(runtime, COMPILE_STEPS_MAX, memory) };
    let compiled = compile();
    // SAFETY: as above.
    unsafe { qjs::JS_EndCompile(runtime) };
    let Err(Error::Exception) = compiled else {
        return compiled;
    };
    let thrown = ctx.catch();
    let field = |field: &str| thrown.as_object()?.get::<_, String>(field).ok();
    let why = match (field("name").as_deref(), field("message").as_deref()) {
        (Some("InternalError"), Some("out of memory")) => {
            format!("it takes more than {} MB to compile", memory >> 20)
        }
        (Some("InternalError"), Some(why)) => why.to_owned(),
        (Some("SyntaxError"), Some(why)) if !frames_of(ctx, &thrown).contains(name) => {
            if let Some(error) = thrown.as_object() {
                error.set("message", format!("{why} at {name}"))?;
            }
            return Err(ctx.throw(thrown));
        }
        _ => return Err(ctx.throw(thrown)),
    };
    let message = format!("{name}: {why}: make it smaller, or several modules");
    Err(Exception::throw_message(ctx, &message))
}

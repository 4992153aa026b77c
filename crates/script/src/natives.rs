//! Built-in modules: how they are named, found and handed to a script.
//!
//! A built-in module is JavaScript as well: a line that exports what a native object holds, or a
//! longer text that reaches its natives as `import.meta.native`. Must not know what the modules do.
//! Invariant: a module that no script imports costs nothing.

use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Module, Object, Result, WriteOptions, qjs};

use crate::host::LogLevel;
use crate::lazy::{self, Lazy};
use crate::modules;
use crate::vu::{frames_of, state};

/// Most steps that finding the names of a module takes: a second or two.
const COMPILE_STEPS_MAX: u64 = 500_000_000;
/// Bytes that any module may take to be compiled.
const COMPILE_BYTES_MIN: usize = 64 << 20;
/// Further bytes for each byte of it: what is dense with functions takes 20.
const COMPILE_BYTES_PER_BYTE: usize = 40;

/// A built-in module.
pub(crate) struct Builtin {
    /// What scripts import.
    pub(crate) name: &'static str,
    /// Where its exports come from.
    pub(crate) body: Body,
}

/// Where a built-in module's exports come from.
pub(crate) enum Body {
    /// These; an object of them is the default export.
    Natives(&'static [Lazy]),
    /// JavaScript.
    Script {
        /// The module's code, which reaches the natives as `import.meta.native`.
        text: &'static str,
        /// Makes the natives; called once per virtual user that imports the module.
        natives: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
    },
}

/// Resolves what scripts import.
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

/// Loads what was resolved.
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

/// A module by its full name, declared and not yet run.
pub(crate) fn load_module<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
    match modules::find(name).map(|builtin| &builtin.body) {
        // SAFETY: what declares the module keeps to what a C module's function must do.
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

/// Declares a module of natives, whose values are made as they are imported.
unsafe extern "C" fn declare_natives(
    ctx: *mut qjs::JSContext,
    name: *const c_char,
) -> *mut qjs::JSModuleDef {
    let context = NonNull::new(ctx).expect("modules are declared in a context");
    // SAFETY: the context lives during the call, which is the only use of it.
    let context = unsafe { Ctx::from_raw(context) };
    // SAFETY: the engine lends a string that ends with a zero.
    let found = unsafe { CStr::from_ptr(name) }
        .to_str()
        .ok()
        .and_then(modules::find);
    let Some(Body::Natives(rows)) = found.map(|builtin| &builtin.body) else {
        return ptr::null_mut();
    };
    match lazy::object(&context, rows) {
        // SAFETY: the engine takes the reference that the copy holds.
        Ok(natives) => unsafe {
            let natives = qjs::JS_DupValue(ctx, natives.as_value().as_raw());
            qjs::JS_NewLazyModule(ctx, name, natives)
        },
        Err(_) => ptr::null_mut(),
    }
}

/// The module of a text, compiled by the first virtual user that asks for it.
fn compiled<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    text: impl FnOnce() -> Result<Arc<str>>,
) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = state(ctx).program.bytecode(name) {
        // SAFETY: this process wrote the bytecode, with this very engine; the program keeps it, and
        // the virtual user's state the program, which goes after the runtime.
        return unsafe { Module::load(ctx.clone(), &bytecode) };
    }
    let text = without_zeros(text()?);
    let (module, bytecode) = within_limits(ctx, name, text.len(), || {
        let module = Module::declare(ctx.clone(), name, text.as_bytes())?;
        // Each virtual user has its own copy; nobody reads the text of a built-in function.
        let bytecode = module.write(WriteOptions {
            strip_source: modules::find(name).is_some(),
            ..WriteOptions::default()
        })?;
        Ok((module, bytecode))
    })?;
    state(ctx).program.keep_bytecode(name, bytecode);
    Ok(module)
}

/// The text with its zeros as escapes, which mean the same where a zero may stand: the engine's texts end with one.
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

/// Lets the engine compile a module of so many bytes in the time and memory that people's code takes.
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
    // SAFETY: as above; nothing of the script runs until the end.
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

/// An error of a module's own, under the name that k6 gives to errors of its natives.
pub(crate) fn refuse(ctx: &Ctx<'_>, message: &str) -> Error {
    let named = Exception::from_message(ctx.clone(), message).and_then(|exception| {
        let name = Property::from("GoError").writable().configurable();
        exception.as_object().prop("name", name)?;
        Ok(exception)
    });
    match named {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

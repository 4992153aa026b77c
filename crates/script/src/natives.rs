//! Built-in modules: how they are named, found and handed to a script.
//!
//! A built-in module is JavaScript as well: a line that exports what a native object holds, or a
//! longer text that reaches its natives as `import.meta.native`. Must not know what the modules do.
//! Invariant: a module that no script imports costs nothing.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module, Object, Result, WriteOptions};

use crate::modules;
use crate::program::{LoadedModule, ModuleKind};
use crate::vu::state;

/// A built-in module.
pub(crate) struct Builtin {
    /// What scripts import.
    pub(crate) name: &'static str,
    /// Where its exports come from.
    pub(crate) body: Body,
    /// Makes the natives; called once per virtual user that imports the module.
    pub(crate) natives: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
}

/// Where a built-in module's exports come from.
pub(crate) enum Body {
    /// The natives' properties of these names; the natives themselves are the default export.
    Natives(&'static [&'static str]),
    /// This JavaScript, which reaches the natives as `import.meta.native`.
    Script(&'static str),
}

impl Builtin {
    fn code(&self) -> String {
        match self.body {
            Body::Script(text) => text.to_owned(),
            Body::Natives(names) => format!(
                "const n=import.meta.native;export default n;export const {{{}}}=n;",
                names.join(",")
            ),
        }
    }
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
            .map_err(|error| Exception::throw_message(ctx, &error.message))
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
    let builtin = modules::find(name);
    let module = match state(ctx).program.bytecode(name) {
        // SAFETY: this process wrote the bytecode, with this very engine.
        Some(bytecode) => unsafe { Module::load(ctx.clone(), &bytecode)? },
        None => compile(ctx, name, builtin)?,
    };
    let meta = module.meta()?;
    match builtin {
        Some(builtin) => meta.set("native", (builtin.natives)(ctx)?)?,
        None => modules::describe_file(ctx, &meta, name)?,
    }
    Ok(module)
}

fn compile<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    builtin: Option<&'static Builtin>,
) -> Result<Module<'js, Declared>> {
    let code = match builtin {
        Some(builtin) => builtin.code(),
        None => {
            let loaded = state(ctx).program.sources().load(name);
            let loaded = loaded.map_err(|error| Exception::throw_message(ctx, &error.message))?;
            as_module(&loaded)
        }
    };
    let module = Module::declare(ctx.clone(), name, code)?;
    let bytecode = module.write(WriteOptions::default())?;
    state(ctx).program.keep_bytecode(name, bytecode);
    Ok(module)
}

/// A CommonJS file as a module: its `module.exports` is the default export. It stays on its own
/// lines, so that traces name the right ones.
fn as_module(loaded: &LoadedModule) -> String {
    match loaded.kind {
        ModuleKind::EcmaScript => loaded.code.to_string(),
        ModuleKind::CommonJs => format!(
            "const module={{exports:{{}}}};(function(module,exports,require){{{}\n}})\
             .call(module.exports,module,module.exports,import.meta.require);\
             export default module.exports;export const __cjs=true;",
            loaded.code
        ),
    }
}

/// A message of the module's own for what it refuses.
pub(crate) fn refuse(ctx: &Ctx<'_>, message: &str) -> Error {
    Exception::throw_message(ctx, message)
}

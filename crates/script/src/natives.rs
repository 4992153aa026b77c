//! Built-in modules: how they are named, found and handed to a script.
//!
//! A built-in module is JavaScript as well: a line that exports what a native object holds, or a
//! longer text that reaches its natives as `import.meta.native`. Must not know what the modules do.
//! Invariant: a module that no script imports costs nothing.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Module, Object, Result, WriteOptions};

use crate::modules;
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
            loaded.to_string()
        }
    };
    let module = Module::declare(ctx.clone(), name, code)?;
    // Each virtual user has its own copy; nobody reads the text of a built-in function.
    let options = WriteOptions {
        strip_source: builtin.is_some(),
        ..WriteOptions::default()
    };
    let bytecode = module.write(options)?;
    state(ctx).program.keep_bytecode(name, bytecode);
    Ok(module)
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

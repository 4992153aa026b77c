//! Properties whose values are created on first access.
//!
//! A virtual user's script uses few of the available functions, and each created function costs memory in every
//! virtual user. Must not know the values. Invariant: once created, the property is a plain one, or whatever
//! its maker put in its place; a script that sets it first keeps its own value.

use std::ptr::NonNull;

use rquickjs::function::IntoJsFunc;
use rquickjs::{Ctx, Error, Exception, Function, Object, Result, Value, qjs};

/// Creates a property's value, given the object and the property's name.
pub(crate) type Make = for<'js> fn(&Ctx<'js>, &Object<'js>, &'static str) -> Result<Value<'js>>;

/// A lazy property. The engine only knows its head.
#[repr(C)]
pub(crate) struct Lazy {
    head: qjs::JSLazyProperty,
    name: &'static str,
    make: Make,
}

/// Whether a property is enumerable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Enumerable, and exported by modules.
    Yes,
    /// Scripts must know its name.
    No,
}

impl Lazy {
    pub(crate) const fn new(name: &'static str, make: Make) -> Lazy {
        Lazy {
            head: qjs::JSLazyProperty { make: make_value },
            name,
            make,
        }
    }
}

/// Defines properties on an object that has none of these names.
pub(crate) fn define(object: &Object<'_>, rows: &'static [Lazy], seen: Seen) -> Result<()> {
    let ctx = object.ctx();
    let flags = match seen {
        Seen::Yes => qjs::JS_PROP_C_W_E,
        Seen::No => qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE,
    };
    for row in rows {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: the text is not empty and outlives the call.
        let atom =
            unsafe { qjs::JS_NewAtomLen(raw, row.name.as_ptr().cast(), row.name.len() as _) };
        if atom == qjs::JS_ATOM_NULL {
            return Err(Error::Exception);
        }
        // SAFETY: the row is static, object and atom are of this context.
        let defined = unsafe {
            let object = object.as_value().as_raw();
            let lazy = &raw const row.head;
            let defined = qjs::JS_DefineLazyProperty(raw, object, atom, lazy, flags as i32);
            qjs::JS_FreeAtom(raw, atom);
            defined
        };
        if defined < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(())
}

/// An object with such properties.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, rows: &'static [Lazy]) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    define(&object, rows, Seen::Yes)?;
    Ok(object)
}

/// The name of a function of k6's in Go, which is what scripts see as its `name`, and traces tell.
macro_rules! go_name {
    ($package:literal, $name:literal) => {
        concat!("go.k6.io/k6/v2/", $package, ".", $name)
    };
}
pub(crate) use go_name;

/// The name of methods that scripts call on values of Go.
pub(crate) const GO_METHOD: &str = "reflect.methodValueCall";

/// A native function with this name.
pub(crate) fn native<'js, P>(
    ctx: &Ctx<'js>,
    name: &str,
    body: impl IntoJsFunc<'js, P> + 'js,
) -> Result<Value<'js>> {
    let function = Function::new(ctx.clone(), body)?.with_name(name)?;
    Ok(function.into_value())
}

/// Called by the engine when a property is read.
unsafe extern "C" fn make_value(
    ctx: *mut qjs::JSContext,
    object: qjs::JSValue,
    lazy: *const qjs::JSLazyProperty,
) -> qjs::JSValue {
    // SAFETY: the head is the first field of a static row, and the engine passes the pointer that it got in
    // `define`.
    let row: &'static Lazy = unsafe { &*lazy.cast::<Lazy>() };
    let ctx = NonNull::new(ctx).expect("the engine calls natives in a context");
    // SAFETY: the context lives during the call, and is not used afterwards.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    // SAFETY: the engine lends the object for the call; the copy holds its own reference.
    let object = unsafe {
        let owned = qjs::JS_DupValue(ctx.as_raw().as_ptr(), object);
        Object::from_value(Value::from_raw(ctx.clone(), owned))
    };
    let made = object.and_then(|object| (row.make)(&ctx, &object, row.name));
    match made {
        // SAFETY: the engine takes over the reference.
        Ok(value) => unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), value.as_raw()) },
        Err(error) => {
            if !error.is_exception() {
                // An error that cannot be thrown has thrown another one.
                let _ = Exception::throw_message(&ctx, &error.to_string());
            }
            qjs::JS_EXCEPTION
        }
    }
}

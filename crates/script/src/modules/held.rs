//! Data of a module that a script holds and hands back, but cannot look into.
//!
//! Must not know which modules have such data. Invariant: what is held contains nothing of a context.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, JsLifetime, Result};

/// Data that scripts may hold.
pub(super) trait Opaque: 'static {
    /// The name of its class in messages.
    const CLASS: &'static str;
}

/// Data as held by a script: an object without properties of its own.
pub(super) struct Held<T>(pub(super) T);

impl<T: Opaque> Held<T> {
    /// The object for a script.
    pub(super) fn make<'js>(ctx: Ctx<'js>, data: T) -> Result<Class<'js, Held<T>>> {
        Class::instance(ctx, Held(data))
    }
}

// SAFETY: its data lives for good, so it holds nothing that lives in a context.
unsafe impl<T: 'static> JsLifetime<'_> for Held<T> {
    type Changed<'to> = Held<T>;
}

impl<'js, T> Trace<'js> for Held<T> {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js, T: Opaque> JsClass<'js> for Held<T> {
    const NAME: &'static str = T::CLASS;
    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

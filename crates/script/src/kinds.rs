//! The kind of an object, by the constructor that made it.
//!
//! Must not know what happens with it. Invariant: the check runs no script code except a replaced constructor
//! and the traps of a proxy.

use rquickjs::{ArrayBuffer, Ctx, Error, Object, Result, Value, qjs};

/// Whether the object's prototype is that of the global constructor of this name.
///
/// # Errors
/// An exception from a getter in the constructor's place, or from the trap of a proxy.
pub(crate) fn is_made_by<'js>(ctx: &Ctx<'js>, object: &Object<'js>, class: &str) -> Result<bool> {
    let own = prototype(ctx, object)?;
    let class: Value<'js> = ctx.globals().get(class)?;
    let Some(class) = class.as_object() else {
        return Ok(false);
    };
    Ok(class.get::<_, Value<'js>>("prototype")? == own)
}

/// Whether a value is a function that always returns a promise.
pub(crate) fn is_async(value: &Value<'_>) -> bool {
    let Some(function) = value.as_function() else {
        return false;
    };
    let constructor = function.get::<_, Object<'_>>("constructor");
    let name = constructor.and_then(|constructor| constructor.get::<_, String>("name"));
    name.is_ok_and(|name| name == "AsyncFunction")
}

/// The prototype, or null. The wrapper's function would treat an exception from a proxy as an object.
fn prototype<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Value<'js>> {
    // SAFETY: the object is alive, and the returned value has no other owner.
    let own = unsafe {
        let raw = qjs::JS_GetPrototype(ctx.as_raw().as_ptr(), object.as_raw());
        Value::from_raw(ctx.clone(), raw)
    };
    match own.is_exception() {
        true => Err(Error::Exception),
        false => Ok(own),
    }
}

/// The object as an `ArrayBuffer`; `None` for anything else, and for a transferred buffer.
///
/// The wrapper's check leaves an exception pending when the answer is no, which would surface in whatever runs
/// next.
pub(crate) fn array_buffer<'js>(object: &Object<'js>) -> Option<ArrayBuffer<'js>> {
    // SAFETY: the value is alive, and no reference to it is kept.
    let is_one = unsafe { qjs::JS_IsArrayBuffer(object.as_raw()) };
    if !is_one {
        return None;
    }
    let buffer = ArrayBuffer::from_object(object.clone());
    if buffer.is_none() {
        drop(object.ctx().catch());
    }
    buffer
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn a_proxy_that_throws_ends_nothing_but_the_question() {
        let script = "export default function () {
            const rude = new Proxy({}, { getPrototypeOf() { throw new Error('no') } });
            try { console.log(rude) } catch (e) { console.log('caught') }
            let deep = {};
            for (let i = 0; i < 100000; i++) deep = new Proxy(deep, {});
            try { console.log(deep) } catch (e) { console.log('caught') }
            console.log('alive');
        }";
        let log = Rehearsal::new(script).run().log();
        assert_eq!(
            log.last().map(String::as_str),
            Some("info alive source=console")
        );
    }

    #[test]
    fn asking_for_a_buffer_leaves_no_exception_behind() {
        let script = "export default function () {
            console.log({}, new Map());
            console.log(new TextEncoder().encode('x'));
        }";
        let log = Rehearsal::new(script).run().log();
        assert_eq!(log[1], "info Uint8Array(1) [ 120 ] source=console");
    }
}

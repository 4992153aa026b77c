//! `k6/data`: `SharedArray`, data that all virtual users of the process share.
//!
//! Elements are kept as JSON text, each for itself, and parsed when they are looked at; a virtual
//! user never holds them all. Must not know what is in them. Invariant: the function that gives the
//! data runs once per process and name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::natives::{Body, Builtin};
use crate::vu::{Stage, state};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/data",
    body: Body::Script(include_str!("data.js")),
    natives,
};

/// The arrays of a process by name.
#[derive(Default)]
pub(crate) struct SharedArrays {
    arrays: Mutex<HashMap<String, Arc<SharedArray>>>,
}

/// One array: the elements' JSON, end to end.
struct SharedArray {
    text: Box<str>,
    /// Where each element ends.
    ends: Box<[usize]>,
}

impl SharedArray {
    fn of(elements: &[String]) -> SharedArray {
        let mut text = String::with_capacity(elements.iter().map(String::len).sum());
        let ends = elements
            .iter()
            .map(|element| {
                text.push_str(element);
                text.len()
            })
            .collect();
        SharedArray {
            text: text.into_boxed_str(),
            ends,
        }
    }

    fn element(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }
}

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("open", Function::new(ctx.clone(), open)?)?;
    Ok(natives)
}

/// Finds or makes the array of a name: gives its length and a function from index to value.
fn open<'js>(ctx: Ctx<'js>, name: String, make: Value<'js>) -> Result<Object<'js>> {
    let throw = |message: &str| Exception::throw_message(&ctx, message);
    if state(&ctx).stage.get() != Stage::Init {
        return Err(throw("new SharedArray must be called in the init context"));
    }
    if name.is_empty() {
        return Err(throw("empty name provided to SharedArray's constructor"));
    }
    let Some(make) = make.as_function() else {
        return Err(throw("a function is expected as the second argument of SharedArray's constructor"));
    };
    let array = find_or_make(&ctx, &name, make)?;
    let view = Object::new(ctx.clone())?;
    view.set("length", array.ends.len())?;
    let get = move |ctx: Ctx<'js>, index: usize| match array.element(index) {
        Some(json) => ctx.json_parse(json),
        None => Ok(Value::new_undefined(ctx)),
    };
    view.set("get", Function::new(ctx.clone(), get)?)?;
    Ok(view)
}

fn find_or_make<'js>(ctx: &Ctx<'js>, name: &str, make: &Function<'js>) -> Result<Arc<SharedArray>> {
    let shared = &state(ctx).program.shared_arrays;
    // Held while the script makes the data: the others want exactly that, and not a copy of their own.
    let mut arrays = shared.arrays.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(array) = arrays.get(name) {
        return Ok(Arc::clone(array));
    }
    let made: Value<'js> = make.call(())?;
    let Some(elements) = made.as_array() else {
        return Err(Exception::throw_type(ctx, "only arrays can be made into SharedArray"));
    };
    let texts = elements
        .iter::<Value<'js>>()
        .map(|element| match ctx.json_stringify(element?)? {
            Some(json) => json.to_string(),
            None => Ok("null".to_owned()),
        })
        .collect::<Result<Vec<String>>>()?;
    let array = Arc::new(SharedArray::of(&texts));
    arrays.insert(name.to_owned(), Arc::clone(&array));
    Ok(array)
}

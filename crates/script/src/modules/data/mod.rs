//! `k6/data`: `SharedArray`, data that all virtual users of the process share.
//!
//! Elements are kept as separate JSON texts and parsed on access; a virtual user never holds them all. Must not
//! know their contents. Invariant: all virtual users see the same data under a name, that of the first who
//! created it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod frozen;
pub(crate) use frozen::freeze_one;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::{Array, Ctx, Exception, Function, Object, Result, Value};

use crate::go_error::refuse;
use crate::kinds::is_async;
use crate::natives::{Body, Builtin};
use crate::vu::{Stage, state};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/data",
    body: Body::Script {
        text: include_str!("data.js"),
        natives,
    },
};

/// The script side of shared arrays, for every module that makes them.
pub(super) const VIEW: Builtin = Builtin {
    name: "loadline:shared-array",
    body: Body::Script {
        text: include_str!("view.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

/// The arrays of a process by name.
#[derive(Default)]
pub(crate) struct SharedArrays {
    arrays: Mutex<HashMap<String, Arc<SharedArray>>>,
}

impl SharedArrays {
    pub(super) fn find(&self, name: &str) -> Option<Arc<SharedArray>> {
        let arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.get(name).map(Arc::clone)
    }

    /// Stores an array unless the name exists; returns the stored one.
    pub(super) fn keep(&self, name: &str, array: SharedArray) -> Arc<SharedArray> {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = arrays.entry(name.to_owned());
        Arc::clone(kept.or_insert_with(|| Arc::new(array.fitted())))
    }
}

/// Placeholder for a value without JSON, such as a function.
const UNSAYABLE: &str = "undefined";

/// One array: the elements' JSON, concatenated.
#[derive(Default)]
pub(super) struct SharedArray {
    text: String,
    /// The end of each element.
    ends: Vec<usize>,
}

impl SharedArray {
    /// The elements of a script's array; an element without JSON is an error on access.
    fn of<'js>(ctx: &Ctx<'js>, elements: &Array<'js>) -> Result<SharedArray> {
        let mut array = SharedArray::default();
        for element in elements.iter::<Value<'js>>() {
            match ctx.json_stringify(element?)? {
                Some(json) => array.push(&json.to_string()?),
                None => array.push(UNSAYABLE),
            }
        }
        Ok(array)
    }

    /// The same array, with spare capacity released.
    fn fitted(mut self) -> SharedArray {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }

    /// Adds an element.
    pub(super) fn push(&mut self, json: &str) {
        self.text.push_str(json);
        self.ends.push(self.text.len());
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

/// Finds or makes the array of a name: returns its length, and the handler for a proxy's `get`.
fn open<'js>(ctx: Ctx<'js>, name: String, make: Value<'js>) -> Result<Object<'js>> {
    if state(&ctx).stage.get() != Stage::Init {
        return Err(refuse(
            &ctx,
            "new SharedArray must be called in the init context",
        ));
    }
    if name.is_empty() {
        return Err(refuse(
            &ctx,
            "empty name provided to SharedArray's constructor",
        ));
    }
    let Some(make) = make.as_function() else {
        let why = "a function is expected as the second argument of SharedArray's constructor";
        return Err(refuse(&ctx, why));
    };
    if is_async(make.as_value()) {
        let why = "SharedArray constructor does not support async functions as second argument";
        return Err(refuse(&ctx, why));
    }
    let array = find_or_make(&ctx, &name, make)?;
    view(&ctx, array)
}

/// The parts of a script's view of an array.
pub(super) fn view<'js>(ctx: &Ctx<'js>, array: Arc<SharedArray>) -> Result<Object<'js>> {
    let view = Object::new(ctx.clone())?;
    view.set("length", array.ends.len())?;
    view.set("get", Function::new(ctx.clone(), getter(array))?)?;
    Ok(view)
}

/// No lock is held while the script makes the data: it may be suspended there, or make another array.
fn find_or_make<'js>(ctx: &Ctx<'js>, name: &str, make: &Function<'js>) -> Result<Arc<SharedArray>> {
    let shared = &state(ctx).program.shared_arrays;
    if let Some(array) = shared.find(name) {
        return Ok(array);
    }
    let made: Value<'js> = make.call(())?;
    if made.is_null() || made.is_undefined() {
        let message = "Cannot convert undefined or null to object";
        return Err(Exception::throw_type(ctx, message));
    }
    let Some(elements) = made.as_array() else {
        return Err(refuse(ctx, "only arrays can be made into SharedArray"));
    };
    Ok(shared.keep(name, SharedArray::of(ctx, elements)?))
}

/// The trap `get(target, key)`: an element, frozen; other keys are read from the target.
fn getter<'js>(
    array: Arc<SharedArray>,
) -> impl Fn(Ctx<'js>, Object<'js>, Value<'js>) -> Result<Value<'js>> + 'js {
    move |ctx, target, key| match index_of(&key) {
        Some(index) => match array.element(index) {
            Some(UNSAYABLE) => Err(Exception::throw_syntax(
                &ctx,
                "invalid character 'u' looking for beginning of value",
            )),
            Some(json) => frozen::parse(&ctx, json),
            None => Ok(Value::new_undefined(ctx)),
        },
        None => target.get(key),
    }
}

/// The index given by a property key; `None` if it is not an index.
fn index_of(key: &Value<'_>) -> Option<usize> {
    let text = key.as_string()?.to_string().ok()?;
    let is_canonical = text == "0" || (!text.starts_with(['0', '+']) && text.len() <= 10);
    text.parse().ok().filter(|_| is_canonical)
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    fn log_of(body: &str) -> Vec<String> {
        let script = format!(
            r#"import {{ SharedArray }} from "k6/data";
            const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};
            const a = new SharedArray("a", () => [{{ n: 1, deep: {{ x: [1, 2] }} }}, "str", 5, null, [1, [2]], true, 1.5]);
            export default function () {{ {body} }}"#
        );
        Rehearsal::new(&script).run().said()
    }

    #[test]
    fn it_is_an_array_in_all_that_reads() {
        let log = log_of(
            "console.log(a.length, Array.isArray(a), a instanceof Array, Object.prototype.toString.call(a), JSON.stringify(a[0]));
             console.log(JSON.stringify(a)); console.log(a);
             console.log(Object.keys(a).join(), Object.getOwnPropertyNames(a).join());
             console.log(a[-1], a[7], a['01'], a[1.5], 0 in a, 7 in a, 'length' in a, 'map' in a);
             console.log([...a].length, a.map((x) => typeof x).join(), a.indexOf('str'), a.at(-1), a.slice(1, 3), [0].concat(a).length);
             let keys = []; for (const key in a) keys.push(key); console.log(keys.join(), a[0] === a[0]);",
        );
        let json = r#"[{"n":1,"deep":{"x":[1,2]}},"str",5,null,[1,[2]],true,1.5]"#;
        assert_eq!(
            log,
            [
                r#"7 true true [object Array] {"n":1,"deep":{"x":[1,2]}}"#,
                json,
                r#"[ { n: 1, deep: { x: [ 1, 2 ] } }, "str", 5, null, [ 1, [ 2 ] ], true, 1.5 ]"#,
                "0,1,2,3,4,5,6 0,1,2,3,4,5,6,length",
                "undefined undefined undefined undefined true false true true",
                r#"7 object,string,number,object,object,boolean,number 1 1.5 [ "str", 5 ] 8"#,
                "0,1,2,3,4,5,6 false",
            ]
        );
    }

    #[test]
    fn nothing_of_it_can_be_written() {
        let log = log_of(
            "const isFrozen = (x) => Object.isFrozen(x);
             console.log(isFrozen(a[0]), isFrozen(a[0].deep), isFrozen(a[0].deep.x), isFrozen(a[4][1]));
             for (const f of [() => { a[0] = 1; }, () => { a.foo = 1; }, () => { a.length = 0; }, () => delete a[0], () => delete a.length,
                () => a.push(1), () => Object.freeze(a), () => Object.defineProperty(a, '0', { value: 1 }), () => delete a.foo]) console.log(tried(f));
             console.log(tried(() => { a[0].n = 2; }).split(':')[0], tried(() => a[0].deep.x.push(3)).split(':')[0], tried(() => { a[0].z = 2; }).split(':')[0]);",
        );
        assert_eq!(
            log,
            [
                "true true true true",
                "TypeError: SharedArray is immutable",
                "TypeError: Cannot set property \"foo\" on a dynamic array",
                "TypeError: SharedArray is immutable",
                "TypeError: SharedArray is immutable",
                "TypeError: Cannot delete property \"length\" on a dynamic array",
                "TypeError: SharedArray is immutable",
                "TypeError: Cannot make a dynamic object non-extensible",
                "TypeError: SharedArray is immutable",
                "true",
                "TypeError TypeError TypeError",
            ]
        );
    }

    #[test]
    fn what_makes_no_array_is_refused() {
        let script = r#"import { SharedArray } from "k6/data";
            const tried = (f) => { try { return f(); } catch (e) { return String(e); } };
            const seen = [
                tried(() => new SharedArray("", () => [])),
                tried(() => new SharedArray()),
                tried(() => new SharedArray("x", 5)),
                tried(() => new SharedArray("x", async () => [])),
                tried(() => new SharedArray("x", () => "abc")),
                tried(() => new SharedArray("x", () => { throw new TypeError("boo"); })),
                tried(() => SharedArray("x", () => [new SharedArray("y", () => [1])[0]])[0]),
            ];
            export default function () {
                seen.forEach((text) => console.log(text));
                console.log(tried(() => new SharedArray("z", () => [])));
            }"#;
        let log = Rehearsal::new(script).run().log();
        let told = [
            "GoError: empty name provided to SharedArray's constructor",
            "GoError: a function is expected as the second argument of SharedArray's constructor",
            "GoError: a function is expected as the second argument of SharedArray's constructor",
            "GoError: SharedArray constructor does not support async functions as second argument",
            "GoError: only arrays can be made into SharedArray",
            "TypeError: boo",
            "1",
            "GoError: new SharedArray must be called in the init context",
        ];
        let expected: Vec<String> = told
            .iter()
            .map(|text| format!("info {text} source=console"))
            .collect();
        assert_eq!(log, expected);
    }
}

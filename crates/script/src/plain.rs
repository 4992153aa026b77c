//! An engine for small scripts in plans: it takes a text and named bindings, and returns the script's value.
//!
//! It has none of k6's modules: the bindings are lent to a script for one run, as objects whose methods the
//! lender implements. Must not know the objects, nor clocks. Invariant: nothing lent is kept after a run, and
//! no run sees names defined by another.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{
    Coerced, Context, Ctx, Error, Exception, Function, IntoJs, Object, Persistent, Runtime, Value,
};

use crate::vu::{failure_of_value, move_in};

/// Maximum heap bytes of one engine: enough for a thread whose scripts hold a response of some megabytes.
const MEMORY_BYTES: usize = 64 << 20;
/// Maximum bytes of the worker's stack for scripts.
const STACK_BYTES: usize = 256 << 10;

/// A value passed to, or returned by, a script.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValue {
    /// No value.
    Undefined,
    /// Null.
    Null,
    /// A boolean.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A lent object, by its name.
    Object(&'static str),
}

/// The objects lent to scripts.
pub trait Lent {
    /// Whether an object has a method.
    fn has(&self, object: &str, method: &str) -> bool;

    /// Calls a method.
    ///
    /// # Errors
    /// The exception for the script.
    fn call(
        &mut self,
        object: &str,
        method: &str,
        given: Vec<PlainValue>,
    ) -> Result<PlainValue, String>;

    /// Whether the script has run for too long.
    fn is_overdue(&self) -> bool;
}

/// A script to run.
#[derive(Debug)]
pub struct PlainScript<'s> {
    /// Its text.
    pub source: &'s str,
    /// Its variables by name.
    pub bindings: &'s [(&'static str, PlainValue)],
    /// Whether its value is needed.
    pub wants_value: bool,
}

/// An engine: one per thread of a plan that has scripts.
pub struct PlainEngine<L> {
    run: RefCell<Option<Persistent<Function<'static>>>>,
    context: Context,
    runtime: Runtime,
    lent: Rc<RefCell<Option<L>>>,
}

impl<L> Drop for PlainEngine<L> {
    fn drop(&mut self) {
        // Everything kept of a runtime must be dropped before it.
        self.run.take();
        self.runtime.set_interrupt_handler(None);
    }
}

impl<L: Lent + 'static> PlainEngine<L> {
    /// A new engine.
    ///
    /// # Errors
    /// There is no memory for one.
    pub fn new() -> Result<PlainEngine<L>, String> {
        let no_memory = |_| "no memory for an engine of scripts".to_owned();
        let runtime = Runtime::new().map_err(no_memory)?;
        runtime.set_memory_limit(MEMORY_BYTES);
        let context = Context::full(&runtime).map_err(no_memory)?;
        let lent: Rc<RefCell<Option<L>>> = Rc::default();
        let seen = Rc::clone(&lent);
        let is_overdue = move || match seen.try_borrow() {
            Ok(lent) => lent.as_ref().is_some_and(Lent::is_overdue),
            Err(_) => false,
        };
        runtime.set_interrupt_handler(Some(Box::new(is_overdue)));
        let run = context.with(|ctx| {
            move_in(&ctx, STACK_BYTES);
            let made = prepared(&ctx, &lent);
            made.map_err(|error| told(&ctx, &error))
        })?;
        Ok(PlainEngine {
            run: RefCell::new(Some(run)),
            context,
            runtime,
            lent,
        })
    }

    /// Runs a script; returns the lent objects, and the script's value or exception.
    pub fn run(&self, script: &PlainScript<'_>, lent: L) -> (L, Result<PlainValue, String>) {
        let before = self.lent.replace(Some(lent));
        debug_assert!(before.is_none(), "scripts do not run within each other");
        let outcome = self.context.with(|ctx| {
            move_in(&ctx, STACK_BYTES);
            let outcome = self.call(&ctx, script);
            outcome.map_err(|error| told(&ctx, &error))
        });
        let lent = self.lent.take();
        (lent.expect("it was put there for this run"), outcome)
    }

    fn call(&self, ctx: &Ctx<'_>, script: &PlainScript<'_>) -> rquickjs::Result<PlainValue> {
        let Some(run) = self.run.borrow().clone() else {
            return Ok(PlainValue::Undefined);
        };
        let run = run.restore(ctx)?;
        let names: Vec<&str> = script.bindings.iter().map(|(name, _)| *name).collect();
        let values = script
            .bindings
            .iter()
            .map(|(_, value)| to_js(ctx, value.clone()));
        let values: Vec<Value<'_>> = values.collect::<rquickjs::Result<_>>()?;
        let value: Value<'_> = run.call((script.source, names, values, script.wants_value))?;
        of_js(&value)
    }
}

/// The function that runs scripts with the lent objects.
fn prepared<L: Lent + 'static>(
    ctx: &Ctx<'_>,
    lent: &Rc<RefCell<Option<L>>>,
) -> rquickjs::Result<Persistent<Function<'static>>> {
    let asked = Rc::clone(lent);
    let has = Function::new(ctx.clone(), move |object: String, method: String| {
        let lent = asked.borrow();
        lent.as_ref().is_some_and(|lent| lent.has(&object, &method))
    })?;
    let called = Rc::clone(lent);
    let call = Function::new(
        ctx.clone(),
        move |ctx: Ctx<'_>, object: String, method: String, given: Rest<Value<'_>>| {
            let given = given.0.iter().map(of_js);
            let given: Vec<PlainValue> = given.collect::<rquickjs::Result<_>>()?;
            let value = match called.borrow_mut().as_mut() {
                Some(lent) => lent.call(&object, &method, given),
                None => Ok(PlainValue::Undefined),
            };
            value
                .map_err(|thrown| Exception::throw_message(&ctx, &thrown))
                .map(Answer)
        },
    )?;
    let make: Function<'_> = ctx.eval(include_str!("plain.js"))?;
    let run: Function<'_> = make.call((has, call))?;
    Ok(Persistent::save(ctx, run))
}

/// The return value of a method.
struct Answer(PlainValue);

impl<'js> IntoJs<'js> for Answer {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        to_js(ctx, self.0)
    }
}

/// A lent object is passed by its name, which the JavaScript side replaces by the object.
fn to_js<'js>(ctx: &Ctx<'js>, value: PlainValue) -> rquickjs::Result<Value<'js>> {
    Ok(match value {
        PlainValue::Undefined => Value::new_undefined(ctx.clone()),
        PlainValue::Null => Value::new_null(ctx.clone()),
        PlainValue::Truth(truth) => Value::new_bool(ctx.clone(), truth),
        PlainValue::Number(number) => Value::new_number(ctx.clone(), number),
        PlainValue::Text(text) => text.into_js(ctx)?,
        PlainValue::Texts(texts) => texts.into_js(ctx)?,
        PlainValue::Object(name) => {
            let object = Object::new(ctx.clone())?;
            object.set("lent", name)?;
            object.into_value()
        }
    })
}

fn of_js(value: &Value<'_>) -> rquickjs::Result<PlainValue> {
    if value.is_undefined() {
        return Ok(PlainValue::Undefined);
    }
    if value.is_null() {
        return Ok(PlainValue::Null);
    }
    if let Some(truth) = value.as_bool() {
        return Ok(PlainValue::Truth(truth));
    }
    if let Some(number) = value.as_number() {
        return Ok(PlainValue::Number(number));
    }
    let text: Coerced<String> = value.get()?;
    Ok(PlainValue::Text(text.0))
}

/// The exception, in one line.
fn told(ctx: &Ctx<'_>, error: &Error) -> String {
    match error.is_exception() {
        true => failure_of_value(ctx, &ctx.catch()).message,
        false => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One object, `box`, that stores a text.
    #[derive(Default)]
    struct Boxed {
        text: String,
        looks: std::cell::Cell<u32>,
    }

    impl Lent for Boxed {
        fn has(&self, object: &str, method: &str) -> bool {
            object == "box" && matches!(method, "getText" | "setText" | "isEmpty" | "putObject")
        }

        fn call(
            &mut self,
            _: &str,
            method: &str,
            given: Vec<PlainValue>,
        ) -> Result<PlainValue, String> {
            match (method, given.as_slice()) {
                ("setText", [PlainValue::Text(text)]) => self.text.clone_from(text),
                ("getText", []) => return Ok(PlainValue::Text(self.text.clone())),
                ("isEmpty", []) => return Ok(PlainValue::Truth(self.text.is_empty())),
                _ => return Err("not so".to_owned()),
            }
            Ok(PlainValue::Undefined)
        }

        fn is_overdue(&self) -> bool {
            self.looks.set(self.looks.get() + 1);
            self.looks.get() > 1_000
        }
    }

    fn run(engine: &PlainEngine<Boxed>, source: &str) -> Result<PlainValue, String> {
        let script = PlainScript {
            source,
            bindings: &[("box", PlainValue::Object("box"))],
            wants_value: true,
        };
        engine.run(&script, Boxed::default()).1
    }

    fn text(text: &str) -> Result<PlainValue, String> {
        Ok(PlainValue::Text(text.to_owned()))
    }

    #[test]
    fn scripts_come_to_their_last_value() {
        let engine = PlainEngine::new().expect("an engine");
        assert_eq!(run(&engine, "1 + 1"), Ok(PlainValue::Number(2.0)));
        assert_eq!(run(&engine, "var a = 'x'; a + 'y';"), text("xy"));
        assert_eq!(run(&engine, "{a: 7}"), Ok(PlainValue::Number(7.0)));
        assert_eq!(run(&engine, ""), Ok(PlainValue::Undefined));
        assert_eq!(run(&engine, "[1,2]"), text("1,2"));
        assert_eq!(run(&engine, "null // nothing"), Ok(PlainValue::Null));
    }

    #[test]
    fn objects_are_asked_by_methods_and_by_properties() {
        let engine = PlainEngine::new().expect("an engine");
        let source = "box.setText('a'); box.text = box.getText() + box.text; box.text + box.empty";
        assert_eq!(run(&engine, source), text("aafalse"));
        assert_eq!(run(&engine, "typeof box.other"), text("undefined"));
        assert_eq!(
            run(&engine, "box.setText(1)"),
            Err("Error: not so".to_owned())
        );
        assert_eq!(
            run(&engine, "try { box.setText(1) } catch (e) { e.message }"),
            text("not so")
        );
        assert!(run(&engine, "box.missing()").is_err(), "no such method");
    }

    #[test]
    fn texts_have_what_those_of_java_have() {
        let engine = PlainEngine::new().expect("an engine");
        assert_eq!(
            run(
                &engine,
                "'a'.equals('a') + ' ' + 'aB'.equalsIgnoreCase('Ab')"
            ),
            text("true true")
        );
        assert_eq!(
            run(&engine, "'abc'.contains('b') && !'a'.isEmpty()"),
            Ok(PlainValue::Truth(true))
        );
        assert_eq!(run(&engine, "'abc'.length()"), Ok(PlainValue::Number(3.0)));
    }

    #[test]
    fn digits_behind_a_zero_are_octal() {
        let engine = PlainEngine::new().expect("an engine");
        let source = "[parseInt('010'), parseInt('08'), parseInt('08', 10), parseInt('0x1f'), parseInt('0')]";
        assert_eq!(run(&engine, source), text("8,NaN,8,31,0"));
    }

    #[test]
    fn no_run_sees_the_names_of_another() {
        let engine = PlainEngine::new().expect("an engine");
        assert!(run(&engine, "x = 1; var y = 2; let z = 3; x + y + z").is_ok());
        assert!(run(&engine, "let z = 4; z").is_ok(), "again");
        assert_eq!(
            run(&engine, "typeof x + typeof y + typeof z"),
            text("undefinedundefinedundefined")
        );
    }

    #[test]
    fn what_a_script_does_too_much_of_is_thrown() {
        let engine = PlainEngine::new().expect("an engine");
        assert!(run(&engine, "while (true) {}").is_err(), "time");
        assert!(
            run(&engine, "function f() { return f() + 1 } f()").is_err(),
            "stack"
        );
        assert!(
            run(&engine, "var a = 'x'; while (true) { a += a }").is_err(),
            "memory"
        );
        assert_eq!(run(&engine, "1"), Ok(PlainValue::Number(1.0)));
        assert!(
            run(&engine, "nothing.at.all")
                .expect_err("unknown")
                .contains("ReferenceError")
        );
        assert!(
            run(&engine, "1 +")
                .expect_err("malformed")
                .contains("SyntaxError")
        );
        assert_eq!(run(&engine, "throw 'a text'"), Err("a text".to_owned()));
    }
}

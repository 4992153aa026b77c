//! Calls: of methods of values, of a script's own methods, of closures, and of built-in functions.
//!
//! Must not know what methods of the library do. Invariant: each call counts as a level of depth.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{ClassKind, Code, Expr, Type};
use super::super::classes;
use super::super::library;
use super::super::map::{Map, MapKind};
use super::super::number;
use super::super::print;
use super::super::table::Table;
use super::super::thrown::Thrown;
use super::super::value::{Machine as _, Object, Outcome, Value};
use super::frame::{Frame, Place};
use super::{Chained, Comparator, Flow, Interpreter, Memoized, MethodReference, ScriptClosure};

/// The script itself, available as `this`.
pub(super) struct ScriptObject;

/// Bytes of a result that a memoized closure keeps.
const KNOWN_BYTES: usize = 256;

/// The output of a script.
pub(super) struct Output;

static NO_METHODS: Table = Table::new(&[]);

impl Object for ScriptObject {
    fn class(&self) -> &'static str {
        "Script1"
    }

    fn methods(&self) -> &'static Table {
        &NO_METHODS
    }
}

impl Object for Output {
    fn class(&self) -> &'static str {
        "java.io.PrintStream"
    }

    fn methods(&self) -> &'static Table {
        library::print_stream()
    }
}

impl Interpreter<'_> {
    pub(super) fn call_expression(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        let Expr::Call {
            of,
            name,
            given,
            is_safe,
            is_spread,
        } = expression
        else {
            return Ok(Value::Null);
        };
        let name: Arc<str> = match &**name {
            Expr::Text(name) => Arc::clone(name),
            other => match self.expression(other, frame)? {
                callee @ Value::Closure(_) => {
                    let given = self.given(given, frame)?;
                    return self.call_value(&callee, given);
                }
                name => print::text(&name).into(),
            },
        };
        let Some(of) = of else {
            let given = self.given(given, frame)?;
            return self.call_by_name(&name, given, frame);
        };
        if matches!(**of, Expr::Super)
            && let Some(home) = frame.home()
        {
            let given = self.given(given, frame)?;
            return self.call_above(&home, &name, &given);
        }
        let receiver = self.expression(of, frame)?;
        if matches!(receiver, Value::Void) {
            let path = super::super::paths::dotted(of).unwrap_or_default();
            let message = format!(
                "Attempt to resolve method: {name}() on undefined variable or class name: {path}"
            );
            return Err(Thrown::of("bsh.EvalError", message));
        }
        if receiver.is_null() && *is_safe {
            return Ok(Value::Null);
        }
        if *is_spread {
            let given = self.given(given, frame)?;
            return self.call_on_each(&receiver, &name, &given);
        }
        // A cast to `Object` chooses the method that removes a value over the one that removes an index.
        let name = match given.values.as_slice() {
            [Expr::Cast { to, .. }] if *name == *"remove" && is_object(to) => {
                "removeElement".into()
            }
            _ => name,
        };
        let given = self.given(given, frame)?;
        let called = self.call_method(&receiver, &name, given, frame);
        match self.is_groovy() {
            true => called,
            false => called.map_err(|thrown| thrown.in_call(of, &name)),
        }
    }

    /// Whether an interface of the script has a method.
    fn is_of_interface(&self, name: &str) -> bool {
        self.shared.classes.values().any(|class| {
            let definition = &class.definition;
            let mut methods = definition.methods.iter();
            definition.kind == ClassKind::Interface && methods.any(|one| *one.name == *name)
        })
    }

    fn call_on_each(&mut self, receiver: &Value, name: &str, given: &[Value]) -> Outcome {
        if receiver.is_null() {
            return Ok(Value::Null);
        }
        let values = library::values(self, receiver)?;
        let mut found = Vec::with_capacity(values.len());
        for value in values {
            found.push(match value.is_null() {
                true => Value::Null,
                false => self.invoke(&value, name, given)?,
            });
        }
        Ok(Value::list(found))
    }

    fn call_method(
        &mut self,
        receiver: &Value,
        name: &Arc<str>,
        given: Vec<Value>,
        frame: &Rc<Frame>,
    ) -> Outcome {
        match receiver {
            Value::Object(object) if object.any().is::<ScriptObject>() => {
                return self.call_by_name(name, given, frame);
            }
            Value::Closure(_) => {
                if let Some(value) = self.closure_method(receiver, name, &given)? {
                    return Ok(value);
                }
                // A closure stands for an interface of the script.
                if self.is_of_interface(name) && !library::has_method(receiver, name) {
                    return self.call_value(receiver, given);
                }
            }
            // A closure in a map is called by its key.
            Value::Map(map) => {
                if let Some(callee @ Value::Closure(_)) = map.get(&Value::Text(Arc::clone(name)))
                    && !library::has_method(receiver, name)
                {
                    return self.call_value(&callee, given);
                }
            }
            Value::Null if !self.is_groovy() => {
                return Err(Thrown::null_in_call());
            }
            _ => {}
        }
        self.invoke(receiver, name, &given)
    }

    /// A call of a name without a receiver.
    fn call_by_name(&mut self, name: &Arc<str>, given: Vec<Value>, frame: &Rc<Frame>) -> Outcome {
        if let Some(callee @ (Value::Closure(_) | Value::Class(_) | Value::Object(_))) =
            frame.get(name)
        {
            return self.call_value(&callee, given);
        }
        let home = frame.home();
        if let Some(home) = &home
            && let Some(value) = self.call_of(home, name, &given)?
        {
            return Ok(value);
        }
        if home.is_none()
            && let Some(code) = self.method_of(name, given.len())
        {
            return self.run_method(&code, given);
        }
        for place in frame.places(name) {
            let Place::Delegate(delegate) = place else {
                continue;
            };
            if library::has_method(&delegate, name) {
                return self.invoke(&delegate, name, &given);
            }
            if let Some(value) = self.invoke_own(&delegate, name, &given)? {
                return Ok(value);
            }
            if let Value::Object(object) = &delegate
                && let Some(value) = object.call(self, name, &given)?
            {
                return Ok(value);
            }
        }
        if let (None, Some(callee @ Value::Closure(_))) = (&home, self.bindings.bound(name)) {
            return self.call_value(&callee, given);
        }
        if let Some(value) = self.builtin(name, &given)? {
            return Ok(value);
        }
        if let Some(value) = self.imported(name, &given)? {
            return Ok(value);
        }
        if !self.is_groovy() {
            let classes: Vec<&str> = given.iter().map(print::class_name).collect();
            return Err(Thrown::of(
                "bsh.EvalError",
                format!("Command not found: {name}({})", classes.join(", ")),
            ));
        }
        if let Some(home) = home {
            return Err(library::missing(&home.this, name, &given));
        }
        let (classes, values) = print::listed(&given);
        Err(Thrown::of(
            "groovy.lang.MissingMethodException",
            format!(
                "No signature of method: Script1.{name}() is applicable for argument types: ({classes}) values: {values}"
            ),
        ))
    }

    fn method_of(&self, name: &Arc<str>, count: usize) -> Option<Arc<Code>> {
        let methods = self.shared.methods.borrow();
        let of_name = methods.get(name)?;
        let takes = |code: &&Arc<Code>| takes_so_many(code, count);
        let found = of_name.iter().rev().find(takes).or_else(|| of_name.last());
        found.map(Arc::clone)
    }

    /// Built-in functions of every script.
    fn builtin(&mut self, name: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let given_text = || given.first().map_or_else(String::new, print::text);
        match (name, given.len()) {
            ("println", 0 | 1) => {
                let text = given_text() + "\n";
                self.host().print(&text);
            }
            ("print", 1) if !self.is_groovy() => {
                let text = print::java_text(&given[0]) + "\n";
                self.host().print(&text);
            }
            ("print", 1) => {
                let text = given_text();
                self.host().print(&text);
            }
            ("printf" | "sprintf", 1..) => {
                let values = library::spread(&given[1..]);
                let text = library::formatted(self, &print::text(&given[0]), &values)?;
                if name == "sprintf" {
                    return Ok(Some(Value::text(text)));
                }
                self.host().print(&text);
            }
            ("sleep", 1 | 2) => {
                let ms = number::long_of(&given[0]).unwrap_or(0);
                super::sleep(self, u64::try_from(ms).unwrap_or(0))?;
            }
            // The methods of `TimeCategory` are always available, but for what dates have themselves.
            ("use", 2) => {
                self.categories += 1;
                let value = self.call_value(&given[1], Vec::new());
                self.categories -= 1;
                return value.map(Some);
            }
            ("with", 1) => return self.call_value(&given[0], Vec::new()).map(Some),
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    /// A constant from a static import.
    pub(super) fn imported_constant(&mut self, name: &str) -> Outcome<Option<Value>> {
        match name.starts_with(char::is_uppercase) {
            true => self.imported(name, &[]),
            false => Ok(None),
        }
    }

    /// A method or a constant from a static import.
    fn imported(&mut self, name: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let shared = Rc::clone(&self.shared);
        for (known, path) in &shared.imports {
            let Some(path) = path.strip_prefix("static ") else {
                continue;
            };
            let Some((class, member)) = path.rsplit_once('.') else {
                continue;
            };
            let is_meant = **known == *name || member == "*";
            if let Some(class) = classes::full_name(class).filter(|_| is_meant) {
                let method = if member == "*" { name } else { member };
                if library::has_static(class, method) {
                    return self
                        .invoke(&Value::Class(class.into()), method, given)
                        .map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Calls a value.
    pub(super) fn call_value(&mut self, callee: &Value, given: Vec<Value>) -> Outcome {
        match callee {
            Value::Closure(closure) => {
                let closure = Rc::clone(closure);
                let any = closure.any();
                if let Some(closure) = any.downcast_ref::<ScriptClosure>() {
                    return self.run_closure(closure, given, None);
                }
                if let Some(chained) = any.downcast_ref::<Chained>() {
                    self.enter()?;
                    let between = self.call_value(&chained.first, given);
                    let value =
                        between.and_then(|between| self.call_value(&chained.then, vec![between]));
                    self.leave();
                    return value;
                }
                if let Some(memoized) = any.downcast_ref::<Memoized>() {
                    let key = Value::list(given.clone());
                    if let Some(value) = memoized.known.get(&key) {
                        return Ok(value);
                    }
                    let value = self.call_value(&memoized.of, given)?;
                    self.take(KNOWN_BYTES)?;
                    memoized.known.put(&key, value.clone());
                    return Ok(value);
                }
                if let Some(comparator) = any.downcast_ref::<Comparator>() {
                    return self.compare_by(comparator, &given);
                }
                match any.downcast_ref::<MethodReference>() {
                    Some(reference) => self.call_reference(reference, &given),
                    None => Err(library::missing(callee, "call", &given)),
                }
            }
            Value::Class(class) => self.construct(class, given),
            _ => self.invoke(callee, "call", &given),
        }
    }

    fn call_reference(&mut self, reference: &MethodReference, given: &[Value]) -> Outcome {
        match &reference.of {
            Value::Class(class) if *reference.name == *"new" => {
                self.construct(class, given.to_vec())
            }
            Value::Class(class) if !self.has_static(class, &reference.name) => match given {
                [receiver, rest @ ..] => self.invoke(receiver, &reference.name, rest),
                [] => Err(library::missing(&reference.of, &reference.name, given)),
            },
            Value::Object(object) if object.any().is::<ScriptObject>() => {
                self.call_by_name(&reference.name, given.to_vec(), &Frame::root())
            }
            of => self.invoke(of, &reference.name, given),
        }
    }

    /// Runs a method of the script.
    fn run_method(&mut self, code: &Arc<Code>, given: Vec<Value>) -> Outcome {
        self.enter()?;
        let frame = Frame::of_method();
        let outcome = self
            .take_parameters(code, given, &frame)
            .and_then(|()| self.statements(&code.body.statements, &frame, true));
        self.leave();
        let value = came_to(outcome?);
        match &code.gives {
            Some(kind) => super::super::convert::assign(self, value, kind),
            None => Ok(value),
        }
    }

    pub(super) fn run_closure(
        &mut self,
        closure: &ScriptClosure,
        given: Vec<Value>,
        delegate: Option<Value>,
    ) -> Outcome {
        self.enter()?;
        let mut all = closure.curried.clone();
        all.extend(given);
        all.extend_from_slice(&closure.curried_behind);
        let delegate = delegate.or_else(|| closure.delegate.borrow().clone());
        let frame = match delegate {
            None => Frame::within(&closure.frame),
            delegate => Frame::with_delegate(&closure.frame, delegate),
        };
        // BeanShell's methods are closures without an enclosing frame.
        let frame = if closure.code.name.is_empty() {
            frame
        } else {
            Frame::of_method()
        };
        let outcome = self.within(&closure.shared, |this| {
            this.take_parameters(&closure.code, all, &frame)?;
            this.statements(&closure.code.body.statements, &frame, true)
        });
        self.leave();
        Ok(came_to(outcome?))
    }

    /// A method of a closure itself; `None`: another method.
    pub(super) fn closure_method(
        &mut self,
        callee: &Value,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let Value::Closure(closure) = callee else {
            return Ok(None);
        };
        Ok(Some(match (name, given) {
            ("call" | "doCall" | "run" | "apply" | "accept" | "test" | "compare" | "get", _) => {
                self.call_value(callee, given.to_vec())?
            }
            ("curry", _) => curried(callee, given, End::First),
            ("rcurry", _) => curried(callee, given, End::Last),
            ("rightShift", [then]) | ("andThen", [then]) => Value::Closure(Rc::new(Chained {
                first: callee.clone(),
                then: then.clone(),
            })),
            ("leftShift", [first]) | ("compose", [first]) => Value::Closure(Rc::new(Chained {
                first: first.clone(),
                then: callee.clone(),
            })),
            ("setDelegate", [delegate]) => {
                if let Some(closure) = closure.any().downcast_ref::<ScriptClosure>() {
                    *closure.delegate.borrow_mut() = Some(delegate.clone());
                }
                Value::Null
            }
            ("setResolveStrategy", [_]) => Value::Null,
            ("getMaximumNumberOfParameters", []) => Value::count(closure.arity()),
            ("memoize", []) => Value::Closure(Rc::new(Memoized {
                of: callee.clone(),
                known: Map::new(MapKind::Linked),
            })),
            ("clone", []) => callee.clone(),
            _ if closure.arity() == 2 => return Ok(Self::comparator_method(callee, name, given)),
            _ => return Ok(None),
        }))
    }
}

/// The end of a closure's arguments.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// A closure that has some of its arguments.
fn curried(callee: &Value, given: &[Value], end: End) -> Value {
    let Value::Closure(closure) = callee else {
        return callee.clone();
    };
    let Some(closure) = closure.any().downcast_ref::<ScriptClosure>() else {
        return callee.clone();
    };
    let mut curried = closure.curried.clone();
    let mut curried_behind = closure.curried_behind.clone();
    match end {
        End::First => curried.extend_from_slice(given),
        End::Last => drop(curried_behind.splice(..0, given.iter().cloned())),
    }
    Value::Closure(Rc::new(ScriptClosure {
        code: Arc::clone(&closure.code),
        frame: Rc::clone(&closure.frame),
        shared: Rc::clone(&closure.shared),
        curried,
        curried_behind,
        delegate: std::cell::RefCell::new(closure.delegate.borrow().clone()),
    }))
}

fn is_object(kind: &Type) -> bool {
    kind.dimensions == 0 && matches!(&*kind.name, "Object" | "java.lang.Object")
}

/// Whether code accepts this number of arguments.
pub(super) fn takes_so_many(code: &Code, count: usize) -> bool {
    let parameters = code.parameters.as_deref().unwrap_or_default();
    let wanted = parameters
        .iter()
        .filter(|one| one.default.is_none() && !one.takes_rest);
    let takes_rest = parameters.iter().any(|one| one.takes_rest);
    wanted.count() <= count && (takes_rest || count <= parameters.len())
}

pub(super) fn came_to(flow: Flow) -> Value {
    match flow {
        Flow::On(value) | Flow::Return(value) => value,
        Flow::Break(_) | Flow::Continue(_) => Value::Null,
    }
}

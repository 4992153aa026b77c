//! Runs a script.
//!
//! Must not know what methods do. Invariant: a script terminates, within its limits: steps, memory and depth
//! are counted.

mod arguments;
mod aside;
mod asserted;
mod assign;
mod calls;
mod classes;
mod comparators;
mod composed;
mod construction;
mod expressions;
mod frame;
mod instance;
mod members;
mod operators;
mod statements;
mod whole;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Dialect;
use super::ast::{Code, Name};
use super::host::Host;
use super::library;
use super::map::Map;
use super::parser::Parsed;
use super::thrown::Thrown;
use super::value::{Bindings, Callable, Machine, Outcome, Value};
use classes::ScriptClass;
use frame::Frame;

/// Maximum depth of nested calls.
const DEEPEST_CALL: usize = 160;
/// Maximum depth of nested expressions, including those of nested calls.
const DEEPEST_EXPRESSION: usize = 900;
/// Maximum bytes of a run in total.
const MOST_BYTES: usize = 1 << 30;
/// Number of steps after which the host is asked whether the script may continue.
const STEPS_BETWEEN_LOOKS: u64 = 20_000;

/// State shared by all closures of a script.
pub(crate) struct Shared {
    pub(crate) dialect: Dialect,
    pub(crate) imports: Vec<(Name, Name)>,
    pub(crate) methods: std::cell::RefCell<HashMap<Name, Vec<Arc<Code>>>>,
    /// The classes of the script, by their names without those of enclosing classes.
    pub(crate) classes: HashMap<Name, Rc<ScriptClass>>,
}

/// A closure of a script.
pub(crate) struct ScriptClosure {
    pub(crate) code: Arc<Code>,
    frame: Rc<Frame>,
    shared: Rc<Shared>,
    /// Arguments that come before those of the call.
    curried: Vec<Value>,
    /// Arguments that come after those of the call.
    curried_behind: Vec<Value>,
    delegate: std::cell::RefCell<Option<Value>>,
}

/// A method that is called like a closure.
pub(crate) struct MethodReference {
    of: Value,
    name: Name,
}

/// A closure that is called once for the same arguments.
pub(crate) struct Memoized {
    pub(crate) of: Value,
    pub(crate) known: Rc<Map>,
}

impl Callable for Memoized {
    fn arity(&self) -> usize {
        match &self.of {
            Value::Closure(closure) => closure.arity(),
            _ => 0,
        }
    }
}

/// Closures that are called one after another.
pub(crate) struct Chained {
    pub(crate) first: Value,
    pub(crate) then: Value,
}

impl Callable for ScriptClosure {
    fn arity(&self) -> usize {
        let parameters = self.code.parameters.as_ref();
        let count = parameters.map_or(1, Vec::len);
        count.saturating_sub(self.curried.len() + self.curried_behind.len())
    }
}

impl MethodReference {
    /// `X.&name` of a class.
    pub(crate) fn of_class(class: &str, name: &str) -> Value {
        Value::Closure(Rc::new(MethodReference {
            of: Value::Class(class.into()),
            name: name.into(),
        }))
    }
}

impl Callable for MethodReference {
    fn arity(&self) -> usize {
        match &*self.name {
            "compare" | "compareTo" | "compareToIgnoreCase" => 2,
            _ => 1,
        }
    }
}

impl Callable for Chained {
    fn arity(&self) -> usize {
        1
    }
}

pub(crate) use comparators::Comparator;

/// How a statement ends.
pub(crate) enum Flow {
    /// The next one follows; with the statement's value.
    On(Value),
    Return(Value),
    Break(Option<Name>),
    Continue(Option<Name>),
}

/// Runs scripts with their bindings.
pub(crate) struct Interpreter<'r> {
    bindings: &'r mut dyn Bindings,
    shared: Rc<Shared>,
    steps: u64,
    bytes: usize,
    /// How many calls of `use` there are around.
    categories: u32,
    /// Set while the condition of an `assert` is evaluated.
    noted: Option<asserted::Noted>,
}

/// Runs a script; returns its value.
///
/// # Errors
/// Its exception.
pub(crate) fn run(parsed: &Parsed, dialect: Dialect, bindings: &mut dyn Bindings) -> Outcome {
    let imports = parsed.imports.clone();
    let shared = Rc::new(Shared {
        dialect,
        imports,
        methods: std::cell::RefCell::default(),
        classes: classes::defined(&parsed.classes),
    });
    let _level = Level::outermost();
    let mut interpreter = Interpreter::new(bindings, Rc::clone(&shared));
    let outcome = interpreter.script(parsed);
    for class in shared.classes.values() {
        class.forget();
    }
    outcome
}

thread_local! {
    /// Depth of nested calls and expressions on this thread, including those that convert an object to text.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static NESTING: Cell<usize> = const { Cell::new(0) };
    /// Steps used to convert objects to text, not yet counted.
    static STEPS_ASIDE: Cell<u64> = const { Cell::new(0) };
}

/// The depth before a script started.
struct Level(usize, usize);

impl Level {
    fn outermost() -> Level {
        Level(DEPTH.replace(0), NESTING.replace(0))
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(self.0);
        NESTING.set(self.1);
    }
}

/// Lets a script sleep. Others may run on this thread meanwhile, which must not count its depth.
pub(crate) fn sleep(machine: &mut dyn Machine, ms: u64) -> Outcome<()> {
    let level = Level::outermost();
    machine.host().sleep(ms);
    drop(level);
    match machine.host().must_end() {
        Some(why) => Err(Thrown::End(why)),
        None => Ok(()),
    }
}

impl<'r> Interpreter<'r> {
    fn new(bindings: &'r mut dyn Bindings, shared: Rc<Shared>) -> Interpreter<'r> {
        Interpreter {
            bindings,
            shared,
            steps: 0,
            bytes: 0,
            categories: 0,
            noted: None,
        }
    }
}

impl Interpreter<'_> {
    fn script(&mut self, parsed: &Parsed) -> Outcome {
        self.define_methods(&parsed.block);
        let frame = Frame::root();
        let flow = self.statements(&parsed.block.statements, &frame, true)?;
        Ok(match flow {
            Flow::On(value) | Flow::Return(value) => value,
            Flow::Break(_) | Flow::Continue(_) => Value::Null,
        })
    }

    fn is_groovy(&self) -> bool {
        self.shared.dialect == Dialect::Groovy
    }

    /// Runs code of another script within this one's limits.
    fn within<T>(&mut self, shared: &Rc<Shared>, run: impl FnOnce(&mut Self) -> T) -> T {
        if Rc::ptr_eq(&self.shared, shared) {
            return run(self);
        }
        let before = std::mem::replace(&mut self.shared, Rc::clone(shared));
        let value = run(self);
        self.shared = before;
        value
    }
}

impl Machine for Interpreter<'_> {
    fn host(&mut self) -> &mut dyn Host {
        self.bindings.host()
    }

    fn bindings(&mut self) -> &mut dyn Bindings {
        &mut *self.bindings
    }

    fn work(&mut self, steps: u64) -> Outcome<()> {
        let before = self.steps / STEPS_BETWEEN_LOOKS;
        self.steps += steps + STEPS_ASIDE.replace(0);
        if self.steps / STEPS_BETWEEN_LOOKS == before {
            return Ok(());
        }
        match self.bindings.must_end() {
            Some(why) => Err(Thrown::End(why)),
            None => Ok(()),
        }
    }

    fn take(&mut self, bytes: usize) -> Outcome<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.work(bytes as u64 / 64)?;
        match self.bytes > MOST_BYTES {
            true => Err(Thrown::of("java.lang.OutOfMemoryError", "Java heap space")),
            false => Ok(()),
        }
    }

    fn invoke(&mut self, receiver: &Value, name: &str, given: &[Value]) -> Outcome {
        if let Some(value) = self.closure_method(receiver, name, given)? {
            return Ok(value);
        }
        if self.categories > 0
            && let ("minus", [other]) = (name, given)
            && let Some(span) = library::dates_between(receiver, other)
        {
            return Ok(span);
        }
        match self.invoke_own(receiver, name, given)? {
            Some(value) => Ok(value),
            None => library::invoke(self, receiver, name, given),
        }
    }

    fn property(&mut self, of: &Value, name: &str) -> Outcome {
        self.property_of(of, name)
    }

    fn call(&mut self, callee: &Value, given: Vec<Value>) -> Outcome {
        self.call_value(callee, given)
    }

    fn call_on(&mut self, callee: &Value, delegate: Value, given: Vec<Value>) -> Outcome {
        match callee {
            Value::Closure(closure) => match closure.any().downcast_ref::<ScriptClosure>() {
                Some(closure) => self.run_closure(closure, given, Some(delegate)),
                None => self.call_value(callee, given),
            },
            _ => self.call_value(callee, given),
        }
    }

    fn enter(&mut self) -> Outcome<()> {
        if DEPTH.get() >= DEEPEST_CALL {
            return Err(Thrown::bare("java.lang.StackOverflowError"));
        }
        DEPTH.set(DEPTH.get() + 1);
        Ok(())
    }

    fn leave(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }

    fn is_bean_shell(&self) -> bool {
        !self.is_groovy()
    }
}

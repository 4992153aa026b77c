//! Calls methods such as `toString` and `equals` of an object of a script's class from inside the library,
//! where no script is running.
//!
//! Must not know the caller. Invariant: the called method has no outside names, as classes have none in Groovy,
//! and its work is limited.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::super::host::{FileFacts, Host, WriteMode};
use super::super::value::{Bindings, Machine as _, Outcome, Value};
use super::instance::Instance;
use super::{Interpreter, STEPS_ASIDE};

/// Maximum depth of nested calls.
const DEEPEST: usize = 12;
/// Maximum number of times that a call checks whether it may continue.
const MOST_LOOKS: u32 = 100;

thread_local! {
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// The result of an object's own method; `None`: its class has none, or it throws.
pub(super) fn asked(object: &Instance, method: &str, given: &[Value]) -> Option<Value> {
    let fits = |_: &super::super::ast::Code| true;
    object.class.method(0, method, given.len(), &fits, false)?;
    let depth = NESTED.get();
    if depth >= DEEPEST {
        return None;
    }
    NESTED.set(depth + 1);
    let mut nobody = Nobody { looks: 0 };
    let mut interpreter = Interpreter::new(&mut nobody, Rc::clone(&object.shared));
    let answer = interpreter.invoke(&object.value(), method, given);
    STEPS_ASIDE.set(STEPS_ASIDE.get().saturating_add(interpreter.steps));
    NESTED.set(depth);
    answer.ok()
}

/// Bindings without anything from outside.
struct Nobody {
    looks: u32,
}

impl Host for Nobody {
    fn unix_ms(&mut self) -> i64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn utc_offset_s(&mut self, _: i64) -> i32 {
        0
    }

    fn must_end(&mut self) -> Option<String> {
        self.looks += 1;
        (self.looks > MOST_LOOKS).then(|| "it takes too long".to_owned())
    }

    fn sleep(&mut self, _: u64) {}

    fn print(&mut self, _: &str) {}

    fn read_file(&mut self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("No such file or directory".to_owned())
    }

    fn write_file(&mut self, _: &str, _: &[u8], _: WriteMode) -> Result<(), String> {
        Err("No such file or directory".to_owned())
    }

    fn file_facts(&mut self, _: &str) -> Option<FileFacts> {
        None
    }

    fn folder(&mut self, _: &str) -> Option<Vec<String>> {
        None
    }

    fn make_folder(&mut self, _: &str) -> bool {
        false
    }

    fn remove_file(&mut self, _: &str) -> bool {
        false
    }

    fn rename_file(&mut self, _: &str, _: &str) -> bool {
        false
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn property(&mut self, _: &str) -> Option<String> {
        None
    }

    fn set_property(&mut self, _: &str, _: Option<&str>) -> Option<String> {
        None
    }

    fn plan_folder(&mut self) -> String {
        String::new()
    }

    fn machine(&mut self) -> (String, String) {
        (String::new(), String::new())
    }

    fn threads_at_work(&mut self) -> u32 {
        0
    }

    fn thread_name(&mut self) -> String {
        String::new()
    }
}

impl Bindings for Nobody {
    fn bound(&mut self, _: &str) -> Option<Value> {
        None
    }

    fn bind(&mut self, _: &str, _: Value) {}

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn ask(&mut self, _: &'static str, _: usize, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn make(&mut self, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn host(&mut self) -> &mut dyn Host {
        self
    }
}

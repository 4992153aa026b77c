//! The scripts of a plan's thread, run by the product's JavaScript engine.
//!
//! Must not know the objects that scripts access. Invariant: a thread without scripts has no engine, and no
//! script blocks its worker for longer than `LONGEST_NS`, nor after the test was aborted.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;

use loadline_script::plain::{Lent, PlainEngine, PlainScript, PlainValue};
use loadline_steps::host::World;
use loadline_steps::script::{self, ScriptContext, ScriptObject, ScriptTask, ScriptValue};

use crate::platform;

/// Nanoseconds that a script may compute: beyond that, the other threads of its worker have waited for too long.
const LONGEST_NS: u64 = 5_000_000_000;

/// The scripts of one thread.
#[derive(Default)]
pub struct Scripts {
    engine: OnceCell<Result<PlainEngine<Loan>, String>>,
    /// `None`: nothing calls them off.
    orders: Option<Rc<Orders>>,
}

/// What ends scripts early.
struct Orders {
    is_called_off: Box<dyn Fn() -> bool>,
    /// Whether it has ended one.
    has_ended: Cell<bool>,
}

impl Orders {
    fn end(&self) -> bool {
        let is_called_off = (self.is_called_off)();
        self.has_ended.set(self.has_ended.get() | is_called_off);
        is_called_off
    }
}

/// What a script is lent.
struct Loan {
    context: ScriptContext,
    world: Arc<dyn World + Send + Sync>,
    began_ns: u64,
    orders: Option<Rc<Orders>>,
}

impl Lent for Loan {
    fn has(&self, object: &str, method: &str) -> bool {
        ScriptObject::named(object).is_some_and(|object| script::has(object, method))
    }

    fn call(
        &mut self,
        object: &str,
        method: &str,
        given: Vec<PlainValue>,
    ) -> Result<PlainValue, String> {
        let object = ScriptObject::named(object).ok_or("there is no such object")?;
        let given: Vec<ScriptValue> = given.into_iter().map(taken).collect();
        let value = self.context.call(&*self.world, object, method, &given)?;
        Ok(given_to(value))
    }

    fn is_overdue(&self) -> bool {
        let took_ns = platform::thread_cpu_ns().saturating_sub(self.began_ns);
        took_ns > LONGEST_NS || self.orders.as_ref().is_some_and(|orders| orders.end())
    }
}

impl Scripts {
    /// Scripts that end as soon as the test is aborted, which is polled while one runs.
    #[must_use]
    pub fn until(is_called_off: impl Fn() -> bool + 'static) -> Scripts {
        Scripts {
            orders: Some(Rc::new(Orders {
                is_called_off: Box::new(is_called_off),
                has_ended: Cell::new(false),
            })),
            ..Scripts::default()
        }
    }

    /// Whether scripts have to end because the test was aborted.
    pub(crate) fn are_called_off(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.end())
    }

    /// Whether a script was interrupted because the test was aborted.
    pub(crate) fn were_called_off(&self) -> bool {
        let orders = self.orders.as_ref();
        orders.is_some_and(|orders| orders.has_ended.get())
    }

    /// Runs a script; returns what was lent to it, and its result or exception.
    pub fn run(
        &self,
        world: Arc<dyn World + Send + Sync>,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        let engine = match self.engine.get_or_init(PlainEngine::new) {
            Ok(engine) => engine,
            Err(why) => return (context, Err(why.clone())),
        };
        let bindings = task.bindings.iter();
        let bindings: Vec<_> = bindings
            .map(|(name, value)| (*name, given_to(value.clone())))
            .collect();
        let script = PlainScript {
            source: task.source,
            bindings: &bindings,
            wants_value: task.wants_value,
        };
        let loan = Loan {
            context,
            world,
            began_ns: platform::thread_cpu_ns(),
            orders: self.orders.clone(),
        };
        let (loan, outcome) = engine.run(&script, loan);
        (loan.context, outcome.map(taken))
    }
}

fn taken(value: PlainValue) -> ScriptValue {
    match value {
        PlainValue::Undefined => ScriptValue::Undefined,
        PlainValue::Null => ScriptValue::Null,
        PlainValue::Truth(truth) => ScriptValue::Truth(truth),
        PlainValue::Number(number) => ScriptValue::Number(number),
        PlainValue::Text(text) => ScriptValue::Text(text),
        PlainValue::Texts(texts) => ScriptValue::Texts(texts),
        PlainValue::Object(name) => ScriptValue::Text(name.to_owned()),
    }
}

fn given_to(value: ScriptValue) -> PlainValue {
    match value {
        ScriptValue::Undefined => PlainValue::Undefined,
        ScriptValue::Null => PlainValue::Null,
        ScriptValue::Truth(truth) => PlainValue::Truth(truth),
        ScriptValue::Number(number) => PlainValue::Number(number),
        ScriptValue::Text(text) => PlainValue::Text(text),
        ScriptValue::Texts(texts) => PlainValue::Texts(texts),
        ScriptValue::Object(object) => PlainValue::Object(object.name()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use loadline_steps::host::{FileFault, LogLevel, WriteMode};
    use loadline_steps::sample::Sample;

    use super::*;

    /// Properties and lines of a log in memory.
    #[derive(Default)]
    struct Desk {
        properties: Mutex<BTreeMap<String, String>>,
        lines: Mutex<Vec<String>>,
    }

    impl World for Desk {
        fn utc_offset_s(&self, _: i64) -> i32 {
            0
        }

        fn properties(&self) -> Vec<(String, String)> {
            Vec::new()
        }

        fn property(&self, name: &str) -> Option<String> {
            self.properties
                .lock()
                .expect("one thread")
                .get(name)
                .cloned()
        }

        fn set_property(&self, name: &str, value: &str) -> Option<String> {
            let mut properties = self.properties.lock().expect("one thread");
            properties.insert(name.to_owned(), value.to_owned())
        }

        fn read_file(&self, name: &str) -> Result<Arc<[u8]>, FileFault> {
            Err(FileFault {
                why: "No such file or directory".to_owned(),
                told: format!("no file {name}"),
            })
        }

        fn write_file(&self, name: &str, _: &[u8], _: WriteMode) -> Result<(), String> {
            Err(format!("no file {name}"))
        }

        fn environment(&self, _: &str) -> Option<String> {
            None
        }

        fn plan_folder(&self) -> String {
            ".".to_owned()
        }

        fn machine(&self) -> (String, String) {
            ("here".to_owned(), "127.0.0.1".to_owned())
        }

        fn log(&self, level: LogLevel, class: &str, message: &str) {
            let line = format!("{level:?} {class}: {message}");
            self.lines.lock().expect("one thread").push(line);
        }
    }

    #[test]
    fn a_script_sees_and_changes_what_the_thread_has() {
        let scripts = Scripts::default();
        let desk = Arc::new(Desk::default());
        let mut context = ScriptContext {
            previous: Some(Arc::new(Sample {
                code: "200".to_owned(),
                data: b"{\"id\": 7}".to_vec(),
                success: true,
                ..Sample::default()
            })),
            class: "here".to_owned(),
            ..ScriptContext::default()
        };
        context.variables.put("a", "1");
        let source = "var id = JSON.parse(prev.getResponseDataAsString()).id;\n\
                      vars.put('b', String(Number(vars.get('a')) + id)); vars.remove('a');\n\
                      props.put('seen', vars.get('b')); log.info('id {}', id);\n\
                      prev.setSuccessful(false); prev.responseCode = '418';\n\
                      vars.putObject('list', [1, 2]); vars.getObject('list').length";
        let objects = [
            ("vars", ScriptObject::Variables),
            ("props", ScriptObject::Properties),
            ("log", ScriptObject::Log),
            ("prev", ScriptObject::Previous),
        ];
        let task = ScriptTask {
            source,
            bindings: objects
                .map(|(name, object)| (name, ScriptValue::Object(object)))
                .to_vec(),
            wants_value: true,
        };
        let (context, outcome) = scripts.run(Arc::clone(&desk) as _, &task, context);
        assert_eq!(outcome, Ok(ScriptValue::Number(2.0)));
        assert_eq!(context.variables.get("a"), None);
        assert_eq!(context.variables.get("b"), Some("8"));
        assert_eq!(desk.property("seen").as_deref(), Some("8"));
        let lines = desk.lines.lock().expect("one thread").clone();
        assert_eq!(lines, ["Info here: id 7"]);
        let sample = context.previous.expect("it comes back");
        assert!(!sample.success, "it was set");
        assert_eq!(sample.code, "418");
    }

    #[test]
    fn a_script_ends_when_the_test_is_called_off() {
        let scripts = Scripts::until(|| true);
        let task = ScriptTask {
            source: "while (true) {}",
            bindings: Vec::new(),
            wants_value: false,
        };
        assert!(!scripts.were_called_off());
        let context = ScriptContext::default();
        let (_, outcome) = scripts.run(Arc::new(Desk::default()), &task, context);
        assert!(outcome.is_err(), "it would not end by itself");
        assert!(scripts.were_called_off());
    }

    #[test]
    fn what_was_lent_comes_back_where_a_script_fails() {
        let scripts = Scripts::default();
        let task = ScriptTask {
            source: "vars.put('half', 'done'); nothing.here()",
            bindings: vec![("vars", ScriptValue::Object(ScriptObject::Variables))],
            wants_value: false,
        };
        let context = ScriptContext::default();
        let (context, outcome) = scripts.run(Arc::new(Desk::default()), &task, context);
        assert!(
            outcome
                .expect_err("it fails")
                .contains("nothing is not defined")
        );
        assert_eq!(context.variables.get("half"), Some("done"));
    }
}

//! A thread for tests: its variables, and a host with files, properties and a log in memory.
//!
//! Must not know what is tested. Invariant: time stands still, and random numbers are reproducible.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::host::{FileFault, Host, LogLevel, World, WriteMode};
use crate::sample::Sample;
use crate::scope::{Commons, FunctionMemory, Scope, ThreadIdentity};
use crate::script::{ScriptContext, ScriptTask, ScriptValue};
use crate::text::Text;
use crate::variables::Variables;

/// What a scope borrows from.
#[derive(Default)]
pub(crate) struct Bench {
    pub(crate) variables: Variables,
    pub(crate) host: Desk,
    pub(crate) thread: ThreadIdentity,
    pub(crate) memory: FunctionMemory,
    pub(crate) commons: Arc<Commons>,
    pub(crate) previous: Option<Arc<Sample>>,
}

/// The environment.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) files: RefCell<BTreeMap<String, Vec<u8>>>,
    pub(crate) properties: RefCell<BTreeMap<String, String>>,
    pub(crate) lines: RefCell<Vec<String>>,
    seed: Cell<u64>,
}

impl Bench {
    /// A scope with all of the thread's state for an evaluation.
    pub(crate) fn scope(&mut self) -> Scope<'_> {
        Scope {
            variables: &mut self.variables,
            host: &self.host,
            thread: &self.thread,
            memory: &mut self.memory,
            commons: &self.commons,
            previous: self.previous.as_ref(),
            sampler: "a sampler",
            iteration: 3,
        }
    }

    /// The value of a text.
    pub(crate) fn value(&mut self, source: &str) -> String {
        let text = Text::parse(source).unwrap_or_else(|fault| panic!("{source}: {fault}"));
        text.evaluate(&mut self.scope()).into_owned()
    }
}

impl Host for Desk {
    fn world(&self) -> &dyn World {
        self
    }

    /// 2020-01-31T10:20:30.123Z.
    fn unix_ms(&self) -> i64 {
        1_580_466_030_123
    }

    fn random(&self) -> u64 {
        // Steele and Vigna's SplitMix64.
        let state = self.seed.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.seed.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn threads_at_work(&self, _group: usize) -> (u32, u32) {
        (1, 1)
    }

    /// Supports scripts of the form `object.method(text, …)`.
    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        mut context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        let mut last = Ok(ScriptValue::Undefined);
        for statement in task.source.split(';').filter(|one| !one.trim().is_empty()) {
            let call = statement.trim().trim_end_matches(')');
            let (path, given) = call.split_once('(').unwrap_or((call, ""));
            let (name, method) = path.split_once('.').unwrap_or((path, ""));
            let object = task.bindings.iter().find(|(bound, _)| *bound == name);
            last = match object {
                Some((_, ScriptValue::Object(object))) => {
                    let given = given.split(',').map(str::trim);
                    let given = given.map(|one| ScriptValue::Text(one.to_owned()));
                    context.call(self, *object, method, &given.collect::<Vec<_>>())
                }
                _ => Err(format!("{name} is not defined")),
            };
            if last.is_err() {
                break;
            }
        }
        (context, last)
    }

    fn threads_of(&self, _group: usize) -> u32 {
        1
    }

    fn let_go(&self) {}
}

impl World for Desk {
    fn properties(&self) -> Vec<(String, String)> {
        self.properties.borrow().clone().into_iter().collect()
    }

    fn utc_offset_s(&self, _: i64) -> i32 {
        0
    }

    fn property(&self, name: &str) -> Option<String> {
        self.properties.borrow().get(name).cloned()
    }

    fn set_property(&self, name: &str, value: &str) -> Option<String> {
        let mut properties = self.properties.borrow_mut();
        properties.insert(name.to_owned(), value.to_owned())
    }

    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, FileFault> {
        let files = self.files.borrow();
        let bytes = files.get(name).ok_or_else(|| FileFault {
            why: "No such file or directory".to_owned(),
            told: format!("no file {name}"),
        })?;
        Ok(bytes.as_slice().into())
    }

    fn write_file(&self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String> {
        let mut files = self.files.borrow_mut();
        let file = files.entry(name.to_owned()).or_default();
        if mode == WriteMode::Replace {
            file.clear();
        }
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn environment(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/me".to_owned())
    }

    fn machine(&self) -> (String, String) {
        ("here".to_owned(), "127.0.0.1".to_owned())
    }

    fn log(&self, level: LogLevel, class: &str, message: &str) {
        self.lines
            .borrow_mut()
            .push(format!("{level:?} {class}: {message}"));
    }

    fn plan_folder(&self) -> String {
        ".".to_owned()
    }
}

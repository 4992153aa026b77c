//! Runs scripts in Groovy and BeanShell with a thread's state.
//!
//! Must not know elements. Invariant: the thread's objects are implemented in `objects` for all languages; this
//! file only adds what these languages see of them.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use loadline_groovy::bound::Bound;
use loadline_groovy::host::{FileFacts, Host as ScriptHost, WriteMode};
use loadline_groovy::map::{Map, MapKind};
use loadline_groovy::thrown::Thrown;
use loadline_groovy::value::{Bindings, Element, Outcome, Value};
use loadline_groovy::{Dialect, Script, print};

use super::elements::Held;
use super::lent::LentObjects;
use super::objects;
use super::orders::ENGINE;
use super::sample::OF_SAMPLES;
use super::task::{ScriptContext, ScriptTask};
use super::value::{ScriptObject, ScriptValue};
use crate::host::Host;
use crate::http::HttpMemory;
use crate::scope::{Commons, FunctionMemory, Scope, ThreadIdentity};
use crate::world::World;

/// Maximum CPU time of a script in nanoseconds: beyond that, the other threads of its worker have waited too
/// long.
const LONGEST_NS: u64 = 5_000_000_000;

/// A thread's identity, its state, and the state of its HTTP samplers.
type OfThread<'d> = (
    &'d ThreadIdentity,
    &'d mut FunctionMemory,
    &'d mut HttpMemory,
);

/// The environment of a script in one of these languages.
pub(super) struct Desk<'d> {
    pub(super) context: ScriptContext,
    pub(super) host: &'d dyn Host,
    pub(super) commons: &'d Commons,
    pub(super) thread: &'d ThreadIdentity,
    pub(super) memory: &'d mut FunctionMemory,
    /// The state of HTTP samplers.
    pub(super) http: &'d mut HttpMemory,
    /// The elements that it holds of the current sampler.
    pub(super) held: Held,
    /// The property objects that it uses.
    lent: LentObjects<'d>,
    /// Its variables, including those that it has set.
    pub(super) names: HashMap<String, Value>,
    /// The language.
    pub(super) dialect: Dialect,
    began_ns: u64,
    /// Whether its sleep was interrupted.
    is_woken: bool,
}

/// The full class name of an object.
fn class_of(object: ScriptObject) -> &'static str {
    match object {
        ScriptObject::Variables => "org.apache.jmeter.threads.JMeterVariables",
        ScriptObject::Properties => "java.util.Properties",
        ScriptObject::Log => "org.apache.logging.slf4j.Log4jLogger",
        ScriptObject::Output => "java.io.PrintStream",
        ScriptObject::Context => "org.apache.jmeter.threads.JMeterContext",
        ScriptObject::Thread => "org.apache.jmeter.threads.JMeterThread",
        ScriptObject::Group => "org.apache.jmeter.threads.ThreadGroup",
        ScriptObject::Sampler => "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy",
        ScriptObject::Previous => "org.apache.jmeter.protocol.http.sampler.HTTPSampleResult",
        ScriptObject::Own => "org.apache.jmeter.samplers.SampleResult",
        ScriptObject::Finding => "org.apache.jmeter.assertions.AssertionResult",
        ScriptObject::Event => "org.apache.jmeter.samplers.SampleEvent",
    }
}

/// A script's value in language-independent form.
pub(super) fn told(value: &Value) -> ScriptValue {
    match value {
        Value::Null | Value::Void => ScriptValue::Null,
        Value::Truth(truth) => ScriptValue::Truth(*truth),
        other => ScriptValue::Text(print::java_text(other)),
    }
}

/// An argument of an object's method.
pub(super) fn lent(value: &Value) -> ScriptValue {
    match value {
        Value::Null | Value::Void => ScriptValue::Null,
        Value::Truth(truth) => ScriptValue::Truth(*truth),
        Value::Int(number) => ScriptValue::Number(f64::from(*number)),
        Value::Long(number) => ScriptValue::Number(*number as f64),
        Value::Double(number) => ScriptValue::Number(*number),
        other => ScriptValue::Text(print::text(other)),
    }
}

/// The return value of an object's method.
pub(super) fn given_back(value: ScriptValue) -> Value {
    match value {
        ScriptValue::Undefined | ScriptValue::Null => Value::Null,
        ScriptValue::Truth(truth) => Value::Truth(truth),
        ScriptValue::Number(number) if number.fract() == 0.0 => Value::Long(number as i64),
        ScriptValue::Number(number) => Value::Double(number),
        ScriptValue::Text(text) => Value::text(text),
        ScriptValue::Texts(texts) => {
            Value::array(Element::Text, texts.into_iter().map(Value::text).collect())
        }
        ScriptValue::Object(object) => bound(object),
    }
}

fn bound(object: ScriptObject) -> Value {
    Value::object(Bound {
        name: object.name(),
        number: 0,
        class: class_of(object),
        told: None,
    })
}

impl<'d> Desk<'d> {
    /// The environment for a run.
    pub(super) fn new(
        task: &ScriptTask<'_>,
        context: ScriptContext,
        host: &'d dyn Host,
        commons: &'d Commons,
        (thread, memory, http): OfThread<'d>,
    ) -> Desk<'d> {
        let bindings = task.bindings.iter();
        let names = bindings.map(|(name, value)| ((*name).to_owned(), given_back(value.clone())));
        Desk {
            names: names.collect(),
            began_ns: host.cpu_ns(),
            dialect: Dialect::Groovy,
            is_woken: false,
            context,
            host,
            commons,
            thread,
            memory,
            http,
            held: Held::default(),
            lent: LentObjects::default(),
        }
    }

    /// Runs a script; the error is that of its language, in BeanShell what follows the script's text.
    pub(super) fn run(&mut self, script: &Script) -> Result<Value, String> {
        let outcome = script.run(self).map_err(|thrown| {
            if self.dialect == Dialect::BeanShell {
                return thrown.told_by_bean_shell();
            }
            if thrown.is_error() {
                self.memory.uncaught = Some(thrown.told());
            }
            thrown.told()
        });
        if self.lent.has_turn() {
            self.memory.kept.has_turn = false;
        }
        self.lent.settle(self.commons);
        outcome
    }

    /// The scope for texts of the plan while the script runs.
    pub(super) fn scope(&mut self) -> Scope<'_> {
        Scope {
            variables: &mut self.context.variables,
            host: self.host,
            thread: self.thread,
            memory: self.memory,
            commons: self.commons,
            previous: self.context.previous.as_ref(),
            sampler: &self.context.sampler,
            iteration: self.context.iteration,
        }
    }

    fn world(&self) -> &'d dyn World {
        self.host.world()
    }

    /// `vars`: texts are the thread's variables, other values are stored separately.
    fn of_variables(&mut self, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let name = given.first().map(print::text).unwrap_or_default();
        Ok(Some(match (method, given) {
            ("get", [_]) => match self.context.variables.get(&name) {
                Some(text) => Value::text(text),
                None => Value::Null,
            },
            ("getObject", [_]) => match self.context.variables.get(&name) {
                Some(text) => self
                    .memory
                    .kept
                    .get(&name, text)
                    .unwrap_or_else(|| Value::text(text)),
                None => Value::Null,
            },
            ("put", [key, value]) => {
                let is_text =
                    |one: &Value| matches!(one, Value::Text(_) | Value::Composed(_) | Value::Null);
                if !is_text(key) || !is_text(value) {
                    return Ok(None);
                }
                self.put(&name, &text_value(value));
                Value::Null
            }
            ("putObject", [_, value]) => {
                self.put(&name, value);
                Value::Null
            }
            ("putAll", [Value::Map(more)]) => {
                for (name, value) in loadline_groovy::order::entries(more) {
                    self.put(&print::text(&name), &value);
                }
                Value::Null
            }
            ("entrySet", []) => Value::Map(self.all_variables()),
            ("getIterator", []) => loadline_groovy::iterator_over(&self.all_variables()),
            _ => return Ok(None),
        }))
    }

    fn put(&mut self, name: &str, value: &Value) {
        if value.is_null() {
            self.context.variables.remove(name);
            return;
        }
        let text = print::java_text(value);
        self.memory.kept.put(name, &text, value);
        self.context.variables.put(name, text);
    }

    fn all_variables(&self) -> Rc<Map> {
        let map = Map::new(MapKind::Linked);
        for (name, text) in self.context.variables.iter() {
            let value = self
                .memory
                .kept
                .get(name, text)
                .unwrap_or_else(|| Value::text(text));
            map.put(&Value::text(name), value);
        }
        map
    }

    /// `props`: texts are JMeter's properties, other values are stored separately for all threads.
    fn of_properties(&mut self, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let sets = matches!(method, "put" | "setProperty" | "putAt");
        let is_text = |one: &Value| matches!(one, Value::Text(_));
        match given {
            [Value::Null, ..] if !sets && method != "putAll" => {
                let message = "Cannot invoke \"Object.hashCode()\" because \"key\" is null";
                return Err(Thrown::of("java.lang.NullPointerException", message));
            }
            given if sets && given.iter().any(|one| matches!(one, Value::Null)) => {
                return Err(Thrown::bare("java.lang.NullPointerException"));
            }
            _ => {}
        }
        let name = given.first().map(print::text).unwrap_or_default();
        let found = |desk: &mut Self| {
            let text = desk.world().own_property(&name)?;
            let is_guarded = desk.memory.kept.has_turn;
            let object = desk.lent.get(desk.commons, &name, &text, is_guarded);
            desk.memory.kept.has_turn |= desk.lent.has_turn();
            Some(object.unwrap_or_else(|| Value::text(text.as_str())))
        };
        Ok(Some(match (method, given) {
            ("getProperty", [_]) => found(self).filter(is_text).unwrap_or(Value::Null),
            ("get" | "getAt", [_]) => found(self).unwrap_or(Value::Null),
            ("getProperty", [_, other]) => {
                found(self).filter(is_text).unwrap_or_else(|| other.clone())
            }
            ("getOrDefault", [_, other]) => found(self).unwrap_or_else(|| other.clone()),
            ("put" | "setProperty" | "putAt", [_, value]) => {
                let before = found(self).unwrap_or(Value::Null);
                self.lent.put(self.commons, &name, value);
                self.world().set_property(&name, &print::text(value));
                before
            }
            ("putAll", [Value::Map(more)]) => {
                for (name, value) in loadline_groovy::order::entries(more) {
                    self.of_properties("put", &[name, value])?;
                }
                Value::Null
            }
            ("remove", [_]) => {
                let before = found(self).unwrap_or(Value::Null);
                self.world().remove_property(&name);
                before
            }
            ("containsKey", [_]) => Value::Truth(found(self).is_some()),
            _ => return Ok(None),
        }))
    }

    /// `log.info(…)`: as in Java, with a text and values for its placeholders, and nothing else.
    fn logs(&mut self, method: &str, given: &[Value]) -> Option<Value> {
        let is_text = matches!(
            given.first(),
            Some(Value::Text(_) | Value::Composed(_) | Value::Null)
        );
        if method.starts_with("is") && method.ends_with("Enabled") {
            return Some(Value::Truth(!matches!(
                method,
                "isDebugEnabled" | "isTraceEnabled"
            )));
        }
        if !is_text {
            return None;
        }
        let mut all: Vec<ScriptValue> = given.iter().map(lent).collect();
        // An exception after the placeholders' values is printed in the lines below.
        if let [_, .., Value::Exception(exception)] = given {
            all.pop();
            let told = exception.told();
            let message = all.first().and_then(ScriptValue::told).unwrap_or_default();
            all[0] = ScriptValue::Text(format!("{message}\n{told}"));
        }
        self.asked(ScriptObject::Log, method, &all).ok()
    }

    fn asked(&mut self, object: ScriptObject, method: &str, given: &[ScriptValue]) -> Outcome {
        let world = self.host.world();
        let value = self.context.call(world, object, method, given);
        value
            .map(given_back)
            .map_err(|why| match why.split_once(": ") {
                Some((class, message)) if class.contains('.') => Thrown::Exception(Rc::new(
                    loadline_groovy::thrown::Exception::new(class, Some(message.into())),
                )),
                _ if why.ends_with("Exception") => Thrown::bare("java.lang.NullPointerException"),
                _ => Thrown::argument(why),
            })
    }

    /// Methods of samples that only these languages have.
    fn of_sample(&mut self, object: ScriptObject, method: &str, given: &[Value]) -> Option<Value> {
        if let ("setResponseData", [Value::List(list), ..]) = (method, given) {
            let sample = match object {
                ScriptObject::Own => self.context.own.as_deref_mut(),
                _ => self.context.previous.as_mut().map(Arc::make_mut),
            };
            super::sample::replace_data(sample?, list.to_bytes()?);
            return Some(Value::Null);
        }
        if !OF_SAMPLES.contains(&method) {
            return None;
        }
        match object {
            ScriptObject::Own => {
                let own = self.context.own.take()?;
                let told = self.of_parts(&own, (object, &[]), method, given);
                self.context.own = Some(own);
                told
            }
            _ => {
                let previous = self.context.previous.clone()?;
                self.of_parts(&previous, (object, &[]), method, given)
            }
        }
    }
}

fn text_value(value: &Value) -> Value {
    match value {
        Value::Composed(_) => Value::text(print::text(value)),
        other => other.clone(),
    }
}

impl Bindings for Desk<'_> {
    fn bound(&mut self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn bind(&mut self, name: &str, value: Value) {
        self.names.insert(name.to_owned(), value);
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        names.sort();
        names
    }

    fn ask(
        &mut self,
        object: &'static str,
        number: usize,
        method: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        if object == ENGINE {
            return Ok(self.of_engine(method, given));
        }
        let Some(object) = ScriptObject::named(object) else {
            return self.of_element(number, method, given);
        };
        let found = match object {
            ScriptObject::Variables => self.of_variables(method, given)?,
            ScriptObject::Properties => self.of_properties(method, given)?,
            ScriptObject::Log => return Ok(self.logs(method, given)),
            ScriptObject::Own | ScriptObject::Previous => self.of_sample(object, method, given),
            ScriptObject::Sampler => self.of_sampler(method, given)?,
            ScriptObject::Context | ScriptObject::Thread => self.of_thread(object, method, given),
            ScriptObject::Group => self.of_group(method, given),
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
        // Invalid arguments of methods that only accept texts were handled above.
        let is_wrong = object == ScriptObject::Variables && matches!(method, "put" | "get");
        if is_wrong || !objects::has(object, method) {
            return Ok(None);
        }
        let given: Vec<ScriptValue> = given.iter().map(lent).collect();
        self.asked(object, method, &given).map(Some)
    }

    fn make(&mut self, class: &str, given: &[Value]) -> Outcome<Option<Value>> {
        Ok(self.held.make(class, given))
    }

    fn host(&mut self) -> &mut dyn ScriptHost {
        self
    }
}

impl ScriptHost for Desk<'_> {
    fn unix_ms(&mut self) -> i64 {
        let slept = i64::try_from(self.context.slept_ms).unwrap_or(i64::MAX);
        self.host.unix_ms().saturating_add(slept)
    }

    fn random(&mut self) -> u64 {
        self.host.random()
    }

    fn utc_offset_s(&mut self, unix_ms: i64) -> i32 {
        self.world().utc_offset_s(unix_ms)
    }

    fn must_end(&mut self) -> Option<String> {
        if self.is_woken {
            return Some("java.lang.InterruptedException: sleep interrupted".to_owned());
        }
        if self.host.is_called_off() {
            return Some("the test was called off".to_owned());
        }
        let took_ns = self.host.cpu_ns().saturating_sub(self.began_ns);
        (took_ns > LONGEST_NS).then(|| "the script took more than five seconds".to_owned())
    }

    fn sleep(&mut self, ms: u64) {
        // The lock of an enclosing run cannot be released here.
        let is_held_up = self.memory.kept.has_turn && !self.lent.has_turn();
        let mut has_slept = false;
        if !is_held_up {
            let had_turn = self.lent.publish(self.commons);
            let before_ns = self.host.cpu_ns();
            has_slept = self.host.sleep(ms);
            self.is_woken = has_slept && self.host.is_called_off();
            // What others computed meanwhile is not this script's.
            let others_ns = self.host.cpu_ns().saturating_sub(before_ns);
            self.began_ns = self.began_ns.saturating_add(others_ns);
            self.lent.renew(self.commons, had_turn);
        }
        if !has_slept {
            self.context.slept_ms = self.context.slept_ms.saturating_add(ms);
        }
    }

    fn print(&mut self, text: &str) {
        self.world().print(&self.context.class, text);
    }

    fn read_file(&mut self, name: &str) -> Result<Arc<[u8]>, String> {
        self.world().read_file(name).map_err(|fault| fault.why)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String> {
        self.world().write_file(name, bytes, mode)
    }

    fn file_facts(&mut self, name: &str) -> Option<FileFacts> {
        self.world().file_facts(name)
    }

    fn folder(&mut self, name: &str) -> Option<Vec<String>> {
        self.world().folder(name)
    }

    fn make_folder(&mut self, name: &str) -> bool {
        self.world().make_folder(name)
    }

    fn remove_file(&mut self, name: &str) -> bool {
        self.world().remove_file(name)
    }

    fn rename_file(&mut self, from: &str, to: &str) -> bool {
        self.world().rename_file(from, to)
    }

    fn environment(&mut self, name: &str) -> Option<String> {
        self.world().environment(name)
    }

    fn property(&mut self, name: &str) -> Option<String> {
        self.world().property(name)
    }

    fn set_property(&mut self, name: &str, value: Option<&str>) -> Option<String> {
        match value {
            Some(value) => self.world().set_property(name, value),
            None => self.world().remove_property(name),
        }
    }

    fn plan_folder(&mut self) -> String {
        self.world().plan_folder()
    }

    fn machine(&mut self) -> (String, String) {
        self.world().machine()
    }

    fn threads_at_work(&mut self) -> u32 {
        self.host.threads_at_work(0).1
    }

    fn thread_name(&mut self) -> String {
        self.context.thread_name.clone()
    }
}

/// Lends the thread's state to a script, runs it, and takes the state back.
pub(super) fn within(
    scope: &mut Scope<'_>,
    mut context: ScriptContext,
    http: &mut HttpMemory,
    task: &ScriptTask<'_>,
    run: impl FnOnce(&mut Desk<'_>) -> Result<ScriptValue, String>,
) -> (ScriptContext, Result<ScriptValue, String>) {
    super::fill(&mut context, scope);
    let of_thread = (scope.thread, &mut *scope.memory, http);
    let mut desk = Desk::new(task, context, scope.host, scope.commons, of_thread);
    let outcome = run(&mut desk);
    desk.give_back();
    let mut context = desk.context;
    *scope.variables = std::mem::take(&mut context.variables);
    (context, outcome)
}

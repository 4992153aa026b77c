//! Objects that scripts access by name, and their methods.
//!
//! Must not know languages. Invariant: exactly the methods that [`has`] reports can be called.

use std::sync::Arc;

use super::sample;
use super::task::ScriptContext;
use super::value::{ScriptObject, ScriptValue, flag, text};
use crate::sample::Sample;
use crate::thread::SAME_USER;
use crate::world::{LogLevel, World};

const LOG_METHODS: &[&str] = &["trace", "debug", "info", "warn", "error"];

fn methods(object: ScriptObject) -> &'static [&'static str] {
    match object {
        ScriptObject::Variables => &[
            "get",
            "put",
            "remove",
            "getObject",
            "putObject",
            "getIteration",
            "getThreadName",
            "isSameUserOnNextIteration",
        ],
        ScriptObject::Properties => &["get", "put", "getProperty", "setProperty", "containsKey"],
        ScriptObject::Log => LOG_METHODS,
        ScriptObject::Output => &["println", "print"],
        ScriptObject::Context => &[
            "getThreadNum",
            "getThread",
            "getThreadGroup",
            "getVariables",
            "getProperties",
            "getCurrentSampler",
            "getPreviousSampler",
            "getPreviousResult",
        ],
        ScriptObject::Thread => &["getThreadName", "getThreadNum"],
        ScriptObject::Group | ScriptObject::Sampler => &["getName"],
        ScriptObject::Previous | ScriptObject::Own => sample::METHODS,
        ScriptObject::Finding => &[
            "setFailure",
            "isFailure",
            "setFailureMessage",
            "getFailureMessage",
            "setError",
            "isError",
            "getName",
        ],
        ScriptObject::Event => &["getResult", "getThreadGroup"],
    }
}

/// Whether an object has a method.
#[must_use]
pub fn has(object: ScriptObject, method: &str) -> bool {
    method == "toString" || methods(object).contains(&method)
}

fn told(text: Option<String>) -> ScriptValue {
    text.map_or(ScriptValue::Null, ScriptValue::Text)
}

impl ScriptContext {
    /// Calls a method of an object.
    ///
    /// # Errors
    /// The object has no such method, or it throws.
    pub fn call(
        &mut self,
        world: &dyn World,
        object: ScriptObject,
        method: &str,
        given: &[ScriptValue],
    ) -> Result<ScriptValue, String> {
        if !has(object, method) {
            let name = object.name();
            return Err(format!(
                "TypeError: Cannot find function {method} in object {name}."
            ));
        }
        if method == "toString" {
            return Ok(ScriptValue::Text(self.described(object)));
        }
        Ok(match object {
            ScriptObject::Variables => self.of_variables(method, given),
            ScriptObject::Properties => of_properties(world, method, given)?,
            ScriptObject::Log => {
                self.log(world, method, given);
                ScriptValue::Undefined
            }
            ScriptObject::Output => {
                let end = if method == "println" { "\n" } else { "" };
                world.print(&self.class, &(text(given, 0) + end));
                ScriptValue::Undefined
            }
            ScriptObject::Context
            | ScriptObject::Thread
            | ScriptObject::Group
            | ScriptObject::Sampler
            | ScriptObject::Event => self.of_thread(object, method),
            ScriptObject::Previous => match self.previous.as_mut() {
                Some(sample) if sample::is_question(method) => {
                    sample::ask(sample, method, given, self.unix_ms)
                }
                Some(sample) => sample::change(Arc::make_mut(sample), method, given)?,
                None => return Err("java.lang.NullPointerException".to_owned()),
            },
            ScriptObject::Own => match self.own.as_mut() {
                Some(sample) if sample::is_question(method) => {
                    sample::ask(sample, method, given, self.unix_ms)
                }
                Some(sample) => sample::change(sample, method, given)?,
                None => return Err("java.lang.NullPointerException".to_owned()),
            },
            ScriptObject::Finding => self.of_finding(method, given),
        })
    }

    fn described(&self, object: ScriptObject) -> String {
        let label = |sample: Option<&Sample>| sample.map_or(String::new(), |one| one.label.clone());
        match object {
            ScriptObject::Previous => label(self.previous.as_deref()),
            ScriptObject::Own => label(self.own.as_deref()),
            ScriptObject::Sampler => self.sampler.clone(),
            ScriptObject::Group => self.group_name.clone(),
            ScriptObject::Thread => self.thread_name.clone(),
            other => format!("[object {}]", other.name()),
        }
    }

    fn of_variables(&mut self, method: &str, given: &[ScriptValue]) -> ScriptValue {
        let name = text(given, 0);
        match method {
            "get" | "getObject" => told(self.variables.get(&name).map(str::to_owned)),
            "put" | "putObject" => {
                match given.get(1).and_then(ScriptValue::told) {
                    Some(value) => self.variables.put(name, value),
                    None => {
                        self.variables.remove(&name);
                    }
                }
                ScriptValue::Undefined
            }
            "remove" => told(self.variables.remove(&name)),
            "getIteration" => ScriptValue::Number(self.iteration as f64),
            "getThreadName" => ScriptValue::Text(self.thread_name.clone()),
            // Whether it is the same user in the next iteration.
            _ => ScriptValue::Truth(self.variables.get(SAME_USER) == Some("true")),
        }
    }

    fn log(&self, world: &dyn World, method: &str, given: &[ScriptValue]) {
        let level = match method {
            "info" => LogLevel::Info,
            "warn" => LogLevel::Warn,
            "error" => LogLevel::Error,
            _ => LogLevel::Debug,
        };
        let mut message = text(given, 0);
        for index in 1..given.len() {
            message = message.replacen("{}", &text(given, index), 1);
        }
        world.log(level, &self.class, &message);
    }

    fn of_thread(&self, object: ScriptObject, method: &str) -> ScriptValue {
        use ScriptObject as Object;
        let previous = match self.previous {
            Some(_) => ScriptValue::Object(Object::Previous),
            None => ScriptValue::Null,
        };
        match (object, method) {
            (Object::Thread, "getThreadNum") | (Object::Context, "getThreadNum") => {
                ScriptValue::Number(f64::from(self.thread_number) - 1.0)
            }
            (Object::Context, "getThread") => ScriptValue::Object(Object::Thread),
            (Object::Context, "getThreadGroup") => ScriptValue::Object(Object::Group),
            (Object::Context, "getVariables") => ScriptValue::Object(Object::Variables),
            (Object::Context, "getProperties") => ScriptValue::Object(Object::Properties),
            (Object::Event, "getResult") if self.own.is_some() => ScriptValue::Object(Object::Own),
            (Object::Context, "getPreviousResult") | (Object::Event, "getResult") => previous,
            (Object::Context, _) => ScriptValue::Object(Object::Sampler),
            (Object::Thread, _) => ScriptValue::Text(self.thread_name.clone()),
            (Object::Group | Object::Event, _) => ScriptValue::Text(self.group_name.clone()),
            _ => ScriptValue::Text(self.sampler.clone()),
        }
    }

    fn of_finding(&mut self, method: &str, given: &[ScriptValue]) -> ScriptValue {
        let finding = &mut self.finding;
        match method {
            "setFailure" => finding.failure = flag(given),
            "setError" => finding.error = flag(given),
            "setFailureMessage" => finding.message = text(given, 0),
            "isFailure" => return ScriptValue::Truth(finding.failure),
            "isError" => return ScriptValue::Truth(finding.error),
            "getName" => return ScriptValue::Text(finding.name.clone()),
            _ => return ScriptValue::Text(finding.message.clone()),
        }
        ScriptValue::Undefined
    }
}

fn of_properties(
    world: &dyn World,
    method: &str,
    given: &[ScriptValue],
) -> Result<ScriptValue, String> {
    let name = text(given, 0);
    Ok(match method {
        "put" | "setProperty" if given.contains(&ScriptValue::Null) => {
            return Err("java.lang.NullPointerException".to_owned());
        }
        "put" | "setProperty" => told(world.set_property(&name, &text(given, 1))),
        "containsKey" => ScriptValue::Truth(world.own_property(&name).is_some()),
        _ => match (world.own_property(&name), given.get(1)) {
            (None, Some(default)) => default.clone(),
            (value, _) => told(value),
        },
    })
}

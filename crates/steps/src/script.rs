//! Scripts of a plan: their settings, the state lent to them, and their results.
//!
//! Must not know languages: scripts run through [`Host::run_script`]. Invariant: everything that a script may
//! change is lent by value, and taken back when the script ends, even if it fails.

mod bean_shell;
mod calls;
mod elements;
mod groovy;
mod held;
pub mod kept;
mod known;
mod lent;
mod objects;
mod orders;
mod sample;
mod sampler;
mod source;
pub(crate) mod task;
pub(crate) mod value;

use std::sync::{Arc, OnceLock};

pub use calls::unknown_calls;
pub use known::unsupported;
pub use objects::has;
pub use task::{ScriptContext, ScriptTask};
pub use value::{ScriptObject, ScriptValue};

use loadline_groovy::{Dialect, Script};

use crate::host::{Host, LogLevel};
use crate::http::HttpMemory;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

/// The type of JMeter element that contains a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptRole {
    /// It is a sampler.
    Sampler,
    /// Runs before a sample.
    PreProcessor,
    /// Runs after a sample.
    PostProcessor,
    /// Returns a pause.
    Timer,
    /// Decides whether a sample succeeded.
    Assertion,
    /// Receives completed samples.
    Listener,
}

/// JMeter's family of script elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptFamily {
    /// With Java's scripting interface.
    Jsr223,
    /// With the older interface of Apache BSF.
    Bsf,
    /// JMeter's own, always BeanShell.
    BeanShell,
}

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// JavaScript, which the host runs.
    JavaScript,
    /// Groovy.
    Groovy,
    /// BeanShell, and Java run by BeanShell.
    BeanShell,
}

/// A script element of a plan.
#[derive(Debug)]
pub struct ScriptElement {
    /// Its name.
    pub name: Text,
    /// Its family.
    pub family: ScriptFamily,
    /// Its language.
    pub language: ScriptLanguage,
    /// Whether names set by the script are dropped before each run.
    pub forgets: bool,
    /// The compiled script, once compiled.
    pub known: Known,
    /// The type of element.
    pub role: ScriptRole,
    /// The script; used if no file is given.
    pub source: Text,
    /// The file with the script; empty: none.
    pub file: Text,
    /// The script's `Parameters`, which are also split into `args`.
    pub parameters: Text,
}

/// A constant script, compiled.
#[derive(Debug, Default)]
pub struct Known(OnceLock<Result<Arc<Script>, String>>);

/// The result of a script.
#[derive(Debug)]
pub struct Ran {
    /// Its value, or the error in the words of JMeter's exceptions.
    pub outcome: Result<Option<String>, String>,
    /// The lent state with its changes; the variables have been taken back.
    pub context: ScriptContext,
}

impl ScriptElement {
    /// The name of its JMeter class.
    #[must_use]
    pub fn class(&self) -> &'static str {
        use ScriptFamily::{BeanShell, Bsf, Jsr223};
        match (self.family, self.role) {
            (Jsr223, ScriptRole::Sampler) => "JSR223Sampler",
            (Jsr223, ScriptRole::PreProcessor) => "JSR223PreProcessor",
            (Jsr223, ScriptRole::PostProcessor) => "JSR223PostProcessor",
            (Jsr223, ScriptRole::Timer) => "JSR223Timer",
            (Jsr223, ScriptRole::Assertion) => "JSR223Assertion",
            (Jsr223, ScriptRole::Listener) => "JSR223Listener",
            (Bsf, ScriptRole::Sampler) => "BSFSampler",
            (Bsf, ScriptRole::PreProcessor) => "BSFPreProcessor",
            (Bsf, ScriptRole::PostProcessor) => "BSFPostProcessor",
            (Bsf, ScriptRole::Timer) => "BSFTimer",
            (Bsf, ScriptRole::Assertion) => "BSFAssertion",
            (Bsf, ScriptRole::Listener) => "BSFListener",
            (BeanShell, ScriptRole::Sampler) => "BeanShellSampler",
            (BeanShell, ScriptRole::PreProcessor) => "BeanShellPreProcessor",
            (BeanShell, ScriptRole::PostProcessor) => "BeanShellPostProcessor",
            (BeanShell, ScriptRole::Timer) => "BeanShellTimer",
            (BeanShell, ScriptRole::Assertion) => "BeanShellAssertion",
            (BeanShell, ScriptRole::Listener) => "BeanShellListener",
        }
    }

    /// Runs it. `http`: the state of HTTP samplers; `previous`: the last sample, or the one after which it
    /// runs; `own`: the sample of a sampler, or the one that a listener receives, if different.
    pub fn run(
        &self,
        scope: &mut Scope<'_>,
        http: &mut HttpMemory,
        previous: Option<Arc<Sample>>,
        mut own: Option<Box<Sample>>,
    ) -> Ran {
        let name = self.name.evaluate(scope).into_owned();
        let file = self.file.evaluate(scope).into_owned();
        let inline = self.source.evaluate(scope).into_owned();
        if let Some(own) = own.as_mut().filter(|_| self.role == ScriptRole::Sampler) {
            own.sampler_data = Some(match (self.family, file.as_str()) {
                (_, "") => inline.clone(),
                (ScriptFamily::BeanShell, file) => file.to_owned(),
                (_, file) => format!("File: {file}"),
            });
        }
        let parameters = self.parameters.evaluate(scope).into_owned();
        let source = source::of(self.family, &name, &file, inline, scope);
        let words = parameters.split_whitespace().map(str::to_owned).collect();
        let mut bindings = self.bindings(&previous, own.is_some());
        bindings.extend([
            ("Label", ScriptValue::Text(name.clone())),
            ("FileName", ScriptValue::Text(file)),
            ("Parameters", ScriptValue::Text(parameters)),
            ("args", ScriptValue::Texts(words)),
        ]);
        let context = ScriptContext {
            previous,
            own,
            class: self.logger(&name),
            ..ScriptContext::default()
        };
        let source = match source {
            Ok(source) => source,
            Err(exception) => {
                return Ran {
                    outcome: Err(exception),
                    context,
                };
            }
        };
        let task = ScriptTask {
            source: &source,
            bindings,
            wants_value: matches!(self.role, ScriptRole::Sampler | ScriptRole::Timer),
        };
        let (context, outcome) = match self.language {
            ScriptLanguage::JavaScript => lend(&task, context, scope),
            _ => self.run_here(&task, context, http, scope),
        };
        scope.memory.ordered = context.ordered.or(scope.memory.ordered);
        if self.role != ScriptRole::Sampler {
            scope.memory.owed_ms += context.slept_ms;
        }
        // BSF wraps errors like exceptions, and makes assertions fail.
        if self.family != ScriptFamily::Jsr223 || self.role == ScriptRole::Assertion {
            scope.memory.uncaught = None;
        }
        let outcome = outcome.map(|value| value.told());
        Ran {
            outcome: outcome.map_err(|thrown| self.exception(&thrown)),
            context,
        }
    }

    /// Runs a script that this crate interprets.
    fn run_here(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
        http: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        let dialect = match self.language {
            ScriptLanguage::Groovy => Dialect::Groovy,
            _ => Dialect::BeanShell,
        };
        let is_constant = self.source.constant().is_some() && self.file.source().is_empty();
        let script = match is_constant {
            true => self
                .known
                .0
                .get_or_init(|| kept::read(task.source, dialect))
                .clone(),
            false => scope.memory.kept.read(task.source, dialect),
        };
        let script = match script {
            Ok(script) => script,
            Err(fault) => return (context, Err(fault)),
        };
        groovy::within(scope, context, http, task, |desk| match self.family {
            ScriptFamily::BeanShell => {
                let place = std::ptr::from_ref(self).addr();
                let space = (!self.forgets).then_some(place);
                bean_shell::run(desk, (&script, task.source), self.role, space)
            }
            _ => desk.run(&script).map(|value| groovy::told(&value)),
        })
    }

    /// Runs it; a failure is only logged.
    pub(crate) fn run_quietly(
        &self,
        scope: &mut Scope<'_>,
        http: &mut HttpMemory,
        previous: Option<Arc<Sample>>,
    ) -> (Option<String>, ScriptContext) {
        self.run_about(scope, http, previous, None)
    }

    /// Like [`Self::run_quietly`], for a listener that receives a sample other than the last one.
    pub(crate) fn run_about(
        &self,
        scope: &mut Scope<'_>,
        http: &mut HttpMemory,
        previous: Option<Arc<Sample>>,
        told: Option<Box<Sample>>,
    ) -> (Option<String>, ScriptContext) {
        let ran = self.run(scope, http, previous, told);
        let value = ran.outcome.unwrap_or_else(|exception| {
            // The end of the thread is already logged.
            if scope.memory.uncaught.is_some() {
                return None;
            }
            let name = self.name.evaluate(scope).into_owned();
            self.log_problem(scope.host, &name, &exception);
            None
        });
        (value, ran.context)
    }

    /// The package of its class in the log.
    fn package(&self) -> &'static str {
        match self.role {
            ScriptRole::Sampler => "o.a.j.p.j.s",
            ScriptRole::PreProcessor => "o.a.j.m",
            ScriptRole::PostProcessor => "o.a.j.e",
            ScriptRole::Timer => "o.a.j.t",
            ScriptRole::Assertion => "o.a.j.a",
            ScriptRole::Listener => "o.a.j.v",
        }
    }

    /// Its logger name for the script's own messages: all but the last part of the class name is abbreviated.
    fn logger(&self, name: &str) -> String {
        match self.family {
            ScriptFamily::Jsr223 => {
                let (above, last) = name.rsplit_once('.').unwrap_or(("", name));
                let above = above.split('.').filter_map(|word| word.chars().next());
                let above: String = above.flat_map(|first| [first, '.']).collect();
                format!("{}.J.{above}{last}", self.package())
            }
            ScriptFamily::Bsf => "o.a.j.u.BSFTestElement".to_owned(),
            ScriptFamily::BeanShell => "o.a.j.u.BeanShellTestElement".to_owned(),
        }
    }

    /// Logs the failure of a script.
    pub(crate) fn log_problem(&self, host: &dyn Host, name: &str, exception: &str) {
        let world = host.world();
        let class = format!("{}.{}", self.package(), self.class());
        let (level, message) = match (self.family, self.role) {
            (ScriptFamily::Jsr223, ScriptRole::Sampler) => (
                LogLevel::Error,
                format!("Problem in JSR223 script {name}, message: {exception}"),
            ),
            (ScriptFamily::Jsr223, role) => {
                let sign = if role == ScriptRole::Assertion {
                    ":"
                } else {
                    ","
                };
                let message = format!("Problem in JSR223 script{sign} {name}\n{exception}");
                (LogLevel::Error, message)
            }
            (ScriptFamily::Bsf, _) => {
                let message = format!("Problem in BSF script {exception}");
                (LogLevel::Warn, message)
            }
            (ScriptFamily::BeanShell, role) => {
                let own = exception.split_once("JMeterException: ");
                let own = own.map_or(exception, |(_, own)| own);
                world.log(LogLevel::Error, "o.a.j.u.BeanShellInterpreter", own);
                let message = match role {
                    ScriptRole::Sampler => format!("Exception executing script. {exception}"),
                    ScriptRole::Assertion => format!("Error in BeanShellAssertion\n{exception}"),
                    ScriptRole::PostProcessor => {
                        format!("Problem in BeanShell script: {exception}")
                    }
                    _ => format!("Problem in BeanShell script. {exception}"),
                };
                (LogLevel::Warn, message)
            }
        };
        world.log(level, &class, &message);
    }

    fn bindings(
        &self,
        previous: &Option<Arc<Sample>>,
        has_own: bool,
    ) -> Vec<(&'static str, ScriptValue)> {
        use ScriptObject as Object;
        let mut found = vec![
            ("log", Object::Log),
            ("ctx", Object::Context),
            ("vars", Object::Variables),
            ("props", Object::Properties),
            ("OUT", Object::Output),
        ];
        let is_bean_shell = self.family == ScriptFamily::BeanShell;
        if !is_bean_shell || self.role == ScriptRole::PreProcessor {
            found.push(("sampler", Object::Sampler));
        }
        match self.role {
            ScriptRole::Sampler => found.push(("SampleResult", Object::Own)),
            ScriptRole::Assertion => {
                found.push(("AssertionResult", Object::Finding));
                found.push(("SampleResult", Object::Previous));
            }
            ScriptRole::Listener => {
                found.push(("sampleEvent", Object::Event));
                let told = match has_own {
                    true => Object::Own,
                    false => Object::Previous,
                };
                found.push(("sampleResult", told));
                found.push(("SampleResult", told));
            }
            _ => {}
        }
        let mut bindings: Vec<_> = found
            .into_iter()
            .map(|(name, object)| (name, ScriptValue::Object(object)))
            .collect();
        let prev = match previous {
            Some(_) => ScriptValue::Object(Object::Previous),
            None => ScriptValue::Null,
        };
        bindings.push(("prev", prev));
        bindings
    }

    /// JMeter's exception for what a script threw.
    fn exception(&self, thrown: &str) -> String {
        // Java errors bypass the wrapping of exceptions.
        let is_error = ["Assertion failed: \n", "java.lang.AssertionError"]
            .iter()
            .any(|start| thrown.starts_with(start));
        match self.family {
            ScriptFamily::Jsr223 if self.role == ScriptRole::Assertion && is_error => {
                thrown.to_owned()
            }
            ScriptFamily::Jsr223 => format!("javax.script.ScriptException: {thrown}"),
            ScriptFamily::Bsf if self.language == ScriptLanguage::JavaScript => format!(
                "org.apache.bsf.BSFException: JavaScript Error: {}",
                rhino_words(thrown)
            ),
            ScriptFamily::Bsf => format!("org.apache.bsf.BSFException: {thrown}"),
            ScriptFamily::BeanShell => {
                format!(
                    "org.apache.jorphan.util.JMeterException: Error invoking bsh method: eval\t{thrown}"
                )
            }
        }
    }
}

/// Rhino's message for what was thrown.
fn rhino_words(thrown: &str) -> String {
    if let Some(fault) = thrown.strip_prefix("SyntaxError: ") {
        return fault.to_owned();
    }
    let unknown = thrown.strip_prefix("ReferenceError: ");
    let unknown = unknown.and_then(|rest| rest.strip_suffix(" is not defined"));
    match unknown {
        Some(name) => format!(
            "Internal Error: org.mozilla.javascript.EcmaError: ReferenceError: \"{name}\" is not defined."
        ),
        None if thrown.starts_with("TypeError: ") => {
            format!("Internal Error: org.mozilla.javascript.EcmaError: {thrown}")
        }
        None => thrown.to_owned(),
    }
}

/// Runs a script like JMeter's `__javaScript`: with the thread's objects, and the last sample as
/// `sampleResult`.
///
/// # Errors
/// The exception.
pub(crate) fn run_function(source: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    use ScriptObject as Object;
    let objects = [
        ("log", Object::Log),
        ("ctx", Object::Context),
        ("vars", Object::Variables),
        ("props", Object::Properties),
        ("sampler", Object::Sampler),
    ];
    let mut bindings: Vec<_> = objects
        .map(|(name, object)| (name, ScriptValue::Object(object)))
        .to_vec();
    bindings.push(("threadName", ScriptValue::Text(scope.thread.name.clone())));
    bindings.push((
        "sampleResult",
        match scope.previous {
            Some(_) => ScriptValue::Object(Object::Previous),
            None => ScriptValue::Null,
        },
    ));
    let task = ScriptTask {
        source,
        bindings,
        wants_value: true,
    };
    let context = ScriptContext {
        previous: scope.previous.cloned(),
        class: "o.a.j.f.JavaScript".to_owned(),
        ..ScriptContext::default()
    };
    let (_, outcome) = lend(&task, context, scope);
    printed(outcome)
}

/// Evaluates a condition without any bindings, like JMeter's If controller.
///
/// # Errors
/// The exception.
pub(crate) fn run_condition(source: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    let task = ScriptTask {
        source,
        bindings: Vec::new(),
        wants_value: true,
    };
    let (_, outcome) = lend(&task, ScriptContext::default(), scope);
    printed(outcome)
}

/// Runs a script like JMeter's `__groovy` and `__BeanShell`: with the thread's objects, and the given logger
/// class.
///
/// # Errors
/// The exception.
pub(crate) fn run_here(
    source: &str,
    dialect: Dialect,
    class: &str,
    scope: &mut Scope<'_>,
) -> Result<Option<String>, String> {
    use ScriptObject as Object;
    let script = scope.memory.kept.read(source, dialect)?;
    let objects = [
        ("log", Object::Log),
        ("ctx", Object::Context),
        ("vars", Object::Variables),
        ("props", Object::Properties),
        ("sampler", Object::Sampler),
        ("OUT", Object::Output),
    ];
    let mut bindings: Vec<_> = objects
        .map(|(name, object)| (name, ScriptValue::Object(object)))
        .to_vec();
    bindings.push(("threadName", ScriptValue::Text(scope.thread.name.clone())));
    let previous = match scope.previous {
        Some(_) => ScriptValue::Object(Object::Previous),
        None => ScriptValue::Null,
    };
    for name in ["prev", "sampleResult", "SampleResult"] {
        bindings.push((name, previous.clone()));
    }
    let task = ScriptTask {
        source,
        bindings,
        wants_value: true,
    };
    let context = ScriptContext {
        previous: scope.previous.cloned(),
        class: class.to_owned(),
        ..ScriptContext::default()
    };
    // Functions can be used anywhere, so they see no sampler.
    let http = &mut HttpMemory::default();
    let (context, outcome) = groovy::within(scope, context, http, &task, |desk| {
        desk.dialect = dialect;
        desk.run(&script).map(|value| groovy::told(&value))
    });
    scope.memory.ordered = context.ordered.or(scope.memory.ordered);
    scope.memory.owed_ms += context.slept_ms;
    outcome.map(|value| value.told())
}

fn printed(outcome: Result<ScriptValue, String>) -> Result<String, String> {
    outcome.map(|value| match value {
        ScriptValue::Undefined => "undefined".to_owned(),
        other => other.told().unwrap_or_else(|| "null".to_owned()),
    })
}

/// Fills a context with the thread's state.
fn fill(context: &mut ScriptContext, scope: &mut Scope<'_>) {
    context.variables = std::mem::take(scope.variables);
    context.thread_name.clone_from(&scope.thread.name);
    context.group_name.clone_from(&scope.thread.group);
    context.thread_number = scope.thread.number;
    context.iteration = scope.iteration;
    context.sampler = scope.sampler.to_owned();
    context.unix_ms = scope.host.unix_ms();
}

/// Lends the thread's state to a script, and takes it back.
fn lend(
    task: &ScriptTask<'_>,
    mut context: ScriptContext,
    scope: &mut Scope<'_>,
) -> (ScriptContext, Result<ScriptValue, String>) {
    fill(&mut context, scope);
    let (mut context, outcome) = scope.host.run_script(task, context);
    *scope.variables = std::mem::take(&mut context.variables);
    (context, outcome)
}

#[cfg(test)]
mod tests;

//! Functions with a script as their first argument.
//!
//! Must not know languages. Invariant: a constant script is compiled once, with the plan.

use std::sync::Arc;

use super::{Call, Outcome, keep};
use crate::expression::{Dialect, Expression};
use crate::host::LogLevel;
use crate::scope::Scope;
use crate::script::{ScriptLanguage, run_function, run_here, unknown_calls, unsupported};
use crate::text::Text;

/// The state of a script before it runs.
#[derive(Clone, Debug, Default)]
pub(crate) enum Script {
    /// The call has none, or the host compiles it.
    #[default]
    Absent,
    /// It is compiled.
    Read(Arc<Expression>),
    /// It contains variables, and is compiled when their values are known.
    Changing,
    /// It is JavaScript, which the host compiles.
    Foreign,
    /// It is run by this crate.
    Here,
    /// It is not supported, with the construct.
    Unsupported(String),
}

/// Compiles the script of a call, if it is known.
pub(super) fn prepare(function: &str, text: &Text) -> Script {
    if let Some(language) = language(function) {
        return match unsupported(&text.sketch("1"), language) {
            Ok(what) => match what.into_iter().next() {
                None => Script::Here,
                Some(what) => Script::Unsupported(what),
            },
            // Its variables may make it valid at run time; otherwise it throws, as in JMeter.
            Err(_) => Script::Here,
        };
    }
    let Some(dialect) = dialect(function) else {
        return match function {
            "__javaScript" => java_script(text),
            _ => Script::Absent,
        };
    };
    // A variable may be a number or a text: if the script can be compiled with a number in its place, most
    // others can too.
    let sketch = text.sketch("1");
    match (Expression::compile(&sketch, dialect), text.constant()) {
        (Err(fault), _) => Script::Unsupported(fault.what),
        (Ok(expression), Some(_)) => Script::Read(Arc::new(expression)),
        (Ok(_), None) => Script::Changing,
    }
}

fn dialect(function: &str) -> Option<Dialect> {
    match function {
        "__jexl2" => Some(Dialect::Jexl2),
        "__jexl3" => Some(Dialect::Jexl3),
        _ => None,
    }
}

/// The language of a function that this crate runs.
fn language(function: &str) -> Option<ScriptLanguage> {
    match function {
        "__groovy" => Some(ScriptLanguage::Groovy),
        "__BeanShell" => Some(ScriptLanguage::BeanShell),
        _ => None,
    }
}

impl Script {
    /// The unsupported parts of a function's script, by name.
    pub(super) fn unsupported(&self, function: &str) -> Option<String> {
        match self {
            Script::Unsupported(what) => Some(format!("{function}: {what}")),
            _ => None,
        }
    }
}

/// `__jexl2` and `__jexl3`: `(script[,variable])`. An unsupported script yields an empty value.
pub(super) fn expression(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let expression = match (&call.script, dialect(call.function.name)) {
        (Script::Read(expression), _) => Arc::clone(expression),
        (Script::Changing, Some(dialect)) => {
            let source = call.argument(0, scope).into_owned();
            scope.memory.scripts.get(source, dialect)
        }
        _ => return Ok(()),
    };
    out.push_str(&expression.run(scope));
    Ok(())
}

/// `__javaScript(script[,variable])`. An exception yields an empty value, and leaves the variable unchanged.
pub(super) fn evaluate_java_script(
    call: &Call,
    scope: &mut Scope<'_>,
    out: &mut String,
) -> Outcome {
    if let Script::Foreign = call.script {
        let source = call.argument(0, scope).into_owned();
        match run_function(&source, scope) {
            Ok(value) => {
                out.push_str(&value);
                if let Some(name) = call.arguments.get(1) {
                    keep(name, scope, &value);
                }
            }
            Err(thrown) => {
                let message = format!("Error processing Javascript: [{source}]: {thrown}");
                let world = scope.host.world();
                world.log(LogLevel::Error, "o.a.j.f.JavaScript", &message);
            }
        }
    }
    Ok(())
}

fn java_script(text: &Text) -> Script {
    match unknown_calls(&text.sketch("1")).as_slice() {
        [] => Script::Foreign,
        [what, ..] => Script::Unsupported(what.clone()),
    }
}

/// `__groovy(script[,variable])` and `__BeanShell(script[,variable])`. An exception is logged, and yields an
/// empty value.
pub(super) fn run_script(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let Script::Here = call.script else {
        return Ok(());
    };
    let (dialect, class) = match call.function.name {
        "__BeanShell" => (loadline_groovy::Dialect::BeanShell, "o.a.j.f.BeanShell"),
        _ => (loadline_groovy::Dialect::Groovy, "o.a.j.f.Groovy"),
    };
    let source = call.argument(0, scope).into_owned();
    match run_here(&source, dialect, class, scope) {
        Ok(value) => out.push_str(&value.unwrap_or_default()),
        // The end of the thread is already logged.
        Err(_) if scope.memory.uncaught.is_some() => {}
        Err(thrown) => {
            let message = format!("Error running script: {thrown}");
            scope.host.world().log(LogLevel::Warn, class, &message);
            scope.memory.has_no_value = true;
        }
    }
    Ok(())
}

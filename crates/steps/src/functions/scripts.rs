//! Functions whose first argument is a script.
//!
//! Must not know languages. Invariant: a script that does not change is read once, with the plan.

use std::sync::Arc;

use super::{Call, Outcome, keep};
use crate::expression::{Dialect, Expression};
use crate::host::LogLevel;
use crate::scope::Scope;
use crate::script::{run_function, unknown_calls};
use crate::text::Text;

/// What can be done about a script before it runs.
#[derive(Clone, Debug, Default)]
pub(crate) enum Script {
    /// The call has none, or the host reads it.
    #[default]
    Absent,
    /// It was read.
    Read(Arc<Expression>),
    /// It has variables in it, and is read when it is known.
    Changing,
    /// It is in a language that the host reads, JavaScript.
    Foreign,
    /// One of BeanShell's that are known.
    Known(Idiom),
    /// It is not supported: what in it.
    Unsupported(String),
}

/// Scripts of BeanShell that nearly all plans with BeanShell have one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Idiom {
    /// The folder of the plan.
    PlanFolder,
    /// A variable of the environment.
    Environment(String),
}

/// Reads the script of a call as far as it is known.
pub(super) fn prepare(function: &str, text: &Text) -> Script {
    let Some(dialect) = dialect(function) else {
        return match function {
            "__BeanShell" => bean_shell_idiom(text),
            "__javaScript" => java_script(text),
            _ => Script::Absent,
        };
    };
    // A variable stands for a number as well as for a text: where a sketch of the script with a number in its place can
    // be read, so can most others.
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
        "__groovy" => Some(Dialect::Groovy),
        _ => None,
    }
}

impl Script {
    /// What of a function's script is not supported, by name.
    pub(super) fn unsupported(&self, function: &str) -> Option<String> {
        match self {
            Script::Unsupported(what) => Some(format!("{function}: {what}")),
            _ => None,
        }
    }
}

/// `__jexl2`, `__jexl3` and `__groovy`: `(script[,variable])`. Of a script that is not supported nothing is left.
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

/// `__javaScript(script[,variable])`. What throws comes to nothing, and leaves the variable as it is.
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

/// `__BeanShell(script[,variable])`: the plan's folder and the environment.
pub(super) fn bean_shell(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    match &call.script {
        Script::Known(Idiom::PlanFolder) => out.push_str(&scope.host.world().plan_folder()),
        Script::Known(Idiom::Environment(name)) => {
            let value = scope.host.world().environment(name);
            out.push_str(value.as_deref().unwrap_or_default());
        }
        _ => {}
    }
    Ok(())
}

/// What a script of BeanShell asks for, where it is one of those that are known.
fn bean_shell_idiom(text: &Text) -> Script {
    let source: String = text
        .sketch("${}")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let import = "import org.apache.jmeter.services.FileServer;";
    let statement = source.strip_prefix(import).unwrap_or(&source);
    let statement = statement.trim().trim_end_matches(';').trim();
    let statement = statement.strip_prefix("return ").unwrap_or(statement);
    let statement = statement
        .strip_prefix("org.apache.jmeter.services.")
        .unwrap_or(statement);
    let compact: String = statement.split(' ').collect();
    if compact == "FileServer.getFileServer().getBaseDir()" {
        return Script::Known(Idiom::PlanFolder);
    }
    let name = compact
        .strip_prefix("System.getenv(\"")
        .and_then(|rest| rest.strip_suffix("\")"));
    match name.filter(|name| !name.contains(['"', '$', '\\'])) {
        Some(name) => Script::Known(Idiom::Environment(name.to_owned())),
        None => Script::Unsupported("BeanShell".to_owned()),
    }
}

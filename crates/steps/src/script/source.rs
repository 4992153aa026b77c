//! The text of a script: its own, or that of its file.
//!
//! Must not know languages. Invariant: without a text, JMeter's exception of the element's family.

use super::ScriptFamily;
use crate::scope::Scope;

/// The text of an element called `name`, whose own text is `inline`.
pub(super) fn of(
    family: ScriptFamily,
    name: &str,
    file: &str,
    inline: String,
    scope: &Scope<'_>,
) -> Result<String, String> {
    if !file.is_empty() {
        return of_file(family, name, file, scope);
    }
    match family == ScriptFamily::Jsr223 && inline.trim().is_empty() {
        true => Err(format!(
            "javax.script.ScriptException: Both script file and script text are empty for element:{name}"
        )),
        false => Ok(inline),
    }
}

fn of_file(
    family: ScriptFamily,
    name: &str,
    file: &str,
    scope: &Scope<'_>,
) -> Result<String, String> {
    let world = scope.host.world();
    let fault = match world.read_file(file) {
        Ok(bytes) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(fault) => fault,
    };
    let path = match file.starts_with('/') {
        true => file.to_owned(),
        false => format!("{}/{file}", world.plan_folder()),
    };
    Err(match family {
        ScriptFamily::Jsr223 => format!(
            "javax.script.ScriptException: Script file '{path}' is not a file for element: {name}"
        ),
        ScriptFamily::BeanShell => format!(
            "org.apache.jorphan.util.JMeterException: Error invoking bsh method: source\t{path} ({})",
            fault.why
        ),
        ScriptFamily::Bsf => format!("java.io.FileNotFoundException: {file} ({})", fault.why),
    })
}

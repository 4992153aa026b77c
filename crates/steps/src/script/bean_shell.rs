//! Additional names that BeanShell elements define for a script, and the names they read back.
//!
//! Must not know the language. Invariant: names set by a script still exist in the next run of its element,
//! unless they are reset.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_groovy::map::{Map, MapKind};
use loadline_groovy::value::{Element, Value};
use loadline_groovy::{Dialect, Script, print};

use super::ScriptRole;
use super::groovy::{Desk, told};
use super::kept::shown;
use super::value::ScriptValue;

/// Runs a script of an element; `space`: the element whose names are restored.
pub(super) fn run(
    desk: &mut Desk<'_>,
    (script, source): (&Script, &str),
    role: ScriptRole,
    space: Option<usize>,
) -> Result<ScriptValue, String> {
    desk.dialect = Dialect::BeanShell;
    let given: Vec<String> = desk.names.keys().cloned().collect();
    if let Some(space) = space {
        let mut names = desk.memory.kept.take_space(space);
        names.extend(std::mem::take(&mut desk.names));
        desk.names = names;
    }
    let arguments = desk.names.get("args").cloned().unwrap_or(Value::Null);
    let bsh = Map::new(MapKind::Linked);
    bsh.put(&Value::text("args"), arguments);
    desk.names.insert("bsh".to_owned(), Value::Map(bsh));
    give(desk, role);
    let outcome = desk.run(script).map_err(|told| {
        format!(
            "Sourced file: inline evaluation of: ``{}''{told}",
            shown(source)
        )
    });
    take(desk, role);
    if let Some(space) = space {
        let mut names: HashMap<String, Value> = std::mem::take(&mut desk.names);
        names.retain(|name, _| !given.contains(name));
        desk.memory.kept.keep_space(space, names);
    }
    outcome.map(|value| told(&value))
}

fn give(desk: &mut Desk<'_>, role: ScriptRole) {
    let mut set = |name: &str, value: Value| {
        desk.names.insert(name.to_owned(), value);
    };
    match role {
        ScriptRole::Sampler => {
            set("ResponseCode", Value::text("200"));
            set("ResponseMessage", Value::text("OK"));
            set("IsSuccess", Value::Truth(true));
        }
        ScriptRole::Assertion => {
            set("Failure", Value::Truth(false));
            set("FailureMessage", Value::text(""));
            let Some(sample) = desk.context.previous.as_ref().map(Arc::clone) else {
                return;
            };
            let response = desk
                .names
                .get("SampleResult")
                .cloned()
                .unwrap_or(Value::Null);
            let values = [
                ("Response", response),
                ("ResponseData", Value::bytes(&sample.data)),
                ("ResponseCode", Value::text(sample.code.as_str())),
                ("ResponseMessage", Value::text(sample.message.as_str())),
                (
                    "ResponseHeaders",
                    Value::text(sample.response_headers.as_str()),
                ),
                (
                    "RequestHeaders",
                    Value::text(sample.request_headers.as_str()),
                ),
                ("SampleLabel", Value::text(sample.label.as_str())),
                ("SamplerData", Value::text(sample.request_data().as_ref())),
                ("Successful", Value::Truth(sample.success)),
            ];
            for (name, value) in values {
                desk.names.insert(name.to_owned(), value);
            }
        }
        ScriptRole::PostProcessor => {
            let data = desk
                .context
                .previous
                .as_ref()
                .map(|sample| Value::bytes(&sample.data));
            let data = data.unwrap_or_else(|| Value::array(Element::Byte, Vec::new()));
            desk.names.insert("data".to_owned(), data);
        }
        _ => {}
    }
}

fn take(desk: &mut Desk<'_>, role: ScriptRole) {
    let text = |name: &str| {
        desk.names
            .get(name)
            .map(print::java_text)
            .unwrap_or_default()
    };
    match role {
        ScriptRole::Sampler => {
            let (code, message) = (text("ResponseCode"), text("ResponseMessage"));
            let success = text("IsSuccess").eq_ignore_ascii_case("true");
            if let Some(sample) = desk.context.own.as_deref_mut() {
                sample.code = code;
                sample.message = message;
                sample.success = success;
            }
        }
        ScriptRole::Assertion => {
            desk.context.finding.failure = text("Failure").eq_ignore_ascii_case("true");
            desk.context.finding.message = text("FailureMessage");
        }
        _ => {}
    }
}

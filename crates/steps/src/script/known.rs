//! Methods of the host's objects available to scripts in Groovy and BeanShell, so that missing ones are
//! reported before a run.
//!
//! Must not know threads. Invariant: every listed method exists.

use loadline_groovy::{Dialect, Fault, Script};

use super::sample::OF_SAMPLES;
use super::value::ScriptObject;
use super::{ScriptLanguage, elements, objects, sampler};

/// Missing methods that a script uses.
///
/// # Errors
/// It cannot be compiled; values known only at run time may make it valid.
pub fn unsupported(source: &str, language: ScriptLanguage) -> Result<Vec<String>, String> {
    let dialect = match language {
        ScriptLanguage::JavaScript => return Ok(super::unknown_calls(source)),
        ScriptLanguage::Groovy => Dialect::Groovy,
        ScriptLanguage::BeanShell => Dialect::BeanShell,
    };
    match Script::read(source, dialect) {
        Ok(script) => Ok(script.unsupported(&has)),
        Err(Fault::Unsupported(what)) => Ok(vec![what]),
        Err(Fault::Malformed(why)) => Err(why),
    }
}

/// Whether the object with a name has a method; `None`: there is no such object.
fn has(name: &str, method: &str) -> Option<bool> {
    let of = |object: ScriptObject| method.is_empty() || knows(object, method);
    match name {
        "*" => Some(
            super::value::OBJECTS
                .iter()
                .any(|object| knows(*object, method))
                || elements::has(None, method)
                || matches!(method, "askThreadsToStop" | "stopTest"),
        ),
        "sampleResult" => Some(of(ScriptObject::Previous)),
        "Label" | "FileName" | "Parameters" | "args" | "threadName" | "bsh" | "ResponseCode"
        | "ResponseMessage" | "IsSuccess" | "Failure" | "FailureMessage" | "ResponseData"
        | "ResponseHeaders" | "RequestHeaders" | "SampleLabel" | "SamplerData" | "Successful"
        | "data" => method.is_empty().then_some(true),
        "Response" => Some(of(ScriptObject::Previous)),
        name => ScriptObject::named(name)
            .filter(|_| !matches!(name, "thread" | "threadGroup"))
            .map(of),
    }
}

fn knows(object: ScriptObject, method: &str) -> bool {
    let more: &[&str] = match object {
        ScriptObject::Variables => &["entrySet", "getIterator", "putAll"],
        ScriptObject::Properties => &["getAt", "putAt", "getOrDefault", "putAll", "remove"],
        ScriptObject::Log => &[
            "isDebugEnabled",
            "isInfoEnabled",
            "isWarnEnabled",
            "isTraceEnabled",
            "isErrorEnabled",
        ],
        ScriptObject::Own | ScriptObject::Previous => OF_SAMPLES,
        ScriptObject::Context => &[
            "getEngine",
            "setRestartNextLoop",
            "setStartNextThreadLoop",
            "setTestLogicalAction",
        ],
        ScriptObject::Thread => &["stop"],
        ScriptObject::Group => &["getNumThreads"],
        ScriptObject::Sampler if sampler::has(method) => return true,
        _ => &[],
    };
    more.contains(&method) || objects::has(object, method)
}

//! What scripts in Groovy and BeanShell can ask the host's objects for, so that what is not there is named before they run.
//!
//! Must not know threads. Invariant: what is listed is there.

use loadline_groovy::{Dialect, Fault, Script};

use super::sample::OF_SAMPLES;
use super::value::ScriptObject;
use super::{ScriptLanguage, elements, objects, sampler};

/// What a script asks for that is not there.
///
/// # Errors
/// Why it cannot be read; what of it is known only when it runs may mend that.
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

/// Whether what is bound to a name has a method; `None`: nothing is bound to it.
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

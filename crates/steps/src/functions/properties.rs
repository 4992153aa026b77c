//! Functions that access properties, the environment and the log.
//!
//! Must not know where properties come from. Invariant: unset and empty properties are distinguished.

use super::{Call, Outcome};
use crate::host::LogLevel;
use crate::scope::Scope;

/// JMeter's logger class for `__log`.
const LOG_CLASS: &str = "o.a.j.f.LogFunction";

/// JMeter's logger class for `__logn`.
const LOGN_CLASS: &str = "o.a.j.f.LogFunction2";

/// `__P(name[,default])`: the default is `1`.
pub(super) fn property_or_one(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let default = call.optional(1, scope);
    push_property(&name, default.as_deref().unwrap_or("1"), scope, out);
    Ok(())
}

/// `__property(name[,variable][,default])`: the default is the name.
pub(super) fn property(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let default = call.optional(2, scope);
    push_property(&name, default.as_deref().unwrap_or(&name), scope, out);
    Ok(())
}

/// Appends a property's trimmed value, or the default.
fn push_property(name: &str, default: &str, scope: &Scope<'_>, out: &mut String) {
    let value = scope.host.world().property(name);
    let value = value.as_deref().unwrap_or(default);
    out.push_str(value.trim_matches(|one| one <= ' '));
}

/// `__setProperty(name,value[,true])`: empty, or the previous value.
pub(super) fn set_property(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let value = call.argument(1, scope);
    let wanted = call.argument(2, scope).eq_ignore_ascii_case("true");
    let before = scope.host.world().set_property(&name, &value);
    if wanted {
        out.push_str(before.as_deref().unwrap_or("null"));
    }
    Ok(())
}

/// `__isPropDefined(name)`.
pub(super) fn is_property_defined(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let defined = scope.host.world().property(&name).is_some();
    out.push_str(if defined { "true" } else { "false" });
    Ok(())
}

/// `__env(name[,variable][,default])`: the default is the name.
pub(super) fn environment(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let default = call.optional(2, scope);
    match scope.host.world().environment(&name) {
        Some(value) => out.push_str(&value),
        None => out.push_str(default.as_deref().unwrap_or(&name)),
    }
    Ok(())
}

/// `__log(text[,level][,exception][,comment])`: the text.
pub(super) fn log(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let text = call.argument(0, scope);
    write_line(LOG_CLASS, call, scope, &text);
    out.push_str(&text);
    Ok(())
}

/// `__logn(text[,level][,exception])`: empty.
pub(super) fn log_nothing(call: &Call, scope: &mut Scope<'_>, _: &mut String) -> Outcome {
    let text = call.argument(0, scope);
    write_line(LOGN_CLASS, call, scope, &text);
    Ok(())
}

/// Writes a line in the format of `__log`: thread, comment, text, and an exception with the text of its
/// argument. `OUT` is standard output; an invalid level writes nothing.
fn write_line(class: &str, call: &Call, scope: &mut Scope<'_>, text: &str) {
    let level = call.argument(1, scope).trim().to_ascii_uppercase();
    let exception = call.argument(2, scope);
    let comment = call.optional(3, scope).filter(|given| !given.is_empty());
    let thread = &scope.thread.name;
    if level == "OUT" {
        let comment = comment.as_deref().unwrap_or(": ");
        let mut line = format!("Log: {thread} {comment}{text}");
        if !exception.is_empty() {
            line.push_str(" java.lang.Throwable: ");
            line.push_str(&exception);
        }
        line.push('\n');
        scope.host.world().print(class, &line);
        return;
    }
    let level = match level.as_str() {
        "ERROR" | "ERR" => LogLevel::Error,
        "WARN" => LogLevel::Warn,
        "DEBUG" | "TRACE" => LogLevel::Debug,
        "INFO" | "" => LogLevel::Info,
        _ => return,
    };
    let comment = comment.as_deref().unwrap_or(" : ");
    let mut line = format!("{thread} {comment} {text}");
    if !exception.is_empty() {
        line.push_str("\njava.lang.Throwable: ");
        line.push_str(&exception);
    }
    scope.host.world().log(level, class, &line);
}

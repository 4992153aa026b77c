//! Exceptions of a script as text.
//!
//! Must not know where it is shown. Invariant: a thrown value of any kind has a text, and no exception thrown
//! while formatting it goes unnoticed.

use std::ffi::c_int;
use std::fmt;
use std::io;

use rquickjs::function::This;
use rquickjs::{Coerced, Ctx, Error, Function, Value, qjs};

use super::state::state;

/// Why a task failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The script threw.
    Thrown,
    /// A promise was rejected without a handler.
    Rejected,
    /// The return value of `handleSummary()` is not valid output.
    BadOutput,
    /// The return value of `setup()`, or the exported options, cannot be converted to JSON.
    BadData,
    /// The script called `exec.test.abort()`.
    Aborted,
    /// The virtual user has reached its memory limit.
    OutOfMemory,
}

/// An exception of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFailure {
    /// The kind.
    pub kind: FailureKind,
    /// Name and message, as in `Error: x`.
    pub message: String,
    /// Stack trace: one line per call, each `\tat name (file:line:column)\n`; empty if unknown.
    pub trace: String,
}

impl ScriptFailure {
    pub(crate) fn thrown(message: impl Into<String>) -> ScriptFailure {
        ScriptFailure {
            kind: FailureKind::Thrown,
            message: message.into(),
            trace: String::new(),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "an adapter for map_err")]
    pub(crate) fn no_stack(error: io::Error) -> ScriptFailure {
        ScriptFailure {
            kind: FailureKind::OutOfMemory,
            message: format!("no memory for a virtual user's stack: {error}"),
            trace: String::new(),
        }
    }
}

/// Message and trace, as k6 logs them.
impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.trace.is_empty() {
            write!(f, "\n{}", self.trace)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptFailure {}

/// Bytes beyond a virtual user's limit for reading its failure.
const TELLING_BYTES: usize = 64 * 1024;

/// Interprets an error from a native or from the script.
pub(crate) fn failure_of(ctx: &Ctx<'_>, error: &Error) -> ScriptFailure {
    if !error.is_exception() {
        return ScriptFailure::thrown(error.to_string());
    }
    let thrown = ctx.catch();
    let thrown_at = take_throw_trace(ctx);
    if let Some(message) = state(ctx).fatal.get() {
        return ScriptFailure {
            kind: FailureKind::Aborted,
            message: message.clone(),
            trace: String::new(),
        };
    }
    // Reporting a full heap takes a little memory too.
    let memory_limit = state(ctx).program.settings.memory_limit;
    if let Some(limit) = memory_limit {
        limit_memory(ctx, limit.saturating_add(TELLING_BYTES));
    }
    let mut failure = failure_of_value(ctx, &thrown);
    if failure.kind == FailureKind::Thrown
        && let Some(text) = own_text(ctx, &thrown)
    {
        failure.message = text;
    }
    if let Some(limit) = memory_limit {
        limit_memory(ctx, limit);
    }
    if failure.trace.is_empty() {
        failure.trace = trace_of(ctx, &thrown_at);
    }
    failure
}

fn limit_memory(ctx: &Ctx<'_>, bytes: usize) {
    // SAFETY: the context is alive, and so is its runtime.
    unsafe { qjs::JS_SetMemoryLimit(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), bytes as _) };
}

/// Stack trace of the last throw: a thrown value is not always an error with its own trace.
fn take_throw_trace(ctx: &Ctx<'_>) -> String {
    const ERROR_BACK_TRACE: c_int = 2;
    unsafe extern "C" {
        fn js_std_cmd(command: c_int, ...) -> usize;
    }
    let mut trace = qjs::JS_UNDEFINED;
    // SAFETY: the command takes a context and a place for a value, whose ownership is passed on.
    let trace = unsafe {
        js_std_cmd(ERROR_BACK_TRACE, ctx.as_raw().as_ptr(), &raw mut trace);
        Value::from_raw(ctx.clone(), trace)
    };
    let trace = trace.as_string().and_then(|trace| trace.to_string().ok());
    trace.unwrap_or_default()
}

/// The stack frames of an error in the engine's format, even if the script changed its property `stack`; empty
/// for anything else.
pub(crate) fn frames_of(ctx: &Ctx<'_>, error: &Value<'_>) -> String {
    // SAFETY: both are of this context; the result is owned.
    let frames = unsafe {
        let frames = qjs::JS_ErrorFrames(ctx.as_raw().as_ptr(), error.as_raw());
        Value::from_raw(ctx.clone(), frames)
    };
    let frames = frames.as_string().and_then(|text| text.to_string().ok());
    frames.unwrap_or_default()
}

/// Interprets a thrown value, or the reason of a rejection.
pub(crate) fn failure_of_value(ctx: &Ctx<'_>, thrown: &Value<'_>) -> ScriptFailure {
    let Some(object) = thrown.as_object().filter(|object| object.is_error()) else {
        return ScriptFailure::thrown(text_of(ctx, thrown));
    };
    let field = |name: &str| -> Option<String> { object.get::<_, Option<String>>(name).ok()? };
    let name = field("name").unwrap_or_else(|| "Error".to_owned());
    let message = field("message").unwrap_or_default();
    let kind = if name == "InternalError" && message == "out of memory" {
        FailureKind::OutOfMemory
    } else {
        FailureKind::Thrown
    };
    let text = match (&*name, &*message) {
        // Rejections by natives are reported by their text alone.
        ("", _) => return ScriptFailure::thrown(message),
        (_, "") => name,
        _ => format!("{name}: {message}"),
    };
    ScriptFailure {
        kind,
        message: text,
        trace: trace_of(ctx, &frames_of(ctx, thrown)),
    }
}

/// The text of an error that the script threw, which may say itself how it is told, unlike the reason of a rejection; `None`:
/// it is none, or fails in it.
fn own_text(ctx: &Ctx<'_>, thrown: &Value<'_>) -> Option<String> {
    let error = thrown.as_object().filter(|object| object.is_error())?;
    let text = error.get::<_, Function<'_>>("toString").and_then(|told| {
        let text: Coerced<String> = told.call((This(error.clone()),))?;
        Ok(text.0)
    });
    if text.is_err() {
        drop(ctx.catch());
    }
    text.ok()
}

/// A value other than an error, as text.
fn text_of(ctx: &Ctx<'_>, value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return text.to_string().unwrap_or_default();
    }
    if let Some(symbol) = value.as_symbol() {
        return symbol
            .description()
            .map_or_else(|_| String::new(), |text| text_of(ctx, &text));
    }
    let coerced = value.get::<Coerced<String>>();
    match coerced {
        Ok(text) => text.0,
        Err(_) => {
            drop(ctx.catch());
            "[object Object]".to_owned()
        }
    }
}

/// Frames in the engine's format, as scripts and logs show them; calls of built-in modules, which have no address, are
/// omitted.
fn trace_of(ctx: &Ctx<'_>, frames: &str) -> String {
    let Ok(frames) = rquickjs::String::from_str(ctx.clone(), frames) else {
        drop(ctx.catch());
        return String::new();
    };
    // SAFETY: the text is of this context; the result is owned.
    let shown = unsafe {
        let shown = qjs::JS_ShownFrames(ctx.as_raw().as_ptr(), frames.as_raw());
        Value::from_raw(ctx.clone(), shown)
    };
    let shown = shown.as_string().and_then(|text| text.to_string().ok());
    shown.unwrap_or_default()
}

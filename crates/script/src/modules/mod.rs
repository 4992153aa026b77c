//! The modules that scripts can import without a file: one folder or file each.
//!
//! A new module is a row in [`BUILTINS`]; a global of the web a row in [`LAZY_GLOBALS`]. Must not
//! know how modules are loaded. Invariant: a name is in one list at most.

pub(crate) mod bytes;
mod crypto;
pub(crate) mod data;
mod encoding;
mod execution;
mod html;
mod http;
mod k6;
mod metrics;
pub(crate) mod tags;
mod text_coding;
mod web;
mod web_basics;
mod webcrypto;

use rquickjs::{Ctx, Object, Result};

use crate::globals;
use crate::natives::{Body, Builtin};

/// Every built-in module.
static BUILTINS: &[Builtin] = &[
    k6::MODULE,
    crypto::MODULE,
    crypto::x509::MODULE,
    data::MODULE,
    encoding::MODULE,
    http::MODULE,
    execution::MODULE,
    html::ELEMENTS,
    html::MODULE,
    metrics::MODULE,
    text_coding::MODULE,
    web::BODIES,
    web::EVENTS,
    web::FETCH,
    web::STREAMS,
    web::URL,
    web_basics::MODULE,
    webcrypto::MODULE,
    Builtin {
        name: "k6/timers",
        body: Body::Natives(&["setTimeout", "clearTimeout", "setInterval", "clearInterval"]),
        natives: globals::timer_natives,
    },
];

/// Globals that are made at first use: name, and the module whose export of that name they are.
pub(crate) const LAZY_GLOBALS: &[(&str, &str)] = &[
    ("AbortController", "loadline:web/events"),
    ("AbortSignal", "loadline:web/events"),
    ("Blob", "loadline:web/bodies"),
    ("Event", "loadline:web/events"),
    ("EventTarget", "loadline:web/events"),
    ("File", "loadline:web/bodies"),
    ("FormData", "loadline:web/bodies"),
    ("Headers", "loadline:web/bodies"),
    ("ReadableStream", "loadline:web/streams"),
    ("Request", "loadline:web/bodies"),
    ("Response", "loadline:web/bodies"),
    ("TextDecoder", "loadline:web/text-coding"),
    ("TextEncoder", "loadline:web/text-coding"),
    ("URL", "loadline:web/url"),
    ("URLSearchParams", "loadline:web/url"),
    ("atob", "loadline:web/basics"),
    ("btoa", "loadline:web/basics"),
    ("crypto", "loadline:web/crypto"),
    ("fetch", "loadline:web/fetch"),
    ("performance", "loadline:web/basics"),
    ("queueMicrotask", "loadline:web/basics"),
    ("structuredClone", "loadline:web/basics"),
];

/// The built-in module of a name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Why a module will never be there; `None` when nothing is known against it.
pub(crate) fn refusal(name: &str) -> Option<String> {
    let is_within = |folder: &str| name == folder || name.starts_with(&format!("{folder}/"));
    if is_within("k6/browser") || is_within("k6/experimental/browser") {
        return Some(format!(
            "{name} is not supported: loadline drives no browser; remove the import"
        ));
    }
    if is_within("k6/x") {
        return Some(format!(
            "{name} is not supported: k6's extensions are Go code; remove the import"
        ));
    }
    if name == "k6" || name.starts_with("k6/") {
        return Some(format!("{name} is not supported: there is no such module here"));
    }
    None
}

/// What `import.meta` of a script's own file holds.
pub(crate) fn describe_file<'js>(ctx: &Ctx<'js>, meta: &Object<'js>, name: &str) -> Result<()> {
    globals::describe_file(ctx, meta, name)
}

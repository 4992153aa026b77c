//! The modules that scripts can import without a file: one folder or file each.
//!
//! A new module is a row in [`BUILTINS`]; a global of the web a row in [`LAZY_GLOBALS`]. Must not know how
//! modules are loaded. Invariant: a name is in at most one list.

pub(crate) mod bytes;
mod crypto;
mod csv;
pub(crate) mod data;
mod encoding;
mod execution;
mod files;
pub(crate) mod go_values;
mod held;
mod html;
mod http;
mod k6;
mod metrics;
mod secrets;
pub(crate) mod tags;
mod text_coding;
mod web;
mod web_basics;
mod webcrypto;

use rquickjs::{Object, Result};

use crate::globals;
use crate::go_error;
use crate::lazy::Lazy;
use crate::natives::{Body, Builtin};

pub(crate) use http::is_response;

/// Every built-in module.
static BUILTINS: &[Builtin] = &[
    go_error::MODULE,
    k6::MODULE,
    crypto::MODULE,
    crypto::x509::MODULE,
    csv::MODULE,
    data::MODULE,
    data::VIEW,
    encoding::MODULE,
    http::MODULE,
    execution::MODULE,
    files::FILES,
    files::FS,
    html::ELEMENTS,
    html::MODULE,
    metrics::MODULE,
    secrets::MODULE,
    text_coding::MODULE,
    web::BODIES,
    web::EVENTS,
    web::FETCH,
    web::K6_STREAMS,
    web::STREAMS,
    web::URL,
    web::WRITABLE,
    web_basics::MODULE,
    webcrypto::MODULE,
    Builtin {
        name: "k6/timers",
        body: Body::Natives(globals::TIMERS),
    },
];

/// Globals that are exports of built-in modules: created from the named module.
pub(crate) const LAZY_GLOBALS: &[Lazy] = &[
    Lazy::new("AbortController", web_export::events),
    Lazy::new("AbortSignal", web_export::events),
    Lazy::new("Blob", web_export::bodies),
    Lazy::new("Event", web_export::events),
    Lazy::new("EventTarget", web_export::events),
    Lazy::new("File", web_export::bodies),
    Lazy::new("FormData", web_export::bodies),
    Lazy::new("GoError", web_export::go_error),
    Lazy::new("Headers", web_export::bodies),
    Lazy::new("ReadableStream", web_export::streams),
    Lazy::new("Request", web_export::bodies),
    Lazy::new("Response", web_export::bodies),
    Lazy::new("TextDecoder", web_export::text_coding),
    Lazy::new("TextEncoder", web_export::text_coding),
    Lazy::new("URL", web_export::url),
    Lazy::new("URLSearchParams", web_export::url),
    Lazy::new("atob", web_export::basics),
    Lazy::new("btoa", web_export::basics),
    Lazy::new("crypto", web_export::crypto),
    Lazy::new("fetch", web_export::fetch),
    Lazy::new("performance", web_export::basics),
    Lazy::new("queueMicrotask", web_export::basics),
    Lazy::new("structuredClone", web_export::basics),
];

/// Exports of built-in modules that scripts cannot import.
mod web_export {
    use rquickjs::{Ctx, Object, Result, Value};

    use crate::globals::builtin_namespace;

    macro_rules! exports_of {
        ($($module:ident = $name:literal),+ $(,)?) => {$(
            pub(super) fn $module<'js>(
                ctx: &Ctx<'js>,
                _: &Object<'js>,
                name: &'static str,
            ) -> Result<Value<'js>> {
                builtin_namespace(ctx, $name)?.get(name)
            }
        )+};
    }

    exports_of! {
        basics = "loadline:web/basics",
        bodies = "loadline:web/bodies",
        crypto = "loadline:web/crypto",
        events = "loadline:web/events",
        fetch = "loadline:web/fetch",
        go_error = "loadline:go-error",
        streams = "loadline:web/streams",
        text_coding = "loadline:web/text-coding",
        url = "loadline:web/url",
    }
}

/// The built-in module with a name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Whether k6 has a built-in module with this name.
pub(crate) fn is_of_k6(name: &str) -> bool {
    find(name).is_some()
        || matches!(name, "k6/browser" | "k6/experimental/browser")
        || REFUSED.iter().any(|(refused, _)| *refused == name)
}

/// Why a module is unavailable; `None` if nothing is known about it.
pub(crate) fn refusal(name: &str) -> Option<String> {
    let is_within = |folder: &str| name == folder || name.starts_with(&format!("{folder}/"));
    if is_within("k6/browser") || is_within("k6/experimental/browser") {
        return Some(format!(
            "{name} is not supported: loadline does not drive a browser; remove the import"
        ));
    }
    if is_within("k6/x") {
        return Some(format!(
            "{name} is not supported: k6's extensions are Go code; remove the import"
        ));
    }
    let told = REFUSED.iter().find(|(refused, _)| *refused == name);
    let why = told.map(|(_, why)| *why);
    is_within("k6").then(|| {
        let why = why.unwrap_or("there is no such module");
        format!("{name} is not supported: {why}")
    })
}

/// Modules that k6 has or had, with alternatives.
const REFUSED: &[(&str, &str)] = &[
    ("k6/net/grpc", "loadline does not speak gRPC yet"),
    ("k6/ws", "loadline does not speak WebSocket yet"),
    ("k6/websockets", "loadline does not speak WebSocket yet"),
    (
        "k6/experimental/websockets",
        "loadline does not speak WebSocket yet",
    ),
    (
        "k6/experimental/grpc",
        "k6 has it as k6/net/grpc, and loadline does not speak gRPC yet",
    ),
    (
        "k6/experimental/redis",
        "k6 has it as k6/x/redis, an extension; remove the import",
    ),
    (
        "k6/experimental/timers",
        "its functions are globals now; remove the import, or import k6/timers",
    ),
    (
        "k6/experimental/tracing",
        "k6 has removed it; import https://jslib.k6.io/http-instrumentation-tempo instead",
    ),
    (
        "k6/experimental/webcrypto",
        "it is the global crypto now; remove the import",
    ),
];

/// Fills `import.meta` of a script's own file.
pub(crate) fn describe_file(meta: &Object<'_>, name: &str) -> Result<()> {
    globals::describe_file(meta, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_k6_has_and_we_have_not_is_refused_by_name() {
        for (name, _) in REFUSED {
            assert!(find(name).is_none(), "{name} is there");
        }
        let others = [
            "k6/browser",
            "k6/experimental/browser",
            "k6/x/redis",
            "k6/nope",
        ];
        for name in REFUSED.iter().map(|(name, _)| *name).chain(others) {
            let why = refusal(name).unwrap_or_default();
            assert!(
                why.starts_with(&format!("{name} is not supported: ")),
                "{why}"
            );
        }
        assert_eq!(refusal("k6x"), None);
        assert_eq!(refusal("./k6/ws"), None);
    }
}

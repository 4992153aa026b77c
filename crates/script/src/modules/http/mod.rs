//! `k6/http`: the HTTP client of scripts.
//!
//! The script's arguments ([`request`]) become a [`call::Call`]; an [`exchange::Exchange`] takes it through
//! redirects and rounds of authentication, hop by hop; the outcome is shown as a [`response::Response`]. Must
//! not know sockets. Invariant: every hop is one sample.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod answer;
mod auth;
mod batch;
mod beside;
mod body;
mod call;
mod codings;
mod cookies;
mod debug;
mod error;
mod exchange;
mod expected;
mod go_value;
mod headers;
mod params;
mod request;
mod response;
mod sample;
#[cfg(test)]
mod tests;
pub(crate) mod url;
mod vu;

use std::sync::Arc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Exception, FromJs, IntoJs, Object, Promise, Result, Value};

use self::vu::client_state;
use crate::host::LogLevel;
use crate::lazy::{Lazy, go_name, native};
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) use answer::Facts;
pub(super) use beside::send_beside;
pub(super) use request::Arguments;
pub(crate) use response::{is_response, name_of_request};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/http",
    body: Body::Natives(ROWS),
};

/// All exports, in k6's order.
const ROWS: &[Lazy] = &[
    Lazy::new("TLS_1_0", constant),
    Lazy::new("TLS_1_1", constant),
    Lazy::new("TLS_1_2", constant),
    Lazy::new("TLS_1_3", constant),
    Lazy::new("OCSP_STATUS_GOOD", constant),
    Lazy::new("OCSP_STATUS_REVOKED", constant),
    Lazy::new("OCSP_STATUS_SERVER_FAILED", constant),
    Lazy::new("OCSP_STATUS_UNKNOWN", constant),
    Lazy::new("OCSP_REASON_UNSPECIFIED", constant),
    Lazy::new("OCSP_REASON_KEY_COMPROMISE", constant),
    Lazy::new("OCSP_REASON_CA_COMPROMISE", constant),
    Lazy::new("OCSP_REASON_AFFILIATION_CHANGED", constant),
    Lazy::new("OCSP_REASON_SUPERSEDED", constant),
    Lazy::new("OCSP_REASON_CESSATION_OF_OPERATION", constant),
    Lazy::new("OCSP_REASON_CERTIFICATE_HOLD", constant),
    Lazy::new("OCSP_REASON_REMOVE_FROM_CRL", constant),
    Lazy::new("OCSP_REASON_PRIVILEGE_WITHDRAWN", constant),
    Lazy::new("OCSP_REASON_AA_COMPROMISE", constant),
    Lazy::new("url", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*ModuleInstance).URL-fm"),
            url_template,
        )
    }),
    Lazy::new("CookieJar", |ctx, _, _| cookies::class::constructor(ctx)),
    Lazy::new("cookieJar", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*ModuleInstance).getVUCookieJar-fm"),
            cookies::class::cookie_jar,
        )
    }),
    Lazy::new("file", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*ModuleInstance).file-fm"),
            body::file,
        )
    }),
    Lazy::new("get", |ctx, _, _| {
        native(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.func2"
            ),
            get,
        )
    }),
    Lazy::new("head", |ctx, _, _| {
        native(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.func3"
            ),
            head,
        )
    }),
    Lazy::new("post", |ctx, _, _| {
        with_body(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.(*Client).getMethodClosure.func4"
            ),
            "POST",
        )
    }),
    Lazy::new("put", |ctx, _, _| {
        with_body(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.(*Client).getMethodClosure.func5"
            ),
            "PUT",
        )
    }),
    Lazy::new("patch", |ctx, _, _| {
        with_body(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.(*Client).getMethodClosure.func6"
            ),
            "PATCH",
        )
    }),
    Lazy::new("del", |ctx, _, _| {
        with_body(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.(*Client).getMethodClosure.func7"
            ),
            "DELETE",
        )
    }),
    Lazy::new("options", |ctx, _, _| {
        with_body(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*RootModule).NewModuleInstance.(*Client).getMethodClosure.func8"
            ),
            "OPTIONS",
        )
    }),
    Lazy::new("request", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*Client).Request-fm"),
            any_method,
        )
    }),
    Lazy::new("asyncRequest", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*Client).asyncRequest-fm"),
            async_request,
        )
    }),
    Lazy::new("batch", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*Client).Batch-fm"),
            batch::batch,
        )
    }),
    Lazy::new("setResponseCallback", |ctx, _, _| {
        native(
            ctx,
            go_name!("js/modules/k6/http", "(*Client).SetResponseCallback-fm"),
            expected::set_response_callback,
        )
    }),
    Lazy::new("expectedStatuses", |ctx, _, _| {
        native(
            ctx,
            go_name!(
                "js/modules/k6/http",
                "(*ModuleInstance).expectedStatuses-fm"
            ),
            expected::expected_statuses,
        )
    }),
];

fn constant<'js>(ctx: &Ctx<'js>, _: &Object<'js>, name: &'static str) -> Result<Value<'js>> {
    constant_value(name).into_js(ctx)
}

/// The value of a constant: `tls1.2` for `TLS_1_2`, `key_compromise` for `OCSP_REASON_KEY_COMPROMISE`.
fn constant_value(name: &str) -> String {
    if let Some(version) = name.strip_prefix("TLS_") {
        return format!("tls{}", version.replace('_', "."));
    }
    let name = name
        .strip_prefix("OCSP_STATUS_")
        .or_else(|| name.strip_prefix("OCSP_REASON_"));
    name.unwrap_or_default().to_ascii_lowercase()
}

/// A function of URL and params, which warns about further arguments.
fn without_body<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    method: Arc<str>,
    url: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
    more: &[Value<'js>],
) -> Result<Value<'js>> {
    if !more.is_empty() {
        let message = format!(
            "http.{name} only accepts a url and a params argument (2 arguments), but {} were given",
            more.len() + 2
        );
        state(ctx).log(LogLevel::Warning, &message, &[]);
    }
    let arguments = Arguments {
        method,
        url: url.0,
        body: None,
        params: params.0,
    };
    request::blocking(ctx, &arguments)
}

fn get<'js>(
    ctx: Ctx<'js>,
    url: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
    more: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    let method = Arc::clone(&client_state(state(&ctx)).names.get);
    without_body(&ctx, "get", method, url, params, &more.0)
}

fn head<'js>(
    ctx: Ctx<'js>,
    url: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
    more: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    without_body(&ctx, "head", Arc::from("HEAD"), url, params, &more.0)
}

/// A function of URL, body and params.
fn with_body<'js>(ctx: &Ctx<'js>, name: &str, method: &'static str) -> Result<Value<'js>> {
    let method: Arc<str> = Arc::from(method);
    let send = move |ctx: Ctx<'js>,
                     url: Opt<Value<'js>>,
                     body: Opt<Value<'js>>,
                     params: Opt<Value<'js>>| {
        let arguments = Arguments {
            method: Arc::clone(&method),
            url: url.0,
            body: body.0,
            params: params.0,
        };
        request::blocking(&ctx, &arguments)
    };
    native(ctx, name, send)
}

fn arguments_of<'js>(
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Arguments<'js>> {
    let method = match method
        .0
        .filter(|method| !method.is_undefined() && !method.is_null())
    {
        Some(method) => method.get::<Coerced<String>>()?.0,
        None => String::new(),
    };
    Ok(Arguments {
        method: method.into(),
        url: url.0,
        body: body.0,
        params: params.0,
    })
}

/// `request(method, url, body, params)`
fn any_method<'js>(
    ctx: Ctx<'js>,
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    request::blocking(&ctx, &arguments_of(method, url, body, params)?)
}

/// `asyncRequest(method, url, body, params)`: a promise.
fn async_request<'js>(
    ctx: Ctx<'js>,
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let prepared = request::prepare(&ctx, &arguments_of(method, url, body, params)?)?;
    request::promised(&ctx, prepared)
}

/// The literal parts of a template; for other values k6 has its own error.
fn template_parts<'js>(ctx: &Ctx<'js>, parts: Option<Value<'js>>) -> Result<Vec<Coerced<String>>> {
    let Some(parts) = parts.filter(|parts| !parts.is_null() && !parts.is_undefined()) else {
        return Ok(Vec::new());
    };
    if parts.is_array() {
        return Vec::from_js(ctx, parts);
    }
    let is_object = parts.is_object();
    let shown = Coerced::<String>::from_js(ctx, parts)?.0;
    let why = match is_object {
        true => format!("cannot convert {shown} to []string: not an array or iterable"),
        false => format!("could not convert {shown} to []string"),
    };
    let message = format!("could not convert function call parameter 0: {why}");
    Err(Exception::throw_type(ctx, &message))
}

/// The template tag `url`: the placeholders' values are not part of the name.
fn url_template<'js>(
    ctx: Ctx<'js>,
    parts: Opt<Value<'js>>,
    values: Rest<Value<'js>>,
) -> Result<Object<'js>> {
    let parts = template_parts(&ctx, parts.0)?;
    let (mut url, mut name) = (String::new(), String::new());
    for (at, part) in parts.iter().enumerate() {
        url.push_str(&part.0);
        name.push_str(&part.0);
        if let Some(value) = values.0.get(at) {
            // As in k6, what is nothing leaves no word in the address.
            if !value.is_null() && !value.is_undefined() {
                url.push_str(&value.get::<Coerced<String>>()?.0);
            }
            name.push_str("${}");
        }
    }
    let clean_url = match url::Address::parse(&url) {
        Ok(address) => address.masked.to_string(),
        Err(_) => url.clone(),
    };
    let template = Object::new(ctx)?;
    template.set("name", name)?;
    template.set("url", url)?;
    template.set("clean_url", clean_url)?;
    Ok(template)
}

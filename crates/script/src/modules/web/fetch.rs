//! The native of `fetch`: sends a request concurrently with the script, and returns the outcome as plain data.
//!
//! Must not know what a `Response` is. Invariant: its promise settles once.

use std::sync::Arc;

use rquickjs::{Array, ArrayBuffer, Ctx, Exception, Object, Persistent, Promise, Result, Value};

use super::add;
use crate::modules::http::{Arguments, Facts, send_beside};

/// k6's error code for a request timeout.
const TIMEOUT: u16 = 1050;

pub(super) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    add(&natives, "send", send)?;
    Ok(natives)
}

/// `send(method, url, body, params, withCookies)`: a promise for the facts.
fn send<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: Value<'js>,
    body: Value<'js>,
    params: Value<'js>,
    with_cookies: bool,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(&ctx)?;
    let failed = Persistent::save(&ctx, reject.clone());
    let resolve = Persistent::save(&ctx, resolve);
    let settle = move |ctx: &Ctx<'_>, facts: Facts| -> Result<()> {
        match &facts.failure {
            Some(words) => {
                let error = failure(ctx, words, facts.error_code)?;
                failed.restore(ctx)?.call((error,))
            }
            None => resolve.restore(ctx)?.call((shown(ctx, facts)?,)),
        }
    };
    let arguments = Arguments {
        method: Arc::from(method),
        url: Some(url),
        body: Some(body),
        params: Some(params),
    };
    if let Err(words) = send_beside(&ctx, &arguments, with_cookies, Box::new(settle))? {
        reject.call::<_, ()>((failure(&ctx, &words, 0)?,))?;
    }
    Ok(promise)
}

/// A `TypeError`, as in the web standard; for a timeout a `TimeoutError`.
fn failure<'js>(ctx: &Ctx<'js>, words: &str, code: u16) -> Result<Value<'js>> {
    let error = Exception::throw_type(ctx, &format!("fetch failed: {words}"));
    let thrown = match error {
        rquickjs::Error::Exception => ctx.catch(),
        other => return Err(other),
    };
    if code == TIMEOUT
        && let Some(error) = thrown.as_object()
    {
        error.set("name", "TimeoutError")?;
    }
    Ok(thrown)
}

fn shown<'js>(ctx: &Ctx<'js>, mut facts: Facts) -> Result<Object<'js>> {
    let shown = Object::new(ctx.clone())?;
    shown.set("status", facts.status)?;
    shown.set("statusText", facts.reason.as_deref().unwrap_or_default())?;
    let url = facts.url();
    let without_fragment = url.split('#').next().unwrap_or_default();
    shown.set("url", without_fragment)?;
    let asked_first = facts.call.as_ref().map(|call| &call.address.text);
    let is_redirected = asked_first.is_some_and(|first| *first != url);
    shown.set("redirected", is_redirected)?;
    let headers = Array::new(ctx.clone())?;
    for (at, (name, value)) in facts.headers.iter().enumerate() {
        let pair = [
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(value),
        ];
        headers.set(at, pair.map(std::borrow::Cow::into_owned).to_vec())?;
    }
    shown.set("headers", headers)?;
    let body = match facts.body.take() {
        Some(body) if !matches!(facts.status, 101 | 103 | 204 | 205 | 304) => {
            ArrayBuffer::new(ctx.clone(), body)?.into_value()
        }
        _ => Value::new_null(ctx.clone()),
    };
    shown.set("body", body)?;
    Ok(shown)
}

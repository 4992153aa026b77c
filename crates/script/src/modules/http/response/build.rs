//! The fields of a response as script values.
//!
//! Must not keep them. Invariant: their names and order are k6's.

use rquickjs::{Array, ArrayBuffer, Ctx, IntoJs, Object, Result, Value};

use super::super::answer::Facts;
use super::super::call::Call;
use super::super::cookies::{append_pair, set_cookies};
use super::Field;
use crate::hop::{HopHeaders, HopTimes};
use crate::modules::bytes::{mended, text_of};
use crate::vu::state;

/// k6's value for a cookie without a date: Go's zero time in milliseconds, overflowed.
const NO_EXPIRY_MS: i64 = -6_795_364_578_871;

/// A field; the body, status and error code are handled elsewhere.
pub(super) fn field<'js>(ctx: &Ctx<'js>, facts: &Facts, field: Field) -> Result<Value<'js>> {
    match field {
        Field::RemoteIp => match facts.remote {
            Some(remote) => remote.ip().to_string().into_js(ctx),
            None => "".into_js(ctx),
        },
        Field::RemotePort => facts.remote.map_or(0, |remote| remote.port()).into_js(ctx),
        Field::Url => facts.url().as_ref().into_js(ctx),
        Field::StatusText => facts.status_text().into_js(ctx),
        Field::Proto => {
            let protocol = facts.protocol.filter(|_| facts.status != 0);
            protocol.map_or("", |protocol| protocol.name()).into_js(ctx)
        }
        Field::Headers => headers(ctx, facts).map(Object::into_value),
        Field::Cookies => cookies(ctx, &facts.headers).map(Object::into_value),
        Field::Timings => timings(ctx, &facts.times).map(Object::into_value),
        Field::TlsVersion => facts.tls.map_or("", |tls| tls.version).into_js(ctx),
        Field::TlsCipherSuite => facts.tls.map_or("", |tls| tls.cipher_suite).into_js(ctx),
        Field::Ocsp => ocsp(ctx, facts).map(Object::into_value),
        Field::Error => facts.error.as_str().into_js(ctx),
        Field::Request => match &facts.call {
            Some(call) => request(ctx, call).map(Object::into_value),
            None => Ok(Value::new_null(ctx.clone())),
        },
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// The body, moved out of the facts: long text is not kept twice.
pub(super) fn body<'js>(ctx: &Ctx<'js>, facts: &mut Facts) -> Result<Value<'js>> {
    let Some(bytes) = facts.body.take() else {
        // In k6 a request that was never built has Go's empty byte slice.
        return match facts.call {
            Some(_) => Ok(Value::new_null(ctx.clone())),
            None => Array::new(ctx.clone()).map(Array::into_value),
        };
    };
    if facts.is_binary {
        return ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value);
    }
    text_of(ctx, bytes.into())
}

fn headers<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in super::headers::shown(facts) {
        object.set(name, value)?;
    }
    Ok(object)
}

fn cookies<'js>(ctx: &Ctx<'js>, received: &HopHeaders) -> Result<Object<'js>> {
    let by_name = Object::new(ctx.clone())?;
    for cookie in set_cookies(received) {
        let shown = Object::new(ctx.clone())?;
        shown.set("name", cookie.name.as_str())?;
        shown.set("value", cookie.value)?;
        shown.set("domain", cookie.domain)?;
        shown.set("path", cookie.path)?;
        shown.set("http_only", cookie.http_only)?;
        shown.set("secure", cookie.secure)?;
        shown.set("max_age", cookie.max_age.unwrap_or(0) as f64)?;
        let expires_ms = cookie.expires_ms.unwrap_or(NO_EXPIRY_MS);
        shown.set("expires", expires_ms as f64)?;
        append(ctx, &by_name, &cookie.name, shown)?;
    }
    Ok(by_name)
}

/// Appends to the list under a name.
fn append<'js>(ctx: &Ctx<'js>, by_name: &Object<'js>, name: &str, item: Object<'js>) -> Result<()> {
    let list = match by_name.get::<_, Option<Array<'js>>>(name)? {
        Some(list) => list,
        None => {
            let list = Array::new(ctx.clone())?;
            by_name.set(name, list.clone())?;
            list
        }
    };
    list.set(list.len(), item)
}

fn timings<'js>(ctx: &Ctx<'js>, times: &HopTimes) -> Result<Object<'js>> {
    let timings = Object::new(ctx.clone())?;
    let parts = [
        ("duration", times.duration()),
        ("blocked", times.blocked),
        ("looking_up", 0),
        ("connecting", times.connecting),
        ("tls_handshaking", times.tls_handshaking),
        ("sending", times.sending),
        ("waiting", times.waiting),
        ("receiving", times.receiving),
    ];
    for (name, ns) in parts {
        timings.set(name, ns as f64 / 1e6)?;
    }
    Ok(timings)
}

fn ocsp<'js>(ctx: &Ctx<'js>, facts: &Facts) -> Result<Object<'js>> {
    let ocsp = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        ocsp.set(name, 0)?;
    }
    ocsp.set("revocation_reason", "")?;
    ocsp.set("status", if facts.tls.is_some() { "unknown" } else { "" })?;
    Ok(ocsp)
}

/// The request as first sent.
fn request<'js>(ctx: &Ctx<'js>, call: &Call) -> Result<Object<'js>> {
    let request = Object::new(ctx.clone())?;
    request.set("method", &*call.method)?;
    request.set("url", &*call.address.text)?;
    request.set("headers", request_headers(ctx, call)?)?;
    let body = call
        .body
        .as_ref()
        .map(|body| body.shown.as_ref().unwrap_or(&body.sent));
    request.set("body", body.map_or_else(String::new, |body| mended(body)))?;
    let cookies = Object::new(ctx.clone())?;
    let written = call
        .cookie_header
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    for (name, value) in written {
        append(ctx, &cookies, name, cookie(ctx, name, value)?)?;
    }
    for sent in &call.sent_cookies {
        append(
            ctx,
            &cookies,
            &sent.name,
            cookie(ctx, &sent.name, &sent.value)?,
        )?;
    }
    request.set("cookies", cookies)?;
    Ok(request)
}

fn cookie<'js>(ctx: &Ctx<'js>, name: &str, value: &str) -> Result<Object<'js>> {
    let cookie = Object::new(ctx.clone())?;
    cookie.set("name", name)?;
    cookie.set("value", value)?;
    cookie.set("replace", false)?;
    Ok(cookie)
}

fn request_headers<'js>(ctx: &Ctx<'js>, call: &Call) -> Result<Object<'js>> {
    let headers = Object::new(ctx.clone())?;
    let has_agent = call.headers.iter().any(|(name, _)| &**name == "User-Agent");
    let agent = &state(ctx).program.settings.http.user_agent;
    if !has_agent && !agent.is_empty() {
        headers.set("User-Agent", vec![agent.as_str()])?;
    }
    if !call.host.is_empty() {
        headers.set("Host", vec![call.host.as_str()])?;
    }
    for (name, value) in &call.headers {
        headers.set(&**name, vec![value.as_str()])?;
    }
    let mut cookies = call.cookie_header.clone();
    for cookie in &call.sent_cookies {
        append_pair(&mut cookies, &cookie.name, &cookie.value);
    }
    if !cookies.is_empty() {
        headers.set("Cookie", vec![cookies])?;
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_stray_byte_becomes_one_replacement() {
        let bytes = b"\xe2\x28\xa1\xe2\x82\xc3\x28\xf0\x9f\x92A\xed\xa0\x80\xff";
        let points: Vec<u32> = super::mended(bytes).chars().map(u32::from).collect();
        let bad = 0xfffd;
        let expected = [
            bad, 0x28, bad, bad, bad, bad, 0x28, bad, bad, bad, 0x41, bad, bad, bad, bad,
        ];
        assert_eq!(points, expected);
    }
}

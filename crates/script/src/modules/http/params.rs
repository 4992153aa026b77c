//! The last argument of a request: headers, cookies, tags, limits and the rest.
//!
//! Must not know methods and URLs. Invariant: an invalid value is either ignored as in k6 or refused in its
//! words.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_go::GoDuration;
use loadline_go::header::canonical;
use loadline_metric::TagSet;
use rquickjs::{Class, Coerced, Ctx, FromJs, Object, Result, Value};

use super::auth::Scheme;
use super::call::{Call, CallCookie, Redirects, Refused, ResponseType};
use super::codings::{self, Coding};
use super::cookies::class::CookieJar;
use super::expected::expected_of;
use crate::modules::go_values::object_of;
use crate::modules::tags;

/// Maximum timeout: about a century, so that sums of instants do not overflow.
const TIMEOUT_MAX_NS: i64 = 3_000_000_000_000_000_000;
/// Fields up to which a name is searched linearly; beyond that, a hash is used.
const HEADERS_LOOKED_THROUGH: usize = 32;

/// Applies the script's object; returns the codings of the body.
///
/// # Errors
/// The outer error was thrown by the script's own code.
pub(super) fn read<'js>(
    ctx: &Ctx<'js>,
    params: &Object<'js>,
    call: &mut Call,
) -> Result<std::result::Result<Vec<Coding>, Refused>> {
    let mut codings = Vec::new();
    for entry in params.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if let Err(refused) = read_one(ctx, &key, &value, call, &mut codings)? {
            return Ok(Err(refused));
        }
    }
    Ok(Ok(codings))
}

fn read_one<'js>(
    ctx: &Ctx<'js>,
    key: &str,
    value: &Value<'js>,
    call: &mut Call,
    codings: &mut Vec<Coding>,
) -> Result<std::result::Result<(), Refused>> {
    let is_set = !value.is_null() && !value.is_undefined();
    match key {
        "headers" if is_set => read_headers(ctx, value, call)?,
        "cookies" if is_set => read_cookies(ctx, value, call)?,
        "tags" if is_set => return read_tags(ctx, value, call),
        "jar" => {
            let jar = value.as_object().and_then(Class::<CookieJar>::from_object);
            if let Some(jar) = jar {
                call.jar = Some(jar.borrow().jar());
            }
        }
        "compression" => match codings::parse_list(&text(value)?) {
            Ok(list) => *codings = list,
            Err(message) => return Ok(Err(Refused::new(message))),
        },
        "redirects" => {
            call.redirects = Redirects {
                most: whole(value)?,
                chosen: true,
            };
        }
        "timeout" => match timeout_ns(value)? {
            Ok(timeout_ns) => call.timeout_ns = timeout_ns,
            Err(why) => {
                let message = format!("invalid timeout value: {why}");
                return Ok(Err(Refused::new(message)));
            }
        },
        "throw" => call.throws = value.get::<Coerced<bool>>()?.0,
        "auth" => call.auth = Scheme::named(&text(value)?),
        "responseType" => match &*text(value)? {
            "text" => call.response_type = ResponseType::Text,
            "binary" => call.response_type = ResponseType::Binary,
            "none" => call.response_type = ResponseType::None,
            other => {
                let message = format!("{other} does not belong to ResponseType values");
                return Ok(Err(Refused::new(message)));
            }
        },
        "responseCallback" => match expected_of(value) {
            Some(expected) => call.expected = expected,
            None => return Ok(Err(Refused::new("unsupported responseCallback"))),
        },
        _ => {}
    }
    Ok(Ok(()))
}

fn text(value: &Value<'_>) -> Result<String> {
    Ok(value.get::<Coerced<String>>()?.0)
}

fn whole(value: &Value<'_>) -> Result<i64> {
    Ok(value.get::<Coerced<f64>>()?.0 as i64)
}

fn read_headers<'js>(ctx: &Ctx<'js>, value: &Value<'js>, call: &mut Call) -> Result<()> {
    let mut places = HashMap::new();
    for entry in object_of(ctx, value)?.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        let value = text(&value)?;
        if call.headers.len() < HEADERS_LOOKED_THROUGH {
            set_header(call, &name, value);
            continue;
        }
        if places.is_empty() {
            let named = |(at, (name, _)): (usize, &(Arc<str>, String))| (Arc::clone(name), at);
            places = call.headers.iter().enumerate().map(named).collect();
        }
        let name: Arc<str> = Arc::from(canonical(&name));
        match places.get(&name) {
            Some(&at) => call.headers[at].1 = value,
            None if matches!(&*name, "Host" | "Cookie") => set_header(call, &name, value),
            None => {
                places.insert(Arc::clone(&name), call.headers.len());
                call.headers.push((name, value));
            }
        }
    }
    Ok(())
}

/// Sets a field, replacing an earlier one of that name.
pub(super) fn set_header(call: &mut Call, name: &str, value: String) {
    let name = canonical(name);
    match &*name {
        "Host" => call.host = value,
        "Cookie" => call.cookie_header = value,
        _ => match call.headers.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, known)) => *known = value,
            None => call.headers.push((Arc::from(name), value)),
        },
    }
}

fn read_cookies<'js>(ctx: &Ctx<'js>, value: &Value<'js>, call: &mut Call) -> Result<()> {
    for entry in object_of(ctx, value)?.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        if value.is_null() || value.is_undefined() {
            continue;
        }
        let mut cookie = CallCookie {
            name,
            value: String::new(),
            replaces: false,
        };
        match value.as_object().filter(|object| !object.is_array()) {
            Some(object) => {
                let written: Value<'js> = object.get("value")?;
                if !written.is_undefined() {
                    cookie.value = text(&written)?;
                }
                cookie.replaces = object.get::<_, Coerced<bool>>("replace")?.0;
            }
            None => cookie.value = text(&value)?,
        }
        call.cookies.push(cookie);
    }
    Ok(())
}

fn read_tags<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    call: &mut Call,
) -> Result<std::result::Result<(), Refused>> {
    let mut set = TagSet::default();
    let object = object_of(ctx, value)?;
    if let Err(error) = tags::add(ctx, &object, &mut set) {
        if !error.is_exception() {
            return Err(error);
        }
        let thrown = ctx.catch();
        let message = thrown.as_exception().and_then(rquickjs::Exception::message);
        let Some(message) = message.filter(|message| message.starts_with("invalid value for"))
        else {
            return Err(ctx.throw(thrown));
        };
        let message = format!("invalid HTTP request metric tags: {message}");
        return Ok(Err(Refused::new(message)));
    }
    if let Some(name) = set.get("name") {
        call.name = Some(Arc::from(name));
    }
    call.tags = Some(set);
    Ok(Ok(()))
}

/// A number of milliseconds, or a text such as `10s`, in nanoseconds.
fn timeout_ns(value: &Value<'_>) -> Result<std::result::Result<u64, String>> {
    let told = |span: GoDuration| span.0.clamp(0, TIMEOUT_MAX_NS) as u64;
    if let Some(milliseconds) = value.as_number() {
        return Ok(Ok(told(GoDuration::from_milliseconds(milliseconds))));
    }
    let Some(written) = value.as_string() else {
        let kind = super::go_value::type_name(value);
        return Ok(Err(format!(
            "unable to use type {kind} as a duration value"
        )));
    };
    let written = String::from_js(value.ctx(), written.clone().into_value())?;
    Ok(GoDuration::parse_extended(&written).map(told))
}

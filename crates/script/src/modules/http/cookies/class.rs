//! The script's view of a jar: `CookieJar`.
//!
//! Must not keep cookies itself. Invariant: the object always refers to the same jar.

use std::rc::Rc;

use loadline_go::quoted;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::{Class, Coerced, Ctx, Function, JsLifetime, Object, Result, Value};

use super::super::error;
use super::super::url::Address;
use super::super::vu::client_state;
use super::{Cookie, Jar, date_ms};
use crate::lazy::GO_METHOD;
use crate::modules::go_values::GoText;
use crate::vu::{Stage, state};

/// A jar as seen by a script.
pub(in super::super) struct CookieJar(Rc<Jar>);

impl CookieJar {
    /// The jar.
    pub(in super::super) fn jar(&self) -> Rc<Jar> {
        Rc::clone(&self.0)
    }
}

// SAFETY: it holds nothing that lives in the context.
unsafe impl JsLifetime<'_> for CookieJar {
    type Changed<'to> = CookieJar;
}

impl<'js> Trace<'js> for CookieJar {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for CookieJar {
    const NAME: &'static str = "CookieJar";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let prototype = Object::new(ctx.clone())?;
        prototype.set(
            "clear",
            Function::new(ctx.clone(), clear)?.with_name(GO_METHOD)?,
        )?;
        let cookies_for_url = Function::new(ctx.clone(), cookies_for_url)?;
        prototype.set("cookiesForURL", cookies_for_url.with_name(GO_METHOD)?)?;
        prototype.set(
            "delete",
            Function::new(ctx.clone(), delete)?.with_name(GO_METHOD)?,
        )?;
        prototype.set(
            "set",
            Function::new(ctx.clone(), set)?.with_name(GO_METHOD)?,
        )?;
        Ok(Some(prototype))
    }

    fn constructor(ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Constructor::new_class::<CookieJar, _, _>(ctx.clone(), empty_jar).map(Some)
    }
}

/// `new CookieJar()`
fn empty_jar<'js>(ctx: Ctx<'js>) -> Result<Class<'js, CookieJar>> {
    Class::instance(ctx, CookieJar(Rc::default()))
}

/// `cookieJar()`: that of the virtual user.
pub(in super::super) fn cookie_jar<'js>(ctx: Ctx<'js>) -> Result<Class<'js, CookieJar>> {
    let state = state(&ctx);
    if state.stage.get() == Stage::Init {
        let message = "Making cookie jars in the init context is not supported";
        return Err(error::throw(&ctx, message));
    }
    let jar = client_state(state).jar(state);
    Class::instance(ctx, CookieJar(jar))
}

type Jars<'js> = This<Class<'js, CookieJar>>;

fn address(ctx: &Ctx<'_>, url: &Opt<GoText>) -> Result<Address> {
    let url = url.0.as_ref().map_or("", |GoText(url)| url);
    Address::parse(url).map_err(|why| error::throw(ctx, &why.to_string()))
}

/// A missing argument is `undefined`.
fn text(argument: Opt<GoText>) -> String {
    let GoText(text) = argument.0.unwrap_or_default();
    text
}

fn now_ms(ctx: &Ctx<'_>) -> i64 {
    (state(ctx).host.unix_ns() / 1_000_000) as i64
}

fn clear<'js>(ctx: Ctx<'js>, this: Jars<'js>, url: Opt<GoText>) -> Result<()> {
    let address = address(&ctx, &url)?;
    this.0.borrow().0.forget(&address, None);
    Ok(())
}

fn delete<'js>(ctx: Ctx<'js>, this: Jars<'js>, url: Opt<GoText>, name: Opt<GoText>) -> Result<()> {
    let address = address(&ctx, &url)?;
    this.0.borrow().0.forget(&address, Some(&text(name)));
    Ok(())
}

fn cookies_for_url<'js>(ctx: Ctx<'js>, this: Jars<'js>, url: Opt<GoText>) -> Result<Object<'js>> {
    let address = address(&ctx, &url)?;
    let found = this.0.borrow().0.for_address(&address, now_ms(&ctx));
    let by_name = Object::new(ctx.clone())?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &found {
        if names.contains(&name.as_str()) {
            continue;
        }
        names.push(name);
        let values: Vec<&str> = found
            .iter()
            .filter(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
            .collect();
        by_name.set(name.as_str(), values)?;
    }
    Ok(by_name)
}

fn set<'js>(
    ctx: Ctx<'js>,
    this: Jars<'js>,
    url: Opt<GoText>,
    name: Opt<GoText>,
    value: Opt<GoText>,
    options: Opt<Value<'js>>,
) -> Result<bool> {
    let address = address(&ctx, &url)?;
    let mut cookie = Cookie {
        name: text(name),
        value: text(value),
        ..Cookie::default()
    };
    if let Some(options) = options.0.as_ref().and_then(Value::as_object) {
        read_options(&ctx, options, &mut cookie)?;
    }
    this.0.borrow().0.set(&address, cookie, now_ms(&ctx));
    Ok(true)
}

fn read_options<'js>(ctx: &Ctx<'js>, options: &Object<'js>, cookie: &mut Cookie) -> Result<()> {
    for entry in options.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if value.is_undefined() || value.is_null() {
            continue;
        }
        match key.as_str() {
            "path" => cookie.path = value.get::<Coerced<String>>()?.0,
            "domain" => cookie.domain = value.get::<Coerced<String>>()?.0,
            "secure" => cookie.secure = value.get::<Coerced<bool>>()?.0,
            "http_only" => cookie.http_only = value.get::<Coerced<bool>>()?.0,
            "max_age" => {
                let seconds = value.get::<Coerced<f64>>()?.0 as i64;
                cookie.max_age = Some(seconds).filter(|seconds| *seconds != 0);
            }
            "expires" => {
                let text = value.get::<Coerced<String>>()?.0;
                if !text.is_empty() {
                    cookie.expires_ms = Some(expiry(ctx, &text)?);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn expiry(ctx: &Ctx<'_>, text: &str) -> Result<i64> {
    date_ms(text).ok_or_else(|| {
        let shown = quoted(text);
        let message = format!(
            "unable to parse \"expires\" date string {shown}: parsing time {shown} as \"Mon, 02 Jan 2006 15:04:05 MST\": cannot parse {shown} as \"Mon\""
        );
        error::throw(ctx, &message)
    })
}

/// The class as seen by scripts.
pub(in crate::modules::http) fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let constructor = Class::<CookieJar>::create_constructor(ctx)?;
    Ok(constructor.map_or_else(
        || Value::new_undefined(ctx.clone()),
        |constructor| constructor.into_value(),
    ))
}

//! Natives of `URL` and `URLSearchParams`: the rules of WHATWG, implemented by the `url` crate.
//!
//! Must not keep anything: a URL is its text. Invariant: every returned URL can be parsed again.

use rquickjs::function::Opt;
use rquickjs::{Ctx, IntoJs, Object, Result, Value};
use url::{Url, form_urlencoded, quirks};

use super::add;

pub(super) fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    add(&natives, "parse", parse)?;
    add(&natives, "part", part)?;
    add(&natives, "changed", changed)?;
    add(&natives, "parseQuery", parse_query)?;
    add(&natives, "formatQuery", format_query)?;
    Ok(natives)
}

/// The whole URL; `undefined` if it is invalid.
fn parse<'js>(ctx: Ctx<'js>, text: String, base: Opt<Option<String>>) -> Result<Value<'js>> {
    let parsed = match base.0.flatten() {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&text)),
        None => Url::parse(&text),
    };
    match parsed {
        Ok(url) => url.as_str().into_js(&ctx),
        Err(_) => Ok(Value::new_undefined(ctx)),
    }
}

/// A part of a URL, by its property name in scripts.
fn part(href: String, name: String) -> String {
    let Ok(url) = Url::parse(&href) else {
        return String::new();
    };
    match &*name {
        "origin" => quirks::origin(&url),
        "protocol" => quirks::protocol(&url).to_owned(),
        "username" => quirks::username(&url).to_owned(),
        "password" => quirks::password(&url).to_owned(),
        "host" => quirks::host(&url).to_owned(),
        "hostname" => quirks::hostname(&url).to_owned(),
        "port" => quirks::port(&url).to_owned(),
        "pathname" => quirks::pathname(&url).to_owned(),
        "search" => quirks::search(&url).to_owned(),
        "hash" => quirks::hash(&url).to_owned(),
        _ => String::new(),
    }
}

/// A URL with a part changed; unchanged if the new part is invalid.
fn changed(href: String, name: String, value: String) -> String {
    let Ok(mut url) = Url::parse(&href) else {
        return href;
    };
    let done = match &*name {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    match done {
        Ok(()) => url.into(),
        Err(()) => href,
    }
}

/// Parses `application/x-www-form-urlencoded`.
fn parse_query(query: String) -> Vec<Vec<String>> {
    form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| vec![name.into_owned(), value.into_owned()])
        .collect()
}

/// Formats `application/x-www-form-urlencoded`.
fn format_query(pairs: Vec<Vec<String>>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for pair in &pairs {
        if let [name, value] = pair.as_slice() {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

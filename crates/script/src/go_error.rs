//! Go's errors as scripts see them: natives throw a `GoError` whose `value` is the Go value, and reject promises with that
//! value alone, which is no `Error`.
//!
//! Must not know what failed. Invariant: the text of both is that of Go's error.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};

use rquickjs::function::Opt;
use rquickjs::object::Property;
use rquickjs::{Ctx, Error, Exception, Function, IntoJs, Object, Persistent, Result, Value};

use crate::globals::builtin_namespace;
use crate::natives::{Body, Builtin};
use crate::vu::state;

/// The prototypes.
pub(crate) const MODULE: Builtin = Builtin {
    name: "loadline:go-error",
    body: Body::Script {
        text: include_str!("go_error.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

/// How the text of a request that ran out of time begins, and the code it has.
const TIMED_OUT: (&str, f64) = ("request timeout", 1050.0);
/// The same of an address that is none.
const NO_ADDRESS: (&str, f64) = ("invalid URL: ", 1020.0);

/// A Go error: what it says, and the exported fields of its type, which `JSON.stringify` shows.
#[derive(Clone, Debug)]
pub(crate) struct GoValue {
    text: String,
    /// What it is in JSON, if its type is no structure.
    json: Option<Box<Field>>,
    fields: Fields,
}

/// A field of a Go error.
#[derive(Clone, Debug)]
enum Field {
    Null,
    No,
    Yes,
    Number(f64),
    Bytes(Vec<u8>),
    Text(String),
    Error(GoValue),
}

impl GoValue {
    /// An error without fields, as most are.
    pub(crate) fn plain(text: &str) -> GoValue {
        GoValue::with(text, Vec::new())
    }

    /// An error with a name and a message, as the standards of the web have them.
    pub(crate) fn named(name: &str, message: &str) -> GoValue {
        let fields = vec![
            ("name", Field::Text(name.to_owned())),
            ("message", Field::Text(message.to_owned())),
        ];
        GoValue::with(&format!("{name}: {message}"), fields)
    }

    /// An error whose type is a text.
    pub(crate) fn of_text_type(text: &str) -> GoValue {
        GoValue {
            json: Some(Box::new(Field::Text(text.to_owned()))),
            ..GoValue::plain(text)
        }
    }

    /// An error whose type is a number.
    pub(crate) fn of_number_type(text: &str, number: f64) -> GoValue {
        GoValue {
            json: Some(Box::new(Field::Number(number))),
            ..GoValue::plain(text)
        }
    }

    /// The error of Go's network and file packages that says this; one without fields if it is of none of them.
    pub(crate) fn read(text: &str) -> GoValue {
        let found = [of_url, of_dial, of_lookup, of_client, of_file]
            .into_iter()
            .find_map(|fields| fields(text));
        match found {
            Some(fields) => GoValue::with(text, fields),
            None if text.starts_with("invalid character ") && text.ends_with(" in host name") => {
                GoValue::of_text_type(text)
            }
            None => GoValue::plain(text),
        }
    }

    fn with(text: &str, fields: Fields) -> GoValue {
        GoValue {
            text: text.to_owned(),
            json: None,
            fields,
        }
    }
}

type Fields = Vec<(&'static str, Field)>;

fn inner(text: &str) -> Field {
    Field::Error(GoValue::read(text))
}

/// `Get "http://host/": reason`.
fn of_url(text: &str) -> Option<Fields> {
    let (op, rest) = text.split_once(" \"")?;
    let (url, why) = rest.split_once("\": ")?;
    if op.contains(": ") || url.contains('"') {
        return None;
    }
    Some(vec![
        ("op", Field::Text(op.to_owned())),
        ("url", Field::Text(url.to_owned())),
        ("err", inner(why)),
    ])
}

/// `dial tcp 127.0.0.1:80: connect: connection refused`.
fn of_dial(text: &str) -> Option<Fields> {
    let (net, rest) = text.strip_prefix("dial ")?.split_once([' ', ':'])?;
    let known = rest
        .split_once(": ")
        .and_then(|(address, why)| Some((address.parse::<SocketAddr>().ok()?, why)));
    let (addr, err) = match known {
        Some((address, why)) => (address_fields(address), of_call(why)),
        None => (Field::Null, inner(rest.trim_start())),
    };
    Some(vec![
        ("op", Field::Text("dial".to_owned())),
        ("net", Field::Text(net.to_owned())),
        ("source", Field::Null),
        ("addr", addr),
        ("err", err),
    ])
}

fn address_fields(address: SocketAddr) -> Field {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let fields = vec![
        ("ip", Field::Bytes(ip.octets().to_vec())),
        ("port", Field::Number(f64::from(address.port()))),
        ("zone", Field::Text(String::new())),
    ];
    Field::Error(GoValue::with(&address.to_string(), fields))
}

/// `connect: connection refused`: a call of the system.
fn of_call(text: &str) -> Field {
    let Some((call, why)) = text.split_once(": ") else {
        return inner(text);
    };
    let fields = vec![
        ("syscall", Field::Text(call.to_owned())),
        ("err", Field::Error(GoValue::plain(why))),
    ];
    Field::Error(GoValue::with(text, fields))
}

/// `lookup host on 1.1.1.1:53: no such host`.
fn of_lookup(text: &str) -> Option<Fields> {
    let (asked, why) = text.strip_prefix("lookup ")?.rsplit_once(": ")?;
    let (name, server) = asked.split_once(" on ").unwrap_or((asked, ""));
    let is = |holds: bool| if holds { Field::Yes } else { Field::No };
    Some(vec![
        ("unwrap_err", Field::Null),
        ("err", Field::Text(why.to_owned())),
        ("name", Field::Text(name.to_owned())),
        ("server", Field::Text(server.to_owned())),
        ("is_timeout", is(why == "i/o timeout")),
        (
            "is_temporary",
            is(why == "server misbehaving" || why == "i/o timeout"),
        ),
        ("is_not_found", is(why == "no such host")),
    ])
}

/// Errors of k6's own client, which have a code.
fn of_client(text: &str) -> Option<Fields> {
    let (code, original) = match text.strip_prefix(NO_ADDRESS.0) {
        Some(why) => (NO_ADDRESS.1, inner(why)),
        None if text == TIMED_OUT.0 => (TIMED_OUT.1, Field::Error(GoValue::plain(""))),
        None => return None,
    };
    Some(vec![
        ("code", Field::Number(code)),
        ("message", Field::Text(text.to_owned())),
        ("original_error", original),
    ])
}

/// `stat /a/b: no such file or directory`.
fn of_file(text: &str) -> Option<Fields> {
    let (op, rest) = text.split_once(' ')?;
    let (path, why) = rest.rsplit_once(": ")?;
    if !matches!(op, "open" | "stat" | "read") {
        return None;
    }
    Some(vec![
        ("op", Field::Text(op.to_owned())),
        ("path", Field::Text(path.to_owned())),
        ("err", Field::Error(GoValue::plain(why))),
    ])
}

/// Throws an error without fields.
pub(crate) fn refuse(ctx: &Ctx<'_>, message: &str) -> Error {
    throw(ctx, &GoValue::plain(message))
}

/// Throws the error of k6 for what cannot be done in the init context.
pub(crate) fn refuse_in_init(ctx: &Ctx<'_>, message: &str) -> Error {
    throw(ctx, &GoValue::of_text_type(message))
}

/// Throws a Go error.
pub(crate) fn throw(ctx: &Ctx<'_>, error: &GoValue) -> Error {
    match thrown(ctx, error) {
        Ok(thrown) => ctx.throw(thrown),
        Err(error) => error,
    }
}

fn thrown<'js>(ctx: &Ctx<'js>, error: &GoValue) -> Result<Value<'js>> {
    let made = Exception::from_message(ctx.clone(), &error.text)?.into_object();
    // Defined anew: a property stays enumerable.
    made.remove("message")?;
    let message = Property::from(error.text.as_str());
    made.prop("message", message.writable().configurable())?;
    made.set_prototype(Some(&prototypes(ctx)?.thrown))?;
    made.set("value", value(ctx, error)?)?;
    Ok(made.into_value())
}

/// What a promise is rejected with.
///
/// # Errors
/// Memory is exhausted.
pub(crate) fn value<'js>(ctx: &Ctx<'js>, error: &GoValue) -> Result<Value<'js>> {
    let made = Object::new(ctx.clone())?;
    made.set_prototype(Some(&prototypes(ctx)?.told))?;
    for (name, field) in &error.fields {
        made.set(*name, field)?;
    }
    let text = error.text.clone();
    let told = Function::new(ctx.clone(), move || text.clone())?;
    made.prop("error", Property::from(told).enumerable())?;
    if let Some(json) = error.json.clone() {
        let shown = move |ctx: Ctx<'js>| (&*json).into_js(&ctx);
        made.prop("toJSON", Function::new(ctx.clone(), shown)?)?;
    }
    Ok(made.into_value())
}

impl<'js> IntoJs<'js> for &Field {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Field::Null => Ok(Value::new_null(ctx.clone())),
            Field::No => false.into_js(ctx),
            Field::Yes => true.into_js(ctx),
            Field::Number(number) => number.into_js(ctx),
            Field::Bytes(bytes) => bytes.clone().into_js(ctx),
            Field::Text(text) => text.into_js(ctx),
            Field::Error(error) => value(ctx, error),
        }
    }
}

/// Adds what built-in modules in JavaScript want: `refuse(message)` and `refuse(name, message)` throw a `GoError`,
/// `refuseAlone(message)` throws the value alone, and `fault(name, message)` gives it.
///
/// # Errors
/// Memory is exhausted.
pub(crate) fn add_to<'js>(natives: &Object<'js>) -> Result<()> {
    let function = |name, body| natives.set(name, body);
    let ctx = natives.ctx();
    let refuse = |ctx: Ctx<'js>, name: String, message: Opt<String>| -> Result<()> {
        let error = match message.0 {
            Some(message) => GoValue::named(&name, &message),
            None => GoValue::plain(&name),
        };
        Err(throw(&ctx, &error))
    };
    let refuse_alone = |ctx: Ctx<'js>, message: String| -> Result<()> {
        Err(ctx.throw(value(&ctx, &GoValue::plain(&message))?))
    };
    let fault = |ctx: Ctx<'js>, name: String, message: String| {
        value(&ctx, &GoValue::named(&name, &message))
    };
    function("refuse", Function::new(ctx.clone(), refuse)?)?;
    function("refuseAlone", Function::new(ctx.clone(), refuse_alone)?)?;
    function("fault", Function::new(ctx.clone(), fault)?)
}

/// Whether it is the value of a Go error.
pub(crate) fn is_value<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> bool {
    let slot = state(ctx).slot(Slot::default);
    // None was made before the prototypes.
    let Some(known) = slot.0.borrow().clone() else {
        return false;
    };
    let told = known.told.restore(ctx);
    told.is_ok_and(|told| {
        object
            .get_prototype()
            .is_some_and(|prototype| prototype == told)
    })
}

/// The prototypes of a virtual user, once it has made a Go error.
#[derive(Default)]
struct Slot(RefCell<Option<Kept>>);

#[derive(Clone)]
struct Kept {
    thrown: Persistent<Object<'static>>,
    told: Persistent<Object<'static>>,
}

struct Prototypes<'js> {
    thrown: Object<'js>,
    told: Object<'js>,
}

fn prototypes<'js>(ctx: &Ctx<'js>) -> Result<Prototypes<'js>> {
    let slot = state(ctx).slot(Slot::default);
    let known = slot.0.borrow().clone();
    if let Some(known) = known {
        return Ok(Prototypes {
            thrown: known.thrown.restore(ctx)?,
            told: known.told.restore(ctx)?,
        });
    }
    let exports = builtin_namespace(ctx, MODULE.name)?;
    let made = Prototypes {
        thrown: exports.get::<_, Object<'js>>("GoError")?.get("prototype")?,
        told: exports.get("told")?,
    };
    *slot.0.borrow_mut() = Some(Kept {
        thrown: Persistent::save(ctx, made.thrown.clone()),
        told: Persistent::save(ctx, made.told.clone()),
    });
    Ok(made)
}

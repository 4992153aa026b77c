//! Builds a request from a script's arguments, and the response from its result.
//!
//! Must not know redirects, cookies and codings. Invariant: a request that cannot be made yields a response
//! with status zero and a warning, or throws if the script enabled that.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Coerced, Ctx, Object, Persistent, Promise, Result, Value};

use super::answer::Facts;
use super::auth::Scheme;
use super::call::{Call, CallBody, Redirects, Refused, ResponseType};
use super::exchange::{Exchange, Next};
use super::response::Response;
use super::url::Address;
use super::vu::{ClientState, client_state};
use super::{body, codings, error, go_value, params};
use crate::go_error::refuse_in_init;
use crate::host::LogLevel;
use crate::modules::k6::current_tags;
use crate::system_tags::SystemTag;
use crate::vu::{Stage, VuState, state};

/// k6's default.
const TIMEOUT_NS: u64 = 60_000_000_000;
const IN_INIT: &str = "Making http requests in the init context is not supported";

/// The arguments of one request.
pub(crate) struct Arguments<'js> {
    pub(crate) method: Arc<str>,
    pub(crate) url: Option<Value<'js>>,
    pub(crate) body: Option<Value<'js>>,
    pub(crate) params: Option<Value<'js>>,
}

/// A request that was built or refused.
pub(super) type Prepared = std::result::Result<Rc<Call>, Refused>;

/// Builds a request from its arguments.
pub(super) fn prepare<'js>(ctx: &Ctx<'js>, arguments: &Arguments<'js>) -> Result<Prepared> {
    let state = state(ctx);
    if state.stage.get() == Stage::Init {
        return Err(refuse_in_init(ctx, IN_INIT));
    }
    let client = client_state(state);
    let (address, name) = match address_of(&client, arguments.url.as_ref())? {
        Ok(found) => found,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut call = plain(ctx, &client, Arc::clone(&arguments.method), address, name);
    let made = match &arguments.body {
        None => None,
        Some(value) => match body::of(ctx, value)? {
            Ok(made) => made,
            Err(refused) => return Ok(Err(refused)),
        },
    };
    let mut packing = Vec::new();
    if let Some(params) = arguments.params.as_ref().and_then(Value::as_object) {
        match params::read(ctx, params, &mut call)? {
            Ok(codings) => packing = codings,
            Err(refused) => return Ok(Err(refused)),
        }
    }
    if let Some(made) = made
        && let Err(refused) = add_body(state, &mut call, made, &packing)
    {
        return Ok(Err(refused));
    }
    note_length(state, &mut call);
    if !call.is_bare() {
        let now_ms = (state.host.unix_ns() / 1_000_000) as i64;
        call.sent_cookies = call.cookies_for(&call.address, now_ms);
    }
    Ok(Ok(Rc::new(call)))
}

/// A request with only method and address.
fn plain(
    ctx: &Ctx<'_>,
    client: &ClientState,
    method: Arc<str>,
    address: Rc<Address>,
    name: Option<Arc<str>>,
) -> Call {
    let state = state(ctx);
    let settings = &state.program.settings;
    let base = current_tags(ctx);
    Call {
        method,
        address,
        // As in k6, the name of a template is a system tag, and stands for the URL only where it is on.
        name: (base.get("name").map(Arc::from))
            .or_else(|| name.filter(|_| state.has_tag(SystemTag::Name))),
        body: None,
        headers: Vec::new(),
        host: String::new(),
        cookie_header: String::new(),
        cookies: Vec::new(),
        sent_cookies: Vec::new(),
        jar: Some(client.jar(state)),
        base,
        tags: None,
        timeout_ns: TIMEOUT_NS,
        redirects: Redirects {
            most: i64::from(settings.http.max_redirects),
            chosen: false,
        },
        auth: Scheme::default(),
        expected: client.expected.borrow().clone(),
        response_type: if settings.http.discard_response_bodies {
            ResponseType::None
        } else {
            ResponseType::Text
        },
        throws: settings.throw,
    }
}

type Found = (Rc<Address>, Option<Arc<str>>);

/// The address given as text, or made by a `url` template.
fn address_of<'js>(
    client: &ClientState,
    url: Option<&Value<'js>>,
) -> Result<std::result::Result<Found, Refused>> {
    let parse = |text: &str| {
        client
            .address(text)
            .map_err(|why| Refused::bad_url(&why.to_string()))
    };
    let Some(value) = url else {
        return Ok(Err(Refused::bad_url("'#<nil>'")));
    };
    if let Some(text) = value.as_string() {
        return Ok(match text.to_string() {
            Ok(text) => parse(&text).map(|address| (address, None)),
            Err(_) => Err(Refused::bad_url("'#'")),
        });
    }
    if let Some(object) = value.as_object()
        && let Some(template) = template_of(object)?
    {
        let (url, name) = template;
        return Ok(parse(&url).map(|address| (address, Some(name.into()))));
    }
    let shown = go_value::format(value)?;
    Ok(Err(Refused::bad_url(&format!("'#{shown}'"))))
}

/// URL and name from a result of the template tag `url`, or of the web's `URL`.
fn template_of<'js>(object: &Object<'js>) -> Result<Option<(String, String)>> {
    let url: Option<String> = object
        .get::<_, Option<Coerced<String>>>("url")?
        .map(|text| text.0);
    let name: Option<String> = object
        .get::<_, Option<Coerced<String>>>("name")?
        .map(|text| text.0);
    if let Some(found) = url.zip(name) {
        return Ok(Some(found));
    }
    let href: Option<String> = object
        .get::<_, Option<Coerced<String>>>("href")?
        .map(|text| text.0);
    Ok(href.map(|href| (href.clone(), href)))
}

fn add_body(
    state: &VuState,
    call: &mut Call,
    made: body::Made,
    packing: &[codings::Coding],
) -> std::result::Result<(), Refused> {
    let has = |call: &Call, name: &str| call.headers.iter().any(|(known, _)| &**known == name);
    if let Some(kind) = made.content_type
        && !has(call, "Content-Type")
    {
        params::set_header(call, "Content-Type", kind);
    }
    if packing.is_empty() {
        call.body = Some(CallBody {
            sent: made.bytes,
            shown: None,
        });
        return Ok(());
    }
    let packed =
        codings::pack(&made.bytes, packing).map_err(|error| Refused::new(error.to_string()))?;
    call.body = Some(CallBody {
        sent: packed.into(),
        shown: Some(made.bytes),
    });
    let names: Vec<&str> = packing.iter().map(|coding| coding.name()).collect();
    let names = names.join(", ");
    let own = call
        .headers
        .iter()
        .find(|(name, _)| &**name == "Content-Encoding");
    match own.map(|(_, value)| value.clone()) {
        None => params::set_header(call, "Content-Encoding", names),
        Some(own) if own == names => {}
        Some(_) => {
            let message = format!(
                "There's a mismatch between the desired `compression` the manually set `Content-Encoding` header in the {} request for '{}', the custom header has precedence and won't be overwritten. This may result in invalid data being sent to the server.",
                call.method, call.address.text
            );
            state.log(LogLevel::Warning, &message, &[]);
        }
    }
    Ok(())
}

/// The script's own length is never sent; a wrong one causes a warning.
fn note_length(state: &VuState, call: &mut Call) {
    let Some(at) = call
        .headers
        .iter()
        .position(|(name, _)| &**name == "Content-Length")
    else {
        return;
    };
    let (_, claimed) = call.headers.remove(at);
    let actual = call.body.as_ref().map_or(0, |body| body.sent.len());
    if claimed.parse() != Ok(actual) {
        let message = format!(
            "The specified Content-Length header {} in the {} request for {} doesn't match the actual request body length of {actual}, so it will be ignored!",
            loadline_go::quoted(&claimed),
            call.method,
            call.address.text
        );
        state.log(LogLevel::Warning, &message, &[]);
    }
}

/// Sends a request and blocks the script until its result.
pub(super) fn blocking<'js>(ctx: &Ctx<'js>, arguments: &Arguments<'js>) -> Result<Value<'js>> {
    let facts = match prepare(ctx, arguments)? {
        Ok(call) => run(ctx, call)?,
        Err(refused) => refused_facts(refused),
    };
    match conclude(ctx, facts)? {
        Ok(response) => Ok(response),
        Err(words) => Err(error::throw(ctx, &words)),
    }
}

fn run(ctx: &Ctx<'_>, call: Rc<Call>) -> Result<Facts> {
    let state = state(ctx);
    let mut exchange = Exchange::new(state, call);
    let mut next = exchange.begin(state);
    loop {
        match next {
            Next::Done(facts) => return Ok(facts),
            Next::Send(hop) => {
                let outcome = state.exchange(ctx, hop)?;
                next = exchange.ended(state, outcome);
                state.go_on(ctx)?;
            }
        }
    }
}

/// Called with the result of a request that ran concurrently with the script.
pub(crate) type OnDone = Box<dyn FnOnce(&Ctx<'_>, Facts) -> Result<()>>;

/// Sends a request that runs concurrently with the script.
pub(super) fn beside(ctx: &Ctx<'_>, call: Rc<Call>, on_done: OnDone) -> Result<()> {
    let state = state(ctx);
    let mut exchange = Exchange::new(state, call);
    let next = exchange.begin(state);
    go_on(ctx, exchange, next, on_done)
}

fn go_on(ctx: &Ctx<'_>, mut exchange: Exchange, next: Next, on_done: OnDone) -> Result<()> {
    match next {
        Next::Done(facts) => on_done(ctx, facts),
        Next::Send(hop) => {
            let on_end = Box::new(move |ctx: &Ctx<'_>, outcome| {
                let next = exchange.ended(state(ctx), outcome);
                state(ctx).go_on(ctx)?;
                go_on(ctx, exchange, next, on_done)
            });
            state(ctx).start_hop(hop, on_end);
            Ok(())
        }
    }
}

/// A promise for the response of a request that runs concurrently with the script.
pub(super) fn promised<'js>(ctx: &Ctx<'js>, prepared: Prepared) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    let resolve = Persistent::save(ctx, resolve);
    let reject = Persistent::save(ctx, reject);
    let settle = move |ctx: &Ctx<'_>, facts: Facts| -> Result<()> {
        match conclude(ctx, facts)? {
            Ok(response) => resolve.restore(ctx)?.call((response,)),
            Err(words) => {
                let reason = error::reason(ctx, &words)?;
                reject.restore(ctx)?.call((reason,))
            }
        }
    };
    match prepared {
        Ok(call) => beside(ctx, call, Box::new(settle))?,
        Err(refused) => settle(ctx, refused_facts(refused))?,
    }
    Ok(promise)
}

pub(super) fn refused_facts(refused: Refused) -> Facts {
    let words = refused.message.clone();
    Facts::refused(refused.message, refused.code, words)
}

/// The response for a result, or the message to throw; a failure is logged.
pub(super) fn conclude<'js>(
    ctx: &Ctx<'js>,
    facts: Facts,
) -> Result<std::result::Result<Value<'js>, String>> {
    if let Some(words) = &facts.failure {
        let throws = match &facts.call {
            Some(call) => facts.always_throws || call.throws,
            None => state(ctx).program.settings.throw,
        };
        if throws {
            return Ok(Err(words.clone()));
        }
        state(ctx).log(LogLevel::Warning, "Request Failed", &[("error", words)]);
    }
    Response::make(ctx, facts).map(Ok)
}

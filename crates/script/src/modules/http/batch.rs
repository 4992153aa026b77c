//! `batch`: several concurrent requests, within limits.
//!
//! Must not know how one request is made. Invariant: no more run concurrently than the options allow, in total
//! and per host; all have ended when the call returns.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{Array, Ctx, Function, Object, Result, Value};

use super::answer::Facts;
use super::call::{Call, Refused};
use super::request::{self, Arguments, Prepared};
use super::response::Response;
use super::{error, go_value};
use crate::host::LogLevel;
use crate::vu::{Stage, state};

/// The requests of a batch, and the results of those that have ended.
struct Batch {
    queues: RefCell<Queues>,
    ended: RefCell<Vec<Option<Facts>>>,
    open: Cell<usize>,
    under_way: Cell<usize>,
    most: usize,
    /// Requests are being started: one that ends meanwhile does not start the next itself.
    is_starting: Cell<bool>,
}

/// Waiting requests by host, so that the next one to start is found without scanning the others.
struct Queues {
    hosts: Vec<HostQueue>,
    number_of: HashMap<String, usize>,
    /// Hosts with free capacity and waiting requests, by the position of the first one waiting.
    ready: BTreeSet<(usize, usize)>,
    most_per_host: usize,
}

#[derive(Default)]
struct HostQueue {
    waiting: VecDeque<(usize, Rc<Call>)>,
    running: usize,
}

/// `batch(requests)`
pub(super) fn batch<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    if state(&ctx).stage.get() == Stage::Init {
        return Err(error::throw(
            &ctx,
            "Using batch in the init context is not supported",
        ));
    }
    let requests = match arguments.0.as_slice() {
        [] => {
            let message = "no argument was provided to http.batch()";
            return Err(error::throw(&ctx, message));
        }
        [requests] => requests,
        _ => {
            let message = "http.batch() accepts only an array or an object of requests";
            return Err(error::throw(&ctx, message));
        }
    };
    // As in k6, what Go makes of it decides.
    let kind = go_value::type_name(requests);
    let wanted = match kind.as_str() {
        go_value::LIST => Some(true),
        go_value::FIELDS => Some(false),
        _ => None,
    };
    let (Some(object), Some(is_list)) = (requests.as_object(), wanted) else {
        let message = format!("invalid http.batch() argument type {kind}");
        return Err(error::throw(&ctx, &message));
    };
    if is_list {
        let array: Object<'js> = ctx.globals().get("Array")?;
        let from: Function<'js> = array.get("from")?;
        let items: Vec<Value<'js>> = from.call((object.clone(),))?;
        let keys: Vec<String> = (0..items.len()).map(|at| at.to_string()).collect();
        let responses = run(&ctx, &keys, &items)?;
        let list = Array::new(ctx.clone())?;
        for at in responses.len()..items.len() {
            list.set(at, Value::new_null(ctx.clone()))?;
        }
        for (at, response) in responses.into_iter().enumerate() {
            list.set(at, response)?;
        }
        return Ok(list.into_value());
    }
    let entries = object
        .props::<String, Value<'js>>()
        .collect::<Result<Vec<_>>>()?;
    let (keys, items): (Vec<String>, Vec<Value<'js>>) = entries.into_iter().unzip();
    let by_key = Object::new(ctx.clone())?;
    for (key, response) in keys.iter().zip(run(&ctx, &keys, &items)?) {
        by_key.set(key.as_str(), response)?;
    }
    Ok(by_key.into_value())
}

/// The responses, where there are any.
fn run<'js>(ctx: &Ctx<'js>, keys: &[String], items: &[Value<'js>]) -> Result<Vec<Value<'js>>> {
    let state = state(ctx);
    let limits = &state.program.settings.http;
    let batch = Rc::new(Batch {
        queues: RefCell::new(Queues::new(limits.batch_per_host)),
        ended: RefCell::default(),
        open: Cell::new(items.len()),
        under_way: Cell::new(0),
        most: limits.batch.max(1),
        is_starting: Cell::new(false),
    });
    for (at, (key, item)) in keys.iter().zip(items).enumerate() {
        let prepared = prepare(ctx, key, item)?;
        match prepared {
            Ok(call) => batch.queues.borrow_mut().add(at, call),
            Err(refused) if state.program.settings.throw => {
                return Err(error::throw(ctx, &refused.message));
            }
            Err(refused) => {
                let fields = [("error", refused.message.as_str())];
                state.log(LogLevel::Warning, "A batch request failed", &fields);
                return refuse_all(ctx, at, &refused);
            }
        }
    }
    batch.ended.borrow_mut().resize_with(items.len(), || None);
    start_more(ctx, &batch)?;
    if batch.open.get() > 0 {
        state.wait_until(ctx, || batch.open.get() == 0)?;
    }
    responses(ctx, &batch)
}

/// A request that cannot be made prevents the whole batch from being sent; as in k6, those after it have no
/// response at all.
fn refuse_all<'js>(ctx: &Ctx<'js>, at: usize, refused: &Refused) -> Result<Vec<Value<'js>>> {
    let blank = Facts::refused(String::new(), 0, String::new());
    let faulty = request::refused_facts(refused.clone());
    let facts = (0..=at).map(|item| if item == at { &faulty } else { &blank });
    facts
        .map(|facts| {
            let mut facts = facts.clone();
            facts.failure = None;
            Response::make(ctx, facts)
        })
        .collect()
}

fn responses<'js>(ctx: &Ctx<'js>, batch: &Batch) -> Result<Vec<Value<'js>>> {
    let ended = std::mem::take(&mut *batch.ended.borrow_mut());
    let mut first_thrown = None;
    let mut responses = Vec::with_capacity(ended.len());
    for facts in ended {
        let facts = facts.expect("all have ended");
        match request::conclude(ctx, facts)? {
            Ok(response) => responses.push(response),
            Err(words) => {
                first_thrown.get_or_insert(words);
            }
        }
    }
    match first_thrown {
        Some(words) => Err(error::throw(ctx, &words)),
        None => Ok(responses),
    }
}

/// Starts as many as the limits allow.
fn start_more(ctx: &Ctx<'_>, batch: &Rc<Batch>) -> Result<()> {
    if batch.is_starting.replace(true) {
        return Ok(());
    }
    let mut outcome = Ok(());
    while outcome.is_ok()
        && batch.under_way.get() < batch.most
        && let Some((at, call, host)) = batch.take_next()
    {
        let place = Rc::clone(batch);
        let on_done = move |ctx: &Ctx<'_>, facts: Facts| {
            place.ended.borrow_mut()[at] = Some(facts);
            place.open.set(place.open.get() - 1);
            place.under_way.set(place.under_way.get() - 1);
            place.queues.borrow_mut().leave(host);
            start_more(ctx, &place)
        };
        outcome = request::beside(ctx, call, Box::new(on_done));
    }
    batch.is_starting.set(false);
    outcome
}

impl Batch {
    /// The next request whose host has capacity, counted as started; with its host's number.
    fn take_next(&self) -> Option<(usize, Rc<Call>, usize)> {
        let next = self.queues.borrow_mut().take_next()?;
        self.under_way.set(self.under_way.get() + 1);
        Some(next)
    }
}

impl Queues {
    /// `most_per_host`: zero means no limit.
    fn new(most_per_host: usize) -> Queues {
        Queues {
            hosts: Vec::new(),
            number_of: HashMap::new(),
            ready: BTreeSet::new(),
            most_per_host: match most_per_host {
                0 => usize::MAX,
                most => most,
            },
        }
    }

    /// Appends a request with its position among the items.
    fn add(&mut self, at: usize, call: Rc<Call>) {
        let name = call.address.host();
        let host = match self.number_of.get(name) {
            Some(known) => *known,
            None => {
                self.number_of.insert(name.to_owned(), self.hosts.len());
                self.hosts.push(HostQueue::default());
                self.hosts.len() - 1
            }
        };
        self.hosts[host].waiting.push_back((at, call));
        self.look_at(host);
    }

    fn take_next(&mut self) -> Option<(usize, Rc<Call>, usize)> {
        let (_, host) = self.ready.pop_first()?;
        let queue = &mut self.hosts[host];
        let (at, call) = queue.waiting.pop_front()?;
        queue.running += 1;
        self.look_at(host);
        Some((at, call, host))
    }

    /// A request to this host has ended.
    fn leave(&mut self, host: usize) {
        self.hosts[host].running -= 1;
        self.look_at(host);
    }

    fn look_at(&mut self, host: usize) {
        let queue = &self.hosts[host];
        if let Some((first, _)) = queue.waiting.front()
            && queue.running < self.most_per_host
        {
            self.ready.insert((*first, host));
        }
    }
}

/// One item: a URL, a list of arguments, or an object of them. As in k6, only the method of an object is
/// converted to upper case.
fn prepare<'js>(ctx: &Ctx<'js>, key: &str, item: &Value<'js>) -> Result<Prepared> {
    let mut arguments = Arguments {
        method: "GET".into(),
        url: None,
        body: None,
        params: None,
    };
    let given = |value: Value<'js>| (!value.is_undefined() && !value.is_null()).then_some(value);
    if let Some(array) = item.as_array() {
        if array.len() < 2 {
            let mut shown = Vec::new();
            for value in array.iter::<Value<'js>>() {
                let value = value?;
                shown.push(match value.as_string() {
                    Some(text) => loadline_go::quoted(&text.to_string()?),
                    None => go_value::format(&value)?,
                });
            }
            let message = format!(
                "invalid batch request '[]interface {{}}{{{}}}'",
                shown.join(", ")
            );
            return Ok(Err(Refused::new(message)));
        }
        match method_of(&array.get(0)?)? {
            Ok(method) => arguments.method = method.into(),
            Err(refused) => return Ok(Err(refused)),
        }
        arguments.url = given(array.get(1)?);
        arguments.body = given(array.get(2)?);
        arguments.params = given(array.get(3)?);
    } else if let Some(object) = item.as_object().filter(|object| is_description(object)) {
        arguments.url = given(object.get("url")?);
        if arguments.url.is_none() {
            let message = format!("batch request {key} doesn't have a url key");
            return Ok(Err(Refused::new(message)));
        }
        if object.contains_key("method")? {
            match method_of(&object.get("method")?)? {
                Ok(method) => arguments.method = method.to_uppercase().into(),
                Err(refused) => return Ok(Err(refused)),
            }
        }
        arguments.body = given(object.get("body")?);
        arguments.params = given(object.get("params")?);
    } else {
        arguments.url = given(item.clone());
    }
    request::prepare(ctx, &arguments)
}

fn method_of(value: &Value<'_>) -> Result<std::result::Result<String, Refused>> {
    match value.as_string() {
        Some(text) => text.to_string().map(Ok),
        None => {
            let shown = go_value::format(value)?;
            Ok(Err(Refused::new(format!("invalid method type '{shown}'"))))
        }
    }
}

/// Whether an object describes a request, rather than being a URL itself.
fn is_description(object: &Object<'_>) -> bool {
    !object.contains_key("clean_url").unwrap_or(false)
        && !object.contains_key("href").unwrap_or(false)
}

#[cfg(test)]
mod tests;

//! `check`: tests values against named conditions.
//!
//! Beyond k6: a condition may be async; then `check` returns a promise. Must not know who counts. Invariant:
//! every condition that was evaluated to its end is recorded once.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};

use loadline_metric::TagSet;

use super::group::{BAD_NAME, current_tags};
use crate::go_error::{refuse, refuse_in_init};
use crate::kinds::is_async;
use crate::modules::go_values::object_of;
use crate::modules::http::name_of_request;
use crate::modules::tags;
use crate::samples::CheckSample;
use crate::system_tags::SystemTag;
use crate::vu::{Stage, state};

pub(super) fn check<'js>(
    ctx: Ctx<'js>,
    value: Opt<Value<'js>>,
    conditions: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    if state(&ctx).stage.get() == Stage::Init {
        return Err(refuse_in_init(
            &ctx,
            "Using check() in the init context is not supported",
        ));
    }
    let Some(conditions) = conditions.0 else {
        return Err(refuse(&ctx, "no checks provided to `check`"));
    };
    if conditions.is_null() || conditions.is_undefined() {
        return Err(Exception::throw_type(
            &ctx,
            "Cannot convert undefined or null to object",
        ));
    }
    let conditions = object_of(&ctx, &conditions)?;
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let base = tags_of_check(&ctx, tags.0.as_ref())?;
    let mut held = true;
    let mut promises: Vec<Value<'js>> = Vec::new();
    for entry in conditions.props::<String, Value<'js>>() {
        let (name, condition) = entry?;
        if name.contains("::") {
            return Err(refuse(&ctx, BAD_NAME));
        }
        match outcome(&ctx, &value, &condition) {
            // As in k6, any other promise is true.
            Ok(outcome) if outcome.is_promise() && is_async(&condition) => {
                promises.push(later(&ctx, &outcome, &name, base.clone())?);
            }
            Ok(outcome) => {
                let passed = outcome.get::<Coerced<bool>>()?.0;
                record(&ctx, &name, passed, &base, Some(&value));
                held &= passed;
            }
            Err(error) => {
                // A condition interrupted by the end of the iteration has no result.
                if state(&ctx).is_cancelled() || !error.is_exception() {
                    return Err(error);
                }
                // Looking at the value would lose what was thrown.
                let thrown = ctx.catch();
                record(&ctx, &name, false, &base, Some(&value));
                return Err(ctx.throw(thrown));
            }
        }
    }
    if promises.is_empty() {
        return Ok(Value::new_bool(ctx, held));
    }
    all(&ctx, promises, held)
}

fn outcome<'js>(ctx: &Ctx<'js>, value: &Value<'js>, condition: &Value<'js>) -> Result<Value<'js>> {
    match condition.as_function() {
        Some(function) => function.call((value.clone(),)),
        None => {
            let _ = ctx;
            Ok(condition.clone())
        }
    }
}

/// Records an async condition when its promise settles; returns a promise for its result.
fn later<'js>(
    ctx: &Ctx<'js>,
    promise: &Value<'js>,
    name: &str,
    base: TagSet,
) -> Result<Value<'js>> {
    let (name, failed_name, failed_base) = (name.to_owned(), name.to_owned(), base.clone());
    let settled = move |ctx: Ctx<'js>, value: Value<'js>| -> Result<bool> {
        let passed = value.get::<Coerced<bool>>()?.0;
        record(&ctx, &name, passed, &base, None);
        Ok(passed)
    };
    let rejected = move |ctx: Ctx<'js>, reason: Value<'js>| -> Result<bool> {
        record(&ctx, &failed_name, false, &failed_base, None);
        Err(ctx.throw(reason))
    };
    let object = promise.as_object().expect("a promise is an object");
    let then: Function<'js> = object.get("then")?;
    then.call((
        rquickjs::function::This(promise.clone()),
        Function::new(ctx.clone(), settled)?,
        Function::new(ctx.clone(), rejected)?,
    ))
}

/// A promise for whether all are true.
fn all<'js>(ctx: &Ctx<'js>, promises: Vec<Value<'js>>, held: bool) -> Result<Value<'js>> {
    let promise: Object<'js> = ctx.globals().get("Promise")?;
    let all: Function<'js> = promise.get("all")?;
    let joined: Object<'js> = all.call((rquickjs::function::This(promise), promises))?;
    let then: Function<'js> = joined.get("then")?;
    let conclude = move |outcomes: Vec<bool>| held && outcomes.into_iter().all(|passed| passed);
    then.call((
        rquickjs::function::This(joined),
        Function::new(ctx.clone(), conclude)?,
    ))
}

fn tags_of_check<'js>(ctx: &Ctx<'js>, own: Option<&Value<'js>>) -> Result<TagSet> {
    let mut all = (*current_tags(ctx)).clone();
    if let Some(own) = own {
        tags::add(ctx, &object_of(ctx, own)?, &mut all)?;
    }
    Ok(all)
}

/// `examined`: the value that was tested, if it is at hand.
fn record(ctx: &Ctx<'_>, name: &str, passed: bool, base: &TagSet, examined: Option<&Value<'_>>) {
    let state = state(ctx);
    let request = examined.filter(|_| !passed).and_then(name_of_request);
    let group = state.group.borrow().clone();
    let tags = if state.has_tag(SystemTag::Check) {
        base.clone().with("check", name)
    } else {
        base.clone()
    };
    state.host.check(&CheckSample {
        name,
        group: &group,
        passed,
        request: request.as_deref(),
        tags: &tags,
    });
}

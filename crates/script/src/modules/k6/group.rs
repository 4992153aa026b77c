//! `group`: a named part of an iteration.
//!
//! Beyond k6: the function may be async; the group then lasts until its promise settles, and includes
//! everything that the function does after waiting. Must not know who counts. Invariant: after a call the group
//! is the same as before it.

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Result, Value};

use loadline_metric::TagSet;

use crate::go_error::{refuse, refuse_in_init};
use crate::kinds::is_async;
use crate::modules::go_values::GoText;
use crate::system_tags::SystemTag;
use crate::vu::{Stage, state};

/// Maximum depth of nested groups: readers of reports recurse into them.
const LEVELS_MAX: usize = 250;
pub(super) const BAD_NAME: &str = "group and check names may not contain '::'";

pub(super) fn group<'js>(
    ctx: Ctx<'js>,
    name: Opt<GoText>,
    body: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let GoText(name) = name.0.unwrap_or_default();
    let throw = |message: &str| refuse(&ctx, message);
    let state = state(&ctx);
    if state.stage.get() == Stage::Init {
        let message = "Using group() in the init context is not supported";
        return Err(refuse_in_init(&ctx, message));
    }
    if name.contains("::") {
        return Err(throw(BAD_NAME));
    }
    let Some(body) = body.0.as_ref().and_then(Value::as_function) else {
        return Err(throw("group() requires a callback as a second argument"));
    };
    let outside = state.group.borrow().clone();
    // As in k6, a group without a name at the top level is not a group.
    let path: Rc<str> = match (&*outside, name.as_str()) {
        ("", "") => Rc::clone(&outside),
        (outside, name) => Rc::from(format!("{outside}::{name}")),
    };
    if path.matches("::").count() > LEVELS_MAX {
        let message = "Maximum call stack size exceeded";
        return Err(Exception::throw_range(&ctx, message));
    }
    let begun = state.host.now();
    *state.group.borrow_mut() = Rc::clone(&path);
    // As in k6, the group of a plain function that returns a promise ends when the function returns.
    let is_async = is_async(body.as_value());
    let mark = if is_async {
        state.mark_of_group(&path)
    } else {
        0
    };
    let before = (mark != 0).then(|| state.mark_reactions(mark));
    let outcome: Result<Value<'js>> = body.call(());
    if let Some(before) = before {
        state.mark_reactions(before);
    }
    *state.group.borrow_mut() = outside;
    if is_async && let Ok(value) = &outcome {
        return leave_later(&ctx, value, path, begun.0);
    }
    leave(&ctx, &path, begun.0);
    outcome
}

/// Records that a group ended.
fn leave(ctx: &Ctx<'_>, path: &Rc<str>, begun_ns: u64) {
    let state = state(ctx);
    let duration_ns = state.host.now().0.saturating_sub(begun_ns);
    let in_force = state.group.replace(Rc::clone(path));
    // As in k6, a group interrupted by the end of its iteration has no duration.
    if !state.is_cancelled() {
        let tags = current_tags(ctx);
        state.host.group(path, duration_ns, &*tags);
    }
    *state.group.borrow_mut() = in_force;
}

/// Ends the group when the promise of its body settles.
fn leave_later<'js>(
    ctx: &Ctx<'js>,
    promise: &Value<'js>,
    path: Rc<str>,
    begun_ns: u64,
) -> Result<Value<'js>> {
    let at_end = move |ctx: Ctx<'js>| leave(&ctx, &path, begun_ns);
    let object = promise.as_object().expect("a promise is an object");
    let finally: Function<'js> = object.get("finally")?;
    finally.call((
        rquickjs::function::This(promise.clone()),
        Function::new(ctx.clone(), at_end)?,
    ))
}

/// The tags of a sample now: the virtual user's, and the group.
pub(crate) fn current_tags(ctx: &Ctx<'_>) -> Rc<TagSet> {
    let state = state(ctx);
    let base = state.tags.borrow().clone();
    if !state.has_tag(SystemTag::Group) {
        return base;
    }
    let group = state.group.borrow().clone();
    if base.get("group") == Some(&*group) {
        return base;
    }
    let tags = Rc::new((*base).clone().with("group", &*group));
    if group.is_empty() {
        // Outside of groups the set is the same for every sample, and is created once.
        *state.tags.borrow_mut() = Rc::clone(&tags);
    }
    tags
}

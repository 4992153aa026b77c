//! The tags and metadata of a virtual user's samples, as `exec.vu.metrics` reads and writes them.
//!
//! Must not know samples. Invariant: a label's value is text; values other than text, numbers and booleans are
//! refused.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use loadline_metric::TagSet;

use crate::modules::k6::current_tags;
use crate::modules::tags as values;
use crate::vu::state;

/// The tag set by entering and leaving groups.
const GROUP: &str = "group";

/// Functions over the tags.
pub(super) fn tags<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let functions = Object::new(ctx.clone())?;
    let all = |ctx: Ctx<'js>| object_of(&ctx, &current_tags(&ctx));
    functions.set("all", Function::new(ctx.clone(), all)?)?;
    functions.set("put", Function::new(ctx.clone(), put_tag)?)?;
    functions.set("remove", Function::new(ctx.clone(), remove_tag)?)?;
    Ok(functions)
}

/// Functions over the metadata.
pub(super) fn metadata<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let functions = Object::new(ctx.clone())?;
    let all = |ctx: Ctx<'js>| object_of(&ctx, &known_metadata(&ctx));
    functions.set("all", Function::new(ctx.clone(), all)?)?;
    functions.set("put", Function::new(ctx.clone(), put_metadata)?)?;
    let remove = |ctx: Ctx<'_>, name: String| {
        let rest = without(&known_metadata(&ctx), &name);
        state(&ctx).set_metadata(Some(Arc::new(rest)));
    };
    functions.set("remove", Function::new(ctx.clone(), remove)?)?;
    Ok(functions)
}

fn put_tag(ctx: Ctx<'_>, name: String, value: Value<'_>) -> Result<()> {
    let Some(text) = values::plain(&value)? else {
        return Err(Exception::throw_type(&ctx, &values::refusal(&name)));
    };
    let state = state(&ctx);
    if name == GROUP {
        *state.group.borrow_mut() = Rc::from(text);
        return Ok(());
    }
    let own = Rc::clone(&state.tags.borrow());
    *state.tags.borrow_mut() = Rc::new((*own).clone().with(name, text));
    Ok(())
}

fn remove_tag(ctx: Ctx<'_>, name: String) {
    let state = state(&ctx);
    let rest = without(&state.tags.borrow(), &name);
    *state.tags.borrow_mut() = Rc::new(rest);
}

fn put_metadata(ctx: Ctx<'_>, name: String, value: Value<'_>) -> Result<()> {
    let Some(text) = values::plain(&value)? else {
        let message = format!(
            "invalid value for metric metadata '{name}': only String, Boolean and Number types are accepted as a metric metadata value"
        );
        return Err(Exception::throw_type(&ctx, &message));
    };
    state(&ctx).put_metadata(&name, text);
    Ok(())
}

fn known_metadata(ctx: &Ctx<'_>) -> TagSet {
    let known = state(ctx).metadata.borrow();
    known.as_deref().cloned().unwrap_or_default()
}

fn without(all: &TagSet, name: &str) -> TagSet {
    let kept = all.iter().filter(|(other, _)| *other != name);
    kept.collect()
}

fn object_of<'js>(ctx: &Ctx<'js>, all: &TagSet) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in all.iter() {
        object.set(name, value)?;
    }
    Ok(object)
}

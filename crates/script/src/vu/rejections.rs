//! Promises rejected without a handler.
//!
//! Must not know the consequences. Invariant: a rejection that gets a handler before the job queue is empty is
//! forgotten.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Persistent, Runtime, Value};

/// Maximum stored rejections.
const MAX: usize = 1_000;

type Rejected = (Persistent<Value<'static>>, Persistent<Value<'static>>);

/// The rejections of one virtual user.
#[derive(Clone, Default)]
pub(crate) struct Rejections {
    unheard: Rc<RefCell<Vec<Rejected>>>,
}

impl Rejections {
    /// Watches a runtime.
    pub(crate) fn watch(&self, runtime: &Runtime) {
        let unheard = Rc::clone(&self.unheard);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| {
                let promise = Persistent::save(&ctx, promise);
                let mut unheard = unheard.borrow_mut();
                if is_handled {
                    unheard.retain(|(other, _)| *other != promise);
                } else if unheard.len() < MAX {
                    unheard.push((promise, Persistent::save(&ctx, reason)));
                }
            },
        )));
    }

    /// Whether there are no rejections.
    pub(crate) fn is_empty(&self) -> bool {
        self.unheard.borrow().is_empty()
    }

    /// Takes the reasons, except that of `except`.
    pub(crate) fn take<'js>(&self, ctx: &Ctx<'js>, except: Option<&Value<'js>>) -> Vec<Value<'js>> {
        let unheard = std::mem::take(&mut *self.unheard.borrow_mut());
        unheard
            .into_iter()
            .filter_map(|(promise, reason)| {
                let promise = promise.restore(ctx).ok()?;
                let is_excepted = except.is_some_and(|except| *except == promise);
                let reason = reason.restore(ctx).ok()?;
                (!is_excepted).then_some(reason)
            })
            .collect()
    }

    /// Removes all.
    pub(crate) fn clear(&self) {
        self.unheard.borrow_mut().clear();
    }
}

//! Texts made from invalid UTF-8, with the original bytes: k6's strings keep them until they are cut or joined.
//!
//! Must not know where a text comes from, or where it goes. Invariants: a listed text is alive, so its address
//! is unique; texts of an iteration are removed at its end.

use std::cell::RefCell;

use bytes::Bytes;
use rquickjs::{Ctx, Persistent, Value, qjs};

/// Maximum texts per iteration; the oldest is removed first. Each may hold a whole body.
const OF_ITERATION_MAX: usize = 16;
/// Maximum texts of the init context: files, whose bytes all virtual users share.
const OF_INIT_MAX: usize = 1_024;

/// The texts of one virtual user.
#[derive(Default)]
pub(crate) struct RawTexts {
    of_init: RefCell<Vec<RawText>>,
    of_iteration: RefCell<Vec<RawText>>,
}

struct RawText {
    address: usize,
    bytes: Bytes,
    /// Keeps the text alive.
    _text: Persistent<Value<'static>>,
}

impl RawTexts {
    /// Stores the original bytes of a text; `is_init`: in the init context.
    pub(crate) fn keep<'js>(&self, ctx: &Ctx<'js>, text: &Value<'js>, bytes: Bytes, is_init: bool) {
        let (list, most) = match is_init {
            true => (&self.of_init, OF_INIT_MAX),
            false => (&self.of_iteration, OF_ITERATION_MAX),
        };
        let mut list = list.borrow_mut();
        if list.len() == most {
            list.remove(0);
        }
        list.push(RawText {
            address: address(text),
            bytes,
            _text: Persistent::save(ctx, text.clone()),
        });
    }

    /// The original bytes of a string; `None` if not stored.
    pub(crate) fn find(&self, text: &Value<'_>) -> Option<Bytes> {
        let address = address(text);
        let lists = [&self.of_iteration, &self.of_init];
        lists.into_iter().find_map(|list| {
            let list = list.borrow();
            let found = list.iter().find(|known| known.address == address);
            found.map(|known| known.bytes.clone())
        })
    }

    /// Removes the texts of the task that ended.
    pub(super) fn end_task(&self) {
        self.of_iteration.borrow_mut().clear();
    }

    /// Removes everything: before the context is dropped.
    pub(super) fn clear(&self) {
        self.end_task();
        self.of_init.borrow_mut().clear();
    }
}

/// The address of a string.
fn address(text: &Value<'_>) -> usize {
    // SAFETY: a string is a pointer, and nothing is read through it.
    unsafe { qjs::JS_VALUE_GET_PTR(text.as_raw()) as usize }
}

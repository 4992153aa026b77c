//! Requests of other modules, which show in their own way what came of them.
//!
//! Must not know who asks. Invariant: they are sent and recorded as those of this module are.

use std::rc::Rc;

use rquickjs::{Ctx, Result};

use super::request::{self, Arguments, OnDone};

/// Sends a request that goes on beside the script; `on_done` is told the outcome. The inner
/// error says why it was never made.
///
/// # Errors
/// What the script's own code threw, and that there are no requests while modules are loaded.
pub(in crate::modules) fn send_beside<'js>(
    ctx: &Ctx<'js>,
    arguments: &Arguments<'js>,
    with_cookies: bool,
    on_done: OnDone,
) -> Result<std::result::Result<(), String>> {
    let mut call = match request::prepare(ctx, arguments)? {
        Ok(call) => call,
        Err(refused) => return Ok(Err(refused.message)),
    };
    if !with_cookies && let Some(call) = Rc::get_mut(&mut call) {
        call.jar = None;
        call.sent_cookies.clear();
    }
    request::beside(ctx, call, on_done)?;
    Ok(Ok(()))
}

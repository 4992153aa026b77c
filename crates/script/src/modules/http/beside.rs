//! Requests of other modules, which report results in their own way.
//!
//! Must not know the callers. Invariant: they are sent and recorded like those of this module.

use std::rc::Rc;

use rquickjs::{Ctx, Result};

use super::request::{self, Arguments, OnDone};

/// Sends a request that runs concurrently with the script; `on_done` gets the outcome. The inner error says why
/// it could not be built.
///
/// # Errors
/// An exception from the script's own code, or a call while modules are loaded, when requests are not allowed.
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

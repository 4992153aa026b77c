//! Web APIs: URLs, events, streams, bodies, `fetch`; created on first access.
//!
//! Most of it is JavaScript, with natives for what JavaScript cannot do. Must not know k6's modules except the
//! client, which `fetch` uses. Invariant: what a script never mentions is never created.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod fetch;
#[cfg(test)]
mod tests;
mod url;

use rquickjs::function::IntoJsFunc;
use rquickjs::{Ctx, Function, Object, Result};

use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const URL: Builtin = Builtin {
    name: "loadline:web/url",
    body: Body::Script {
        text: include_str!("url.js"),
        natives: url::natives,
    },
};

pub(super) const EVENTS: Builtin = Builtin {
    name: "loadline:web/events",
    body: Body::Script {
        text: include_str!("events.js"),
        natives: events,
    },
};

pub(super) const STREAMS: Builtin = Builtin {
    name: "loadline:web/streams",
    body: Body::Script {
        text: include_str!("streams.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

pub(super) const WRITABLE: Builtin = Builtin {
    name: "loadline:web/writable",
    body: Body::Script {
        text: include_str!("writable.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

/// The streams under k6's module name.
pub(super) const K6_STREAMS: Builtin = Builtin {
    name: "k6/experimental/streams",
    body: Body::Script {
        text: include_str!("k6_streams.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

pub(super) const BODIES: Builtin = Builtin {
    name: "loadline:web/bodies",
    body: Body::Script {
        text: include_str!("bodies.js"),
        natives: bodies,
    },
};

pub(super) const FETCH: Builtin = Builtin {
    name: "loadline:web/fetch",
    body: Body::Script {
        text: include_str!("fetch.js"),
        natives: fetch::natives,
    },
};

fn add<'js, P>(
    natives: &Object<'js>,
    name: &str,
    body: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    natives.set(name, Function::new(natives.ctx().clone(), body)?)
}

fn events<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    add(&natives, "now", now_ms)?;
    Ok(natives)
}

/// Milliseconds since the start of the run.
fn now_ms(ctx: Ctx<'_>) -> f64 {
    state(&ctx).host.now().0 as f64 / 1e6
}

fn bodies<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    add(&natives, "random", random)?;
    add(&natives, "now", unix_ms)?;
    Ok(natives)
}

/// Digits that are unlikely to occur in any body.
fn random(ctx: Ctx<'_>) -> String {
    let host = &state(&ctx).host;
    format!("{:016x}{:016x}", host.random(), host.random())
}

/// Whole milliseconds since 1970.
fn unix_ms(ctx: Ctx<'_>) -> f64 {
    (state(&ctx).host.unix_ns() / 1_000_000) as f64
}

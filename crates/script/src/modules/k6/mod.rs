//! The module `k6`: checks, groups, sleep, `fail`, the random seed.
//!
//! Must not know who counts checks. Invariant: every entered group is left, even after an exception, and its
//! time recorded.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod check;
mod group;

pub(crate) use group::current_tags;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Result};

use loadline_model::Nanos;

use crate::go_error::refuse;
use crate::lazy::{Lazy, go_name, native};
use crate::modules::go_values::GoText;
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6",
    body: Body::Natives(&[
        Lazy::new("check", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6", "(*K6).Check-fm"),
                check::check,
            )
        }),
        Lazy::new("fail", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6", "(*K6).Fail-fm"),
                fail,
            )
        }),
        Lazy::new("group", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6", "(*K6).Group-fm"),
                group::group,
            )
        }),
        Lazy::new("randomSeed", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6", "(*K6).RandomSeed-fm"),
                random_seed,
            )
        }),
        Lazy::new("sleep", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6", "(*K6).Sleep-fm"),
                sleep,
            )
        }),
    ]),
};

fn fail(ctx: Ctx<'_>, message: Opt<GoText>) -> Result<()> {
    let GoText(message) = message.0.unwrap_or_default();
    Err(refuse(&ctx, &message))
}

fn sleep(ctx: Ctx<'_>, seconds: Opt<Coerced<f64>>) -> Result<()> {
    let seconds = seconds.0.map_or(0.0, |seconds| seconds.0);
    if seconds > 0.0 {
        let state = state(&ctx);
        let length = (seconds * 1e9).min(u64::MAX as f64 / 2.0) as u64;
        let until = Nanos(state.host.now().0.saturating_add(length));
        state.sleep_until(&ctx, until)?;
    }
    Ok(())
}

/// Replaces `Math.random` by a generator with this seed (SplitMix64; Steele, Lea, Flood 2014).
fn random_seed(ctx: Ctx<'_>, seed: Opt<Coerced<f64>>) -> Result<()> {
    let mut bits = seed.0.map_or(0.0, |seed| seed.0).to_bits();
    let random = move || {
        bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = bits;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let math: Object<'_> = ctx.globals().get("Math")?;
    let random = rquickjs::function::MutFn::from(random);
    math.set(
        "random",
        Function::new(ctx.clone(), random)?.with_name("random")?,
    )
}

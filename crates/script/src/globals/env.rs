//! `__ENV`: the variables of the run, overridden by those of the scenario.
//!
//! Source: k6 recreates it for every scenario that a virtual user starts, so a script's changes are lost then.
//! Must not know where variables come from. Invariant: assigned values become text.

use rquickjs::function::Constructor;
use rquickjs::{Coerced, Ctx, Object, Result, Value};

use crate::lazy::{self, Lazy, Seen, native};
use crate::modules::data::freeze_one;
use crate::vu::state;

/// The property, created when a script first reads it.
const ENV: &[Lazy] = &[Lazy::new(NAME, |ctx, _, _| variables(ctx))];
const NAME: &str = "__ENV";

/// Installs it in the global scope, replacing the previous one.
pub(crate) fn renew_env(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    globals.remove(NAME)?;
    lazy::define(&globals, ENV, Seen::Yes)
}

fn variables<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let state = state(ctx);
    let settings = &state.program.settings;
    let env = Object::new(ctx.clone())?;
    let scenario = state.scenario.borrow();
    let own = scenario.iter().flat_map(|scenario| &scenario.env);
    let own = own.map(|(name, value)| (name, value));
    for (name, value) in settings.env.iter().chain(own) {
        env.set(name.as_str(), value.as_str())?;
    }
    if settings.freeze_env {
        freeze_one(&env)?;
        return Ok(env.into_value());
    }
    let traps = Object::new(ctx.clone())?;
    traps.set("set", native(ctx, "set", assign)?)?;
    let proxy: Constructor<'_> = ctx.globals().get("Proxy")?;
    proxy.construct((env, traps))
}

/// The trap `set(target, key, value)`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]
fn assign<'js>(env: Object<'js>, name: Value<'js>, value: Value<'js>) -> Result<bool> {
    let text = match value.is_null() || value.is_undefined() {
        true => String::new(),
        false => value.get::<Coerced<String>>()?.0,
    };
    env.set(name, text)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn what_is_assigned_becomes_a_text_and_is_gone_with_the_scenario() {
        let script = r"
            Object.assign(__ENV, { N: 5, O: { x: 1 }, Z: null, L: [1, 2] });
            console.log(Object.values(__ENV).map((value) => typeof value + ' ' + value).join('; '));
            export default function () {
                console.log(__ENV.N, __ENV.KEPT);
                __ENV.KEPT = 1;
            }";
        let rehearsed = Rehearsal::new(script).iterations(2).run();
        let log: Vec<_> = rehearsed.log();
        assert_eq!(
            log,
            [
                "info string 5; string [object Object]; string ; string 1,2 source=console",
                "info undefined undefined source=console",
                "info undefined 1 source=console",
            ]
        );
    }
}

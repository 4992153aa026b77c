//! `k6/secrets`: values that are never shown in the log and the results.
//!
//! Must not know where secrets come from. Invariant: a secret is redacted as soon as a script gets it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use rquickjs::{Ctx, Function, Object, Result};

use crate::go_error::{self, GoValue};
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/secrets",
    body: Body::Script {
        text: include_str!("secrets.js"),
        natives,
    },
};

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("get", Function::new(ctx.clone(), get)?)?;
    Ok(natives)
}

/// A secret from a source.
fn get(ctx: Ctx<'_>, source: String, name: String) -> Result<String> {
    let found = state(&ctx).program.settings.secrets.get(&source, &name);
    match found {
        Ok(secret) => Ok(secret.to_owned()),
        Err(why) => Err(ctx.throw(go_error::value(&ctx, &GoValue::plain(&why))?)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use crate::secrets::Secrets;
    use crate::testing::Rehearsal;

    #[test]
    fn secrets_are_had_by_source_and_name() {
        let script = r#"import secrets from "k6/secrets";
            const tell = async (secret) => { try { console.log(await secret); } catch (e) { console.log(String(e)); } };
            await tell(secrets.get("a"));
            export default async function () {
                await tell(secrets.get("b"));
                await tell(secrets.source("mine").get("a"));
                await tell(secrets.source("none").get("a"));
            }"#;
        let source = Arc::new(BTreeMap::from([("a".to_owned(), "s3cret".to_owned())]));
        let sources = ["default", "mine"].map(|name| (name.to_owned(), Arc::clone(&source)));
        let secrets = Arc::new(Secrets::new(BTreeMap::from(sources)));
        let kept = Arc::clone(&secrets);
        let rehearsed = Rehearsal::new(script)
            .settings(move |settings| settings.secrets = kept)
            .run();
        let log = rehearsed
            .log()
            .join("\n")
            .replace("info ", "")
            .replace(" source=console", "");
        assert_eq!(
            log,
            "s3cret\nno value\ns3cret\nno secret source with name \"none\" is configured"
        );
        assert_eq!(secrets.redacted("<s3cret>"), "<***SECRET_REDACTED***>");
    }
}

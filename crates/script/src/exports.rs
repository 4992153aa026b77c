//! The exports of a script.
//!
//! Must not know the meaning of options. Invariant: reading exports runs no script code except getters.

use rquickjs::{Ctx, Object, Result, Value};
use serde_json::Value as Json;

use crate::exported::{self, Refusal};
use crate::loading::WHOLE;
use crate::vu::{FailureKind, ScriptFailure, failure_of};

/// What a script exports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exports {
    /// The names of its functions.
    pub functions: Vec<String>,
    /// Its `options` as JSON; `Null` if there are none.
    pub options: Json,
}

impl Exports {
    /// # Errors
    /// The options have no JSON; in k6's words.
    pub(crate) fn of<'js>(
        ctx: &Ctx<'js>,
        namespace: &Object<'js>,
    ) -> std::result::Result<Exports, ScriptFailure> {
        let functions: Vec<String> = namespace
            .keys::<String>()
            .filter_map(|key| key.ok())
            .filter(|key| {
                namespace
                    .get::<_, Value<'js>>(key.as_str())
                    .is_ok_and(|value| value.is_function())
            })
            .collect();
        for name in ["setup", "teardown"] {
            let is_function = functions.iter().any(|function| function == name);
            if !is_function && namespace.contains_key(name).unwrap_or(false) {
                return Err(refused(format!("exported '{name}' must be a function")));
            }
        }
        let options = match namespace.get::<_, Value<'js>>("options") {
            Ok(value) if !value.is_undefined() => options_of(ctx, &value)?,
            _ => Json::Null,
        };
        Ok(Exports { functions, options })
    }
}

fn options_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> std::result::Result<Json, ScriptFailure> {
    // Go structs only come with responses, and nothing was sent yet.
    let json = exported::json(ctx, value, |_| false).map_err(|refusal| match refusal {
        Refusal::Thrown(error) => failure_of(ctx, &error).message,
        Refusal::Unsupported(why) | Refusal::TooDeep(why) => why,
    });
    let read = json.and_then(|json| serde_json::from_str(&json).map_err(|error| error.to_string()));
    read.map_err(|why| refused(format!("error parsing script options: {why}")))
}

fn refused(message: String) -> ScriptFailure {
    ScriptFailure {
        kind: FailureKind::BadData,
        message,
        trace: String::new(),
    }
}

/// The object whose properties are the entry script's exports: for CommonJS `module.exports`.
pub(crate) fn of_entry<'js>(_ctx: &Ctx<'js>, namespace: Object<'js>) -> Result<Object<'js>> {
    if !namespace.contains_key(WHOLE)? {
        return Ok(namespace);
    }
    let exports: Value<'js> = namespace.get(WHOLE)?;
    Ok(exports.into_object().unwrap_or(namespace))
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn setup_and_teardown_are_functions() {
        for name in ["setup", "teardown"] {
            for value in ["5", "null", "undefined", "{}"] {
                let script =
                    format!("export const {name} = {value}; export default function () {{}}");
                let refused = Rehearsal::new(&script).run().exports.unwrap_err();
                assert_eq!(
                    refused.message,
                    format!("exported '{name}' must be a function")
                );
            }
        }
    }

    #[test]
    fn options_that_cannot_be_read_are_told() {
        for (options, told) in [
            (
                "const o = {}; o.o = o; export const options = o;",
                "json: unsupported value: encountered a cycle via map[string]interface {}",
            ),
            (
                "let o = {}; for (let i = 0; i < 100000; i++) o = { o }; export const options = o;",
                "invalid character '{' exceeded max depth",
            ),
            (
                "let o = 1; for (let i = 0; i < 200; i++) o = [o]; export const options = { o };",
                "recursion limit exceeded at line 1 column 132",
            ),
        ] {
            let script = format!("{options} export default function () {{}}");
            let refused = Rehearsal::new(&script).run().exports.unwrap_err();
            assert_eq!(
                refused.message,
                format!("error parsing script options: {told}")
            );
        }
    }
}

//! What a script exports, as whoever runs it wants to know it.
//!
//! Must not know what options mean. Invariant: reading exports runs nothing of the script but its
//! getters.

use rquickjs::{Ctx, Object, Result, Value};
use serde_json::Value as Json;

use crate::loading::WHOLE;

/// What a script exports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exports {
    /// The names of its functions.
    pub functions: Vec<String>,
    /// Its `options` as JSON; `Null` without.
    pub options: Json,
}

impl Exports {
    pub(crate) fn of<'js>(ctx: &Ctx<'js>, namespace: &Object<'js>) -> Exports {
        let functions = namespace
            .keys::<String>()
            .filter_map(|key| key.ok())
            .filter(|key| {
                namespace
                    .get::<_, Value<'js>>(key.as_str())
                    .is_ok_and(|value| value.is_function())
            })
            .collect();
        let options = namespace
            .get::<_, Value<'js>>("options")
            .ok()
            .filter(|value| !value.is_undefined())
            .and_then(|value| ctx.json_stringify(value).ok().flatten())
            .and_then(|json| json.to_string().ok())
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or(Json::Null);
        Exports { functions, options }
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

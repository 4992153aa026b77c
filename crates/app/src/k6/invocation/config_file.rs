//! The JSON file of options that `--config` names.
//!
//! Must not know which tier wins. Invariant: a fault is told in k6's words, with the file.

use loadline_go::quoted;
use loadline_script::json_fault;
use serde_json::Value;

use super::config_error;
use crate::k6::notice::K6Error;
use crate::k6::options::value::{OptionError, nullable};
use crate::k6::options::{K6Options, KeyError};

/// The content of a JSON options file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConfigFile {
    pub(super) options: K6Options,
    pub(super) outputs: Option<Vec<String>>,
    pub(super) linger: Option<bool>,
    /// Settings of outputs, by k6's names.
    pub(super) collectors: serde_json::Map<String, Value>,
}

impl ConfigFile {
    /// # Errors
    /// What k6 says of such a file.
    pub(super) fn parse(path: &str, text: &str) -> Result<ConfigFile, K6Error> {
        let bad = |why: String| {
            let path = quoted(path);
            config_error(&format!(
                "couldn't parse the configuration from {path}: {why}"
            ))
        };
        let value: Value = serde_json::from_str(text).map_err(|_| bad(json_fault::fault(text)))?;
        let read = K6Options::from_json(&value).map_err(|error| bad(in_config(&error)))?;
        let mut file = ConfigFile {
            options: read.options,
            ..ConfigFile::default()
        };
        for (key, value) in value.as_object().into_iter().flatten() {
            let read = match key.to_ascii_lowercase().as_str() {
                "out" => nullable(value, "Config.out").map(|out| file.outputs = out),
                "linger" => nullable(value, "Config.linger").map(|linger| file.linger = linger),
                "collectors" => collectors(value).map(|all| file.collectors = all),
                _ => Ok(()),
            };
            read.map_err(|error| bad(error.to_string()))?;
        }
        Ok(file)
    }
}

/// The same error for a file, whose options are a field of another Go type.
fn in_config(error: &KeyError) -> String {
    let text = error.error.to_string();
    match error.error {
        OptionError::Type { .. } => text.replacen(" field Options.", " field Config.Options.", 1),
        OptionError::Text(_) => {
            text.replacen("value of type lib.Options", "value of type cmd.Config", 1)
        }
    }
}

fn collectors(value: &Value) -> Result<serde_json::Map<String, Value>, OptionError> {
    match value {
        Value::Null => Ok(serde_json::Map::new()),
        Value::Object(all) => Ok(all.clone()),
        other => Err(OptionError::of_type(
            other,
            "Config.collectors",
            "map[string]json.RawMessage",
        )),
    }
}

//! The raw format of a kubeconfig file, field by field.
//!
//! Must not know what the fields mean. Invariant: fields not listed here have no effect on this client.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::access::Secret;
use crate::error::{Error, Result};

/// A whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RawConfig {
    pub(super) current_context: Option<String>,
    pub(super) clusters: Option<Vec<NamedCluster>>,
    pub(super) users: Option<Vec<NamedUser>>,
    pub(super) contexts: Option<Vec<NamedContext>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedCluster {
    pub(super) name: String,
    pub(super) cluster: Option<RawCluster>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedUser {
    pub(super) name: String,
    pub(super) user: Option<RawUser>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedContext {
    pub(super) name: String,
    pub(super) context: Option<RawContext>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RawCluster {
    #[serde(default)]
    pub(super) server: String,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    pub(super) certificate_authority: Option<String>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) proxy_url: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct RawUser {
    pub(super) client_certificate: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    pub(super) client_key_data: Option<Secret>,
    #[serde(default, deserialize_with = "secret")]
    pub(super) token: Option<Secret>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<String>,
    pub(super) username: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    pub(super) password: Option<Secret>,
    #[serde(rename = "as")]
    pub(super) act_as: Option<String>,
    #[serde(rename = "as-uid")]
    pub(super) act_as_uid: Option<String>,
    #[serde(rename = "as-groups")]
    pub(super) act_as_groups: Option<Vec<String>>,
    #[serde(rename = "as-user-extra")]
    pub(super) act_as_extra: Option<BTreeMap<String, Vec<String>>>,
    pub(super) auth_provider: Option<serde_json::Value>,
    pub(super) exec: Option<RawExec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct RawContext {
    #[serde(default)]
    pub(super) cluster: String,
    #[serde(default)]
    pub(super) user: String,
    pub(super) namespace: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawExec {
    #[serde(default)]
    pub(super) api_version: String,
    pub(super) command: String,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<RawVariable>>,
    pub(super) install_hint: Option<String>,
    pub(super) interactive_mode: Option<String>,
    pub(super) provide_cluster_info: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct RawVariable {
    pub(super) name: String,
    #[serde(deserialize_with = "plain_secret")]
    pub(super) value: Secret,
}

fn secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Secret>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(Secret::new))
}

fn plain_secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Secret, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}

/// Reads a file's text.
///
/// # Errors
/// It is not YAML, or a field has the wrong type; the text says where, without any content.
pub(super) fn read(text: &str) -> Result<RawConfig> {
    // The parser's message may quote the text, including secrets, so only its position is kept.
    loadline_yaml::from_str(text).map_err(|error| {
        let place = error.at;
        Error::config(format!(
            "line {}, column {}: this is not a kubeconfig; compare it with what kubectl config view shows",
            place.line, place.column
        ))
    })
}

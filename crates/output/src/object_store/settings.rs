//! Location and credentials of an object store, from the variables that the AWS CLI and SDKs read.
//!
//! Must not know the environment, nor files. Invariant: settings of this type are valid; credentials are never
//! shown.

use std::fmt;

use url::Url;

use crate::sigv4::{Service, Signing};

/// The region of stores without regions.
const DEFAULT_REGION: &str = "us-east-1";
const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET_KEY: &str = "AWS_SECRET_ACCESS_KEY";

/// Location and credentials of a store.
#[derive(Clone)]
pub struct StoreSettings {
    /// The address without a bucket; `None`: Amazon's.
    endpoint: Option<String>,
    pub(super) authority: Option<Vec<u8>>,
    pub(super) signing: Signing,
}

impl fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreSettings")
    }
}

impl StoreSettings {
    /// Reads the settings from variables: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, and optionally
    /// `AWS_SESSION_TOKEN`, `AWS_REGION` or `AWS_DEFAULT_REGION`, and `AWS_ENDPOINT_URL_S3` or
    /// `AWS_ENDPOINT_URL`.
    ///
    /// `authority`: certificates in PEM that are trusted instead of this machine's.
    ///
    /// # Errors
    /// A variable is missing or invalid; the message names it.
    pub fn read(
        variable: &dyn Fn(&str) -> Option<String>,
        authority: Option<Vec<u8>>,
    ) -> Result<StoreSettings, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let wanted = |name: &str| variable(name).ok_or_else(|| format!("{name} is not set"));
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !region.chars().all(is_part) {
            return Err("AWS_REGION is not the name of a region".to_owned());
        }
        let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]
            .into_iter()
            .find_map(|name| Some((name, variable(name)?)));
        let endpoint = endpoint
            .map(|(name, text)| {
                checked(&text).ok_or_else(|| {
                    format!(
                        "{name} is not the address of a service, such as https://minio.example:9000"
                    )
                })
            })
            .transpose()?;
        Ok(StoreSettings {
            endpoint,
            authority,
            signing: Signing {
                service: Service::ObjectStore,
                region,
                access_key: wanted(ACCESS_KEY)?,
                secret_key: wanted(SECRET_KEY)?,
                session_token: variable("AWS_SESSION_TOKEN"),
            },
        })
    }

    /// The address of a bucket.
    pub(super) fn endpoint(&self, bucket: &str) -> String {
        let region = &self.signing.region;
        match &self.endpoint {
            Some(endpoint) => format!("{endpoint}/{bucket}"),
            // No certificate covers a name with additional dots.
            None if bucket.contains('.') => format!("https://s3.{region}.amazonaws.com/{bucket}"),
            None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
        }
    }
}

/// An address without its trailing slash.
fn checked(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    (is_plain && is_web).then(|| url.as_str().trim_end_matches('/').to_owned())
}

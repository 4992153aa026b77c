//! Version 4 signatures, as required by Amazon's managed Prometheus and object stores.
//!
//! Must not know clocks or the network. Source:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>. Invariant: the
//! same request, secret and instant give the same signature.

#[cfg(test)]
pub(crate) mod checking;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use loadline_model::civil::Civil;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The service that a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Amazon's managed Prometheus.
    Prometheus,
    /// S3 and compatible stores.
    ObjectStore,
}

impl Service {
    /// Its name in scopes.
    fn name(self) -> &'static str {
        match self {
            Service::Prometheus => "aps",
            Service::ObjectStore => "s3",
        }
    }

    /// The path as it is signed: object stores are the only services that do not encode it a second time.
    fn canonical_path(self, path: &str) -> String {
        match self {
            Service::Prometheus => utf8_percent_encode(path, RESERVED).to_string(),
            Service::ObjectStore => path.to_owned(),
        }
    }
}

/// How requests are signed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Signing {
    pub(crate) service: Service,
    pub(crate) region: String,
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
    /// Belongs to temporary keys; `None`: the keys are permanent.
    pub(crate) session_token: Option<String>,
}

/// The signed parts of a request.
pub(crate) struct Signed<'a> {
    pub(crate) method: &'a str,
    /// As it is sent: without the default port.
    pub(crate) host: &'a str,
    /// Path, encoded as sent; at least `/`.
    pub(crate) path: &'a str,
    /// Query, encoded as sent; empty without one.
    pub(crate) query: &'a str,
    pub(crate) body: &'a [u8],
    /// Seconds since 1970.
    pub(crate) unix_s: u64,
}

/// The headers that sign a request: names and values.
pub(crate) fn headers(request: &Signed<'_>, signing: &Signing) -> Vec<(&'static str, String)> {
    let (date, time) = date_and_time(request.unix_s);
    let stamp = format!("{date}T{time}Z");
    let content = HEXLOWER.encode(&Sha256::digest(request.body));
    // Sorted by name, as the canonical form requires.
    let mut headers = vec![
        ("host", request.host.to_owned()),
        ("x-amz-content-sha256", content.clone()),
        ("x-amz-date", stamp.clone()),
    ];
    headers.extend(
        signing
            .session_token
            .clone()
            .map(|token| ("x-amz-security-token", token)),
    );
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}:{}\n", value.trim()));
    let canonical = format!(
        "{}\n{}\n{}\n{}\n{names}\n{content}",
        request.method,
        signing.service.canonical_path(request.path),
        sorted_query(request.query),
        lines.collect::<String>(),
    );
    let service = signing.service.name();
    let scope = format!("{date}/{}/{service}/aws4_request", signing.region);
    let canonical = HEXLOWER.encode(&Sha256::digest(canonical.as_bytes()));
    let to_sign = format!("{ALGORITHM}\n{stamp}\n{scope}\n{canonical}");
    let mut key = mac(format!("AWS4{}", signing.secret_key).as_bytes(), &date);
    for part in [&signing.region, service, "aws4_request"] {
        key = mac(&key, part);
    }
    let signature = HEXLOWER.encode(&mac(&key, &to_sign));
    let authorization = format!(
        "{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        signing.access_key
    );
    // The client adds the host itself.
    headers.retain(|(name, _)| *name != "host");
    headers.push(("authorization", authorization));
    headers
}

/// Everything except the unreserved characters of RFC 3986, section 2.3, and slashes.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b'_')
    .remove(b'~');

/// The parameters sorted by name and value; one without a value gets an empty one.
fn sorted_query(query: &str) -> String {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(&str, &str)> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    pairs.sort_unstable();
    let written = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    written.collect::<Vec<_>>().join("&")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// An instant as `20150830` and `123600`.
fn date_and_time(unix_s: u64) -> (String, String) {
    let at = Civil::of_unix_s(unix_s);
    let date = format!("{:04}{:02}{:02}", at.year, at.month, at.day);
    let time = format!("{:02}{:02}{:02}", at.hour, at.minute, at.second);
    (date, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of Amazon's documentation for this secret, day, region and service (`iam` there).
    #[test]
    fn the_key_is_derived_as_documented() {
        let mut key = mac(b"AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830");
        for part in ["us-east-1", "iam", "aws4_request"] {
            key = mac(&key, part);
        }
        assert_eq!(
            HEXLOWER.encode(&key),
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
        );
    }

    #[test]
    fn instants_are_written_in_utc() {
        let told = |unix_s| {
            let (date, time) = date_and_time(unix_s);
            format!("{date}T{time}Z")
        };
        assert_eq!(told(1_440_938_160), "20150830T123600Z");
        assert_eq!(told(0), "19700101T000000Z");
        assert_eq!(told(951_782_399), "20000228T235959Z");
        assert_eq!(told(951_782_400), "20000229T000000Z");
        assert_eq!(told(4_102_444_800), "21000101T000000Z");
    }

    #[test]
    fn a_signature_names_what_it_signs_and_hangs_on_the_body() {
        let signing = Signing {
            service: Service::Prometheus,
            region: "eu-west-1".to_owned(),
            access_key: "AKID".to_owned(),
            secret_key: "secret".to_owned(),
            session_token: None,
        };
        let signed = |body| {
            let request = Signed {
                method: "POST",
                host: "aps.example",
                path: "/workspaces/w/api/v1/remote_write",
                query: "",
                body,
                unix_s: 1_440_938_160,
            };
            headers(&request, &signing).pop().expect("it is signed").1
        };
        let one = signed(b"one");
        assert!(one.starts_with(
            "AWS4-HMAC-SHA256 Credential=AKID/20150830/eu-west-1/aps/aws4_request, \
             SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="
        ));
        assert_ne!(one, signed(b"two"));
    }
}

//! Writes files to an object store that speaks the S3 protocol, and reads them back.
//!
//! Must not know the content of files. Invariants: an object is there completely or not at all; no message
//! shows a secret or an address that contains one.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html>; the variables have the names
//! that the AWS CLI uses.

mod settings;
#[cfg(test)]
mod tests;

use std::time::Duration;

use loadline_http::{Answer, TlsSettings};
use loadline_model::ObjectFolder;
use percent_encoding::utf8_percent_encode;

use crate::push::{self, HttpClient, Refusal, Retry, verdict};
use crate::sigv4;
pub use settings::StoreSettings;

/// Time limit for one object: enough for the largest result at 1 MB/s.
const TIMEOUT: Duration = Duration::from_secs(300);
/// A quarter of a minute in total: the end of a test waits for it.
const RETRY: Retry = Retry {
    first: Duration::from_millis(250),
    longest: Duration::from_secs(4),
    waits: 6,
};
/// Maximum bytes of a response that explains an error.
const REFUSAL_MAX: u64 = 64 << 10;

/// An object store.
pub struct ObjectStore {
    http: HttpClient,
    settings: StoreSettings,
}

impl ObjectStore {
    /// A client of a store.
    ///
    /// # Errors
    /// A certificate is invalid.
    pub fn new(settings: StoreSettings) -> Result<ObjectStore, String> {
        let tls = TlsSettings {
            authority: settings.authority.clone(),
            ..TlsSettings::default()
        };
        let proxied = settings.endpoint("bucket");
        Ok(ObjectStore {
            http: HttpClient::patient(&proxied, &tls, TIMEOUT)?,
            settings,
        })
    }

    /// Writes a file to a folder, replacing one with the same name.
    ///
    /// # Errors
    /// The store did not accept it, immediately or after retries.
    pub fn put(
        &self,
        folder: &ObjectFolder,
        file: &str,
        kind: &str,
        bytes: &[u8],
    ) -> Result<(), String> {
        let url = self.url(folder, file);
        let put = || {
            let mut headers = self.signature("PUT", &url, bytes);
            headers.push(("content-type", kind.to_owned()));
            let answer = self.http.put(&url, &pairs(&headers), bytes)?;
            taken(&answer)
        };
        patiently(put).map_err(|why| format!("{folder}: {why}"))
    }

    /// Reads a file of a folder, of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// It does not exist, is too large, or the store does not respond.
    pub fn get(
        &self,
        folder: &ObjectFolder,
        file: &str,
        bytes_max: u64,
    ) -> Result<Vec<u8>, String> {
        let url = self.url(folder, file);
        let get = || {
            let headers = self.signature("GET", &url, &[]);
            let most = bytes_max.max(REFUSAL_MAX);
            let answer = self.http.get(&url, &pairs(&headers), most)?;
            taken(&answer).map(|()| answer.body)
        };
        patiently(get).map_err(|why| format!("{folder}/{file}: {why}"))
    }

    fn url(&self, folder: &ObjectFolder, file: &str) -> String {
        let key = folder.key(file);
        let key = utf8_percent_encode(&key, sigv4::RESERVED);
        format!("{}/{key}", self.settings.endpoint(folder.bucket()))
    }

    fn signature(&self, method: &str, url: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        push::signed(method, url, body, &self.settings.signing)
    }
}

fn pairs<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let pairs = headers.iter().map(|(name, value)| (*name, value.as_str()));
    pairs.collect()
}

/// Whether the store did what was requested; if not, the reason is the error code.
fn taken(answer: &Answer) -> Result<(), Refusal> {
    let text = answer.text();
    let code = text
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"));
    let Some((code, _)) = code.filter(|(code, _)| code.bytes().all(|c| c.is_ascii_alphanumeric()))
    else {
        return verdict(answer);
    };
    let said = format!("the store answered {}: {code}", answer.status);
    verdict(answer).map_err(|refusal| match refusal {
        Refusal::NotNow { wait, .. } => Refusal::NotNow { why: said, wait },
        Refusal::Never(_) | Refusal::TooLarge(_) | Refusal::Partly { .. } => Refusal::Never(said),
    })
}

/// Retries until it succeeds or cannot succeed.
#[expect(
    clippy::disallowed_methods,
    reason = "between two tries there is nothing to do"
)]
fn patiently<T>(once: impl Fn() -> Result<T, Refusal>) -> Result<T, String> {
    let mut failures = 0;
    loop {
        let refusal = match once() {
            Ok(done) => return Ok(done),
            Err(refusal) => refusal,
        };
        failures += 1;
        match (&refusal, RETRY.wait(failures)) {
            (Refusal::NotNow { wait, .. }, Some(pause)) => {
                std::thread::sleep(wait.map_or(pause, |wait| wait.min(RETRY.longest)));
            }
            _ => return Err(refusal.into_why()),
        }
    }
}

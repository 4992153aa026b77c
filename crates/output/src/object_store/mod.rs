//! Files put into a store of objects that speaks the protocol of S3, and read from it.
//!
//! Must not know what the files hold. Invariants: an object is there whole or not at all; no message shows a secret or an address with one.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html>; names of variables as the AWS CLI has them.

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

/// How long one object may take: the largest result within this is sent at 1 MB/s.
const TIMEOUT: Duration = Duration::from_secs(300);
/// A quarter of a minute in all: what waits for it is the end of a test.
const RETRY: Retry = Retry {
    first: Duration::from_millis(250),
    longest: Duration::from_secs(4),
    waits: 6,
};
/// Bytes of an answer that says why there is no object.
const REFUSAL_MAX: u64 = 64 << 10;

/// A store of objects.
pub struct ObjectStore {
    http: HttpClient,
    settings: StoreSettings,
}

impl ObjectStore {
    /// A client of a store.
    ///
    /// # Errors
    /// A certificate cannot be used.
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

    /// Puts a file into a folder, over what has its name.
    ///
    /// # Errors
    /// The store did not take it, at once or after some tries.
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

    /// Reads a file of a folder that has at most so many bytes.
    ///
    /// # Errors
    /// It is not there, or too large, or the store does not answer.
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

/// Whether the store did what was asked; what it says why not is the code of its error.
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
        Refusal::Never(_) | Refusal::Partly { .. } => Refusal::Never(said),
    })
}

/// Tries until it works, or cannot.
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

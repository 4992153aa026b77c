//! The HTTP client of the receiver: pushes requests and sends queries.
//!
//! Must not know points. Invariants: no message shows a credential or an address with one; only the response
//! decides the outcome of a request.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::queue::{Outcome, Request};
use super::settings::Settings;
use loadline_http::Answer;

use crate::push::{self, HttpClient, Refusal, TlsSettings, verdict};

/// Maximum bytes of a query's response: a page of series has a few million.
const FOUND_MAX: u64 = 64 << 20;
/// With this header a receiver confirms that it understood version 2.0.
const WRITTEN: &str = "x-prometheus-remote-write-samples-written";
const WRITTEN_HISTOGRAMS: &str = "x-prometheus-remote-write-histograms-written";
/// The status with which receivers refuse samples.
const BAD_REQUEST: u16 = 400;
/// The status of a receiver that does not support a version.
const UNSUPPORTED_MEDIA_TYPE: u16 = 415;

/// A client of the receiver.
pub(super) struct Client {
    http: HttpClient,
    settings: Settings,
}

/// The receiver's response to the version probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    V1,
    V2,
    /// There was no conclusive response, for this reason.
    Unknown(String),
}

impl Client {
    /// A client.
    ///
    /// # Errors
    /// The client certificate is invalid; the message names the file.
    pub(super) fn new(settings: &Settings) -> Result<Client, String> {
        let identity = match &settings.client_certificate {
            Some((certificate, key)) => Some((read(certificate)?, read(key)?)),
            None => None,
        };
        let tls = TlsSettings {
            trusts_all: settings.insecure,
            // As in k6, TLS 1.2 is only used if the user allows it.
            newest_only: !settings.tls12,
            authority: None,
            identity,
        };
        Ok(Client {
            http: HttpClient::new(&settings.url, &tls, None)?,
            settings: settings.clone(),
        })
    }

    /// The version that the receiver supports, from its response to an empty request.
    pub(super) fn speaks(&self) -> Speaks {
        let empty = Request {
            body: packed(&[]),
            is_v2: true,
            samples: 0,
            is_known: false,
        };
        match self.post(&empty) {
            Ok(answer) if answer.headers.contains_key(WRITTEN) => Speaks::V2,
            Ok(answer) if answer.status >= 500 => Speaks::Unknown(answer.told()),
            Ok(_) => Speaks::V1,
            Err(refusal) => Speaks::Unknown(refusal.into_why()),
        }
    }

    /// Pushes a request.
    pub(super) fn push(&self, request: &Request) -> Outcome {
        let answer = self.post(request);
        let is_answer = answer.is_ok();
        let refusal = match answer {
            Ok(answer) if !is_understood(request, &answer) => return Outcome::WrongVersion,
            Ok(answer) if answer.status == BAD_REQUEST => return invalid(request, &answer),
            Ok(answer) => verdict(&answer).err(),
            Err(refusal) => Some(refusal),
        };
        match refusal {
            None => Outcome::Taken,
            Some(Refusal::NotNow { why, wait }) => Outcome::Later {
                why,
                after: wait,
                is_answer,
            },
            Some(refusal) => Outcome::Refused(refusal.into_why()),
        }
    }

    fn post(&self, request: &Request) -> Result<Answer, Refusal> {
        let (kind, version) = match request.is_v2 {
            true => (
                "application/x-protobuf;proto=io.prometheus.write.v2.Request",
                "2.0.0",
            ),
            false => ("application/x-protobuf", "0.1.0"),
        };
        let url = &self.settings.url;
        let own = self.authorization("POST", url, &request.body);
        let mut headers = vec![
            ("content-encoding", "snappy"),
            ("content-type", kind),
            ("x-prometheus-remote-write-version", version),
        ];
        headers.extend(own.iter().map(pair));
        self.http.post(url, &headers, &request.body)
    }

    /// Queries an address of the receiver's API; returns the body of the response.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub(super) fn get(&self, url: &str) -> Result<String, String> {
        let own = self.authorization("GET", url, &[]);
        let headers: Vec<_> = own.iter().map(pair).collect();
        let answer = self.http.get(url, &headers, FOUND_MAX);
        let answer = answer.and_then(|answer| verdict(&answer).map(|()| answer.text().to_owned()));
        answer.map_err(Refusal::into_why)
    }

    /// The user's headers and the authentication headers; in k6 the former replace the latter.
    fn authorization(&self, method: &str, url: &str, body: &[u8]) -> Vec<(String, String)> {
        let settings = &self.settings;
        let mut headers = settings.headers.clone();
        let is_given = |headers: &[(String, String)]| {
            headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        };
        if let Some(signing) = &settings.signing {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
            let signed = push::signed(method, url, body, signing).into_iter();
            headers.extend(signed.map(|(name, value)| (name.to_owned(), value)));
        } else if !is_given(&headers) {
            let value = match (&settings.basic, &settings.bearer) {
                (Some((user, password)), _) => {
                    let pair = STANDARD.encode(format!("{user}:{password}"));
                    Some(format!("Basic {pair}"))
                }
                (None, Some(token)) => Some(format!("Bearer {token}")),
                (None, None) => None,
            };
            headers.extend(value.map(|value| ("authorization".to_owned(), value)));
        }
        headers
    }
}

/// A body in the compression of both versions.
pub(super) fn packed(body: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new()
        .compress_vec(body)
        .expect("a request is far below the 4 GiB that the format takes")
}

fn pair((name, value): &(String, String)) -> (&str, &str) {
    (name, value)
}

/// Whether the receiver supports the version of a request.
fn is_understood(request: &Request, answer: &Answer) -> bool {
    let is_taken = (200..300).contains(&answer.status);
    // A receiver that only knows 1.0 ignores the content of a 2.0 request, but accepts it.
    let is_silent = is_taken && !answer.headers.contains_key(WRITTEN);
    !request.is_v2 || (answer.status != UNSUPPORTED_MEDIA_TYPE && !is_silent)
}

/// The outcome of a request with a sample that the receiver refuses. With version 1.0 Prometheus accepts
/// nothing of the request, and with 2.0 it says how much it accepted; Mimir and Cortex accept everything else,
/// and name the series.
fn invalid(request: &Request, answer: &Answer) -> Outcome {
    let why = answer.told();
    let written = [WRITTEN, WRITTEN_HISTOGRAMS].map(|header| written(answer, header));
    let text = answer.text();
    match written.iter().flatten().sum::<u64>() {
        0 if text.contains("err-mimir-") || text.contains("user=") => {
            Outcome::Partly { why, refused: 1 }
        }
        0 => Outcome::Invalid(why),
        taken => Outcome::Partly {
            why,
            refused: request.samples.saturating_sub(taken),
        },
    }
}

fn written(answer: &Answer, header: &str) -> Option<u64> {
    answer.headers.get(header)?.to_str().ok()?.parse().ok()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

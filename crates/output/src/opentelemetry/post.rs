//! How a request reaches the collector.
//!
//! Must not know its content. Invariant: no message contains a header's value.

use std::sync::Mutex;
use std::sync::PoisonError;

use super::answer;
use super::grpc::Grpc;
use super::sink::{OtlpProtocol, OtlpSettings};
use crate::push::{HttpClient, Refusal, verdict};

/// A transport to the collector.
pub(super) enum Way {
    Http {
        client: HttpClient,
        url: String,
        headers: Vec<(String, String)>,
    },
    Grpc(Mutex<Grpc>),
}

impl Way {
    /// The transport according to the settings.
    ///
    /// # Errors
    /// An invalid certificate, or an address that cannot be parsed.
    pub(super) fn of(settings: &OtlpSettings) -> Result<Way, String> {
        match settings.protocol {
            OtlpProtocol::Http => Ok(Way::Http {
                client: HttpClient::new(&settings.url, &settings.tls, None)?,
                url: settings.url.clone(),
                headers: settings.headers.clone(),
            }),
            OtlpProtocol::Grpc => Grpc::new(settings).map(|grpc| Way::Grpc(Mutex::new(grpc))),
        }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// It was not accepted, or only in part.
    pub(super) fn post(&self, body: &[u8]) -> Result<(), Refusal> {
        match self {
            Way::Http {
                client,
                url,
                headers,
            } => {
                let kind = ("Content-Type", "application/x-protobuf");
                let own = headers.iter().map(|(name, value)| (&**name, &**value));
                let all: Vec<(&str, &str)> = std::iter::once(kind).chain(own).collect();
                let answer = client.post(url, &all, body)?;
                verdict(&answer)?;
                answer::taken(&answer.body)
            }
            Way::Grpc(grpc) => grpc
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .post(body),
        }
    }
}

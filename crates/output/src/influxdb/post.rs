//! Posts encoded points.
//!
//! Must not know their content. Invariant: a token is only sent in a header.

use crate::push::{HttpClient, Refusal, TlsSettings, verdict};

/// Posts bodies with points to one address.
pub struct Poster {
    client: HttpClient,
    url: String,
    headers: Vec<(&'static str, String)>,
}

impl Poster {
    /// A poster for a complete address; TLS verification is skipped, as in JMeter. `token`: for version 2;
    /// `None`: no token.
    ///
    /// # Errors
    /// The address of the proxy cannot be parsed.
    pub fn new(url: &str, token: Option<&str>) -> Result<Poster, String> {
        let tls = TlsSettings {
            trusts_all: true,
            ..TlsSettings::default()
        };
        let mut headers = vec![("Content-Type", "text/plain; charset=UTF-8".to_owned())];
        headers.extend(token.map(|token| ("Authorization", format!("Token {token}"))));
        Ok(Poster {
            client: HttpClient::new(url, &tls, None)?,
            url: url.to_owned(),
            headers,
        })
    }

    /// Posts a body once.
    ///
    /// # Errors
    /// Why it was not accepted, in words.
    pub fn post(&self, body: &[u8]) -> Result<(), String> {
        let headers = self.headers.iter();
        let headers: Vec<(&str, &str)> = headers.map(|(name, value)| (*name, &**value)).collect();
        let answer = self.client.post(&self.url, &headers, body);
        answer
            .and_then(|answer| verdict(&answer))
            .map_err(Refusal::into_why)
    }
}

//! Asking and posting to a service over HTTP/1.1 and TLS.
//!
//! Must not know what about. Invariants: an answer is read whole up to a limit, so that its
//! connection can be used again; no error text has an address with a password in it.

use std::sync::Arc;
use std::time::Duration;

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{
    Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, TlsProvider, parse_pem,
};
use ureq::{Agent, Body, Proxy};

use super::pool::Refusal;
use super::tls::{TlsSettings, provider};

/// How long one post may take, answer included: a server that is silent is told of within five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Bytes of an answer that are read: errors are short.
const ANSWER_MAX: u64 = 64 << 10;
/// Characters of an answer that an error shows.
const SHOWN_MAX: usize = 200;
/// Connections kept open: as many as threads post at a time, and more.
const CONNECTIONS_MAX: usize = 16;

/// A client that keeps its connections.
pub(crate) struct HttpClient {
    agent: Agent,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body, as far as it was read.
    pub(crate) body: Vec<u8>,
    /// How long the server wants not to be asked; `None`: it did not say in seconds.
    pub(crate) retry_after: Option<Duration>,
}

impl HttpClient {
    /// A client; `proxy` goes before the one that the environment names.
    ///
    /// # Errors
    /// The proxy's address cannot be read, or a certificate cannot be used.
    pub(crate) fn new(settings: &TlsSettings, proxy: Option<&str>) -> Result<HttpClient, String> {
        let proxy = match proxy {
            Some(address) => Some(
                Proxy::new(address)
                    .map_err(|_| "the address of the proxy cannot be read".to_owned())?,
            ),
            None => Proxy::try_from_env(),
        };
        let agent = Agent::config_builder()
            .tls_config(tls(settings)?)
            .proxy(proxy)
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .max_idle_connections(CONNECTIONS_MAX)
            .max_idle_connections_per_host(CONNECTIONS_MAX)
            .user_agent(concat!("loadline/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(HttpClient { agent })
    }

    /// Posts a body.
    ///
    /// # Errors
    /// There was no whole answer; it may be tried again.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Refusal> {
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send(body).map_err(|error| not_now(&error))?;
        let answer = Answer::read(answer, ANSWER_MAX);
        Ok(answer.unwrap_or_else(|(answer, _)| answer))
    }

    /// Asks for an address; the answer's body may have so many bytes.
    ///
    /// # Errors
    /// There was no whole answer; it may be tried again.
    pub(crate) fn get(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        bytes_max: u64,
    ) -> Result<Answer, Refusal> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.call().map_err(|error| not_now(&error))?;
        Answer::read(answer, bytes_max).map_err(|(_, refusal)| refusal)
    }
}

impl Answer {
    /// Reads an answer; one whose body cannot be read is given without it, and with the reason.
    #[expect(
        clippy::result_large_err,
        reason = "it is taken apart where it is made, and never kept"
    )]
    fn read(mut answer: Response<Body>, bytes_max: u64) -> Result<Answer, (Answer, Refusal)> {
        let body = answer.body_mut().with_config().limit(bytes_max);
        let body = body.read_to_vec();
        let retry_after = answer.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let mut read = Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: Vec::new(),
            retry_after: retry_after.map(Duration::from_secs),
        };
        match body {
            Ok(body) => {
                read.body = body;
                Ok(read)
            }
            Err(error) => Err((read, not_now(&error))),
        }
    }

    /// Whether the body was taken.
    ///
    /// # Errors
    /// It was not: for good with a 4xx but 408, 425 and 429, for now otherwise.
    pub(crate) fn verdict(&self) -> Result<(), Refusal> {
        let status = StatusCode::from_u16(self.status).unwrap_or_default();
        if status.is_success() {
            return Ok(());
        }
        let why = self.told();
        let is_for_good = !matches!(self.status, 408 | 425 | 429) && !status.is_server_error();
        Err(match is_for_good {
            true => Refusal::Never(why),
            false => Refusal::NotNow {
                why,
                wait: self.retry_after,
            },
        })
    }

    /// The body as text; empty where it is none.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }

    /// The same of an answer that is not needed any more.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8(self.body).unwrap_or_default()
    }

    /// The answer in one line.
    pub(crate) fn told(&self) -> String {
        let line = self.text().lines().next().unwrap_or_default();
        let shown: String = line.chars().take(SHOWN_MAX).collect();
        match shown.is_empty() {
            true => format!("the server answered {}", self.status),
            false => format!("the server answered {}: {shown}", self.status),
        }
    }
}

fn not_now(error: &ureq::Error) -> Refusal {
    let why = match error {
        // These two would show the address.
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "its address cannot be used".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    };
    Refusal::NotNow { why, wait: None }
}

fn tls(settings: &TlsSettings) -> Result<TlsConfig, String> {
    let roots: Vec<Certificate<'static>> = match &settings.authority {
        Some(pem) => parse_pem(pem)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect(),
        None => rustls_native_certs::load_native_certs()
            .certs
            .iter()
            .map(|root| Certificate::from_der(root).to_owned())
            .collect(),
    };
    let identity = match &settings.identity {
        Some((certificate, key)) => Some(identity(certificate, key)?),
        None => None,
    };
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(provider(settings)))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .client_cert(identity)
        .disable_verification(settings.trusts_all)
        .build())
}

fn identity(certificate: &[u8], key: &[u8]) -> Result<ClientCert, String> {
    let chain: Vec<Certificate<'static>> = parse_pem(certificate)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    let key = PrivateKey::from_pem(key)
        .map_err(|error| format!("the client's key cannot be read: {error}"))?;
    if chain.is_empty() {
        return Err("the client's certificate is not in the file".to_owned());
    }
    Ok(ClientCert::new_with_certs(&chain, key))
}

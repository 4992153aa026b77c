//! Requests to a service over HTTP/1.1 and TLS.
//!
//! Must not know their content. Invariants: a response is read completely up to a limit, so that its connection
//! can be reused; no error text contains an address with a password.

use std::time::Duration;

use loadline_http::{Answer, Tls, TlsSettings, proxy_of, retry_after, told};
use ureq::http::StatusCode;
use ureq::typestate::WithBody;
use ureq::{Agent, Proxy, RequestBuilder};

use super::pool::Refusal;

/// Time limit of a post, including the response: an unresponsive server is reported within five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum bytes of a response that are read: errors are short.
const ANSWER_MAX: u64 = 64 << 10;
/// Connections kept open: more than the number of concurrent posts.
const CONNECTIONS_MAX: usize = 16;

/// A client that keeps its connections.
pub(crate) struct HttpClient {
    agent: Agent,
}

impl HttpClient {
    /// A client of the service at an address; `proxy` takes precedence over the environment's proxy.
    ///
    /// # Errors
    /// The proxy's address cannot be parsed, or a certificate is invalid.
    pub(crate) fn new(
        url: &str,
        settings: &TlsSettings,
        proxy: Option<&str>,
    ) -> Result<HttpClient, String> {
        let proxy = match proxy {
            Some(address) => Some(
                Proxy::new(address)
                    .map_err(|_| "the address of the proxy cannot be read".to_owned())?,
            ),
            None => proxy_of(url),
        };
        HttpClient::with_timeout(settings, proxy, TIMEOUT)
    }

    /// A client of a service that receives large bodies.
    ///
    /// # Errors
    /// A certificate is invalid.
    pub(crate) fn patient(
        url: &str,
        settings: &TlsSettings,
        timeout: Duration,
    ) -> Result<HttpClient, String> {
        HttpClient::with_timeout(settings, proxy_of(url), timeout)
    }

    fn with_timeout(
        settings: &TlsSettings,
        proxy: Option<Proxy>,
        timeout: Duration,
    ) -> Result<HttpClient, String> {
        let agent = loadline_http::config(Some(&Tls::new(settings)?))
            .proxy(proxy)
            .timeout_global(Some(timeout))
            .max_redirects(0)
            .max_idle_connections(CONNECTIONS_MAX)
            .max_idle_connections_per_host(CONNECTIONS_MAX)
            .build()
            .new_agent();
        Ok(HttpClient { agent })
    }

    /// Posts a body.
    ///
    /// # Errors
    /// There was no complete response; retrying may help.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Refusal> {
        send(with_headers(self.agent.post(url), headers), body)
    }

    /// Puts a body.
    ///
    /// # Errors
    /// There was no complete response; retrying may help.
    pub(crate) fn put(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Refusal> {
        send(with_headers(self.agent.put(url), headers), body)
    }

    /// Gets an address; the response's body may have at most `bytes_max` bytes.
    ///
    /// # Errors
    /// There was no complete response; retrying may help.
    pub(crate) fn get(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        bytes_max: u64,
    ) -> Result<Answer, Refusal> {
        let request = with_headers(self.agent.get(url), headers);
        let answer = request.call().map_err(|error| not_now(told(&error)))?;
        Answer::read_whole(answer, bytes_max).map_err(not_now)
    }
}

fn send(request: RequestBuilder<WithBody>, body: &[u8]) -> Result<Answer, Refusal> {
    let answer = request.send(body).map_err(|error| not_now(told(&error)))?;
    // A server that has responded has received the body, even if its response is incomplete.
    Ok(Answer::read(answer, ANSWER_MAX).0)
}

fn with_headers<B>(request: RequestBuilder<B>, headers: &[(&str, &str)]) -> RequestBuilder<B> {
    headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    })
}

/// Whether the body was accepted.
///
/// # Errors
/// It was not: permanently for a 4xx except 408, 425 and 429, otherwise temporarily.
pub(crate) fn verdict(answer: &Answer) -> Result<(), Refusal> {
    let status = StatusCode::from_u16(answer.status).unwrap_or_default();
    if status.is_success() {
        return Ok(());
    }
    let why = answer.told();
    let is_for_good = !matches!(answer.status, 408 | 425 | 429) && !status.is_server_error();
    Err(match is_for_good {
        true => Refusal::Never(why),
        false => Refusal::NotNow {
            why,
            wait: retry_after(&answer.headers),
        },
    })
}

fn not_now(why: String) -> Refusal {
    Refusal::NotNow { why, wait: None }
}

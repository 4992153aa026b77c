//! The HTTP client of observers.
//!
//! Must not know the purpose. Invariants: a response is read up to a limit; a request ends within its timeout;
//! no message contains a password or a token.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadline_http::{Answer, Tls, TlsSettings, proxy_of, told};
use ureq::Agent;

use crate::parse::shown;
use crate::readings::Gap;
use crate::spec::Access;

/// Maximum bytes of a response: metrics pages of large servers have a few million.
const ANSWER_BYTES_MAX: u64 = 32 << 20;

/// A client of one server.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    headers: Vec<(String, String)>,
}

impl Client {
    /// A client for the server at an address.
    ///
    /// # Errors
    /// The file of authorities cannot be read, or a secret is missing.
    pub(crate) fn new(url: &str, access: &Access, timeout: Duration) -> Result<Client, String> {
        let tls = match url.starts_with("https://") {
            true => Some(tls(access)?),
            false => None,
        };
        let config = loadline_http::config(tls.as_ref())
            .proxy(proxy_of(url))
            .timeout_global(Some(timeout))
            .max_idle_connections(2)
            .max_idle_connections_per_host(2);
        Ok(Client {
            agent: config.build().new_agent(),
            headers: headers(access)?,
        })
    }

    /// Gets the text of a successful response.
    ///
    /// # Errors
    /// There is none; the reason is for people.
    pub(crate) fn get(&self, url: &str) -> Result<String, Gap> {
        let (status, text) = self.ask(url)?;
        match (200..300).contains(&status) {
            true => Ok(text),
            false => Err(Gap(format!(
                "the server answered {status}: {}",
                shown(&text)
            ))),
        }
    }

    /// Gets a response with any status.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn ask(&self, url: &str) -> Result<(u16, String), Gap> {
        let mut request = self.agent.get(url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let answer = request.call().map_err(|error| Gap(told(&error)))?;
        let answer = Answer::read_whole(answer, ANSWER_BYTES_MAX).map_err(Gap)?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        Ok((answer.status, text))
    }
}

fn headers(access: &Access) -> Result<Vec<(String, String)>, String> {
    let mut headers = access.headers.0.clone();
    let authorization = match (&access.bearer, &access.user) {
        (Some(token), _) => Some(format!("Bearer {}", token.reveal()?)),
        (None, Some(user)) => {
            let password = access.password.as_ref().map(|secret| secret.reveal());
            let pair = format!("{user}:{}", password.transpose()?.unwrap_or_default());
            Some(format!("Basic {}", STANDARD.encode(pair)))
        }
        (None, None) => None,
    };
    if let Some(value) = authorization {
        ureq::http::HeaderValue::from_str(&value).map_err(|_| {
            "the token or password has characters that a header cannot have".to_owned()
        })?;
        headers.push(("Authorization".to_owned(), value));
    }
    Ok(headers)
}

fn tls(access: &Access) -> Result<Tls, String> {
    let named = |path: &str, error: String| format!("the file of authorities {path}: {error}");
    let read = |path: &String| std::fs::read(path).map_err(|error| named(path, error.to_string()));
    let settings = TlsSettings {
        trusts_all: access.insecure,
        authority: access.ca.as_ref().map(read).transpose()?,
        ..TlsSettings::default()
    };
    Tls::new(&settings).map_err(|error| match &access.ca {
        Some(path) => named(path, error),
        None => error,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::spec::{Headers, Secret};

    /// A server that answers each request with the next of some responses, and passes on the requests. The last
    /// response is repeated.
    pub(crate) fn server(answers: Vec<String>) -> (SocketAddr, Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            for (number, connection) in listener.incoming().enumerate() {
                let mut connection = connection.unwrap();
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or(0) > 0 {
                    head.push(byte[0]);
                }
                let body = &answers[number.min(answers.len() - 1)];
                let (status, body) = match body.split_once('|') {
                    Some((status, body)) if status.len() == 3 => (status, body),
                    _ => ("200", body.as_str()),
                };
                let head = String::from_utf8_lossy(&head).into_owned();
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                // A client that has gone away is no failure of the server.
                let _ = connection.write_all(answer.as_bytes());
                if sender.send(head).is_err() {
                    return;
                }
            }
        });
        (address, asked)
    }

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn a_request_carries_headers_and_authentication() {
        let (address, asked) = server(vec!["yes".to_owned()]);
        let url = format!("http://{address}/a?b=c");
        let access = Access {
            headers: Headers(vec![("X-One".to_owned(), "1".to_owned())]),
            user: Some("me".to_owned()),
            password: Some(Secret::new("hush")),
            ..Access::default()
        };
        let client = Client::new(&url, &access, PATIENCE).unwrap();
        assert_eq!(client.get(&url), Ok("yes".to_owned()));
        let head = asked.recv().unwrap().to_ascii_lowercase();
        assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
        assert!(head.contains("x-one: 1\r\n"), "{head}");
        assert!(
            head.contains("authorization: basic bwu6ahvzaa==\r\n"),
            "{head}"
        );
    }

    #[test]
    fn a_status_of_failure_is_a_gap_with_its_text() {
        let (address, _asked) = server(vec!["503|not now".to_owned()]);
        let url = format!("http://{address}/");
        let client = Client::new(&url, &Access::default(), PATIENCE).unwrap();
        let gap = client.get(&url).unwrap_err().0;
        assert!(gap.contains("503") && gap.contains("not now"), "{gap}");
    }

    #[test]
    fn nobody_there_is_a_gap() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let client = Client::new(&url, &Access::default(), PATIENCE).unwrap();
        assert!(client.get(&url).is_err());
    }

    #[test]
    fn a_file_of_authorities_must_be_there() {
        let access = Access {
            ca: Some("no/such/file".to_owned()),
            ..Access::default()
        };
        let refused = Client::new("https://h/", &access, PATIENCE);
        assert!(refused.unwrap_err().contains("no/such/file"));
    }
}

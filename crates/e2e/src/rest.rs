//! A client of the REST API of a running test.
//!
//! Must not know the API's responses. Invariant: a test that does not respond in time fails the caller instead
//! of blocking it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::clock;
use crate::server::free_port;

/// How long a test may take to respond.
const PATIENCE: Duration = Duration::from_secs(20);

/// The API of one test.
pub struct RestApi {
    address: String,
    /// The `Host` of requests.
    host: String,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestAnswer {
    /// Status code.
    pub status: u16,
    /// Body.
    pub body: String,
}

impl RestApi {
    /// An address on which nobody listens yet.
    ///
    /// # Panics
    /// There is no free port.
    #[must_use]
    pub fn free() -> RestApi {
        let address = format!("127.0.0.1:{}", free_port());
        RestApi::behind(address.clone(), &address)
    }

    /// An API at an address, with this `Host` in requests.
    #[must_use]
    pub fn behind(address: String, host: &str) -> RestApi {
        let host = host.to_owned();
        RestApi { address, host }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until somebody listens there.
    ///
    /// # Panics
    /// Nobody does in time.
    pub fn wait_until_served(&self) {
        let served = clock::wait_for(crate::TIME_MAX, || TcpStream::connect(&self.address).ok());
        assert!(served.is_some(), "nobody listens at {}", self.address);
    }

    /// Sends a request.
    ///
    /// # Panics
    /// There is no response.
    #[must_use]
    pub fn ask(&self, method: &str, path: &str, body: &str) -> RestAnswer {
        self.try_ask(method, path, body)
            .unwrap_or_else(|| panic!("{method} {path} is answered"))
    }

    /// Like [`RestApi::ask`], for an API that may not be up yet.
    ///
    /// # Panics
    /// There is no response in time.
    #[must_use]
    pub fn first(&self, method: &str, path: &str) -> RestAnswer {
        let answer = clock::wait_for(PATIENCE, || self.try_ask(method, path, ""));
        answer.unwrap_or_else(|| panic!("{method} {path} is answered"))
    }

    /// Changes attributes of the status; returns the response.
    ///
    /// # Panics
    /// There is no response.
    #[must_use]
    pub fn change(&self, attributes: &str) -> RestAnswer {
        let body = format!("{{\"data\":{{\"attributes\":{attributes}}}}}");
        self.ask("PATCH", "/v1/status", &body)
    }

    /// The current value of one attribute of the status; null if there is no response.
    #[must_use]
    pub fn status(&self, attribute: &str) -> Value {
        let answer = self.try_ask("GET", "/v1/status", "");
        let document = answer.and_then(|answer| serde_json::from_str::<Value>(&answer.body).ok());
        document.map_or(Value::Null, |document| {
            document["data"]["attributes"][attribute].clone()
        })
    }

    /// Waits until an attribute of the status has a value.
    ///
    /// # Panics
    /// It does not get it in time.
    pub fn wait_for(&self, attribute: &str, value: impl Into<Value>) {
        let value = value.into();
        let reached = clock::wait_for(PATIENCE, || (self.status(attribute) == value).then_some(()));
        assert!(reached.is_some(), "{attribute} does not become {value}");
    }

    fn try_ask(&self, method: &str, path: &str, body: &str) -> Option<RestAnswer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{body}",
            self.host
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some(RestAnswer {
            status: head.split(' ').nth(1)?.parse().ok()?,
            body: body.to_owned(),
        })
    }
}

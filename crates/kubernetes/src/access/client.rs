//! One call to an API server: sent, received, retried if harmless, and judged.
//!
//! Must not know the meaning of a response beyond its status. Invariants: after the server has received a
//! request, only reads are retried; a response is read up to a limit; errors name the requested path and
//! contain no credentials.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loadline_http::{Answer, Tls, TlsSettings, proxy_of, retry_after};
use serde_json::Value;
use ureq::http::{Request, Response, Uri, header};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, BodyReader, Proxy};

use super::credentials::Shown;
use super::{Access, Credentials, READ_TIMEOUT};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::json;
use crate::place::{ApiPlace, Verb, encoded};

/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of a response: a page of five hundred large pods is some megabytes.
const ANSWER_MAX: u64 = 64 << 20;
/// Maximum bytes of an error response.
const ERROR_MAX: u64 = 256 << 10;
/// Waits before a read is retried, unless the server says how long.
const WAITS: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];
/// The longest wait before a retry that a server can request.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// The server's message, with status 500, for an applied object with a field that its kind does not have.
const UNKNOWN_FIELD: &str = "field not declared in schema";
/// Connections kept open.
const CONNECTIONS_MAX: usize = 4;

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    verb: Verb,
    place: ApiPlace,
    query: Vec<(&'static str, String)>,
    /// Type and bytes.
    body: Option<(&'static str, Vec<u8>)>,
    /// Whether reads are retried.
    is_patient: bool,
}

impl Call {
    pub(crate) fn new(verb: Verb, place: ApiPlace) -> Call {
        Call {
            verb,
            place,
            query: Vec::new(),
            body: None,
            is_patient: verb.reads(),
        }
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Into<String>) -> Call {
        self.query.push((name, value.into()));
        self
    }

    pub(crate) fn queries(mut self, pairs: Vec<(&'static str, String)>) -> Call {
        self.query.extend(pairs);
        self
    }

    pub(crate) fn body(mut self, kind: &'static str, value: &Value) -> Call {
        self.body = Some((kind, value.to_string().into_bytes()));
        self
    }

    /// Disables retries: the caller has an alternative.
    pub(crate) fn once(mut self) -> Call {
        self.is_patient = false;
        self
    }

    fn path_and_query(&self) -> String {
        let mut path = self.place.path();
        for (index, (name, value)) in self.query.iter().enumerate() {
            path.push(if index == 0 { '?' } else { '&' });
            path.push_str(&format!("{name}={}", encoded(value)));
        }
        path
    }
}

/// A client of one API server.
#[derive(Debug)]
pub(crate) struct Client {
    access: Access,
    /// The address for calls: the server, with its host replaced by the name that its certificate must have.
    base: String,
    /// The server's own host and port, if `base` has another.
    host: Option<String>,
    tls: Tls,
    pub(crate) credentials: Credentials,
    agent: Mutex<Option<(u64, Agent)>>,
    pub(crate) clock: Arc<dyn Clock>,
    patience: Patience,
}

/// Time limit and retries of a plain call.
#[derive(Clone, Copy, Debug)]
struct Patience {
    within: Duration,
    /// Whether temporary errors are retried.
    tries_again: bool,
}

/// The default: the caller has time.
const PATIENT: Patience = Patience {
    within: READ_TIMEOUT,
    tries_again: true,
};

/// A response without an end.
pub(crate) struct Stream {
    agent: Agent,
    reader: BodyReader<'static>,
}

/// A call that is ready to be sent, and can be aborted before its response begins.
pub(crate) struct Prepared {
    agent: Agent,
    shown: Shown,
}

impl Prepared {
    /// Aborts it from another thread.
    pub(crate) fn agent(&self) -> Agent {
        self.agent.clone()
    }

    /// Sends the call.
    ///
    /// # Errors
    /// The server refuses it, or it was aborted.
    pub(crate) fn open(self, client: &Client, call: &Call) -> Result<Stream> {
        let answer = client.send(&self.agent, call, &self.shown)?;
        if !answer.status().is_success() {
            return Err(client.refusal(call, answer).0);
        }
        let body = answer.into_body().into_with_config();
        Ok(Stream {
            reader: body.limit(u64::MAX).reader(),
            agent: self.agent,
        })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Otherwise the connection would be read to its end before it is closed.
        self.agent.clone().shutdown();
    }
}

impl Client {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// The address or a certificate is invalid.
    pub(crate) fn new(access: Access, clock: Arc<dyn Clock>) -> Result<Client> {
        let (base, host) = addresses(&access)?;
        Ok(Client {
            base,
            host,
            tls: Tls::new(&TlsSettings {
                trusts_all: access.trusts_all,
                authority: access.authority.clone(),
                ..TlsSettings::default()
            })
            .map_err(Error::config)?,
            credentials: Credentials::new(access.user.clone()),
            agent: Mutex::new(None),
            clock,
            access,
            patience: PATIENT,
        })
    }

    /// A client for the same server whose plain calls have this time limit and are not retried.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub(crate) fn hurried(&self, within: Duration) -> Result<Client> {
        let client = Client::new(self.access.clone(), self.clock.clone())?;
        Ok(Client {
            patience: Patience {
                within,
                tries_again: false,
            },
            ..client
        })
    }

    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Sends a call and reads its response as JSON.
    ///
    /// # Errors
    /// There is no such response.
    pub(crate) fn json(&self, call: &Call) -> Result<Value> {
        let bytes = self.bytes(call)?;
        serde_json::from_slice(&bytes).map_err(|_| {
            let told = call.place.told();
            Error::answer(format!(
                "{} answered for {told} with something that is not JSON",
                self.told()
            ))
        })
    }

    /// Sends a call and reads its response.
    ///
    /// # Errors
    /// There is none, or it is too large.
    pub(crate) fn bytes(&self, call: &Call) -> Result<Vec<u8>> {
        let mut waits = WAITS.iter();
        loop {
            let (error, wait) = match self.attempt(call) {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let tries_again = call.is_patient && self.patience.tries_again && error.may_pass();
            let Some(usual) = waits.next().filter(|_| tries_again) else {
                return Err(error);
            };
            let Some(wait) = wait.map(|wait| wait.unwrap_or(*usual)) else {
                return Err(error);
            };
            self.clock.wait(wait.min(WAIT_MAX));
        }
    }

    /// Sends a call with an endless response.
    ///
    /// # Errors
    /// The server refuses it.
    pub(crate) fn stream(&self, call: &Call) -> Result<Stream> {
        self.prepare(Some(READ_TIMEOUT))?.open(self, call)
    }

    /// Prepares a call with an endless response; `beginning` is the time limit for its start (`None`: no
    /// limit).
    ///
    /// # Errors
    /// There are no credentials.
    pub(crate) fn prepare(&self, beginning: Option<Duration>) -> Result<Prepared> {
        let shown = self.credentials.now(self.clock.unix_ns())?;
        let agent = self.new_agent(&shown, None, beginning)?;
        Ok(Prepared { agent, shown })
    }

    /// One attempt: the response, or the error and, if a retry makes sense, how long the server wants the
    /// client to wait.
    fn attempt(
        &self,
        call: &Call,
    ) -> std::result::Result<Vec<u8>, (Error, Option<Option<Duration>>)> {
        let mut is_second = false;
        loop {
            let shown = self.credentials.now(self.clock.unix_ns());
            let shown = shown.map_err(|error| (error, None))?;
            let agent = self.agent(&shown).map_err(|error| (error, None))?;
            let answer = self.send(&agent, call, &shown);
            let mut answer = answer.map_err(|error| (error, None))?;
            let status = answer.status();
            if status.is_success() {
                let body = answer.body_mut().with_config().limit(ANSWER_MAX);
                return body
                    .read_to_vec()
                    .map_err(|error| (self.trouble(&error), None));
            }
            // Nothing was done, so retrying once with newer credentials is harmless.
            if status.as_u16() == 401 && !is_second && self.credentials.refused() {
                is_second = true;
                continue;
            }
            let (error, wait) = self.refusal(call, answer);
            return Err((error, Some(wait)));
        }
    }

    fn send(&self, agent: &Agent, call: &Call, shown: &Shown) -> Result<Response<Body>> {
        let mut request = Request::builder()
            .method(call.verb.method())
            .uri(format!("{}{}", self.base, call.path_and_query()))
            .header(header::ACCEPT, "application/json, */*");
        if let Some(host) = &self.host {
            request = request.header(header::HOST, host);
        }
        for (name, value) in shown.headers()? {
            request = request.header(name.as_ref(), value);
        }
        let unfit = |_| {
            Error::config(format!(
                "{}: a credential or name has characters that cannot be sent",
                self.told()
            ))
        };
        let sent = match &call.body {
            None => agent.run(request.body(()).map_err(unfit)?),
            Some((kind, body)) => {
                let request = request.header(header::CONTENT_TYPE, *kind);
                agent.run(request.body(body.as_slice()).map_err(unfit)?)
            }
        };
        sent.map_err(|error| self.trouble(&error))
    }

    /// The client for plain calls; a new one if the client certificate may have changed.
    fn agent(&self, shown: &Shown) -> Result<Agent> {
        let mut kept = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, agent)) = kept
            .as_ref()
            .filter(|(edition, _)| *edition == shown.edition)
        {
            return Ok(agent.clone());
        }
        let within = Some(self.patience.within);
        let agent = self.new_agent(shown, within, within)?;
        *kept = Some((shown.edition, agent.clone()));
        Ok(agent)
    }

    /// A client with these time limits for a whole call, and for the start of its response.
    fn new_agent(
        &self,
        shown: &Shown,
        all: Option<Duration>,
        beginning: Option<Duration>,
    ) -> Result<Agent> {
        let config = loadline_http::config(Some(&self.tls(shown)))
            .proxy(self.proxy()?)
            .timeout_global(all)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(beginning)
            .max_redirects(0)
            .max_idle_connections(CONNECTIONS_MAX)
            .max_idle_connections_per_host(CONNECTIONS_MAX)
            .build();
        let real = self.host.as_ref().map(|_| self.access.server.parse());
        let resolver = HostResolver {
            real: real.transpose().map_err(|_| self.no_address())?,
            resolver: DefaultResolver::default(),
        };
        Ok(Agent::with_parts(
            config,
            DefaultConnector::default(),
            resolver,
        ))
    }

    /// TLS settings of a connection: trusted authorities and client certificate.
    pub(crate) fn tls(&self, shown: &Shown) -> Tls {
        self.tls.with_identity(shown.identity.clone())
    }

    fn proxy(&self) -> Result<Option<Proxy>> {
        match &self.access.proxy {
            Some(address) => Proxy::new(address).map(Some).map_err(|_| {
                Error::config(format!("{}: its proxy-url cannot be read", self.told()))
            }),
            None => Ok(proxy_of(&self.access.server)),
        }
    }

    /// The meaning of the server's refusal, and how long it wants the client to wait.
    fn refusal(&self, call: &Call, answer: Response<Body>) -> (Error, Option<Duration>) {
        // A refusal whose reason cannot be read is one all the same.
        let (answer, _) = Answer::read(answer, ERROR_MAX);
        let said = match serde_json::from_slice::<Value>(&answer.body) {
            Ok(value) => json::filled(&value, "/message").unwrap_or_default(),
            Err(_) => String::from_utf8_lossy(&answer.body).trim().to_owned(),
        };
        let error = self.judged(call, answer.status, &said);
        (error, retry_after(&answer.headers))
    }

    fn judged(&self, call: &Call, status: u16, said: &str) -> Error {
        let (who, what) = (self.told(), call.place.told());
        let verb = call.verb.word();
        let has_unknown_field = said.contains(UNKNOWN_FIELD);
        let said = match said.is_empty() {
            true => String::new(),
            false => format!(": {}", quoted(said)),
        };
        match status {
            // The author of the object is at fault, whatever the server calls it.
            500 if has_unknown_field => Error::new(
                ErrorKind::Refused,
                format!("{who} refused to {verb} {what}{said}; correct the field's name"),
            ),
            401 => Error::new(
                ErrorKind::Unauthorized,
                format!(
                    "{who} does not accept the credentials (401); check the user of this context, or log in again"
                ),
            ),
            403 => Error::new(
                ErrorKind::Forbidden,
                format!(
                    "{who} does not allow this user to {verb} {what} (403){said}; that needs {}",
                    call.place.rule(call.verb)
                ),
            ),
            404 => Error::new(
                ErrorKind::NotFound,
                format!("{who} has no {what} (404){said}"),
            ),
            409 => Error::new(
                ErrorKind::Conflict,
                format!(
                    "{who} did not {verb} {what}, because it conflicts with another change (409){said}"
                ),
            ),
            410 => Error::new(
                ErrorKind::Gone,
                format!("{who} no longer has the requested history of {what} (410)"),
            ),
            429 | 500..=599 => Error::new(
                ErrorKind::Unavailable,
                format!("{who} could not {verb} {what} ({status}){said}"),
            ),
            _ => Error::new(
                ErrorKind::Refused,
                format!("{who} refused to {verb} {what} ({status}){said}"),
            ),
        }
    }

    fn trouble(&self, error: &ureq::Error) -> Error {
        let (who, server) = (self.told(), &self.access.server);
        if let Some(error) = certificate_trouble(error) {
            return Error::config(format!(
                "{who} ({server}): {error}; check certificate-authority, client-certificate and tls-server-name"
            ));
        }
        let why = match error {
            ureq::Error::BodyExceedsLimit(max) => {
                return Error::answer(format!(
                    "{who} answered with more than {} MiB; narrow the selector",
                    max >> 20
                ));
            }
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => return self.no_address(),
            other => loadline_http::told(other),
        };
        Error::new(
            ErrorKind::Unreachable,
            format!(
                "{who} ({server}) cannot be reached: {why}; check that it runs and that its network or VPN is up"
            ),
        )
    }

    fn no_address(&self) -> Error {
        Error::config(format!("{}: its address cannot be read", self.told()))
    }

    /// The cluster's name in messages.
    pub(crate) fn told(&self) -> String {
        format!("the cluster {:?}", self.access.name)
    }
}

/// The address for calls, and the server's own host and port if that is different.
fn addresses(access: &Access) -> Result<(String, Option<String>)> {
    let wrong = || {
        Error::config(format!(
            "the cluster {:?}: its address cannot be used, it must be http:// or https:// with a host, got {}",
            access.name,
            quoted(&access.server)
        ))
    };
    let uri: Uri = access.server.parse().map_err(|_| wrong())?;
    let authority = uri.authority().ok_or_else(wrong)?;
    let has_more = uri.query().is_some() || authority.as_str().contains('@');
    if !matches!(uri.scheme_str(), Some("http" | "https")) || has_more {
        return Err(wrong());
    }
    let Some(name) = &access.tls_server_name else {
        return Ok((access.server.trim_end_matches('/').to_owned(), None));
    };
    if access.proxy.is_some() {
        return Err(Error::config(format!(
            "the cluster {:?}: tls-server-name and proxy-url together are not supported",
            access.name
        )));
    }
    let port = authority.port_u16().unwrap_or(443);
    let base = format!("https://{name}:{port}{}", uri.path().trim_end_matches('/'));
    Ok((base, Some(authority.to_string())))
}

fn certificate_trouble(error: &ureq::Error) -> Option<String> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        _ => return None,
    };
    Some(match error {
        rustls::Error::InvalidCertificate(why) => format!("its certificate is not trusted: {why}"),
        other => other.to_string(),
    })
}

/// Looks up the server's own host, whatever name is in the address.
#[derive(Debug)]
struct HostResolver {
    real: Option<Uri>,
    resolver: DefaultResolver,
}

impl Resolver for HostResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
        let uri = self.real.as_ref().unwrap_or(uri);
        self.resolver.resolve(uri, config, timeout)
    }
}

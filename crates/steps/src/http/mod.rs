//! HTTP samplers: requests, and results from responses, without a socket.
//!
//! Must not know connections. Invariant: a run ends with one sample, whatever the responses are.

mod auth;
mod body;
mod branch;
mod cache;
mod cookies;
mod date;
mod exchange;
mod fields;
mod inner;
mod java;
mod links;
mod local;
mod location;
mod memory;
mod outcome;
mod parameters;
mod rewriting;
mod run;
mod settings;
mod url;
mod way;
mod written;

use std::sync::Arc;

use loadline_java::oro::{Oro, OroFault};

pub use auth::Authorization;
pub use cache::CacheManager;
pub use cookies::{CookieManager, CookiePolicy, PresetCookie};
pub(crate) use exchange::Running;
pub(crate) use memory::SamplerAtWork;
pub use memory::{AtWork, HttpMemory};
pub(crate) use outcome::{charset_of, data_type};
pub use parameters::FoundParameters;
pub use rewriting::UrlRewriting;
pub use run::{HttpRun, HttpStep, NumberedAsk};
pub use settings::PROPERTIES;

pub use way::{HttpProxy, HttpWay, WayPlan};

use crate::compiled::Compiled;
use crate::scope::Scope;
use crate::text::Text;
use crate::thrown::Thrown;

/// The HTTP client that is imitated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HttpClient {
    /// Apache's HttpClient.
    #[default]
    Apache,
    /// Java's own.
    Java,
}

/// A request from the plan, with defaults merged in.
#[derive(Clone, Debug, Default)]
pub struct HttpRequestPlan {
    /// The client that sends it.
    pub client: HttpClient,
    /// `http` or `https`; empty: `http`.
    pub protocol: Text,
    /// Host.
    pub domain: Text,
    /// Port; empty: the protocol's.
    pub port: Text,
    /// Path, or a whole URL.
    pub path: Text,
    /// Method.
    pub method: Text,
    /// Whether a method is set, even if empty; otherwise it is `GET`.
    pub has_method: bool,
    /// Encoding of arguments and bodies; empty: UTF-8.
    pub encoding: Text,
    /// Milliseconds; empty or 0: no limit.
    pub connect_timeout: Text,
    /// Milliseconds; empty or 0: no limit.
    pub response_timeout: Text,
    /// Arguments, those of defaults after the sampler's own.
    pub arguments: Vec<HttpArgument>,
    /// Whether the arguments' values are the body unchanged.
    pub raw_body: bool,
    /// Whether a form is sent as multipart.
    pub multipart: bool,
    /// Whether the parts of a form have only a name.
    pub browser_compatible: bool,
    /// Files to send.
    pub files: Vec<HttpFile>,
    /// Whether redirects are followed with separate samples.
    pub follow_redirects: bool,
    /// Whether redirects are followed without separate samples.
    pub auto_redirects: bool,
    /// Whether the connection is kept alive.
    pub keep_alive: bool,
    /// Whether only the MD5 of a response's data is kept.
    pub md5: bool,
}

/// The request of an HTTP sampler, and what it shares with other samplers.
#[derive(Clone, Debug, Default)]
pub struct HttpSamplerPlan {
    /// The request, defaults merged in.
    pub request: HttpRequestPlan,
    /// Header fields of all managers in scope, merged.
    pub headers: Vec<HeaderField>,
    /// The numbers of these managers, the nearest first, each with its number of fields.
    pub header_managers: Vec<(usize, usize)>,
    /// The cookie manager; `None`: cookies are ignored.
    pub cookies: Option<Arc<CookieManager>>,
    /// The cache manager; `None`: responses are not cached.
    pub cache: Option<Arc<CacheManager>>,
    /// The route of requests.
    pub way: WayPlan,
    /// Users and passwords by URL.
    pub authorizations: Vec<Arc<Authorization>>,
    /// Fetching of embedded resources; `None`: they are not fetched.
    pub resources: Option<Arc<ResourcesPlan>>,
    /// Whether the plan is in functional mode.
    pub is_functional: bool,
}

/// The compiled text of a pattern; `None`: it is empty.
pub type UrlPattern = Result<Option<Oro>, OroFault>;

/// Which embedded resources of a page are fetched, and how.
#[derive(Debug, Default)]
pub struct ResourcesPlan {
    /// A pattern that must match the whole URL; empty: all match.
    pub wanted: Compiled<UrlPattern>,
    /// A pattern that must not match; empty: none is excluded.
    pub unwanted: Compiled<UrlPattern>,
    /// How many are fetched concurrently, 6 if it is not a number; `None`: one after another.
    pub at_a_time: Option<Text>,
}

impl ResourcesPlan {
    /// How many are fetched concurrently; `None`: one after another.
    fn most_at_a_time(&self, scope: &mut Scope<'_>) -> Option<i64> {
        let said = self.at_a_time.as_ref()?.evaluate(scope);
        let most = said.parse().unwrap_or(6);
        (most > 1).then_some(most)
    }
}

impl HttpSamplerPlan {
    /// Whether embedded resources are fetched concurrently.
    fn resources_at_once(&self) -> bool {
        let plan = self.resources.as_ref();
        plan.is_some_and(|plan| plan.at_a_time.is_some())
    }
}

/// The cookie manager, unless it ignores cookies.
fn cookie_manager(plan: &HttpSamplerPlan) -> Option<&CookieManager> {
    let manager = plan.cookies.as_deref()?;
    (manager.policy != CookiePolicy::Ignore).then_some(manager)
}

/// The cookies of a branch: its own, or those of the thread.
struct Cookies<'a>(Option<&'a mut cookies::Jar>);

impl Cookies<'_> {
    /// The `Cookie` field for a URL; `None`: no cookie matches.
    fn field(
        &mut self,
        plan: &HttpSamplerPlan,
        url: &url::Url,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> Option<String> {
        let manager = cookie_manager(plan)?;
        let jar = self.jar(manager, memory, scope);
        jar.refresh(manager, scope);
        jar.field(manager.policy, url)
    }

    /// Stores the cookies of a response.
    fn take(
        &mut self,
        plan: &HttpSamplerPlan,
        url: &url::Url,
        reply: &HttpReply,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) {
        let Some(manager) = cookie_manager(plan) else {
            return;
        };
        let settings = memory.settings(scope.host.world(), plan.is_functional);
        let settings = &settings.cookies;
        for field in reply.all("set-cookie") {
            let now_ms = scope.host.unix_ms();
            let jar = self.jar(manager, memory, scope);
            if let Some((name, value)) = jar.take((settings, manager.policy), url, field, now_ms)
                && let Some(prefix) = &settings.prefix
            {
                scope.variables.put(format!("{prefix}{name}"), value);
            }
        }
    }

    fn jar<'j>(
        &'j mut self,
        manager: &CookieManager,
        memory: &'j mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> &'j mut cookies::Jar {
        match &mut self.0 {
            Some(jar) => jar,
            None => memory.jar(manager, scope),
        }
    }
}

/// An argument of a request.
#[derive(Clone, Debug, Default)]
pub struct HttpArgument {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// Whether to encode it; otherwise it is sent as typed.
    pub encode: bool,
    /// The separator of name and value: `=`, or nothing.
    pub equals: &'static str,
    /// The content type of its part; empty: that of text.
    pub content_type: Text,
}

/// A file to send.
#[derive(Clone, Debug, Default)]
pub struct HttpFile {
    /// The file.
    pub path: Text,
    /// The parameter; empty: the file is the body.
    pub parameter: Text,
    /// Its content type.
    pub content_type: Text,
}

/// A header field of a request.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
}

/// One request to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAsk {
    /// The client that sends it, in whose words failures are reported.
    pub client: HttpClient,
    /// `http` or `https`.
    pub scheme: String,
    /// Host without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// All header fields in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Limit for connecting, in milliseconds; `None`: none.
    pub connect_timeout_ms: Option<u64>,
    /// Maximum idle time while waiting for the response, in milliseconds; `None`: no limit.
    pub response_timeout_ms: Option<u64>,
    /// Whether the connection may be reused.
    pub keep_alive: bool,
    /// Whether existing connections are closed first, for another user.
    pub anew: bool,
    /// Its route; `None`: the usual one.
    pub way: Option<Box<HttpWay>>,
}

/// The result of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// When it started: milliseconds since 1970.
    pub start_ms: i64,
    /// Milliseconds from its start to its end.
    pub elapsed_ms: u64,
    /// Milliseconds from its start to the first byte of the response.
    pub latency_ms: u64,
    /// Milliseconds for connecting; zero if a connection was reused.
    pub connect_ms: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The response.
    pub reply: Result<HttpReply, HttpFault>,
}

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpReply {
    /// Status.
    pub status: u16,
    /// Whether it is HTTP/1.0.
    pub is_http_1_0: bool,
    /// The reason phrase after the status.
    pub reason: String,
    /// Header fields in order.
    pub headers: Vec<(String, String)>,
    /// Bytes of the head on the wire.
    pub header_bytes: u64,
    /// Bytes of the body on the wire.
    pub body_bytes: u64,
    /// The decoded body.
    pub body: Vec<u8>,
}

impl HttpReply {
    /// All header fields with a name.
    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.headers.iter();
        let fields = fields.filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_str())
    }

    /// The first of them.
    fn first_header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The last of them.
    fn last_header(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }
}

/// Why there is no response, in Java's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFault {
    /// The class of the exception.
    pub class: String,
    /// Its message.
    pub message: String,
}

impl From<Thrown> for HttpFault {
    fn from(thrown: Thrown) -> HttpFault {
        HttpFault {
            class: thrown.class.to_owned(),
            message: thrown.message,
        }
    }
}

/// Whether a text is blank.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

//! One exchange of a sampler: the request for a URL, and the sample from its response.
//!
//! Must not know redirects with separate samples, nor pages. Invariant: an exchange ends with one sample, or
//! with none if its response is still fresh in the cache.

use super::body::{self, RequestBody};
use super::cache::Exchanged;
use super::fields::Fields;
use super::inner::{Inner, Sent};
use super::memory::HttpMemory;
use super::outcome::{self, Fetched};
use super::settings::{CachedMode, HttpSettings};
use super::url::{self, Url};
use super::{
    Cookies, HttpAnswer, HttpAsk, HttpClient, HttpFault, HttpProxy, HttpReply, HttpSamplerPlan,
    HttpWay, java,
};
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

/// A running sampler.
#[derive(Clone, Copy)]
pub(crate) struct Running<'a> {
    /// Its plan.
    pub(crate) plan: &'a HttpSamplerPlan,
    /// Its name, which is evaluated for each of its samples.
    pub(crate) name: &'a Text,
}

/// A URL to fetch.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    pub(super) url: Url,
    pub(super) method: String,
    /// Whether it is the target of a redirect.
    pub(super) is_followed: bool,
    /// In how many nested pages it is.
    pub(super) depth: usize,
}

/// An exchange in progress.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) fetch: Fetch,
    label: String,
    body: Option<RequestBody>,
    cookies: String,
    /// Header fields before those added by the client.
    own: Fields,
    /// Header fields as last sent.
    sent: Fields,
    /// Header fields that Java's client was given last; `None`: it is not the client.
    given: Option<Fields>,
    way: Option<Box<HttpWay>>,
    /// Whether Java's client has already repeated it.
    is_repeated: bool,
    /// Requests made by the client itself: redirects, responses to challenges.
    inner: Inner,
}

/// The start of an exchange.
pub(super) enum Begun {
    /// Send this request.
    Send(Box<HttpAsk>, Box<Exchange>),
    /// It has already ended; `None`: there is no sample.
    Over(Option<Box<Fetched>>),
}

/// The next step of an exchange.
pub(super) enum Answered {
    /// The client itself sends another request.
    Send(Box<HttpAsk>, Box<Exchange>),
    /// It has ended.
    Over(Fetch, Box<Fetched>),
}

impl Exchange {
    /// Starts an exchange.
    pub(super) fn begin(
        running: Running<'_>,
        fetch: Fetch,
        cookies: &mut Cookies<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> Begun {
        let plan = running.plan;
        let settings = memory.settings(scope.host.world(), plan.is_functional);
        let url = fetch.url.to_string();
        let label = match settings.renames {
            true => running.name.evaluate(scope).into_owned(),
            false => url.clone(),
        };
        let mut exchange = Exchange {
            label,
            body: None,
            cookies: String::new(),
            own: Fields::default(),
            sent: Fields::default(),
            given: None,
            way: None,
            is_repeated: false,
            inner: Inner::default(),
            fetch,
        };
        let client = plan.request.client;
        if let Some(fault) = exchange.refusal(client, &url) {
            return exchange.failed_before(&fault, scope);
        }
        let host = exchange.fetch.url.plain_host();
        match plan.way.to(host, &settings.proxy, scope) {
            Ok(way) => exchange.way = way,
            Err(fault) => return exchange.failed_before(&fault, scope),
        }
        exchange.own = Fields::of_plan(plan, &exchange.fetch.url, scope);
        if let Some(manager) = &plan.cache {
            let cache = memory.cache(manager, scope);
            for (name, value) in cache.conditions(&url, exchange.own.as_slice()) {
                exchange.own.set(name, value);
            }
        }
        if plan.cookies.is_some() && exchange.fetch.url.host.is_empty() {
            return exchange.failed_before(&outcome::no_host_for_cookies(), scope);
        }
        if let Some(field) = cookies.field(plan, &exchange.fetch.url, memory, scope) {
            exchange.own.set("Cookie", field);
        }
        exchange.cookies = exchange.own.get("cookie").unwrap_or_default().to_owned();
        let now_ms = scope.host.unix_ms();
        if let Some(manager) = &plan.cache
            && exchange.fetch.method.eq_ignore_ascii_case("GET")
            && memory
                .cache(manager, scope)
                .is_fresh(&url, exchange.own.as_slice(), now_ms)
        {
            return Begun::Over(exchange.cached(&settings, now_ms));
        }
        let made = exchange.make_body(plan, memory, scope);
        let thrown = scope.memory.exception.take().map(HttpFault::from);
        let fault = match thrown.map_or(made, Err) {
            Ok(()) => exchange.no_way_to(client, &url),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = fault {
            return exchange.failed_before(&fault, scope);
        }
        let is_anew = memory.take_new_user();
        let ask = exchange.ask(plan, is_anew, memory, scope);
        Begun::Send(Box::new(ask), Box::new(exchange))
    }

    /// Why the client refuses a URL and a method.
    fn refusal(&self, client: HttpClient, url: &str) -> Option<HttpFault> {
        let method = &self.fetch.method;
        match client {
            HttpClient::Java => java::fault_of(method, &self.fetch.url),
            HttpClient::Apache => url::fault_of(url).or_else(|| method_fault(method)),
        }
    }

    /// Builds the body; the target of a redirect has none.
    fn make_body(
        &mut self,
        plan: &HttpSamplerPlan,
        memory: &HttpMemory,
        scope: &mut Scope<'_>,
    ) -> Result<(), HttpFault> {
        let client = plan.request.client;
        let make = match client {
            HttpClient::Java => java::body,
            HttpClient::Apache => body::body,
        };
        if !self.fetch.is_followed {
            let method = &self.fetch.method;
            self.body = make(&plan.request, method, memory.rewrites(), scope)?;
        }
        if let Some(body) = &self.body {
            self.own.give_type_of(body);
            if client == HttpClient::Apache && self.own.get("transfer-encoding").is_some() {
                return Err(outcome::refused());
            }
        }
        Ok(())
    }

    /// Why no connection is made for a URL.
    fn no_way_to(&self, client: HttpClient, url: &str) -> Option<HttpFault> {
        let to = &self.fetch.url;
        if client == HttpClient::Apache && !to.has_host() {
            return Some(outcome::no_host(url));
        }
        let port = to.effective_port();
        match u16::try_from(port) {
            Ok(_) => outcome::scheme_fault(to),
            Err(_) => Some(outcome::no_port(port)),
        }
    }

    /// The client's current URL and method.
    fn at(&self) -> (Url, String) {
        let fetch = &self.fetch;
        let (url, method) = self.inner.hop().unwrap_or((&fetch.url, &fetch.method));
        (url.clone(), method.to_owned())
    }

    /// The current request.
    fn ask(
        &mut self,
        plan: &HttpSamplerPlan,
        is_anew: bool,
        memory: &HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpAsk {
        let request = &plan.request;
        let (url, method) = self.at();
        let is_whole = self.inner.sends_body();
        let body = self.body.as_ref().filter(|_| is_whole);
        let is_proxied = self.plain_proxy().is_some();
        let bytes = body.map(|body| body.bytes.as_slice());
        let said = match self.own.get("authorization") {
            None => self.inner.credentials(plan, &url, (&method, bytes), scope),
            Some(_) => None,
        };
        self.sent = match request.client {
            HttpClient::Java => {
                let given = java::given(&self.own, said, body);
                let sent = java::completed(&given, body.is_some(), &method, &url, is_proxied);
                self.given = Some(given);
                sent
            }
            HttpClient::Apache => {
                let mut fields = self.own.completed(body, &method, &url, is_proxied);
                if let Some(said) = said {
                    fields.add("Authorization", said);
                }
                fields
            }
        };
        let target = match request.client {
            HttpClient::Java => java::target(&url),
            HttpClient::Apache => url.request_target(),
        };
        if let Some(proxy) = self.plain_proxy()
            && let Some(said) = proxy.authorization.clone()
            && memory.is_asked_by_proxy()
        {
            self.sent.add("Proxy-Authorization", said);
        }
        let mut limit = |text: &Text| {
            let limit = text.evaluate(scope).trim().parse::<u64>().ok();
            limit.filter(|limit| *limit > 0)
        };
        HttpAsk {
            client: request.client,
            scheme: url.scheme.clone(),
            host: url.plain_host().to_owned(),
            port: u16::try_from(url.effective_port()).unwrap_or_default(),
            method,
            target: match self.plain_proxy() {
                Some(_) => format!("{}://{}{target}", url.scheme, url.authority()),
                None => target,
            },
            headers: self.sent.to_vec(),
            body: self.bytes(plan, is_whole),
            connect_timeout_ms: limit(&request.connect_timeout),
            response_timeout_ms: limit(&request.response_timeout),
            keep_alive: !self.sent.wants_close() && !self.is_doomed(),
            anew: is_anew,
            way: self.way.clone(),
        }
    }

    /// What results tell of the header fields that were sent last.
    fn told_fields(&self) -> String {
        match &self.given {
            Some(given) => java::told(&self.own, given),
            None => self.sent.told(),
        }
    }

    /// The proxy that gets requests in absolute form; not one that tunnels.
    fn plain_proxy(&self) -> Option<&HttpProxy> {
        let way = self
            .way
            .as_ref()
            .filter(|_| self.fetch.url.scheme != "https")?;
        way.proxy.as_ref()
    }

    /// Whether a proxy requests authentication for the first time, and there are credentials.
    fn is_asked_by_proxy(&self, answer: &HttpAnswer, memory: &mut HttpMemory) -> bool {
        let is_asked = answer.reply.as_ref().is_ok_and(|reply| reply.status == 407);
        let proxy = self.plain_proxy().filter(|_| is_asked);
        let can_be_told = proxy.is_some_and(|proxy| proxy.authorization.is_some());
        can_be_told && memory.note_asked_by_proxy()
    }

    /// Whether it fails whatever the response is.
    fn is_doomed(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.fault.is_some())
    }

    /// The bytes to send; they are kept if the client may have to send them again.
    fn bytes(&mut self, plan: &HttpSamplerPlan, is_whole: bool) -> Vec<u8> {
        let may_come_again = plan.request.auto_redirects
            || plan.request.client == HttpClient::Java
            || !plan.authorizations.is_empty()
            || self.plain_proxy().is_some();
        match self.body.as_mut().filter(|_| is_whole) {
            None => Vec::new(),
            Some(body) if may_come_again => body.bytes.clone(),
            Some(body) => std::mem::take(&mut body.bytes),
        }
    }

    /// The exchange has ended.
    pub(super) fn answered(
        mut self: Box<Self>,
        running: Running<'_>,
        answer: &HttpAnswer,
        cookies: &mut Cookies<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> Answered {
        let plan = running.plan;
        let settings = memory.settings(scope.host.world(), plan.is_functional);
        let seen;
        let answer = match plan.request.client {
            HttpClient::Java => {
                seen = java::seen(answer);
                &seen
            }
            HttpClient::Apache => answer,
        };
        if plan.request.client == HttpClient::Java && !self.is_repeated && java::is_lost(answer) {
            self.is_repeated = true;
            let ask = self.ask(plan, false, memory, scope);
            return Answered::Send(Box::new(ask), self);
        }
        if self.is_asked_by_proxy(answer, memory) {
            let ask = self.ask(plan, false, memory, scope);
            return Answered::Send(Box::new(ask), self);
        }
        let (url, method) = self.at();
        let sent = Sent {
            url: &url,
            method: &method,
            is_said_by_plan: self.own.get("authorization").is_some(),
        };
        match self.inner.take(plan, &settings, sent, answer, scope) {
            Ok(false) => {}
            Ok(true) => {
                // Java's client closes the connection on which it was redirected.
                let is_anew = plan.request.client == HttpClient::Java && is_moved(answer);
                let ask = self.ask(plan, is_anew, memory, scope);
                return Answered::Send(Box::new(ask), self);
            }
            Err(fault) => {
                let fetched = self.fault(&fault, answer.start_ms, answer.elapsed_ms);
                return Answered::Over(self.fetch, fetched);
            }
        }
        if plan.request.auto_redirects {
            self.fetch.url = match plan.request.client {
                HttpClient::Apache => url.without_fragment(),
                HttpClient::Java => url,
            };
        }
        if let Some(fault) = self.body.as_mut().and_then(|body| body.fault.take()) {
            let fetched = self.fault(&fault, answer.start_ms, answer.elapsed_ms);
            return Answered::Over(self.fetch, fetched);
        }
        let reply = match answer.reply.as_ref() {
            Ok(reply) => reply,
            Err(fault) => {
                let mut fetched = self.fault(fault, answer.start_ms, answer.elapsed_ms);
                fetched.sample.connect_ms = answer.connect_ms;
                return Answered::Over(self.fetch, fetched);
            }
        };
        let location = reply.last_header("location").map(str::to_owned);
        if location.is_none() && outcome::is_redirect(reply.status, &self.fetch.method) {
            let fault = outcome::no_location(&self.fetch.method, &self.fetch.url);
            let mut fetched = self.fault(&fault, answer.start_ms, answer.elapsed_ms);
            fetched.sample.latency_ms = answer.latency_ms;
            fetched.sample.connect_ms = answer.connect_ms;
            return Answered::Over(self.fetch, fetched);
        }
        cookies.take(plan, &self.fetch.url, reply, memory, scope);
        self.remember(plan, &settings, reply, memory, scope);
        let mut sample = self.told(plan, answer, &settings);
        self.inner.stretch(&mut sample);
        let fetched = Box::new(Fetched { sample, location });
        Answered::Over(self.fetch, fetched)
    }

    fn remember(
        &self,
        plan: &HttpSamplerPlan,
        settings: &HttpSettings,
        reply: &HttpReply,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) {
        let Some(manager) = &plan.cache else {
            return;
        };
        let now_ms = scope.host.unix_ms();
        let request = self.sent.without_cookies();
        let exchanged = Exchanged {
            url: &self.fetch.url.to_string(),
            method: &self.fetch.method,
            request: &request,
            reply,
        };
        memory
            .cache(manager, scope)
            .remember(manager, settings, &exchanged, now_ms);
    }

    /// The sample for a response.
    fn told(
        &mut self,
        plan: &HttpSamplerPlan,
        answer: &HttpAnswer,
        settings: &HttpSettings,
    ) -> Sample {
        let Ok(reply) = &answer.reply else {
            unreachable!("only what has a response is told as one");
        };
        let is_resource_as_md5 = settings.resources_as_md5
            && plan
                .resources
                .as_ref()
                .is_some_and(|one| one.at_a_time.is_some())
            && self.fetch.depth > 0;
        let told = self.body.as_ref().map(|body| body.told.clone());
        let told = told.unwrap_or_default();
        let client = plan.request.client;
        let as_md5 = plan.request.md5 || is_resource_as_md5;
        let mut sample = outcome::sample_of(reply, client, as_md5);
        if client == HttpClient::Java {
            sample.body_bytes = java::body_bytes(reply);
            sample.bytes = sample.header_bytes + sample.body_bytes;
        }
        Sample {
            label: std::mem::take(&mut self.label),
            request_headers: self.told_fields(),
            sampler_data: Some(told.clone()),
            method: self.fetch.method.clone(),
            query: told,
            cookies: self.cookies.clone(),
            url: Some(self.fetch.url.to_string()),
            start_ms: answer.start_ms,
            elapsed_ms: answer.elapsed_ms,
            latency_ms: answer.latency_ms,
            connect_ms: answer.connect_ms,
            sent_bytes: answer.sent_bytes,
            ..sample
        }
    }

    /// The sample for a response that is fresh in the cache.
    fn cached(self, settings: &HttpSettings, now_ms: i64) -> Option<Box<Fetched>> {
        let CachedMode::Told { code, message } = &settings.cached else {
            return None;
        };
        let sample = Sample {
            label: self.label,
            code: code.clone(),
            message: message.clone(),
            success: true,
            method: self.fetch.method,
            cookies: self.cookies,
            url: Some(self.fetch.url.to_string()),
            start_ms: now_ms,
            ..Sample::default()
        };
        Some(Box::new(Fetched {
            sample,
            location: None,
        }))
    }

    fn failed_before(mut self, fault: &HttpFault, scope: &Scope<'_>) -> Begun {
        let mut fetched = self.fault(fault, scope.host.unix_ms(), 0);
        fetched.sample.is_unsent = true;
        Begun::Over(Some(fetched))
    }

    /// The sample for an exchange without a response.
    fn fault(&mut self, fault: &HttpFault, start_ms: i64, elapsed_ms: u64) -> Box<Fetched> {
        let told = self.body.as_ref().map(|body| body.told.clone());
        let sample = Sample {
            label: std::mem::take(&mut self.label),
            method: self.fetch.method.clone(),
            query: told.unwrap_or_default(),
            cookies: std::mem::take(&mut self.cookies),
            request_headers: self.told_fields(),
            url: Some(self.fetch.url.to_string()),
            start_ms,
            elapsed_ms,
            ..Sample::default()
        };
        let sample = outcome::with_fault(sample, fault);
        Box::new(Fetched {
            sample,
            location: None,
        })
    }
}

/// Whether a response is a redirect.
fn is_moved(answer: &HttpAnswer) -> bool {
    let reply = answer.reply.as_ref();
    reply.is_ok_and(|reply| (300..400).contains(&reply.status))
}

/// The fault of a method that is not a valid token.
fn method_fault(method: &str) -> Option<HttpFault> {
    let is_token = !method.is_empty()
        && method
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(one));
    (!is_token).then(|| HttpFault {
        class: "java.lang.IllegalArgumentException".to_owned(),
        message: format!("Unexpected method: '{method}'"),
    })
}

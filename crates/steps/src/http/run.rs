//! One run of an HTTP sampler: its request, the redirects that it follows, its sample.
//!
//! Must not know connections. Invariant: the sample of a run that followed redirects holds one sample a hop.

use base64::Engine;

use super::body::{self, RequestBody};
use super::cookies::{Cookie, Jar};
use super::url::{self, Url};
use super::{HttpAnswer, HttpAsk, HttpFault, HttpReply, HttpSamplerPlan, is_blank};
use crate::sample::{DataType, Sample};
use crate::scope::Scope;

/// Redirects that are followed at most.
const REDIRECTS_MAX: usize = 20;

/// What JMeter's client calls itself.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// What a thread keeps between requests.
#[derive(Debug, Default)]
pub struct HttpMemory {
    jar: Jar,
    /// Whether the preset cookies are in the jar.
    is_filled: bool,
    /// Whether connections are to be made anew.
    is_new_user: bool,
    /// An iteration has begun since the last request.
    has_new_iteration: bool,
    /// Whether the iteration that began is another user's.
    is_other_user: bool,
}

impl HttpMemory {
    /// An iteration of the group begins.
    pub(crate) fn begin_iteration(&mut self, same_user: bool) {
        self.has_new_iteration = true;
        self.is_other_user = !same_user;
        self.is_new_user |= !same_user;
    }
}

/// A run under way.
#[derive(Debug)]
pub struct HttpRun {
    name: String,
    /// Where the request that is under way goes.
    url: Url,
    method: String,
    body: Option<RequestBody>,
    cookies: String,
    request_headers: String,
    /// The samples of the hops before.
    hops: Vec<Sample>,
}

/// Where a run goes on.
#[derive(Debug)]
pub enum HttpStep {
    /// An exchange is asked for.
    Send(Box<HttpAsk>, Box<HttpRun>),
    /// The run is over.
    Done(Box<Sample>),
}

impl HttpRun {
    /// Begins a run.
    pub(crate) fn begin(
        plan: &HttpSamplerPlan,
        name: String,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        prepare_jar(plan, memory, scope);
        let method = plan.request.method.evaluate(scope).into_owned();
        let method = if is_blank(&method) {
            "GET".to_owned()
        } else {
            method
        };
        let written = written_url(plan, &method, scope);
        let failed = |fault: &HttpFault, url: &str, scope: &Scope<'_>| {
            HttpStep::Done(Box::new(fault_sample(
                &name,
                fault,
                url,
                scope.host.unix_ms(),
            )))
        };
        if let Some(fault) = url::fault_of(&written) {
            return failed(&fault, &written, scope);
        }
        let Some(url) = Url::parse(&written).filter(|url| !url.host.is_empty()) else {
            return failed(&no_host(&written), &written, scope);
        };
        let body = match body::body(&plan.request, &method, scope) {
            Ok(body) => body,
            Err(fault) => return failed(&fault, &written, scope),
        };
        let run = HttpRun {
            name,
            url,
            method,
            body,
            cookies: String::new(),
            request_headers: String::new(),
            hops: Vec::new(),
        };
        run.send(plan, memory, scope)
    }

    /// Asks for the exchange that is next.
    fn send(
        mut self,
        plan: &HttpSamplerPlan,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        let request = &plan.request;
        let cookies = match &plan.cookies {
            Some(manager) if !manager.ignore => memory.jar.field(&self.url),
            _ => None,
        };
        let headers = self.headers(plan, cookies.as_deref(), scope);
        let told = headers.iter().filter(|(name, _)| name != "Cookie");
        self.request_headers = told
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect();
        self.cookies = cookies.unwrap_or_default();
        let connect_timeout = request.connect_timeout.evaluate(scope).trim().parse().ok();
        let response_timeout = request.response_timeout.evaluate(scope).trim().parse().ok();
        let ask = HttpAsk {
            scheme: self.url.scheme.clone(),
            host: self.url.host.trim_matches(['[', ']']).to_owned(),
            port: self.url.effective_port(),
            method: self.method.clone(),
            target: self.url.request_target(),
            headers,
            // Only what is told of it is wanted later.
            body: self
                .body
                .as_mut()
                .map(|body| std::mem::take(&mut body.bytes))
                .unwrap_or_default(),
            connect_timeout_ms: connect_timeout.filter(|limit| *limit > 0),
            response_timeout_ms: response_timeout.filter(|limit| *limit > 0),
            keep_alive: request.keep_alive,
            anew: std::mem::take(&mut memory.is_new_user),
        };
        HttpStep::Send(Box::new(ask), Box::new(self))
    }

    /// All header fields, in the order in which JMeter's client sends them.
    fn headers(
        &self,
        plan: &HttpSamplerPlan,
        cookies: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Vec<(String, String)> {
        let connection = if plan.request.keep_alive {
            "keep-alive"
        } else {
            "close"
        };
        let mut headers = vec![("Connection".to_owned(), connection.to_owned())];
        let (mut has_host, mut has_agent, mut has_type) = (false, false, false);
        for field in &plan.headers {
            let name = field.name.evaluate(scope).into_owned();
            let value = field.value.evaluate(scope).into_owned();
            match name.to_ascii_lowercase().as_str() {
                "content-length" | "" => continue,
                "host" => {
                    has_host = true;
                    headers.push((name, self.overridden_host(&value)));
                    continue;
                }
                "cookie" if cookies.is_some() => continue,
                "content-type" if self.is_type_bound() => continue,
                "content-type" => has_type = true,
                "user-agent" => has_agent = true,
                _ => {}
            }
            headers.push((name, value));
        }
        if let Some(body) = &self.body
            && let Some(content_type) = body.content_type.as_ref().filter(|_| body.is_file)
            && !has_type
        {
            has_type = true;
            headers.push(("Content-Type".to_owned(), content_type.clone()));
        }
        if let Some(cookies) = cookies {
            headers.push(("Cookie".to_owned(), cookies.to_owned()));
        }
        if let Some(body) = &self.body {
            headers.push(("Content-Length".to_owned(), body.bytes.len().to_string()));
            if let Some(content_type) = &body.content_type
                && !has_type
            {
                headers.push(("Content-Type".to_owned(), content_type.clone()));
            }
        }
        if !has_host {
            headers.push(("Host".to_owned(), self.url.authority()));
        }
        if !has_agent {
            headers.push(("User-Agent".to_owned(), USER_AGENT.to_owned()));
        }
        if let Some(credentials) = self.authorization(plan, scope) {
            headers.push(("Authorization".to_owned(), credentials));
        }
        headers
    }

    fn is_type_bound(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.is_binding)
    }

    /// A `Host` of the plan keeps the URL's port where it has none.
    fn overridden_host(&self, value: &str) -> String {
        match self.url.port {
            Some(port) if !value.contains(':') => format!("{value}:{port}"),
            _ => value.to_owned(),
        }
    }

    /// The user and password of the first entry whose URL is a prefix of the request's.
    fn authorization(&self, plan: &HttpSamplerPlan, scope: &mut Scope<'_>) -> Option<String> {
        let url = self.url.to_string();
        for entry in &plan.authorizations {
            let prefix = entry.url.evaluate(scope).into_owned();
            if is_blank(&prefix) || !url.starts_with(prefix.trim()) {
                continue;
            }
            let user = entry.user.evaluate(scope).into_owned();
            let password = entry.password.evaluate(scope);
            let ascii = |text: &str| -> String {
                let letters = text.chars();
                letters
                    .map(|letter| if letter.is_ascii() { letter } else { '?' })
                    .collect()
            };
            let pair = format!("{}:{}", ascii(&user), ascii(&password));
            let coded = base64::engine::general_purpose::STANDARD.encode(pair);
            return Some(format!("Basic {coded}"));
        }
        None
    }

    /// An exchange came to an end.
    pub(crate) fn answered(
        mut self,
        plan: &HttpSamplerPlan,
        answer: HttpAnswer,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        if let (Some(manager), Ok(reply)) = (&plan.cookies, &answer.reply)
            && !manager.ignore
        {
            let fields = reply.headers.iter();
            for (_, value) in fields.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
                memory.jar.take(&self.url, value);
            }
        }
        let location = redirect_of(plan, &self.method, &answer);
        let sample = self.sample(answer);
        let Some(location) = location else {
            return HttpStep::Done(Box::new(self.whole(plan, sample)));
        };
        let next = location
            .as_deref()
            .and_then(|location| self.url.join(location));
        let Some(next) = next else {
            let mut sample = self.whole(plan, sample);
            sample.success = false;
            return HttpStep::Done(Box::new(sample));
        };
        self.hops.push(sample);
        if self.hops.len() > REDIRECTS_MAX {
            return HttpStep::Done(Box::new(self.too_many_redirects()));
        }
        if self.method != "HEAD" {
            self.method = "GET".to_owned();
        }
        self.body = None;
        self.url = next;
        self.send(plan, memory, scope)
    }

    /// The sample of one exchange.
    fn sample(&self, answer: HttpAnswer) -> Sample {
        let start_ms = answer.start_ms;
        let mut sample = match answer.reply {
            Ok(reply) => Sample {
                start_ms,
                latency_ms: answer.latency_ms,
                sent_bytes: answer.sent_bytes,
                ..self.answered_sample(reply)
            },
            Err(fault) => fault_sample(&self.name, &fault, &self.url.to_string(), start_ms),
        };
        sample.elapsed_ms = answer.elapsed_ms;
        sample.connect_ms = answer.connect_ms;
        sample
    }

    fn answered_sample(&self, reply: HttpReply) -> Sample {
        let content_type = reply.header("content-type").unwrap_or_default().to_owned();
        let mut response_headers = format!("HTTP/1.1 {} {}\n", reply.status, reply.reason);
        for (name, value) in &reply.headers {
            response_headers.push_str(&format!("{name}: {value}\n"));
        }
        Sample {
            label: self.name.clone(),
            code: reply.status.to_string(),
            message: reply.reason,
            success: (200..400).contains(&reply.status),
            data_type: data_type(&content_type),
            encoding: charset_of(&content_type),
            content_type,
            data: reply.body,
            response_headers,
            request_headers: self.request_headers.clone(),
            sampler_data: self
                .body
                .as_ref()
                .map(|body| body.told.clone())
                .unwrap_or_default(),
            method: self.method.clone(),
            query: self
                .body
                .as_ref()
                .map(|body| body.told.clone())
                .unwrap_or_default(),
            cookies: self.cookies.clone(),
            url: Some(self.url.to_string()),
            bytes: reply.header_bytes + reply.body_bytes,
            header_bytes: reply.header_bytes,
            body_bytes: reply.body_bytes,
            ..Sample::default()
        }
    }

    /// The sample of the whole run: that of its only exchange, or one over its hops.
    fn whole(&mut self, plan: &HttpSamplerPlan, last: Sample) -> Sample {
        if self.hops.is_empty() {
            return last;
        }
        let mut hops = std::mem::take(&mut self.hops);
        hops.push(last);
        for (number, hop) in hops.iter_mut().enumerate() {
            hop.label = format!("{}-{number}", self.name);
        }
        let sum = |field: fn(&Sample) -> u64| hops.iter().map(field).sum();
        let first = &hops[0];
        let last = &hops[hops.len() - 1];
        let end_ms = last.start_ms + i64::try_from(last.elapsed_ms).unwrap_or(i64::MAX);
        let whole = Sample {
            label: self.name.clone(),
            start_ms: first.start_ms,
            elapsed_ms: end_ms.saturating_sub(first.start_ms).max(0).unsigned_abs(),
            latency_ms: first.latency_ms,
            connect_ms: first.connect_ms,
            cookies: first.cookies.clone(),
            success: hops.iter().all(|hop| hop.success),
            bytes: sum(|hop| hop.bytes),
            header_bytes: sum(|hop| hop.header_bytes),
            body_bytes: sum(|hop| hop.body_bytes),
            sent_bytes: sum(|hop| hop.sent_bytes),
            ..last.clone()
        };
        if plan.request.auto_redirects {
            return whole;
        }
        Sample {
            children: hops,
            ..whole
        }
    }

    /// The sample of a run that was sent on too often.
    fn too_many_redirects(mut self) -> Sample {
        let told = "Exceeded maximum number of redirects: 20";
        let fault = HttpFault {
            class: "java.io.IOException".to_owned(),
            message: told.to_owned(),
        };
        let mut hops = std::mem::take(&mut self.hops);
        let last = hops.pop().unwrap_or_default();
        let failed = fault_sample(&self.name, &fault, &self.url.to_string(), last.start_ms);
        hops.push(Sample {
            elapsed_ms: last.elapsed_ms,
            ..failed
        });
        for (number, hop) in hops.iter_mut().enumerate() {
            hop.label = format!("{}-{number}", self.name);
        }
        let last = hops[hops.len() - 1].clone();
        let end_ms = last.start_ms + i64::try_from(last.elapsed_ms).unwrap_or(0);
        Sample {
            label: self.name,
            start_ms: hops[0].start_ms,
            elapsed_ms: end_ms
                .saturating_sub(hops[0].start_ms)
                .max(0)
                .unsigned_abs(),
            latency_ms: hops[0].latency_ms,
            success: false,
            bytes: hops.iter().map(|hop| hop.bytes).sum(),
            sent_bytes: hops.iter().map(|hop| hop.sent_bytes).sum(),
            children: hops,
            ..last
        }
    }
}

/// Fills the jar for the iteration that is under way.
fn prepare_jar(plan: &HttpSamplerPlan, memory: &mut HttpMemory, scope: &mut Scope<'_>) {
    let Some(manager) = &plan.cookies else {
        return;
    };
    let is_cleared = match manager.by_group {
        true => memory.is_other_user,
        false => manager.clear_each_iteration,
    };
    let is_new = std::mem::take(&mut memory.has_new_iteration);
    if memory.is_filled && !(is_new && is_cleared) {
        return;
    }
    memory.is_filled = true;
    memory.jar = Jar::default();
    for preset in &manager.preset {
        let cookie = Cookie {
            name: preset.name.evaluate(scope).into_owned(),
            value: preset.value.evaluate(scope).into_owned(),
            domain: preset
                .domain
                .evaluate(scope)
                .trim_start_matches('.')
                .to_ascii_lowercase(),
            with_subdomains: true,
            path: match preset.path.evaluate(scope) {
                path if is_blank(&path) => "/".to_owned(),
                path => path.into_owned(),
            },
            secure: preset.secure,
        };
        memory.jar.store(cookie);
    }
}

/// The URL as the sampler's fields have it.
fn written_url(plan: &HttpSamplerPlan, method: &str, scope: &mut Scope<'_>) -> String {
    let request = &plan.request;
    let path = request.path.evaluate(scope).into_owned();
    let lower = path.get(..8).unwrap_or(&path).to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return path.replace(' ', "%20");
    }
    let protocol = request.protocol.evaluate(scope).into_owned();
    let protocol = if is_blank(&protocol) {
        "http"
    } else {
        protocol.trim()
    };
    let protocol = protocol.to_ascii_lowercase();
    let domain = request.domain.evaluate(scope).into_owned();
    let domain = domain.trim();
    let port = request.port.evaluate(scope).into_owned();
    let mut written = if domain.is_empty() {
        format!("{protocol}:")
    } else {
        format!("{protocol}://{domain}")
    };
    let of_protocol = if protocol == "https" { "443" } else { "80" };
    let port = port.trim();
    if !port.is_empty() && port != of_protocol && port != "0" && !domain.is_empty() {
        written.push_str(&format!(":{port}"));
    }
    if !path.starts_with('/') {
        written.push('/');
    }
    written.push_str(&path.replace(' ', "%20"));
    if matches!(method, "GET" | "DELETE" | "OPTIONS") && !request.raw_body {
        let query = body::query(request, scope);
        if !query.is_empty() {
            written.push(if path.contains('?') { '&' } else { '?' });
            written.push_str(&query);
        }
    }
    written
}

fn no_host(url: &str) -> HttpFault {
    HttpFault {
        class: "org.apache.http.client.ClientProtocolException".to_owned(),
        message: format!("URI does not specify a valid host name: {url}"),
    }
}

/// Where a redirect leads that is followed: `Some(None)` where it says nowhere; `None`: none is followed.
fn redirect_of(
    plan: &HttpSamplerPlan,
    method: &str,
    answer: &HttpAnswer,
) -> Option<Option<String>> {
    let reply = answer.reply.as_ref().ok()?;
    if !plan.request.follow_redirects && !plan.request.auto_redirects {
        return None;
    }
    let is_followed = match reply.status {
        301 | 302 | 303 | 308 => true,
        307 => matches!(method, "GET" | "HEAD"),
        _ => false,
    };
    is_followed.then(|| reply.header("location").map(str::to_owned))
}

/// The sample of a request that has no answer.
fn fault_sample(name: &str, fault: &HttpFault, url: &str, start_ms: i64) -> Sample {
    Sample {
        label: name.to_owned(),
        code: format!("Non HTTP response code: {}", fault.class),
        message: format!("Non HTTP response message: {}", fault.message),
        data_type: DataType::Text,
        start_ms,
        data: format!("{}: {}\n", fault.class, fault.message).into_bytes(),
        url: Some(url.to_owned()),
        ..Sample::default()
    }
}

/// What the data of an answer is by its content type.
fn data_type(content_type: &str) -> DataType {
    let lower = content_type.to_ascii_lowercase();
    let is_text = ["audio/x-mpegurl", "image/svg"]
        .iter()
        .any(|kind| lower.starts_with(kind));
    let is_binary = ["image/", "audio/", "video/"]
        .iter()
        .any(|kind| lower.starts_with(kind));
    match (content_type.is_empty(), is_binary && !is_text) {
        (true, _) => DataType::Unset,
        (false, true) => DataType::Binary,
        (false, false) => DataType::Text,
    }
}

/// The charset that a content type names.
fn charset_of(content_type: &str) -> String {
    let lower = content_type.to_ascii_lowercase();
    let Some(at) = lower.find("charset=") else {
        return String::new();
    };
    let value = content_type[at + 8..].split(';').next().unwrap_or_default();
    value.trim().trim_matches(['"', '\'']).to_owned()
}

//! Requests that JMeter's client makes itself within one exchange: it follows redirects (`auto_redirects`) and
//! answers challenges.
//!
//! Must not know samples except their times. Invariant: of several requests the last one counts, with the time
//! since the first.

use std::collections::HashSet;

use super::auth::{self, Digested, Scheme};
use super::location::redirected;
use super::outcome::refused;
use super::settings::HttpSettings;
use super::url::Url;
use super::{HttpAnswer, HttpClient, HttpFault, HttpReply, HttpSamplerPlan};
use crate::sample::Sample;
use crate::scope::Scope;

/// Maximum number of challenges answered in one exchange.
const CHALLENGES_MAX: u32 = 5;

/// What the client has done itself so far.
#[derive(Debug, Default)]
pub(super) struct Inner {
    /// The target of a redirect, with its method; `None`: none was followed.
    hop: Option<(Url, String)>,
    is_without_body: bool,
    /// Targets of redirects so far.
    visited: HashSet<String>,
    /// How credentials are sent; `None`: as in the plan.
    scheme: Option<Scheme>,
    challenges: u32,
    /// When the first request started, and the connect time since then; `None`: there was only one request.
    begun: Option<(i64, u64)>,
}

/// The last request.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) url: &'a Url,
    pub(super) method: &'a str,
    /// Whether its `Authorization` is a field of the plan.
    pub(super) is_said_by_plan: bool,
}

impl Inner {
    /// The target of a redirect, with its method.
    pub(super) fn hop(&self) -> Option<(&Url, &str)> {
        self.hop
            .as_ref()
            .map(|(url, method)| (url, method.as_str()))
    }

    /// Whether the body is sent with the next request.
    pub(super) fn sends_body(&self) -> bool {
        !self.is_without_body
    }

    /// The `Authorization` of the next request.
    pub(super) fn credentials(
        &self,
        plan: &HttpSamplerPlan,
        url: &Url,
        (method, body): (&str, Option<&[u8]>),
        scope: &mut Scope<'_>,
    ) -> Option<String> {
        if plan.authorizations.is_empty() {
            return None;
        }
        let credentials = auth::for_url(&plan.authorizations, url, scope)?;
        let scheme = match &self.scheme {
            Some(scheme) => scheme,
            // Java's client says them without being asked, in the only way that JMeter has for it.
            None if credentials.is_digest && plan.request.client == HttpClient::Apache => {
                return None;
            }
            None => &Scheme::Basic,
        };
        let request = Digested {
            method,
            target: &url.request_target(),
            body,
            client_nonce: &format!("{:016x}", scope.host.random()),
        };
        credentials.say(scheme, &request)
    }

    /// Processes a response; `true`: the client itself sends another request.
    ///
    /// # Errors
    /// It does not follow further redirects.
    pub(super) fn take(
        &mut self,
        plan: &HttpSamplerPlan,
        settings: &HttpSettings,
        sent: Sent<'_>,
        answer: &HttpAnswer,
        scope: &mut Scope<'_>,
    ) -> Result<bool, HttpFault> {
        let Ok(reply) = &answer.reply else {
            return Ok(false);
        };
        let goes_on = match reply.status {
            401 if !sent.is_said_by_plan => self.is_challenged(plan, sent.url, reply, scope),
            _ if plan.request.auto_redirects => self.is_sent_on(settings, sent, reply)?,
            _ => false,
        };
        if goes_on {
            let (start_ms, connect_ms) = self.begun.unwrap_or((answer.start_ms, 0));
            let connected_ms = match answer.connect_ms {
                0 => connect_ms,
                ms => since(start_ms, answer.start_ms) + ms,
            };
            self.begun = Some((start_ms, connected_ms));
        }
        Ok(goes_on)
    }

    fn is_challenged(
        &mut self,
        plan: &HttpSamplerPlan,
        url: &Url,
        reply: &HttpReply,
        scope: &mut Scope<'_>,
    ) -> bool {
        let Some(credentials) = auth::for_url(&plan.authorizations, url, scope) else {
            return false;
        };
        let before = match &self.scheme {
            None if !credentials.is_digest => Some(&Scheme::Basic),
            scheme => scheme.as_ref(),
        };
        let challenges = reply.all("www-authenticate");
        let scheme = credentials.scheme_for(challenges, before);
        self.challenges += 1;
        let goes_on = scheme.is_some() && self.challenges <= CHALLENGES_MAX;
        self.scheme = scheme.or(self.scheme.take());
        goes_on
    }

    fn is_sent_on(
        &mut self,
        settings: &HttpSettings,
        sent: Sent<'_>,
        reply: &HttpReply,
    ) -> Result<bool, HttpFault> {
        let is_redirectable = matches!(sent.method, "GET" | "POST" | "HEAD" | "DELETE");
        let location = reply.first_header("location");
        let is_followed = match reply.status {
            302 => is_redirectable && location.is_some(),
            301 | 307 | 308 => is_redirectable,
            303 => true,
            _ => false,
        };
        if !is_followed {
            return Ok(false);
        }
        let url = location.and_then(|location| redirected(sent.url, location));
        let url = url.ok_or_else(refused)?;
        let is_new = self.visited.insert(url.to_string());
        if !is_new || self.visited.len() > settings.redirects_max {
            return Err(refused());
        }
        let keeps_method = matches!(reply.status, 307 | 308);
        let method = match sent.method {
            "HEAD" => "HEAD",
            method if keeps_method => method,
            _ => "GET",
        };
        self.is_without_body |= method == "GET" || method == "HEAD";
        self.hop = Some((url, method.to_owned()));
        Ok(true)
    }

    /// Moves the start of the last request's sample to that of the first.
    pub(super) fn stretch(&self, sample: &mut Sample) {
        let Some((start_ms, connect_ms)) = self.begun else {
            return;
        };
        let before_ms = since(start_ms, sample.start_ms);
        sample.elapsed_ms += before_ms;
        sample.latency_ms += before_ms;
        sample.connect_ms = match sample.connect_ms {
            0 => connect_ms,
            ms => before_ms + ms,
        };
        sample.start_ms = start_ms;
    }
}

/// Milliseconds from one instant to another.
fn since(start_ms: i64, end_ms: i64) -> u64 {
    end_ms.saturating_sub(start_ms).max(0).unsigned_abs()
}

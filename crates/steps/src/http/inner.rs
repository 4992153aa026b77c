//! What JMeter's client does by itself within one exchange: it follows redirects (`auto_redirects`) and answers challenges.
//!
//! Must not know samples but their times. Invariant: of several requests the last one counts, and the time from the first.

use std::collections::HashSet;

use super::auth::{self, Digested, Scheme};
use super::location::redirected;
use super::outcome::refused;
use super::settings::HttpSettings;
use super::url::Url;
use super::{HttpAnswer, HttpFault, HttpReply, HttpSamplerPlan};
use crate::sample::Sample;
use crate::scope::Scope;

/// Challenges of one exchange that are answered at most.
const CHALLENGES_MAX: u32 = 5;

/// What the client has done by itself so far.
#[derive(Debug, Default)]
pub(super) struct Inner {
    /// Where a redirect led to, and the method that is used there; `None`: none was followed.
    hop: Option<(Url, String)>,
    is_without_body: bool,
    /// Where redirects led to so far.
    visited: HashSet<String>,
    /// How credentials are said; `None`: as the plan has it.
    scheme: Option<Scheme>,
    challenges: u32,
    /// When the first request began, and how long connecting took since; `None`: there was but one request.
    begun: Option<(i64, u64)>,
}

/// The request that was sent last.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) url: &'a Url,
    pub(super) method: &'a str,
    /// Whether its `Authorization` is a field of the plan.
    pub(super) is_said_by_plan: bool,
}

impl Inner {
    /// Where a redirect led to, and the method that is used there.
    pub(super) fn hop(&self) -> Option<(&Url, &str)> {
        self.hop
            .as_ref()
            .map(|(url, method)| (url, method.as_str()))
    }

    /// Whether the body is sent with the request that is next.
    pub(super) fn sends_body(&self) -> bool {
        !self.is_without_body
    }

    /// The `Authorization` of the request that is next.
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
            None if credentials.is_digest => return None,
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

    /// Looks at an answer; `true`: the client sends another request by itself.
    ///
    /// # Errors
    /// It follows no further.
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

    /// Lets a sample of the last request begin with the first.
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

//! Records of a script other than plain values: hops of HTTP requests and checks, with their tags.
//!
//! Tags stay separate until a set is requested: most samples are only counted. Must not know who reads them.
//! Invariant: [`Tagged::tag`] and [`Tagged::each_tag`] return the same tags.

use loadline_metric::{TagSet, Tagged};
use loadline_model::ErrorClass;

use crate::hop::HopTimes;
use crate::system_tags::{SystemTag, SystemTags};

/// One recorded hop of an HTTP request.
#[derive(Clone, Debug)]
pub struct HttpSample<'a> {
    /// Where the time went.
    pub times: HopTimes,
    /// Whether the response was unexpected; `None` without a response callback: not recorded.
    pub failed: Option<bool>,
    /// Tags of the virtual user and of the request itself: scenario, group, the user's own.
    pub base: &'a TagSet,
    /// Additional tags of this request (`params.tags`); they override the base.
    pub own: Option<&'a TagSet>,
    /// The system tags of the hop itself with their values; they override the user's tags of the same name.
    pub system: HttpTags<'a>,
    /// Enabled system tags.
    pub enabled: SystemTags,
    /// Bytes and other facts of the hop for the engine's own statistics.
    pub facts: HttpFacts<'a>,
}

/// Facts of a hop for the engine's own statistics.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFacts<'a> {
    /// Status code; zero for a failure.
    pub status: u16,
    /// The class of a failure; `None` for a response.
    pub failure: Option<ErrorClass>,
    /// The failure's text; empty for a response.
    pub error: &'a str,
    /// Bytes of the received body, as on the wire.
    pub body_bytes: u64,
    /// Bytes of a request with a response; zero for a failure.
    pub sent_bytes: u64,
    /// The response's content type; empty if missing.
    pub content_type: &'a [u8],
    /// The start of the body as the script gets it, without secrets; empty if not needed.
    pub body: &'a str,
    /// When the hop started, in nanoseconds from the start of the run.
    pub started_ns: u64,
    /// When it ended.
    pub done_ns: u64,
}

/// The system tags of a hop; an empty value means that the tag is missing, except for `url` and `name`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpTags<'a> {
    /// `method`
    pub method: &'a str,
    /// `url`
    pub url: &'a str,
    /// `name`
    pub name: &'a str,
    /// `status`
    pub status: &'a str,
    /// `proto`
    pub proto: &'a str,
    /// `expected_response`
    pub expected_response: &'a str,
    /// `error`
    pub error: &'a str,
    /// `error_code`
    pub error_code: &'a str,
    /// `tls_version`
    pub tls_version: &'a str,
    /// `ocsp_status`
    pub ocsp_status: &'a str,
    /// `ip`
    pub ip: &'a str,
}

impl<'a> HttpTags<'a> {
    fn each(&self) -> [(SystemTag, &'a str); 11] {
        [
            (SystemTag::Method, self.method),
            (SystemTag::Url, self.url),
            (SystemTag::Name, self.name),
            (SystemTag::Status, self.status),
            (SystemTag::Proto, self.proto),
            (SystemTag::ExpectedResponse, self.expected_response),
            (SystemTag::Error, self.error),
            (SystemTag::ErrorCode, self.error_code),
            (SystemTag::TlsVersion, self.tls_version),
            (SystemTag::OcspStatus, self.ocsp_status),
            (SystemTag::Ip, self.ip),
        ]
    }
}

/// Whether a tag is present: `url` and `name` are, even if they are empty.
fn is_told(tag: SystemTag, value: &str) -> bool {
    !value.is_empty() || matches!(tag, SystemTag::Url | SystemTag::Name)
}

impl Tagged for HttpSample<'_> {
    fn tag(&self, name: &str) -> Option<&str> {
        let system = SystemTag::named(name).and_then(|tag| {
            let found = self
                .system
                .each()
                .into_iter()
                .find(|(other, _)| *other == tag);
            found
                .map(|(_, value)| value)
                .filter(|value| is_told(tag, value) && self.enabled.has(tag))
        });
        system
            .or_else(|| self.own.and_then(|own| own.get(name)))
            .or_else(|| self.base.get(name))
    }

    // As in k6, a script's own tags do not replace those of the hop.
    fn each_tag(&self, each: &mut dyn FnMut(&str, &str)) {
        let mut told = SystemTags::NONE;
        for (tag, value) in self.system.each() {
            if is_told(tag, value) && self.enabled.has(tag) {
                told = told.with(tag);
                each(tag.name(), value);
            }
        }
        let is_told = |name: &str| SystemTag::named(name).is_some_and(|tag| told.has(tag));
        let own = |name: &str| self.own.is_some_and(|own| own.get(name).is_some());
        if let Some(own) = self.own {
            own.each_tag(&mut |name, value| {
                if !is_told(name) {
                    each(name, value);
                }
            });
        }
        for (name, value) in self.base.iter() {
            if !is_told(name) && !own(name) {
                each(name, value);
            }
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct CheckSample<'a> {
    /// Its name.
    pub name: &'a str,
    /// The path of its group (`::outer::inner`); empty outside of groups.
    pub group: &'a str,
    /// Whether it passed.
    pub passed: bool,
    /// The name of the request whose response failed it; `None`: it passed, or examined something else.
    pub request: Option<&'a str>,
    /// All its tags, including `check` and `group` if these system tags are on.
    pub tags: &'a TagSet,
}

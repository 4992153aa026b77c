//! What a script records beside plain values: hops of HTTP requests and checks, with their tags.
//!
//! Tags stay parts until somebody asks for a set: most samples are only counted. Must not know who
//! reads them. Invariant: [`Tagged::tag`] and [`Tagged::each_tag`] tell the same tags.

use loadline_metric::{TagSet, Tagged};
use loadline_model::ErrorClass;

use crate::hop::HopTimes;
use crate::system_tags::{SystemTag, SystemTags};

/// One hop of an HTTP request, as it is recorded.
#[derive(Clone, Debug)]
pub struct HttpSample<'a> {
    /// Where the time went.
    pub times: HopTimes,
    /// Whether the answer was unexpected; `None` without a response callback: not recorded.
    pub failed: Option<bool>,
    /// Tags of the virtual user and of the request itself: scenario, group, the user's own.
    pub base: &'a TagSet,
    /// Tags of this one request beyond them (`params.tags`); they win over the base.
    pub own: Option<&'a TagSet>,
    /// The system tags of the hop itself, each with its value; the user's tags of the same name win.
    pub system: HttpTags<'a>,
    /// Which system tags are on.
    pub enabled: SystemTags,
    /// Bytes and other facts of the hop for the engine's own accounts.
    pub facts: HttpFacts<'a>,
}

/// What the engine's own accounts want of a hop.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFacts<'a> {
    /// Status code; zero for a failure.
    pub status: u16,
    /// The class of a failure; `None` for an answer.
    pub failure: Option<ErrorClass>,
    /// The failure's text; empty for an answer.
    pub error: &'a str,
    /// Bytes of the body received, as on the wire.
    pub body_bytes: u64,
    /// Bytes of the request that was answered; zero for a failure.
    pub sent_bytes: u64,
    /// The answer's content type; empty without.
    pub content_type: &'a [u8],
    /// The beginning of the body as the script gets it, without secrets; empty where it is not looked at.
    pub body: &'a str,
    /// When the hop began, in nanoseconds from the start of the run.
    pub started_ns: u64,
    /// When it was done.
    pub done_ns: u64,
}

/// The system tags of a hop; an empty value means that the tag is absent.
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

/// Whether a tag is there: the address is even where it is empty.
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

    // As in k6, a script's own tags do not replace what is known of the hop.
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

/// How one check came out.
#[derive(Clone, Debug)]
pub struct CheckSample<'a> {
    /// Its name.
    pub name: &'a str,
    /// The group that it stands in, as a path (`::outer::inner`); empty at the top.
    pub group: &'a str,
    /// Whether it held.
    pub passed: bool,
    /// All its tags, `check` and `group` among them where these system tags are on.
    pub tags: &'a TagSet,
}

//! The HTTP cache of one thread, like JMeter's Cache Manager: it stores metadata of responses, not the
//! responses.
//!
//! Must not know requests. Invariant: a cache holds no more entries than its manager allows.

use std::collections::{HashMap, VecDeque};

use loadline_java::numbers::long_or_zero;

use super::date;
use super::settings::HttpSettings;
use super::{HttpReply, is_blank};
use crate::scope::Scope;
use crate::text::Text;

/// Default lifetime of a response: a year, in milliseconds.
const ONE_YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1_000;

/// A cache manager.
#[derive(Debug, Default)]
pub struct CacheManager {
    /// Its number within the program.
    pub id: usize,
    /// Whether each iteration starts with an empty cache.
    pub clear_each_iteration: bool,
    /// Whether the group's setting for users decides that instead.
    pub by_group: bool,
    /// Whether fresh entries are not requested; otherwise they are requested conditionally.
    pub uses_expires: bool,
    /// Maximum entries.
    pub size_max: Text,
}

/// Metadata of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    last_modified: Option<String>,
    etag: Option<String>,
    /// Expiry time in milliseconds since 1970; `None`: not fresh.
    expires_ms: Option<i64>,
    /// The header fields by which the response varies; `None`: it does not vary.
    vary: Option<String>,
}

/// A thread's metadata of responses.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    entries: HashMap<String, Entry>,
    /// Its keys, the oldest first.
    order: VecDeque<String>,
    size_max: usize,
}

/// Header fields of a request.
type Fields<'a> = &'a [(String, String)];

/// An exchange that may be cached.
pub(super) struct Exchanged<'a> {
    pub(super) url: &'a str,
    pub(super) method: &'a str,
    /// All header fields of the request except cookies.
    pub(super) request: Fields<'a>,
    pub(super) reply: &'a HttpReply,
}

impl Cache {
    /// An empty cache.
    pub(super) fn new(manager: &CacheManager, scope: &mut Scope<'_>) -> Cache {
        let size_max = long_or_zero(manager.size_max.evaluate(scope).trim());
        Cache {
            size_max: usize::try_from(size_max).unwrap_or(0),
            ..Cache::default()
        }
    }

    /// The header fields that make a request for a cached response conditional.
    pub(super) fn conditions(&self, url: &str, request: Fields<'_>) -> Vec<(&'static str, String)> {
        let Some(entry) = self.entry(url, request) else {
            return Vec::new();
        };
        let modified = entry.last_modified.clone();
        let modified = modified.map(|value| ("If-Modified-Since", value));
        let etag = entry.etag.clone().map(|value| ("If-None-Match", value));
        modified.into_iter().chain(etag).collect()
    }

    /// Whether the requested response is fresh.
    pub(super) fn is_fresh(&self, url: &str, request: Fields<'_>, now_ms: i64) -> bool {
        let entry = self.entry(url, request);
        entry.is_some_and(|entry| entry.expires_ms.is_some_and(|until| until > now_ms))
    }

    /// Stores the metadata of a response.
    pub(super) fn remember(
        &mut self,
        manager: &CacheManager,
        settings: &HttpSettings,
        exchanged: &Exchanged<'_>,
        now_ms: i64,
    ) {
        let reply = exchanged.reply;
        let mut methods = settings.cacheable_methods.iter();
        let is_cacheable = methods.any(|method| method.eq_ignore_ascii_case(exchanged.method))
            && (matches!(reply.status, 200..=299 | 304));
        let said = |name: &str| reply.last_header(name).map(str::to_owned);
        let vary = said("vary");
        let (last_modified, etag) = (said("last-modified"), said("etag"));
        let (control, expires) = (said("cache-control"), said("expires"));
        let told = [&last_modified, &etag, &control, &expires];
        let says_something = told
            .iter()
            .any(|value| value.as_ref().is_some_and(|text| !is_blank(text)));
        if !is_cacheable || vary.as_deref() == Some("*") || !says_something {
            return;
        }
        let control = control.unwrap_or_default();
        if manager.uses_expires && control.contains("no-store") {
            return;
        }
        let entry = Entry {
            expires_ms: manager
                .uses_expires
                .then(|| fresh_until(&control, expires.as_deref(), reply, now_ms))
                .flatten(),
            last_modified,
            etag,
            vary: None,
        };
        match vary {
            Some(vary) => {
                let key = vary_key(exchanged.url, &vary, exchanged.request);
                self.put(key, entry.clone());
                let by_name = Entry {
                    vary: Some(vary),
                    ..entry
                };
                self.put(exchanged.url.to_owned(), by_name);
            }
            // An existing entry stays unchanged.
            None if self.entries.contains_key(exchanged.url) => {}
            None => self.put(exchanged.url.to_owned(), entry),
        }
    }

    fn entry(&self, url: &str, request: Fields<'_>) -> Option<&Entry> {
        let entry = self.entries.get(url)?;
        match &entry.vary {
            None => Some(entry),
            Some(vary) => self.entries.get(&vary_key(url, vary, request)),
        }
    }

    fn put(&mut self, key: String, entry: Entry) {
        if self.entries.insert(key.clone(), entry).is_none() {
            self.order.push_back(key);
        }
        while self.entries.len() > self.size_max {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            self.entries.remove(&oldest);
        }
    }
}

/// Expiry time of a response in milliseconds since 1970; `None`: not fresh.
fn fresh_until(
    control: &str,
    expires: Option<&str>,
    reply: &HttpReply,
    now_ms: i64,
) -> Option<i64> {
    let by_date = expires.and_then(date::unix_ms);
    if control.contains("no-cache") {
        return by_date;
    }
    if let Some((_, age)) = control.split_once("max-age=") {
        let digits = age.split([',', ' ']).next().unwrap_or_default();
        let seconds: i64 = digits.parse().ok()?;
        return Some(now_ms.saturating_add(seconds.saturating_mul(1_000)));
    }
    if expires.is_some() {
        return by_date;
    }
    let date_of = |name: &str| reply.last_header(name).filter(|value| !value.is_empty());
    let (Some(modified), Some(sent)) = (date_of("last-modified"), date_of("date")) else {
        return Some(now_ms + ONE_YEAR_MS);
    };
    let age_ms = date::unix_ms(sent)?.saturating_sub(date::unix_ms(modified)?);
    // A tenth of its age, rounded to milliseconds.
    Some(now_ms.saturating_add((age_ms + 5).div_euclid(10)))
}

/// The cache key of a URL for a request with these fields.
fn vary_key(url: &str, vary: &str, request: Fields<'_>) -> String {
    let mut key = format!("vary-{vary}-");
    for name in vary.split(',').map(str::trim_start) {
        let values = request.iter().filter(|(field, _)| field == name);
        for (_, value) in values {
            key.push_str(&format!("{name}={value};"));
        }
    }
    key.push('-');
    key.push_str(url);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> HttpSettings {
        HttpSettings::read(&crate::testing::Desk::default(), false)
    }

    fn reply(headers: &[(&str, &str)]) -> HttpReply {
        let fields = headers.iter();
        HttpReply {
            status: 200,
            headers: fields
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..HttpReply::default()
        }
    }

    /// A cache with one response, stored at the instant 0.
    fn seen(uses_expires: bool, headers: &[(&str, &str)]) -> Cache {
        let manager = CacheManager {
            uses_expires,
            ..CacheManager::default()
        };
        let mut cache = Cache {
            size_max: 10,
            ..Cache::default()
        };
        let request = [("Accept".to_owned(), "a".to_owned())];
        let exchanged = Exchanged {
            url: "http://h/",
            method: "GET",
            request: &request,
            reply: &reply(headers),
        };
        cache.remember(&manager, &settings(), &exchanged, 0);
        cache
    }

    #[test]
    fn what_is_known_is_asked_for_conditionally() {
        let cache = seen(false, &[("ETag", "\"e\""), ("Last-Modified", "then")]);
        assert_eq!(
            cache.conditions("http://h/", &[]),
            [
                ("If-Modified-Since", "then".to_owned()),
                ("If-None-Match", "\"e\"".to_owned())
            ]
        );
        assert!(!cache.is_fresh("http://h/", &[], 1));
        assert!(cache.conditions("http://h/other", &[]).is_empty());
    }

    #[test]
    fn answers_are_fresh_for_as_long_as_they_say() {
        let fresh =
            |headers: &[(&str, &str)], at_ms| seen(true, headers).is_fresh("http://h/", &[], at_ms);
        assert!(fresh(&[("Cache-Control", "public, max-age=1, x")], 999));
        assert!(!fresh(&[("Cache-Control", "max-age=1")], 1_000));
        assert!(!fresh(&[("Cache-Control", "no-cache"), ("ETag", "e")], 1));
        assert!(!fresh(&[("Cache-Control", "no-store"), ("ETag", "e")], 1));
        assert!(fresh(&[("Expires", "Thu, 01 Jan 1970 00:00:01 GMT")], 999));
        assert!(!fresh(&[("Expires", "0")], 1));
        let aged = [
            ("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("Date", "Thu, 01 Jan 1970 00:00:10 GMT"),
        ];
        assert!(fresh(&aged, 999));
        assert!(!fresh(&aged, 1_000));
        assert!(fresh(&[("ETag", "e")], ONE_YEAR_MS - 1));
    }

    #[test]
    fn an_answer_that_differs_by_a_field_is_known_for_that_field() {
        let cache = seen(false, &[("Vary", "Accept"), ("ETag", "e")]);
        let asked = |value: &str| [("Accept".to_owned(), value.to_owned())];
        assert_eq!(cache.conditions("http://h/", &asked("a")).len(), 1);
        assert!(cache.conditions("http://h/", &asked("b")).is_empty());
        assert!(
            seen(false, &[("Vary", "*"), ("ETag", "e")])
                .entries
                .is_empty()
        );
    }

    #[test]
    fn the_oldest_entry_makes_room() {
        let mut cache = Cache {
            size_max: 1,
            ..Cache::default()
        };
        cache.put("a".to_owned(), Entry::default());
        cache.put("b".to_owned(), Entry::default());
        assert_eq!(cache.entries.keys().collect::<Vec<_>>(), ["b"]);
    }
}

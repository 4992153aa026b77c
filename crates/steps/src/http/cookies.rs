//! The cookies of one thread, with the policies of JMeter's client: RFC 6265 as in browsers, Netscape's draft,
//! RFC 2109.
//!
//! Must not know requests. Invariant: a cookie is only sent to matching hosts and paths.

use core::net::Ipv4Addr;

use super::date;
use super::settings::CookieSettings;
use super::url::Url;
use crate::scope::Scope;
use crate::text::Text;

/// A cookie manager.
#[derive(Debug, Default)]
pub struct CookieManager {
    /// Its number within the program.
    pub id: usize,
    /// Initial cookies.
    pub preset: Vec<PresetCookie>,
    /// Whether each iteration starts with only these.
    pub clear_each_iteration: bool,
    /// Whether the group's setting for users decides that instead.
    pub by_group: bool,
    /// The rules for parsing and formatting cookies.
    pub policy: CookiePolicy,
}

/// The rules for parsing and formatting cookies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CookiePolicy {
    /// RFC 6265 (`standard`, `standard-strict`).
    #[default]
    Standard,
    /// Netscape's draft.
    Netscape,
    /// Netscape's draft for cookies of version 0, else RFC 2109 (`default`, `best-match`, `compatibility`).
    Mixed,
    /// RFC 2109.
    Rfc2109,
    /// RFC 2965: received cookies are ignored, since they come in the older header field.
    Rfc2965,
    /// No cookies are stored or sent (`ignoreCookies`).
    Ignore,
}

/// A cookie of the plan.
#[derive(Clone, Debug, Default)]
pub struct PresetCookie {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// Its host.
    pub domain: Text,
    /// Its path.
    pub path: Text,
    /// Whether it is only sent over TLS.
    pub secure: bool,
    /// Whether it is also sent to subdomains.
    pub with_subdomains: bool,
    /// Whether its path is sent, if the policy sends paths.
    pub says_path: bool,
}

/// One cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    /// Whether it is also sent to subdomains.
    with_subdomains: bool,
    path: String,
    /// Whether the response that set it contained the path.
    says_path: bool,
    secure: bool,
    /// The version of its rules.
    version: u32,
    /// Its index among the cookies of the plan; `None`: a response set it.
    preset: Option<usize>,
    /// Whether its texts vary, so that JMeter never considers it equal to another one.
    changes: bool,
}

/// The cookies of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jar(Vec<Cookie>);

/// A cookie from a response, and whether it is expired.
struct Said {
    cookie: Cookie,
    has_ended: bool,
}

impl Jar {
    /// The initial cookies of a manager.
    pub(super) fn of(manager: &CookieManager, scope: &mut Scope<'_>) -> Jar {
        let presets = manager.preset.iter().enumerate();
        Jar(presets
            .map(|(place, preset)| preset.cookie(place, scope))
            .collect())
    }

    /// Updates the cookies of the plan to their current values.
    pub(super) fn refresh(&mut self, manager: &CookieManager, scope: &mut Scope<'_>) {
        for cookie in &mut self.0 {
            let place = cookie.preset;
            let preset = place.and_then(|place| Some((place, manager.preset.get(place)?)));
            if let Some((place, preset)) = preset.filter(|(_, preset)| !preset.is_constant()) {
                *cookie = preset.cookie(place, scope);
            }
        }
    }

    /// Stores a cookie made by a script.
    pub(crate) fn put(&mut self, preset: &PresetCookie, scope: &mut Scope<'_>) {
        let cookie = Cookie {
            preset: None,
            changes: false,
            ..preset.cookie(0, scope)
        };
        self.store(cookie);
    }

    /// Its cookies as seen by scripts.
    pub(crate) fn told(&self) -> Vec<PresetCookie> {
        let told = self.0.iter().map(|one| PresetCookie {
            name: Text::literal(&one.name),
            value: Text::literal(&one.value),
            domain: Text::literal(&one.domain),
            path: Text::literal(&one.path),
            secure: one.secure,
            with_subdomains: one.with_subdomains,
            says_path: one.says_path,
        });
        told.collect()
    }

    /// Removes the cookie at an index; returns whether there was one.
    pub(crate) fn remove_at(&mut self, place: usize) -> bool {
        let is_there = place < self.0.len();
        if is_there {
            self.0.remove(place);
        }
        is_there
    }

    /// Removes all cookies.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Stores the cookies that a copy of this jar has received.
    pub(super) fn store_received(&mut self, copy: Jar) {
        // The copy has the plan's own from here.
        for cookie in copy.0.into_iter().filter(|one| one.preset.is_none()) {
            self.store(cookie);
        }
    }

    /// The `Cookie` field for a URL; `None`: no cookie matches.
    pub(super) fn field(&self, policy: CookiePolicy, url: &Url) -> Option<String> {
        let path = url.path();
        let mut fitting: Vec<&Cookie> = self.0.iter().filter(|one| one.fits(url, path)).collect();
        let version = fitting.iter().map(|one| one.version).min()?;
        let is_by_rfc = match policy {
            CookiePolicy::Rfc2109 | CookiePolicy::Rfc2965 => true,
            CookiePolicy::Mixed => version > 0,
            _ => false,
        };
        if is_by_rfc || policy == CookiePolicy::Standard {
            fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        }
        let fitting = fitting.iter();
        if !is_by_rfc {
            let pairs: Vec<String> = fitting.map(|one| one.pair(policy)).collect();
            return Some(pairs.join("; "));
        }
        let told: Vec<String> = fitting.map(|one| one.told(version)).collect();
        // With mixed rules each cookie is a separate field, and JMeter concatenates the fields unchanged.
        let between = match policy {
            CookiePolicy::Mixed => format!("$Version={version}; "),
            _ => "; ".to_owned(),
        };
        Some(format!("$Version={version}; {}", told.join(&between)))
    }

    /// Stores a cookie, replacing one with the same name, domain and path.
    fn store(&mut self, cookie: Cookie) {
        self.remove(&cookie);
        self.0.push(cookie);
    }

    fn remove(&mut self, cookie: &Cookie) {
        self.0.retain(|one| !one.is_same(cookie));
    }

    /// Processes a `Set-Cookie` field of a response; returns name and value of a stored cookie.
    pub(super) fn take(
        &mut self,
        (settings, policy): (&CookieSettings, CookiePolicy),
        url: &Url,
        field: &str,
        now_ms: i64,
    ) -> Option<(String, String)> {
        let Said { cookie, has_ended } = read(policy, url, field, now_ms)?;
        if settings.checks && !cookie.is_for_host(&url.host) {
            return None;
        }
        if has_ended || settings.drops_empty && cookie.value.is_empty() {
            self.remove(&cookie);
            return None;
        }
        let told = (cookie.name.clone(), cookie.value.clone());
        self.store(cookie);
        Some(told)
    }
}

/// Parses a `Set-Cookie` field; `None`: it is invalid.
fn read(policy: CookiePolicy, url: &Url, field: &str, now_ms: i64) -> Option<Said> {
    if policy == CookiePolicy::Rfc2965 {
        return None;
    }
    let parts = parts_of(field);
    let (first, parts) = parts.split_first()?;
    let (name, value) = first.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let quoted = value.trim();
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: without_quotes(quoted),
        domain: url.host.to_ascii_lowercase(),
        path: folder(url),
        ..Cookie::default()
    };
    let rules = rules_for(policy, parts);
    let (mut by_age, mut by_date) = (None, None);
    for part in parts.iter().copied() {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = unquoted(value.trim());
        match key.trim().to_ascii_lowercase().as_str() {
            "max-age" if rules == CookiePolicy::Netscape => {}
            "expires" if rules == CookiePolicy::Rfc2109 => {}
            "expires" if rules == CookiePolicy::Netscape => {
                by_date = Some(date::unix_ms_by_netscape(value)?);
            }
            "max-age" if rules == CookiePolicy::Rfc2109 => {
                by_age = Some(value.parse().ok().filter(|age| *age >= 0)?);
            }
            "domain" if value.is_empty() => return None,
            "domain" if value.ends_with('.') => {}
            "domain" => {
                let domain = value.strip_prefix('.').unwrap_or(value);
                cookie.domain = domain.to_ascii_lowercase();
                cookie.with_subdomains = true;
            }
            "path" => {
                cookie.says_path = true;
                cookie.path = match value {
                    "" => "/".to_owned(),
                    path => path.to_owned(),
                };
            }
            "secure" => cookie.secure = true,
            "version" => cookie.version = value.parse().unwrap_or_default(),
            "max-age" => by_age = value.parse::<i64>().ok().or(by_age),
            // An expiry at the instant 0 is ignored.
            "expires" => by_date = date::unix_ms(value).filter(|end| *end != 0).or(by_date),
            _ => {}
        }
    }
    match rules {
        CookiePolicy::Standard => cookie.version = 0,
        // Netscape's draft has no quotes.
        CookiePolicy::Netscape => {
            cookie.version = 0;
            quoted.clone_into(&mut cookie.value);
        }
        _ => {}
    }
    let has_ended = match by_age {
        Some(age) => age < 0,
        None => by_date.is_some_and(|end| end < now_ms),
    };
    Some(Said { cookie, has_ended })
}

/// The policy for parsing the attributes of a cookie: mixed rules use RFC 2109 for a cookie with a version and
/// without a Netscape expiry date.
fn rules_for(policy: CookiePolicy, attributes: &[&str]) -> CookiePolicy {
    let has = |name: &str| {
        let mut keys = attributes.iter().map(|part| part.split('=').next());
        keys.any(|key| key.is_some_and(|key| key.trim().eq_ignore_ascii_case(name)))
    };
    match policy {
        CookiePolicy::Mixed if has("version") && !has("expires") => CookiePolicy::Rfc2109,
        CookiePolicy::Mixed => CookiePolicy::Netscape,
        policy => policy,
    }
}

/// The parts of a field, separated by semicolons outside of quotes.
fn parts_of(field: &str) -> Vec<&str> {
    let mut is_quoted = false;
    field
        .split(|one| {
            is_quoted ^= one == '"';
            one == ';' && !is_quoted
        })
        .collect()
}

/// A value as parsed by Java's client: all quotes are removed, inside them also backslashes that escape a quote
/// or a backslash, and blanks outside of quotes are collapsed.
fn without_quotes(value: &str) -> String {
    let mut told = String::with_capacity(value.len());
    let (mut is_quoted, mut is_apart) = (false, false);
    let mut all = value.chars().peekable();
    while let Some(one) = all.next() {
        let escaped = all.next_if(|next| is_quoted && one == '\\' && matches!(next, '"' | '\\'));
        if escaped.is_none() && one == '"' {
            is_quoted = !is_quoted;
            if !is_quoted {
                continue;
            }
        } else if !is_quoted && one.is_ascii_whitespace() {
            is_apart = true;
            continue;
        }
        if std::mem::take(&mut is_apart) && !told.is_empty() {
            told.push(' ');
        }
        if escaped.is_some() || one != '"' {
            told.push(escaped.unwrap_or(one));
        }
    }
    told
}

/// A text without surrounding quotes.
fn unquoted(text: &str) -> &str {
    let inside = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or(text)
}

impl PresetCookie {
    fn is_constant(&self) -> bool {
        let mut texts = [&self.name, &self.value, &self.domain, &self.path].into_iter();
        texts.all(|text| text.constant().is_some())
    }

    /// Its current value; `place`: its index among those of the plan.
    fn cookie(&self, place: usize, scope: &mut Scope<'_>) -> Cookie {
        let domain = self.domain.evaluate(scope).to_ascii_lowercase();
        Cookie {
            name: self.name.evaluate(scope).into_owned(),
            value: self.value.evaluate(scope).into_owned(),
            domain: domain.strip_prefix('.').unwrap_or(&domain).to_owned(),
            path: self.path.evaluate(scope).into_owned(),
            secure: self.secure,
            with_subdomains: self.with_subdomains,
            says_path: self.says_path,
            version: 1,
            preset: Some(place),
            changes: !self.is_constant(),
        }
    }
}

impl Cookie {
    fn is_same(&self, other: &Cookie) -> bool {
        let is_same_place = self.domain == other.domain && self.path == other.path;
        !self.changes && self.name == other.name && is_same_place
    }

    /// Only name and value.
    fn pair(&self, policy: CookiePolicy) -> String {
        let Cookie { name, value, .. } = self;
        let is_special = |one: char| matches!(one, ' ' | '"' | ',' | ';' | '\\');
        if policy == CookiePolicy::Standard && value.contains(is_special) {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            return format!("{name}=\"{escaped}\"");
        }
        format!("{name}={value}")
    }

    /// With path and domain, in the format of RFC 2109.
    fn told(&self, version: u32) -> String {
        let quote = if version > 0 { "\"" } else { "" };
        let said = |name: &str, value: &str| format!("{name}={quote}{value}{quote}");
        let mut told = said(&self.name, &self.value);
        if self.says_path {
            told.push_str(&format!("; {}", said("$Path", &self.path)));
        }
        if self.with_subdomains {
            told.push_str(&format!("; {}", said("$Domain", &self.domain)));
        }
        told
    }

    fn is_for_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let below = host.strip_suffix(&self.domain);
        // An IP address has no subdomains.
        let is_name = || host.parse::<Ipv4Addr>().is_err();
        host == self.domain
            || self.with_subdomains && below.is_some_and(|rest| rest.ends_with('.')) && is_name()
    }

    fn fits(&self, url: &Url, path: &str) -> bool {
        let own = match self.path.strip_suffix('/') {
            Some(shorter) if self.path.len() > 1 => shorter,
            _ => self.path.as_str(),
        };
        let is_on_path = path
            .strip_prefix(own)
            .is_some_and(|rest| rest.is_empty() || own == "/" || rest.starts_with('/'));
        self.is_for_host(&url.host) && is_on_path && (!self.secure || url.scheme == "https")
    }
}

/// The folder of a URL's path.
fn folder(url: &Url) -> String {
    let path = url.path();
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn take(jar: &mut Jar, from: &str, field: &str) {
        let settings = CookieSettings {
            checks: true,
            drops_empty: true,
            prefix: None,
        };
        let how = (&settings, CookiePolicy::Standard);
        jar.take(how, &url(from), field, 1_000);
    }

    #[test]
    fn a_cookie_goes_where_it_came_from() {
        let mut jar = Jar::default();
        take(&mut jar, "http://h/a/b", "sid=abc; HttpOnly");
        take(&mut jar, "http://h/a/b", "all=1; Path=/");
        assert_eq!(
            jar.field(CookiePolicy::Standard, &url("http://h/a/c"))
                .as_deref(),
            Some("sid=abc; all=1")
        );
        assert_eq!(
            jar.field(CookiePolicy::Standard, &url("http://h/x"))
                .as_deref(),
            Some("all=1")
        );
        assert_eq!(
            jar.field(CookiePolicy::Standard, &url("http://other/a/c")),
            None
        );
    }

    #[test]
    fn a_cookie_for_another_domain_is_refused() {
        let mut jar = Jar::default();
        take(&mut jar, "http://h.test/", "a=1; Domain=other.test");
        take(&mut jar, "http://h.test/", "b=2; Domain=.test");
        assert_eq!(
            jar.field(CookiePolicy::Standard, &url("http://h.test/"))
                .as_deref(),
            Some("b=2")
        );
    }

    #[test]
    fn copies_of_a_jar_give_back_what_they_received() {
        let manager = CookieManager {
            preset: vec![PresetCookie {
                name: Text::literal("own"),
                value: Text::parse("${v}").unwrap(),
                domain: Text::literal("h"),
                path: Text::literal("/"),
                ..PresetCookie::default()
            }],
            ..CookieManager::default()
        };
        let mut bench = Bench::default();
        bench.variables.put("v", "1");
        let mut jar = Jar::of(&manager, &mut bench.scope());
        for field in ["a=1", "b=2"] {
            let mut copy = jar.clone();
            take(&mut copy, "http://h/", field);
            jar.store_received(copy);
        }
        let field = jar.field(CookiePolicy::Standard, &url("http://h/"));
        assert_eq!(field.as_deref(), Some("own=1; a=1; b=2"));
    }

    #[test]
    fn an_ended_cookie_takes_its_like_away() {
        let mut jar = Jar::default();
        take(&mut jar, "http://h/", "a=1");
        take(&mut jar, "http://h/", "a=; Max-Age=0");
        assert_eq!(jar.field(CookiePolicy::Standard, &url("http://h/")), None);
    }

    #[test]
    fn each_policy_reads_ends_in_its_own_way() {
        let kept = |policy, field: &str| {
            let settings = CookieSettings {
                checks: true,
                drops_empty: true,
                prefix: None,
            };
            let mut jar = Jar::default();
            let now_ms = 1_800_000_000_000;
            jar.take((&settings, policy), &url("http://h/"), field, now_ms)
                .is_some()
        };
        let fields = [
            "a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
            "a=1; Expires=Wed, 01-Jan-2031 00:00:00 GMT",
            "a=1; Expires=Thu, 01-Jan-1970 00:00:10 GMT; Max-Age=60",
            "a=1; Max-Age=-1",
            "a=1; Version=1; Max-Age=-1",
        ];
        let of = |policy| fields.map(|field| kept(policy, field));
        assert_eq!(of(CookiePolicy::Standard), [true, true, true, false, false]);
        assert_eq!(of(CookiePolicy::Netscape), [false, true, false, true, true]);
        assert_eq!(of(CookiePolicy::Mixed), [false, true, false, true, false]);
        assert_eq!(of(CookiePolicy::Rfc2109), [true, true, true, false, false]);
    }

    #[test]
    fn values_are_unquoted_and_quoted_as_by_javas_client() {
        let mut jar = Jar::default();
        take(&mut jar, "http://h/", "a=\"x; y\"; Path=/");
        take(
            &mut jar,
            "http://h/",
            "b=2; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        );
        take(
            &mut jar,
            "http://h/",
            "c=3; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=-1",
        );
        let field = |policy| jar.field(policy, &url("http://h/"));
        assert_eq!(
            field(CookiePolicy::Standard).as_deref(),
            Some("a=\"x; y\"; b=2")
        );
        assert_eq!(
            field(CookiePolicy::Rfc2109).as_deref(),
            Some("$Version=0; a=x; y; $Path=/; b=2; $Path=/")
        );
    }

    #[test]
    fn quotes_are_left_out_wherever_they_stand() {
        let cases = [
            ("{\"x\":1}", "{x:1}"),
            ("\"a\"\"b\"", "ab"),
            ("  a \t b  \"c  d\" ", "a b c  d"),
            ("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d"),
            ("a\\b", "a\\b"),
            ("\"open", "open"),
        ];
        for (value, read) in cases {
            assert_eq!(without_quotes(value), read, "{value}");
        }
    }

    #[test]
    fn an_address_has_no_domain_above_it() {
        let mut jar = Jar::default();
        take(&mut jar, "http://127.0.0.1/", "a=1; Domain=.0.0.1");
        take(&mut jar, "http://127.0.0.1/", "b=1; Domain=127.0.0.1");
        let field = jar.field(CookiePolicy::Standard, &url("http://127.0.0.1/"));
        assert_eq!(field.as_deref(), Some("b=1"));
    }
}

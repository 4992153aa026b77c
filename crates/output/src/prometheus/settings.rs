//! The user's settings for remote write.
//!
//! Must not know where the texts come from. Source of names and defaults: k6 v2.2.0's output
//! `experimental-prometheus-rw`, each under loadline's own prefix too, which wins; some only have that. Invariant:
//! settings of this type are valid.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use loadline_go::{GoDuration, truth};
use serde_json::Value;

use super::section::Section;
use crate::sigv4::{Service, Signing};

/// Name of the section in k6's JSON file of options.
const SECTION: &str = "collectors[\"experimental-prometheus-rw\"]";
/// What follows the prefix of a variable that sets a header; the rest is the header's name.
const HEADER: &str = "HEADERS_";
const PREFIX: &str = "K6_PROMETHEUS_RW_";
const OWN_PREFIX: &str = "LOADLINE_PROMETHEUS_RW_";
const DEFAULT_URL: &str = "http://localhost:9090/api/v1/write";
/// The bucket growth factor that k6 uses with the client library.
const BUCKET_FACTOR: f64 = 1.1;
/// Pushing more often only keeps the receiver busy; nobody looks that often.
const PUSH_INTERVAL_MIN: Duration = Duration::from_millis(10);
/// Maximum senders: beyond this the receiver is the bottleneck.
const SENDERS_MAX: usize = 64;

/// How a trend is represented.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendForm {
    /// A gauge per statistic.
    Stats(Vec<TrendStat>),
    /// A native histogram whose buckets grow by at most this factor.
    Native(f64),
}

/// A statistic of a trend.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendStat {
    Avg,
    Min,
    Med,
    Max,
    Count,
    Sum,
    /// A percentile, 0 to 100, and the suffix of its series' name.
    Percentile(f64, String),
}

/// The version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// 2.0 where the receiver says that it understood it, else 1.0.
    Negotiated,
    /// 1.0.
    V1,
    /// 2.0.
    V2,
}

/// Where settings are looked up. Earlier sources take precedence.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The text after the output's name; `None`: none.
    pub url: Option<&'a str>,
    /// The environment.
    pub variables: &'a BTreeMap<String, String>,
    /// The output's section in k6's JSON file of options; `None`: none.
    pub section: Option<&'a Value>,
}

/// All settings of remote write. Credentials are never shown.
#[derive(Clone)]
pub struct Settings {
    pub(super) url: String,
    pub(super) push_interval: Duration,
    pub(super) trends: TrendForm,
    pub(super) stale_markers: bool,
    pub(super) protocol: Protocol,
    pub(super) senders: Option<usize>,
    pub(super) basic: Option<(String, String)>,
    pub(super) bearer: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) signing: Option<Signing>,
    pub(super) insecure: bool,
    pub(super) tls12: bool,
    pub(super) client_certificate: Option<(PathBuf, PathBuf)>,
    pub(super) query_url: Option<String>,
}

impl Settings {
    /// Reads the settings. `native`: k6's feature `native-histograms` is enabled.
    ///
    /// # Errors
    /// An invalid value; the message names the variable or the key.
    pub fn read(sources: &Sources<'_>, native: bool) -> Result<Settings, String> {
        let section = Section::read(sources.section.unwrap_or(&Value::Null))
            .map_err(|why| format!("{SECTION} of the configuration file: {why}"))?;
        let words = Words {
            variables: sources.variables,
            section: &section,
        };
        let named_url = sources.url.map(str::to_owned).filter(|url| !url.is_empty());
        let url = named_url
            .or_else(|| words.get("SERVER_URL"))
            .unwrap_or_else(|| DEFAULT_URL.to_owned());
        check_url(&url)?;
        let native = native || words.flag("TREND_AS_NATIVE_HISTOGRAM")?;
        let username = words.get("USERNAME");
        let password = words.get("PASSWORD").unwrap_or_default();
        Ok(Settings {
            url,
            push_interval: words.duration("PUSH_INTERVAL", Duration::from_secs(5))?,
            trends: match native {
                true => TrendForm::Native(words.factor()?),
                false => TrendForm::Stats(words.stats()?),
            },
            stale_markers: words.flag("STALE_MARKERS")?,
            protocol: words.protocol()?,
            senders: words.senders()?,
            basic: username.map(|username| (username, password)),
            bearer: words.get("BEARER_TOKEN"),
            headers: words.headers()?,
            signing: words.signing()?,
            insecure: words.flag("INSECURE_SKIP_TLS_VERIFY")?,
            tls12: words.get("TLS_MINIMUM_VERSION").as_deref() == Some("1.2"),
            client_certificate: words.client_certificate()?,
            query_url: words.own("QUERY_URL"),
        })
    }

    /// The address that series are pushed to, without possible secrets.
    #[must_use]
    pub fn shown_url(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let rest = rest.split('?').next().unwrap_or_default();
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, String::new()),
        };
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}://{host}{path}")
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    match is_web {
        true => Ok(()),
        false => Err(format!(
            "the remote write URL {url:?} must begin with http:// or https://, as {DEFAULT_URL} does"
        )),
    }
}

/// The variables (empty ones count as unset), then the section.
struct Words<'a> {
    variables: &'a BTreeMap<String, String>,
    section: &'a Section,
}

impl Words<'_> {
    fn named(&self, name: &str) -> Option<String> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then(|| value.clone())
    }

    /// The variable that sets something, and its value: under loadline's own prefix, else under k6's.
    fn variable(&self, name: &str) -> Option<(String, String)> {
        [OWN_PREFIX, PREFIX].into_iter().find_map(|prefix| {
            let variable = format!("{prefix}{name}");
            self.named(&variable).map(|value| (variable, value))
        })
    }

    fn get(&self, name: &str) -> Option<String> {
        let of_section = || self.section.get(name).map(|(_, value)| value.to_owned());
        let set = self.variable(name).map(|(_, value)| value);
        set.or_else(of_section)
    }

    /// The name of a setting in messages.
    fn called(&self, name: &str) -> String {
        match (self.variable(name), self.section.get(name)) {
            (Some((variable, _)), _) => variable,
            (None, Some((key, _))) => format!("{SECTION}.{key}"),
            (None, None) => format!("{PREFIX}{name}"),
        }
    }

    fn own(&self, name: &str) -> Option<String> {
        self.named(&format!("{OWN_PREFIX}{name}"))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        let Some(text) = self.get(name) else {
            return Ok(false);
        };
        let refused = || bad(&self.called(name), &text, "must be true or false");
        truth(&text).ok_or_else(refused)
    }

    fn duration(&self, name: &str, default: Duration) -> Result<Duration, String> {
        let Some(text) = self.get(name) else {
            return Ok(default);
        };
        let wanted = "must be a duration of at least 10ms, such as 5s or 500ms";
        let duration = GoDuration::parse_extended(&text).map(GoDuration::or_zero);
        duration
            .ok()
            .filter(|duration| *duration >= PUSH_INTERVAL_MIN)
            .ok_or_else(|| bad(&self.called(name), &text, wanted))
    }

    fn factor(&self) -> Result<f64, String> {
        let Some(text) = self.own("BUCKET_FACTOR") else {
            return Ok(BUCKET_FACTOR);
        };
        let factor = text.parse().ok().filter(|factor: &f64| *factor > 1.0);
        factor.ok_or_else(|| {
            let name = format!("{OWN_PREFIX}BUCKET_FACTOR");
            bad(&name, &text, "must be a number above 1")
        })
    }

    fn stats(&self) -> Result<Vec<TrendStat>, String> {
        let text = self.get("TREND_STATS");
        let text = text.as_deref().unwrap_or("p(99)");
        let stats = text.split(',').map(|stat| {
            parse_stat(stat.trim()).ok_or_else(|| {
                let wanted = "must be a list of avg, min, med, max, count, sum and p(N)";
                bad(&self.called("TREND_STATS"), text, wanted)
            })
        });
        stats.collect()
    }

    fn protocol(&self) -> Result<Protocol, String> {
        match self.own("PROTOCOL").as_deref() {
            None | Some("auto") => Ok(Protocol::Negotiated),
            Some("1.0" | "1") => Ok(Protocol::V1),
            Some("2.0" | "2") => Ok(Protocol::V2),
            Some(other) => {
                let name = format!("{OWN_PREFIX}PROTOCOL");
                Err(bad(&name, other, "must be auto, 1.0 or 2.0"))
            }
        }
    }

    fn senders(&self) -> Result<Option<usize>, String> {
        let Some(text) = self.own("SENDERS") else {
            return Ok(None);
        };
        let senders = text.parse().ok();
        match senders.filter(|senders| (1..=SENDERS_MAX).contains(senders)) {
            Some(senders) => Ok(Some(senders)),
            None => Err(bad(
                &format!("{OWN_PREFIX}SENDERS"),
                &text,
                &format!("must be 1 to {SENDERS_MAX}"),
            )),
        }
    }

    /// Headers of the section, of single variables, and of the list; later ones replace earlier ones.
    fn headers(&self) -> Result<Vec<(String, String)>, String> {
        let mut headers = Vec::new();
        for (name, value) in &self.section.headers {
            let wrong = || format!("{SECTION}.headers has one that cannot be sent: {name:?}");
            put_header(&mut headers, name, value).ok_or_else(wrong)?;
        }
        for prefix in [PREFIX, OWN_PREFIX] {
            for (variable, value) in self.variables {
                let rest = variable.strip_prefix(prefix);
                if let Some(name) = rest.and_then(|rest| rest.strip_prefix(HEADER)) {
                    let wrong = || format!("{variable} names a header that cannot be sent");
                    put_header(&mut headers, name, value).ok_or_else(wrong)?;
                }
            }
        }
        let Some((variable, list)) = self.variable("HTTP_HEADERS") else {
            return Ok(headers);
        };
        // Header values are often secrets, so the message does not repeat them.
        let wrong = || format!("{variable} must be a list such as `Name:value,Other:value`");
        for pair in list.split(',') {
            let (name, value) = pair.split_once(':').ok_or_else(wrong)?;
            put_header(&mut headers, name.trim(), value.trim()).ok_or_else(wrong)?;
        }
        Ok(headers)
    }

    fn signing(&self) -> Result<Option<Signing>, String> {
        let parts = [
            self.get("SIGV4_REGION"),
            self.get("SIGV4_ACCESS_KEY"),
            self.get("SIGV4_SECRET_KEY"),
        ];
        match parts {
            [None, None, None] => Ok(None),
            [Some(region), Some(access_key), Some(secret_key)] => Ok(Some(Signing {
                service: Service::Prometheus,
                region,
                access_key,
                secret_key,
                session_token: self.own("SIGV4_SESSION_TOKEN"),
            })),
            _ => Err(format!(
                "{PREFIX}SIGV4_REGION, {PREFIX}SIGV4_ACCESS_KEY and {PREFIX}SIGV4_SECRET_KEY must be set together"
            )),
        }
    }

    fn client_certificate(&self) -> Result<Option<(PathBuf, PathBuf)>, String> {
        match (
            self.get("CLIENT_CERTIFICATE"),
            self.get("CLIENT_CERTIFICATE_KEY"),
        ) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some((certificate.into(), key.into()))),
            _ => Err(format!(
                "{PREFIX}CLIENT_CERTIFICATE and {PREFIX}CLIENT_CERTIFICATE_KEY must be set together"
            )),
        }
    }
}

fn bad(name: &str, value: &str, wanted: &str) -> String {
    format!("{name} is {value:?} and {wanted}")
}

/// Sets a header, replacing one with the same name; `None`: it cannot be sent.
fn put_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) -> Option<()> {
    let is_fit = ureq::http::HeaderName::from_bytes(name.as_bytes()).is_ok()
        && ureq::http::HeaderValue::from_str(value).is_ok();
    if !is_fit {
        return None;
    }
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
    Some(())
}

fn parse_stat(text: &str) -> Option<TrendStat> {
    Some(match text {
        "avg" => TrendStat::Avg,
        "min" => TrendStat::Min,
        "med" => TrendStat::Med,
        "max" => TrendStat::Max,
        "count" => TrendStat::Count,
        "sum" => TrendStat::Sum,
        other => {
            let number = other.strip_prefix("p(")?.strip_suffix(')')?;
            let percent: f64 = number.parse().ok()?;
            let ending = format!("p{}", number.replace('.', ""));
            (0.0..=100.0)
                .contains(&percent)
                .then_some(TrendStat::Percentile(percent, ending))?
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(words: &[(&str, &str)]) -> Result<Settings, String> {
        read_with(words, None)
    }

    fn read_with(words: &[(&str, &str)], section: Option<&Value>) -> Result<Settings, String> {
        let variables = words.iter().map(|(name, value)| {
            let prefix = if name.starts_with("LOADLINE_") {
                ""
            } else {
                PREFIX
            };
            (format!("{prefix}{name}"), (*value).to_owned())
        });
        let sources = Sources {
            url: None,
            variables: &variables.collect(),
            section,
        };
        Settings::read(&sources, false)
    }

    fn headers(settings: &Settings) -> Vec<(&str, &str)> {
        let pairs = settings.headers.iter();
        pairs.map(|(n, v)| (n.as_str(), v.as_str())).collect()
    }

    #[test]
    fn without_a_word_it_is_as_in_k6() {
        let settings = read(&[]).expect("defaults");
        assert_eq!(settings.url, DEFAULT_URL);
        assert_eq!(settings.push_interval, Duration::from_secs(5));
        let p99 = TrendStat::Percentile(99.0, "p99".to_owned());
        assert_eq!(settings.trends, TrendForm::Stats(vec![p99]));
        assert!(!settings.tls12 && !settings.insecure && settings.basic.is_none());
    }

    #[test]
    fn the_own_prefix_means_the_same_and_wins() {
        let set = |name: &str, value: &str| {
            let section = json!({ "username": "of the file" });
            let own = format!("{OWN_PREFIX}{name}");
            let words = [
                ("USERNAME", "k6"),
                ("HEADERS_X-A", "k6"),
                (own.as_str(), value),
            ];
            read_with(&words, Some(&section))
        };
        let basic = |settings: &Settings| settings.basic.as_ref().map(|(name, _)| name.clone());
        let settings = set("USERNAME", "own").expect("a name");
        assert_eq!(basic(&settings).as_deref(), Some("own"));
        assert_eq!(headers(&settings), [("X-A", "k6")]);
        let settings = set("USERNAME", "").expect("empty is unset");
        assert_eq!(basic(&settings).as_deref(), Some("k6"));
        for (name, value) in [("HEADERS_X-A", "own"), ("HTTP_HEADERS", "X-A:own")] {
            let settings = set(name, value).expect("a header");
            assert_eq!(headers(&settings), [("X-A", "own")], "{name}");
        }
        let why = set("PUSH_INTERVAL", "soon").err().unwrap_or_default();
        assert!(
            why.contains("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL is"),
            "{why}"
        );
    }

    #[test]
    fn words_are_read() {
        let settings = read(&[
            ("SERVER_URL", "https://u:p@host:9/w?token=x"),
            ("PUSH_INTERVAL", "1m1.5s"),
            ("TREND_STATS", "avg,p(99.9), count"),
            ("HTTP_HEADERS", "X-Scope-OrgID:a, B: c d"),
            ("USERNAME", "me"),
            ("TLS_MINIMUM_VERSION", "1.2"),
        ]);
        let settings = settings.expect("they mean something");
        assert_eq!(settings.push_interval, Duration::from_millis(61_500));
        // As the other outputs read theirs.
        for (text, ms) in [
            ("5000", 5_000),
            ("1m.5s", 60_500),
            ("10000us", 10),
            ("1d", 86_400_000),
        ] {
            let settings = read(&[("PUSH_INTERVAL", text)]).expect(text);
            assert_eq!(settings.push_interval, Duration::from_millis(ms), "{text}");
        }
        assert_eq!(settings.shown_url(), "https://host:9/w");
        let TrendForm::Stats(stats) = &settings.trends else {
            panic!("stats were asked for");
        };
        let ending = TrendStat::Percentile(99.9, "p999".to_owned());
        assert_eq!(stats, &[TrendStat::Avg, ending, TrendStat::Count]);
        assert_eq!(headers(&settings), [("X-Scope-OrgID", "a"), ("B", "c d")]);
        assert_eq!(settings.basic, Some(("me".to_owned(), String::new())));
        let native = read(&[("TREND_AS_NATIVE_HISTOGRAM", "true")]).expect("it is");
        assert_eq!(native.trends, TrendForm::Native(1.1));
    }

    #[test]
    fn variables_go_before_the_configuration_file() {
        let section = json!({
            "url": "http://file/w",
            "username": "of-file",
            "password": "p",
            "pushInterval": "2s",
            "trendStats": ["avg"],
        });
        let words = [("SERVER_URL", "http://env/w"), ("USERNAME", "of-env")];
        let settings = read_with(&words, Some(&section)).expect("they mean something");
        assert_eq!(settings.url, "http://env/w");
        assert_eq!(settings.push_interval, Duration::from_secs(2));
        assert_eq!(settings.trends, TrendForm::Stats(vec![TrendStat::Avg]));
        let basic = ("of-env".to_owned(), "p".to_owned());
        assert_eq!(settings.basic, Some(basic));
    }

    #[test]
    fn headers_come_from_three_places_and_the_list_goes_first() {
        let section = json!({ "headers": { "X-A": "file", "X-B": "file", "X-C": "file" } });
        let words = [
            ("HEADERS_x-b", "a:b,c"),
            ("HEADERS_X-C", "variable"),
            ("HEADERS_X-D", ""),
            ("HTTP_HEADERS", "X-C:list"),
        ];
        let settings = read_with(&words, Some(&section)).expect("they can be sent");
        let expected = [
            ("X-A", "file"),
            ("X-D", ""),
            ("x-b", "a:b,c"),
            ("X-C", "list"),
        ];
        assert_eq!(headers(&settings), expected);
        let refused = read(&[("HEADERS_X Y", "secret")]).err();
        let told = refused.expect("no header is called so");
        assert!(told.contains("HEADERS_X Y") && !told.contains("secret"));
    }

    #[test]
    fn what_the_configuration_file_says_wrong_is_named_by_its_key() {
        for (section, key) in [
            (
                json!({ "pushInterval": "often" }),
                ".pushInterval is \"often\"",
            ),
            (json!({ "trendStats": ["best"] }), ".trendStats is \"best\""),
            (json!({ "url": 5 }), "url must be a text"),
            (json!({ "headers": { "a b": "secret" } }), "\"a b\""),
        ] {
            let refused = read_with(&[], Some(&section)).err();
            let told = refused.expect("it is refused");
            assert!(told.starts_with(SECTION) && told.contains(key), "{told}");
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (name, value) in [
            ("SERVER_URL", "localhost:9090"),
            ("PUSH_INTERVAL", "often"),
            ("PUSH_INTERVAL", "0s"),
            ("TREND_STATS", "p(101)"),
            ("TREND_STATS", "best"),
            ("STALE_MARKERS", "maybe"),
            ("HTTP_HEADERS", "no colon"),
            ("SIGV4_REGION", "eu"),
            ("CLIENT_CERTIFICATE", "a.pem"),
            ("LOADLINE_PROMETHEUS_RW_SENDERS", "0"),
            ("LOADLINE_PROMETHEUS_RW_PROTOCOL", "3"),
        ] {
            assert!(read(&[(name, value)]).is_err(), "{name}={value}");
        }
    }
}

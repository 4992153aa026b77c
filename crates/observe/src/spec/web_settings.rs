//! The settings of observers that query HTTP servers.
//!
//! Must not know how they are used. Invariant: each setting is declared once here, for files and command lines
//! alike.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::settings::{Settings, check_metric_name, check_pattern, value_name};
use super::values::{Headers, Secret, one_or_many, span_setting, truth};
use crate::parse::json_path::JsonPath;

/// How to access an HTTP server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Headers sent with each request; none by default.
    #[serde(default, alias = "header", skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// The user of basic authentication; `None`: no basic authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The password of basic authentication; `None`: empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// The token of bearer authentication; `None`: no bearer authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<Secret>,
    /// A file with the certificate authorities for the server's certificate, in PEM; `None`: the system's
    /// authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// Whether to skip TLS verification; default false.
    #[serde(
        default,
        deserialize_with = "truth",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub insecure: bool,
}

impl Access {
    fn check(&self) -> Result<(), String> {
        if self.bearer.is_some() && self.user.is_some() {
            return Err("both user and bearer are given; remove one".to_owned());
        }
        if self.password.is_some() && self.user.is_none() {
            return Err("a password is given without a user; add user=NAME".to_owned());
        }
        for (name, value) in &self.headers.0 {
            let is_fit = ureq::http::HeaderName::from_bytes(name.as_bytes()).is_ok()
                && ureq::http::HeaderValue::from_str(value).is_ok();
            if !is_fit {
                return Err(format!(
                    "{name:?} with its value is not a header; write it as \"Name: value\""
                ));
            }
        }
        Ok(())
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let is_http = ["http://", "https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    let parses = url.parse::<ureq::http::Uri>();
    match is_http && parses.is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty())) {
        true => Ok(()),
        false => Err("url is not an address; write it as http://HOST:PORT/PATH".to_owned()),
    }
}

/// When a query is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryMode {
    /// At each interval, at that instant.
    Instant,
    /// Once after the run, over its whole time.
    Range,
    /// Once after the run, at the instant of its end.
    Once,
}

/// Settings of `prometheus`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrometheusSettings {
    /// The server's address, without `/api/v1`.
    pub url: String,
    /// The query in PromQL. `{{start}}`, `{{end}}`, `{{steady}}` and `{{steady_end}}` are replaced by times in
    /// seconds since 1970, `{{window}}` and `{{steady_window}}` by durations.
    pub query: String,
    /// When it is run; `None`: once after the run if it has a placeholder, otherwise at each interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<QueryMode>,
    /// The step of a range query; the observer's interval by default.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "optional_span"
    )]
    pub step: Option<Duration>,
    /// How long to wait after the run until the server has scraped the last values; default: no wait.
    #[serde(
        default,
        skip_serializing_if = "Duration::is_zero",
        with = "span_setting"
    )]
    pub settle: Duration,
    /// The metric's name in results, with its unit as suffix; default `value`.
    #[serde(default = "value_name", rename = "as")]
    pub metric: String,
    /// How to access the server.
    #[serde(flatten)]
    pub access: Access,
}

mod optional_span {
    use loadline_model::duration;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::super::values::Span;
    use super::Duration;

    #[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
    pub(super) fn serialize<S: Serializer>(
        span: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => serializer.serialize_some(&duration::text(*span)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Span>::deserialize(deserializer)?.map(|span| span.0))
    }
}

impl PrometheusSettings {
    /// When the query is run.
    #[must_use]
    pub fn mode(&self) -> QueryMode {
        self.mode.unwrap_or(match self.query.contains("{{") {
            true => QueryMode::Once,
            false => QueryMode::Instant,
        })
    }
}

/// The longest wait after a run.
const SETTLE_MAX: Duration = Duration::from_secs(120);

impl Settings for PrometheusSettings {
    const MAIN_FORM: &'static str = "prometheus:http://HOST:9090;query=...";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("url", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        check_url(&self.url)?;
        check_metric_name(&self.metric)?;
        self.access.check()?;
        if self.query.trim().is_empty() {
            return Err("query is empty; give a query in PromQL".to_owned());
        }
        if self.mode == Some(QueryMode::Instant) && self.query.contains("{{") {
            return Err(
                "the query has a placeholder, which is known only after the run; use mode once or range"
                    .to_owned(),
            );
        }
        if self.settle > SETTLE_MAX {
            return Err(format!("settle is longer than {SETTLE_MAX:?}; shorten it"));
        }
        crate::parse::placeholders::check(&self.query)
    }
}

/// The type of a metric, if the page does not declare it or is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScrapeType {
    /// Only goes up: its rate is read.
    Counter,
    /// Its value is read.
    Gauge,
    /// Buckets: quantiles are read.
    Histogram,
}

/// The unit of a histogram's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// No time at all.
    #[serde(rename = "none")]
    None,
}

/// Settings of `scrape`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScrapeSettings {
    /// The page's address.
    pub url: String,
    /// The metrics to read, as the page names them; a histogram without `_bucket`.
    #[serde(alias = "metrics", deserialize_with = "one_or_many")]
    pub metric: Vec<String>,
    /// Labels that a series must have; `~` before the value makes it a pattern. Default: all series.
    #[serde(default, alias = "label", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Labels whose values form components, `*` for all; default: none, series are summed.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub by: Vec<String>,
    /// The type of the metrics; `None`: as declared by the page, or derived from their names.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ScrapeType>,
    /// The unit of a histogram's bounds; `None`: derived from its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<TimeUnit>,
    /// How to access the page.
    #[serde(flatten)]
    pub access: Access,
}

impl Settings for ScrapeSettings {
    const MAIN_FORM: &'static str = "scrape:http://HOST:PORT/metrics;metric=NAME";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("url", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        check_url(&self.url)?;
        self.access.check()?;
        if self.metric.is_empty() || self.metric.iter().any(String::is_empty) {
            return Err("scrape needs the name of a metric: metric=NAME".to_owned());
        }
        for pattern in self.labels.values().filter_map(|v| v.strip_prefix('~')) {
            check_pattern(pattern)?;
        }
        Ok(())
    }
}

/// Settings of `http`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// The address.
    pub url: String,
    /// The path to the number in the JSON response, such as `queue.depth` or `items[0].n`; default empty: the
    /// whole response is the number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Further numbers in the same response: names of metrics and their paths.
    #[serde(default, alias = "value", skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// The metric's name in results, with its unit as suffix; default `value`.
    #[serde(default = "value_name", rename = "as")]
    pub metric: String,
    /// How to access the server.
    #[serde(flatten)]
    pub access: Access,
}

impl Settings for HttpSettings {
    const MAIN_FORM: &'static str = "http:http://HOST/PATH;path=JSON.PATH";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("url", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        check_url(&self.url)?;
        check_metric_name(&self.metric)?;
        self.access.check()?;
        JsonPath::parse(&self.path)?;
        for (name, path) in &self.values {
            check_metric_name(name)?;
            JsonPath::parse(path)?;
        }
        Ok(())
    }
}

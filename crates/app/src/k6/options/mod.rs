//! The options of a k6 script: one declaration per option gives its key, its environment variable, its
//! flag, its place in what is printed, and how the tiers lie over one another.
//!
//! Source of names, order and messages: k6's reference and its output. Must not know which tier a
//! set of options came from. Invariant: no input panics; what was read and written reads the same.

pub mod parts;
pub mod scenario;
pub mod tls;
pub mod value;

use loadline_go::GoDuration;
use loadline_model::segment::{Segment, SegmentSequence};
use loadline_model::system_tags::SystemTags;
use serde_json::Value;

use super::json::Json;
use crate::Env;
use crate::dialect::pflag::Parsed;
use parts::{DnsOption, HostsOption, Networks, Patterns, Stages, Thresholds};
use scenario::Scenarios;
use tls::{CipherSuites, TlsAuths, TlsVersions};
use value::{OptionError, OptionValue, Texts, nullable};

/// Where an option can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everywhere.
    Script,
    /// By flags and environment alone.
    Process,
}

macro_rules! options {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $key:literal, $env:literal, $go:literal, $flag:literal, $reach:ident;)+) => {
        /// The options; `None` means that this tier says nothing of it.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct K6Options { $($(#[doc = $doc])+ pub $field: Option<$type>,)+ }

        impl K6Options {
            /// Reads one key, in any case; `None` when there is no such option.
            fn read_key(&mut self, key: &str, value: &Value) -> Option<Result<(), OptionError>> {
                $(if Reach::$reach == Reach::Script && key.eq_ignore_ascii_case($key) {
                    return Some(nullable(value, concat!("Options.", $key)).map(|read| {
                        self.$field = read;
                    }));
                })+
                None
            }

            /// The options that environment variables set.
            ///
            /// # Errors
            /// k6's message on the first variable that cannot be read.
            pub fn from_env(env: &Env) -> Result<K6Options, String> {
                Ok(K6Options { $($field: match env.set($env) {
                    None => None,
                    Some(text) => <$type as OptionValue>::from_env(text).map_err(|why| {
                        env_error($env, $go, text, <$type as OptionValue>::GO_TYPE, &why)
                    })?,
                },)+ })
            }

            /// The options that flags set.
            ///
            /// # Errors
            /// k6's message on the first flag that cannot be read.
            pub(super) fn from_flags(given: &Parsed) -> Result<K6Options, String> {
                Ok(K6Options { $($field: match $flag {
                    "" => None,
                    flag => <$type as OptionValue>::from_flag(given, flag)?,
                },)+ })
            }

            /// The names of the flags, empty for options that have none.
            #[cfg(test)]
            pub(crate) const FLAGS: &[&str] = &[$($flag),+];

            /// These options over those of a lower tier, one by one.
            fn laid_over(&self, lower: &K6Options) -> K6Options {
                K6Options { $($field: match &self.$field {
                    Some(value) => Some(value.over(lower.$field.as_ref())),
                    None => lower.$field.clone(),
                },)+ }
            }

            /// Every option with its key and value, in k6's order.
            fn rows(&self) -> Vec<(&'static str, Reach, Option<Json>)> {
                vec![$(($key, Reach::$reach, match &self.$field {
                    Some(value) => Some(value.to_json()),
                    None if <$type as OptionValue>::LEFT_OUT => None,
                    None => Some(<$type as OptionValue>::absent()),
                }),)+]
            }
        }
    };
}

options! {
    /// Start the test paused; resume it through the REST API.
    paused: bool = "paused", "K6_PAUSED", "Paused", "paused", Script;
    /// Virtual users.
    vus: i64 = "vus", "K6_VUS", "VUs", "vus", Script;
    /// How long.
    duration: GoDuration = "duration", "K6_DURATION", "Duration", "duration", Script;
    /// Iterations in all.
    iterations: i64 = "iterations", "K6_ITERATIONS", "Iterations", "iterations", Script;
    /// Legs of a ramp of virtual users.
    stages: Stages = "stages", "K6_STAGES", "Stages", "stage", Script;
    /// Scenarios by name.
    scenarios: Scenarios = "scenarios", "", "Scenarios", "", Script;
    /// The part of the test that this process does.
    execution_segment: Segment = "executionSegment", "", "ExecutionSegment", "execution-segment", Script;
    /// All parts.
    execution_segment_sequence: SegmentSequence = "executionSegmentSequence", "", "ExecutionSegmentSequence", "execution-segment-sequence", Script;
    /// Leave `setup()` out.
    no_setup: bool = "noSetup", "K6_NO_SETUP", "NoSetup", "no-setup", Script;
    /// Time that `setup()` may take.
    setup_timeout: GoDuration = "setupTimeout", "K6_SETUP_TIMEOUT", "SetupTimeout", "", Script;
    /// Leave `teardown()` out.
    no_teardown: bool = "noTeardown", "K6_NO_TEARDOWN", "NoTeardown", "no-teardown", Script;
    /// Time that `teardown()` may take.
    teardown_timeout: GoDuration = "teardownTimeout", "K6_TEARDOWN_TIMEOUT", "TeardownTimeout", "", Script;
    /// Time that `handleSummary()` may take.
    handle_summary_timeout: GoDuration = "handleSummaryTimeout", "K6_HANDLE_SUMMARY_TIMEOUT", "HandleSummaryTimeout", "", Script;
    /// Requests per second over all virtual users.
    rps: i64 = "rps", "K6_RPS", "RPS", "rps", Script;
    /// How names are resolved.
    dns: DnsOption = "dns", "K6_DNS", "DNS", "dns", Script;
    /// Redirects followed.
    max_redirects: i64 = "maxRedirects", "K6_MAX_REDIRECTS", "MaxRedirects", "max-redirects", Script;
    /// Value of `User-Agent`.
    user_agent: String = "userAgent", "K6_USER_AGENT", "UserAgent", "user-agent", Script;
    /// Requests of one batch at a time.
    batch: i64 = "batch", "K6_BATCH", "Batch", "batch", Script;
    /// Requests of one batch at a time to one host.
    batch_per_host: i64 = "batchPerHost", "K6_BATCH_PER_HOST", "BatchPerHost", "batch-per-host", Script;
    /// What of each request is logged.
    http_debug: String = "httpDebug", "K6_HTTP_DEBUG", "HTTPDebug", "http-debug", Script;
    /// Skip TLS verification.
    insecure_skip_tls_verify: bool = "insecureSkipTLSVerify", "K6_INSECURE_SKIP_TLS_VERIFY", "InsecureSkipTLSVerify", "insecure-skip-tls-verify", Script;
    /// Cipher suites allowed.
    tls_cipher_suites: CipherSuites = "tlsCipherSuites", "K6_TLS_CIPHER_SUITES", "TLSCipherSuites", "", Script;
    /// TLS versions allowed.
    tls_version: TlsVersions = "tlsVersion", "", "TLSVersion", "", Script;
    /// Client certificates.
    tls_auth: TlsAuths = "tlsAuth", "K6_TLSAUTH", "TLSAuth", "", Script;
    /// Throw an exception when a request fails.
    throw: bool = "throw", "K6_THROW", "Throw", "throw", Script;
    /// Conditions by metric.
    thresholds: Thresholds = "thresholds", "K6_THRESHOLDS", "Thresholds", "", Script;
    /// Networks that may not be connected to.
    blacklist_ips: Networks = "blacklistIPs", "K6_BLACKLIST_IPS", "BlacklistIPs", "blacklist-ip", Script;
    /// Host names that may not be asked.
    block_hostnames: Patterns = "blockHostnames", "K6_BLOCK_HOSTNAMES", "BlockedHostnames", "block-hostnames", Script;
    /// Addresses of names.
    hosts: HostsOption = "hosts", "K6_HOSTS", "Hosts", "", Script;
    /// A connection for each request.
    no_connection_reuse: bool = "noConnectionReuse", "K6_NO_CONNECTION_REUSE", "NoConnectionReuse", "no-connection-reuse", Script;
    /// Close connections after each iteration.
    no_vu_connection_reuse: bool = "noVUConnectionReuse", "K6_NO_VU_CONNECTION_REUSE", "NoVUConnectionReuse", "no-vu-connection-reuse", Script;
    /// A shorter iteration is followed by a wait.
    min_iteration_duration: GoDuration = "minIterationDuration", "K6_MIN_ITERATION_DURATION", "MinIterationDuration", "min-iteration-duration", Script;
    /// Settings of k6's cloud; only carried.
    cloud: Value = "cloud", "", "Cloud", "", Script;
    /// Settings of extensions; only carried.
    ext: Extensions = "ext", "", "External", "", Script;
    /// Statistics of trends in the summary.
    summary_trend_stats: Vec<String> = "summaryTrendStats", "K6_SUMMARY_TREND_STATS", "SummaryTrendStats", "summary-trend-stats", Script;
    /// Unit of times in the summary.
    summary_time_unit: String = "summaryTimeUnit", "K6_SUMMARY_TIME_UNIT", "SummaryTimeUnit", "summary-time-unit", Script;
    /// Tags that are set by themselves.
    system_tags: SystemTags = "systemTags", "K6_SYSTEM_TAGS", "SystemTags", "system-tags", Script;
    /// Tags of every sample.
    tags: Texts = "tags", "K6_TAGS", "RunTags", "tag", Script;
    /// Kept for k6's sake; nothing here has such a buffer.
    metric_samples_buffer_size: i64 = "metricSamplesBufferSize", "K6_METRIC_SAMPLES_BUFFER_SIZE", "MetricSamplesBufferSize", "", Script;
    /// Keep cookies between iterations.
    no_cookies_reset: bool = "noCookiesReset", "K6_NO_COOKIES_RESET", "NoCookiesReset", "", Script;
    /// Read response bodies and discard them.
    discard_response_bodies: bool = "discardResponseBodies", "K6_DISCARD_RESPONSE_BODIES", "DiscardResponseBodies", "discard-response-bodies", Script;
    /// Feature flags; a script's own are not heeded.
    features: Vec<String> = "features", "", "Features", "", Script;
    /// File that the script's console is written to.
    console_output: String = "consoleOutput", "K6_CONSOLE_OUTPUT", "ConsoleOutput", "console-output", Process;
    /// Local addresses.
    local_ips: LocalIps = "localIPs", "K6_LOCAL_IPS", "LocalIPs", "local-ips", Process;
}

/// k6's message on a variable that cannot be read; `field` is what it sets.
pub(super) fn env_error(name: &str, field: &str, text: &str, go_type: &str, why: &str) -> String {
    format!(
        "envconfig.Process: assigning {name} to {field}: converting '{text}' to type {go_type}. \
         details: {why}"
    )
}

/// `ext`: settings of extensions by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Extensions(pub Value);

impl OptionValue for Extensions {
    const GO_TYPE: &'static str = "map[string]json.RawMessage";

    fn from_json(value: &Value, field: &str) -> Result<Option<Extensions>, OptionError> {
        value::object(value, field, Self::GO_TYPE)?;
        Ok(Some(Extensions(value.clone())))
    }

    fn to_json(&self) -> Json {
        self.0.to_json()
    }
}

/// `localIPs`: addresses, ranges and networks between commas, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIps(pub String);

impl OptionValue for LocalIps {
    const GO_TYPE: &'static str = "types.NullIPPool";

    fn from_json(value: &Value, field: &str) -> Result<Option<LocalIps>, OptionError> {
        let text = String::from_json(value, field)?.unwrap_or_default();
        LocalIps::from_env(&text).map_err(OptionError::Text)
    }

    fn from_env(text: &str) -> Result<Option<LocalIps>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        for part in text.split(',') {
            part.trim()
                .parse::<loadline_model::script_names::AddressRange>()
                .map_err(|()| format!("{part} is not a valid IP, IP range or CIDR"))?;
        }
        Ok(Some(LocalIps(text.to_owned())))
    }

    fn to_json(&self) -> Json {
        Json::text(&self.0)
    }
}

/// Options of a script, and what was found besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    /// The options.
    pub options: K6Options,
    /// Keys that are no options, sorted.
    pub unknown: Vec<String>,
}

/// An error with the key that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// The key; empty when the options are no object.
    pub key: String,
    /// What k6 shows of the text before the place where it gave up.
    pub place: String,
    /// What is wrong.
    pub error: OptionError,
}

/// What k6 shows of an option that it cannot read: the line of indented JSON up to where its reader
/// stopped, which knows no more than the first brace of options that read themselves.
fn place_of(key: &str, value: &Value) -> String {
    let wrong_row = |rows: &serde_json::Map<String, Value>| {
        let mut rows = rows.iter();
        let wrong = rows.find(|(_, value)| !value.is_string());
        wrong.map(|(name, value)| format!("\"{name}\": {value}"))
    };
    match (key, value) {
        ("tags", Value::Object(rows)) => wrong_row(rows).unwrap_or_default(),
        (
            "stages" | "thresholds" | "tlsAuth" | "summaryTrendStats" | "features" | "ext",
            Value::Bool(_) | Value::Number(_) | Value::String(_),
        ) => {
            format!("\"{key}\": {value}")
        }
        ("thresholds", Value::Array(_)) => format!("\"{key}\": ["),
        ("dns", Value::Number(_) | Value::Object(_))
        | ("thresholds" | "hosts" | "systemTags" | "scenarios", _) => "{".to_owned(),
        _ => format!("\"{key}\":"),
    }
}

impl K6Options {
    /// Reads an object of options; null means none. Keys in any case.
    ///
    /// # Errors
    /// The first value, in the order of the keys, that cannot be read.
    pub fn from_json(value: &Value) -> Result<ScriptOptions, KeyError> {
        let mut read = ScriptOptions::default();
        let Value::Object(rows) = value else {
            return match value {
                Value::Null => Ok(read),
                other => Err(KeyError {
                    key: String::new(),
                    place: if other.is_array() {
                        "[".to_owned()
                    } else {
                        other.to_string()
                    },
                    error: OptionError::Text(format!(
                        "json: cannot unmarshal {} into Go value of type lib.Options",
                        value::kind(other)
                    )),
                }),
            };
        };
        let mut rows: Vec<_> = rows.iter().collect();
        rows.sort_by_key(|(key, _)| *key);
        for (key, value) in rows {
            match read.options.read_key(key, value) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    let (key, place) = (key.clone(), place_of(key, value));
                    return Err(KeyError { key, place, error });
                }
                None => read.unknown.push(key.clone()),
            }
        }
        read.unknown.sort();
        Ok(read)
    }

    /// Whether an option that says how the load is made is set, `vus` alone aside.
    #[must_use]
    pub fn has_execution(&self) -> bool {
        self.duration.is_some()
            || self.iterations.is_some()
            || self.stages.is_some()
            || self.scenarios.is_some()
    }

    /// These options over those of a lower tier: each that is set replaces the lower one, and any
    /// that says how the load is made replaces all of those that do (`vus` aside).
    #[must_use]
    pub fn over(&self, lower: &K6Options) -> K6Options {
        if !self.has_execution() {
            return self.laid_over(lower);
        }
        let lower = K6Options {
            duration: None,
            iterations: None,
            stages: None,
            scenarios: None,
            ..lower.clone()
        };
        self.laid_over(&lower)
    }

    /// As `k6 inspect` prints them: what a script can say.
    #[must_use]
    pub fn inspected(&self) -> Vec<(String, Json)> {
        let script = |(_, reach, _): &(&str, Reach, Option<Json>)| *reach == Reach::Script;
        kept(self.rows().into_iter().filter(script))
    }

    /// As `exec.test.options` shows them: without the shortcuts for a scenario.
    #[must_use]
    pub fn as_seen_by_script(&self) -> Json {
        let shortcuts = ["vus", "duration", "iterations", "stages"];
        let rows = self.rows().into_iter();
        Json::Object(kept(rows.filter(|(key, ..)| !shortcuts.contains(key))))
    }
}

fn kept(rows: impl Iterator<Item = (&'static str, Reach, Option<Json>)>) -> Vec<(String, Json)> {
    rows.filter_map(|(key, _, value)| Some((key.to_owned(), value?)))
        .collect()
}

#[cfg(test)]
mod tests;

//! The options of a k6 script: one declaration per option defines its key, its environment variable, its flag,
//! its position in the output, and how tiers are merged.
//!
//! Source of names, order and messages: k6's reference and its output. Must not know which tier a set of
//! options came from. Invariant: no input panics; reading and writing a value preserves it.

pub mod parts;
mod place;
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
    /// Only by flags and environment.
    Process,
}

macro_rules! options {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $key:literal, $env:literal, $go:literal, $flag:literal, $reach:ident;)+) => {
        /// The options; `None` means that this tier does not set it.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct K6Options { $($(#[doc = $doc])+ pub $field: Option<$type>,)+ }

        impl K6Options {
            /// Reads one key, ignoring case; `None` if there is no such option.
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
            /// k6's message about the first invalid variable.
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
            /// k6's message about the first invalid flag.
            pub(super) fn from_flags(given: &Parsed) -> Result<K6Options, String> {
                Ok(K6Options { $($field: match $flag {
                    "" => None,
                    flag => <$type as OptionValue>::from_flag(given, flag)?,
                },)+ })
            }

            /// The names of the flags, empty for options that have none.
            #[cfg(test)]
            pub(crate) const FLAGS: &[&str] = &[$($flag),+];

            /// These options merged over those of a lower tier, one by one.
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
    /// Duration of the test.
    duration: GoDuration = "duration", "K6_DURATION", "Duration", "duration", Script;
    /// Total number of iterations.
    iterations: i64 = "iterations", "K6_ITERATIONS", "Iterations", "iterations", Script;
    /// Legs of a ramp of virtual users.
    stages: Stages = "stages", "K6_STAGES", "Stages", "stage", Script;
    /// Scenarios by name.
    scenarios: Scenarios = "scenarios", "", "Scenarios", "", Script;
    /// The part of the test that this process runs.
    execution_segment: Segment = "executionSegment", "", "ExecutionSegment", "execution-segment", Script;
    /// All parts.
    execution_segment_sequence: SegmentSequence = "executionSegmentSequence", "", "ExecutionSegmentSequence", "execution-segment-sequence", Script;
    /// Skip `setup()`.
    no_setup: bool = "noSetup", "K6_NO_SETUP", "NoSetup", "no-setup", Script;
    /// Timeout of `setup()`.
    setup_timeout: GoDuration = "setupTimeout", "K6_SETUP_TIMEOUT", "SetupTimeout", "", Script;
    /// Skip `teardown()`.
    no_teardown: bool = "noTeardown", "K6_NO_TEARDOWN", "NoTeardown", "no-teardown", Script;
    /// Timeout of `teardown()`.
    teardown_timeout: GoDuration = "teardownTimeout", "K6_TEARDOWN_TIMEOUT", "TeardownTimeout", "", Script;
    /// Timeout of `handleSummary()`.
    handle_summary_timeout: GoDuration = "handleSummaryTimeout", "K6_HANDLE_SUMMARY_TIMEOUT", "HandleSummaryTimeout", "", Script;
    /// Maximum requests per second of all virtual users together.
    rps: i64 = "rps", "K6_RPS", "RPS", "rps", Script;
    /// How names are resolved.
    dns: DnsOption = "dns", "K6_DNS", "DNS", "dns", Script;
    /// Maximum number of redirects followed.
    max_redirects: i64 = "maxRedirects", "K6_MAX_REDIRECTS", "MaxRedirects", "max-redirects", Script;
    /// Value of `User-Agent`.
    user_agent: String = "userAgent", "K6_USER_AGENT", "UserAgent", "user-agent", Script;
    /// Maximum concurrent requests of one batch.
    batch: i64 = "batch", "K6_BATCH", "Batch", "batch", Script;
    /// Maximum concurrent requests of one batch to one host.
    batch_per_host: i64 = "batchPerHost", "K6_BATCH_PER_HOST", "BatchPerHost", "batch-per-host", Script;
    /// What is logged of each request.
    http_debug: String = "httpDebug", "K6_HTTP_DEBUG", "HTTPDebug", "http-debug", Script;
    /// Skip TLS verification.
    insecure_skip_tls_verify: bool = "insecureSkipTLSVerify", "K6_INSECURE_SKIP_TLS_VERIFY", "InsecureSkipTLSVerify", "insecure-skip-tls-verify", Script;
    /// Allowed cipher suites.
    tls_cipher_suites: CipherSuites = "tlsCipherSuites", "K6_TLS_CIPHER_SUITES", "TLSCipherSuites", "", Script;
    /// Allowed TLS versions.
    tls_version: TlsVersions = "tlsVersion", "", "TLSVersion", "", Script;
    /// Client certificates.
    tls_auth: TlsAuths = "tlsAuth", "K6_TLSAUTH", "TLSAuth", "", Script;
    /// Throw an exception when a request fails.
    throw: bool = "throw", "K6_THROW", "Throw", "throw", Script;
    /// Conditions by metric.
    thresholds: Thresholds = "thresholds", "K6_THRESHOLDS", "Thresholds", "", Script;
    /// Networks to which connections are forbidden.
    blacklist_ips: Networks = "blacklistIPs", "K6_BLACKLIST_IPS", "BlacklistIPs", "blacklist-ip", Script;
    /// Host names to which requests are forbidden.
    block_hostnames: Patterns = "blockHostnames", "K6_BLOCK_HOSTNAMES", "BlockedHostnames", "block-hostnames", Script;
    /// Addresses of names.
    hosts: HostsOption = "hosts", "", "Hosts", "", Script;
    /// Use a new connection for each request.
    no_connection_reuse: bool = "noConnectionReuse", "K6_NO_CONNECTION_REUSE", "NoConnectionReuse", "no-connection-reuse", Script;
    /// Close connections after each iteration.
    no_vu_connection_reuse: bool = "noVUConnectionReuse", "K6_NO_VU_CONNECTION_REUSE", "NoVUConnectionReuse", "no-vu-connection-reuse", Script;
    /// Minimum duration: shorter iterations are followed by a wait.
    min_iteration_duration: GoDuration = "minIterationDuration", "K6_MIN_ITERATION_DURATION", "MinIterationDuration", "min-iteration-duration", Script;
    /// Settings of k6's cloud; only passed on.
    cloud: Value = "cloud", "", "Cloud", "", Script;
    /// Settings of extensions; only passed on.
    ext: Extensions = "ext", "", "External", "", Script;
    /// Statistics of trends in the summary.
    summary_trend_stats: Vec<String> = "summaryTrendStats", "K6_SUMMARY_TREND_STATS", "SummaryTrendStats", "summary-trend-stats", Script;
    /// Unit of times in the summary.
    summary_time_unit: String = "summaryTimeUnit", "K6_SUMMARY_TIME_UNIT", "SummaryTimeUnit", "summary-time-unit", Script;
    /// Tags that are set automatically.
    system_tags: SystemTags = "systemTags", "K6_SYSTEM_TAGS", "SystemTags", "system-tags", Script;
    /// Tags of every sample.
    tags: Texts = "tags", "K6_TAGS", "RunTags", "tag", Script;
    /// Accepted for compatibility with k6; there is no such buffer here.
    metric_samples_buffer_size: i64 = "metricSamplesBufferSize", "K6_METRIC_SAMPLES_BUFFER_SIZE", "MetricSamplesBufferSize", "", Script;
    /// Keep cookies between iterations.
    no_cookies_reset: bool = "noCookiesReset", "K6_NO_COOKIES_RESET", "NoCookiesReset", "", Script;
    /// Read response bodies and discard them.
    discard_response_bodies: bool = "discardResponseBodies", "K6_DISCARD_RESPONSE_BODIES", "DiscardResponseBodies", "discard-response-bodies", Script;
    /// Feature flags; ignored in a script's options.
    features: Vec<String> = "features", "", "Features", "", Script;
    /// File for the script's console output.
    console_output: String = "consoleOutput", "K6_CONSOLE_OUTPUT", "ConsoleOutput", "console-output", Process;
    /// Local addresses.
    local_ips: LocalIps = "localIPs", "K6_LOCAL_IPS", "LocalIPs", "local-ips", Process;
}

/// k6's message about an invalid variable; `field` is the option that it sets.
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

/// `localIPs`: addresses, ranges and networks separated by commas, as written.
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

/// Options of a script, with other findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    /// The options.
    pub options: K6Options,
    /// Unknown keys, sorted.
    pub unknown: Vec<String>,
}

/// An error with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// The key; empty if the options are not an object.
    pub key: String,
    /// The text that k6 shows before the place where it stopped reading.
    pub place: String,
    /// What is wrong.
    pub error: OptionError,
}

impl K6Options {
    /// Reads an object of options; null means none. Keys ignore case.
    ///
    /// # Errors
    /// The first invalid value, in the order of the keys.
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
        let mut sorted: Vec<_> = rows.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        for (key, value) in sorted {
            match read.options.read_key(key, value) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    let (key, place) = (key.clone(), place::place_of(rows, key, &error));
                    return Err(KeyError { key, place, error });
                }
                None => read.unknown.push(key.clone()),
            }
        }
        read.unknown.sort();
        Ok(read)
    }

    /// Whether an option that defines the load is set, not counting `vus` alone.
    #[must_use]
    pub fn has_execution(&self) -> bool {
        self.duration.is_some()
            || self.iterations.is_some()
            || self.stages.is_some()
            || self.scenarios.is_some()
    }

    /// These options merged over those of a lower tier: each one that is set replaces the lower one, and any
    /// that defines the load replaces all of those that do (except `vus`).
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

    /// The output of `k6 inspect`: the options that a script can set.
    #[must_use]
    pub fn inspected(&self) -> Vec<(String, Json)> {
        let script = |(_, reach, _): &(&str, Reach, Option<Json>)| *reach == Reach::Script;
        kept(self.rows().into_iter().filter(script))
    }

    /// As shown by `exec.test.options`: without the shortcuts for a scenario.
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

//! Settings of script scenarios, besides scenarios and connections: the consolidated options of a k6 script, as
//! data.
//!
//! Must not know where an option came from, nor how any of it is implemented. Invariant: the size of lists is
//! bounded by what the user wrote; secrets (keys, the raw text of the options) are never written to results.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::script_names::{AddressRange, DnsRule, HostnamePatterns, Hosts, Network};
use crate::system_tags::{SystemTag, SystemTags};
use crate::units::Bytes;

/// Settings of script scenarios, besides scenarios and connections.
///
/// Thresholds, connection reuse (`ClientPlan::keep_alive`), certificate verification and TLS versions
/// (`ClientPlan::tls`) are elsewhere in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptSettings {
    /// The script as named by the user; `-` for standard input.
    pub script: String,
    /// What runs around the iterations.
    pub lifecycle: Lifecycle,
    /// How `k6/http` behaves.
    pub http: ScriptHttp,
    /// Names, addresses, and what is blocked.
    pub names: ScriptNames,
    /// TLS beyond `ClientPlan::tls`.
    pub tls: ScriptTls,
    /// Tags of samples, and which series are kept.
    pub series: ScriptSeries,
    /// Whether a single dropped iteration fails the test (`--fail-on-drop`).
    pub fail_on_drop: bool,
    /// Memory limit of one virtual user's JavaScript; `None`: no limit.
    pub vu_memory_max: Option<Bytes>,
    /// Whether each request and its response is shown in readable form (`--once`).
    pub trace_requests: bool,
    /// Enabled k6 feature flags.
    pub features: Vec<Feature>,
    /// The consolidated options as JSON in k6's key order: `exec.test.options`. May contain keys of client
    /// certificates, so it is never written to results.
    #[serde(skip)]
    pub options_json: Arc<str>,
}

/// What runs around the iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    /// Whether `setup()` runs if the script has it.
    pub setup: bool,
    /// Time limit of `setup()`; default 60 s.
    #[serde(with = "crate::units::duration_text")]
    pub setup_timeout: Duration,
    /// Whether `teardown()` runs if the script has it.
    pub teardown: bool,
    /// Time limit of `teardown()`; default 60 s.
    #[serde(with = "crate::units::duration_text")]
    pub teardown_timeout: Duration,
    /// Time limit of `handleSummary()`; default 120 s.
    #[serde(with = "crate::units::duration_text")]
    pub handle_summary_timeout: Duration,
    /// Minimum time from one iteration start to the next: a shorter iteration is followed by a wait, which is
    /// not part of the iteration. Default zero.
    #[serde(with = "crate::units::duration_text")]
    pub min_iteration_duration: Duration,
}

impl Default for Lifecycle {
    fn default() -> Lifecycle {
        Lifecycle {
            setup: true,
            setup_timeout: Duration::from_secs(60),
            teardown: true,
            teardown_timeout: Duration::from_secs(60),
            handle_summary_timeout: Duration::from_secs(120),
            min_iteration_duration: Duration::ZERO,
        }
    }
}

/// Which parts of each request and response are logged (`--http-debug`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HttpDebug {
    /// Request line, status line and headers.
    Headers,
    /// Bodies too.
    Full,
}

/// How `k6/http` behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptHttp {
    /// `User-Agent` of requests that do not set one; empty: no such header.
    pub user_agent: String,
    /// Maximum redirects of requests that do not set one; default 10.
    pub redirects_max: u32,
    /// Whether a failed request throws (`throw`).
    pub throws: bool,
    /// Concurrent requests of one `http.batch()`; default 20, zero for no limit.
    pub batch: u32,
    /// Concurrent requests of one `http.batch()` per host; default 6, zero for no limit.
    pub batch_per_host: u32,
    /// Limit on requests per second over all virtual users (`rps`); `None`: no limit.
    pub requests_per_second: Option<u32>,
    /// What is logged for each request; `None`: nothing.
    pub debug: Option<HttpDebug>,
    /// Whether bodies are discarded unless a request says otherwise.
    pub discards_bodies: bool,
    /// Limit on the size of a body passed to a script, both as received and after decompression; default 64
    /// MiB. A larger body fails the request.
    #[serde(default = "body_max_default")]
    pub body_max: u64,
    /// Whether a virtual user keeps its cookies from one iteration to the next.
    pub keeps_cookies: bool,
    /// Whether idle connections are closed after each iteration (`noVUConnectionReuse`).
    pub closes_after_iteration: bool,
}

/// More than load tests need, and small enough to stop a decompression bomb.
fn body_max_default() -> u64 {
    64 << 20
}

impl Default for ScriptHttp {
    fn default() -> ScriptHttp {
        ScriptHttp {
            user_agent: String::new(),
            redirects_max: 10,
            throws: false,
            batch: 20,
            batch_per_host: 6,
            requests_per_second: None,
            debug: None,
            discards_bodies: false,
            body_max: body_max_default(),
            keeps_cookies: false,
            closes_after_iteration: false,
        }
    }
}

/// Names, addresses, and what is blocked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptNames {
    /// Fixed addresses for names; they take precedence over everything else.
    pub hosts: Hosts,
    /// Host names that requests may not go to.
    pub blocked_hostnames: HostnamePatterns,
    /// Networks that connections may not be made to.
    pub blocked_networks: Vec<Network>,
    /// How other names are resolved.
    pub dns: DnsRule,
    /// Local addresses: virtual user i (from zero) uses the (i mod n)-th of all n of them; empty: the system's
    /// choice.
    pub local_addresses: Vec<AddressRange>,
}

/// A client certificate and the host names it is used for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainIdentity {
    /// Host names, or `*.example.com`; empty: all hosts.
    pub domains: Vec<String>,
    /// Certificate chain, PEM; not written to results.
    #[serde(skip)]
    pub certificate_pem: String,
    /// Private key, PEM; never written to results.
    #[serde(skip)]
    pub key_pem: String,
    /// Password of an encrypted key; `None`: the key is not encrypted. Never written to results.
    #[serde(skip)]
    pub password: Option<String>,
}

/// TLS beyond `ClientPlan::tls`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptTls {
    /// Client certificates; the first whose domain matches is used.
    pub identities: Vec<DomainIdentity>,
    /// Allowed TLS 1.2 cipher suites, by the names of Go's `crypto/tls`; empty: the default.
    pub cipher_suites: Vec<String>,
}

/// Tags of samples, and which series are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSeries {
    /// Tags that are set automatically.
    pub system_tags: SystemTags,
    /// The tag for the summary's table (`--summary-by`); `None`: the summary has no table, and pages have one
    /// by name.
    pub by_tag: Option<String>,
    /// Whether to keep the summary of each scenario and group as well (`--summary-mode full`).
    pub by_scenario: bool,
    /// Maximum series of one metric; further ones are counted together. Default 100,000.
    pub series_max: u32,
}

impl Default for ScriptSeries {
    fn default() -> ScriptSeries {
        ScriptSeries {
            system_tags: SystemTags::default(),
            by_tag: None,
            by_scenario: false,
            series_max: 100_000,
        }
    }
}

impl ScriptSeries {
    /// The tag by whose values requests are counted.
    #[must_use]
    pub fn table_tag(&self) -> &str {
        self.by_tag.as_deref().unwrap_or(SystemTag::Name.name())
    }
}

/// k6's feature flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Trends are histograms. Here they always are, so the flag only changes the tag.
    NativeHistograms,
    /// `tags` from several tiers of options are merged instead of replaced.
    MergeRunTags,
    /// `__ENV` is read-only.
    FreezeEnv,
}

impl Feature {
    /// All flags, in the order of their names.
    pub const ALL: [Feature; 3] = [
        Feature::FreezeEnv,
        Feature::MergeRunTags,
        Feature::NativeHistograms,
    ];

    /// The name that command lines use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Feature::NativeHistograms => "native-histograms",
            Feature::MergeRunTags => "merge-run-tags",
            Feature::FreezeEnv => "freeze-env",
        }
    }
}

impl Default for ScriptSettings {
    fn default() -> ScriptSettings {
        ScriptSettings {
            script: "-".to_owned(),
            lifecycle: Lifecycle::default(),
            http: ScriptHttp::default(),
            names: ScriptNames::default(),
            tls: ScriptTls::default(),
            series: ScriptSeries::default(),
            fail_on_drop: false,
            vu_memory_max: None,
            trace_requests: false,
            features: Vec::new(),
            options_json: Arc::from("{}"),
        }
    }
}

impl ScriptSettings {
    /// Whether a feature flag is enabled.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_carry_no_secret() {
        let mut settings = ScriptSettings {
            options_json: Arc::from("{\"secret\":1}"),
            ..ScriptSettings::default()
        };
        settings.tls.identities.push(DomainIdentity {
            domains: vec!["example.com".to_owned()],
            certificate_pem: "secret".to_owned(),
            key_pem: "secret".to_owned(),
            password: Some("secret".to_owned()),
        });
        let written = serde_json::to_string(&settings).expect("plain data");
        assert!(!written.contains("secret"), "{written}");
        let back: ScriptSettings = serde_json::from_str(&written).expect("just written");
        assert_eq!(back.tls.identities[0].domains, ["example.com"]);
    }

    #[test]
    fn features_are_known_by_their_names() {
        let names = Feature::ALL.map(Feature::name);
        assert_eq!(names, ["freeze-env", "merge-run-tags", "native-histograms"]);
        for feature in Feature::ALL {
            let written = serde_json::to_value(feature).expect("a name");
            assert_eq!(written, feature.name());
        }
    }
}

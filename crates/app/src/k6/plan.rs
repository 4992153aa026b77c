//! Consolidated options as a test plan.
//!
//! Must not know tiers, flags or variables. Invariant: the plan contains every option that a run applies;
//! unsupported requests are refused here, before anything runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_go::GoDuration;
use loadline_metric::MetricRegistry;
use loadline_model::client::{IpChoice, Protocol, ProxyPlan, TlsPlan, TlsVersion};
use loadline_model::executor::{Executor, RateStage, Spacing, VuStage};
use loadline_model::plan::{AggregationPlan, PlanSegment};
use loadline_model::script_names::{
    AddressRange, DnsPolicy, DnsRule, DnsTtl, HostnamePatterns, Hosts,
};
use loadline_model::script_settings::{
    DomainIdentity, Feature, HttpDebug, Lifecycle, ScriptHttp, ScriptNames, ScriptSeries,
    ScriptSettings, ScriptTls,
};
use loadline_model::segment::Segment;
use loadline_model::{
    ArrivalRate, Behaviour, Bytes, ClientPlan, Nanos, OnExhausted, Scenario, ScriptBehaviour,
    TestPlan, ThresholdPlan, ThresholdPlanError,
};

use super::json::Json;
use super::notice::Notice;
use super::options::parts::StageOption;
use super::options::scenario::{ExecutorKind, ScenarioOptions};
use super::options::tls::{TlsVersions, VERSIONS};
use super::options::{K6Options, LocalIps};
use super::requirements::{GRACEFUL_STOP, MAX_DURATION, grace};

/// The input of a plan beside the options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Surroundings {
    /// The script as the user named it.
    pub script: String,
    /// `User-Agent` if the options set none.
    pub user_agent: String,
    /// Of the script.
    pub thresholds: Vec<ThresholdPlan>,
    /// `--fail-on-drop`.
    pub fail_on_drop: bool,
    /// `--once`: show each request.
    pub trace_requests: bool,
    /// `--summary-by`.
    pub by_tag: Option<String>,
    /// Whether the summary has a section for each scenario and group.
    pub by_scenario: bool,
    /// `--max-series`; `None`: the default.
    pub series_max: Option<u32>,
    /// `--vu-memory`; `None`: no limit.
    pub vu_memory_max: Option<Bytes>,
    /// `--max-body`, in bytes; `None`: the default.
    pub body_max: Option<u64>,
    /// Enabled feature flags.
    pub features: Vec<Feature>,
    /// Seed of all randomness.
    pub seed: u64,
    /// The proxy of requests; `None`: direct.
    pub proxy: Option<ProxyPlan>,
    /// Whether HTTP/2 is not offered.
    pub http1_only: bool,
}

/// Timeout for making a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a request if the script sets none.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Starts of open models are bunched into windows of this length.
const START_WINDOW: Duration = Duration::from_micros(200);

/// The plan of consolidated options.
///
/// # Errors
/// What cannot be run, as a message for the user.
pub(super) fn plan(options: &K6Options, around: &Surroundings) -> Result<TestPlan, String> {
    let scenarios = options.scenarios.iter().flatten();
    let script = settings(options, around)?;
    let plan = TestPlan {
        scenarios: scenarios
            .map(|(name, scenario)| scenario_of(name, scenario))
            .collect::<Result<_, _>>()?,
        client: client(options, around)?,
        thresholds: Vec::new(),
        warm_up: Duration::ZERO,
        start_window: START_WINDOW,
        workers: None,
        aggregation: AggregationPlan::default(),
        labels: BTreeMap::new(),
        tags: run_tags(options, around),
        seed: around.seed,
        segment: segment(options)?,
        script: Some(Arc::new(script)),
        script_thresholds: around.thresholds.clone(),
    };
    plan.validate()?;
    Ok(plan)
}

fn scenario_of(name: &str, options: &ScenarioOptions) -> Result<Scenario, String> {
    let graceful_stop = grace(options).or_zero();
    Ok(Scenario {
        name: name.to_owned(),
        start_time: options.start_time.unwrap_or_default().or_zero(),
        executor: executor(options).map_err(|why| format!("scenario {name}: {why}"))?,
        on_exhausted: OnExhausted::Drop,
        pacing: None,
        graceful_stop,
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Script(ScriptBehaviour {
            exec: options.exec.clone().unwrap_or_else(|| "default".to_owned()),
            env: options.env.clone().unwrap_or_default(),
        }),
        checks: Vec::new(),
        tags: options.tags.clone().unwrap_or_default(),
    })
}

fn executor(options: &ScenarioOptions) -> Result<Executor, String> {
    let vus = vus(options.vus.unwrap_or(1))?;
    let max_duration = || Some(options.max_duration.unwrap_or(MAX_DURATION).or_zero());
    let duration = options.duration.map(GoDuration::or_zero);
    let iterations = u64::try_from(options.iterations.unwrap_or(1)).unwrap_or(0);
    Ok(match options.executor {
        ExecutorKind::SharedIterations => Executor::SharedIterations {
            vus,
            iterations,
            max_duration: max_duration(),
        },
        ExecutorKind::PerVuIterations => Executor::PerVuIterations {
            vus,
            iterations,
            max_duration: max_duration(),
        },
        ExecutorKind::ConstantVus => Executor::ConstantVus { vus, duration },
        ExecutorKind::ExternallyControlled => Executor::ExternallyControlled {
            vus,
            max_vus: match options.max_vus {
                Some(most) => self::vus(most)?,
                None => vus,
            },
            duration: duration.filter(|duration| *duration > Duration::ZERO),
        },
        ExecutorKind::RampingVus => Executor::RampingVus {
            start_vus: self::vus(options.start_vus.unwrap_or(1))?,
            stages: stages(options)
                .map(|(duration, target)| {
                    let target = self::vus(target)?;
                    Ok(VuStage { duration, target })
                })
                .collect::<Result<_, String>>()?,
            graceful_ramp_down: options
                .graceful_ramp_down
                .unwrap_or(GRACEFUL_STOP)
                .or_zero(),
        },
        ExecutorKind::ConstantArrivalRate => {
            let (pre_allocated_vus, max_vus) = pool(options)?;
            Executor::ConstantArrivalRate {
                rate: rate(options, options.rate.unwrap_or(0)),
                duration,
                spacing: Spacing::EvenToTheEnd,
                iterations: None,
                pre_allocated_vus,
                max_vus,
            }
        }
        ExecutorKind::RampingArrivalRate => {
            let (pre_allocated_vus, max_vus) = pool(options)?;
            Executor::RampingArrivalRate {
                start_rate: rate(options, options.start_rate.unwrap_or(0)),
                stages: stages(options)
                    .map(|(duration, target)| RateStage {
                        duration,
                        target: rate(options, target),
                    })
                    .collect(),
                spacing: Spacing::Even,
                iterations: None,
                pre_allocated_vus,
                max_vus,
            }
        }
    })
}

fn vus(count: i64) -> Result<u32, String> {
    u32::try_from(count).map_err(|_| format!("{count} is not a valid number of virtual users"))
}

fn stages(options: &ScenarioOptions) -> impl Iterator<Item = (Duration, i64)> {
    let stages = options.stages.iter().flatten();
    stages.map(|StageOption { duration, target }| {
        (duration.unwrap_or_default().or_zero(), target.unwrap_or(0))
    })
}

fn rate(options: &ScenarioOptions, starts: i64) -> ArrivalRate {
    let per = options.time_unit.unwrap_or(GoDuration::seconds(1)).0;
    ArrivalRate {
        starts: u64::try_from(starts).unwrap_or(0),
        per: Nanos(u64::try_from(per).unwrap_or(Nanos::PER_SECOND)),
    }
}

fn pool(options: &ScenarioOptions) -> Result<(u32, u32), String> {
    let before = options.pre_allocated_vus.unwrap_or(0);
    let most = options.max_vus.unwrap_or(before);
    if most == 0 {
        // In k6 such a test runs, and drops every iteration.
        return Err("preAllocatedVUs is 0, and so is maxVUs: set one of them above 0".to_owned());
    }
    Ok((vus(before)?, vus(most)?))
}

fn segment(options: &K6Options) -> Result<Option<PlanSegment>, String> {
    let (part, all) = (
        options.execution_segment,
        &options.execution_segment_sequence,
    );
    if part.is_none() && all.is_none() {
        return Ok(None);
    }
    PlanSegment::new(part.unwrap_or_else(Segment::whole), all.clone())
        .map(|part| Some(part.apart()))
        .map_err(|error| error.to_string())
}

/// The thresholds of the options.
///
/// # Errors
/// k6's message about the first that cannot be read; none if they are not judged.
pub(super) fn thresholds(
    options: &K6Options,
    are_judged: bool,
) -> Result<Vec<ThresholdPlan>, String> {
    if !are_judged {
        return Ok(unjudged_thresholds(options));
    }
    let read = each_threshold(options).map(|plan| plan.map_err(|error| error.to_string()));
    read.collect()
}

/// With `--no-thresholds`, as in k6, outputs still report them, and wrong ones are not reported as errors.
fn unjudged_thresholds(options: &K6Options) -> Vec<ThresholdPlan> {
    let read = each_threshold(options).filter_map(Result::ok);
    read.map(|plan| ThresholdPlan {
        is_judged: false,
        ..plan
    })
    .collect()
}

/// With `--no-thresholds`, k6 only warns about those on metrics that do not exist.
pub(super) fn unjudged_threshold_notices(
    options: &K6Options,
    metrics: &MetricRegistry,
) -> Vec<Notice> {
    let names = options.thresholds.iter().flatten().map(|(name, _)| name);
    let notices = names.filter_map(|name| {
        let metric = name.split('{').next().unwrap_or(name);
        if metrics.by_name(metric).is_some() {
            return None;
        }
        let message = format!("Invalid metric '{name}' in threshold definitions");
        let why = format!("metric '{metric}' does not exist in the script");
        let notice = Notice::warning(message).with("component", "metrics-engine");
        Some(notice.with("error", why))
    });
    notices.collect()
}

fn each_threshold(
    options: &K6Options,
) -> impl Iterator<Item = Result<ThresholdPlan, ThresholdPlanError>> {
    let rows = options.thresholds.iter().flatten();
    rows.flat_map(|(metric, conditions)| {
        let kept = conditions
            .is_empty()
            .then(|| ThresholdPlan::without_condition(metric));
        let judged = conditions.iter().map(|condition| {
            let delay = condition.delay_abort_eval.unwrap_or_default().or_zero();
            ThresholdPlan::parse(metric, &condition.threshold, condition.abort_on_fail, delay)
        });
        kept.into_iter().chain(judged)
    })
}

/// k6's warning about certificates that name their hosts.
pub(super) fn certificate_notice(options: &K6Options) -> Option<Notice> {
    let mut domains = options.tls_auth.iter().flatten().map(|auth| &auth.domains);
    let has_some = domains.any(|domains| domains.as_ref().is_some_and(|names| !names.is_empty()));
    has_some.then(|| {
        Notice::warning(
            "tlsAuth.domains option could be removed in the next releases, it's recommended to leave it empty and \
             let k6 automatically detect from the provided certificate. It follows the Go's NameToCertificate \
             deprecation - https://pkg.go.dev/crypto/tls@go1.17#Config.",
        )
    })
}

/// Warnings about thresholds on tags for which no series is kept.
pub(super) fn threshold_notices(plan: &TestPlan) -> Vec<Notice> {
    let mut notices = Vec::new();
    for threshold in &plan.script_thresholds {
        let selector = threshold.selector();
        for tag in ["vu", "iter"] {
            if selector.tags.get(tag).is_none() {
                continue;
            }
            let message = format!(
                "The high-cardinality '{tag}' metric tag was made non-indexable in k6 v0.41.0, so thresholds like \
                 '{}' that are based on it won't work correctly.",
                threshold.key
            );
            let notice = Notice::warning(message).with("component", "metrics-engine");
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
    }
    notices
}

fn client(options: &K6Options, around: &Surroundings) -> Result<ClientPlan, String> {
    let verify = !options.insecure_skip_tls_verify.unwrap_or(false);
    let dns = dns(options);
    Ok(ClientPlan {
        protocol: match around.http1_only {
            true => Protocol::Http1,
            false => Protocol::Negotiate { streams: 250 },
        },
        proxy: around.proxy.clone(),
        keep_alive: !options.no_connection_reuse.unwrap_or(false),
        connect_timeout: Some(CONNECT_TIMEOUT),
        request_timeout: Some(REQUEST_TIMEOUT),
        tls: tls(options.tls_version, verify)?,
        ip: match dns.policy {
            DnsPolicy::OnlyIpv4 => IpChoice::V4,
            DnsPolicy::OnlyIpv6 => IpChoice::V6,
            DnsPolicy::PreferIpv4 | DnsPolicy::PreferIpv6 | DnsPolicy::Any => IpChoice::Any,
        },
        dns_ttl: match dns.ttl {
            DnsTtl::Forever => None,
            DnsTtl::Never => Some(Duration::ZERO),
            DnsTtl::For(span) => Some(span),
        },
        ..ClientPlan::default()
    })
}

fn tls(versions: Option<TlsVersions>, verify: bool) -> Result<TlsPlan, String> {
    let (min, max) = versions.map_or((None, None), |versions| (versions.min, versions.max));
    let spoken = |version: usize| match VERSIONS[version] {
        "tls1.3" => Some(TlsVersion::V1_3),
        "tls1.2" => Some(TlsVersion::V1_2),
        _ => None,
    };
    let defaults = TlsPlan::default();
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        let [min, max] = [min, max].map(|version| VERSIONS[version]);
        return Err(format!("tlsVersion: min {min} is above max {max}"));
    }
    let max_version = match max {
        None => defaults.max_version,
        Some(max) => spoken(max).ok_or_else(|| {
            format!(
                "tlsVersion: {} is not supported; the lowest is tls1.2",
                VERSIONS[max]
            )
        })?,
    };
    Ok(TlsPlan {
        // A minimum below the lowest supported version means the lowest supported one.
        min_version: min.and_then(spoken).unwrap_or(defaults.min_version),
        max_version,
        verify,
        ..defaults
    })
}

fn dns(options: &K6Options) -> DnsRule {
    let defaults = DnsRule::default();
    let Some(dns) = &options.dns else {
        return defaults;
    };
    let ttl = match dns.ttl.as_deref() {
        None | Some("") => defaults.ttl,
        Some("inf") => DnsTtl::Forever,
        Some(text) => match GoDuration::parse_extended(text).map(|span| span.0) {
            Ok(span) if span > 0 => DnsTtl::For(GoDuration(span).or_zero()),
            Ok(0) => DnsTtl::Never,
            Ok(_) => DnsTtl::Forever,
            Err(_) => defaults.ttl,
        },
    };
    DnsRule {
        ttl,
        select: dns.select.unwrap_or(defaults.select),
        policy: dns.policy.unwrap_or(defaults.policy),
    }
}

fn settings(options: &K6Options, around: &Surroundings) -> Result<ScriptSettings, String> {
    let defaults = ScriptSeries::default();
    Ok(ScriptSettings {
        script: around.script.clone(),
        lifecycle: lifecycle(options),
        http: http(options, around),
        names: names(options)?,
        tls: script_tls(options),
        series: ScriptSeries {
            system_tags: options.system_tags.unwrap_or_default(),
            by_tag: around.by_tag.clone(),
            by_scenario: around.by_scenario,
            series_max: around.series_max.unwrap_or(defaults.series_max),
        },
        fail_on_drop: around.fail_on_drop,
        vu_memory_max: around.vu_memory_max,
        trace_requests: around.trace_requests,
        features: around.features.clone(),
        options_json: seen_by_script(options, around).compact().into(),
    })
}

/// `exec.test.options`: with all tags of the run, without feature flags.
fn seen_by_script(options: &K6Options, around: &Surroundings) -> Json {
    let tags = run_tags(options, around);
    let options = K6Options {
        tags: (!tags.is_empty()).then_some(tags),
        features: None,
        ..options.clone()
    };
    options.as_seen_by_script()
}

/// The tags of the run; an enabled feature flag adds its own.
fn run_tags(options: &K6Options, around: &Surroundings) -> BTreeMap<String, String> {
    let mut tags = options.tags.clone().unwrap_or_default();
    for feature in &around.features {
        let name = format!("k6_feature_{}", feature.name().replace('-', "_"));
        tags.insert(name, "true".to_owned());
    }
    tags
}

fn lifecycle(options: &K6Options) -> Lifecycle {
    let defaults = Lifecycle::default();
    let or = |span: Option<GoDuration>, default| span.map_or(default, GoDuration::or_zero);
    Lifecycle {
        setup: !options.no_setup.unwrap_or(false),
        setup_timeout: or(options.setup_timeout, defaults.setup_timeout),
        teardown: !options.no_teardown.unwrap_or(false),
        teardown_timeout: or(options.teardown_timeout, defaults.teardown_timeout),
        handle_summary_timeout: or(
            options.handle_summary_timeout,
            defaults.handle_summary_timeout,
        ),
        min_iteration_duration: or(
            options.min_iteration_duration,
            defaults.min_iteration_duration,
        ),
    }
}

fn http(options: &K6Options, around: &Surroundings) -> ScriptHttp {
    let defaults = ScriptHttp::default();
    let count = |value: Option<i64>, default: u32| match value {
        None => default,
        Some(value) => u32::try_from(value.max(0)).unwrap_or(u32::MAX),
    };
    ScriptHttp {
        user_agent: match &options.user_agent {
            Some(text) => text.clone(),
            None => around.user_agent.clone(),
        },
        redirects_max: count(options.max_redirects, defaults.redirects_max),
        throws: options.throw.unwrap_or(false),
        batch: count(options.batch, defaults.batch),
        batch_per_host: count(options.batch_per_host, defaults.batch_per_host),
        requests_per_second: options
            .rps
            .filter(|rps| *rps > 0)
            .map(|rps| u32::try_from(rps).unwrap_or(u32::MAX)),
        debug: match options.http_debug.as_deref() {
            None | Some("") => None,
            Some("full") => Some(HttpDebug::Full),
            Some(_) => Some(HttpDebug::Headers),
        },
        discards_bodies: options.discard_response_bodies.unwrap_or(false),
        body_max: around.body_max.unwrap_or(defaults.body_max),
        keeps_cookies: options.no_cookies_reset.unwrap_or(false),
        closes_after_iteration: options.no_vu_connection_reuse.unwrap_or(false),
    }
}

fn names(options: &K6Options) -> Result<ScriptNames, String> {
    let patterns = options.block_hostnames.as_ref().map(|patterns| &patterns.0);
    let hosts = options.hosts.iter().flat_map(|hosts| &hosts.0);
    // As in k6, a text that is not an address is ignored.
    let known = hosts.filter_map(|(name, address)| Some((name.as_str(), (*address)?)));
    Ok(ScriptNames {
        hosts: Hosts::new(known).map_err(|error| error.to_string())?,
        blocked_hostnames: HostnamePatterns::parse(
            patterns.into_iter().flatten().map(String::as_str),
        )
        .map_err(|error| error.to_string())?,
        blocked_networks: options.blacklist_ips.clone().unwrap_or_default(),
        dns: dns(options),
        local_addresses: options.local_ips.as_ref().map_or_else(Vec::new, ranges),
    })
}

fn ranges(LocalIps(text): &LocalIps) -> Vec<AddressRange> {
    let parts = text.split(',');
    parts.filter_map(|part| part.trim().parse().ok()).collect()
}

fn script_tls(options: &K6Options) -> ScriptTls {
    let identities = options.tls_auth.iter().flatten();
    let suites = options.tls_cipher_suites.as_ref();
    ScriptTls {
        identities: identities
            .map(|auth| DomainIdentity {
                domains: auth.domains.clone().unwrap_or_default(),
                certificate_pem: auth.cert.clone(),
                key_pem: auth.key.clone(),
                password: auth.password.clone(),
            })
            .collect(),
        cipher_suites: suites.map_or_else(Vec::new, |suites| suites.0.clone()),
    }
}

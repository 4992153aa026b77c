//! Options with structured values: stages, thresholds, names, TLS.
//!
//! Must not know which options exist. Invariant: as in [`super::value`].

use std::collections::BTreeMap;

use loadline_go::GoDuration;
use loadline_go::duration::parse as parse_duration;
use loadline_go::integer::parse_int;
use loadline_go::quoted;
use loadline_model::script_names::{
    DnsPolicy, DnsSelect, HostAddress, HostnamePatterns, Network, is_name,
};
use loadline_model::segment::{Segment, SegmentSequence};
use loadline_model::system_tags::{SystemTag, SystemTags};
use serde_json::Value;

use super::super::json::Json;
use crate::dialect::pflag::Parsed;

use super::value::{
    OptionError, OptionValue, env_items, env_rows, list, nullable, object, written,
};

/// One leg of a ramp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageOption {
    /// Its duration.
    pub duration: Option<GoDuration>,
    /// Virtual users, or starts per unit of time, at its end.
    pub target: Option<i64>,
}

/// `stages`: the legs of a ramp.
pub type Stages = Vec<StageOption>;

impl OptionValue for Stages {
    const GO_TYPE: &'static str = "[]lib.Stage";

    fn from_json(value: &Value, field: &str) -> Result<Option<Stages>, OptionError> {
        let items = list(value, field, Self::GO_TYPE)?.iter();
        items
            .map(|item| stage_of(item, field))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn from_env(text: &str) -> Result<Option<Stages>, String> {
        env_items(text)
            .map(stage_of_text)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Stages>, String> {
        let Some(texts) = given.texts(flag) else {
            return Ok(None);
        };
        let read = texts.iter().enumerate().map(|(number, text)| {
            let stage =
                stage_of_text(text).map_err(|why| format!("error for stage {number}: {why}"))?;
            match stage.duration {
                Some(_) => Ok(stage),
                None => Err(format!("stage {number} doesn't have a specified duration")),
            }
        });
        read.collect::<Result<_, _>>().map(Some)
    }

    fn to_json(&self) -> Json {
        let stage = |stage: &StageOption| {
            Json::Object(vec![
                ("duration".to_owned(), written(stage.duration.as_ref())),
                ("target".to_owned(), written(stage.target.as_ref())),
            ])
        };
        Json::List(self.iter().map(stage).collect())
    }

    /// k6 ignores a leg without a duration.
    fn over(&self, _lower: Option<&Stages>) -> Stages {
        let legs = self.iter().filter(|stage| stage.duration.is_some());
        legs.copied().collect()
    }
}

fn stage_of(value: &Value, field: &str) -> Result<StageOption, OptionError> {
    let mut stage = StageOption::default();
    for (key, value) in object(value, field, "lib.StageFields")? {
        match key.to_ascii_lowercase().as_str() {
            "duration" => stage.duration = nullable(value, &format!("{field}.duration"))?,
            "target" => stage.target = nullable(value, &format!("{field}.target"))?,
            _ => {}
        }
    }
    Ok(stage)
}

/// Reads `duration:target`, or either of them.
///
/// # Errors
/// Go's message about the invalid part.
pub fn stage_of_text(text: &str) -> Result<StageOption, String> {
    let (duration, target) = text.split_once(':').unwrap_or((text, ""));
    let duration = match duration {
        "" => None,
        duration => Some(GoDuration(parse_duration(duration)?)),
    };
    let target = match target {
        "" => None,
        target => Some(parse_int(target)?),
    };
    Ok(StageOption { duration, target })
}

/// One threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdOption {
    /// The condition.
    pub threshold: String,
    /// Whether the test ends if it fails.
    pub abort_on_fail: bool,
    /// Initial time in which it does not end the test.
    pub delay_abort_eval: Option<GoDuration>,
}

/// `thresholds`: conditions by metric.
pub type Thresholds = BTreeMap<String, Vec<ThresholdOption>>;

impl OptionValue for Thresholds {
    const GO_TYPE: &'static str = "map[string]metrics.Thresholds";

    fn from_json(value: &Value, field: &str) -> Result<Option<Thresholds>, OptionError> {
        let rows = object(value, field, Self::GO_TYPE)?.iter();
        let read = |(metric, value): (&String, &Value)| {
            let conditions = match value {
                Value::Null => Vec::new(),
                value => list(value, field, "[]metrics.thresholdConfig")?
                    .iter()
                    .map(|item| threshold_of(item, field))
                    .collect::<Result<_, _>>()?,
            };
            Ok((metric.clone(), conditions))
        };
        rows.map(read).collect::<Result<_, _>>().map(Some)
    }

    fn from_env(text: &str) -> Result<Option<Thresholds>, String> {
        // An object is accepted too, since a condition with a colon cannot be written otherwise.
        if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
            return Self::from_json(&value, "Options.thresholds").map_err(|e| e.to_string());
        }
        if text.trim().is_empty() {
            return Ok(Some(Thresholds::new()));
        }
        env_rows(text)
            .map(|row| row.map(|(metric, text)| (metric.to_owned(), conditions_of(text))))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn to_json(&self) -> Json {
        let one = |condition: &ThresholdOption| match condition.abort_on_fail {
            false => Json::text(&condition.threshold),
            true => Json::Object(vec![
                ("threshold".to_owned(), Json::text(&condition.threshold)),
                ("abortOnFail".to_owned(), Json::Bool(true)),
                (
                    "delayAbortEval".to_owned(),
                    written(condition.delay_abort_eval.as_ref()),
                ),
            ]),
        };
        let all = |conditions: &[ThresholdOption]| Json::List(conditions.iter().map(one).collect());
        Json::Object(
            self.iter()
                .map(|(metric, conditions)| (metric.clone(), all(conditions)))
                .collect(),
        )
    }
}

fn threshold_of(value: &Value, field: &str) -> Result<ThresholdOption, OptionError> {
    match value {
        Value::String(text) => return Ok(condition(text)),
        Value::Null => return Ok(ThresholdOption::default()),
        _ => {}
    }
    let mut read = ThresholdOption::default();
    for (key, value) in object(value, field, "metrics.rawThresholdConfig")? {
        let field = format!("{field}.{key}");
        match (key.to_ascii_lowercase().as_str(), value) {
            (_, Value::Null) => {}
            ("threshold", Value::String(text)) => read.threshold.clone_from(text),
            ("threshold", other) => return Err(OptionError::of_type(other, &field, "string")),
            ("abortonfail", Value::Bool(value)) => read.abort_on_fail = *value,
            ("abortonfail", other) => return Err(OptionError::of_type(other, &field, "bool")),
            ("delayaborteval", value) => read.delay_abort_eval = nullable(value, &field)?,
            _ => {}
        }
    }
    Ok(read)
}

/// The conditions of a metric in an environment variable: one, or a JSON list of them.
fn conditions_of(text: &str) -> Vec<ThresholdOption> {
    if text.is_empty() {
        return Vec::new();
    }
    match serde_json::from_str::<Vec<String>>(text) {
        Ok(several) => several.iter().map(|text| condition(text)).collect(),
        Err(_) => vec![condition(text)],
    }
}

fn condition(text: &str) -> ThresholdOption {
    ThresholdOption {
        threshold: text.to_owned(),
        ..ThresholdOption::default()
    }
}

/// `dns`: how names are resolved; each part is a separate option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsOption {
    /// How long a resolved name is used: `inf`, `0` or a duration.
    pub ttl: Option<String>,
    /// Which address is selected.
    pub select: Option<DnsSelect>,
    /// Which family is used.
    pub policy: Option<DnsPolicy>,
}

const SELECTS: [(&str, DnsSelect); 3] = [
    ("first", DnsSelect::First),
    ("random", DnsSelect::Random),
    ("roundRobin", DnsSelect::RoundRobin),
];

const POLICIES: [(&str, DnsPolicy); 5] = [
    ("preferIPv4", DnsPolicy::PreferIpv4),
    ("preferIPv6", DnsPolicy::PreferIpv6),
    ("onlyIPv4", DnsPolicy::OnlyIpv4),
    ("onlyIPv6", DnsPolicy::OnlyIpv6),
    ("any", DnsPolicy::Any),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str, type_name: &str) -> Result<T, String> {
    let found = table.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| format!("{name} does not belong to {type_name} values"))
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: Option<T>) -> Json {
    let found = value.and_then(|value| table.iter().find(|(_, known)| *known == value));
    found.map_or(Json::Null, |(name, _)| Json::text(*name))
}

/// The type of `dns` in messages of Go's JSON reader.
const DNS_FIELDS: &str = "struct { TTL null.String \"json:\\\"ttl\\\"\"; Select types.NullDNSSelect \
                          \"json:\\\"select\\\"\"; Policy types.NullDNSPolicy \"json:\\\"policy\\\"\" }";

impl DnsOption {
    /// Whether the TTL is valid, which k6 checks after reading the options.
    ///
    /// # Errors
    /// k6's message.
    pub fn check_ttl(&self) -> Result<(), String> {
        let text = self.ttl.as_deref().unwrap_or_default();
        let span = || GoDuration::parse_extended(text).is_ok_and(|span| span.0 >= 0);
        match text.is_empty() || text == "inf" || span() {
            true => Ok(()),
            false => Err(format!("invalid DNS TTL: {text}")),
        }
    }

    fn set(&mut self, key: &str, text: &str) -> Result<bool, String> {
        match key.to_ascii_lowercase().as_str() {
            "ttl" => self.ttl = Some(text.to_owned()),
            "select" => self.select = Some(named(&SELECTS, text, "DNSSelect")?),
            "policy" => self.policy = Some(named(&POLICIES, text, "DNSPolicy")?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl OptionValue for DnsOption {
    const GO_TYPE: &'static str = "types.DNSConfig";

    fn from_json(value: &Value, field: &str) -> Result<Option<DnsOption>, OptionError> {
        let mut read = DnsOption::default();
        for (key, value) in object(value, field, DNS_FIELDS)? {
            let lower = key.to_ascii_lowercase();
            if !matches!(lower.as_str(), "ttl" | "select" | "policy") {
                continue;
            }
            let is_name = value.is_string() || value.is_null();
            if lower != "ttl" && !is_name {
                return Err(OptionError::of_type(
                    value,
                    &format!("{field}.{key}"),
                    "string",
                ));
            }
            if let Some(text) = nullable::<String>(value, field)? {
                read.set(key, &text).map_err(OptionError::Text)?;
            }
        }
        Ok(Some(read))
    }

    fn from_env(text: &str) -> Result<Option<DnsOption>, String> {
        let mut read = DnsOption::default();
        for pair in text.split(',') {
            let (key, value) = pair
                .split_once('=')
                .filter(|(_, value)| !value.is_empty())
                .ok_or_else(|| format!("no value for key {pair}"))?;
            if !read.set(key, value)? {
                return Err(format!("unknown DNS configuration field: {key}"));
            }
        }
        Ok(Some(read))
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<DnsOption>, String> {
        match given.text(flag) {
            None | Some("") => Ok(None),
            Some(text) => DnsOption::from_env(text),
        }
    }

    fn to_json(&self) -> Json {
        Json::Object(vec![
            ("ttl".to_owned(), written(self.ttl.as_ref())),
            ("select".to_owned(), name_of(&SELECTS, self.select)),
            ("policy".to_owned(), name_of(&POLICIES, self.policy)),
        ])
    }

    fn absent() -> Json {
        DnsOption::default().to_json()
    }

    fn over(&self, lower: Option<&DnsOption>) -> DnsOption {
        let lower = lower.cloned().unwrap_or_default();
        DnsOption {
            ttl: self.ttl.clone().or(lower.ttl),
            select: self.select.or(lower.select),
            policy: self.policy.or(lower.policy),
        }
    }
}

/// `hosts`: addresses by name; `None` for a text that is not an address, which k6 accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostsOption(pub BTreeMap<String, Option<HostAddress>>);

impl OptionValue for HostsOption {
    const GO_TYPE: &'static str = "types.NullHosts";

    fn from_json(value: &Value, field: &str) -> Result<Option<HostsOption>, OptionError> {
        let mut rows = BTreeMap::new();
        for (name, value) in object(value, field, "map[string]string")? {
            // As in Go, null is an empty text.
            let text = match value {
                Value::String(text) => text.as_str(),
                Value::Null => "",
                other => return Err(OptionError::of_type(other, field, "string")),
            };
            if !is_host_pattern(name) {
                return Err(OptionError::Text(format!("invalid host pattern '{name}'")));
            }
            if let Some(port) = port_of(text).filter(|port| port.parse::<i64>().is_err()) {
                let why = format!("strconv.Atoi: parsing {}: invalid syntax", quoted(port));
                return Err(OptionError::Text(why));
            }
            let address = text.parse().ok();
            rows.insert(name.to_lowercase(), address);
        }
        Ok(Some(HostsOption(rows)))
    }

    fn to_json(&self) -> Json {
        let shown = |address: &Option<HostAddress>| match address {
            None => "<nil>".to_owned(),
            Some(HostAddress { ip, port: None }) => ip.to_string(),
            Some(HostAddress {
                ip,
                port: Some(port),
            }) => core::net::SocketAddr::new(*ip, *port).to_string(),
        };
        let rows = self.0.iter();
        Json::Object(
            rows.map(|(name, address)| (name.clone(), Json::text(shown(address))))
                .collect(),
        )
    }
}

/// k6's pattern for a name in `hosts`: `*` or `*.`, labels, `:port`, each of them optional.
fn is_host_pattern(text: &str) -> bool {
    let rest = text
        .strip_prefix('*')
        .map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
    let (labels, port) = rest.split_once(':').unwrap_or((rest, "0"));
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && (labels.is_empty() || is_name(labels))
}

/// The port after an address, as found by Go's `net.SplitHostPort`; `None` if there is none.
fn port_of(text: &str) -> Option<&str> {
    let (host, port) = text.rsplit_once(':')?;
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    (is_bracketed || !host.contains(':')).then_some(port)
}

/// `blacklistIPs`: networks.
pub type Networks = Vec<Network>;

/// Reads a network; `what` starts the message.
///
/// # Errors
/// k6's message.
pub fn network_of(text: &str) -> Result<Network, String> {
    text.parse()
        .map_err(|()| format!("failed to parse CIDR '{text}': invalid CIDR address: {text}"))
}

impl OptionValue for Networks {
    const GO_TYPE: &'static str = "[]*lib.IPNet";

    fn from_json(value: &Value, field: &str) -> Result<Option<Networks>, OptionError> {
        list(value, field, Self::GO_TYPE)?;
        let texts = Vec::<String>::from_json(value, field)?.unwrap_or_default();
        let networks = texts.iter().map(|text| network_of(text));
        networks
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(OptionError::Text)
    }

    fn from_env(text: &str) -> Result<Option<Networks>, String> {
        env_items(text)
            .map(network_of)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Networks>, String> {
        let Some(texts) = given.texts(flag).filter(|texts| !texts.is_empty()) else {
            return Ok(None);
        };
        let read = texts.iter().map(|text| {
            text.parse().map_err(|()| {
                format!("error parsing {flag} '{text}': invalid CIDR address: {text}")
            })
        });
        read.collect::<Result<_, _>>().map(Some)
    }

    fn to_json(&self) -> Json {
        Json::List(self.iter().map(|net| Json::text(net.to_string())).collect())
    }
}

/// `blockHostnames`: patterns as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<String>);

impl Patterns {
    fn checked(texts: Vec<String>) -> Result<Patterns, String> {
        HostnamePatterns::parse(texts.iter().map(String::as_str))
            .map_err(|error| error.to_string())?;
        Ok(Patterns(texts))
    }
}

impl OptionValue for Patterns {
    const GO_TYPE: &'static str = "types.NullHostnameTrie";

    fn from_json(value: &Value, field: &str) -> Result<Option<Patterns>, OptionError> {
        let texts = Vec::<String>::from_json(value, field)?.unwrap_or_default();
        Patterns::checked(texts)
            .map(Some)
            .map_err(OptionError::Text)
    }

    fn from_env(text: &str) -> Result<Option<Patterns>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        Patterns::checked(text.split(',').map(str::to_owned).collect()).map(Some)
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<Patterns>, String> {
        given.texts(flag).map(Patterns::checked).transpose()
    }

    fn to_json(&self) -> Json {
        self.0.to_json()
    }
}

impl OptionValue for SystemTags {
    const GO_TYPE: &'static str = "metrics.SystemTagSet";

    fn from_json(value: &Value, field: &str) -> Result<Option<SystemTags>, OptionError> {
        let names = Vec::<String>::from_json(value, field)?.unwrap_or_default();
        Ok(Some(SystemTags::from_names(
            names.iter().map(String::as_str),
        )))
    }

    fn from_env(text: &str) -> Result<Option<SystemTags>, String> {
        Ok(Some(SystemTags::from_names(text.split(',').map(str::trim))))
    }

    fn from_flag(given: &Parsed, flag: &str) -> Result<Option<SystemTags>, String> {
        let names = given.texts(flag);
        Ok(names.map(|names| SystemTags::from_names(names.iter().map(String::as_str))))
    }

    fn to_json(&self) -> Json {
        if self.iter().next().is_none() {
            return Json::Null;
        }
        Json::List(
            self.iter()
                .map(|tag| Json::text(SystemTag::name(tag)))
                .collect(),
        )
    }
}

/// Segments and their sequences are written as text.
macro_rules! text_option {
    ($type:ty, $go_type:literal) => {
        impl OptionValue for $type {
            const GO_TYPE: &'static str = $go_type;

            fn from_json(value: &Value, field: &str) -> Result<Option<Self>, OptionError> {
                match value {
                    Value::String(text) => Self::from_env(text).map_err(OptionError::Text),
                    other => Err(OptionError::of_type(other, field, $go_type)),
                }
            }

            fn from_env(text: &str) -> Result<Option<Self>, String> {
                text.parse()
                    .map(Some)
                    .map_err(|error| segment_error(text, &error))
            }

            fn to_json(&self) -> Json {
                Json::text(self.to_string())
            }
        }
    };
}

text_option!(Segment, "*lib.ExecutionSegment");
text_option!(SegmentSequence, "*lib.ExecutionSegmentSequence");

fn segment_error(text: &str, error: &loadline_model::segment::SegmentError) -> String {
    use loadline_model::segment::SegmentError;
    match error {
        SegmentError::TooFewPoints(_) => {
            "at least 2 points are needed for an execution segment sequence, 1 given".to_owned()
        }
        SegmentError::NotANumber(_) => {
            format!("'{text}' is not a valid percentage, decimal, fraction or interval value")
        }
        other => other.to_string(),
    }
}

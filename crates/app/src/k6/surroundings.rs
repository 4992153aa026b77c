//! Settings from flags and variables beside options: how a script is read, and what surrounds its run.
//!
//! Flags win over variables. Must not know the script. Invariant: unset settings have the defaults of k6's
//! reference.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_go::quoted;
use loadline_model::Bytes;
use loadline_model::script_settings::Feature;

use super::consolidate::Overrides;
use super::dashboard;
use super::invocation::{Compatibility, ScriptType};
use super::log::{LogFormat, LogOutput, LogSettings};
use super::notice::{K6Error, Level, Notice};
use super::options::env_error;
use super::options::value::OptionValue;
use super::run_settings::{PageSettings, RestSettings, SummaryMode};
use crate::Env;
use crate::cli::script::ScriptCommand;
use crate::cli::values;
use crate::dialect::pflag::Parsed;
use crate::http::AccessSettings;
use crate::observers::{self, WantedObservers};
use crate::wanted_agents::{AGENTS_MAX, WantedAgents};

/// Settings of the run on the command line that are not options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) summary_mode: SummaryMode,
    pub(super) summary_export: Option<String>,
    pub(super) new_machine_readable: bool,
    pub(super) summary_by: Option<String>,
    /// As written, with the dashboard; empty: those of the file.
    pub(super) outputs: Vec<String>,
    pub(super) strict_outputs: bool,
    pub(super) audits: bool,
    pub(super) rest: Option<RestSettings>,
    pub(super) access: AccessSettings,
    /// Those of loadline's own flags.
    pub(super) pages: PageSettings,
    pub(super) journal: Option<String>,
    pub(super) observe: WantedObservers,
    pub(super) agents: WantedAgents,
    pub(super) linger: bool,
    pub(super) quiet: bool,
    pub(super) shows_secrets: bool,
    pub(super) no_thresholds: bool,
    pub(super) fail_on_drop: bool,
    pub(super) series_max: Option<u32>,
    pub(super) vu_memory_max: Option<Bytes>,
    /// `--max-body`.
    pub(super) body_max: Option<u64>,
    pub(super) features: NamedFeatures,
    pub(super) notices: Vec<Notice>,
}

pub(super) fn operand(command: ScriptCommand, given: &Parsed) -> Result<String, K6Error> {
    let received = given.operands.len();
    let (most, default) = match command {
        ScriptCommand::Run
        | ScriptCommand::Inspect
        | ScriptCommand::Archive
        | ScriptCommand::Deps => (1, None),
        ScriptCommand::New => (1, Some("script.js")),
        // As in k6, the words after it are ignored.
        ScriptCommand::Version => (usize::MAX, Some("")),
        _ => (0, Some("")),
    };
    match (given.operands.first(), default) {
        (Some(script), _) if received <= most => Ok(script.clone()),
        (None, Some(default)) => Ok(default.to_owned()),
        _ => {
            let wanted = match default {
                None => format!("accepts {most} arg(s), received {received}"),
                Some(_) => format!("accepts at most {most} arg(s), received {received}"),
            };
            Err(K6Error::other(match command {
                ScriptCommand::Run | ScriptCommand::Deps => format!(
                    "{wanted}: arg should either be \"-\", if reading script from stdin, or a \
                     path to a script file"
                ),
                _ => wanted,
            }))
        }
    }
}

type Variables = BTreeMap<String, String>;

/// The variables of a script, and settings derived from them.
pub(super) struct ScriptEnv {
    /// All of `__ENV`.
    pub(super) all: Variables,
    /// The variables of the process, overridden by k6's own that flags set: if a script sees the process's
    /// variables, k6 keeps both in one map, and reads the rest of its settings from it.
    pub(super) over_process: Env,
}

pub(super) fn script_env(
    command: ScriptCommand,
    given: &Parsed,
    env: &Env,
) -> Result<ScriptEnv, K6Error> {
    let mut flags = Variables::new();
    for text in given.array("env").unwrap_or_default() {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty()
            || name.starts_with(|c: char| c.is_ascii_digit())
            || !name.chars().all(plain)
        {
            let message = format!("invalid environment variable name '{name}'");
            return Err(K6Error::other(message));
        }
        flags.insert(name.to_owned(), value.to_owned());
    }
    let included = switch_or_env(
        given,
        env,
        "include-system-env-vars",
        "K6_INCLUDE_SYSTEM_ENV_VARS",
    )?;
    let mut over_process = env.all().clone();
    let mut all = Variables::new();
    if included.unwrap_or(command == ScriptCommand::Run) {
        all.clone_from(&over_process);
        let own = flags.iter().filter(|(name, _)| name.starts_with("K6_"));
        over_process.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    }
    all.extend(flags);
    Ok(ScriptEnv {
        all,
        over_process: Env::from(over_process),
    })
}

/// A switch, from its flag, otherwise from its variable.
fn switch_or_env(
    given: &Parsed,
    env: &Env,
    flag: &str,
    variable: &str,
) -> Result<Option<bool>, K6Error> {
    if let Some(value) = given.switch(flag) {
        return Ok(Some(value));
    }
    let Some(text) = said(env, variable) else {
        return Ok(None);
    };
    loadline_go::parse_bool(text).map(Some).map_err(|why| {
        K6Error::other(format!(
            "env var '{variable}' is not a valid boolean value: {why}"
        ))
    })
}

/// Whether a switch is on; off by default.
fn is_on(given: &Parsed, env: &Env, flag: &str, variable: &str) -> Result<bool, K6Error> {
    switch_or_env(given, env, flag, variable).map(|value| value.unwrap_or(false))
}

fn text_or_env<'a>(given: &'a Parsed, env: &'a Env, flag: &str, variable: &str) -> Option<&'a str> {
    given.text(flag).or_else(|| said(env, variable))
}

/// The value of a variable; one of k6's counts even if it is empty.
fn said<'a>(env: &'a Env, variable: &str) -> Option<&'a str> {
    match variable.starts_with("K6_") {
        true => env.set(variable),
        false => env.get(variable),
    }
}

pub(super) fn script_type(given: &Parsed, env: &Env) -> Result<Option<ScriptType>, K6Error> {
    match text_or_env(given, env, "type", "K6_TYPE") {
        None | Some("") => Ok(None),
        Some("js") => Ok(Some(ScriptType::Js)),
        Some("archive") => Ok(Some(ScriptType::Archive)),
        Some(other) => {
            let script = given.operands.first().map_or("", String::as_str);
            Err(K6Error::other(format!(
                "could not initialize '{script}': unknown or unspecified test type '{other}'"
            )))
        }
    }
}

/// A mode of earlier versions of k6, in which it stripped types from every file.
const ENHANCED: &str = "experimental_enhanced";

pub(super) fn compatibility(given: &Parsed, env: &Env) -> Result<Compatibility, K6Error> {
    match text_or_env(given, env, "compatibility-mode", "K6_COMPATIBILITY_MODE") {
        None | Some("" | "extended") => Ok(Compatibility::Extended),
        Some("base" | ENHANCED) => Ok(Compatibility::Base),
        Some(other) => Err(K6Error::other(format!(
            "invalid compatibility mode {}. Use: \"extended\", \"base\", \"experimental_enhanced\"",
            quoted(other)
        ))),
    }
}

/// The JSON options file: as named, otherwise in the user's configuration folder.
pub(super) fn config_file(given: &Parsed, env: &Env) -> Option<(String, bool)> {
    if let Some(path) = text_or_env(given, env, "config", "K6_CONFIG") {
        return Some((path.to_owned(), true));
    }
    let folder = match env.get("XDG_CONFIG_HOME") {
        Some(folder) => folder.to_owned(),
        None => format!("{}/.config", env.get("HOME")?),
    };
    Some((format!("{folder}/k6/config.json"), false))
}

pub(super) fn log(given: &Parsed, env: &Env) -> Result<LogSettings, K6Error> {
    let output = text_or_env(given, env, "log-output", "K6_LOG_OUTPUT").unwrap_or("stderr");
    let format = text_or_env(given, env, "log-format", "K6_LOG_FORMAT").unwrap_or_default();
    // As in k6, any value of the variables is accepted, of the second even none.
    let from_env = env.get("K6_NO_COLOR").is_some() || env.set("NO_COLOR").is_some();
    Ok(LogSettings {
        output: LogOutput::parse(output).map_err(K6Error::other)?,
        format: LogFormat::of(format),
        verbose: given.switch("verbose").unwrap_or(false),
        no_color: given.switch("no-color").unwrap_or(from_env),
    })
}

/// The sources of secrets: the flags, otherwise the variable.
pub(super) fn secret_sources(given: &Parsed, env: &Env) -> Vec<String> {
    let flags: Vec<String> = given.all("secret-source").map(str::to_owned).collect();
    match env.set("K6_SECRET_SOURCE") {
        Some(source) if flags.is_empty() => vec![source.to_owned()],
        _ => flags,
    }
}

pub(super) fn overrides(given: &Parsed) -> Result<Overrides, K6Error> {
    let read = |text: &str| {
        let (path, value) = text.split_once('=')?;
        let (name, key) = path.split_once('.')?;
        (!name.is_empty() && !key.is_empty())
            .then(|| (name.to_owned(), key.to_owned(), value.to_owned()))
    };
    let scenario = given.all("scenario").map(|text| {
        read(text).ok_or_else(|| {
            K6Error::other(format!(
                "--scenario {text}: write it as NAME.KEY=VALUE, for example login.rate=200"
            ))
        })
    });
    Ok(Overrides {
        scenario: scenario.collect::<Result<_, _>>()?,
        once: given.switch("once").unwrap_or(false),
    })
}

/// `over_process` has the variables that k6 reads after the script's, `env` those that it reads before.
pub(super) fn settings(given: &Parsed, env: &Env, over_process: &Env) -> Result<Settings, K6Error> {
    let switch = |flag: &str| given.switch(flag).unwrap_or(false);
    let or_env = |flag: &str, variable: &str| is_on(given, env, flag, variable);
    let own =
        |flag: &str, variable: &str| given.switch(flag).unwrap_or_else(|| env.is_on(variable));
    traces(given, env)?;
    // The setting is parsed and ignored: usage is never reported.
    let (flag, variable) = ("no-usage-report", "K6_NO_USAGE_REPORT");
    process_switch(given, over_process, flag, variable, "NoUsageReport")?;
    let mut notices = Vec::new();
    let rest = rest(given, env);
    if rest.is_none() && switch("profiling-enabled") {
        notices.push(Notice::warning(
            "Profiling is enabled but no REST API server is running — profiling endpoints won't be \
             reachable until you enable the REST API server via --address (or K6_ADDRESS)",
        ));
    }
    if text_or_env(given, env, "compatibility-mode", "K6_COMPATIBILITY_MODE") == Some(ENHANCED) {
        notices.push(Notice::warning(format!(
            "CompatibilityMode {} is deprecated. Types are stripped by default for `.ts` files. Please move to using \
             \"base\" instead as {} will be removed in the future",
            quoted(ENHANCED),
            quoted(ENHANCED)
        )));
    }
    Ok(Settings {
        summary_mode: summary_mode(given, env)?,
        summary_export: text_or_env(given, env, "summary-export", "K6_SUMMARY_EXPORT")
            .filter(|path| !path.is_empty())
            .map(str::to_owned),
        new_machine_readable: or_env(
            "new-machine-readable-summary",
            "K6_NEW_MACHINE_READABLE_SUMMARY",
        )?,
        summary_by: given.text("summary-by").map(str::to_owned),
        outputs: outputs(given, over_process),
        strict_outputs: own("strict-outputs", "LOADLINE_STRICT_OUTPUTS"),
        audits: own("audit", "LOADLINE_AUDIT"),
        rest,
        access: access(given, env),
        pages: dashboard::own_pages(given),
        journal: text_or_env(given, env, "journal", "LOADLINE_JOURNAL").map(str::to_owned),
        observe: observe(given, env)?,
        agents: agents(given)?,
        linger: process_switch(given, over_process, "linger", "K6_LINGER", "Linger")?,
        quiet: switch("quiet"),
        shows_secrets: switch("show-secrets"),
        no_thresholds: or_env("no-thresholds", "K6_NO_THRESHOLDS")?,
        fail_on_drop: switch("fail-on-drop"),
        series_max: limit(given, "max-series")?.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        vu_memory_max: limit(given, "vu-memory")?.map(Bytes),
        body_max: limit(given, "max-body")?,
        features: NamedFeatures::given(given, over_process),
        notices,
    })
}

/// The access settings of the REST API and the live page.
fn access(given: &Parsed, env: &Env) -> AccessSettings {
    let hosts: Vec<String> = given.all("control-host").map(str::to_owned).collect();
    AccessSettings::of(given.text("control-token"), &hosts, env)
}

/// The observers of the run.
fn observe(given: &Parsed, env: &Env) -> Result<WantedObservers, K6Error> {
    let time = |flag: &str, variable: &str| match given.text(flag) {
        None => observers::around(variable, env).map_err(K6Error::other),
        Some(text) => own_span(flag, text),
    };
    Ok(WantedObservers {
        specs: given.all("observe").map(str::to_owned).collect(),
        baseline: time("observe-baseline", observers::BASELINE)?,
        tail: time("observe-tail", observers::TAIL)?,
    })
}

/// A duration given by a flag that k6 lacks, as loadline's other commands read it.
fn own_span(flag: &str, text: &str) -> Result<Duration, K6Error> {
    values::duration(text).map_err(|why| K6Error::other(format!("--{flag} {text}: {why}")))
}

/// The agents that make the load.
fn agents(given: &Parsed) -> Result<WantedAgents, K6Error> {
    let wanted = WantedAgents {
        count: limit(given, "agents")?.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
        listen: match given.text("listen") {
            None => None,
            Some(text) => {
                let refused = |why| K6Error::other(format!("--listen {text}: {why}"));
                Some(values::socket_address(text).map_err(refused)?)
            }
        },
        identity: given.text("identity").map(str::to_owned),
        await_agent: match given.text("await-agent") {
            None => None,
            Some(text) => Some(own_span("await-agent", text)?),
        },
    };
    let needs = |option: &str, other: &str| K6Error::other(format!("--{option} needs --{other}"));
    match &wanted {
        WantedAgents {
            count: Some(count), ..
        } if *count > AGENTS_MAX => Err(K6Error::other(format!(
            "--agents {count}: a test has {AGENTS_MAX} agents at most"
        ))),
        WantedAgents {
            count: None,
            listen: Some(_),
            ..
        } => Err(needs("listen", "agents")),
        WantedAgents {
            listen: None,
            identity: Some(_),
            ..
        } => Err(needs("identity", "listen")),
        WantedAgents {
            count: None,
            await_agent: Some(_),
            ..
        } => Err(needs("await-agent", "agents")),
        _ => Ok(wanted),
    }
}

/// A limit of at least one.
fn limit(given: &Parsed, flag: &str) -> Result<Option<u64>, K6Error> {
    let Some(text) = given.text(flag) else {
        return Ok(None);
    };
    match text.parse() {
        Ok(0) | Err(_) => Err(K6Error::other(format!(
            "--{flag} {text}: write a whole number above zero"
        ))),
        Ok(limit) => Ok(Some(limit)),
    }
}

fn traces(given: &Parsed, env: &Env) -> Result<(), K6Error> {
    match text_or_env(given, env, "traces-output", "K6_TRACES_OUTPUT") {
        None | Some("none") => Ok(()),
        Some(other) => Err(K6Error::other(format!(
            "invalid traces output {}",
            quoted(other)
        ))),
    }
}

/// A switch that k6 parses like an option, with the name `field` in messages.
fn process_switch(
    given: &Parsed,
    env: &Env,
    flag: &str,
    variable: &str,
    field: &str,
) -> Result<bool, K6Error> {
    if let Some(value) = given.switch(flag) {
        return Ok(value);
    }
    let text = env.get(variable).unwrap_or_default();
    bool::from_env(text)
        .map(|value| value.unwrap_or(false))
        .map_err(|why| {
            let go_type = <bool as OptionValue>::GO_TYPE;
            K6Error::config(env_error(variable, field, text, go_type, &why))
        })
}

fn mode_named(name: &str) -> Result<SummaryMode, K6Error> {
    if name.is_empty() {
        return Ok(SummaryMode::default());
    }
    SummaryMode::of(name).ok_or_else(|| K6Error::other("invalid summary mode"))
}

fn summary_mode(given: &Parsed, env: &Env) -> Result<SummaryMode, K6Error> {
    if given.switch("no-summary").unwrap_or(false) {
        return Ok(SummaryMode::Disabled);
    }
    if let Some(name) = given.text("summary-mode") {
        return mode_named(name);
    }
    match (env.get("K6_SUMMARY_MODE"), env.get("K6_NO_SUMMARY")) {
        (Some(name), _) => mode_named(name),
        (None, Some(_)) if is_on(given, env, "no-summary", "K6_NO_SUMMARY")? => {
            Ok(SummaryMode::Disabled)
        }
        (None, _) => Ok(SummaryMode::default()),
    }
}

/// The named outputs, as written.
pub(super) fn outputs(given: &Parsed, env: &Env) -> Vec<String> {
    let named = given.array("out").unwrap_or_else(|| {
        let named = env.get("K6_OUT").map(|text| text.split(','));
        named.into_iter().flatten().collect()
    });
    named.into_iter().map(str::to_owned).collect()
}

fn rest(given: &Parsed, env: &Env) -> Option<RestSettings> {
    let address = text_or_env(given, env, "address", "K6_ADDRESS")?;
    (!address.is_empty()).then(|| RestSettings {
        address: address.to_owned(),
    })
}

/// The feature flags that were named last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedFeatures {
    /// Their origin, in k6's words.
    pub(super) source: &'static str,
    pub(super) names: Vec<String>,
}

impl NamedFeatures {
    /// Those of the command line, otherwise of the variable.
    fn given(given: &Parsed, env: &Env) -> NamedFeatures {
        let split = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
        let (source, names) = match given.array("features") {
            Some(texts) => ("cli", texts.into_iter().flat_map(split).collect()),
            None => ("env", env.get("K6_FEATURES").map(split).unwrap_or_default()),
        };
        NamedFeatures { source, names }
    }

    fn trimmed(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().map(|name| name.trim());
        names.filter(|name| !name.is_empty())
    }

    /// The known flags among them.
    pub(super) fn known(&self) -> Vec<Feature> {
        let mut features: Vec<Feature> = self.trimmed().filter_map(feature_named).collect();
        features.sort();
        features.dedup();
        features
    }

    /// Messages for the user about each of them.
    pub(super) fn notices(&self) -> impl Iterator<Item = Notice> {
        self.trimmed().map(|name| match feature_named(name) {
            Some(_) => Notice::new(Level::Info, "Experimental feature enabled")
                .with("feature", name)
                .with("lifecycle", "experimental"),
            None => Notice::new(Level::Error, "Unknown feature flag")
                .with("feature", name)
                .with("outcome", "unknown")
                .with("source", self.source),
        })
    }
}

fn feature_named(name: &str) -> Option<Feature> {
    Feature::ALL.into_iter().find(|known| known.name() == name)
}

//! A command line around a script, with the environment variables that bear on it.
//!
//! Must not know how a script is loaded. Invariant: after [`K6Invocation::parse`] no word and no
//! variable is left to be refused but those that depend on the script.

use std::collections::BTreeMap;

use loadline_model::script_settings::Feature;
use loadline_model::{Bytes, ExitCode};
use serde_json::Value;

use super::consolidate::{self, Overrides, Tiers};
use super::flags;
use super::json::Json;
use super::log::{LogFormat, LogOutput, LogSettings};
use super::notice::{K6Error, Level, Notice};
use super::options::{K6Options, KeyError};
use super::plan::{self, Surroundings};
use super::requirements::requirements;
use super::run_settings::{OutputSpec, RestSettings, ScriptRun, SummaryMode, SummarySettings};
use crate::cli::script::ScriptCommand;
use crate::dialect::go_text::quoted;
use crate::dialect::pflag::{self, Flag, Parsed};
use crate::{Env, FileError, Files};

/// The name that loadline was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Its own.
    Loadline,
    /// `k6`: through a link of that name, or as `loadline k6`.
    K6,
}

impl Identity {
    /// `User-Agent` where the options set none.
    #[must_use]
    pub fn user_agent(self) -> String {
        match self {
            Identity::Loadline => format!("loadline/{}", env!("CARGO_PKG_VERSION")),
            Identity::K6 => "Grafana k6/2.2.0".to_owned(),
        }
    }

    /// The address of the REST API where nobody names one.
    fn rest_default(self) -> Option<&'static str> {
        match self {
            Identity::Loadline => None,
            Identity::K6 => Some("localhost:6565"),
        }
    }

    /// The words that the command is called by.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Identity::Loadline => "loadline",
            Identity::K6 => "k6",
        }
    }
}

/// What kind of file the script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptType {
    /// JavaScript or TypeScript.
    Js,
    /// An archive.
    Archive,
}

/// Which globals a script has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compatibility {
    /// Those of the language, and `global`.
    #[default]
    Extended,
    /// Those of the language.
    Base,
}

/// What a command line comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A command to carry out.
    Invocation(Box<K6Invocation>),
    /// The help that was asked for.
    Help(String),
}

/// A command line around a script.
#[derive(Clone, Debug, PartialEq)]
pub struct K6Invocation {
    /// The command.
    pub command: ScriptCommand,
    /// The name that loadline was called by.
    pub identity: Identity,
    /// The script as the user named it, `-` for standard input.
    pub script: String,
    /// What kind of file it is; `None`: what it looks like.
    pub script_type: Option<ScriptType>,
    /// `__ENV` of a script.
    pub env: BTreeMap<String, String>,
    /// The part of `env` that flags set.
    env_flags: BTreeMap<String, String>,
    /// Which globals it has.
    pub compatibility: Compatibility,
    /// Whether libraries of jslib.k6.io are fetched.
    pub remote_libs: bool,
    /// The JSON file of options, and whether the user named it.
    pub config_file: Option<(String, bool)>,
    /// The log.
    pub log: LogSettings,
    /// File of `archive`; `-` is standard output.
    pub archive_out: String,
    /// Whether an archive carries no variables.
    pub exclude_env_vars: bool,
    /// Whether `inspect` shows all tiers together.
    pub execution_requirements: bool,
    tiers: Tiers,
    overrides: Overrides,
    settings: Settings,
}

/// What the command line says of the run, and no option does.
#[derive(Clone, Debug, PartialEq)]
struct Settings {
    summary_mode: SummaryMode,
    summary_export: Option<String>,
    new_machine_readable: bool,
    summary_by: Option<String>,
    outputs: Vec<OutputSpec>,
    rest: Option<RestSettings>,
    linger: bool,
    quiet: bool,
    no_thresholds: bool,
    fail_on_drop: bool,
    series_max: Option<u32>,
    vu_memory_max: Option<Bytes>,
    features: Vec<Feature>,
    notices: Vec<Notice>,
    secret_sources: Vec<String>,
}

/// What the loaded script says.
#[derive(Clone, Copy, Debug)]
pub struct ScriptFacts<'a> {
    /// Its URL, `file:///…`.
    pub url: &'a str,
    /// Its exported `options`, after JSON; null when it exports none.
    pub options: &'a Value,
    /// Names of the functions that it exports; `None`: they are not to be checked.
    pub exports: Option<&'a [String]>,
    /// The text of the JSON file of options; `None`: there is none.
    pub config: Option<&'a str>,
    /// Seed of everything random.
    pub seed: u64,
}

impl K6Invocation {
    /// Reads the words behind the command's name, and the variables that bear on it.
    ///
    /// # Errors
    /// k6's message, with its exit code: 255 for words, 104 for variables.
    pub fn parse(
        identity: Identity,
        command: ScriptCommand,
        words: &[String],
        env: &Env,
    ) -> Result<Reading, K6Error> {
        let tables: Vec<&[Flag]> = command
            .flags()
            .into_iter()
            .map(|(_, flags)| flags)
            .collect();
        let given = pflag::parse(&tables, words).map_err(K6Error::other)?;
        if given.help {
            return Ok(Reading::Help(command.help(identity.program())));
        }
        let script = operand(command, &given)?;
        let tiers = Tiers {
            flags: flags::options(&given).map_err(K6Error::other)?,
            env: K6Options::from_env(env).map_err(K6Error::config)?,
            ..Tiers::default()
        };
        if let Some(stats) = &tiers.env.summary_trend_stats {
            consolidate::check_trend_stats(stats).map_err(K6Error::other)?;
        }
        let (all_env, env_flags) = script_env(command, &given, env)?;
        Ok(Reading::Invocation(Box::new(K6Invocation {
            command,
            identity,
            script,
            script_type: script_type(&given, env)?,
            env: all_env,
            env_flags,
            compatibility: compatibility(&given, env)?,
            remote_libs: given.switch("remote-libs").unwrap_or(false),
            config_file: config_file(&given, env),
            log: log(&given, env)?,
            archive_out: given
                .text("archive-out")
                .unwrap_or("archive.tar")
                .to_owned(),
            exclude_env_vars: given.switch("exclude-env-vars").unwrap_or(false),
            execution_requirements: given.switch("execution-requirements").unwrap_or(false),
            tiers,
            overrides: overrides(&given)?,
            settings: settings(identity, &given, env)?,
        })))
    }

    /// `__ENV` over the variables of an archive: flags come before them, they before the rest.
    #[must_use]
    pub fn env_over(&self, archived: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = self.env.clone();
        all.extend(archived.clone());
        all.extend(self.env_flags.clone());
        all
    }

    /// The text of the JSON file of options; `None` when there is none and none was named.
    ///
    /// # Errors
    /// The file was named and cannot be read: exit code 104.
    pub fn read_config(&self, files: &Files) -> Result<Option<String>, K6Error> {
        let Some((path, named)) = &self.config_file else {
            return Ok(None);
        };
        match files.read_text(path) {
            Ok(text) => Ok(Some(text)),
            Err(FileError { error, .. })
                if !named && error.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(FileError { error, .. }) => {
                let why = match error.kind() {
                    std::io::ErrorKind::NotFound => {
                        format!("stat {path}: no such file or directory")
                    }
                    _ => format!(
                        "couldn't load the configuration from {}: {error}",
                        quoted(path)
                    ),
                };
                Err(config_error(&why))
            }
        }
    }

    /// All tiers together, as a plan and what surrounds its run.
    ///
    /// # Errors
    /// k6's message on what cannot be run; exit code 104.
    pub fn consolidate(&self, script: &ScriptFacts<'_>) -> Result<ScriptRun, K6Error> {
        let (tiers, config, mut notices) = self.tiers_with(script)?;
        let features = self.features(&config);
        let merge = features.contains(&Feature::MergeRunTags);
        let merged = consolidate::consolidate(&tiers, merge).map_err(K6Error::config)?;
        let mut options = merged.options;
        notices.extend(merged.notices);
        notices.extend(self.settings.notices.clone());
        consolidate::apply(&self.overrides, &mut options).map_err(K6Error::config)?;
        let stats = options.summary_trend_stats.clone().unwrap_or_default();
        consolidate::check_trend_stats(&stats).map_err(K6Error::config)?;
        consolidate::validate(&options, script.exports).map_err(K6Error::config)?;
        let settings = &self.settings;
        let around = Surroundings {
            script: self.script.clone(),
            user_agent: self.identity.user_agent(),
            no_thresholds: settings.no_thresholds,
            fail_on_drop: settings.fail_on_drop,
            trace_requests: self.overrides.once,
            by_tag: settings.summary_by.clone(),
            by_scenario: settings.summary_mode == SummaryMode::Full,
            series_max: settings.series_max,
            vu_memory_max: settings.vu_memory_max,
            features,
            seed: script.seed,
        };
        let plan = plan::plan(&options, &around).map_err(K6Error::config)?;
        Ok(ScriptRun {
            plan,
            notices,
            summary: SummarySettings {
                mode: settings.summary_mode,
                trend_stats: stats,
                time_unit: options
                    .summary_time_unit
                    .clone()
                    .filter(|unit| !unit.is_empty()),
                export: settings.summary_export.clone(),
                new_machine_readable: settings.new_machine_readable,
                by: settings.summary_by.clone(),
            },
            outputs: self.outputs(&config)?,
            log: self.log.clone(),
            console_output: options.console_output.clone(),
            rest: settings.rest.clone(),
            paused: options.paused.unwrap_or(false),
            linger: settings.linger || config.linger.unwrap_or(false),
            quiet: settings.quiet,
            no_color: self.log.no_color,
            secret_sources: settings.secret_sources.clone(),
            options,
        })
    }

    /// What `inspect` prints, without a line end at the end, and what the user is to be told.
    ///
    /// # Errors
    /// As [`K6Invocation::consolidate`].
    pub fn inspect(&self, script: &ScriptFacts<'_>) -> Result<(String, Vec<Notice>), K6Error> {
        let (tiers, _, notices) = self.tiers_with(script)?;
        if !self.execution_requirements {
            return Ok((Json::Object(tiers.script.inspected()).pretty(), notices));
        }
        let run = self.consolidate(&ScriptFacts {
            exports: None,
            ..*script
        })?;
        let needs = requirements(&run.options);
        let mut rows = run.options.inspected();
        rows.push((
            "totalDuration".to_owned(),
            Json::text(needs.total.to_string()),
        ));
        let max_vus = i64::try_from(needs.max_vus).unwrap_or(i64::MAX);
        rows.push(("maxVUs".to_owned(), Json::Int(max_vus)));
        Ok((Json::Object(rows).pretty(), run.notices))
    }

    fn tiers_with(
        &self,
        script: &ScriptFacts<'_>,
    ) -> Result<(Tiers, ConfigFile, Vec<Notice>), K6Error> {
        let config = match script.config {
            Some(text) => {
                let path = self.config_file.as_ref().map_or("", |(path, _)| path);
                ConfigFile::parse(path, text)?
            }
            None => ConfigFile::default(),
        };
        let read = K6Options::from_json(script.options).map_err(|error| {
            K6Error::config(format!(
                "could not initialize '{}': could not load JS test '{}': {}",
                self.script,
                script.url,
                explained(&error)
            ))
        })?;
        let mut notices = Vec::new();
        if let Some(key) = read.unknown.first() {
            let message = "There were unknown fields in the options exported in the script";
            let why = format!("json: unknown field {}", quoted(key));
            notices.push(Notice::warning(message).with("error", why));
        }
        if read.options.features.is_some() {
            let message = "Feature flags in script options are not supported; use --features, \
                           K6_FEATURES, or the JSON config";
            notices.push(Notice::warning(message).with("source", "options"));
        }
        let tiers = Tiers {
            script: read.options,
            config: config.options.clone(),
            ..self.tiers.clone()
        };
        Ok((tiers, config, notices))
    }

    fn features(&self, config: &ConfigFile) -> Vec<Feature> {
        let mut features = self.settings.features.clone();
        let named = config.options.features.iter().flatten();
        let known = |name: &String| Feature::ALL.into_iter().find(|f| f.name() == name);
        features.extend(named.filter_map(known));
        features.sort();
        features.dedup();
        features
    }

    fn outputs(&self, config: &ConfigFile) -> Result<Vec<OutputSpec>, K6Error> {
        if !self.settings.outputs.is_empty() {
            return Ok(self.settings.outputs.clone());
        }
        let named = config.outputs.iter().flatten();
        named
            .map(|text| OutputSpec::parse(text).map_err(K6Error::other))
            .collect()
    }
}

/// The message on an option of a script that cannot be read.
fn explained(error: &KeyError) -> String {
    let KeyError { key, error } = error;
    match error {
        super::options::value::OptionError::Type { .. } => {
            let place = quoted(&format!("\"{key}\":"));
            format!("parsing options from script got error while parsing {place}: {error}")
        }
        super::options::value::OptionError::Text(text) => text.clone(),
    }
}

fn config_error(why: &str) -> K6Error {
    K6Error::config(format!(
        "failed to load the configuration file from the local file system: {why}"
    ))
}

/// What a JSON file of options says.
#[derive(Clone, Debug, Default, PartialEq)]
struct ConfigFile {
    options: K6Options,
    outputs: Option<Vec<String>>,
    linger: Option<bool>,
}

impl ConfigFile {
    fn parse(path: &str, text: &str) -> Result<ConfigFile, K6Error> {
        use super::options::value::nullable;
        let bad = |why: String| {
            let path = quoted(path);
            config_error(&format!(
                "couldn't parse the configuration from {path}: {why}"
            ))
        };
        let value: Value = serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => bad("unexpected end of JSON input".to_owned()),
            false => bad(error.to_string()),
        })?;
        let read = K6Options::from_json(&value).map_err(|error| bad(error.error.to_string()))?;
        let mut file = ConfigFile {
            options: read.options,
            ..ConfigFile::default()
        };
        for (key, value) in value.as_object().into_iter().flatten() {
            let read = match key.to_ascii_lowercase().as_str() {
                "out" => nullable(value, "Config.out").map(|out| file.outputs = out),
                "linger" => nullable(value, "Config.linger").map(|linger| file.linger = linger),
                _ => Ok(()),
            };
            read.map_err(|error| bad(error.to_string()))?;
        }
        Ok(file)
    }
}

fn operand(command: ScriptCommand, given: &Parsed) -> Result<String, K6Error> {
    let received = given.operands.len();
    let (most, default) = match command {
        ScriptCommand::Run | ScriptCommand::Inspect | ScriptCommand::Archive => (1, None),
        ScriptCommand::New => (1, Some("script.js")),
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
                ScriptCommand::Run => format!(
                    "{wanted}: arg should either be \"-\", if reading script from stdin, or a \
                     path to a script file"
                ),
                _ => wanted,
            }))
        }
    }
}

type Variables = BTreeMap<String, String>;

/// All of `__ENV`, and the part that flags set.
fn script_env(
    command: ScriptCommand,
    given: &Parsed,
    env: &Env,
) -> Result<(Variables, Variables), K6Error> {
    let mut flags = Variables::new();
    for text in given.all("env") {
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
    let mut all = match included.unwrap_or(command == ScriptCommand::Run) {
        true => env.all().clone(),
        false => Variables::new(),
    };
    all.extend(flags.clone());
    Ok((all, flags))
}

/// A switch, by its flag or else its variable.
fn switch_or_env(
    given: &Parsed,
    env: &Env,
    flag: &str,
    variable: &str,
) -> Result<Option<bool>, K6Error> {
    if let Some(value) = given.switch(flag) {
        return Ok(Some(value));
    }
    let Some(text) = env.get(variable) else {
        return Ok(None);
    };
    pflag::truth(text).map(Some).ok_or_else(|| {
        K6Error::other(format!(
            "env var '{variable}' is not a valid boolean value: strconv.ParseBool: parsing {}: \
             invalid syntax",
            quoted(text)
        ))
    })
}

fn text_or_env<'a>(given: &'a Parsed, env: &'a Env, flag: &str, variable: &str) -> Option<&'a str> {
    given.text(flag).or_else(|| env.get(variable))
}

fn script_type(given: &Parsed, env: &Env) -> Result<Option<ScriptType>, K6Error> {
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

fn compatibility(given: &Parsed, env: &Env) -> Result<Compatibility, K6Error> {
    match text_or_env(given, env, "compatibility-mode", "K6_COMPATIBILITY_MODE") {
        None | Some("extended" | "experimental_enhanced") => Ok(Compatibility::Extended),
        Some("base") => Ok(Compatibility::Base),
        Some(other) => Err(K6Error::other(format!(
            "invalid compatibility mode {}. Use: \"extended\", \"base\", \"experimental_enhanced\"",
            quoted(other)
        ))),
    }
}

/// The JSON file of options: as named, else in the user's folder of configurations.
fn config_file(given: &Parsed, env: &Env) -> Option<(String, bool)> {
    if let Some(path) = text_or_env(given, env, "config", "K6_CONFIG") {
        return Some((path.to_owned(), true));
    }
    let folder = match env.get("XDG_CONFIG_HOME") {
        Some(folder) => folder.to_owned(),
        None => format!("{}/.config", env.get("HOME")?),
    };
    Some((format!("{folder}/k6/config.json"), false))
}

fn log(given: &Parsed, env: &Env) -> Result<LogSettings, K6Error> {
    let output = text_or_env(given, env, "log-output", "K6_LOG_OUTPUT").unwrap_or_default();
    let format = text_or_env(given, env, "log-format", "K6_LOG_FORMAT").unwrap_or_default();
    let no_color = switch_or_env(given, env, "no-color", "K6_NO_COLOR")?.unwrap_or(false);
    Ok(LogSettings {
        output: LogOutput::parse(output).map_err(K6Error::other)?,
        format: LogFormat::of(format),
        verbose: given.switch("verbose").unwrap_or(false),
        no_color: no_color || env.get("NO_COLOR").is_some(),
    })
}

fn overrides(given: &Parsed) -> Result<Overrides, K6Error> {
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

fn settings(identity: Identity, given: &Parsed, env: &Env) -> Result<Settings, K6Error> {
    let switch = |flag: &str| given.switch(flag).unwrap_or(false);
    let or_env = |flag: &str, variable: &str| {
        switch_or_env(given, env, flag, variable).map(|value| value.unwrap_or(false))
    };
    traces(given, env)?;
    let (features, notices) = features(given, env);
    Ok(Settings {
        summary_mode: summary_mode(given, env)?,
        summary_export: text_or_env(given, env, "summary-export", "K6_SUMMARY_EXPORT")
            .map(str::to_owned),
        new_machine_readable: or_env(
            "new-machine-readable-summary",
            "K6_NEW_MACHINE_READABLE_SUMMARY",
        )?,
        summary_by: given.text("summary-by").map(str::to_owned),
        outputs: outputs(given, env)?,
        rest: rest(identity, given, env),
        linger: linger(given, env)?,
        quiet: switch("quiet"),
        no_thresholds: or_env("no-thresholds", "K6_NO_THRESHOLDS")?,
        fail_on_drop: switch("fail-on-drop"),
        series_max: limit(given, "max-series")?.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        vu_memory_max: limit(given, "vu-memory")?.map(Bytes),
        features,
        notices,
        secret_sources: given.all("secret-source").map(str::to_owned).collect(),
    })
}

/// A limit, which is at least one.
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
        None | Some("" | "none") => Ok(()),
        Some(other) => Err(K6Error::other(format!(
            "invalid traces output {}",
            quoted(other)
        ))),
    }
}

fn linger(given: &Parsed, env: &Env) -> Result<bool, K6Error> {
    use super::options::value::OptionValue;
    if let Some(value) = given.switch("linger") {
        return Ok(value);
    }
    let Some(text) = env.get("K6_LINGER") else {
        return Ok(false);
    };
    bool::from_env(text)
        .map(|value| value.unwrap_or(false))
        .map_err(|why| {
            K6Error::config(format!(
                "envconfig.Process: assigning K6_LINGER to Linger: converting '{text}' to type \
                 null.Bool. details: {why}"
            ))
        })
}

fn summary_mode(given: &Parsed, env: &Env) -> Result<SummaryMode, K6Error> {
    if given.switch("no-summary").unwrap_or(false) {
        return Ok(SummaryMode::Disabled);
    }
    if let Some(name) = given.text("summary-mode") {
        return SummaryMode::of(name).ok_or_else(|| K6Error::other("invalid summary mode"));
    }
    // As in k6, a variable with another value says nothing.
    let named = env.get("K6_SUMMARY_MODE").and_then(SummaryMode::of);
    let disabled = match named {
        None => switch_or_env(given, env, "no-summary", "K6_NO_SUMMARY")?.unwrap_or(false),
        Some(_) => false,
    };
    Ok(match disabled {
        true => SummaryMode::Disabled,
        false => named.unwrap_or_default(),
    })
}

fn outputs(given: &Parsed, env: &Env) -> Result<Vec<OutputSpec>, K6Error> {
    let read = |text: &str| OutputSpec::parse(text).map_err(K6Error::other);
    if given.text("out").is_some() {
        return given.all("out").map(read).collect();
    }
    let named = env
        .get("K6_OUT")
        .map_or_else(Vec::new, |text| text.split(',').collect());
    named.into_iter().map(read).collect()
}

fn rest(identity: Identity, given: &Parsed, env: &Env) -> Option<RestSettings> {
    let asked = text_or_env(given, env, "address", "K6_ADDRESS");
    let address = match (asked, identity.rest_default()) {
        (Some(""), _) | (None, None) => return None,
        (Some(address), _) => address,
        (None, Some(default)) => default,
    };
    Some(RestSettings {
        address: address.to_owned(),
        asked: asked.is_some(),
    })
}

fn features(given: &Parsed, env: &Env) -> (Vec<Feature>, Vec<Notice>) {
    let (mut features, mut notices) = (Vec::new(), Vec::new());
    let from_flags = given.all("features").map(|text| ("cli", text));
    let from_env = env.get("K6_FEATURES").map(|text| ("env", text));
    for (source, text) in from_env.into_iter().chain(from_flags) {
        for name in text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            match Feature::ALL.into_iter().find(|known| known.name() == name) {
                Some(feature) => {
                    features.push(feature);
                    notices.push(
                        Notice::new(Level::Info, "Experimental feature enabled")
                            .with("feature", name)
                            .with("lifecycle", "experimental"),
                    );
                }
                None => notices.push(
                    Notice::new(Level::Error, "Unknown feature flag")
                        .with("feature", name)
                        .with("outcome", "unknown")
                        .with("source", source),
                ),
            }
        }
    }
    features.sort();
    features.dedup();
    (features, notices)
}

impl From<FileError> for K6Error {
    fn from(error: FileError) -> K6Error {
        K6Error::new(ExitCode::Other, error.to_string())
    }
}

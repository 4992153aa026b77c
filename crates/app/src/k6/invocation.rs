//! A command line around a script, with the environment variables that affect it.
//!
//! Must not know how a script is loaded. Invariant: after [`K6Invocation::parse`], the only remaining errors of
//! words and variables are those that depend on the script.

mod config_file;

use std::collections::BTreeMap;

use loadline_go::integer::parse_int_literal;
use loadline_go::quoted;
use loadline_metric::MetricRegistry;
use loadline_model::client::ProxyPlan;
use loadline_model::nearest::nearest;
use loadline_model::script_settings::Feature;
use loadline_model::{ExitCode, ThresholdPlan};
use serde_json::Value;

use self::config_file::ConfigFile;
use super::consolidate::{self, Overrides, Tiers};
use super::dashboard;
use super::flags;
use super::json::Json;
use super::log::LogSettings;
use super::notice::{K6Error, Notice};
use super::options::parts::DnsOption;
use super::options::value::OptionError;
use super::options::{K6Options, KeyError};
use super::output_spec::OutputSpec;
use super::plan::{self, Surroundings};
use super::proxy;
use super::requirements::requirements;
use super::run_settings::{ScriptRun, SummaryMode, SummarySettings};
use super::surroundings::{self, NamedFeatures, Settings};
use crate::cli::script::ScriptCommand;
use crate::dialect::go_text;
use crate::dialect::pflag::{self, Flag, Parsed};
use crate::http::TokenChoice;
use crate::{Env, FileError, Files};

/// The name under which loadline was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Its own.
    Loadline,
    /// `k6`: through a link of that name, or as `loadline k6`.
    K6,
}

impl Identity {
    /// `User-Agent` if the options set none.
    #[must_use]
    pub fn user_agent(self) -> String {
        match self {
            Identity::Loadline => format!("loadline/{}", env!("CARGO_PKG_VERSION")),
            Identity::K6 => "Grafana k6/2.2.0".to_owned(),
        }
    }

    /// The words with which the command is called.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Identity::Loadline => "loadline",
            Identity::K6 => "k6",
        }
    }
}

/// The type of the script file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptType {
    /// JavaScript or TypeScript.
    Js,
    /// An archive.
    Archive,
}

/// The globals of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compatibility {
    /// Those of the language, plus `global`.
    #[default]
    Extended,
    /// Only those of the language.
    Base,
}

/// The outcome of parsing a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A command to execute.
    Invocation(Box<K6Invocation>),
    /// The requested help.
    Help(String),
}

/// A command line around a script.
#[derive(Clone, Debug, PartialEq)]
pub struct K6Invocation {
    /// The command.
    pub command: ScriptCommand,
    /// The name under which loadline was called.
    pub identity: Identity,
    /// The words from which it was parsed.
    pub words: Vec<String>,
    /// The script as the user named it, `-` for standard input.
    pub script: String,
    /// The type of the file; `None`: detected.
    pub script_type: Option<ScriptType>,
    /// `__ENV` of a script.
    pub env: BTreeMap<String, String>,
    /// The process's variables, overridden by k6's variables that flags set; outputs are configured from these.
    pub settings_env: Env,
    /// The globals of the script.
    pub compatibility: Compatibility,
    /// Whether libraries of jslib.k6.io are fetched.
    pub remote_libs: bool,
    /// The JSON file of options, and whether the user named it.
    pub config_file: Option<(String, bool)>,
    /// The log.
    pub log: LogSettings,
    /// The sources of secrets, as written.
    pub secret_sources: Vec<String>,
    /// Output file of `archive`; `-` is standard output.
    pub archive_out: String,
    /// Whether an archive omits variables.
    pub exclude_env_vars: bool,
    /// Whether `inspect` shows all tiers merged.
    pub execution_requirements: bool,
    /// Template of `new`; empty: the default.
    pub template: String,
    /// Whether `new` overwrites.
    pub force: bool,
    /// The request of `scale`: virtual users, and their maximum.
    pub scale: (Option<i64>, Option<i64>),
    /// Whether `version` and `deps` respond in JSON.
    pub as_json: bool,
    /// The proxy of its requests; `None`: direct.
    proxy: Option<ProxyPlan>,
    /// Whether HTTP/2 is not offered: k6's users set this through Go.
    http1_only: bool,
    /// What flags and variables say of options; as in k6, a mistake in it is told after the script has loaded.
    tiers: Result<Tiers, K6Error>,
    overrides: Overrides,
    settings: Settings,
}

/// The data of the loaded script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptFacts<'a> {
    /// Its URL, `file:///…`.
    pub url: &'a str,
    /// Its exported `options`, as JSON; null if it exports none.
    pub options: &'a Value,
    /// Names of its exported functions; `None`: they are not checked.
    pub exports: Option<&'a [String]>,
    /// The metrics that exist; `None`: thresholds are not checked against them.
    pub metrics: Option<&'a MetricRegistry>,
    /// The text of the JSON options file; `None`: there is none.
    pub config: Option<&'a str>,
    /// Seed of everything random.
    pub seed: u64,
}

/// The tiers that need no script.
fn given_tiers(given: &Parsed, over_process: &Env) -> Result<Tiers, K6Error> {
    let tiers = Tiers {
        flags: flags::options(given).map_err(K6Error::other)?,
        env: K6Options::from_env(over_process).map_err(K6Error::config)?,
        ..Tiers::default()
    };
    if let Some(stats) = &tiers.env.summary_trend_stats {
        consolidate::check_trend_stats(stats).map_err(K6Error::other)?;
    }
    Ok(tiers)
}

/// An error of the command line, with the flag that was probably meant.
fn misread(message: &str, tables: &[&[Flag]]) -> K6Error {
    let mut error = K6Error::other(message);
    let names = tables.iter().copied().flatten().map(|flag| flag.long);
    let unknown = message.strip_prefix("unknown flag: --");
    if let Some(near) = unknown.and_then(|name| nearest(name, names)) {
        error.notice = error.notice.with("hint", format!("did you mean --{near}?"));
    }
    error
}

impl K6Invocation {
    /// Parses the words after the command's name, and the variables that affect it.
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
        let given = pflag::parse(&tables, words);
        let given = given.map_err(|message| misread(&message, &tables))?;
        if given.help {
            return Ok(Reading::Help(command.help(identity.program())));
        }
        let script = surroundings::operand(command, &given)?;
        let script_env = surroundings::script_env(command, &given, env)?;
        let over_process = &script_env.over_process;
        let tiers = given_tiers(&given, over_process);
        // In the order in which k6 tells mistakes.
        let log = surroundings::log(&given, env)?;
        let compatibility = surroundings::compatibility(&given, env)?;
        let proxy = match command {
            ScriptCommand::Run => proxy::of_env(env).map_err(K6Error::config)?,
            _ => None,
        };
        Ok(Reading::Invocation(Box::new(K6Invocation {
            command,
            identity,
            words: words.to_vec(),
            script,
            log,
            compatibility,
            settings: surroundings::settings(&given, env, over_process)?,
            script_type: surroundings::script_type(&given, env)?,
            env: script_env.all,
            settings_env: script_env.over_process,
            remote_libs: given.switch("remote-libs").unwrap_or(false),
            config_file: surroundings::config_file(&given, env),
            secret_sources: surroundings::secret_sources(&given, env),
            archive_out: given
                .text("archive-out")
                .unwrap_or("archive.tar")
                .to_owned(),
            exclude_env_vars: given.switch("exclude-env-vars").unwrap_or(false),
            execution_requirements: given.switch("execution-requirements").unwrap_or(false),
            template: given.text("template").unwrap_or_default().to_owned(),
            force: given.switch("force").unwrap_or(false),
            scale: (
                tiers.as_ref().ok().and_then(|tiers| tiers.flags.vus),
                given
                    .text("max")
                    .and_then(|text| parse_int_literal(text).ok()),
            ),
            as_json: given.switch("json").unwrap_or(false),
            tiers,
            proxy,
            http1_only: is_http1_only(env),
            overrides: surroundings::overrides(&given)?,
        })))
    }

    /// The script's `__ENV`, over the variables of an archive.
    #[must_use]
    pub fn env_over(&self, archived: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = archived.clone();
        all.extend(self.env.clone());
        all
    }

    /// The address of the REST API set by the user; `None`: none.
    #[must_use]
    pub fn asked_address(&self) -> Option<&str> {
        let rest = self.settings.rest.as_ref()?;
        Some(rest.address.as_str())
    }

    /// The token that a running test requires; `None`: none.
    #[must_use]
    pub fn control_token(&self) -> Option<&str> {
        match &self.settings.access.token {
            TokenChoice::Given(token) => Some(token),
            TokenChoice::Fresh | TokenChoice::Off => None,
        }
    }

    /// The text of the JSON options file; `None` if there is none and none was named.
    ///
    /// # Errors
    /// The file was named and cannot be read, or holds no options: exit code 104.
    pub fn read_config(&self, files: &Files) -> Result<Option<String>, K6Error> {
        let Some((path, named)) = &self.config_file else {
            return Ok(None);
        };
        match files.read_text(path) {
            Ok(text) => {
                self.config_of(&text)?;
                Ok(Some(text))
            }
            Err(FileError { error, .. })
                if !named && error.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(failure) => {
                let why = match failure.error.kind() {
                    std::io::ErrorKind::NotFound => {
                        format!("stat {path}: no such file or directory")
                    }
                    _ => format!(
                        "couldn't load the configuration from {}: {}",
                        quoted(path),
                        go_text::file_error(&failure)
                    ),
                };
                Err(config_error(&why))
            }
        }
    }

    /// All tiers merged into a plan with the settings of its run.
    ///
    /// # Errors
    /// k6's message about what cannot be run, with the preceding warnings; exit code 104.
    pub fn consolidate(&self, script: &ScriptFacts<'_>) -> Result<ScriptRun, K6Error> {
        let mut notices = Vec::new();
        match self.consolidated(script, &mut notices) {
            Ok(run) => Ok(ScriptRun { notices, ..run }),
            Err(error) => Err(K6Error {
                before: notices,
                ..error
            }),
        }
    }

    /// The same, with warnings as an argument.
    fn consolidated(
        &self,
        script: &ScriptFacts<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<ScriptRun, K6Error> {
        let of_script = self.options_of(script, notices)?;
        let config = script.config.map(|text| self.config_of(text)).transpose()?;
        let config = config.unwrap_or_default();
        let tiers = Tiers {
            script: of_script,
            config: config.options.clone(),
            ..self.tiers.clone()?
        };
        let named = self.named_features(&config);
        notices.extend(named.notices());
        let features = named.known();
        let merge = features.contains(&Feature::MergeRunTags);
        let options = consolidate::merge(&tiers, merge, notices);
        let stats = options.summary_trend_stats.clone().unwrap_or_default();
        consolidate::check_trend_stats(&stats).map_err(K6Error::other)?;
        check_dns(&options).map_err(K6Error::other)?;
        let settings = &self.settings;
        let thresholds = plan::thresholds(&options, !settings.no_thresholds);
        let thresholds = thresholds.map_err(K6Error::config)?;
        if let Some(metrics) = script.metrics {
            loadline_run::check_script_thresholds(&thresholds, metrics).map_err(K6Error::config)?;
            if settings.no_thresholds && settings.summary_mode != SummaryMode::Disabled {
                notices.extend(plan::unjudged_threshold_notices(&options, metrics));
            }
        }
        let derived = consolidate::derive(options, notices).map_err(K6Error::config)?;
        let mut options = derived.options;
        notices.extend(settings.notices.clone());
        let outputs = self.named_outputs(&config);
        let pages = dashboard::pages(&settings.pages, outputs, &self.settings_env);
        let (pages, told) = pages?;
        notices.extend(told);
        consolidate::apply(&self.overrides, &mut options).map_err(K6Error::config)?;
        consolidate::validate(&options, script.exports).map_err(K6Error::config)?;
        let around = self.surroundings(script, thresholds, features);
        let plan = plan::plan(&options, &around).map_err(K6Error::config)?;
        notices.extend(plan::threshold_notices(&plan));
        notices.extend(plan::certificate_notice(&options));
        let needs = requirements(&options);
        Ok(ScriptRun {
            plan,
            notices: Vec::new(),
            summary: self.summary(stats, options.summary_time_unit.as_deref()),
            counts_series: settings.summary_mode != SummaryMode::Disabled
                || !settings.no_thresholds,
            outputs: self.outputs(&config)?,
            strict_outputs: settings.strict_outputs,
            audits: settings.audits,
            log: self.log.clone(),
            console_output: options.console_output.clone(),
            rest: settings.rest.clone(),
            access: settings.access.clone(),
            pages,
            journal: settings.journal.clone(),
            observe: settings.observe.clone(),
            agents: settings.agents.clone(),
            paused: options.paused.unwrap_or(false),
            linger: settings.linger || config.linger.unwrap_or(false),
            quiet: settings.quiet,
            no_color: self.log.no_color,
            shows_secrets: settings.shows_secrets,
            has_scenarios: derived.has_scenarios,
            max_vus: needs.max_vus,
            max_duration: needs.total.or_zero(),
            options,
        })
    }

    /// What a plan needs besides its options.
    fn surroundings(
        &self,
        script: &ScriptFacts<'_>,
        thresholds: Vec<ThresholdPlan>,
        features: Vec<Feature>,
    ) -> Surroundings {
        let settings = &self.settings;
        Surroundings {
            script: self.script.clone(),
            user_agent: self.identity.user_agent(),
            thresholds,
            fail_on_drop: settings.fail_on_drop,
            trace_requests: self.overrides.once,
            by_tag: settings.summary_by.clone(),
            by_scenario: settings.summary_mode == SummaryMode::Full,
            series_max: settings.series_max,
            vu_memory_max: settings.vu_memory_max,
            body_max: settings.body_max,
            features,
            seed: script.seed,
            proxy: self.proxy.clone(),
            http1_only: self.http1_only,
        }
    }

    /// The settings of the summary, with its trend statistics and its unit of time, which is empty if each value has its own.
    fn summary(&self, trend_stats: Vec<String>, time_unit: Option<&str>) -> SummarySettings {
        let settings = &self.settings;
        SummarySettings {
            mode: settings.summary_mode,
            trend_stats,
            time_unit: time_unit.filter(|unit| !unit.is_empty()).map(str::to_owned),
            export: settings.summary_export.clone(),
            new_machine_readable: settings.new_machine_readable,
            by: settings.summary_by.clone(),
        }
    }

    /// The output of `inspect`, without a final line end, and messages for the user.
    ///
    /// # Errors
    /// As [`K6Invocation::consolidate`].
    pub fn inspect(&self, script: &ScriptFacts<'_>) -> Result<(String, Vec<Notice>), K6Error> {
        let mut notices = Vec::new();
        let of_script = self.options_of(script, &mut notices)?;
        if !self.execution_requirements {
            return Ok((Json::Object(of_script.inspected()).pretty(), notices));
        }
        let run = self.consolidate(script)?;
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

    fn config_of(&self, text: &str) -> Result<ConfigFile, K6Error> {
        let path = self.config_file.as_ref().map_or("", |(path, _)| path);
        ConfigFile::parse(path, text)
    }

    /// The options that a script exports, with warnings as an argument.
    fn options_of(
        &self,
        script: &ScriptFacts<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<K6Options, K6Error> {
        let read = K6Options::from_json(script.options).map_err(|error| {
            self.could_not_load(script, ExitCode::InvalidConfig, &explained(&error))
        })?;
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
        if script.exports.is_some_and(<[String]>::is_empty) {
            let why = "no exported functions in script";
            return Err(self.could_not_load(script, ExitCode::Other, why));
        }
        check_dns(&read.options)
            .map_err(|why| self.could_not_load(script, ExitCode::Other, &why))?;
        Ok(read.options)
    }

    fn could_not_load(&self, script: &ScriptFacts<'_>, code: ExitCode, why: &str) -> K6Error {
        let (name, url) = (&self.script, script.url);
        K6Error::new(
            code,
            format!("could not initialize '{name}': could not load JS test '{url}': {why}"),
        )
    }

    /// The known feature flags of the command line, otherwise of the JSON options file, whose text is `config`.
    ///
    /// # Errors
    /// The text holds no options: exit code 104.
    pub fn features(&self, config: Option<&str>) -> Result<Vec<Feature>, K6Error> {
        let config = config.map(|text| self.config_of(text)).transpose()?;
        Ok(self.named_features(&config.unwrap_or_default()).known())
    }

    fn named_features(&self, config: &ConfigFile) -> NamedFeatures {
        let given = &self.settings.features;
        match given.names.is_empty() {
            false => given.clone(),
            true => NamedFeatures {
                source: "json",
                names: config.options.features.clone().unwrap_or_default(),
            },
        }
    }

    /// The outputs as written, those of the command line before those of the file.
    fn named_outputs<'a>(&'a self, config: &'a ConfigFile) -> &'a [String] {
        let given = &self.settings.outputs;
        let of_file = config.outputs.as_ref().filter(|_| given.is_empty());
        of_file.unwrap_or(given)
    }

    /// The outputs except the dashboard, which is a page.
    fn outputs(&self, config: &ConfigFile) -> Result<Vec<OutputSpec>, K6Error> {
        let named = self.named_outputs(config).iter();
        let named = named.filter(|text| !dashboard::is_output(text));
        let read = named.map(|text| OutputSpec::parse(text).map_err(K6Error::other));
        let mut outputs = read.collect::<Result<Vec<_>, _>>()?;
        for spec in &mut outputs {
            let section = spec.kind.section();
            spec.section = section.and_then(|key| config.collectors.get(key).cloned());
        }
        Ok(outputs)
    }
}

/// Whether `GODEBUG`, in which the last setting wins, disables Go's HTTP/2.
fn is_http1_only(env: &Env) -> bool {
    let mut words = env.get("GODEBUG").unwrap_or_default().rsplit(',');
    words.find_map(|word| word.strip_prefix("http2client=")) == Some("0")
}

fn check_dns(options: &K6Options) -> Result<(), String> {
    options.dns.as_ref().map_or(Ok(()), DnsOption::check_ttl)
}

/// The message about an invalid option of a script.
fn explained(error: &KeyError) -> String {
    let KeyError { key, place, error } = error;
    let placed = || {
        let place = quoted(place);
        format!("parsing options from script got error while parsing {place}: {error}")
    };
    match error {
        OptionError::Type { .. } => placed(),
        OptionError::Text(_) if key.is_empty() => placed(),
        OptionError::Text(text) => text.clone(),
    }
}

fn config_error(why: &str) -> K6Error {
    K6Error::config(format!(
        "failed to load the configuration file from the local file system: {why}"
    ))
}

impl From<FileError> for K6Error {
    fn from(error: FileError) -> K6Error {
        K6Error::new(ExitCode::Other, error.to_string())
    }
}

#[cfg(test)]
mod tests;

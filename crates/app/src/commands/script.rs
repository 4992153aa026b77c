//! A script as its commands see it: its exports and options, and its run.
//!
//! Must not know flags. Invariant: nothing is sent before the script's options were consolidated.

use std::path::PathBuf;
use std::sync::Arc;

use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd, RunEvent, TestPlan};
use loadline_run::{Ran, RunSetup};
use loadline_script::loading::archive::Archive;
use loadline_script::loading::dependencies::Dependencies;
use loadline_script::loading::{Bytes, Fetch, import_error};
use loadline_script::secrets::Secrets;
use serde_json::Value;
use url::Url;

use super::archive;
use crate::k6::fetch::{FilesAndWeb, Wanted};
use crate::k6::secret_sources;
use crate::k6::{Identity, K6Error, K6Invocation, Notice, ScriptRun, ScriptType};
use crate::recipe::{ScriptRecipe, variables};
use crate::script_run::{self, AgentsRecipe, Going, Loaded, Loading, Logger, Place, TraceLook};
use crate::terminal::style;
use crate::{Env, Files};

/// A script that was read.
pub(super) struct LoadedScript {
    /// Its URL, `file:///…`.
    pub(super) url: String,
    /// Its exported `options`, as JSON, or those of its archive; null if there are none.
    pub(super) options: Value,
    /// Names of the functions that it exports.
    pub(super) exports: Vec<String>,
    /// The base of its relative paths.
    pub(super) directory: Url,
    pub(super) loaded: Loaded,
    logger: Arc<Logger>,
}

impl LoadedScript {
    /// Prints notices for the user before anything starts.
    pub(super) fn tell(&self, notices: &[Notice]) {
        for notice in notices {
            self.logger.tell(notice);
        }
    }
}

/// Reads a script and runs its top level once.
///
/// # Errors
/// It cannot be read, or throws; with k6's exit code.
pub(super) fn load(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<LoadedScript, K6Error> {
    Found::of(invocation, env, files)?.load(invocation, None)
}

/// The same, with the text of the JSON options file, which is read before anything of the script runs.
///
/// # Errors
/// As [`load`]; the file cannot be read.
pub(super) fn load_with_config(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<(LoadedScript, Option<String>), K6Error> {
    let found = Found::of(invocation, env, files)?;
    match invocation.read_config(files) {
        Ok(config) => Ok((found.load(invocation, config.as_deref())?, config)),
        // As in k6, what is wrong with the text of the script and its imports is told first.
        Err(error) => {
            script_run::dependencies(invocation, found.place)?;
            Err(error)
        }
    }
}

/// A script whose own text was read; nothing of it has run.
struct Found {
    place: Place,
    /// The options of an archive.
    options: Option<Value>,
    secrets: Arc<Secrets>,
    logger: Arc<Logger>,
}

impl Found {
    fn of(invocation: &K6Invocation, env: &Env, files: &Files) -> Result<Found, K6Error> {
        let secrets = Arc::new(secret_sources::read(&invocation.secret_sources, files)?);
        let logger = Arc::new(Logger::open(&invocation.log)?.without(Arc::clone(&secrets)));
        let (place, options) = place(invocation, env, files, &logger)?;
        Ok(Found {
            place,
            options,
            secrets,
            logger,
        })
    }

    fn load(
        self,
        invocation: &K6Invocation,
        config: Option<&str>,
    ) -> Result<LoadedScript, K6Error> {
        let directory = self.place.directory.clone();
        let log = Arc::clone(&self.logger) as _;
        let loading = Loading::of(invocation, config)?;
        let loaded = script_run::load(&loading, self.place, &log, self.secrets)?;
        Ok(LoadedScript {
            url: loaded.url().to_owned(),
            options: (self.options).unwrap_or_else(|| loaded.exports.options.clone()),
            exports: loaded.exports.functions.clone(),
            directory,
            loaded,
            logger: self.logger,
        })
    }
}

/// Reads a script and its imports, without running anything.
///
/// # Errors
/// It cannot be read; with k6's exit code.
pub(super) fn dependencies(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<Dependencies, K6Error> {
    let logger = Arc::new(Logger::open(&invocation.log)?);
    let (place, _) = place(invocation, env, files, &logger)?;
    script_run::dependencies(invocation, place)
}

/// Where the script's bytes come from; with the options of an archive.
fn place(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
    logger: &Arc<Logger>,
) -> Result<(Place, Option<Value>), K6Error> {
    let here = working_directory()?;
    let refused = |why: String| K6Error::new(ExitCode::InvalidConfig, why);
    let (name, wanted) = Wanted::split(&invocation.script).map_err(refused)?;
    let entry = script_run::entry(name, &here)?;
    let told = Arc::clone(logger);
    let on_stale = Box::new(move |url: &Url, why: &str| {
        told.tell(&Notice::warning(format!(
            "{url} cannot be fetched ({why}): using the cached copy"
        )));
    });
    let mut fetch = FilesAndWeb::new(None, cache_folder(env), on_stale);
    let bytes = match name {
        "-" => Bytes::from(files.read(name)?),
        _ => {
            let read = fetch.read(&entry);
            let told = |error| K6Error::other(import_error(&entry, name, &error).message);
            read.map_err(told)?
        }
    };
    if let Some(wanted) = wanted {
        wanted.check(name, &bytes).map_err(refused)?;
    }
    let is_archive = Archive::is_archive(&bytes);
    if invocation.script_type == Some(ScriptType::Archive) && !is_archive {
        return Err(K6Error::other(format!(
            "could not initialize '{name}': could not load test archive bundle '{entry}': unexpected EOF"
        )));
    }
    if invocation.script_type != Some(ScriptType::Js) && is_archive {
        let archive = Archive::read(bytes).map_err(|error| K6Error::other(error.message))?;
        let options = archive.metadata.options.clone();
        let place = Place {
            entry: archive.metadata.filename.clone(),
            directory: archive.directory(),
            env: invocation.env_over(&archive.metadata.env),
            fetch: Box::new(archive),
        };
        return Ok((place, Some(options)));
    }
    fetch.given = Some((entry.clone(), bytes));
    let place = Place {
        fetch: Box::new(fetch),
        entry,
        directory: here,
        env: invocation.env.clone(),
    };
    Ok((place, None))
}

/// The working directory as a URL that ends in a slash.
fn working_directory() -> Result<Url, K6Error> {
    let folder = std::env::current_dir().map_err(|error| {
        K6Error::other(format!("the working directory cannot be read: {error}"))
    })?;
    Url::from_directory_path(&folder)
        .map_err(|()| K6Error::other(format!("{} is not an absolute path", folder.display())))
}

/// The cache folder of fetched modules.
fn cache_folder(env: &Env) -> Option<PathBuf> {
    let base = env.user_folder("XDG_CACHE_HOME", ".cache")?;
    Some(base.join("loadline").join("modules"))
}

fn look(run: &ScriptRun, env: &Env) -> TraceLook {
    TraceLook {
        style: style::of_stderr(run.no_color, env),
        shows_secrets: run.shows_secrets,
    }
}

/// Runs a script to its end.
///
/// # Errors
/// The run could not start.
pub(super) fn go(
    script: &LoadedScript,
    run: &ScriptRun,
    invocation: &K6Invocation,
    config: Option<&str>,
    env: &Env,
) -> Result<ExitCode, K6Error> {
    let traces = run
        .plan
        .script
        .as_deref()
        .is_some_and(|script| script.trace_requests);
    let opened = || -> Result<Logger, K6Error> {
        let secrets = Arc::clone(&script.loaded.program.settings().secrets);
        let logger = Logger::open(&run.log)?.without(secrets);
        Ok(logger.with_look(look(run, env)))
    };
    let logger = match &run.console_output {
        None if traces => Arc::new(opened()?),
        None => Arc::clone(&script.logger),
        Some(path) => Arc::new(opened()?.with_console(path)?),
    };
    let words: Vec<String> = std::env::args().collect();
    Going {
        recipe: recipe(script, run, invocation, (config, env))?,
        loaded: &script.loaded,
        run,
        identity: invocation.identity,
        named: &invocation.script,
        command_line: redacted_command_line(&words, FrontEnd::Script),
        env: &invocation.settings_env,
        logger,
    }
    .go()
}

/// From which agents rebuild the test, if they make the load.
///
/// # Errors
/// The request cannot be fulfilled by agents.
fn recipe(
    script: &LoadedScript,
    run: &ScriptRun,
    invocation: &K6Invocation,
    (config, env): (Option<&str>, &Env),
) -> Result<Option<AgentsRecipe>, K6Error> {
    if !run.agents.any() {
        return Ok(None);
    }
    let settings = run.plan.script.as_deref();
    if settings.is_some_and(|script| script.trace_requests) {
        return Err(K6Error::config(
            "--agents: --once runs in one process; drop one of them",
        ));
    }
    let mut archive = Vec::new();
    let mut packed = archive::packed(invocation, script, run)?;
    // They are sent separately, and a test is identified by its archive: variables differ between hosts.
    packed.metadata.env.clear();
    packed
        .write(&mut archive)
        .map_err(|error| K6Error::other(format!("the script cannot be packed: {error}")))?;
    Ok(Some(AgentsRecipe {
        archive: archive.into(),
        plan: ScriptRecipe {
            is_k6: invocation.identity == Identity::K6,
            words: invocation.words.clone(),
            env: variables(env),
            script_env: script.loaded.program.settings().env.clone(),
            url: script.url.clone(),
            options: script.options.clone(),
            exports: script.exports.clone(),
            config: config.map(str::to_owned),
            seed: run.plan.seed,
            by_all_tags: false,
            counts_series: false,
        },
    }))
}

/// Runs a script under another plan, passing events to `on_event`; there is no summary, and no output.
///
/// # Errors
/// The run could not start.
pub(super) fn put(
    script: &LoadedScript,
    run: &ScriptRun,
    invocation: &K6Invocation,
    (plan, setup): (Arc<TestPlan>, RunSetup),
    on_event: &mut dyn FnMut(RunEvent),
) -> Result<Ran, K6Error> {
    Going {
        recipe: None,
        loaded: &script.loaded,
        run,
        identity: invocation.identity,
        named: &invocation.script,
        command_line: setup.command_line.clone(),
        env: &Env::default(),
        logger: Arc::clone(&script.logger),
    }
    .put(plan, setup, on_event)
}

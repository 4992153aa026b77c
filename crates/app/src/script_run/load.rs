//! Loads a script: its sources, a single run of its module code, its options.
//!
//! Must not know what is done with it. Invariant: nothing is sent while a script is loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_model::ExitCode;
use loadline_model::script_settings::Feature;
use loadline_run::{ReadError, ScriptLog, ScriptMetrics, ScriptSetup};
use loadline_script::exports::Exports;
use loadline_script::loading::dependencies::{Dependencies, DependencyError};
use loadline_script::loading::{Fetch, Libraries, Sources, entry_url};
use loadline_script::secrets::Secrets;
use loadline_script::vu::{FailureKind, ScriptFailure};
use loadline_script::{Program, ProgramSettings};
use url::Url;

use crate::k6::{Compatibility, K6Error, K6Invocation, Notice};

/// A script whose module code has run once.
pub(crate) struct Loaded {
    pub(crate) sources: Arc<Sources>,
    pub(crate) program: Program,
    pub(crate) exports: Exports,
    pub(crate) metrics: ScriptMetrics,
}

impl Loaded {
    /// The script's full name.
    pub(crate) fn url(&self) -> &str {
        self.sources.entry()
    }
}

/// How a script is loaded.
pub(crate) struct Loading<'a> {
    /// The script as the user named it.
    pub(crate) script: &'a str,
    /// Whether libraries are fetched even if they are built in.
    pub(crate) remote_libs: bool,
    /// Which globals it has.
    pub(crate) compatibility: Compatibility,
    /// Whether its variables are frozen.
    pub(crate) freezes_env: bool,
}

impl<'a> Loading<'a> {
    /// As the command line says, and the text of the JSON options file.
    ///
    /// # Errors
    /// The text holds no options.
    pub(crate) fn of(
        invocation: &'a K6Invocation,
        config: Option<&str>,
    ) -> Result<Loading<'a>, K6Error> {
        let features = invocation.features(config)?;
        Ok(Loading {
            script: &invocation.script,
            remote_libs: invocation.remote_libs,
            compatibility: invocation.compatibility,
            freezes_env: features.contains(&Feature::FreezeEnv),
        })
    }
}

/// Where a script's bytes come from, and its name.
pub(crate) struct Place {
    pub(crate) fetch: Box<dyn Fetch>,
    pub(crate) entry: Url,
    /// The base of relative names that a script from standard input uses.
    pub(crate) directory: Url,
    pub(crate) env: BTreeMap<String, String>,
}

/// Loads a script and runs its module code once.
///
/// # Errors
/// In k6's words, with its exit code.
pub(crate) fn load(
    loading: &Loading<'_>,
    place: Place,
    log: &Arc<dyn ScriptLog>,
    secrets: Arc<Secrets>,
) -> Result<Loaded, K6Error> {
    let (sources, env) = sources(loading.remote_libs, place);
    sources.load_entry().map_err(|error| {
        let could_not = CouldNot {
            script: loading.script,
            url: sources.entry(),
        };
        could_not.load(ExitCode::ScriptException, &error.message)
    })?;
    let sources = Arc::new(sources);
    let settings = ProgramSettings {
        env,
        secrets,
        lacks_global: loading.compatibility == Compatibility::Base,
        freeze_env: loading.freezes_env,
        ..ProgramSettings::default()
    };
    let entry = sources.entry().to_owned();
    let shared: Arc<dyn loadline_script::ModuleSources> = Arc::clone(&sources) as _;
    let program = Program::new(entry, shared, settings);
    let metrics = ScriptMetrics {
        registry: Arc::default(),
        series: Arc::default(),
        values: None,
    };
    let could_not = CouldNot {
        script: loading.script,
        url: sources.entry(),
    };
    let exports = first_init(&program, &metrics, log, &could_not)?;
    sources.seal();
    Ok(Loaded {
        sources,
        program,
        exports,
        metrics,
    })
}

/// The dependencies of a script; none of it is run.
///
/// # Errors
/// In k6's words, with its exit code.
pub(crate) fn dependencies(
    invocation: &K6Invocation,
    place: Place,
) -> Result<Dependencies, K6Error> {
    let (sources, _) = sources(invocation.remote_libs, place);
    sources.dependencies().map_err(|error| {
        let could_not = CouldNot {
            script: &invocation.script,
            url: sources.entry(),
        };
        match error {
            DependencyError::Load(error) => {
                could_not.load(ExitCode::ScriptException, &error.message)
            }
            DependencyError::Directive(why) => could_not.load(ExitCode::Other, &why),
        }
    })
}

/// The sources of a script, and its `__ENV`.
fn sources(remote_libs: bool, place: Place) -> (Sources, BTreeMap<String, String>) {
    let libraries = if remote_libs {
        Libraries::Fetched
    } else {
        Libraries::Embedded
    };
    let sources = Sources::new(place.fetch, place.entry, place.directory, libraries);
    (sources, place.env)
}

/// A script that cannot be loaded, in k6's words.
struct CouldNot<'a> {
    /// As the user named it.
    script: &'a str,
    /// Its full name.
    url: &'a str,
}

impl CouldNot<'_> {
    fn load(&self, code: ExitCode, why: &str) -> K6Error {
        let CouldNot { script, url } = self;
        let told =
            format!("could not initialize '{script}': could not load JS test '{url}': {why}");
        K6Error::new(code, told)
    }
}

/// Runs the module code in a separate virtual user; returns the script's exports.
fn first_init(
    program: &Program,
    metrics: &ScriptMetrics,
    log: &Arc<dyn ScriptLog>,
    could_not: &CouldNot<'_>,
) -> Result<Exports, K6Error> {
    let setup = ScriptSetup {
        program: Arc::new(program.with_settings(program.settings().clone())),
        metrics: metrics.clone(),
        log: Arc::clone(log),
        data: Arc::default(),
    };
    loadline_run::read_exports(&setup).map_err(|error| match error {
        ReadError::Thrown(failure) => match failure.kind {
            FailureKind::Aborted => could_not.load(ExitCode::ScriptAbort, &failure.to_string()),
            FailureKind::Rejected | FailureKind::BadData => {
                could_not.load(ExitCode::Other, &failure.to_string())
            }
            _ => thrown(&failure),
        },
        ReadError::System(why) => K6Error::other(why),
    })
}

/// The error for an exception at the top level of a script.
pub(crate) fn thrown(failure: &ScriptFailure) -> K6Error {
    let error = thrown_at_load(&failure.to_string());
    K6Error {
        notice: error.notice.with("source", "stacktrace"),
        ..error
    }
}

fn thrown_at_load(message: &str) -> K6Error {
    let error = K6Error::new(ExitCode::ScriptException, message);
    K6Error {
        notice: Notice {
            fields: vec![("hint".into(), "script exception".to_owned())],
            ..error.notice
        },
        ..error
    }
}

/// The URL of a script named on the command line.
///
/// # Errors
/// Its name cannot be that of a file.
pub(crate) fn entry(name: &str, directory: &Url) -> Result<Url, K6Error> {
    entry_url(directory, name).map_err(|error| K6Error::other(error.message))
}

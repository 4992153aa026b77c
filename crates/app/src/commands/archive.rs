//! `archive`: packs a script and everything that it reads.
//!
//! Must not know how a script is loaded. Invariant: the archive contains the consolidated options, so that it
//! runs the same elsewhere.

use std::collections::BTreeMap;
use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::files;
use loadline_script::loading::archive::Archive;
use url::Url;

use super::run::consolidated;
use super::script::LoadedScript;
use super::{notices, script};
use crate::dialect::go_text;
use crate::k6::json::Json;
use crate::k6::{Compatibility, K6Error, K6Invocation, ScriptRun};
use crate::terminal::print;
use crate::{Env, Files};

/// Runs the command.
///
/// # Errors
/// The script or its options cannot be read, or the archive cannot be written.
pub(super) fn run(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<ExitCode, K6Error> {
    let (loaded, config) = script::load_with_config(invocation, env, files)?;
    let run = consolidated(invocation, &loaded, config.as_deref())?;
    notices::tell(&run.notices, &invocation.log);
    let archive = packed(invocation, &loaded, &run)?;
    let path = &invocation.archive_out;
    let written = match path.as_str() {
        "-" => print::stream_to_stdout(|out| archive.write(out))
            .map_err(|error| format!("cannot write to standard output: {error}")),
        path => files::create(Path::new(path))
            .and_then(|file| archive.write(file))
            .map_err(|error| go_text::open_error(path, &error)),
    };
    written.map_err(K6Error::other)?;
    Ok(ExitCode::Ok)
}

/// A script and everything that it reads, with its options.
///
/// # Errors
/// The options are not JSON.
pub(super) fn packed(
    invocation: &K6Invocation,
    script: &LoadedScript,
    run: &ScriptRun,
) -> Result<Archive, K6Error> {
    let entry = Url::parse(&script.url)
        .map_err(|error| K6Error::other(format!("{}: {error}", script.url)))?;
    let mut options = run.options.inspected();
    // The scenarios made from a shortcut would contradict it when the archive is run.
    for (key, value) in &mut options {
        if key == "scenarios" && !run.has_scenarios {
            *value = Json::Null;
        }
    }
    let options = Json::Object(options).compact();
    let options = serde_json::from_str(&options)
        .map_err(|error| K6Error::other(format!("the options are not JSON: {error}")))?;
    let env = match invocation.exclude_env_vars {
        true => BTreeMap::new(),
        // With those of the archive that it was loaded from.
        false => script.loaded.program.settings().env.clone(),
    };
    let recorded = script.loaded.sources.recorded();
    let mut archive = Archive::of(&recorded, &entry, &script.directory, options, env);
    if invocation.compatibility == Compatibility::Base {
        "base".clone_into(&mut archive.metadata.compatibility_mode);
    }
    Ok(archive)
}

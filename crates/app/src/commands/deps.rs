//! `deps`: the imports of a script, and whether k6 would have to be rebuilt for them.
//!
//! Must not know how a script is read. Invariant: nothing of the script is run.

use loadline_model::ExitCode;
use loadline_script::loading::dependencies::Dependencies;
use serde_json::json;

use super::script;
use crate::k6::{K6Error, K6Invocation};
use crate::terminal::print;
use crate::{Env, Files};

/// Runs the command.
///
/// # Errors
/// The script or one of its imports cannot be read.
pub(super) fn run(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<ExitCode, K6Error> {
    let found = script::dependencies(invocation, env, files)?;
    let text = match invocation.as_json {
        true => as_json(&found),
        false => as_text(&found),
    };
    print::to_stdout(&text)
        .map_err(|error| K6Error::other(format!("cannot write to standard output: {error}")))?;
    Ok(ExitCode::Ok)
}

fn as_text(found: &Dependencies) -> String {
    let builds = found.builds.iter();
    let builds: String = builds
        .map(|(name, constraint)| format!("  {name}: {constraint}\n"))
        .collect();
    let imports: String = found
        .imports
        .iter()
        .map(|name| format!("  {name}\n"))
        .collect();
    let custom = if found.want_custom_build() {
        "yes"
    } else {
        "no"
    };
    format!("Build Dependencies:\n{builds}\nImports:\n{imports}\nCustom Build Required: {custom}\n")
}

fn as_json(found: &Dependencies) -> String {
    let builds = found.builds.iter();
    let builds: serde_json::Map<_, _> = builds
        .map(|(name, constraint)| (name.clone(), constraint.to_string().into()))
        .collect();
    let told = json!({
        "buildDependencies": builds,
        "imports": found.imports,
        "customBuildRequired": found.want_custom_build(),
    });
    format!("{told:#}\n")
}

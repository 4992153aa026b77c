//! `agent`: runs the share of a test assigned by a coordinator.
//!
//! Must not know what the coordinator does. Invariant: only the identity, sources of secrets and the variables that
//! `LOADLINE_AGENT_VARIABLES` names are read from this machine; plan, script and all files that it opens come from the
//! coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use loadline_cluster::{
    AgentError, AgentSettings, Assignment, Identity, Place as AgentPlace, Token, attend, share_of,
};
use loadline_metric::SeriesPlan;
use loadline_model::{ExitCode, TestPlan};
use loadline_run::steps::StepsSetup;
use loadline_run::{EngineSetup, ScriptLog, ScriptMetrics, ScriptSetup};
use loadline_script::host::LogEntry;
use loadline_script::loading::Bytes;
use loadline_script::loading::archive::Archive;
use loadline_script::secrets::Secrets;
use loadline_steps::scope::Part;

use super::sinks::metrics_of;
use crate::cli::AgentArgs;
use crate::jmeter::recipe::StepsRecipe;
use crate::jmeter::{BATCHES, wire};
use crate::k6::{K6Invocation, secret_sources};
use crate::recipe::{PlanRecipe, ScriptRecipe};
use crate::script_run::{self, Loading, Place};
use crate::terminal::{print, signals};
use crate::{Ending, Env, Files};

/// Variables with which a cluster names this pod and its node.
const POD_NAME: &str = "POD_NAME";
const NODE_NAME: &str = "NODE_NAME";
/// Names of variables, separated by commas, of which a script gets this machine's values instead of the coordinator's.
const OWN_VARIABLES: &str = "LOADLINE_AGENT_VARIABLES";

/// Runs the command.
///
/// # Errors
/// The agent cannot take part, or the test is over for it.
pub(super) fn run(args: AgentArgs, env: &Env, files: &Files) -> Result<ExitCode, Ending> {
    loadline_run::prepare_process();
    let settings = AgentSettings {
        identity: identity(&args, files)?,
        join: args.join,
        name: args.name,
        place: of_pod(env),
        orphan_grace: args.orphan_grace,
        leave: signals::leave()?,
        on_note: |note| print::to_stderr(&format!("loadline: {note}\n")),
    };
    let ended = attend(settings, engine_setup).map_err(|error| {
        let code = match error {
            AgentError::Unreachable(_) | AgentError::Refused(_) => ExitCode::InvalidConfig,
            AgentError::CoordinatorLost { .. } => ExitCode::ExternalAbort,
            AgentError::Unable(_) => ExitCode::Other,
            AgentError::Defect(_) => ExitCode::Internal,
            AgentError::Left => signals::code_of_shell(),
        };
        Ending::refusal(code, &error.to_string())
    })?;
    // The coordinator reports the result; what a closed stream does not accept is not missed.
    drop(print::to_stdout(&ended.text));
    let known = ExitCode::ALL
        .iter()
        .find(|code| code.code() == ended.exit_code);
    Ok(known.copied().unwrap_or(ExitCode::Other))
}

fn identity(args: &AgentArgs, files: &Files) -> Result<Identity, Ending> {
    let refused = |option: &str, why: String| Ending::usage(&format!("{option}: {why}"));
    match (&args.identity, &args.token) {
        (Some(path), _) => {
            let path = path.to_string_lossy();
            let text = files
                .read_text(&path)
                .map_err(|error| refused("--identity", error.to_string()))?;
            Identity::of_pem(&text)
                .map_err(|error| refused("--identity", format!("{path}: {error}")))
        }
        (None, Some(token)) => Token::parse(token)
            .and_then(|token| Identity::of_token(&token))
            .map_err(|error| refused("--token", error.to_string())),
        (None, None) => Err(Ending::usage(
            "an agent needs --identity, or the token that the coordinator prints: LOADLINE_JOIN_TOKEN=… loadline agent …",
        )),
    }
}

/// The setup of the engine for an assignment.
fn engine_setup(assignment: Assignment) -> Result<EngineSetup, String> {
    let recipe = serde_json::from_slice(&assignment.recipe.plan)
        .map_err(|error| format!("the plan's recipe cannot be read: {error}"))?;
    let share = |plan| share_of(plan, assignment.number, assignment.agents).map(Arc::new);
    match recipe {
        PlanRecipe::Bench(recipe) => Ok(EngineSetup {
            plan: share(recipe.plan()?)?,
            samples: assignment.samples,
            script: None,
            steps: None,
        }),
        PlanRecipe::Script(recipe) => {
            let invocation = recipe.invocation()?;
            let secrets = secrets(&invocation)?;
            // Nothing else sets them.
            drop(assignment.secrets.set(Arc::clone(&secrets)));
            let plan = share(recipe.plan(&invocation)?)?;
            let archive = assignment.recipe.archive;
            let around = (assignment.log, secrets);
            let mut script = script(&recipe, &invocation, &plan, archive, around)?;
            script.metrics.values = assignment.values;
            script.data = assignment.data;
            Ok(EngineSetup {
                plan,
                samples: None,
                script: Some(script),
                steps: None,
            })
        }
        PlanRecipe::Steps(recipe) => of_steps(*recipe, assignment),
    }
}

/// The setup of the engine for a part of a JMeter plan.
fn of_steps(recipe: StepsRecipe, assignment: Assignment) -> Result<EngineSetup, String> {
    let to = assignment
        .results
        .ok_or("there is no receiver for results")?;
    let (sender, results) = sync_channel(BATCHES);
    let remade = recipe.remade(sender, assignment.log)?;
    let (number, of) = (assignment.number, assignment.agents);
    let metrics = ScriptMetrics {
        values: assignment.values,
        ..metrics_of(&remade.args.results, &remade.plan)
    };
    let plan = share_of(remade.plan.clone(), number, of).map(Arc::new)?;
    let segment = plan.segment.as_ref().ok_or("the plan is not cut")?;
    let steps = remade.steps_of(Part { number, of }, &segment.sequence);
    thread::Builder::new()
        .name("results".to_owned())
        .spawn(move || wire::send(&results, &to))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(EngineSetup {
        plan,
        samples: assignment.samples,
        script: None,
        steps: Some(StepsSetup {
            metrics: Some(metrics),
            ..steps
        }),
    })
}

/// The secrets from this machine's own sources.
fn secrets(invocation: &K6Invocation) -> Result<Arc<Secrets>, String> {
    let secrets = secret_sources::read(&invocation.secret_sources, &Files::Disk);
    let secrets = secrets.map_err(|error| {
        let why = error.notice.message;
        format!("--secret-source: each agent reads its own: {why}")
    })?;
    Ok(Arc::new(secrets))
}

/// Where this process runs, according to the cluster.
fn of_pod(env: &Env) -> AgentPlace {
    let said = |name: &str| env.get(name).unwrap_or_default().to_owned();
    AgentPlace {
        pod: said(POD_NAME),
        node: said(NODE_NAME),
    }
}

/// A script's variables, with those that are this machine's own.
fn with_own(mut of_script: BTreeMap<String, String>, env: &Env) -> BTreeMap<String, String> {
    let names = env.get(OWN_VARIABLES).unwrap_or_default().split(',');
    let own = names.filter_map(|name| Some((name.to_owned(), env.set(name)?.to_owned())));
    of_script.extend(own);
    of_script
}

/// The script in an archive, under a plan.
fn script(
    recipe: &ScriptRecipe,
    invocation: &K6Invocation,
    plan: &TestPlan,
    archive: Bytes,
    (log, secrets): (Arc<dyn ScriptLog>, Arc<Secrets>),
) -> Result<ScriptSetup, String> {
    let archive = Archive::read(archive).map_err(|error| error.message)?;
    let place = Place {
        entry: archive.metadata.filename.clone(),
        directory: archive.directory(),
        env: with_own(recipe.script_env.clone(), &Env::of_process()),
        fetch: Box::new(archive),
    };
    let loading = Loading::of(invocation, recipe.config.as_deref());
    let unheard: Arc<dyn ScriptLog> = Arc::new(Unheard);
    let loaded = loading.and_then(|loading| script_run::load(&loading, place, &unheard, secrets));
    let loaded = loaded.map_err(|error| error.notice.message)?;
    let metrics = ScriptMetrics {
        registry: Arc::clone(&loaded.metrics.registry),
        series: Arc::new(SeriesPlan {
            by_all_tags: recipe.by_all_tags,
            counts_series: recipe.counts_series,
            ..plan.series()
        }),
        values: None,
    };
    let setup = script_run::setup_of(&loaded, plan, metrics, log);
    setup.ok_or_else(|| "the plan has no script".to_owned())
}

/// The log of the first run of a script's module code, which the coordinator has done and shown already.
struct Unheard;

impl ScriptLog for Unheard {
    fn write(&self, _: &LogEntry<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_the_variables_of_its_machine_that_are_named() {
        let of_script = BTreeMap::from([
            ("HOSTNAME".to_owned(), "coordinator".to_owned()),
            ("HOST".to_owned(), "api".to_owned()),
        ]);
        let own = |names: &str| {
            Env::from([
                ("HOSTNAME", "t-1"),
                ("HOST", "another"),
                ("POD_IP", ""),
                (OWN_VARIABLES, names),
            ])
        };
        let all = with_own(of_script.clone(), &own("HOSTNAME,POD_IP,ABSENT"));
        assert_eq!(
            (
                all["HOSTNAME"].as_str(),
                all["HOST"].as_str(),
                all["POD_IP"].as_str()
            ),
            ("t-1", "api", "")
        );
        assert_eq!(all.get("ABSENT"), None);
        assert_eq!(with_own(of_script.clone(), &own("")), of_script);
    }
}

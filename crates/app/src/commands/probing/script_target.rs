//! A k6 script under other loads than its own.
//!
//! Must not know which loads are applied. Invariant: thresholds of the script do not end a load.

use std::sync::Arc;

use loadline_model::{RunEvent, TestPlan};
use loadline_run::{Ran, RunSetup};
use serde_json::{Value, json};

use crate::cli::script::ScriptCommand;
use crate::cli::{ProbingArgs, UserArgs};
use crate::commands::run;
use crate::commands::script::{self, LoadedScript};
use crate::dialect::pflag::{self, Flag};
use crate::k6::{Identity, K6Error, K6Invocation, Reading, ScriptRun};
use crate::{Ending, Env, Files};

/// The name of the scenario that loads a script.
const SCENARIO: &str = "load";

/// Flags of `loadline run` that act around one run.
const OF_A_RUN: [&str; 28] = [
    "address",
    "agents",
    "audit",
    "await-agent",
    "charts",
    "config",
    "console-output",
    "control-host",
    "control-token",
    "fail-on-drop",
    "identity",
    "journal",
    "json",
    "linger",
    "listen",
    "observe",
    "observe-baseline",
    "observe-tail",
    "once",
    "out",
    "paused",
    "report",
    "scenario",
    "strict-outputs",
    "summary-by",
    "summary-export",
    "tui",
    "web",
];

/// A script that was read.
pub(super) struct ScriptTarget {
    invocation: K6Invocation,
    loaded: LoadedScript,
    run: ScriptRun,
}

impl ScriptTarget {
    /// Reads the script that is the target.
    ///
    /// # Errors
    /// It cannot be run, or options define its load.
    pub(super) fn load(
        args: &ProbingArgs,
        env: &Env,
        files: &Files,
    ) -> Result<ScriptTarget, Ending> {
        if !args.told.expect.is_empty() {
            return Err(Ending::usage(
                "--expect is for a URL; a script checks its responses itself, with check()",
            ));
        }
        let words: Vec<String> = args
            .script_flags
            .iter()
            .cloned()
            .chain([args.target.clone()])
            .collect();
        refuse_of_a_run(&words)?;
        let read = K6Invocation::parse(Identity::Loadline, ScriptCommand::Run, &words, env);
        let invocation = match read.map_err(|error| refused(&error))? {
            Reading::Help(text) => return Err(Ending::answer(text)),
            Reading::Invocation(invocation) => *invocation,
        };
        let mut loaded = script::load(&invocation, env, files).map_err(|error| refused(&error))?;
        loaded.options = with_load(&loaded.options, &args.users);
        let run = run::consolidated(&invocation, &loaded, None).map_err(|error| refused(&error))?;
        loaded.tell(&run.notices);
        if !run.outputs.is_empty() {
            return Err(Ending::usage(
                "K6_OUT is for `loadline run` only: this command has no outputs; unset it, and use --json",
            ));
        }
        if run
            .plan
            .scenarios
            .iter()
            .any(|scenario| scenario.name != SCENARIO)
            || run.plan.scenarios.len() != 1
        {
            return Err(Ending::usage(
                "this command sets the script's load; remove flags and K6_ variables for virtual users, \
                 iterations, stages, durations and scenarios",
            ));
        }
        Ok(ScriptTarget {
            invocation,
            loaded,
            run,
        })
    }

    /// Its plan, with a load that is a placeholder.
    pub(super) fn plan(&self) -> TestPlan {
        self.run.plan.clone()
    }

    /// Runs it under a plan.
    ///
    /// # Errors
    /// The run could not start.
    pub(super) fn put(
        &self,
        plan: Arc<TestPlan>,
        setup: RunSetup,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Result<Ran, Ending> {
        let (loaded, run) = (&self.loaded, &self.run);
        script::put(loaded, run, &self.invocation, (plan, setup), on_event)
            .map_err(|error| refused(&error))
    }
}

/// Refuses flags of `loadline run` that act around one run, of which a load has none.
///
/// # Errors
/// They were given.
fn refuse_of_a_run(words: &[String]) -> Result<(), Ending> {
    let flags = ScriptCommand::Run.flags();
    let tables: Vec<&[Flag]> = flags.iter().map(|(_, flags)| *flags).collect();
    // What cannot be parsed is refused with its own message.
    let Ok(given) = pflag::parse(&tables, words) else {
        return Ok(());
    };
    let is_given = |name: &&str| given.text(name).is_some();
    let refused: Vec<String> = OF_A_RUN
        .iter()
        .filter(|name| is_given(name))
        .map(|name| format!("--{name}"))
        .collect();
    match refused.as_slice() {
        [] => Ok(()),
        _ => Err(Ending::usage(&format!(
            "{}: for `loadline run` only; this command puts one load after another on the script, without outputs, \
             agents, pages and a summary of each; --json and --observe before -- are its own",
            refused.join(", ")
        ))),
    }
}

/// The script's options with a placeholder for the load, and without thresholds, which could end it.
fn with_load(options: &Value, users: &UserArgs) -> Value {
    const LAID_ASIDE: [&str; 6] = [
        "scenarios",
        "stages",
        "vus",
        "iterations",
        "duration",
        "thresholds",
    ];
    let mut kept = options.as_object().cloned().unwrap_or_default();
    kept.retain(|name, _| !LAID_ASIDE.contains(&name.as_str()));
    let scenario = json!({
        "executor": "constant-arrival-rate",
        "rate": 1,
        "duration": "1s",
        "preAllocatedVUs": users.connections,
        "exec": users.exec.as_deref().unwrap_or("default"),
    });
    kept.insert("scenarios".to_owned(), json!({ SCENARIO: scenario }));
    Value::Object(kept)
}

fn refused(error: &K6Error) -> Ending {
    let fields: String = error
        .notice
        .fields
        .iter()
        .map(|(name, value)| format!(" ({name}: {value})"))
        .collect();
    Ending::refusal(error.code, &format!("{error}{fields}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, Command};

    #[test]
    fn flags_around_one_run_are_refused_by_name() {
        let flags = ScriptCommand::Run.flags();
        let known: Vec<&str> = flags
            .iter()
            .flat_map(|(_, flags)| flags.iter())
            .map(|flag| flag.long)
            .collect();
        for name in OF_A_RUN {
            assert!(known.contains(&name), "{name}");
        }
        let told = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            refuse_of_a_run(&words).map_err(|ending| ending.message().to_owned())
        };
        assert_eq!(told("-e A=b --tag c=d -q s.js"), Ok(()));
        let why = told("--agents 3 -o csv=x.csv s.js").expect_err("both do nothing");
        assert!(
            why.contains("--agents, --out: for `loadline run` only"),
            "{why}"
        );
    }

    #[test]
    fn a_script_s_own_load_is_laid_aside() {
        let words = [
            "loadline", "capacity", "--slo", "p(99)<1s", "--exec", "buy", "s.js",
        ]
        .map(str::to_owned);
        let Command::Capacity(args) = cli::parse(&words).expect("a command line").command else {
            panic!("not capacity");
        };
        let options = json!({"vus": 5, "stages": [], "thresholds": {"checks": ["rate>0.9"]}, "userAgent": "me"});
        let kept = with_load(&options, &args.probing.users);
        assert_eq!(kept["userAgent"], "me");
        assert_eq!(kept["scenarios"]["load"]["exec"], "buy");
        assert_eq!(kept.as_object().map(serde_json::Map::len), Some(2));
        assert!(with_load(&Value::Null, &args.probing.users)["scenarios"].is_object());
    }
}

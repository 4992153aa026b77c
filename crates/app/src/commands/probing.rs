//! One load after another on a target: what `capacity` and `sweep` share.
//!
//! A target is a URL, loaded as by `bench`, or a k6 script, whose own options of load are laid aside. Must not know which loads
//! come, or why. Invariant: the first signal ends the load under way, and none is begun after it.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use loadline_model::executor::{Executor, Spacing};
use loadline_model::front_end::is_plan;
use loadline_model::result::{RunResult, StopReason};
use loadline_model::secret::redacted_command_line;
use loadline_model::{
    ArrivalRate, ExitCode, FrontEnd, Nanos, OnExhausted, RunCommand, RunEvent, TestPlan,
};
use loadline_report::units;
use loadline_run::RunSetup;
use serde_json::{Value, json};

use super::run;
use super::script::{self, LoadedScript};
use super::seed::fresh_seed;
use crate::cli::bench::{Arrivals, BenchArgs};
use crate::cli::script::ScriptCommand;
use crate::cli::values::VUS_MAX;
use crate::cli::{self, Command, ProbingArgs, UserArgs};
use crate::k6::{Identity, K6Error, K6Invocation, Reading, ScriptRun};
use crate::observers::WantedObservers;
use crate::terminal::print;
use crate::terminal::signals::{self, SecondSignal};
use crate::{Ending, Env, Files, plan};

/// How the files of scripts end.
const SCRIPT_ENDINGS: [&str; 5] = [".js", ".mjs", ".ts", ".tsx", ".tar"];
/// The name of the scenario that loads a script.
const SCENARIO: &str = "load";
/// Most virtual users that are allowed unless the user says otherwise.
const VUS_DEFAULT_MAX: f64 = 20_000.0;
/// What is said at the first signal.
const STOPS: &str =
    "\nstopping: running requests may end, and no other load is begun; again to stop at once\n";

/// One load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) kind: LoadKind,
    /// What is left out at its start.
    pub(super) warm_up: Duration,
    /// What is measured after it.
    pub(super) duration: Duration,
}

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LoadKind {
    /// Open model: so many arrivals per second; within these nanoseconds each is to be answered.
    Rate { per_second: f64, within_ns: f64 },
    /// Closed model: so many virtual users.
    Users(u32),
}

/// Puts loads on a target.
pub(super) struct Prober {
    target: Target,
    users: Users,
    wanted: WantedObservers,
    env: Env,
    stops: Stops,
    command_line: Vec<String>,
    is_quiet: bool,
    loads: u64,
}

/// Who sends, of every load.
struct Users {
    made: u32,
    max: Option<u32>,
    arrivals: Arrivals,
    start_window: Duration,
    graceful_stop: Duration,
    workers: Option<u32>,
    seed: u64,
}

/// What is loaded.
enum Target {
    /// What `bench` requests, with a load that is replaced.
    Requests(Box<TestPlan>),
    Script(Box<ScriptTarget>),
}

struct ScriptTarget {
    invocation: K6Invocation,
    loaded: LoadedScript,
    run: ScriptRun,
}

impl Prober {
    /// Prepares the process, and reads the script where there is one.
    ///
    /// # Errors
    /// Options, files or scripts that cannot be run.
    pub(super) fn prepare(
        args: ProbingArgs,
        command_line: &[String],
        env: &Env,
        files: &Files,
    ) -> Result<Prober, Ending> {
        if is_plan(&args.target) {
            let why = "JMeter plans are not loaded step by step; make rows of a suite with rising values (docs/suite.md)";
            return Err(Ending::usage(why));
        }
        loadline_run::prepare_process();
        let wanted = args.observe.wanted();
        let is_quiet = args.told.quiet;
        let users = Users::of(&args.users);
        let target = match is_script(&args.target) {
            true => Target::Script(Box::new(script_target(&args, env, files)?)),
            false => Target::Requests(Box::new(requests(args, env, files)?)),
        };
        Ok(Prober {
            target,
            users,
            wanted,
            env: env.clone(),
            stops: Stops::listen()?,
            command_line: redacted_command_line(command_line, FrontEnd::Bench),
            is_quiet,
            loads: 0,
        })
    }

    /// The command line, secrets removed.
    pub(super) fn command_line(&self) -> &[String] {
        &self.command_line
    }

    /// Whether a signal came.
    pub(super) fn is_stopped(&self) -> bool {
        self.stops.is_asked()
    }

    /// Waits so long, or until a signal comes.
    pub(super) fn wait(&self, duration: Duration) {
        self.stops.wait(duration);
    }

    /// Puts a load on the target; `None` when a signal ended it, or came before.
    ///
    /// # Errors
    /// The load could not be started, or the script ended it.
    pub(super) fn put(&mut self, load: Load, what: &str) -> Result<Option<RunResult>, Ending> {
        let Some(commands) = self.stops.of_next_load() else {
            return Ok(None);
        };
        self.loads += 1;
        let plan = Arc::new(self.plan(load)?);
        let observers = self.wanted.start(&self.env);
        let observers =
            observers.map_err(|refusal| Ending::refusal(refusal.code, &refusal.message))?;
        let mut progress = Progress::new(what, load, self.is_quiet);
        let mut on_event = |event: RunEvent| progress.show(&event);
        let setup = RunSetup {
            steps: None,
            commands,
            samples: None,
            script: None,
            is_paused: false,
            watch: None,
            command_line: self.command_line.clone(),
            observers,
        };
        let ran = match &self.target {
            Target::Requests(_) => loadline_run::run(plan, setup, &mut on_event)
                .map_err(|error| Ending::refusal(error.exit_code(), &error.to_string())),
            Target::Script(script) => script::put(
                &script.loaded,
                &script.run,
                &script.invocation,
                (plan, setup),
                &mut on_event,
            )
            .map_err(|error| refused(&error)),
        };
        progress.clear();
        let ran = ran?;
        let ends = ran
            .troubles
            .iter()
            .find(|trouble| trouble.code != ExitCode::MarkedFailed);
        if let Some(trouble) = ends {
            return Err(Ending::refusal(trouble.code, &trouble.message));
        }
        Ok(match ran.result.totals.stop {
            StopReason::Interrupted | StopReason::Aborted => None,
            _ => Some(ran.result),
        })
    }

    /// The target's plan under a load.
    fn plan(&self, load: Load) -> Result<TestPlan, Ending> {
        let mut plan = match &self.target {
            Target::Requests(plan) => (**plan).clone(),
            Target::Script(script) => script.run.plan.clone(),
        };
        let seed = self.users.seed.wrapping_add(self.loads);
        for scenario in &mut plan.scenarios {
            scenario.executor = self.users.executor(load, seed)?;
            scenario.on_exhausted = OnExhausted::Queue;
            scenario.graceful_stop = self.users.graceful_stop;
            scenario.queue_grace = self.users.graceful_stop;
        }
        plan.warm_up = load.warm_up;
        plan.start_window = self.users.start_window;
        plan.workers = self.users.workers;
        plan.seed = seed;
        plan.validate().map_err(|why| Ending::usage(&why))?;
        Ok(plan)
    }
}

impl Users {
    fn of(args: &UserArgs) -> Users {
        Users {
            made: args.connections,
            max: args.max_vus,
            arrivals: args.arrivals,
            start_window: args.start_window,
            graceful_stop: args.graceful_stop,
            workers: args.workers,
            seed: args.seed.unwrap_or_else(fresh_seed),
        }
    }

    fn executor(&self, load: Load, seed: u64) -> Result<Executor, Ending> {
        let duration = Some(load.warm_up + load.duration);
        Ok(match load.kind {
            LoadKind::Users(vus) => Executor::ConstantVus { vus, duration },
            LoadKind::Rate {
                per_second,
                within_ns,
            } => {
                let max_vus = self
                    .max
                    .unwrap_or_else(|| vus_for(per_second, within_ns, self.made));
                Executor::ConstantArrivalRate {
                    rate: arrival_rate(per_second)?,
                    duration,
                    spacing: match self.arrivals {
                        Arrivals::Even => Spacing::Even,
                        Arrivals::Poisson => Spacing::Poisson { seed },
                    },
                    iterations: None,
                    pre_allocated_vus: self.made.min(max_vus),
                    max_vus,
                }
            }
        })
    }
}

/// By Little's law a target that answers within a time has rate times that time under way; twice as many virtual users,
/// so that it shows when it does not.
fn vus_for(per_second: f64, within_ns: f64, made: u32) -> u32 {
    let needed = (2.0 * per_second * within_ns / 1e9).ceil();
    made.max(needed.min(VUS_DEFAULT_MAX) as u32).min(VUS_MAX)
}

fn arrival_rate(per_second: f64) -> Result<ArrivalRate, Ending> {
    /// Parts of a start that a rate is exact to.
    const PARTS: f64 = 1_000.0;
    let starts = (per_second * PARTS).round();
    if starts < 1.0 {
        return Err(Ending::usage(&format!(
            "a rate of {per_second}/s is too low: 0.001/s is the lowest"
        )));
    }
    Ok(ArrivalRate {
        starts: starts as u64,
        per: Nanos(Nanos::PER_SECOND * PARTS as u64),
    })
}

fn is_script(target: &str) -> bool {
    !target.contains("://") && SCRIPT_ENDINGS.iter().any(|ending| target.ends_with(ending))
}

/// The plan of `bench` for what is requested; its load is a placeholder.
fn requests(args: ProbingArgs, env: &Env, files: &Files) -> Result<TestPlan, Ending> {
    if args.users.exec.is_some() || !args.script_flags.is_empty() {
        let why = "--exec and flags behind -- are for a k6 script; a script's file ends in .js, .mjs, .ts or .tar";
        return Err(Ending::usage(why));
    }
    let words = ["loadline", "bench", "-r", "1", "-z", "1s", &args.target].map(str::to_owned);
    let Command::Bench(bench) = cli::parse(&words)?.command else {
        return Err(Ending::refusal(
            ExitCode::Internal,
            "a command line of bench was read as another",
        ));
    };
    let mut bench = BenchArgs {
        request: args.request,
        body: args.body,
        connection: args.connection,
        tls: args.tls,
        ..*bench
    };
    bench.load.connections = Some(args.users.connections);
    bench.results.expect = args.told.expect;
    plan::bench(&bench, env, files, fresh_seed()).map_err(|why| Ending::usage(&why))
}

fn script_target(args: &ProbingArgs, env: &Env, files: &Files) -> Result<ScriptTarget, Ending> {
    if !args.told.expect.is_empty() {
        return Err(Ending::usage(
            "--expect is for a URL; a script checks its answers itself, with check()",
        ));
    }
    let words: Vec<String> = args
        .script_flags
        .iter()
        .cloned()
        .chain([args.target.clone()])
        .collect();
    let read = K6Invocation::parse(Identity::Loadline, ScriptCommand::Run, &words, env);
    let invocation = match read.map_err(|error| refused(&error))? {
        Reading::Help(text) => return Err(Ending::answer(text)),
        Reading::Invocation(invocation) => *invocation,
    };
    let mut loaded = script::load(&invocation, env, files).map_err(|error| refused(&error))?;
    loaded.options = with_load(&loaded.options, &args.users);
    let run = run::consolidated(&invocation, &loaded, None).map_err(|error| refused(&error))?;
    loaded.tell(&run.notices);
    if run
        .plan
        .scenarios
        .iter()
        .any(|scenario| scenario.name != SCENARIO)
        || run.plan.scenarios.len() != 1
    {
        return Err(Ending::usage(
            "the load of a script is given by this command alone; leave out flags and K6_ variables of virtual users, \
             iterations, stages, durations and scenarios",
        ));
    }
    Ok(ScriptTarget {
        invocation,
        loaded,
        run,
    })
}

/// The script's options with a load that is a placeholder, and without thresholds, which could end it.
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

/// Refuses a file that cannot be written, before anything is sent.
///
/// # Errors
/// Its folder is not there.
pub(super) fn check_folder(option: &str, path: &Path) -> Result<(), Ending> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || !folder.unwrap_or(Path::new(".")).is_dir() {
        let path = path.display();
        return Err(Ending::usage(&format!(
            "{option}: {path} cannot be written; name a file in a folder that is there"
        )));
    }
    Ok(())
}

/// Signals, passed on to the load under way.
struct Stops {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_asked: bool,
    /// Where orders to the load under way go.
    load: Option<Sender<RunCommand>>,
}

impl Stops {
    fn listen() -> Result<Stops, Ending> {
        let (_, orders) = signals::orders(STOPS, SecondSignal::Ends)?;
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let pass_on = move || {
            while let Ok(order) = orders.recv() {
                for_thread.pass_on(order);
            }
        };
        let started = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(pass_on);
        started.map_err(|error| {
            Ending::refusal(ExitCode::Other, &format!("cannot start a thread: {error}"))
        })?;
        Ok(Stops { shared })
    }

    fn is_asked(&self) -> bool {
        self.shared.lock().is_asked
    }

    /// The orders to the next load; `None` when there is to be none.
    fn of_next_load(&self) -> Option<Receiver<RunCommand>> {
        let mut state = self.shared.lock();
        if state.is_asked {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        state.load = Some(sender);
        Some(receiver)
    }

    fn wait(&self, duration: Duration) {
        let state = self.shared.lock();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, duration, |state| !state.is_asked);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, order: RunCommand) {
        let mut state = self.lock();
        state.is_asked = true;
        if let Some(load) = &state.load {
            // The load may have ended already; then there is nothing to stop.
            let _ = load.send(order);
        }
        self.changed.notify_all();
    }
}

/// The seconds of a load, on a line of a terminal that the next text takes the place of.
struct Progress {
    what: String,
    seconds: u64,
    of: u64,
    is_shown: bool,
}

impl Progress {
    fn new(what: &str, load: Load, is_quiet: bool) -> Progress {
        let progress = Progress {
            what: what.to_owned(),
            seconds: 0,
            of: (load.warm_up + load.duration).as_secs_f64().ceil() as u64,
            is_shown: !is_quiet && std::io::stderr().is_terminal(),
        };
        progress.draw("");
        progress
    }

    fn show(&mut self, event: &RunEvent) {
        if let RunEvent::Second { row, .. } = event {
            self.seconds += 1;
            let rate = units::rate(row.completed as f64 * 1e9 / row.span_ns.max(1) as f64);
            self.draw(&format!(
                "  {} of {} s, {rate}",
                self.seconds.min(self.of),
                self.of
            ));
        }
    }

    fn draw(&self, rest: &str) {
        if self.is_shown {
            print::to_stderr(&format!("\r{}{rest}\x1b[K", self.what));
        }
    }

    fn clear(&self) {
        if self.is_shown {
            print::to_stderr("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_told_by_its_ending() {
        for (target, expected) in [
            ("checkout.js", true),
            ("./a/b.ts", true),
            ("archive.tar", true),
            ("http://localhost/app.js", false),
            ("localhost:8080/", false),
        ] {
            assert_eq!(is_script(target), expected, "{target}");
        }
    }

    #[test]
    fn virtual_users_are_enough_for_the_objective() {
        assert_eq!(vus_for(400.0, 300e6, 50), 240);
        assert_eq!(vus_for(10.0, 300e6, 50), 50);
        assert_eq!(vus_for(1e6, 1e9, 50), 20_000);
        assert_eq!(vus_for(1e6, 1e9, 30_000), 30_000);
    }

    #[test]
    fn rates_are_exact_to_a_thousandth() {
        let rate = arrival_rate(12.5).expect("a rate");
        assert!((rate.starts_per_second() - 12.5).abs() < 1e-12);
        assert!(arrival_rate(0.0001).is_err());
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

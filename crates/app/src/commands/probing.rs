//! Loads applied to a target one after another: the common part of `capacity` and `sweep`.
//!
//! A target is a URL, loaded as by `bench`, a k6 script, or a JMeter plan; their own load is ignored. Must not
//! know which loads are applied, or why. Invariant: the first signal ends the current load, and no other one
//! starts.

mod plan_target;
mod progress;
mod saved;
mod script_target;
mod stops;

use std::sync::Arc;
use std::time::Duration;

use loadline_model::executor::{Executor, Spacing};
use loadline_model::front_end::is_plan;
use loadline_model::result::{RunResult, StopReason};
use loadline_model::secret::redacted_command_line;
use loadline_model::{ArrivalRate, ExitCode, FrontEnd, Nanos, OnExhausted, RunEvent, TestPlan};
use loadline_run::{Ran, RunSetup};

use self::plan_target::PlanTarget;
use self::progress::Progress;
pub(super) use self::saved::{can_be_replaced, keep_json, save_json};
use self::script_target::ScriptTarget;
use self::stops::Stops;
use super::seed::fresh_seed;
use crate::cli::bench::{Arrivals, BenchArgs};
use crate::cli::values::VUS_MAX;
use crate::cli::{self, Command, ProbingArgs, UserArgs};
use crate::jmeter::imposed_load::ImposedLoad;
use crate::observers::WantedObservers;
use crate::{Ending, Env, Files, plan};

/// File name suffixes of scripts.
const SCRIPT_ENDINGS: [&str; 5] = [".js", ".mjs", ".ts", ".tsx", ".tar"];
/// Default maximum of virtual users.
const VUS_DEFAULT_MAX: f64 = 20_000.0;

/// One load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) kind: LoadKind,
    /// The excluded part at its start.
    pub(super) warm_up: Duration,
    /// The measured part after it.
    pub(super) duration: Duration,
}

/// The size of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LoadKind {
    /// Open model: arrivals per second; each should get a response within `within_ns` nanoseconds.
    Rate { per_second: f64, within_ns: f64 },
    /// Closed model: number of virtual users.
    Users(u32),
}

/// Applies loads to a target.
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

/// The virtual users of every load.
struct Users {
    made: u32,
    max: Option<u32>,
    arrivals: Arrivals,
    start_window: Duration,
    graceful_stop: Duration,
    workers: Option<u32>,
    seed: u64,
}

/// The target of the loads.
enum Target {
    /// The requests of `bench`, with a replaced load.
    Requests(Box<TestPlan>),
    Script(Box<ScriptTarget>),
    /// A JMeter plan.
    Plan(Box<PlanTarget>),
}

impl Target {
    /// # Errors
    /// Options, files, scripts and plans that cannot be run.
    fn of(args: ProbingArgs, env: &Env, files: &Files) -> Result<Target, Ending> {
        if is_plan(&args.target) || is_script(&args.target) {
            refuse_of_urls(&args.of_urls)?;
        }
        if is_plan(&args.target) {
            return Ok(Target::Plan(Box::new(PlanTarget::read(&args, env)?)));
        }
        Ok(match is_script(&args.target) {
            true => Target::Script(Box::new(ScriptTarget::load(&args, env, files)?)),
            false => Target::Requests(Box::new(requests(args, env, files)?)),
        })
    }
}

impl Prober {
    /// Prepares the process, and reads the script or the plan if there is one.
    ///
    /// # Errors
    /// Options, files, scripts or plans that cannot be run.
    pub(super) fn prepare(
        args: ProbingArgs,
        command_line: &[String],
        env: &Env,
        files: &Files,
    ) -> Result<Prober, Ending> {
        loadline_run::prepare_process();
        let wanted = args.observe.wanted();
        let is_quiet = args.told.quiet;
        let users = Users::of(&args.users);
        Ok(Prober {
            target: Target::of(args, env, files)?,
            users,
            wanted,
            env: env.clone(),
            stops: Stops::listen()?,
            command_line: redacted_command_line(command_line, FrontEnd::Bench),
            is_quiet,
            loads: 0,
        })
    }

    /// The command line, with secrets removed.
    pub(super) fn command_line(&self) -> &[String] {
        &self.command_line
    }

    /// Whether a signal was received.
    pub(super) fn is_stopped(&self) -> bool {
        self.stops.is_asked()
    }

    /// Waits for `duration`, or until a signal.
    pub(super) fn wait(&self, duration: Duration) {
        self.stops.wait(duration);
    }

    /// Applies a load to the target; `None` if a signal ended it, or came before.
    ///
    /// # Errors
    /// The load could not be started, or the script ended it.
    pub(super) fn put(&mut self, load: Load, what: &str) -> Result<Option<RunResult>, Ending> {
        let Some(commands) = self.stops.of_next_load() else {
            return Ok(None);
        };
        self.loads += 1;
        let observers = self.wanted.start(&self.env);
        let observers =
            observers.map_err(|refusal| Ending::refusal(refusal.code, &refusal.message))?;
        let mut progress = Progress::new(what, load, self.is_quiet);
        let mut on_event = |event: RunEvent| progress.show(&event);
        let setup = RunSetup {
            observers,
            ..RunSetup::new(commands, self.command_line.clone())
        };
        let ran = self.run(load, setup, &mut on_event);
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

    /// Runs the target under a load.
    fn run(
        &self,
        load: Load,
        setup: RunSetup,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Result<Ran, Ending> {
        let users = &self.users;
        let seed = users.seed.wrapping_add(self.loads);
        let executor = users.executor(load, seed)?;
        let tuned = |plan: TestPlan| users.tuned(plan, load, seed);
        match &self.target {
            Target::Requests(plan) => {
                let mut plan = (**plan).clone();
                impose(&executor, &mut plan);
                loadline_run::run(tuned(plan)?, setup, on_event)
                    .map_err(|error| Ending::refusal(error.exit_code(), &error.to_string()))
            }
            Target::Script(script) => {
                let mut plan = script.plan();
                impose(&executor, &mut plan);
                script.put(tuned(plan)?, setup, on_event)
            }
            Target::Plan(target) => {
                let load = ImposedLoad {
                    executor,
                    lasts: load.warm_up + load.duration + users.graceful_stop,
                };
                let trial = target.trial(&load, seed, &self.env)?;
                trial.go(&tuned, setup, on_event)
            }
        }
    }
}

/// Applies this load to all scenarios of a plan.
fn impose(executor: &Executor, plan: &mut TestPlan) {
    for scenario in &mut plan.scenarios {
        scenario.executor = executor.clone();
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

    /// The plan of a load, with the settings for all loads. Groups of a JMeter plan that are not loaded end as
    /// planned.
    fn tuned(&self, mut plan: TestPlan, load: Load, seed: u64) -> Result<Arc<TestPlan>, Ending> {
        let scenarios = plan.scenarios.iter_mut();
        for scenario in scenarios.filter(|one| !matches!(one.executor, Executor::ThreadGroup(_))) {
            scenario.on_exhausted = OnExhausted::Queue;
            scenario.graceful_stop = self.graceful_stop;
            scenario.queue_grace = self.graceful_stop;
        }
        plan.warm_up = load.warm_up;
        plan.start_window = self.start_window;
        plan.workers = self.workers;
        plan.seed = seed;
        plan.validate().map_err(|why| Ending::usage(&why))?;
        Ok(Arc::new(plan))
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

/// By Little's law a target that responds within a time has rate times that time in flight; twice as many
/// virtual users show if it does not.
fn vus_for(per_second: f64, within_ns: f64, made: u32) -> u32 {
    let needed = (2.0 * per_second * within_ns / 1e9).ceil();
    made.max(needed.min(VUS_DEFAULT_MAX) as u32).min(VUS_MAX)
}

fn arrival_rate(per_second: f64) -> Result<ArrivalRate, Ending> {
    /// Resolution of a rate in parts of a start.
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

/// # Errors
/// Options were given that only a URL has.
fn refuse_of_urls(given: &[String]) -> Result<(), Ending> {
    match given {
        [] => Ok(()),
        given => Err(Ending::usage(&format!(
            "{}: for a URL only; a script or a plan says itself what it sends and how, and flags of `loadline run` \
             for it go after --",
            given.join(", ")
        ))),
    }
}

/// The plan of `bench` for the requests; its load is a placeholder.
fn requests(args: ProbingArgs, env: &Env, files: &Files) -> Result<TestPlan, Ending> {
    if args.users.exec.is_some() || !args.script_flags.is_empty() {
        let why = "--exec and flags after -- are for a k6 script or a JMeter plan, whose files end in .js, .mjs, .ts, .tar or .jmx";
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
    fn options_of_urls_are_refused_for_scripts_by_name() {
        let given = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            match cli::parse(&words).expect("a command line").command {
                Command::Capacity(args) => args.probing.of_urls,
                Command::Sweep(args) => args.probing.of_urls,
                other => panic!("{other:?}"),
            }
        };
        let both = given("loadline sweep --rates 1 -H a:b --insecure -c 2 s.js");
        assert_eq!(both, ["--header", "--insecure"]);
        let told = refuse_of_urls(&both).expect_err("a script has neither");
        assert!(
            told.message().contains("--header, --insecure: for a URL"),
            "{}",
            told.message()
        );
        assert!(given("loadline capacity --slo p(99)<1s -q s.js").is_empty());
        assert!(refuse_of_urls(&[]).is_ok());
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
}

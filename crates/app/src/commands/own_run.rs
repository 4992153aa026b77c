//! A run of loadline's own commands: observed, watched, stored and reported according to the options.
//!
//! Must not know where the plan came from. Invariant: with `-` for JSON or CSV nothing else goes to standard
//! output.

use std::sync::Arc;

use loadline_cluster::Recipe;
use loadline_model::result::RunResult;
use loadline_model::{ExitCode, TestPlan};
use loadline_output::json;
use loadline_run::steps::StepsSetup;
use loadline_run::{RunWatch, ScriptLog, ScriptMetrics};

use super::running::{Finished, Run};
use super::sinks::{Sinks, metrics_of};
use crate::agents::{Agents, AgentsJob};
use crate::cli::bench::{ObserveArgs, ResultArgs};
use crate::http::AccessSettings;
use crate::jmeter::wire;
use crate::journal::Place;
use crate::outputs::files_of;
use crate::rest::{self, Rest};
use crate::result_files::{ResultFiles, check_apart};
use crate::terminal::progress::Live;
use crate::terminal::signals::FirstSignal;
use crate::terminal::tui::{Tui, TuiSetup};
use crate::terminal::{print, style};
use crate::web::{Web, WebSetup};
use crate::{Ending, Env, Files, WantedAgents};

/// A run that is about to start.
pub(super) struct OwnRun<'a> {
    /// The plan.
    pub(super) plan: TestPlan,
    /// The name of the run in outputs.
    pub(super) name: &'a str,
    /// The work of the threads of a plan of steps; `None`: there are none.
    pub(super) steps: Option<StepsSetup>,
    pub(super) observe: &'a ObserveArgs,
    pub(super) results: &'a ResultArgs,
    /// The agents that make the load, and their recipe; `None`: this process makes the load.
    pub(super) agents: Option<(WantedAgents, Recipe)>,
    /// Where lines of the agents' logs go; `None`: nowhere.
    pub(super) log: Option<Arc<dyn ScriptLog>>,
    /// The command line, with secrets removed.
    pub(super) command_line: &'a [String],
    pub(super) env: &'a Env,
}

/// The outcome of a run.
pub(super) struct Done {
    pub(super) result: RunResult,
    /// Whether everything was printed and written; failures have been reported, and end the command unless
    /// there is a more severe error.
    is_whole: bool,
    agents: Option<Agents>,
}

impl Done {
    /// Ends the agents, if any, with the exit code of the command; returns it.
    pub(super) fn conclude(self, of_run: ExitCode) -> ExitCode {
        let code = match of_run {
            ExitCode::Ok | ExitCode::NothingSucceeded if !self.is_whole => ExitCode::Other,
            graver => graver,
        };
        if let Some(agents) = self.agents {
            agents.conclude(code);
        }
        code
    }
}

impl OwnRun<'_> {
    /// Runs it, and reports and stores the outcome.
    ///
    /// # Errors
    /// The run could not start.
    pub(super) fn go(self) -> Result<Done, Ending> {
        let (results, env) = (self.results, self.env);
        let mut run = Run::prepare(
            self.plan,
            journal_place(results, env),
            &self.observe.wanted(),
            self.command_line,
            FirstSignal::ENDS_RUN,
            env,
        )?;
        let of_steps = self.steps.as_ref();
        let metrics = of_steps.map(|_| metrics_of(results, run.plan()));
        let watch = watch(metrics.as_ref(), results, &mut run)?;
        let web = serve(results, env, &run, watch.clone())?;
        let rest = serve_rest(results, env, &run)?;
        let (mut sinks, metrics) = match metrics {
            None => (Sinks::of_samples(results, &mut run, self.name, env)?, None),
            Some(metrics) => {
                let (sinks, metrics) =
                    Sinks::of_metrics(results, &mut run, metrics, self.name, env)?;
                (sinks, Some(metrics))
            }
        };
        let steps = self.steps.map(|steps| StepsSetup { metrics, ..steps });
        let agents = match self.agents {
            Some(wanted) => start_agents(wanted, (self.log, steps.as_ref()), &mut run, env)?,
            None => None,
        };
        if let Some(steps) = steps {
            run.follow_steps(steps);
        }
        let shown = style::of_stderr(results.no_color, env);
        let tui = screen(results, &run, env, watch);
        let is_quiet = results.quiet || tui.is_some();
        let mut live = Live::on_stderr(run.plan(), is_quiet, shown);
        let ran = run.go(&mut |event| {
            sinks.event(event);
            live.show(event);
            if let Some(tui) = &tui {
                tui.event(event);
            }
            if let Some(web) = &web {
                web.event(event);
            }
        });
        drop((live, tui, rest));
        let Finished {
            result,
            journal,
            unwritten,
        } = ran?;
        if let Some(agents) = &agents {
            agents.begin_to_tell();
        }
        let mut failures = unwritten;
        failures.extend(tell(results, &result, env));
        // A slow output does not delay the report.
        failures.extend(sinks.finish(result.totals.seen.back_pressure_ns));
        let kept = journal.end(failures.is_empty());
        failures.extend(kept.err().map(|ending| ending.message().to_owned()));
        for why in &failures {
            print::to_stderr(&format!("loadline: {why}\n"));
        }
        Ok(Done {
            result,
            is_whole: failures.is_empty(),
            agents,
        })
    }
}

/// Starts the agents that make the load.
fn start_agents(
    (wanted, recipe): (WantedAgents, Recipe),
    (log, steps): (Option<Arc<dyn ScriptLog>>, Option<&StepsSetup>),
    run: &mut Run,
    env: &Env,
) -> Result<Option<Agents>, Ending> {
    let metrics = steps.and_then(|steps| steps.metrics.as_ref());
    if let Some(metrics) = metrics {
        loadline_run::steps::declare_metrics(metrics).map_err(|why| Ending::usage(&why))?;
    }
    let samples = run.take_samples();
    let taker = |steps: &StepsSetup| wire::taker(Arc::clone(&steps.program), steps.samples.taker());
    let job = AgentsJob {
        plan: run.plan(),
        recipe,
        data: Arc::default(),
        metrics,
        log,
        samples,
        results: steps.map(taker),
    };
    let started = wanted.start(job, env, &Files::Disk)?;
    Ok(started.map(|started| {
        let (agents, load) = started.apart();
        run.let_others_load(load);
        agents
    }))
}

/// Follows the metrics of a run of steps if a page or the screen shows them; `None`: nothing follows them.
///
/// # Errors
/// A threshold that cannot be evaluated.
fn watch(
    metrics: Option<&ScriptMetrics>,
    args: &ResultArgs,
    run: &mut Run,
) -> Result<Option<Arc<RunWatch>>, Ending> {
    let Some(metrics) = metrics.filter(|_| args.web.is_some() || args.tui) else {
        return Ok(None);
    };
    let watch = RunWatch::of_steps(run.plan(), metrics).map_err(|why| Ending::usage(&why))?;
    let watch = Arc::new(watch);
    run.let_watch(Arc::clone(&watch));
    Ok(Some(watch))
}

/// Takes over the whole screen if it is requested and there is one.
fn screen(args: &ResultArgs, run: &Run, env: &Env, watch: Option<Arc<RunWatch>>) -> Option<Tui> {
    let setup = || TuiSetup {
        plan: Arc::clone(run.plan()),
        commands: run.orders(),
        watch,
        is_paused: false,
        color: style::of_stdout(args.no_color, env).color,
    };
    args.tui.then(|| Tui::start(setup())).flatten()
}

/// Starts to serve the live page if it is requested, and prints its address.
fn serve(
    args: &ResultArgs,
    env: &Env,
    run: &Run,
    watch: Option<Arc<RunWatch>>,
) -> Result<Option<Web>, Ending> {
    let Some(address) = &args.web else {
        return Ok(None);
    };
    let access = AccessSettings::of(args.control_token.as_deref(), &args.control_host, env);
    let web = Web::start(WebSetup {
        address,
        access: &access,
        plan: run.plan(),
        commands: run.orders(),
        watch,
        is_paused: false,
    });
    let web = web.map_err(|why| {
        let message = format!("--web: {why}; name another address with --web=HOST:PORT");
        Ending::refusal(ExitCode::CannotListen, &message)
    })?;
    print::to_stderr(&format!("live page: {}\n", web.url()));
    Ok(Some(web))
}

/// Starts to serve the REST API if it is requested.
fn serve_rest(args: &ResultArgs, env: &Env, run: &Run) -> Result<Option<Rest>, Ending> {
    let Some(address) = &args.address else {
        return Ok(None);
    };
    let access = AccessSettings::of(args.control_token.as_deref(), &args.control_host, env);
    rest::of_ending(address, &access, run.orders()).map(Some)
}

fn journal_place(args: &ResultArgs, env: &Env) -> Place {
    match (&args.journal, args.no_journal) {
        (Some(path), _) => Place::File(path.into()),
        (None, true) => Place::Nowhere,
        (None, false) => Place::default_in(env),
    }
}

/// Refuses outputs that cannot work, before anything is sent; `others`: the command's other output and input
/// files, by option.
pub(super) fn check_outputs(
    args: &ResultArgs,
    others: &[(&str, &str)],
    env: &Env,
) -> Result<(), Ending> {
    if to_stdout_by_option(args).count() > 1 {
        return Err(Ending::usage(
            "only one of --json -, --csv - and --out can write to standard output; give the others a file",
        ));
    }
    if args.journal.as_deref() == Some("-") {
        return Err(Ending::usage(
            "--journal: - is not a file; name one (./- names a file of this name)",
        ));
    }
    let files = [
        ("--json", &args.json),
        ("--csv", &args.csv),
        ("--report", &args.report),
        ("--journal", &args.journal),
    ];
    let files = files
        .into_iter()
        .filter_map(|(option, path)| Some((option, path.as_deref()?)));
    let files = others.iter().copied().chain(files);
    let files = files.chain(ResultFiles::of_env(env).json);
    let files = files.map(|(option, path)| (option.to_owned(), path));
    check_apart(files.chain(files_of(&args.out)))
        .and_then(|()| result_files(args).check())
        .map_err(|why| Ending::usage(&why))
}

/// The files to which a result is written, without standard output.
fn result_files(args: &ResultArgs) -> ResultFiles<'_> {
    let json = args.json.as_deref().filter(|path| *path != "-");
    ResultFiles {
        reports: args.report.as_deref().into_iter().collect(),
        charts: args.charts.as_deref(),
        json: json.map(|path| ("--json", path)).into_iter().collect(),
        hdr: args.hdr,
    }
}

/// The options with which something other than the report goes to standard output.
fn to_stdout_by_option(args: &ResultArgs) -> impl Iterator<Item = ()> {
    let files = [&args.json, &args.csv].into_iter();
    let files = files.filter(|path| path.as_deref() == Some("-")).map(drop);
    let outputs = args.out.iter().filter(|spec| spec.is_to_stdout()).map(drop);
    files.chain(outputs)
}

/// Prints the result; returns the failures.
fn tell(args: &ResultArgs, result: &RunResult, env: &Env) -> Vec<String> {
    let mut failures = Vec::new();
    if to_stdout_by_option(args).next().is_some() {
        let report = loadline_report::text::render(result, &style::of_stderr(args.no_color, env));
        print::to_stderr(&report);
    } else {
        let report = loadline_report::text::render(result, &style::of_stdout(args.no_color, env));
        let error = print::to_stdout(&report).err();
        failures.extend(error.map(|error| format!("the report cannot be written: {error}")));
    }
    failures.extend(result_files(args).write(result));
    if args.json.as_deref() == Some("-") {
        let options = json::Options {
            pretty: true,
            hdr: args.hdr,
        };
        let error = to_stdout(result, options).err();
        failures.extend(error.map(|error| format!("--json -: {error}")));
    }
    failures
}

/// Writes the JSON result to standard output.
///
/// # Errors
/// Those of the stream; a closed stream is not an error.
pub(super) fn to_stdout(result: &RunResult, options: json::Options) -> std::io::Result<()> {
    let mut text = Vec::new();
    json::write(result, options, &mut text)?;
    print::to_stdout(&String::from_utf8_lossy(&text))
}

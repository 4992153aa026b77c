//! A run of loadline's own commands: observed, watched, kept and told as the options say.
//!
//! Must not know where the plan came from. Invariant: with `-` for JSON or CSV nothing else goes to standard output.

use std::path::Path;
use std::sync::Arc;

use loadline_cluster::Recipe;
use loadline_model::result::RunResult;
use loadline_model::{ExitCode, TestPlan};
use loadline_output::json;
use loadline_run::ScriptLog;
use loadline_run::steps::StepsSetup;

use super::running::Run;
use super::sinks::Sinks;
use crate::agents::{Agents, AgentsJob};
use crate::cli::bench::{ObserveArgs, ResultArgs};
use crate::http::AccessSettings;
use crate::jmeter::wire;
use crate::journal::Place;
use crate::terminal::progress::Live;
use crate::terminal::tui::{Tui, TuiSetup};
use crate::terminal::{print, style};
use crate::web::{Web, WebSetup};
use crate::{Ending, Env, Files, WantedAgents, charts, pages};

/// A run about to take place.
pub(super) struct OwnRun<'a> {
    /// What to do.
    pub(super) plan: TestPlan,
    /// What the run is called in outputs.
    pub(super) name: &'a str,
    /// What the threads of a plan of steps do; `None`: it has none.
    pub(super) steps: Option<StepsSetup>,
    pub(super) observe: &'a ObserveArgs,
    pub(super) results: &'a ResultArgs,
    /// Who makes the load, and from what; `None`: it is made here.
    pub(super) agents: Option<(WantedAgents, Recipe)>,
    /// Where lines of the agents' logs go; `None`: nowhere.
    pub(super) log: Option<Arc<dyn ScriptLog>>,
    /// The command line, secrets removed.
    pub(super) command_line: &'a [String],
    pub(super) env: &'a Env,
}

/// What a run came to.
pub(super) struct Done {
    pub(super) result: RunResult,
    /// What could not be told or written, which ends the command where nothing graver does.
    pub(super) told: Result<(), Ending>,
    agents: Option<Agents>,
}

impl Done {
    /// Ends the agents, where there are any, with the exit code of the run.
    pub(super) fn conclude(self, code: ExitCode) -> ExitCode {
        if let Some(agents) = self.agents {
            agents.conclude(code);
        }
        code
    }
}

impl OwnRun<'_> {
    /// Runs it, and reports and keeps the outcome.
    ///
    /// # Errors
    /// The run could not start.
    pub(super) fn go(self) -> Result<Done, Ending> {
        let (results, env) = (self.results, self.env);
        check_outputs(results)?;
        let mut run = Run::prepare(
            self.plan,
            journal_place(results, env),
            &self.observe.wanted(),
            self.command_line,
            env,
        )?;
        let web = serve(results, env, &run)?;
        let (mut sinks, metrics) = match &self.steps {
            None => (Sinks::of_samples(results, &mut run, self.name, env)?, None),
            Some(_) => {
                let (sinks, metrics) = Sinks::of_metrics(results, &mut run, self.name, env)?;
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
        let tui = screen(results, &run, env);
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
        drop((live, tui));
        let (result, journal) = ran?;
        if let Some(agents) = &agents {
            agents.begin_to_tell();
        }
        let told = tell(results, &result, env);
        // A slow output keeps nobody from the report.
        let sunk = sinks.finish(result.totals.seen.back_pressure_ns);
        journal.end(told.is_ok())?;
        Ok(Done {
            result,
            told: told.and(sunk),
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

/// Takes the whole screen where it is wanted and there is one.
fn screen(args: &ResultArgs, run: &Run, env: &Env) -> Option<Tui> {
    let setup = || TuiSetup {
        plan: Arc::clone(run.plan()),
        commands: run.orders(),
        watch: None,
        is_paused: false,
        color: style::of_stdout(args.no_color, env).color,
    };
    args.tui.then(|| Tui::start(setup())).flatten()
}

/// Begins to serve the live page where it is wanted, and says where.
fn serve(args: &ResultArgs, env: &Env, run: &Run) -> Result<Option<Web>, Ending> {
    let Some(address) = &args.web else {
        return Ok(None);
    };
    let access = AccessSettings::of(args.control_token.as_deref(), &args.control_host, env);
    let web = Web::start(WebSetup {
        address,
        access: &access,
        plan: run.plan(),
        commands: run.orders(),
        watch: None,
        is_paused: false,
    });
    let web = web.map_err(|why| {
        let message = format!("--web: {why}; name another address with --web=HOST:PORT");
        Ending::refusal(ExitCode::CannotListen, &message)
    })?;
    print::to_stderr(&format!("live page: {}\n", web.url()));
    Ok(Some(web))
}

fn journal_place(args: &ResultArgs, env: &Env) -> Place {
    match (&args.journal, args.no_journal) {
        (Some(path), _) => Place::File(path.into()),
        (None, true) => Place::Nowhere,
        (None, false) => Place::default_in(env),
    }
}

/// Refuses outputs that cannot work, before anything is sent.
fn check_outputs(args: &ResultArgs) -> Result<(), Ending> {
    if to_stdout_by_option(args).count() > 1 {
        return Err(Ending::usage(
            "--json -, --csv - and --out to standard output exclude each other; give all but one a \
             file",
        ));
    }
    if let Some(path) = &args.report {
        check_folder("--report", path)?;
    }
    if let Some(folder) = &args.charts {
        charts::prepare(folder).map_err(|why| Ending::usage(&why))?;
    }
    match args.json.as_deref() {
        Some(path) if path != "-" => check_folder("--json", path),
        _ => Ok(()),
    }
}

/// The options by which something else than the report goes to standard output.
fn to_stdout_by_option(args: &ResultArgs) -> impl Iterator<Item = ()> {
    let files = [&args.json, &args.csv].into_iter();
    let files = files.filter(|path| path.as_deref() == Some("-")).map(drop);
    let outputs = args.out.iter().filter(|spec| spec.is_to_stdout()).map(drop);
    files.chain(outputs)
}

/// The result is written at the end; that its folder is there is looked at now.
fn check_folder(option: &str, path: &str) -> Result<(), Ending> {
    let folder = Path::new(path)
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if Path::new(path).is_dir() || !folder.is_dir() {
        return Err(Ending::usage(&format!(
            "{option}: {path} cannot be written; name a file in a folder that is there"
        )));
    }
    Ok(())
}

fn tell(args: &ResultArgs, result: &RunResult, env: &Env) -> Result<(), Ending> {
    let failed = |what: &str, error| Ending::refusal(ExitCode::Other, &format!("{what}: {error}"));
    let options = |pretty| json::Options {
        pretty,
        hdr: args.hdr,
    };
    if to_stdout_by_option(args).next().is_some() {
        let report = loadline_report::text::render(result, &style::of_stderr(args.no_color, env));
        print::to_stderr(&report);
    } else {
        let report = loadline_report::text::render(result, &style::of_stdout(args.no_color, env));
        print::to_stdout(&report).map_err(|error| failed("the report cannot be written", error))?;
    }
    if let Some(path) = &args.report {
        let failed = |why| Ending::refusal(ExitCode::Other, &format!("--report: {why}"));
        pages::save(path, result).map_err(failed)?;
    }
    if let Some(folder) = &args.charts {
        charts::save(folder, result).map_err(|why| Ending::refusal(ExitCode::Other, &why))?;
    }
    match args.json.as_deref() {
        None => Ok(()),
        Some("-") => to_stdout(result, options(true)).map_err(|error| failed("--json -", error)),
        Some(path) => json::save(Path::new(path), result, options(false))
            .map_err(|error| failed(&format!("--json: cannot write {path}"), error)),
    }
}

/// Writes the JSON result to standard output.
///
/// # Errors
/// Those of the stream; a closed one is none.
pub(super) fn to_stdout(result: &RunResult, options: json::Options) -> std::io::Result<()> {
    let mut text = Vec::new();
    json::write(result, options, &mut text)?;
    text.push(b'\n');
    print::to_stdout(&String::from_utf8_lossy(&text))
}

//! `loadline jmeter`: a JMeter plan without its window.
//!
//! Must not know JMeter's formats. Invariant: a plan of which something is not supported is not run unless the user
//! says so.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, sync_channel};
use std::thread;
use std::time::Duration;

use loadline_jmeter::{Reading, Unsupported};
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd, RunCommand, TestPlan};
use loadline_report::jmeter::console;
use loadline_report::jmeter::save_config::SaveConfig;
use loadline_report::jmeter::summariser::{Summariser, Threads};
use loadline_run::steps::{GroupTimes, StepsSetup, StepsState};
use loadline_steps::host::{LogLevel, World as _};
use loadline_steps::sample::Sample;
use loadline_steps::variables::Variables;

use super::hey::tell_verdict;
use super::running::Run;
use super::seed::fresh_seed;
use crate::environment::NO_VERDICT;
use crate::jmeter::bench::Bench;
use crate::jmeter::options::{self, Options, Wish};
use crate::jmeter::results::{self, ResultsFile};
use crate::jmeter::test_plan;
use crate::jmeter::world::{World, now_ms};
use crate::jmeter::zone;
use crate::journal::Place;
use crate::observers::WantedObservers;
use crate::terminal::print;
use crate::{Ending, Env, Files};

/// Batches of samples between the threads and the results file.
const BATCHES: usize = 1024;

/// The ports on which JMeter waits for messages, the first that is free.
const MESSAGE_PORTS: std::ops::RangeInclusive<u16> = 4445..=4455;

/// Runs the command; `arguments` are JMeter's own.
///
/// # Errors
/// A plan that cannot be run, and files that cannot be written.
pub(super) fn run(
    arguments: &[String],
    command_line: &[String],
    env: &Env,
) -> Result<ExitCode, Ending> {
    let options = match options::parse(arguments) {
        Wish::Run(options) => *options,
        Wish::Help => return Ok(Ending::answer(options::usage()).tell()),
        Wish::Version => return Ok(Ending::answer(version()).tell()),
        // JMeter ends with 0 there.
        Wish::Misused(what) => {
            return Ok(Ending::answer(format!("{what}\n{}", options::usage())).tell());
        }
        Wish::Refused(why) => return Err(Ending::usage(&why)),
    };
    let plan = options.plan.clone().unwrap_or_default();
    let properties = properties(&options)?;
    let log = File::create(options.log.as_deref().unwrap_or("jmeter.log")).ok();
    let reading = read(&plan)?;
    let world = Arc::new(World::new(&plan, properties, env, log));
    check(&reading, &options, &world)?;
    Test::prepare(&plan, reading, &options, world)?.go(command_line, env)
}

fn version() -> String {
    format!(
        "loadline {} (JMeter plans as of 5.6.3)\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Properties, those of the command line over those of files.
fn properties(options: &Options) -> Result<BTreeMap<String, String>, Ending> {
    let mut all = BTreeMap::new();
    for file in &options.property_files {
        // As in JMeter, one that is missing is passed over; but not in silence.
        let bytes = match Files::Disk.read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                print::to_stderr(&format!("loadline: warning: {error}\n"));
                continue;
            }
        };
        let pairs = loadline_java::properties::read(&bytes)
            .map_err(|fault| Ending::usage(&format!("{file}: {fault}")))?;
        all.extend(pairs);
    }
    for (name, value) in &options.properties {
        match value {
            Some(value) => drop(all.insert(name.clone(), value.clone())),
            None => drop(all.remove(name)),
        }
    }
    Ok(all)
}

/// Reads a plan.
fn read(plan: &str) -> Result<Reading, Ending> {
    let refused = |why: &str| Ending::refusal(ExitCode::NothingSucceeded, why);
    let text = Files::Disk
        .read_text(plan)
        .map_err(|error| refused(&error.to_string()))?;
    loadline_jmeter::read(&text).map_err(|fault| {
        say("Error in NonGUIDriver: the plan cannot be read");
        let place = match (fault.line, fault.column) {
            (0, _) => plan.to_owned(),
            (line, 0) => format!("{plan}:{line}"),
            (line, column) => format!("{plan}:{line}:{column}"),
        };
        refused(&format!("{place}: {}", fault.what))
    })
}

/// Refuses a plan that cannot be run as it is.
fn check(reading: &Reading, options: &Options, world: &World) -> Result<(), Ending> {
    let list = |entries: &[Unsupported]| -> String {
        let lines = entries.iter();
        lines
            .map(|one| format!("\n  line {}: {}: {}", one.line, one.path, one.what))
            .collect()
    };
    if !reading.faults.is_empty() {
        let faults = list(&reading.faults);
        return Err(Ending::usage(&format!(
            "the plan calls functions wrongly:{faults}"
        )));
    }
    for warning in &reading.warnings {
        print::to_stderr(&format!("loadline: warning: {warning}\n"));
        world.log(LogLevel::Warn, "loadline", warning);
    }
    if reading.unsupported.is_empty() {
        return Ok(());
    }
    let what = list(&reading.unsupported);
    if options.allow_unsupported {
        print::to_stderr(&format!(
            "loadline: warning: left out as not supported:{what}\n"
        ));
        return Ok(());
    }
    Err(Ending::usage(&format!(
        "the plan has what is not supported:{what}\nrun it without these with --allow-unsupported"
    )))
}

/// A test about to be run.
struct Test {
    plan_name: String,
    plan: TestPlan,
    steps: StepsSetup,
    samples: std::sync::mpsc::Receiver<Vec<Arc<Sample>>>,
    file: Option<ResultsFile>,
    world: Arc<World>,
}

impl Test {
    fn prepare(
        plan_name: &str,
        reading: Reading,
        options: &Options,
        world: Arc<World>,
    ) -> Result<Test, Ending> {
        let config = SaveConfig::from_properties(&|name| world.property(name))
            .map_err(|why| Ending::usage(&why))?;
        let mut program = reading.program;
        program.sample_variables.clone_from(&config.variables);
        let program = Arc::new(program);
        let file_name = Path::new(plan_name).file_name();
        let file_name = file_name.map(|name| name.to_string_lossy().into_owned());
        let file_name = file_name.unwrap_or_default();
        let mut bench = Bench::new(&file_name, Arc::clone(&world));
        test_plan::set_variables(&program, &mut bench.scope());
        let times = test_plan::times(&program, &mut bench.scope());
        warn_of_empty_groups(&program, &times, &world);
        let file = match &options.results {
            None => None,
            Some(name) => Some(open(name, config, options, &world)?),
        };
        let (sender, samples) = sync_channel(BATCHES);
        let steps = StepsSetup {
            variables: with_instants(bench.variables),
            plan: file_name,
            state: Arc::new(StepsState::new(&times)),
            groups: times.clone().into(),
            world: Arc::clone(&world) as _,
            samples: sender,
            program: Arc::clone(&program),
        };
        Ok(Test {
            plan_name: plan_name.to_owned(),
            plan: test_plan::test_plan(&program, &times, fresh_seed()),
            steps,
            samples,
            file,
            world,
        })
    }

    fn go(self, command_line: &[String], env: &Env) -> Result<ExitCode, Ending> {
        say(&console::creating_summariser("summary"));
        say(&console::created_tree(&self.plan_name));
        say(&console::starting(instant(&zone::local(now_ms()))));
        if self.plan.scenarios.is_empty() {
            return Ok(self.end_without_threads());
        }
        let Test {
            plan,
            steps,
            samples,
            file,
            world,
            ..
        } = self;
        let state = Arc::clone(&steps.state);
        let taker = {
            let (state, world) = (Arc::clone(&state), Arc::clone(&world));
            thread::spawn(move || results::take(&samples, file, &state, &world))
        };
        let command_line = redacted_command_line(command_line, FrontEnd::JMeter);
        let observers = WantedObservers::of(&[]);
        let mut run = Run::prepare(plan, Place::default_in(env), &observers, &command_line, env)?;
        let messages = Messages::listen(run.orders());
        run.follow_steps(steps);
        let (result, journal) = run.go(&mut |_| {})?;
        drop(messages);
        let written = taker.join();
        say(&console::tidying_up(instant(&zone::local(now_ms()))));
        say(console::END_OF_RUN);
        if env.get(NO_VERDICT).is_none() {
            tell_verdict(None, &result, env);
        }
        journal.end(true)?;
        match written {
            Ok(Ok(())) => Ok(ExitCode::Ok),
            Ok(Err(_)) | Err(_) => Ok(ExitCode::Other),
        }
    }

    /// JMeter's lines for a plan without a thread.
    fn end_without_threads(&self) -> ExitCode {
        let (orders, _) = std::sync::mpsc::channel();
        let _messages = Messages::listen(orders);
        let mut summariser = Summariser::new("summary", 30, now_ms());
        for line in summariser.finish(now_ms(), Threads::default()) {
            say(&line);
        }
        say(&console::tidying_up(instant(&zone::local(now_ms()))));
        say(console::END_OF_RUN);
        ExitCode::Ok
    }
}

/// Opens the results file.
fn open(
    name: &str,
    config: SaveConfig,
    options: &Options,
    world: &World,
) -> Result<ResultsFile, Ending> {
    if options.replace && Path::new(name).exists() {
        // What cannot be removed cannot be opened either, and that is told.
        let _ = fs::remove_file(name);
    }
    let opened = ResultsFile::open(name, config, world.machine().0);
    opened
        .map_err(|error| Ending::refusal(ExitCode::Other, &format!("cannot write {name}: {error}")))
}

fn warn_of_empty_groups(
    program: &loadline_steps::program::Program,
    times: &[GroupTimes],
    world: &World,
) {
    for (group, _) in program
        .groups
        .iter()
        .zip(times)
        .filter(|(_, times)| times.threads == 0)
    {
        let warning = format!(
            "{}: the group has no thread: its number of threads or its duration is 0, blank or no number",
            group.name
        );
        print::to_stderr(&format!("loadline: warning: {warning}\n"));
        world.log(LogLevel::Warn, "loadline", &warning);
    }
}

/// The variables that are there in every plan.
fn with_instants(mut variables: Variables) -> Variables {
    variables.put("TESTSTART.MS", now_ms().to_string());
    variables
}

fn instant(local: &zone::Local) -> console::Instant<'_> {
    console::Instant {
        unix_ms: now_ms(),
        offset_s: local.offset_s,
        zone: &local.zone,
    }
}

fn say(line: &str) {
    // A console that went away is no reason to end a test.
    let _ = print::to_stdout(&format!("{line}\n"));
}

/// Messages that stop the run, by UDP on the loopback.
struct Messages {
    is_over: Arc<AtomicBool>,
    listener: Option<thread::JoinHandle<()>>,
}

impl Messages {
    /// Listens for messages, and says where.
    fn listen(orders: Sender<RunCommand>) -> Messages {
        let is_over = Arc::new(AtomicBool::new(false));
        let bound = MESSAGE_PORTS.into_iter().find_map(|port| {
            let socket = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            Some((port, socket))
        });
        let listener = bound.map(|(port, socket)| {
            say(&console::waiting(port));
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || heed(&socket, &orders, &is_over))
        });
        Messages { is_over, listener }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            // A listener that failed has nothing more to say.
            drop(listener.join());
        }
    }
}

fn heed(socket: &UdpSocket, orders: &Sender<RunCommand>, is_over: &AtomicBool) {
    if socket
        .set_read_timeout(Some(Duration::from_millis(50)))
        .is_err()
    {
        return;
    }
    let mut bytes = [0; 128];
    while !is_over.load(Ordering::Relaxed) {
        let Ok((length, _)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        let order = match String::from_utf8_lossy(&bytes[..length]).trim() {
            "Shutdown" => RunCommand::StopGracefully,
            "StopTestNow" => RunCommand::StopNow,
            _ => continue,
        };
        if orders.send(order).is_err() {
            return;
        }
    }
}
